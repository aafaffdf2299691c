"""Force fields against closed forms, acting on an isolated block."""

import math
from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.stepping.force_fields import ForceFields
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import LATTICE, box, digests_by_threads, material, scene

REST = {"gravity": (0.0, 0.0, 0.0)}


def in_field(*forces: Force, velocity: Any = (0.0, 0.0, 0.0), at: Any = (0.0, 0.0, 0.0), size: float = 0.1, **rest: Any) -> Scene:
    """A small stiff block, free of gravity."""
    emitter = Emitter("block", box(at, size), "neo_hookean", velocity=velocity, **LATTICE)
    return scene(emitter, materials=(material("neo_hookean"),), forces=forces, **{**REST, "precision": "float64", **rest})


def middle(frame: Any) -> np.ndarray:
    return frame.position.astype(np.float64).mean(axis=0)


def mean_velocity(frame: Any) -> np.ndarray:
    return frame.velocity.astype(np.float64).mean(axis=0)


@pytest.mark.parametrize("dimension", [3, 2])
def test_wind_accelerates_evenly(dimension: int) -> None:
    """v = a t along the field's z axis, its strength the acceleration whatever the mass."""
    wind = Force("wind", kind="wind", strength=3.0, direction=(1.0, 0.0, 1.0))
    *_, last = simulate(in_field(wind, frames=7, dimension=dimension))
    expected = 3.0 * 6.0 / 24.0 / math.sqrt(2.0)
    assert last.velocity == pytest.approx(np.tile([expected, 0.0, expected], (len(last.velocity), 1)), abs=1e-5)


def test_a_field_whose_strength_is_zero_changes_no_byte_of_the_motion() -> None:
    frames = [
        list(simulate(in_field(*forces, velocity=(1.0, 0.0, 0.0))))[-1] for forces in ((), (Force("none", kind="wind", strength=0.0),))
    ]
    assert np.array_equal(frames[0].position, frames[1].position)


def test_flow_brings_particles_to_the_speed_of_the_wind() -> None:
    """dv/dt = s - k v: v = s/k (1 - e^(-k t)), exact at any step."""
    wind = Force("wind", kind="wind", strength=6.0, direction=(1.0, 0.0, 0.0), flow=30.0)
    for frame in simulate(in_field(wind, frames=5)):
        assert mean_velocity(frame)[0] == pytest.approx(0.2 * (1.0 - math.exp(-30.0 * frame.time)), abs=1e-5)


@pytest.mark.parametrize("drag", [4.0, 4e3])
def test_drag_follows_its_closed_forms_and_never_reverses_a_velocity(drag: float) -> None:
    """Linear: v0 e^(-k t). Quadratic: v0 / (1 + q v0 t)."""
    linear = in_field(Force("drag", kind="drag", linear_drag=drag), velocity=(0.0, 2.0, 0.0), frames=4)
    quadratic = in_field(Force("drag", kind="drag", quadratic_drag=drag), velocity=(0.0, 2.0, 0.0), frames=4)
    for frame in simulate(linear):
        assert mean_velocity(frame)[1] == pytest.approx(2.0 * math.exp(-drag * frame.time), abs=1e-5)
    for frame in simulate(quadratic):
        assert mean_velocity(frame)[1] == pytest.approx(2.0 / (1.0 + 2.0 * drag * frame.time), rel=1e-4)


@pytest.mark.parametrize("dimension", [3, 2])
def test_a_harmonic_field_swings_with_its_period(dimension: int) -> None:
    """x = x0 cos(sqrt(k) t); after a period the block is where it began, after half of it on the other side."""
    swing = Force(
        "spring", kind="harmonic", strength=(2.0 * math.pi) ** 2, rest_length=0.0, center=(0.0, 5.0 if dimension == 2 else 0.0, 0.0)
    )
    frames = list(simulate(in_field(swing, at=(0.3, 0.0, 0.0), frames=25, dimension=dimension, time_step=1e-3)))
    assert middle(frames[0])[0] == pytest.approx(0.3, abs=1e-6)
    assert middle(frames[12])[0] == pytest.approx(-0.3, abs=3e-3)
    assert middle(frames[24])[0] == pytest.approx(0.3, abs=6e-3)
    assert abs(middle(frames[6])[0]) < 6e-3


def test_a_critically_damped_harmonic_field_does_not_overshoot() -> None:
    """x = (1 + w t) e^(-w t) x0."""
    rate = 12.0
    spring = Force("spring", kind="harmonic", strength=rate**2, damping=1.0)
    for frame in simulate(in_field(spring, at=(0.3, 0.0, 0.0), frames=13, time_step=1e-3)):
        assert middle(frame)[0] == pytest.approx(0.3 * (1.0 + rate * frame.time) * math.exp(-rate * frame.time), abs=4e-3)


@pytest.mark.parametrize("dimension", [3, 2])
def test_a_vortex_about_an_axis_carries_particles_around(dimension: int) -> None:
    """With the velocity of the rotation at the rate s, matter stays on its circle: a quarter of a turn in a quarter of a period."""
    rate, axis = 2.0 * math.pi, (0.0, 1.0, 0.0)
    vortex = Force("vortex", kind="vortex", shape="line", strength=rate, direction=axis)
    start = in_field(vortex, at=(0.5, 0.0, 0.0), velocity=(0.0, 0.0, -0.5 * rate), frames=7, dimension=dimension, time_step=1e-3, size=0.1)
    *_, last = simulate(start)
    assert np.linalg.norm(middle(last)) == pytest.approx(0.5, rel=2e-2)
    assert middle(last) == pytest.approx([0.0, 0.0, -0.5], abs=1.5e-2)


def test_a_point_attracts_and_repels_within_its_radius() -> None:
    for strength in (-4.0, 4.0):
        near, far = (
            list(simulate(in_field(Force("pole", strength=strength, radius=1.0), at=(x, 0.0, 0.0), frames=3)))[-1] for x in (0.6, 1.6)
        )
        assert mean_velocity(near)[0] == pytest.approx(strength * 2.0 / 24.0, rel=1e-2)
        assert np.abs(far.velocity).max() == 0.0


def fields_at(*forces: Force, frame: float = 1.0, **solver: Any) -> ForceFields:
    fields = ForceFields(in_field(*forces, **solver))
    fields.move_to(frame)
    return fields


def test_falloff_is_one_up_to_the_least_distance_and_nothing_beyond_the_farthest() -> None:
    """(1 + d - min)^-power."""
    force = Force("pole", strength=2.0, falloff=2.0, min_distance=0.5, radius=2.0)
    places = np.array([[0.2, 0.0, 0.0], [0.5, 0.0, 0.0], [1.5, 0.0, 0.0], [2.1, 0.0, 0.0]])
    assert fields_at(force).at(places, 0.0 * places)[:, 0] == pytest.approx([2.0, 2.0, 0.5, 0.0])
    grows = Force("pole", strength=2.0, falloff=-1.0)
    assert fields_at(grows).at(places, 0.0 * places)[:, 0] == pytest.approx([2.4, 3.0, 5.0, 6.2])


def test_a_moving_force_follows_its_motion() -> None:
    turned = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 2.0], [-1.0, 0.0, 0.0, 3.0], [0.0, 0.0, 0.0, 1.0]])
    motion = Motion(np.array([1.0, 3.0]), matrices=np.stack([np.eye(4), turned]))
    force = Force(
        "wind", kind="wind", motion=motion, radius=0.1, animation=Animation(np.array([1.0, 3.0]), {"strength": np.array([1.0, 5.0])})
    )
    places = np.array([[0.0, 0.0, 0.0], [0.5, 1.0, 1.5], [1.0, 2.0, 3.0]])
    at_start, at_half, at_end = (fields_at(force, frame=frame).at(places, 0.0 * places) for frame in (1.0, 2.0, 3.0))
    half = math.sqrt(0.5)
    assert at_start == pytest.approx(np.array([[0.0, 0.0, 1.0], [0.0] * 3, [0.0] * 3]))
    assert at_half == pytest.approx(np.array([[0.0] * 3, [3.0 * half, 0.0, 3.0 * half], [0.0] * 3]))
    assert at_end == pytest.approx(np.array([[0.0] * 3, [0.0] * 3, [5.0, 0.0, 0.0]]), abs=1e-12)


def test_a_disabled_force_does_nothing_until_it_is_enabled() -> None:
    flag = Animation(np.array([1.0, 3.0]), {"enabled": np.array([0.0, 1.0])})
    wind = Force("wind", kind="wind", strength=2.0, animation=flag)
    speeds = [mean_velocity(frame)[2] for frame in simulate(in_field(wind, frames=5))]
    assert speeds == pytest.approx([0.0, 0.0, 0.0, 2.0 / 24.0, 4.0 / 24.0], abs=1e-5)


@pytest.mark.parametrize("dimension", [3, 2])
def test_turbulence_has_the_strength_of_blenders_and_no_divergence(dimension: int) -> None:
    """Blender's has 0.1755 times the strength as the root mean square of each component."""
    fields = fields_at(Force("eddies", kind="turbulence", strength=2.0, size=0.5, seed=3), dimension=dimension)
    flat = [1.0, dimension - 2.0, 1.0]
    places = np.random.default_rng(0).uniform(-40.0, 40.0, (40_000, 3)) * flat
    found = fields.at(places, 0.0 * places)
    axes = [0, 1, 2] if dimension == 3 else [0, 2]
    assert np.sqrt((found[:, axes] ** 2).mean(axis=0)) == pytest.approx([0.351] * len(axes), rel=0.02)
    assert np.abs(found.mean(axis=0)).max() < 0.01
    step, divergence, size = 1e-5, np.zeros(len(places)), 0.0
    for axis in axes:
        slope = (fields.at(places + step * np.eye(3)[axis], found) - fields.at(places - step * np.eye(3)[axis], found))[:, axis] / (
            2 * step
        )
        divergence, size = divergence + slope, size + np.abs(slope).mean()
    assert np.abs(divergence).max() < 1e-5 * size
    other = fields_at(Force("eddies", kind="turbulence", strength=2.0, size=0.5, seed=4), dimension=dimension).at(places, found)
    assert abs((other * found).mean()) < 0.02 * (found**2).mean()


def test_noise_has_the_distribution_of_blenders() -> None:
    """r/(1 + u) where r > 1/2, else -r/(1 + u): root mean square sqrt(1/6), mean 1/4 ln 2."""
    places = np.zeros((40_000, 3))
    found = fields_at(Force("wind", kind="wind", strength=0.0, noise=2.0)).at(places, places)[:, 2] / 2.0
    assert np.sqrt((found**2).mean()) == pytest.approx(math.sqrt(1.0 / 6.0), rel=0.02)
    assert found.mean() == pytest.approx(0.25 * math.log(2.0), rel=0.04)
    later = fields_at(Force("wind", kind="wind", strength=0.0, noise=2.0), frame=2.0).at(places, places)[:, 2]
    assert abs(np.corrcoef(found, later)[0, 1]) < 0.02


MANY = """
from tests.core.stepping.test_forces import many_forces
scenes = [many_forces()]
"""


def many_forces(frames: int = 4) -> Scene:
    return in_field(
        Force("eddies", kind="turbulence", strength=40.0, size=0.2, seed=1),
        Force("gusts", kind="wind", strength=3.0, noise=8.0, flow=2.0),
        Force("pole", strength=-9.0, falloff=1.0, center=(0.3, 0.1, 0.0)),
        size=0.4,
        precision="float32",
        frames=frames,
    )


def test_threads_and_interruptions_change_no_byte() -> None:
    assert len(digests_by_threads(MANY)) == 1
    whole = Simulation(many_forces())
    states = []
    for frame in whole.frames():
        states.append((frame, whole.snapshot()))
    *_, resumed = Simulation(many_forces(), snapshot=states[1][1]).frames()
    assert np.array_equal(resumed.position, states[-1][0].position)
    assert np.array_equal(resumed.velocity, states[-1][0].velocity)


def test_a_strong_force_shortens_the_steps_before_it_has_moved_anything() -> None:
    """v dt + a dt^2 is a tenth of a cell at most, from rest, and when the third step knows of the velocity that the first one gave."""
    force, reach, steps = 1e5, 0.1 * 0.05, []
    strong = in_field(Force("wind", kind="wind", strength=force), frames=2, cfl=1.0, max_displacement=0.1, fps=1000.0)
    simulation = Simulation(strong, report=lambda progress: steps.append(progress.time_step) if progress.substeps else None)
    list(simulation.frames())
    speed = force * steps[0]
    assert steps[0] <= 1.001 * math.sqrt(reach / force)
    assert steps[2] <= 1.001 * 2.0 * reach / (speed + math.sqrt(speed**2 + 4.0 * force * reach))
