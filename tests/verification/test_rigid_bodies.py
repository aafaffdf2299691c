"""Rigid bodies: closed forms without material, conservation together with material, and where they come to rest."""

import dataclasses

import numpy as np
import pytest

from mpm_addon.core.contact import body_exchange
from mpm_addon.core.errors import UnstableError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import read_scene
from mpm_addon.storage.presets import scene_preset_folders

from .cases.rigid_body import ball_hits_jelly, floating, lands_on, mixing, on_slope, pushed_by, tumbling

BOTH_DIMENSIONS = pytest.mark.parametrize("dimension", [2, 3])
BALL = SHAPES["sphere"](center=(0.0, 0.0, 0.2), radius=0.2)
TOLERANCE = {"float64": 1e-10, "float32": 1e-6}
IN_MATTER: dict[str, dict[str, float]] = {"water": {"bulk_modulus": 4e5}, "corotated": {"young_modulus": 5e4}, "sand": {}}
# each law, and each ratio of the densities
BRIEF = [("water", 0.03), ("corotated", 10.0), ("sand", 0.1)]


@pytest.mark.parametrize(("dimension", "share"), [(3, 5.0 / 7.0), (2, 2.0 / 3.0)])
def test_a_ball_rolls_down_a_slope_without_slipping(dimension: int, share: float) -> None:
    """a = g sin(angle) / (1 + k^2/r^2), k^2 = 2/5 r^2 of a ball and 1/2 r^2 of a disk; without friction a = g sin(angle)."""
    acceleration, slip, height = on_slope(BALL, 0.5, dimension=dimension)
    assert acceleration == pytest.approx(share, rel=1e-9)
    assert abs(slip) < 1e-9
    assert height == pytest.approx(0.2, abs=1e-9)
    acceleration, slip, _ = on_slope(BALL, 0.0, dimension=dimension)
    assert acceleration == pytest.approx(1.0, rel=1e-9)
    assert slip == pytest.approx(1.0, abs=1e-9)


def test_a_cylinder_and_a_capsule_roll() -> None:
    cylinder = SHAPES["cylinder"](center=(0.0, 0.0, 0.2), radius=0.2, height=0.5, rotation=(90.0, 0.0, 0.0))
    assert on_slope(cylinder, 0.5)[0] == pytest.approx(2.0 / 3.0, rel=0.02)
    capsule = SHAPES["capsule"](start=(0.0, -0.2, 0.2), end=(0.0, 0.2, 0.2), radius=0.2)
    # of a cylinder of 0.4 m and a ball: 2 times 1/2, and 4/3 r / (r + ...) times 2/5
    share = 1.0 / (1.0 + (0.5 * 0.4 + 0.4 * 0.8 / 3.0) / (0.4 + 0.8 / 3.0))
    assert on_slope(capsule, 0.5)[0] == pytest.approx(share, rel=1e-6)


def test_a_box_slides_and_holds_as_coulomb_says() -> None:
    """a = g (sin - mu cos), and nothing where mu > tan(angle)."""
    box = SHAPES["box"](center=(0.0, 0.0, 0.2), size=(0.4, 0.4, 0.4))
    assert on_slope(box, 0.2)[0] == pytest.approx(1.0 - 0.2 / np.tan(np.radians(20.0)), rel=1e-6)
    acceleration, _, height = on_slope(box, 0.5)
    assert abs(acceleration) < 1e-9
    assert height == pytest.approx(0.2, abs=1e-9)


def test_a_tumbling_box_keeps_its_spin_and_its_energy() -> None:
    """About its middle axis it turns over again and again (Dzhanibekov): the angular velocity in its own axes changes its sign."""
    spin, energy, turning = tumbling()
    assert np.abs(spin - spin[0]).max() <= 1e-12 * np.abs(spin[0]).max()
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-3
    assert turning[:, 1].min() < -0.9 * turning[0, 1]


@pytest.mark.parametrize("precision", list(TOLERANCE))
@pytest.mark.parametrize(("dimension", "density"), [(2, 1000.0), (3, 100.0), (3, 1000.0), (3, 10000.0)])
def test_a_ball_and_jelly_keep_their_momentum_together(dimension: int, precision: str, density: float) -> None:
    impact = ball_hits_jelly(dimension, precision, density=density)
    tolerance = TOLERANCE[precision]
    assert np.abs(impact.momentum - impact.momentum[0]).max() < tolerance * np.linalg.norm(impact.momentum[0])
    assert np.abs(impact.angular_momentum - impact.angular_momentum[0]).max() < tolerance * np.linalg.norm(impact.angular_momentum[0])
    straight = impact.center[0] + np.arange(len(impact.center))[:, None] / 20.0 * impact.momentum[0] / impact.mass
    assert np.abs(impact.center - straight).max() < tolerance
    # they did meet, and friction and the grid took energy away
    assert np.linalg.norm(impact.ball_velocity[-1] - impact.ball_velocity[0]) > 1.0
    assert (np.diff(impact.energy[:3]) < 0.0).any()
    assert impact.energy[-1] < 0.9 * impact.energy[0]


def test_a_ball_that_nothing_moves_gives_momentum() -> None:
    """Negative control."""
    impact = ball_hits_jelly(3, "float64", is_kinematic=True)
    assert np.abs(impact.momentum - impact.momentum[0]).max() > 1.0


@pytest.mark.parametrize(
    ("law", "ratio"),
    [pytest.param(law, ratio, marks=[] if (law, ratio) in BRIEF else pytest.mark.long) for law in IN_MATTER for ratio in (0.03, 0.1, 10.0)],
)
def test_light_and_heavy_bodies_stay_stable_in_matter(law: str, ratio: float) -> None:
    """It comes with 0.5 m/s and falls no farther than the tank is deep, 0.4 m."""
    speed = lands_on(law, ratio, **IN_MATTER[law])
    assert speed.max() < 0.5 + np.sqrt(2.0 * 9.81 * 0.4)
    if ratio < 1.0:
        assert speed[1:].max() < 0.5


def test_a_light_body_that_reacts_a_step_late_is_thrown_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: the matter that sticks to it outweighs it, and each reaction is larger than the one before."""
    monkeypatch.setattr(body_exchange, "EVALUATIONS", 1)
    with pytest.raises(UnstableError):
        lands_on("water", 0.03, bulk_modulus=4e5)


@pytest.mark.long
@pytest.mark.parametrize(("ratio", "tolerance"), [(0.25, 0.08), (0.5, 0.05), (0.75, 0.05)])
def test_a_box_floats_as_deep_as_it_is_dense(ratio: float, tolerance: float) -> None:
    """Archimedes, at eight cells to the height of the box, 0.125 of it each; at rest and level."""
    share, tilt, speed = floating(ratio)
    assert share == pytest.approx(ratio, abs=tolerance)
    assert tilt < 3.0
    assert speed < 0.1


@BOTH_DIMENSIONS
@pytest.mark.parametrize("kind", ["straight", "oblique", "rotating"])
def test_a_fast_box_pushes_jelly_and_none_comes_in(kind: str, dimension: int) -> None:
    deepest, speed = pushed_by(kind, dimension)
    assert deepest < 0.25
    # it was taken along
    assert speed > 2.0


@pytest.mark.long
def test_a_ball_leaves_a_track_on_sand_and_ends_lower_and_away() -> None:
    described = read_scene(scene_preset_folders()["ball_on_sand"])
    described = dataclasses.replace(described, time=dataclasses.replace(described.time, frame_end=29))

    def surface(simulation: Simulation) -> np.ndarray:
        """The sand's height in columns of 8 cm along the ball's way, on it and beside it [m], shape (2, 8)."""
        position = np.zeros((0, 3))
        for frame in simulation.frames():
            position = frame.position
        columns = np.floor((position[:, 0] + 0.52) / 0.08).astype(int)
        on_way, beside = np.abs(position[:, 1]) < 0.04, np.abs(position[:, 1]) > 0.26
        return np.array([[np.sort(position[side & (columns == each), 2])[-8:].mean() for each in range(8)] for side in (on_way, beside)])

    simulation = Simulation(described)
    lowered = surface(Simulation(dataclasses.replace(described, colliders=()))) - surface(simulation)
    place = simulation.rigid_bodies[0].center
    assert place[0] > 0.8
    assert place[2] < 0.4
    assert lowered[0].mean() > 0.01
    assert np.abs(lowered[1].mean()) < 0.003


@pytest.mark.long
def test_a_rotating_drum_mixes_sand() -> None:
    """The same drum at rest is the negative control."""
    described = read_scene(scene_preset_folders()["sand_drum"])
    solver = dataclasses.replace(described.solver, grid_spacing=0.05)
    described = dataclasses.replace(described, solver=solver, time=dataclasses.replace(described.time, frame_end=61))
    index = mixing(described)
    third = len(index) // 3
    assert index[-1] > 0.2
    assert index[-third:].mean() > index[third:-third].mean() > index[:third].mean()
    resting = dataclasses.replace(described, colliders=tuple(dataclasses.replace(each, motion=None) for each in described.colliders))
    assert mixing(resting)[-1] < 0.05
