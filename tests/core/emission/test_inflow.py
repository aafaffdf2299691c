"""Steady inflows: the right mass at every moment, from the shape's first filling to the last frame of emission."""

import dataclasses
import gc
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from mpm_addon.core import simulate
from mpm_addon.core.emission import emission
from mpm_addon.core.emission.emission import emit, moments
from mpm_addon.core.errors import SceneError
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.geometry.shapes import Capsule, Points, Sphere
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.scene.settings import Domain, Side
from tests.core.scenes import LATTICE, box, material, scene

WATER = (material("water"),)
H = 0.05


def inflow(shape: Any, velocity: tuple[float, float, float], **rest: Any) -> Emitter:
    return Emitter("jet", shape, "water", mode="inflow", velocity=velocity, **rest)


def emitted(described: Scene) -> list[tuple[int, float, emission.Batch]]:
    """Everything that comes in all frames, with frame and fraction."""
    return [
        (frame, fraction, batch)
        for frame in described.time.frames
        for fraction in moments(described, frame)
        for batch in emit(described, frame, fraction)
    ]


@pytest.mark.parametrize("sampling", ["poisson", "lattice", "random"])
@pytest.mark.parametrize("speed", [0.4, 6.0])
@pytest.mark.parametrize(("dimension", "area", "volume"), [(3, np.pi * 0.04, 4 / 3 * np.pi * 0.008), (2, 0.4, np.pi * 0.04)])
def test_mass_per_second_is_density_times_cross_section_times_speed(
    dimension: int, area: float, volume: float, speed: float, sampling: str
) -> None:
    direction = np.array([0.48, 0.6, -0.64]) if dimension == 3 else np.array([0.6, 0.0, -0.8])
    jet = inflow(Sphere(radius=0.2), tuple(speed * direction), sampling=sampling, mass_scale=1.5)
    described = scene(jet, materials=WATER, frames=49, dimension=dimension)
    first, *later = emitted(described)
    assert first[:2] == (1, 0.0) and first[2].points.mass.sum() == pytest.approx(1500.0 * volume, rel=1e-12)
    # two seconds of flow, up to one layer of a lattice of spacing h / 2
    expected = 1500.0 * area * speed * 2.0
    tolerance = 0.02 * expected + (1500.0 * area * H / 2 if sampling == "lattice" else 0.0)
    assert sum(batch.points.mass.sum() for *_, batch in later) == pytest.approx(expected, abs=tolerance)


def test_moments_come_before_the_flow_has_moved_more_than_half_a_cell() -> None:
    described = scene(inflow(box((0.0, 0.0, 0.0), 0.2), (3.0, 0.0, 0.0), frame_start=2, frame_end=4), materials=WATER, frames=6)
    # 3 m/s / 24 = 0.125 m a frame, in steps of at most 0.025 m
    assert moments(described, 1) == ()
    assert moments(described, 2) == moments(described, 3) == (0.0, 0.2, 0.4, 0.6, 0.8)
    assert moments(described, 4) == (0.0,)
    assert moments(described, 5) == ()
    assert emit(described, 2, 0.3) == emit(described, 5) == []


def test_moments_of_several_emitters_are_joined() -> None:
    fast = inflow(box((0.0, 0.0, 0.0), 0.2), (1.2, 0.0, 0.0), **LATTICE)
    slow = inflow(box((0.0, 0.0, 1.0), 0.2), (0.6, 0.0, 0.0), **LATTICE)
    once = Emitter("once", box((0.0, 0.0, 2.0), 0.2), "water", frame_start=2)
    described = scene(fast, slow, once, materials=WATER)
    assert moments(described, 2) == (0.0, 0.5)
    assert [batch.emitter_index for batch in emit(described, 2, 0.0)] == [0, 1, 2]
    assert [batch.emitter_index for batch in emit(described, 2, 0.5)] == [0]


def test_an_inflow_that_began_before_the_scene_begins_full() -> None:
    described = scene(inflow(box((0.0, 0.0, 0.0), 0.2), (1.0, 0.0, 0.0), frame_start=-5, **LATTICE), materials=WATER)
    assert emit(described, 1)[0].points.mass.sum() == pytest.approx(8.0)


@pytest.mark.parametrize("sampling", ["poisson", "lattice"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_free_stream_has_no_gaps_and_no_overlaps(dimension: int, sampling: str) -> None:
    """Every batch carried on by its velocity: distances as in an arrangement made at once."""
    jet = inflow(box((0.0, 0.0, 0.0), 0.2), (2.0, 0.0, 0.0), sampling=sampling)
    described = scene(jet, materials=WATER, frames=13, dimension=dimension)
    end = 13.0
    batches = [(batch.points, end - frame - fraction) for frame, fraction, batch in emitted(described)]
    points = np.concatenate([each.position + each.velocity * age / 24.0 for each, age in batches])
    spacing = H / 8 ** (1 / dimension)
    tree = cKDTree(points)
    assert tree.query(points, k=2)[0][:, 1].min() > 0.8 * spacing
    depth = 0.08 if dimension == 3 else 0.0
    probes = np.random.default_rng(0).uniform([-0.08, -depth, -0.08], [1.08, depth, 0.08], (20_000, 3))
    assert tree.query(probes)[0].max() < 1.2 * spacing
    assert points[:, 0].min() > -0.1 - 1e-9 and points[:, 0].max() < 1.1 + 1e-9


def test_the_first_filling_has_exactly_the_count() -> None:
    for sampling in ("poisson", "lattice", "random"):
        jet = inflow(Sphere(radius=0.2), (1.0, 0.0, 0.0), sampling=sampling, particle_count=777)
        first, *later = emitted(scene(jet, materials=WATER, frames=25))
        assert len(first[2].points.mass) == 777
        # a second of flow has 1 m / (4/3 r) = 3.75 times the ball's volume; a lattice fills a ball by leaps
        assert sum(len(batch.points.mass) for *_, batch in later) == pytest.approx(777 * 3.75, rel=0.2 if sampling == "lattice" else 0.06)


def test_the_same_scene_gives_the_same_stream_and_another_seed_another() -> None:
    jet = inflow(Sphere(radius=0.2), (2.0, 0.0, 0.0))
    described = scene(jet, materials=WATER)
    again = dataclasses.replace(described)
    other = dataclasses.replace(described, solver=dataclasses.replace(described.solver, seed=1))
    for frame, fraction in ((1, 0.0), (2, 0.5), (3, 0.0)):
        mine, same, different = (emit(each, frame, fraction)[0].points.position for each in (described, again, other))
        assert np.array_equal(mine, same)
        assert len(mine) != len(different) or not np.array_equal(mine, different)


def test_streams_are_forgotten_with_their_scenes() -> None:
    described = scene(inflow(Sphere(radius=0.2), (2.0, 0.0, 0.0)), materials=WATER)
    emit(described, 1)
    assert (0, "stream") in described.prepared
    assert dataclasses.replace(described).prepared == {}
    left = weakref.ref(described)
    del described
    gc.collect()
    assert left() is None


def test_a_swirl_about_the_flow_turns_the_particles() -> None:
    jet = inflow(Sphere(radius=0.2), (2.0, 0.0, 0.0), angular_velocity=(180.0, 0.0, 0.0))
    for _, _, batch in emitted(scene(jet, materials=WATER)):
        x, y, z = batch.points.position.T
        expected = np.array([2.0, 0.0, 0.0]) + np.pi * np.stack([0.0 * x, -z, y], axis=1)
        assert np.abs(batch.points.velocity - expected).max() < 1e-12


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"velocity": (0.0, 0.0, 0.0)},
            "an inflow with velocity 0 m/s cannot flow without gravity; use a velocity such as (0, 0, -1).",
        ),
        (
            {"velocity": (0.0, 2.0, 0.0), "dimension": 2},
            "an inflow with velocity 0 m/s in the x-z plane cannot flow without gravity; use a velocity such as (0, 0, -1).",
        ),
        ({"shape": Points(np.zeros((1, 3)))}, 'points cannot be an inflow, because they have no inside; use mode "once" or "repeat".'),
    ],
)
def test_what_cannot_flow_is_refused(changes: dict[str, Any], message: str) -> None:
    dimension = changes.pop("dimension", 3)
    with pytest.raises(SceneError) as caught:
        jet = inflow(**{"shape": Sphere(radius=0.2), "velocity": (1.0, 0.0, 0.0), **changes})
        scene(jet, materials=WATER, dimension=dimension, gravity=(0.0, 9.81 * (dimension == 2), 0.0))
    assert str(caught.value) == f'Emitter "jet": {message}'


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: v[0] ** 2 + v[2] ** 2 > 0.01),
    st.floats(0.1, 5.0),
    st.sampled_from([2, 3]),
    st.sampled_from(["poisson", "lattice", "random"]),
    st.sampled_from(
        [
            box((0.3, -0.05, 0.1), (0.3, 0.2, 0.25)),
            Sphere(center=(0.0, 0.1, 0.2), radius=0.15),
            Capsule(start=(0, 0, 0), end=(0.2, 0.1, 0.1), radius=0.1),
        ]
    ),
)
def test_any_flow_is_steady_and_the_estimate_includes_it(
    direction: tuple[float, float, float], speed: float, dimension: int, sampling: str, shape: Any
) -> None:
    velocity = tuple(speed * part for part in direction)
    described = scene(inflow(shape, velocity, sampling=sampling), materials=WATER, frames=25, dimension=dimension)  # type: ignore[arg-type]
    count = sum(len(batch.points.mass) for *_, batch in emitted(described))
    # what a lattice meets at a small shape, and the scatter of random points
    assert count == pytest.approx(estimate(described).particles, rel=0.15, abs=4 * count**0.5)


def conserved(described: Scene) -> int:
    """Simulate, and check at every frame that what came is there or was deleted; returns how many were deleted."""
    mass, frame = np.zeros(0), None
    coming = emitted(described)
    for frame in simulate(described):
        due = [batch.points.mass for number, fraction, batch in coming if number + fraction <= frame.number]
        mass = np.concatenate(due) if due else mass
        assert frame.statistics.particles + frame.statistics.deleted == len(mass)
        assert len(frame.id) == frame.statistics.particles
        assert frame.statistics.mass == pytest.approx(mass[frame.id].sum(), rel=1e-6)
    assert frame is not None
    return frame.statistics.deleted


@pytest.mark.parametrize("dimension", [3, 2])
def test_emitted_particles_are_present_or_deleted(dimension: int) -> None:
    """Emitted = present + deleted, in number and in mass, at every frame, with three kinds of emission and open sides."""
    sides = {"z_min": Side(surface="open"), "x_max": Side(surface="open")}
    domain = Domain(kind="box", min=(-0.4, -0.4, -0.4), max=(0.4, 0.4, 0.6), sides=sides)
    again: dict[str, Any] = {"mode": "repeat", "interval": 3, "velocity_spread": 0.3, **LATTICE}
    emitters = (
        inflow(Sphere(center=(0.0, 0.0, 0.4), radius=0.1), (0.5, 0.0, -2.5), particles_per_cell=4, frame_end=6),
        Emitter("drops", box((-0.2, 0.0, 0.0), 0.1), "water", velocity=(0.0, 0.0, -3.0), **again),
        Emitter("once", box((0.2, 0.0, 0.0), 0.1), "water", velocity=(6.0, 0.0, 0.0), frame_start=2, **LATTICE),
    )
    described = scene(*emitters, materials=(material("water", bulk_modulus=2e4),), domain=domain, frames=12, dimension=dimension)
    assert conserved(described) > 20


def test_a_jet_keeps_its_density() -> None:
    """A stream without gravity: the mean volume ratio stays near 1 and mass spreads evenly along its way."""
    jet = inflow(box((0.0, 0.0, 0.0), 0.2), (2.0, 0.0, 0.0), **LATTICE)
    *_, last = simulate(scene(jet, materials=(material("water", bulk_modulus=2e4),), gravity=(0.0, 0.0, 0.0), frames=13))
    along = np.histogram(last.position[:, 0], bins=20, range=(0.0, 1.0))[0]
    # 0.05 m of a stream of 0.2 m squared, 8 particles in each of 16 cells
    assert along.mean() == pytest.approx(128.0, rel=0.02)
    assert np.abs(along - 128).max() <= 32
    assert last.attribute("volume_ratio").mean() == pytest.approx(1.0, abs=0.01)
    assert np.abs(last.velocity[:, 0] - 2.0).mean() < 0.02
