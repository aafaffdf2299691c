"""That spray does not pass through thin colliders, whether it flies or is just born, and slides along what it meets."""

import dataclasses

import numpy as np
import pytest

from mpm_addon.core.geometry.rotation import rotation_matrix
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.scene.shape import Shape
from mpm_addon.core.swarm.flight import Step
from mpm_addon.core.swarm.foam_births import Limits
from mpm_addon.core.swarm.foam_motion import SPRAY
from mpm_addon.derived.boundaries import Boundaries, Earlier
from mpm_addon.derived.foam_swarm import advanced, born
from tests.derived.caches import SPACING, block, description
from tests.derived.test_foam_motion import CELL, FRAME, bounded, liquid, moved, nothing, swarm

# Half of the thickness of the walls, and of what a sheet blocks [m].
WALL, FOIL, SHEET = CELL, 0.05 * CELL, 0.5 * CELL


def behind(shape: Shape) -> Scene:
    return dataclasses.replace(description(), colliders=(Collider("wall", shape),))


def wall(half: float) -> Shape:
    """A wall across x = 0."""
    return SHAPES["box"](center=(0.0, 0.0, 0.0), size=(2.0 * half, 20.0, 20.0))


def sheet() -> Shape:
    """A square across x = 0, without an inside."""
    corners = [[0.0, y, z] for y in (-10.0, 10.0) for z in (-10.0, 10.0)]
    return SHAPES["mesh"](vertices=np.array(corners), triangles=np.array([[0, 1, 2], [1, 3, 2]]))


def places(count: int, low: float, high: float) -> np.ndarray:
    """Random places, and that far from x = 0 [m]."""
    random = np.random.default_rng(7)
    return np.column_stack([random.uniform(low, high, count), random.uniform(-1.0, 1.0, (count, 2))])


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize(("shape", "half"), [(wall(WALL), WALL), (wall(FOIL), FOIL), (sheet(), SHEET)], ids=["wall", "foil", "sheet"])
@pytest.mark.parametrize("speed", [5.0, 10.0, 15.0, 25.0])
def test_no_spray_passes_through_a_thin_wall(shape: Shape, half: float, side: float, speed: float) -> None:
    """At speeds that take it 2 to 10 cells far in a frame, straight and at an angle."""
    start = places(300, half + 0.02 * CELL, half + 20 * CELL) * (side, 1.0, 1.0)
    random = np.random.default_rng(8)
    velocity = speed * np.column_stack([np.full(300, -side), random.uniform(-1.0, 1.0, (300, 2))])
    found = moved(swarm(start, 0.0, SPRAY)._replace(velocity=velocity.astype(np.float32)), nothing(behind(shape)), 12)
    assert len(found.id) == 300
    assert (side * found.position[:, 0]).min() >= half
    assert (side * found.velocity[:, 0]).max() < 0.2 * speed
    # along the wall, nothing slows it down
    np.testing.assert_allclose(found.position[:, 1], start[:, 1] + 12 * FRAME * velocity[:, 1], atol=2e-3 * speed)


def test_spray_that_passes_beside_a_thin_post_or_moves_away_is_not_stopped() -> None:
    post = behind(SHAPES["cylinder"](center=(0.0, 0.0, 0.0), radius=0.1 * CELL, height=4.0))
    start = places(400, 2.0 * CELL, 2.1 * CELL)
    found = moved(swarm(start, (-12.0, 0.0, 0.0), SPRAY), nothing(post), 1)
    free = moved(swarm(start, (-12.0, 0.0, 0.0), SPRAY), nothing(), 1)
    missed = np.abs(start[:, 1]) > 0.12 * CELL
    np.testing.assert_array_equal(found.position[missed], free.position[missed])
    hits = np.abs(start[:, 1]) < 0.05 * CELL
    assert hits.any()
    # it gets around the post, but more slowly
    assert (found.velocity[hits, 0] > -6.0).all()
    away = moved(swarm(start, (12.0, 0.0, 0.0), SPRAY), nothing(behind(wall(FOIL))), 3)
    np.testing.assert_array_equal(away.position, moved(swarm(start, (12.0, 0.0, 0.0), SPRAY), nothing(), 3).position)


@pytest.mark.parametrize("kind", ["animated", "dynamic"])
@pytest.mark.parametrize("turn", [0.0, 6.0])
def test_a_thin_wall_that_moves_sweeps_spray_along(kind: str, turn: float) -> None:
    """Four cells in a frame and twelve frames long; or by an angle [deg] around the z axis. What flies away from it is not held back."""
    turns = [rotation_matrix(np.array([0.0, 0.0, np.radians(turn) * number])) for number in range(13)]
    poses = np.tile(np.eye(4), (13, 1, 1))
    poses[:, :3, :3] = turns
    poses[:, 0, 3] = 0.0 if turn else 4.0 * CELL * np.arange(13)
    motion = None if kind == "dynamic" else Motion(np.arange(13.0), poses)
    bounds = Boundaries(
        dataclasses.replace(description(), colliders=(Collider("wall", wall(FOIL), motion=motion, dynamic=motion is None),))
    )
    start = places(300, 2.0 * FOIL, 8.0 * CELL)
    start[:, 1] -= 3.0 * bool(turn)
    still, fast = swarm(start, 0.0, SPRAY), swarm(start, (200.0, 0.0, 0.0), SPRAY)
    for number in range(1, 13):
        earlier = Earlier(number - 1, FRAME, {"wall": poses[number - 1]})
        around = bounded(nothing(), bounds.at(Moment(number), {"wall": poses[number]}, earlier))
        still, fast = (advanced(each, around, around, Step(FRAME, 0.0, 0.0, 0.0, 0.0), CELL) for each in (still, fast))
    assert len(still.id) == 300
    assert ((still.position - poses[12, :3, 3]) @ poses[12, :3, 0]).min() >= FOIL
    if not turn:
        assert (still.velocity[:, 0] > 0.9 * 4.0 * CELL / FRAME).all()
        np.testing.assert_allclose(fast.position[:, 0], start[:, 0] + 12 * FRAME * 200.0, rtol=1e-3)


@pytest.mark.parametrize("half", [WALL, FOIL])
def test_water_beside_a_wall_makes_no_foam_beyond_it(half: float) -> None:
    """Its particles are born along the path of water that hits the wall, and of water that comes away from it."""
    position = block(12, (half + 6.0 * SPACING, 0.0, 0.0))
    random = np.random.default_rng(9)
    for sense in (-1.0, 1.0):
        velocity = np.tile(np.array([[sense * 12.0, 0.0, 0.0]]), (len(position), 1)) + 4.0 * random.normal(size=position.shape)
        around = liquid(position, velocity.astype(np.float32), behind(wall(half)))
        found = born(around, Limits(5.0, 0.5, 1.5, 0.04, 0.2), FRAME, CELL)
        assert len(found.id) > 500
        assert found.position[:, 0].min() >= half
