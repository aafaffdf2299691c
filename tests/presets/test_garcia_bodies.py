"""The runs of Martin Garcia 2020 with cubes, a box, a C or one ball: measurements of what their figures show."""

from dataclasses import replace

import numpy as np
import pytest

from mpm_addon.core.laws.corotated import Corotated
from mpm_addon.core.scene.description import Scene

from .published import Run, pieces, play, with_laws

pytestmark = pytest.mark.slow


def volume_ratios(run: Run, name: str, frame: int = -1) -> np.ndarray:
    """J of an emitter's particles, shape (n,)."""
    return run.frames[frame].attribute("volume_ratio")[run.body(run.frames[frame], name)]


# --- cmp1, cmp2, cmp4, cor2: three cubes fall

CUBES = ("soft", "middle", "stiff")


def cubes(variant: str | None) -> Run:
    return play("garcia_cubes", variant, spacing=0.04, frames=0.4)


def test_the_softer_cube_is_flatter_and_wider_at_its_base() -> None:
    """cmp1 (figure 7.3): E 300, 800 and 1300."""
    run = cubes(None)
    sizes = [run.sizes(name)[-1] / run.sizes(name)[0] for name in CUBES]
    assert sizes[0][2] < 0.8 * sizes[1][2] < 0.8 * 0.9 * sizes[2][2]
    assert sizes[0][0] > 1.1 * sizes[1][0] > 1.1 * 1.1 * sizes[2][0]
    for name in ("middle", "stiff"):
        at = run.positions(-1, name)
        middle = np.median(at[:, 2])
        assert np.ptp(at[at[:, 2] < middle, 0]) > np.ptp(at[at[:, 2] > middle, 0])


def test_the_stiffer_cube_rebounds_higher() -> None:
    """cmp2 (figure 7.4): E 800, 5000 and 10000; the highest points after the landing, a third of a second from the start."""
    run = cubes("cmp2")
    heights = [run.centers(name)[21:, 2].max() for name in CUBES]
    assert heights[0] + 0.015 < heights[1] < heights[2] - 0.01


def test_the_cube_of_a_high_poisson_ratio_liquefies() -> None:
    """cmp4 (figure 7.7): nu 0.1, 0.35 and 0.45."""
    run = cubes("cmp4")
    spreads = [run.sizes(name)[-1, :2].max() / run.sizes(name)[0, 0] for name in CUBES]
    assert spreads[0] < 1.1
    assert 1.1 < spreads[1] < 3.0
    assert spreads[2] > 4.0


def test_the_staggered_cubes_stick_in_part() -> None:
    """cor2: they fall from different heights; two end up as one, which slides off the third."""
    run = cubes("cor2")
    starts = [run.centers(name)[0, 2] for name in CUBES]
    assert min(np.diff(starts)) > 0.15
    assert 1 <= len(run.pieces(-1)) < 3


@pytest.mark.long
def test_elastic_cubes_of_any_stiffness_keep_their_height() -> None:
    """The control for cmp1: without plasticity even the soft cube comes back."""

    def elastic(scene: Scene) -> Scene:
        stiffness = {"soft": 3e5, "middle": 8e5, "stiff": 1.3e6}
        return with_laws(scene, **{name: Corotated(young_modulus=stiffness[name], poisson_ratio=0.35) for name in CUBES})

    run = play("garcia_cubes", None, spacing=0.04, frames=0.4, change=elastic)
    assert run.sizes("soft")[-1, 2] > 0.8 * run.sizes("stiff")[-1, 2]


# --- prog2 to prog5, 3fast: three cubes fly against a wall

FLYING = ("yellow", "blue", "magenta")


def wall(variant: str | None) -> Run:
    return play("garcia_wall", variant, spacing=0.04, frames=0.25 if variant != "3fast" else 0.2)


def rebound(run: Run, name: str) -> float:
    """The greatest speed of a cube's center away from the wall [m/s]."""
    return -min(float(run.velocities(frame, name)[:, 0].mean()) for frame in range(len(run.frames)))


def loose(run: Run, name: str) -> float:
    """The share of a cube that takes up half as much space again as at the start, or more."""
    return float((volume_ratios(run, name) > 1.5).mean())


def test_soft_cubes_break_up_progressively() -> None:
    """prog2: the blue cube, between the two others, comes apart farther and farther."""
    run = wall(None)
    extents = [run.sizes("blue")[frame].max() for frame in (0, 4, 8, 12)]
    assert extents == sorted(extents)
    assert extents[-1] > 2.5 * extents[0]
    assert loose(run, "blue") > 0.5


def test_fast_cubes_hit_the_wall_and_each_other_and_break_where_they_meet() -> None:
    """prog3 (figure 7.6): yellow and blue meet, and it breaks between them."""
    run = wall("prog3")
    assert run.positions(4, "yellow")[:, 0].max() > 0.9
    assert len(run.pieces(0, "yellow", "blue")) == 2
    assert len(run.pieces(4, "yellow", "blue")) == 1
    # a part of blue has come loose, where the others struck it
    broken = volume_ratios(run, "blue") > 1.05
    assert 0.03 < broken.mean() < 0.5
    at = run.positions(4, "blue")
    others = np.array([run.positions(4, name).mean(axis=0) for name in ("yellow", "magenta")])
    nearest = np.linalg.norm(at[:, None] - others, axis=2).min(axis=1)
    assert nearest[broken].mean() < nearest[~broken].mean()


@pytest.mark.long
def test_stiff_cubes_are_dented_and_the_magenta_one_bounces_high() -> None:
    """prog4."""
    run = wall("prog4")
    assert np.quantile(volume_ratios(run, "yellow", 8), 0.05) < 0.95
    assert np.median(volume_ratios(run, "yellow", 8)) == pytest.approx(1.0, abs=0.02)
    heights = {name: run.centers(name)[:, 2] for name in FLYING}
    assert heights["magenta"].max() > heights["magenta"][0] + 0.03
    assert heights["yellow"].max() < heights["yellow"][0] + 0.01


@pytest.mark.long
def test_the_stiffest_cubes_bounce_off_each_other() -> None:
    """prog5: the highest of all, and the fastest back."""
    runs = [wall(variant) for variant in (None, "prog3", "prog5")]
    speeds = [rebound(run, "yellow") for run in runs]
    assert speeds[2] > speeds[1] > 1.5 * speeds[0]
    assert speeds[2] > 0.4 * 6.0
    assert runs[2].centers("magenta")[:, 2].max() > runs[0].centers("magenta")[:, 2].max()


@pytest.mark.long
def test_hurled_cubes_come_back_from_the_wall_whole_but_dented() -> None:
    """3fast: E 1e5 at 20 m/s."""
    run = wall("3fast")
    for name in FLYING:
        assert rebound(run, name) > 0.1 * 20.0
        assert volume_ratios(run, name).min() < 0.9
        assert loose(run, name) < 0.2


# --- gelatin


def test_gelatin_bounces_off_the_wall_in_waves() -> None:
    run = play("garcia_gelatin", None, spacing=0.04, frames=0.4)
    assert run.centers("cube")[:, 0].max() > 0.8
    assert run.centers("cube")[-1, 0] < 0.4
    width = run.sizes("cube")[:, 0] / run.sizes("cube")[0, 0]
    assert width.min() < 0.92
    # thinner, wider, thinner
    after = width[width.argmin() :]
    assert after.max() > 1.05
    assert after[after.argmax() :].min() < after.max() - 0.05
    assert len(run.pieces(-1)) == 1


# --- superDeff, superDeffCor


def super_soft(variant: str | None) -> Run:
    return play("garcia_super_soft", variant, spacing=0.025, frames=0.5)


def test_the_super_soft_ball_tears() -> None:
    """superDeff: spread over the floor, it has holes and comes apart."""
    lumps = super_soft(None).pieces(-1)
    assert len(lumps) > 3
    assert lumps[0] < 0.5 * sum(lumps)


def test_the_corotated_one_holds_together_far_better() -> None:
    """superDeffCor."""
    run = super_soft("superDeffCor")
    assert len(run.pieces(-1)) == 1
    assert run.sizes("ball")[-1, :2].max() < 0.8 * super_soft(None).sizes("ball")[-1, :2].max()


# --- sand2 to 4, hoursand1 to 3: a box falls between two slopes


def slopes(name: str, variant: str | None) -> Run:
    return play(name, variant, spacing=0.04, frames=0.35)


def passed(run: Run, frame: int = -1) -> float:
    """The share of the particles that is through the neck."""
    return float((run.positions(frame)[:, 2] < 0.38).mean())


def lumps(run: Run, frame: int = -1) -> list[int]:
    """Particles in each piece of what has not come loose, the largest first."""
    solid = volume_ratios(run, "sand", frame) < 1.05
    return pieces(run.positions(frame)[solid], 0.75 * run.scene.solver.grid_spacing)


def test_the_softest_is_a_thick_fluid_that_tears_in_the_neck() -> None:
    """hoursand1 (figure 7.9): E 10. It is pressed flat into the neck, and particles poke out below."""
    run = slopes("garcia_hourglass", None)
    assert np.median(volume_ratios(run, "sand")) < 0.8
    assert 0.03 < passed(run) < 0.3
    at, ratio = run.positions(-1), volume_ratios(run, "sand")
    assert np.median(ratio[(at[:, 2] > 0.25) & (at[:, 2] < 0.38)]) > 1.5


def test_its_top_dents() -> None:
    """hoursand1 (figure 7.9)."""
    run = slopes("garcia_hourglass", None)
    start, end = run.positions(0), run.positions(-1)
    top = start[:, 2] > 0.8
    middle = top & (np.abs(start[:, 0] - 0.5) < 0.08)
    sides = top & (np.abs(start[:, 0] - 0.5) > 0.17)
    assert end[middle, 2].mean() < end[sides, 2].mean() - 0.01


def test_the_firmer_one_hardens_when_it_is_squeezed() -> None:
    """hoursand2: E 100. It is pressed less and passes later."""
    run, softer = slopes("garcia_hourglass", "hoursand2"), slopes("garcia_hourglass", None)
    assert np.median(volume_ratios(run, "sand")) > 0.9
    assert run.centers("sand")[-1, 2] > softer.centers("sand")[-1, 2] + 0.03
    assert passed(run, 20) < 0.8 * passed(softer, 20)


def test_the_firmest_one_breaks_into_clear_pieces() -> None:
    """hoursand3: E 400."""
    assert lumps(slopes("garcia_hourglass", "hoursand3"))[1] > 100


def test_the_firmest_one_is_not_squeezed() -> None:
    """hoursand3: what passes comes off, the rest keeps its volume."""
    run = slopes("garcia_hourglass", "hoursand3")
    assert np.quantile(volume_ratios(run, "sand"), 0.05) > 0.93
    assert 0.02 < passed(run) < 0.3


@pytest.mark.long
def test_soft_sand_resettles_densely_between_the_slopes() -> None:
    """sand2: E 400."""
    run = slopes("garcia_sand", None)
    assert np.median(volume_ratios(run, "sand")) < 1.15
    assert 0.03 < passed(run) < 0.3
    assert len(run.pieces(-1)) == 1


@pytest.mark.long
def test_thrown_sand_breaks_into_fragments() -> None:
    """sand3: much more of it comes loose, and it spreads over the whole depth."""
    run, slower = slopes("garcia_sand", "sand3"), slopes("garcia_sand", None)
    assert (volume_ratios(run, "sand") > 1.5).mean() > 2.0 * (volume_ratios(slower, "sand") > 1.5).mean()
    assert run.sizes("sand")[-1, 1] > 1.2 * slower.sizes("sand")[-1, 1]


# of sand4, after the impact
BROKEN = 10


def test_the_firmer_sand_breaks_into_three_pieces() -> None:
    """sand4: E 800. Most of the block is in them; later the core crumbles between the ends, which stay whole and apart."""
    run = slopes("garcia_sand", "sand4")
    assert lumps(run, BROKEN)[2] > 500
    left, right = lumps(run, 20)[:2]
    assert right > 500
    assert left < 1.2 * right


@pytest.mark.long
def test_softer_sand_does_not() -> None:
    """The control: the same block with E 400."""

    def soft(scene: Scene) -> Scene:
        return with_laws(scene, sand=replace(scene.materials["sand"].law, young_modulus=6.4e5))

    run = play("garcia_sand", "sand4", spacing=0.04, frames=0.35, change=soft)
    assert sum(size > 500 for size in lumps(run, BROKEN)) < 3


def test_the_firmer_sand_cracks_at_its_flanks() -> None:
    """sand4: what comes loose lies between the core and the ends, which keep their volume."""
    run = slopes("garcia_sand", "sand4")
    away = np.abs(run.positions(0)[:, 0] - 0.5)
    ratio = volume_ratios(run, "sand", BROKEN)
    flanks, core, ends = (away > 0.15) & (away < 0.25), away < 0.05, away > 0.3
    assert (ratio[flanks] > 1.2).mean() > 0.5
    for part in (core, ends):
        assert (ratio[part] > 1.2).mean() < 0.1
        assert np.median(ratio[part]) == pytest.approx(1.0, abs=0.1)


# --- 2d


def test_the_pressed_corners_flow_and_the_rest_stays() -> None:
    """2d: a block falls on the floor."""
    run = play("garcia_2d", None, spacing=0.03, frames=0.3)
    start, ratio = run.positions(0), volume_ratios(run, "block")
    corners = (start[:, 2] < 0.36) & (np.abs(start[:, 0] - 0.5) > 0.24)
    middle = (start[:, 2] < 0.36) & (np.abs(start[:, 0] - 0.5) < 0.1)
    assert np.quantile(ratio[corners], 0.9) > 1.2
    assert np.quantile(ratio[middle], 0.9) < 1.05
    assert np.median(ratio[middle]) == pytest.approx(1.0, abs=0.05)
    assert np.median(ratio[start[:, 2] > 0.5]) == pytest.approx(1.0, abs=0.02)
    # pressed sideways, out of the block
    assert np.ptp(run.positions(-1)[:, 0]) > 1.03 * np.ptp(start[:, 0])


# --- C1 to C10: a beam in the form of a C


def beam(variant: str | None) -> Run:
    return play("garcia_beam", variant, spacing=0.04, frames=0.5 if variant not in (None, "C2") else 0.7)


def tip_heights(run: Run) -> np.ndarray:
    """Mean height of the free end of the upper arm in every frame [m], 0.8 at the start."""
    free = run.positions(0, "tip")[:, 0] > 0.8
    return np.array([run.positions(frame, "tip")[free, 2].mean() for frame in range(len(run.frames))])


def trunk_top(run: Run) -> float:
    """Height of the trunk's top at the end [m], 0.75 at the start."""
    return float(np.quantile(run.positions(-1, "trunk")[:, 2], 0.99))


@pytest.mark.parametrize("variant", [None, "C2"], ids=["C1", "C2"])
def test_the_soft_beam_sags_completely(variant: str | None) -> None:
    run = beam(variant)
    assert tip_heights(run)[-1] < 0.3
    assert trunk_top(run) < 0.6


@pytest.mark.long
@pytest.mark.parametrize("variant", ["C3", "C4"])
def test_a_limp_tip_hangs_from_a_stiff_trunk(variant: str) -> None:
    run = beam(variant)
    assert tip_heights(run).min() < 0.35
    assert trunk_top(run) > 0.73


@pytest.mark.long
@pytest.mark.parametrize("variant", ["C5", "C6", "C9", "C10"])
def test_the_tip_sways_and_does_not_break(variant: str) -> None:
    """C5, C6 (figure 7.5: the start and the lowest point), C9 and C10."""
    run = beam(variant)
    height = tip_heights(run)
    assert 0.3 < height.min() < 0.55
    assert height[-1] > height.min() + 0.2
    assert len(run.pieces(-1)) == 1
    assert trunk_top(run) > 0.73


@pytest.mark.parametrize("variant", ["C7", pytest.param("C8", marks=pytest.mark.long)])
def test_the_tip_breaks_off(variant: str) -> None:
    """By its tear stretch. Much of it falls onto the foot; the rest stays at the trunk, which swings back."""
    run = beam(variant)
    last = run.frames[-1]
    assert last.bonds is not None
    sizes = np.sort(np.bincount(last.bonds.fragments(len(last.id))[run.body(last, "tip")]))[::-1]
    assert sizes[0] > 4 * sizes[1] > 0
    assert sizes[1] > 100
    assert tip_heights(run)[-1] < 0.25
    lean = run.centers("trunk")[:, 0]
    assert lean[-1] < lean.max() - 0.01


@pytest.mark.long
def test_without_a_tear_stretch_the_tip_does_not_break() -> None:
    """The control: it sways as in C9."""

    def whole(scene: Scene) -> Scene:
        law = scene.materials["tip"].law
        return with_laws(scene, tip=replace(law, tear_stretch=type(law)().tear_stretch))

    run = play("garcia_beam", "C7", spacing=0.04, frames=0.5, change=whole)
    assert tip_heights(run)[-1] > 0.5
