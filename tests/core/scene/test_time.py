"""Frames and seconds: slow motion and subframes."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.contact.deforming_obstacle import DeformingObstacle
from mpm_addon.core.contact.obstacle import Obstacle
from mpm_addon.core.emission.emission import emit, moments
from mpm_addon.core.errors import SceneError
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.geometry.shapes import SHAPES, Mesh
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.settings import Time
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import LATTICE, box, four_materials, material, scene

WATER = (material("water"),)


def with_time(described: Scene, **changes: Any) -> Scene:
    return dataclasses.replace(described, time=dataclasses.replace(described.time, **changes))


def falling(**time: Any) -> Scene:
    block = Emitter("block", box((0.0, 0.0, 0.0), 0.2), "neo_hookean", velocity=(1.0, 0.0, 0.0), **LATTICE)
    return with_time(scene(block, materials=(material("neo_hookean"),), fps=10.0), **time)


def jet(**settings: Any) -> Emitter:
    return Emitter("jet", box((0.0, 0.0, 0.0), 0.2), "water", mode="inflow", velocity=(0.0, 0.0, -2.0), **settings)


def test_seconds_of_frames() -> None:
    time = Time(fps=25.0, frame_start=3, time_scale=0.25)
    assert (time.frame_seconds, time.seconds_at(3), time.seconds_at(28)) == (pytest.approx(0.01), 0.0, pytest.approx(0.25))
    assert time.seconds_at(3.5) == pytest.approx(0.005)
    assert Time().seconds_at(12) == 11 / 24


@pytest.mark.parametrize("wrong", [{"time_scale": 0.0}, {"time_scale": -1.0}, {"subframes": -1}, {"subframes": 0.5}, {"subframes": 100}])
def test_wrong_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SceneError, match=next(iter(wrong))):
        Time(**wrong)


def test_slow_motion_falls_as_far_in_more_frames() -> None:
    """x = v t, z = -g t^2 / 2 with t = (n - 1) time_scale / fps; velocities stay those of the simulated time."""
    for frame in simulate(falling(time_scale=0.25, frame_end=6)):
        t = (frame.number - 1) * 0.025
        assert frame.time == pytest.approx(t)
        # symplectic Euler falls g t dt / 2 farther
        expected = [t, 0.0, -0.5 * 9.81 * t**2]
        assert frame.position.mean(axis=0) == pytest.approx(expected, abs=9.81 * t * 0.025 / 2 + 1e-6)
        assert frame.velocity.mean(axis=0) == pytest.approx([1.0, 0.0, -9.81 * t], abs=1e-4)
        assert frame.attribute("age") == pytest.approx(np.full(len(frame.id), t))


def test_a_collider_moves_faster_in_slow_motion() -> None:
    """A pose every frame is a path per frame: the slower the time passes, the more meters per simulated second."""
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, 0, 3] = 0.5
    pusher = Collider("pusher", SHAPES["sphere"](radius=0.2), motion=Motion(np.array([1.0, 11.0]), matrices=matrices))
    described = scene(Emitter("a", box((2.0, 0.0, 0.0), 0.2), "water"), materials=WATER, colliders=(pusher,), fps=20.0)
    for time_scale in (1.0, 0.25):
        obstacle = Obstacle(pusher, with_time(described, time_scale=time_scale))
        obstacle.move_to(3.5)
        assert obstacle.rigid[0] == pytest.approx(0.05 * 20.0 / time_scale)
        assert obstacle.rigid[6] == pytest.approx(0.125)


def test_a_deforming_collider_moves_faster_in_slow_motion() -> None:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    mesh = Mesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    motion = Motion(np.array([1.0, 11.0]), vertices=np.array([corners, corners + np.array([0.5, 0.0, 0.0])]))
    pusher = Collider("pusher", mesh, motion=motion)
    described = scene(Emitter("a", box((2.0, 0.0, 0.0), 0.2), "water"), materials=WATER, colliders=(pusher,), fps=20.0)
    for time_scale in (1.0, 0.25):
        obstacle = DeformingObstacle(pusher, with_time(described, time_scale=time_scale))
        obstacle.move_to(3.5)
        assert obstacle._velocities == pytest.approx(np.tile([0.05 * 20.0 / time_scale, 0.0, 0.0], (4, 1)))


@pytest.mark.parametrize("time_scale", [1.0, 0.25, 2.0])
def test_an_inflow_brings_mass_per_simulated_second(time_scale: float) -> None:
    described = with_time(scene(jet(), materials=WATER, frames=25), time_scale=time_scale)
    masses = [
        batch.points.mass.sum()
        for frame in described.time.frames
        for fraction in moments(described, frame)
        for batch in emit(described, frame, fraction)
    ]
    # one second of the animation, 2 m/s through 0.2 m x 0.2 m
    assert sum(masses[1:]) == pytest.approx(1000.0 * 0.04 * 2.0 * time_scale, rel=0.03)
    assert estimate(described).particles == pytest.approx(512 * (1.0 + 10.0 * time_scale))


def test_subframes_have_the_particles_at_their_moments() -> None:
    frames = list(simulate(falling(subframes=3, frame_end=3)))
    assert [frame.moment.frame for frame in frames] == [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0]
    assert frames[1].moment == Moment(1, 1, 4)
    for frame in frames:
        assert frame.time == pytest.approx((frame.moment.frame - 1) / 10.0)
        assert frame.position[:, 0].mean() == pytest.approx(frame.time, abs=1e-5)
        assert frame.attribute("age") == pytest.approx(np.full(len(frame.id), frame.time))
    # steps are counted from the frame before
    counts = [frame.statistics.substeps for frame in frames]
    assert counts[0] == 0 and counts[1:5] == sorted(counts[1:5]) and counts[5] < counts[4]


def test_emitted_particles_are_in_subframes() -> None:
    """At the moment of an emission its particles are there, of age 0, and so is all that came before."""
    described = with_time(scene(jet(), materials=WATER, frames=2), subframes=3)
    assert moments(described, 1) == (0.0, 0.25, 0.5, 0.75)
    counts, comings = [], 0
    for frame in simulate(described):
        comings += sum(len(batch.points.position) for batch in emit(described, frame.number, frame.moment.share))
        assert len(frame.id) == comings
        if frame.number == 1:
            assert frame.attribute("age").min() == 0.0
        counts.append(len(frame.id))
    assert counts == sorted(set(counts))


def test_a_simulation_resumes_from_a_subframe_with_the_same_bytes() -> None:
    described = with_time(four_materials(3), subframes=2)
    through = Simulation(described)
    states, snapshots = [], []
    for frame in through.frames():
        states.append(frame)
        snapshots.append(through.snapshot())
    assert len(states) == 7
    for start in (1, 2, 3, 4):
        continued = list(Simulation(described, snapshot=snapshots[start]).frames())
        assert [frame.moment for frame in continued] == [frame.moment for frame in states[start + 1 :]]
        for frame, expected in zip(continued, states[start + 1 :], strict=True):
            assert frame.statistics == expected.statistics
            assert all(frame.attribute(name).tobytes() == expected.attribute(name).tobytes() for name in expected.attributes)


def test_subframes_count_in_the_estimate() -> None:
    plain, dense = estimate(falling(frame_end=11)), estimate(falling(frame_end=11, subframes=3))
    checkpoint = plain.disk_bytes - 11 * plain.frame_bytes
    assert dense.disk_bytes - checkpoint == pytest.approx(41 * dense.frame_bytes, rel=1e-4)
    assert estimate(falling(frame_end=11, time_scale=0.25)).substeps == pytest.approx(plain.substeps / 4, rel=0.01)
