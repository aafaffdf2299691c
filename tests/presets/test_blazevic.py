"""The runs of Blazevic 2022: measurements of what their figures show."""

from dataclasses import replace

import numpy as np
import pytest

from mpm_addon.core.laws.corotated import Corotated
from mpm_addon.core.scene.description import Scene

from .published import Run, pieces, play, with_laws

pytestmark = pytest.mark.slow


def until(run_frames: int, name: str, variant: str | None = None, *, spacing: float = 0.04) -> Run:
    """A run up to a frame."""
    ends = {"blazevic_stream": 440, "blazevic_sand_column": 120, "blazevic_jelly_3d": 50, "blazevic_jellies": 61}
    ends |= {
        "blazevic_snow_column": 61,
        "blazevic_snowball": 46,
        "blazevic_tearing": 46,
        "blazevic_jelly_on_sphere": 46,
        "blazevic_water_3d": 61,
    }
    return play(name, variant, spacing=spacing, frames=(run_frames - 1) / (ends[name] - 1))


def volume_ratios(run: Run, name: str, frame: int = -1) -> np.ndarray:
    """J of an emitter's particles, shape (n,)."""
    return run.frames[frame].attribute("volume_ratio")[run.body(run.frames[frame], name)]


# --- water: figures 4.1, 5.1, 7.3


def beneath_the_ball(variant: str | None) -> np.ndarray:
    """How far from the middle the falling water is at the height of the ball's lower half, in frames 41 to 50; x [m]."""
    run = until(50, "blazevic_stream", variant, spacing=0.05)
    at = np.concatenate([run.positions(frame) for frame in range(40, 50)])
    return np.abs(at[(at[:, 2] > 0.4) & (at[:, 2] < 0.55), 0])


def test_the_stream_falls_straight() -> None:
    """Figure 4.1, frame 50."""
    away = beneath_the_ball("no_sphere")
    assert len(away) > 20
    assert np.quantile(away, 0.9) < 0.15


def test_the_ball_parts_the_stream() -> None:
    """Figure 5.1, frame 50: nothing is where the ball is, and the water runs down on both sides."""
    away = beneath_the_ball(None)
    assert len(away) > 20
    assert away.min() > 0.05
    assert np.median(away) > 0.12


@pytest.mark.long
def test_the_stream_fills_the_tank_and_comes_to_rest() -> None:
    """Frame 440: the water has the volume that came in, under its own weight, and lies level."""
    run = until(440, "blazevic_stream", spacing=0.05)
    at = run.positions(-1)
    depth = len(at) * (run.frames[-1].attribute("scale").astype(float) ** 3).mean() / 2.0
    if run.scene.solver.dimension == 2:
        depth = len(at) * (run.frames[-1].attribute("scale").astype(float) ** 2).mean() / 2.0
    assert at[:, 2].mean() == pytest.approx(depth / 2.0, rel=0.06)
    assert abs(at[:, 0].mean()) < 0.03
    energies = [frame.statistics.kinetic_energy for frame in run.frames]
    assert energies[-1] < 0.05 * max(energies)


def test_a_block_of_water_runs_through_the_tank_and_back() -> None:
    """Figure 7.3."""
    run = until(61, "blazevic_water_3d", spacing=0.06)
    way = run.centers("block")[:, 0]
    assert way[0] < -0.2
    assert way.max() > 0.1
    assert way[way.argmax() :].min() < 0.0
    assert run.centers("block")[-1, 2] < 0.09


# --- elastic bodies: figures 4.2, 5.2, 7.2, 7.4


def test_three_jellies_of_other_stiffness() -> None:
    """Figure 4.2: Lame parameters times 1 (yellow), 10 (red, nearly rigid) and 1/10 (green)."""
    run = until(41, "blazevic_jellies")
    heights = {name: run.sizes(name)[:, 2] for name in ("middle", "stiff", "soft")}
    flattest = {name: height.min() / height[0] for name, height in heights.items()}
    assert flattest["stiff"] > 0.95
    assert flattest["soft"] < 0.65
    assert flattest["soft"] < flattest["middle"] < flattest["stiff"]


def test_the_soft_jelly_loses_particles() -> None:
    """Figure 4.2. By its tear stretch; most of it stays together."""
    lumps = until(41, "blazevic_jellies").pieces(-1, "soft")
    assert len(lumps) > 10
    assert lumps[0] > 0.85 * sum(lumps)


@pytest.mark.long
def test_without_a_tear_stretch_it_loses_none() -> None:
    """The control."""

    def whole(scene: Scene) -> Scene:
        return with_laws(scene, soft=scene.materials["jelly"].law)

    run = play("blazevic_jellies", None, spacing=0.04, frames=40.0 / 60.0, change=whole)
    assert len(run.pieces(-1, "soft")) == 1


def test_a_jelly_takes_the_form_of_a_small_ball_and_loses_it_again() -> None:
    """Figure 5.2."""
    run = until(22, "blazevic_jelly_on_sphere")
    # how much lower its lower side is beside the ball than over it
    dents = []
    for frame in range(8, 14):
        at = run.positions(frame)
        over, beside = (at[np.abs(at[:, 0] - x) < 0.03, 2].min() for x in (0.0, 0.2))
        assert over > 0.36
        dents.append(over - beside)
    assert max(dents) > 0.03
    assert volume_ratios(run, "jelly", -1) == pytest.approx(1.0, abs=0.2)
    assert len(run.pieces(-1)) == 1


def test_heavy_water_stretches_and_tears_the_jelly() -> None:
    """Figure 7.2."""
    run = until(30, "blazevic_tearing", spacing=0.03)
    sag = [run.positions(frame, "strip")[:, 2].min() for frame in range(len(run.frames))]
    assert len(run.pieces(9, "strip")) == 1
    assert sag[9] < 0.5
    assert len(run.pieces(-1, "strip")) > 1
    # the water is through
    assert np.quantile(run.positions(-1, "water")[:, 2], 0.9) < 0.7


@pytest.mark.long
def test_light_water_does_not_tear_it() -> None:
    """The control: without the water's additional mass the strip holds it up."""

    def light(scene: Scene) -> Scene:
        strip, water = scene.emitters
        return replace(scene, emitters=(strip, replace(water, mass_scale=0.1)))

    run = play("blazevic_tearing", None, spacing=0.03, frames=29.0 / 45.0, change=light)
    assert len(run.pieces(-1, "strip")) == 1


def test_a_cube_of_jelly_bounces_on_its_edge_and_recovers() -> None:
    """Figure 7.4: frames 1, 15 and 50."""
    run = until(50, "blazevic_jelly_3d", spacing=0.06)
    height = run.centers("cube")[:, 2]
    landed = int(height[:15].argmin())
    assert volume_ratios(run, "cube", landed).min() < 0.6
    assert height[landed:].max() > height[landed] + 0.2
    highest = landed + int(height[landed:].argmax())
    assert np.quantile(volume_ratios(run, "cube", highest), (0.05, 0.95)) == pytest.approx(np.ones(2), abs=0.05)


def test_a_cube_of_jelly_has_its_volume_in_the_last_frame_of_the_figure() -> None:
    run = until(50, "blazevic_jelly_3d", spacing=0.06)
    assert np.quantile(volume_ratios(run, "cube"), (0.05, 0.95)) == pytest.approx(np.ones(2), abs=0.05)


# --- snow: figures 4.3, 5.3


def elastic(scene: Scene) -> Scene:
    """The scene with elastic matter of the same stiffness."""
    return replace(
        scene,
        materials={
            name: replace(each, law=Corotated(density=400.0, young_modulus=1.4e5, poisson_ratio=0.2))
            for name, each in scene.materials.items()
        },
    )


def test_the_snow_column_falls_apart() -> None:
    """Figure 4.3."""
    run = until(31, "blazevic_snow_column")
    at = run.positions(-1)
    assert at[:, 2].max() < 0.55
    assert np.ptp(at[:, 0]) > 1.5 * np.ptp(run.positions(0)[:, 0])
    assert (volume_ratios(run, "column") > 1.2).mean() > 0.05


@pytest.mark.long
def test_an_elastic_column_stays_whole() -> None:
    """The control."""
    run = play("blazevic_snow_column", None, spacing=0.04, frames=0.5, change=elastic)
    assert (volume_ratios(run, "column") > 1.2).mean() < 0.01


def test_the_snowball_spreads_on_a_slip_floor_and_is_held_by_a_sticky_one() -> None:
    """Figure 5.3; both pack where they land and stay there."""
    for variant in (None, "sticky"):
        run = until(24, "blazevic_snowball", variant)
        height = run.sizes("snowball")[:, 2]
        assert 0.65 < height[-1] / height[0] < 0.9
        assert np.abs(run.velocities(-1)).max() < 1.0
        assert len(run.pieces(-1)) == 1
    slip, sticky = (until(24, "blazevic_snowball", variant).sizes("snowball")[-1, 0] for variant in (None, "sticky"))
    assert slip > 1.01 * sticky


# --- sand: figure 4.5


def covered(run: Run, frame: int) -> float:
    """The area that the heap takes up [m^2]: cells of a grid that hold at least two particles."""
    spacing = run.scene.solver.grid_spacing
    _, counts = np.unique(np.floor(run.positions(frame) / spacing), axis=0, return_counts=True)
    return float((counts >= 2).sum()) * spacing**2


def test_the_sand_column_collapses_into_a_heap() -> None:
    """Figure 4.5: frames 1, 40 and 120."""
    run = until(120, "blazevic_sand_column", spacing=0.05)
    heights = [run.positions(frame)[:, 2].max() for frame in (0, 39, 119)]
    assert heights[1] < 0.5 * heights[0]
    assert heights[2] == pytest.approx(heights[1], rel=0.05)
    widths = [np.ptp(run.positions(frame)[:, 0]) for frame in (0, 39, 119)]
    assert widths[1] > 3.0 * widths[0]


@pytest.mark.xfail(reason="the heap keeps its volume, as sand should: 1.00 of that at frame 40; the source's loses some", strict=True)
def test_the_heap_keeps_losing_volume() -> None:
    """Figure 4.5, frames 40 to 120, as the source reports of its own solver."""
    run = until(120, "blazevic_sand_column", spacing=0.05)
    assert covered(run, 119) < 0.95 * covered(run, 39)


def test_the_pieces_of_two_separate_clouds_are_two() -> None:
    """The measure itself."""
    corner = np.random.default_rng(1).random((200, 3))
    assert pieces(np.concatenate([corner, corner[:50] + 3.0]), 0.5) == [200, 50]
