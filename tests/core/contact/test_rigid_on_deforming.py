"""Dynamic colliders on deforming colliders: at rest, lifted, carried, and independent of threads and resumption."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core.geometry.shapes import SHAPES, Mesh
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.contact.test_deforming_obstacles import bulging, grid_plate
from tests.core.contact.test_rigid_bodies import enabled, jelly
from tests.core.scenes import digests_by_threads, material, scene

H = 0.05
RADIUS = 0.12
DIMENSIONS = pytest.mark.parametrize("dimension", [2, 3])


def ball(height: float, **more: Any) -> Collider:
    return Collider("body", SHAPES["sphere"](center=(0.03, 0.0, height), radius=RADIUS), dynamic=True, friction=0.5, **more)


def plate_by(kind: str, plate: Mesh, **more: Any) -> Collider:
    """A plate that stays, as one pose or as two equal ones of its vertices."""
    still = Motion(np.array([1.0, 3.0]), vertices=np.stack([plate.vertices] * 2))
    return Collider("plate", plate, motion=still if kind == "vertices" else None, friction=0.5, **more)


def with_far_jelly(*colliders: Collider, frames: int, dimension: int = 3) -> Scene:
    """Bodies need matter somewhere; this meets nothing."""
    far = jelly((-20.0, 0.0, 20.0), 0.1)
    return scene(far, materials=(material("corotated", young_modulus=1e4),), colliders=colliders, frames=frames, dimension=dimension)


def heights(described: Scene) -> np.ndarray:
    """How far the body's center of mass has risen at every frame [m]."""
    simulation = Simulation(described)
    (body,) = simulation.rigid_bodies
    start = body.center[2]
    return np.array([body.center[2] - start for _ in simulation.frames()])


@DIMENSIONS
def test_a_ball_rests_on_vertices_as_high_as_on_a_rigid_plate(dimension: int) -> None:
    plate = grid_plate(0.5, 0.15, 8)
    ends = [heights(with_far_jelly(plate_by(kind, plate), ball(0.2), frames=13, dimension=dimension)) for kind in ("vertices", "rigid")]
    for fallen in ends:
        assert fallen[-1] == pytest.approx(RADIUS - 0.2, abs=1e-3 * H)
        assert fallen[-1] == pytest.approx(fallen[-2], abs=1e-6)
    assert ends[0] == pytest.approx(ends[1], abs=0.01 * H)


def test_a_sheet_of_vertices_is_half_a_cell_thick_on_either_side() -> None:
    plate = grid_plate(0.5, 0.15, 8)
    sheet = Mesh(plate.vertices, plate.triangles[plate.vertices[plate.triangles][:, :, 2].min(axis=1) == 0.0])
    fallen = heights(with_far_jelly(plate_by("vertices", sheet), ball(0.25), frames=13))
    assert fallen[-1] == pytest.approx(RADIUS + 0.5 * H - 0.25, abs=1e-3 * H)


@DIMENSIONS
def test_a_box_lies_on_a_spike_between_its_points(dimension: int) -> None:
    """The spike is a vertex; the box meets it with the middle of a face, where it has no point of its own."""
    plate = grid_plate(0.5, 0.15, 8)
    vertices = plate.vertices.copy()
    (spike,) = np.flatnonzero((np.abs(vertices[:, :2]).max(axis=1) < 1e-9) & (vertices[:, 2] == 0.0))
    vertices[spike, 2] = 0.1
    crate = Collider("body", SHAPES["box"](center=(0.0, 0.0, 0.28), size=(0.28, 0.28, 0.3)), dynamic=True, friction=0.5)
    fallen = heights(with_far_jelly(plate_by("vertices", Mesh(vertices, plate.triangles)), crate, frames=7, dimension=dimension))
    assert fallen.min() > 0.1 - 0.13 - 0.02 * H
    assert fallen.min() < -0.02


@DIMENSIONS
def test_a_box_slides_over_vertices_as_coulomb_says(dimension: int) -> None:
    """v = v0 - mu g t: the vertices beside the box do not stop it."""
    plate = plate_by("vertices", grid_plate(1.0, 0.15, 40))
    start = -0.5
    crate = Collider(
        "body", SHAPES["box"](center=(start, 0.0, 0.15), size=(0.3, 0.3, 0.3)), dynamic=True, friction=0.5, velocity=(2.5, 0.0, 0.0)
    )
    described = with_far_jelly(plate, crate, frames=9, dimension=dimension)
    simulation = Simulation(described)
    *_, last = simulation.frames()
    (body,) = simulation.rigid_bodies
    assert body.velocity[0] == pytest.approx(2.5 - 0.5 * 9.81 * last.time, abs=1e-3)
    assert body.center[2] == pytest.approx(0.15, abs=1e-3 * H)


@DIMENSIONS
def test_a_plate_that_bulges_throws_a_ball_no_higher_than_it_is_fast(dimension: int) -> None:
    """The middle rises by 0.25 m at 2 m/s and stops: the ball flies on by v^2 / 2 g at most, and falls back on the bulge."""
    plate, rise, frames = grid_plate(0.5, 0.15, 16), 0.25, 4
    speed = rise / (frames - 1) * 24.0
    lifting = Collider("plate", plate, motion=bulging(plate, rise, frames), friction=0.5)
    centered = Collider("body", SHAPES["sphere"](center=(0.0, 0.0, RADIUS), radius=RADIUS), dynamic=True, friction=0.5)
    found = heights(with_far_jelly(lifting, centered, frames=20, dimension=dimension))
    assert found[frames - 1] == pytest.approx(rise, abs=0.1 * H)
    assert rise + 0.8 * speed**2 / (2.0 * 9.81) < found.max() < rise + speed**2 / (2.0 * 9.81)
    assert found[12:].min() < found.max() - 0.05


@DIMENSIONS
def test_a_conveyor_of_vertices_carries_what_falls_on_it(dimension: int) -> None:
    """A flat plate moves sideways at 1 m/s: a crate is taken to its speed by mu g, and a plate without friction leaves it where it is."""
    plate = grid_plate(1.5, 0.15, 8)
    motion = Motion(np.array([1.0, 25.0]), vertices=np.stack([plate.vertices, plate.vertices + np.array([1.0, 0.0, 0.0])]))
    crate = Collider("body", SHAPES["box"](center=(0.0, 0.0, 0.16), size=(0.3, 0.3, 0.3)), dynamic=True, friction=0.5)
    for friction, speed in ((0.5, 1.0), (0.0, 0.0)):
        simulation = Simulation(
            with_far_jelly(Collider("belt", plate, motion=motion, friction=friction), crate, frames=12, dimension=dimension)
        )
        for _ in simulation.frames():
            pass
        assert simulation.rigid_bodies[0].velocity == pytest.approx([speed, 0.0, 0.0], abs=1e-3)


@pytest.mark.parametrize("height", [0.16, 0.165])
@pytest.mark.parametrize(("dimension", "share"), [(3, 2.0 / 7.0), (2, 1.0 / 3.0)])
def test_a_ball_that_falls_on_a_conveyor_ends_up_rolling(dimension: int, share: float, height: float) -> None:
    """v = V / (1 + r^2 / k^2), k^2 = 2/5 r^2 of a ball and 1/2 r^2 of a disk: friction gives both the velocity and the spin.

    It acts on the ball's surface, however wide the gap is in the substep in which it arrives.
    """
    plate = grid_plate(1.5, 0.15, 8)
    motion = Motion(np.array([1.0, 25.0]), vertices=np.stack([plate.vertices, plate.vertices + np.array([1.0, 0.0, 0.0])]))
    belt = Collider("belt", plate, motion=motion, friction=0.5)
    simulation = Simulation(with_far_jelly(belt, ball(height), frames=12, dimension=dimension))
    for _ in simulation.frames():
        pass
    (body,) = simulation.rigid_bodies
    assert body.velocity == pytest.approx([share, 0.0, 0.0], abs=1e-6)
    assert body.velocities[4] == pytest.approx((share - 1.0) / RADIUS, abs=1e-5)


def test_a_plate_of_vertices_that_is_not_there_lets_a_ball_through() -> None:
    vanishing = plate_by("vertices", grid_plate(0.5, 0.15, 8), animation=enabled(1.0, 0.0))
    fallen = heights(with_far_jelly(vanishing, ball(RADIUS), frames=9))
    assert fallen[4] == pytest.approx(0.0, abs=1e-3 * H)
    assert fallen[8] < -0.1


def meeting(frames: int = 8, dimension: int = 3) -> Scene:
    """A ball and a wedge fall on a plate that bulges, and jelly beside them."""
    corners = np.array([[0.0, -0.1, 0.0], [0.2, -0.1, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.2]]) + np.array([-0.25, 0.0, 0.1])
    wedge = SHAPES["mesh"](corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    plate = grid_plate(0.5, 0.15, 10)
    colliders = (
        Collider("plate", plate, motion=bulging(plate, 0.2, frames), friction=0.4),
        ball(0.15, velocity=(0.2, 0.0, -0.5)),
        Collider("wedge", wedge, dynamic=True, density=500.0, angular_velocity=(0.0, 90.0, 0.0), friction=0.3),
    )
    return scene(jelly((0.3, 0.0, 0.16), 0.2), materials=(material("corotated"),), colliders=colliders, frames=frames, dimension=dimension)


@DIMENSIONS
def test_a_resumed_simulation_gives_the_same_bytes(dimension: int) -> None:
    simulation = Simulation(meeting(dimension=dimension))
    frames = simulation.frames()
    for _ in range(4):
        next(frames)
    snapshot = {name: array.copy() for name, array in simulation.snapshot().items()}
    rest = list(frames)
    continued = list(Simulation(meeting(dimension=dimension), snapshot=snapshot).frames())
    assert len(rest) == len(continued) == 4
    for mine, its in zip(rest, continued, strict=True):
        assert mine.position.tobytes() == its.position.tobytes()
        assert [pose.tobytes() for pose in mine.poses.values()] == [pose.tobytes() for pose in its.poses.values()]
    assert np.abs(rest[-1].poses["wedge"] - rest[0].poses["wedge"]).max() > 0.02


@pytest.mark.slow
def test_the_same_bytes_on_any_number_of_threads() -> None:
    made = "from tests.core.contact.test_rigid_on_deforming import meeting\nscenes = [meeting(6), meeting(6, dimension=2)]"
    assert len(digests_by_threads(made)) == 1
