"""Inflows into free space: how much is emitted and when, and nothing where particles already are."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

from mpm_addon.core import simulate
from mpm_addon.core.emission.emission import Batch, emit, moments
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.geometry.shapes import Sphere
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.settings import Domain, Side
from tests.core.scenes import LATTICE, box, material, scene

WATER = (material("water"),)
H = 0.05
STILL = Motion(np.array([1.0]), matrices=np.eye(4)[None])


def keyed(frames: list[float], **values: list[Any]) -> Animation:
    return Animation(np.array(frames, float), {name: np.array(each, float) for name, each in values.items()})


def inflow(shape: Any, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0), **rest: Any) -> Emitter:
    return Emitter("tap", shape, "water", mode="inflow", velocity=velocity, **rest)


class Carried:
    """Surroundings in which all particles move on with one velocity."""

    def __init__(self, velocity: tuple[float, float, float]) -> None:
        self.position, self.volume = np.empty((0, 3)), np.empty(0)
        self._velocity, self._now = np.array(velocity), 1.0

    def particles_in(self, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        is_in = ((self.position >= bounds[0]) & (self.position <= bounds[1])).all(axis=1)
        return self.position[is_in], self.volume[is_in]

    def blocked(self, points: np.ndarray, frame: float, *, is_whole_shape: bool) -> tuple[np.ndarray, list[str]]:
        return np.zeros(len(points), np.bool_), []

    def emitted(self, described: Scene) -> list[tuple[float, Batch]]:
        found = []
        for frame in described.time.frames:
            for fraction in moments(described, frame):
                self.position = self.position + self._velocity * ((frame + fraction - self._now) / described.time.fps)
                self._now = frame + fraction
                for batch in emit(described, frame, fraction, self):
                    self.position = np.concatenate([self.position, batch.points.position])
                    self.volume = np.concatenate([self.volume, batch.points.volume])
                    found.append((self._now, batch))
        return found


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("speed", [0.3, 4.0])
def test_what_leaves_is_replaced_at_rest_density(dimension: int, speed: float) -> None:
    """An inflow that is no steady stream, since its object could move: nearly what its velocity carries away."""
    described = scene(inflow(box((0.0, 0.0, 0.0), 0.3), (speed, 0.0, 0.0), motion=STILL), materials=WATER, frames=25, dimension=dimension)
    carried = Carried((speed, 0.0, 0.0))
    first, *later = carried.emitted(described)
    size = 0.3**dimension
    assert first[1].points.volume.sum() == pytest.approx(size, rel=0.5 / len(first[1].points.volume))
    assert sum(batch.points.volume.sum() for _, batch in later) == pytest.approx(0.3 ** (dimension - 1) * speed, rel=0.09)
    spacing = H / 8 ** (1 / dimension)
    assert cKDTree(carried.position).query(carried.position, k=2)[0][:, 1].min() > 0.75 * spacing


def test_a_full_shape_emits_nothing_more() -> None:
    described = scene(inflow(Sphere(radius=0.2), motion=STILL), materials=WATER, frames=6)
    assert len(Carried((0.0, 0.0, 0.0)).emitted(described)) == 1


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_flow_rate_emits_its_volume(dimension: int) -> None:
    rate = 0.005 if dimension == 3 else 0.05
    described = scene(inflow(box((0.0, 0.0, 0.0), 0.3), (1.0, 0.0, 0.0), flow_rate=rate), materials=WATER, frames=25, dimension=dimension)
    emitted = Carried((1.0, 0.0, 0.0)).emitted(described)
    each = H**dimension / 8
    for now, _ in emitted:
        so_far = sum(batch.points.volume.sum() for moment, batch in emitted if moment <= now)
        assert rate * (now - 1.0) / 24.0 - each < so_far + 1e-12 <= rate * (now - 1.0) / 24.0 + 1e-9
    assert emitted[-1][0] > 24.9


def test_a_flow_rate_may_change_and_stop() -> None:
    """0 to 0.01 m^3/s in 12 frames, held for 4, off for 4, on again to the end: 0.0025 + 0.00167 + 0.00167 m^3."""
    animation = keyed([1, 13, 17, 21], flow_rate=[0.0, 0.01, 0.01, 0.01], enabled=[1, 1, 0, 1])
    described = scene(inflow(box((0.0, 0.0, 0.0), 0.3), (2.0, 0.0, 0.0), animation=animation), materials=WATER, frames=25)
    emitted = Carried((2.0, 0.0, 0.0)).emitted(described)
    total = 0.5 * 0.01 * 0.5 + 0.01 * 4 / 24 + 0.01 * 4 / 24
    assert sum(batch.points.volume.sum() for _, batch in emitted) == pytest.approx(total, abs=H**3 / 8)
    late = [now for now, _ in emitted if 17.3 < now <= 21.0]
    assert late == []


def test_enabled_turns_emitters_on_and_off() -> None:
    animation = keyed([1, 3, 5], enabled=[0, 1, 0])
    tap = inflow(box((0.0, 0.0, 0.0), 0.2), (1.0, 0.0, 0.0), animation=animation)
    again = Emitter("again", box((0.0, 0.0, 1.0), 0.2), "water", mode="repeat", interval=1, animation=animation)
    once = Emitter("once", box((0.0, 0.0, 2.0), 0.2), "water", animation=animation)
    never = Emitter("never", box((0.0, 0.0, 3.0), 0.2), "water", enabled=False)
    described = scene(tap, again, once, never, materials=WATER, frames=8)
    found = [
        (frame, batch.emitter_index)
        for frame in range(1, 9)
        for part in moments(described, frame)
        for batch in emit(described, frame, part)
    ]
    assert {frame for frame, index in found if index == 0} == {3, 4}
    assert [frame for frame, index in found if index == 1] == [3, 4]
    assert [frame for frame, index in found if index == 2] == [3]
    assert not [frame for frame, index in found if index == 3]


def test_an_object_that_moves_gets_more_moments() -> None:
    poses = np.stack([np.eye(4), np.eye(4)])
    poses[1, 0, 3] = 1.0
    described = scene(inflow(Sphere(radius=0.1), motion=Motion(np.array([1.0, 3.0]), matrices=poses)), materials=WATER, frames=5)
    # half a meter a frame in steps of half a cell, and one more for the fall
    assert len(moments(described, 1)) in (20, 21, 22)
    assert len(moments(described, 3)) == 2


def test_gravity_that_is_animated_counts_in_the_moments() -> None:
    """At 400 m/s^2 what begins at rest has fallen half a cell at 4.5 m/s: a ninth of a meter in a frame, in steps of half a cell."""
    falls = keyed([1, 3], gravity=[[0.0, 0.0, 0.0], [0.0, 0.0, -400.0]])
    described = scene(inflow(Sphere(radius=0.1)), materials=WATER, frames=5, gravity=(0.0, 0.0, 0.0), animation=falls, grid_spacing=0.05)
    assert [len(moments(described, frame)) for frame in (1, 2, 3)] == [6, 8, 8]


def test_repeated_emission_leaves_existing_particles_alone() -> None:
    """A block that does not move is not emitted into a second time; one that leaves is."""
    still = Emitter("still", box((0.0, 0.0, 0.0), 0.2), "water", mode="repeat", interval=1)
    described = scene(still, materials=WATER, frames=5)
    assert len(Carried((0.0, 0.0, 0.0)).emitted(described)) == 1
    left = Carried((9.6, 0.0, 0.0)).emitted(described)
    assert len(left) == 5 and all(batch.points.volume.sum() == pytest.approx(0.008) for _, batch in left)


def test_two_taps_in_one_place_fill_it_once() -> None:
    pair = [Emitter(name, Sphere(radius=0.2), "water", mode="inflow", motion=STILL) for name in "ab"]
    described = scene(*pair, materials=WATER, frames=2)
    batches = [batch for _, batch in Carried((0.0, 0.0, 0.0)).emitted(described)]
    assert sum(batch.points.volume.sum() for batch in batches) == pytest.approx(4 / 3 * np.pi * 0.008, rel=1e-3)


@pytest.mark.parametrize("mode", ["stream", "free"])
def test_a_tap_fills_a_tank_and_stops(mode: str) -> None:
    """A closed tank with its tap inside: ever less comes, as it fills, and the water keeps its volume."""
    sides = {name: Side(surface="slip") for name in ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")}
    domain = Domain(kind="box", min=(0.0, 0.0, 0.0), max=(0.3, 0.3, 0.3), sides=sides)
    extra = {} if mode == "stream" else {"motion": STILL}
    tap = inflow(box((0.15, 0.15, 0.22), (0.2, 0.2, 0.14)), (0.0, 0.0, -1.0), **extra)
    described = scene(tap, materials=(material("water", bulk_modulus=2e4),), domain=domain, frames=25)
    frames = list(simulate(described))
    volumes = [float((frame.attribute("scale").astype(float) ** 3).sum()) for frame in frames]
    # unchecked, the stream would bring 0.04 m^3 in this second
    assert 0.6 * 0.027 < volumes[-1] < 0.027
    assert volumes[-1] - volumes[16] < 0.4 * (volumes[8] - volumes[0])
    assert frames[-1].attribute("volume_ratio").mean() == pytest.approx(1.0, abs=0.05)


def test_a_tap_without_velocity_drips_under_gravity() -> None:
    """Falling matter makes room: 0.3 m/s after half a cell, so that in half a second several fillings come."""
    tap = inflow(box((0.0, 0.0, 0.0), 0.2))
    described = scene(tap, materials=(material("water", bulk_modulus=2e4),), frames=13)
    *_, last = simulate(described)
    volume = last.attribute("scale").astype(float) ** 3
    assert 2.0 * 0.008 < volume.sum() < 8.0 * 0.008
    # a falling stream draws out, and nothing in it is squeezed
    assert np.percentile(last.attribute("volume_ratio"), 1) > 0.9


def test_a_moving_tap_leaves_a_trail_of_rest_density() -> None:
    """No gravity, nothing inherited: what it leaves stays where it was put."""
    poses = np.stack([np.eye(4), np.eye(4)])
    poses[1, 0, 3] = 1.0
    motion = Motion(np.array([1.0, 13.0]), matrices=poses)
    tap = inflow(Sphere(radius=0.15), motion=motion, inherit_velocity=0.0)
    described = scene(tap, materials=(material("water", bulk_modulus=2e4),), frames=13, gravity=(0.0, 0.0, 0.0))
    *_, last = simulate(described)
    along = np.histogram(last.position[:, 0], bins=8, range=(0.1, 0.9))[0]
    expected = np.pi * 0.15**2 * 0.1 * 8 / H**3
    assert np.abs(along / expected - 1.0).max() < 0.12 and along.mean() == pytest.approx(expected, rel=0.08)
    assert np.abs(last.velocity).max() < 0.05


def test_the_estimate_knows_flow_rates_and_other_inflows() -> None:
    for tap in (
        inflow(box((0.0, 0.0, 0.0), 0.3), (1.0, 0.0, 0.0), flow_rate=0.005, frame_start=5, frame_end=20),
        inflow(box((0.0, 0.0, 0.0), 0.3), (1.0, 0.0, 0.0), animation=keyed([1, 25], flow_rate=[0.0, 0.01])),
        inflow(box((0.0, 0.0, 0.0), 0.3), (1.0, 0.0, 0.0), motion=STILL),
    ):
        described = scene(tap, materials=WATER, frames=25)
        count = sum(len(batch.points.volume) for _, batch in Carried((1.0, 0.0, 0.0)).emitted(described))
        # without a flow rate it is a bound: matter that falls from rest leaves faster
        assert 0.5 * estimate(described).particles < count < 1.02 * estimate(described).particles


def test_a_free_inflow_resumes_with_the_same_bytes() -> None:
    from mpm_addon.core.stepping.simulation import Simulation

    floor = (Collider("floor", box((0.0, 0.0, -0.35), (2.0, 2.0, 0.2))),)
    tap = inflow(Sphere(radius=0.12), (0.0, 0.0, -1.0), flow_rate=0.02, animation=keyed([1, 9], velocity=[[0, 0, -1], [0.5, 0, -1]]))
    again = Emitter("again", box((0.3, 0.0, 0.0), 0.2), "water", mode="repeat", interval=2, velocity=(0.0, 0.0, -1.0), **LATTICE)
    described = scene(tap, again, materials=(material("water", bulk_modulus=2e4),), colliders=floor, frames=8)
    whole = Simulation(described)
    frames = whole.frames()
    for _ in range(4):
        next(frames)
    snapshot = {name: array.copy() for name, array in whole.snapshot().items()}
    *_, expected = frames
    *_, resumed = Simulation(described, snapshot=snapshot).frames()
    for name in expected.attributes:
        assert np.array_equal(expected.attribute(name), resumed.attribute(name)), name
