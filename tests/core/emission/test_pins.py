"""Pinning: particles held by their emitter, or pulled to it by a spring."""

import dataclasses
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.geometry.motion import pose_at, vertices_at
from mpm_addon.core.geometry.rotation import rotation_matrix
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import LATTICE, box, box_mesh, digests_by_threads, material, scene

SPACING = 0.05


def jelly(*emitters: Emitter, young_modulus: float = 1e5, poisson_ratio: float = 0.0, **rest: Any) -> Scene:
    law = material("corotated", young_modulus=young_modulus, poisson_ratio=poisson_ratio, density=1000.0)
    return scene(*emitters, materials=(law,), grid_spacing=SPACING, **rest)


def held(shape: Any, goal: float = 1.0, **rest: Any) -> Emitter:
    return Emitter("held", shape, "corotated", goal=goal, **{**LATTICE, **rest})


def of(frame: Any, emitter: int) -> np.ndarray:
    return frame.position[frame.attribute("emitter_index") == emitter].astype(np.float64)


@pytest.mark.parametrize("dimension", [3, 2])
@pytest.mark.parametrize("gravity", [9.81, 3e3])
def test_pinned_particles_stay_in_place_at_any_acceleration(dimension: int, gravity: float) -> None:
    still = jelly(held(box((0.0, 0.0, 0.0), 0.2)), gravity=(0.0, 0.0, -gravity), dimension=dimension, frames=4)
    first, *_, last = simulate(still)
    assert np.abs(last.position - first.position).max() < 1e-3 * SPACING
    assert np.abs(last.velocity).max() < 1e-5
    free = jelly(held(box((0.0, 0.0, 0.0), 0.2), goal=0.0), gravity=(0.0, 0.0, -gravity), dimension=dimension, frames=4)
    assert np.abs([frame.position[:, 2].mean() for frame in simulate(free)][-1]) > 0.007 * gravity


def hanging(**rest: Any) -> Scene:
    """A bar of 0.2 x 0.2 x 1 m below a slab that is held."""
    top = held(box((0.0, 0.0, 0.1), 0.2), body="bar", **rest)
    bar = Emitter("bar", box((0.0, 0.0, -0.5), (0.2, 0.2, 1.0)), "corotated", body="bar", **LATTICE)
    # enough drag to let it come to rest, none once it is
    return jelly(top, bar, young_modulus=1e5, frames=40, fps=24.0, gravity=(0.0, 0.0, -9.81))


def test_a_hanging_bar_stretches_by_its_own_weight() -> None:
    """The end moves by rho g L^2 / (2 E) at no Poisson's ratio; the bar swings about that, so the mean over periods counts."""
    calm = replace(hanging(), forces=(Force("air", kind="drag", linear_drag=8.0),))
    frames = list(simulate(calm))
    end = [of(frame, 1)[:, 2].min() for frame in (frames[0], frames[-1])]
    stretched = 1000.0 * 9.81 * 1.0 / (2.0 * 1e5)
    assert end[0] - end[1] == pytest.approx(stretched, rel=0.06)
    assert np.abs(of(frames[-1], 0) - of(frames[0], 0)).max() < 1e-3 * SPACING


@pytest.mark.parametrize("dimension", [3, 2])
def test_a_spring_of_half_weight_swings_at_its_frequency(dimension: int) -> None:
    """Pulled out of its place by a wind that stops, a block swings with f sqrt(w): a period later it is on the same side again."""
    frequency, weight = 4.0, 0.5
    period = 1.0 / (frequency * math.sqrt(weight))
    push = Force(
        "push",
        kind="wind",
        direction=(1.0, 0.0, 0.0),
        strength=30.0,
        animation=Animation(np.array([1.0, 3.0]), {"enabled": np.array([1.0, 0.0])}),
    )
    fps = 40.0 / period
    block = held(box((0.0, 0.0, 0.0), 0.2), goal=weight, goal_frequency=frequency, goal_damping=0.0)
    swing = jelly(block, forces=(push,), gravity=(0.0, 0.0, 0.0), dimension=dimension, frames=104, fps=fps, max_displacement=0.02)
    offset = np.array([of(frame, 0)[:, 0].mean() for frame in simulate(swing)])
    ups = [
        index + offset[index] / (offset[index] - offset[index + 1]) for index in range(3, 103) if offset[index] > 0.0 >= offset[index + 1]
    ]
    assert len(ups) == 3
    assert (ups[2] - ups[0]) / 2.0 == pytest.approx(40.0, rel=0.02)
    assert offset[5:45].max() > 0.005


def test_critical_damping_returns_without_overshoot() -> None:
    block = held(box((0.0, 0.0, 0.0), 0.2), goal=0.5, goal_frequency=4.0, goal_damping=1.0, velocity=(2.0, 0.0, 0.0))
    offset = [of(frame, 0)[:, 0].mean() for frame in simulate(jelly(block, gravity=(0.0, 0.0, 0.0), frames=16))]
    assert max(offset) > 0.02 and min(offset) > -1e-3 and offset[-1] < 0.1 * max(offset)


@pytest.mark.parametrize("frequency", [100.0, 1e4])
def test_the_stiffest_spring_is_stable_at_the_step_of_the_jelly(frequency: float) -> None:
    """It sags by g / w^2 at most."""
    frames = list(simulate(jelly(held(box((0.0, 0.0, 0.0), 0.2), goal=0.99, goal_frequency=frequency), frames=6)))
    assert np.abs(frames[-1].position - frames[0].position).max() < 2.0 * 9.81 / (2.0 * math.pi * 100.0) ** 2 + 1e-4


def turning(dimension: int = 3) -> Motion:
    """Away along x and z, and around y by two turns, with sudden starts and stops."""
    frames = np.array([1.0, 3.0, 6.0, 10.0])
    poses = np.tile(np.eye(4), (4, 1, 1))
    poses[:, :3, :3] = [rotation_matrix(np.array([0.0, angle, 0.0])) for angle in (0.0, 0.0, 2.0, 4.5)]
    poses[:, :3, 3] = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.3, 0.2 * (dimension - 2), 0.4], [0.3, 0.2 * (dimension - 2), -0.2]]
    return Motion(frames, matrices=poses)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dimension", "scheme"),
    [(3, {}), (2, {}), (3, {"kernel": "cubic"}), pytest.param(2, {"kernel": "cubic"}, marks=pytest.mark.long), (3, {"transfer": "flip"})],
)
def test_pinned_particles_follow_a_motion_and_carry_what_hangs_on_them(dimension: int, scheme: dict[str, Any]) -> None:
    motion = turning(dimension)
    top = held(box((0.0, 0.0, 0.1), 0.2), body="bar", motion=motion)
    bar = Emitter("bar", box((0.0, 0.0, -0.1), 0.2), "corotated", body="bar", **LATTICE)
    frames = list(simulate(jelly(top, bar, young_modulus=1e6, frames=11, dimension=dimension, **scheme)))
    start = of(frames[0], 0)
    for frame in frames:
        pose = pose_at(motion, frame.number)
        assert np.abs(of(frame, 0) - (start @ pose[:3, :3].T + pose[:3, 3])).max() < 1e-3 * SPACING
    pose = pose_at(motion, 11.0)
    hung = of(frames[0], 1).mean(axis=0) @ pose[:3, :3].T + pose[:3, 3]
    assert np.linalg.norm(of(frames[-1], 1).mean(axis=0) - hung) < 0.1


def test_pinned_particles_follow_a_moving_deforming_mesh() -> None:
    """A turn and a shift of all vertices carry a particle as a pose does; stretched along x, its foot on the surface goes along."""
    mesh = box_mesh((0.4, 0.2, 0.2))
    turn = rotation_matrix(np.array([0.3, 0.5, -0.2]))
    moved = mesh.vertices @ turn.T + [0.1, 0.0, 0.2]
    vertices = np.stack([mesh.vertices, moved, moved * 1.0])
    carried = held(mesh, motion=Motion(np.array([1.0, 5.0, 6.0]), vertices=vertices))
    first, *_, last = simulate(jelly(carried, frames=6))
    assert np.abs(of(last, 0) - (of(first, 0) @ turn.T + [0.1, 0.0, 0.2])).max() < 2e-3 * SPACING
    stretched = np.stack([mesh.vertices, mesh.vertices * [1.5, 1.0, 1.0]])
    carried = held(mesh, motion=Motion(np.array([1.0, 5.0]), vertices=stretched))
    first, *_, last = simulate(jelly(carried, frames=6))
    middle = np.abs(of(first, 0)[:, 0]) < 0.05
    assert np.abs(of(last, 0)[middle] - of(first, 0)[middle] * [1.5, 1.0, 1.0]).max() < 2e-3 * SPACING


def test_a_held_mesh_is_where_its_vertices_are_between_two_frames() -> None:
    motion = Motion(np.array([1.0, 3.0]), vertices=np.stack([np.zeros((1, 3)), np.ones((1, 3))]))
    assert [float(vertices_at(motion, frame, 24.0)[0][0, 0]) for frame in (0.0, 1.0, 1.5, 3.0, 9.0)] == [0.0, 0.0, 0.25, 1.0, 1.0]


def test_pinning_that_ends_releases_particles() -> None:
    release = Animation(np.array([1.0, 3.0, 3.001]), {"goal": np.array([1.0, 1.0, 0.0])})
    first, _, third, *_, last = simulate(jelly(held(box((0.0, 0.0, 0.0), 0.2), animation=release), frames=7))
    assert np.abs(third.position - first.position).max() < 1e-3 * SPACING
    fallen = 0.5 * 9.81 * (4.0 / 24.0) ** 2
    assert first.position[:, 2].mean() - last.position[:, 2].mean() == pytest.approx(fallen, rel=0.03)


MANY = """
from tests.core.emission.test_pins import swinging
scenes = [swinging()]
"""


def swinging() -> Scene:
    top = held(box((0.0, 0.0, 0.1), 0.2), body="bar", motion=turning())
    bar = held(box((0.0, 0.0, -0.2), (0.2, 0.2, 0.4)), body="bar", goal=0.3, goal_frequency=3.0, motion=turning())
    return jelly(top, Emitter(**{**vars(bar), "name": "bar"}), frames=7)


def test_painted_pin_strength_applies_to_each_particle() -> None:
    """Half of the particles with a factor of 1 stay, the others fall."""
    half = jelly(held(box((0.0, 0.0, 0.0), (0.6, 0.2, 0.2))), young_modulus=10.0, frames=5)
    simulation = Simulation(half)
    add = simulation._stepper.pins.add

    def painted(batch: Any, first_id: int, frame: float) -> None:
        goal = (batch.points.position[:, 0] > 0.0).astype(float)
        add(dataclasses.replace(batch, painted=dataclasses.replace(batch.painted, pin_share=goal)), first_id, frame)

    simulation._stepper.pins.add = painted  # type: ignore[method-assign]
    first, *_, last = simulation.frames()
    fallen = first.position[:, 2] - last.position[:, 2]
    assert np.abs(fallen[first.position[:, 0] > 0.0]).max() < 1e-3 * SPACING
    assert fallen[first.position[:, 0] < -0.15].min() > 0.8 * 0.5 * 9.81 * (4.0 / 24.0) ** 2


@pytest.mark.slow
def test_threads_and_interruptions_change_no_byte() -> None:
    assert len(digests_by_threads(MANY)) == 1
    whole = Simulation(swinging())
    states = [(frame, whole.snapshot()) for frame in whole.frames()]
    for start in (1, 3):
        *_, resumed = Simulation(swinging(), snapshot=states[start][1]).frames()
        assert np.array_equal(resumed.position, states[-1][0].position)
        assert resumed.statistics == states[-1][0].statistics
