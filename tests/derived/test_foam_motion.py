"""How spray, foam and bubbles move: in the air, with water, against colliders; and the grid that tells how full the space is."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.geometry.rotation import rotation_matrix
from mpm_addon.core.geometry.shapes import SHAPES, Mesh
from mpm_addon.core.geometry.shapes.box import CUBE_TRIANGLES
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.scene.settings import Domain
from mpm_addon.core.swarm.births import approach
from mpm_addon.core.swarm.fill import Fill, fill_of, sample
from mpm_addon.core.swarm.flight import Step
from mpm_addon.core.swarm.foam_births import Limits
from mpm_addon.core.swarm.foam_motion import BUBBLE, FOAM, RISE, SPRAY
from mpm_addon.derived.boundaries import Boundaries, Boundary, Earlier
from mpm_addon.derived.foam import CALM, foaming_speed
from mpm_addon.derived.foam_swarm import advanced, born
from mpm_addon.derived.swarm import Around, Swarm, ages, lives, outlines_of
from tests.derived.caches import SPACING, block, description

CELL = 2 * SPACING
# All that moves at all makes foam, wherever it can.
LIMITS = Limits(5.0, 0.1, 0.3, 0.01, 0.02)
GRAVITY = (0.0, 0.0, -9.81)
FRAME = 1.0 / 24.0


def pool(size: int = 16, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Around:
    """A cube of water whose upper face is at z = 0."""
    position = block(size, (0.0, 0.0, -0.5 * size * SPACING))
    return liquid(position, np.tile(np.asarray(velocity, np.float32), (len(position), 1)))


def liquid(position: np.ndarray, velocity: np.ndarray, scene: Scene | None = None) -> Around:
    fill = fill_of(position, velocity, np.full(len(position), SPACING**3), CELL)
    boundaries = Boundaries(scene).at(Moment(1), {})
    ids, outlines = np.arange(len(position), dtype=np.int32), outlines_of(boundaries)
    return Around(1, ids, position, velocity, fill, boundaries, outlines, {}, {})


def bounded(around: Around, boundaries: Sequence[Boundary]) -> Around:
    return around._replace(boundaries=boundaries, outlines=outlines_of(boundaries))


def nothing(scene: Scene | None = None) -> Around:
    return liquid(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), scene)


def swarm(position: Any, velocity: Any, kind: int) -> Swarm:
    position = np.atleast_2d(np.asarray(position, np.float32))
    velocity = np.broadcast_to(np.asarray(velocity, np.float32), position.shape).copy()
    ids = np.arange(len(position), dtype=np.int32)
    return Swarm(ids, position, velocity, np.full_like(ids, kind), np.zeros_like(ids))


def moved(given: Swarm, around: Around, frames: int, drag: float = 0.0) -> Swarm:
    for _frame in range(frames):
        given = advanced(given, around, around, Step(FRAME, drag, *GRAVITY), CELL)
    return given


def with_post() -> Scene:
    """A pool's scene with a floor, walls and a sphere."""
    post = Collider("post", SHAPES["sphere"](center=(0.5, 0.5, 0.5), radius=0.2))
    return dataclasses.replace(description(), colliders=(post,), domain=Domain(kind="box", min=(0.0, 0.0, 0.0), max=(1.0, 1.0, 1.0)))


def test_air_is_trapped_where_water_meets_and_not_where_it_parts() -> None:
    position = block(12)
    toward = np.where(position[:, :1] < 0.0, 2.0, -2.0) * np.array([[1.0, 0.0, 0.0]])

    def trapped(velocity: np.ndarray) -> float:
        fill = fill_of(position, velocity.astype(np.float32), np.full(len(position), SPACING**3), CELL)
        return float(approach(fill, (-0.25 * SPACING, 0.0, 0.0), tuple(velocity[0]), 1.0))

    assert trapped(np.tile([[3.0, 1.0, -2.0]], (len(position), 1))) == pytest.approx(0.0, abs=1e-5)
    assert trapped(toward) > 1.0
    assert trapped(-toward) < 0.5 * trapped(toward)


def test_water_that_turns_as_a_whole_traps_no_air() -> None:
    """At rim speeds far above those at which water foams."""
    position = block(24)
    for axis in (np.array([0.0, 0.0, 1.0]), np.array([0.6, -0.8, 0.0])):
        velocity = np.cross(10.0 * axis, position).astype(np.float32)
        fill = fill_of(position, velocity, np.full(len(position), SPACING**3), CELL)
        trapped = [
            approach(fill, tuple(map(float, place)), tuple(map(float, speed)), 1.0) for place, speed in zip(position, velocity, strict=True)
        ]
        mean = float(np.sqrt((velocity.astype(np.float64) ** 2).sum(axis=1).mean()))
        assert max(trapped) < CALM * foaming_speed(mean)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_falling_drops_make_no_foam_by_themselves(size: int) -> None:
    for direction in np.random.default_rng(3).normal(size=(20, 3)):
        position = block(size, tuple(direction))
        velocity = np.tile(15.0 * direction / np.linalg.norm(direction), (len(position), 1)).astype(np.float32)
        assert len(born(liquid(position, velocity), LIMITS, FRAME, CELL).id) == 0


def test_the_front_of_water_makes_foam_where_it_is_an_edge_and_not_where_it_is_flat() -> None:
    position = block(24)
    found = born(liquid(position, np.tile(np.array([[12.0, 0.0, 0.0]], np.float32), (len(position), 1))), LIMITS, FRAME / 100.0, CELL)
    assert len(found.id) > 100
    edge = 12.0 * SPACING
    assert (found.position[:, 0] > edge - CELL).all()
    assert (np.abs(found.position[:, 1:]).max(axis=1) > edge - CELL).all()


def test_the_grid_tells_how_full_the_space_is_and_how_it_moves() -> None:
    fill = pool(velocity=(1.0, -2.0, 0.5)).fill
    for height, expected in ((-0.4, 1.0), (0.0, 0.5), (0.25, 0.0)):
        full, _gradient, velocity = sample(fill, 0.01, 0.02, height)
        assert full == pytest.approx(expected, abs=0.02)
        assert velocity == pytest.approx((1.0, -2.0, 0.5) if expected else (0.0, 0.0, 0.0), abs=1e-5)
    gradient = sample(fill, 0.01, 0.02, 0.0)[1]
    assert gradient[2] == pytest.approx((sample(fill, 0.01, 0.02, 1e-4)[0] - sample(fill, 0.01, 0.02, -1e-4)[0]) / 2e-4, rel=1e-3)


def test_water_flung_far_away_takes_no_more_room() -> None:
    position = np.array([[0.0, 0.0, 0.0], [1e5, -1e5, 1e5], [1e12, 0.0, 0.0]], np.float32)
    fill: Fill = liquid(position, np.zeros_like(position)).fill
    assert len(fill.nodes) <= 17 * 64
    assert sample(fill, 0.0, 0.0, 0.0)[0] > 0.0


@pytest.mark.parametrize("drag", [0.0, 3.0])
def test_spray_falls_as_a_parabola_that_drag_flattens(drag: float) -> None:
    start, velocity, frames = np.array([0.0, 0.0, 5.0]), np.array([2.0, -1.0, 4.0]), 12
    found = moved(swarm(start, velocity, SPRAY), nothing(), frames, drag)
    time, pull = frames * FRAME, np.array(GRAVITY)
    if drag:
        end = pull / drag
        expected = start + end * time + (velocity - end) * (1.0 - np.exp(-drag * time)) / drag
    else:
        expected = start + velocity * time + 0.5 * pull * time**2
    # speeds are stored with three digits
    np.testing.assert_allclose(found.position[0], expected, atol=5e-3)
    assert found.kind.tolist() == [SPRAY]
    flat = start + velocity * time
    assert np.abs(found.position[0] - flat).max() > 0.5


def test_bubbles_rise_and_become_foam_that_stays_at_the_surface() -> None:
    around = pool(24)
    places = np.array([[x, 0.1, -0.6] for x in (-0.2, 0.0, 0.2)])
    found = moved(swarm(places, 0.0, BUBBLE), around, 24)
    assert found.kind.tolist() == [BUBBLE] * 3
    # within the time that it takes to reach this speed
    np.testing.assert_allclose(found.position[:, 2], -0.6 + RISE, atol=0.04)
    found = moved(found, around, 96)
    assert found.kind.tolist() == [FOAM] * 3
    assert np.abs(found.position[:, 2]).max() < 0.2 * SPACING
    np.testing.assert_allclose(found.position[:, :2], places[:, :2], atol=0.01)


def test_foam_returns_to_the_surface_as_fast_at_any_frame_rate() -> None:
    around, start = pool(24), swarm([0.0, 0.0, 0.45 * CELL], 0.0, FOAM)
    found = [start, start]
    for place, parts in enumerate((1, 4)):
        for _part in range(parts):
            found[place] = advanced(found[place], around, around, Step(FRAME / parts, 0.0, *GRAVITY), CELL)
    assert [each.kind.tolist() for each in found] == [[FOAM], [FOAM]]
    assert start.position[0, 2] - found[0].position[0, 2] > 0.1 * CELL
    assert found[1].position[0, 2] == pytest.approx(found[0].position[0, 2], abs=0.02 * CELL)


def test_foam_is_carried_by_the_water_and_falls_off_its_edge() -> None:
    around = pool(32, (0.3, 0.0, 0.0))
    found = moved(swarm([-0.6, 0.0, 0.0], 0.0, FOAM), around, 48)
    assert found.kind.tolist() == [FOAM]
    assert found.position[0, 0] == pytest.approx(0.0, abs=0.01)
    assert abs(found.position[0, 2]) < SPACING
    found = moved(found, pool(32, (3.0, 0.0, 0.0)), 24)
    assert found.kind.tolist() == [SPRAY]
    assert found.position[0, 2] < -1.0


def test_spray_that_hits_the_water_stays_there() -> None:
    found = moved(swarm([0.0, 0.0, 0.4], (0.0, 0.0, -8.0), SPRAY), pool(24), 2)
    assert found.kind.tolist() != [SPRAY]
    assert -2.0 * CELL < found.position[0, 2] < CELL


@pytest.mark.parametrize("speed", [2.0, 8.0, 20.0])
def test_spray_that_hits_a_puddle_stays_on_it_and_does_not_get_to_its_floor(speed: float) -> None:
    """A puddle of two cells; fast spray would get through it and its floor in one frame."""
    scene = dataclasses.replace(description(), domain=Domain(kind="box", min=(-0.8, -0.8, 0.0), max=(0.8, 0.8, 3.0)))
    position = block(32, (0.0, 0.0, 16 * SPACING))
    position = position[position[:, 2] < 2.0 * CELL]
    around = liquid(position, np.zeros_like(position), scene)
    found = moved(swarm([[x, 0.3, 2.0 * CELL + 0.03] for x in (-0.5, 0.0, 0.79)], (0.0, 0.0, -speed), SPRAY), around, 1)
    assert found.kind.tolist() == [FOAM] * 3
    np.testing.assert_allclose(found.position[:, 2], 2.0 * CELL, atol=0.3 * CELL)
    assert np.abs(found.velocity).max() < 0.01


def test_nothing_ends_up_inside_a_collider_or_a_wall() -> None:
    scene = with_post()
    random = np.random.default_rng(5)
    start = random.random((4000, 3)) * 0.98 + 0.01
    start = start[np.linalg.norm(start - 0.5, axis=1) > 0.21]
    velocity = random.normal(size=start.shape) * 6.0
    free = swarm(start, 0.0, SPRAY)._replace(velocity=velocity.astype(np.float32))
    found = moved(free, nothing(scene), 10)
    assert len(found.id) > 0.9 * len(start)
    assert np.linalg.norm(found.position - 0.5, axis=1).min() >= 0.2
    assert found.position.min() >= 0.0
    assert found.position.max() <= 1.0
    # without colliders, they would be there
    through = moved(free, nothing(), 10).position
    assert through.min() < -1.0


def floor(kind: str) -> Collider:
    """A slab whose top is at z = 0 in frame 0, and which rises at 2 m/s until frame 12."""
    rise = np.tile(np.eye(4), (2, 1, 1))
    rise[1, 2, 3] = 2.0 * 12 * FRAME
    frames, slab = np.array([0.0, 12.0]), SHAPES["box"](center=(0.0, 0.0, -0.25), size=(2.0, 2.0, 0.5))
    if kind == "dynamic":
        return Collider("floor", slab, dynamic=True)
    if kind == "rigid":
        return Collider("floor", slab, motion=Motion(frames, rise))
    vertices = slab.corners()
    return Collider("floor", Mesh(vertices, CUBE_TRIANGLES), motion=Motion(frames, vertices=vertices + rise[:, None, :3, 3]))


def at_frame(bounds: Boundaries, number: int) -> Around:
    """No liquid, and colliders that have moved here from the frame before."""
    poses = [{"floor": np.eye(4)} for _frame in range(2)]
    for pose, frame in zip(poses, (number - 1, number), strict=True):
        pose["floor"][2, 3] = 2.0 * FRAME * min(frame, 12)
    return bounded(nothing(), bounds.at(Moment(number), poses[1], Earlier(number - 1, FRAME, poses[0])))._replace(number=number)


@pytest.mark.parametrize("kind", ["rigid", "deforming", "dynamic"])
def test_a_drop_on_a_rising_floor_rises_with_it_and_flies_on_when_that_stops(kind: str) -> None:
    bounds = Boundaries(dataclasses.replace(description(), colliders=(floor(kind),)))
    drop = swarm([0.1, 0.2, 0.01], 0.0, SPRAY)
    for number in range(1, 13):
        drop = advanced(drop, nothing(), at_frame(bounds, number), Step(FRAME, 0.0, *GRAVITY), CELL)
    assert drop.position[0] == pytest.approx((0.1, 0.2, 1.0), abs=0.03)
    assert drop.velocity[0] == pytest.approx((0.0, 0.0, 2.0), abs=0.1)
    heights = []
    for number in range(13, 25):
        drop = advanced(drop, nothing(), at_frame(bounds, number), Step(FRAME, 0.0, *GRAVITY), CELL)
        heights.append(drop.position[0, 2])
    assert max(heights) == pytest.approx(1.0 + 2.0**2 / (2.0 * 9.81), abs=0.04)
    assert drop.position[0, 2] == pytest.approx(1.0, abs=0.03)
    assert drop.velocity[0, 2] == pytest.approx(0.0, abs=0.1)


def test_the_surface_of_what_turns_moves_at_right_angles_to_the_axis() -> None:
    turns = np.tile(np.eye(4), (2, 1, 1))
    turns[:, :3, 3] = 1.0, 0.0, 0.0
    turns[1, :3, :3] = rotation_matrix(np.array([0.0, 0.0, 0.5 * np.pi]))
    paddle = Collider("paddle", SHAPES["box"](size=(1.0, 0.2, 0.2)), motion=Motion(np.array([0.0, 1.0]), turns))
    boundary = Boundary(paddle, description())
    boundary.move_to(1.0, {}, Earlier(0.0, 0.1, {}))
    np.testing.assert_allclose(
        boundary.velocity(np.array([[1.0, 0.5, 0.0], [1.0, 0.0, 0.3]])), [[-2.5 * np.pi, 0, 0], [0, 0, 0]], atol=1e-12
    )
    boundary.move_to(1.0, {})
    assert not boundary.velocity(np.ones((1, 3))).any()


@pytest.mark.parametrize("shape", [SHAPES["sphere"](radius=0.3), SHAPES["box"](size=(0.5, 0.4, 0.3))])
def test_distances_do_not_depend_on_which_other_points_are_asked_for(shape: Any) -> None:
    pose = np.eye(4)[None].copy()
    pose[0, :3, :3] = rotation_matrix(np.array([0.3, 0.5, 0.7]))
    boundary = Boundary(Collider("post", shape, motion=Motion(np.zeros(1), pose)), description())
    boundary.move_to(0.0, {})
    points = np.random.default_rng(0).random((301, 3)) - 0.5
    found, distance, normal = boundary.near(points, CELL)
    assert len(found) > 50
    alone = [boundary.near(points[number : number + 1], CELL) for number in found]
    np.testing.assert_array_equal(distance, np.concatenate([each[1] for each in alone]))
    np.testing.assert_array_equal(normal, np.concatenate([each[2] for each in alone]))


def test_next_to_a_wall_still_water_has_no_surface() -> None:
    """Half of the space around what lies on the floor is empty, as at a surface, because it is the floor's."""
    scene = dataclasses.replace(description(), domain=Domain(kind="box", min=(-1.0, -1.0, -0.8), max=(1.0, 1.0, 1.0)))
    low = swarm([0.0, 0.0, -0.78], 0.0, BUBBLE)
    position = block(16, (0.0, 0.0, -0.4))
    at_wall = liquid(position, np.zeros_like(position), scene)
    assert advanced(low, at_wall, at_wall, Step(1e-6, 0.0, *GRAVITY), CELL).kind.tolist() == [BUBBLE]
    assert advanced(low, pool(), pool(), Step(1e-6, 0.0, *GRAVITY), CELL).kind.tolist() == [FOAM]


def test_lives_and_ages_follow_from_ids() -> None:
    ids = ((7 << 20) + np.arange(5000)).astype(np.int32)
    age = ages(ids, 10, FRAME)
    assert 3.0 * FRAME <= age.min() < age.max() < 4.0 * FRAME
    # frames before the first one, and ids whose frame has come round
    np.testing.assert_allclose(ages(ids, 10 + 2048, FRAME), age)
    assert np.mean(lives(ids, 2.0)) == pytest.approx(2.0, rel=0.02)
    assert 1.0 <= lives(ids, 2.0).min() < lives(ids, 2.0).max() <= 3.0
