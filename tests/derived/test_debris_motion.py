"""How chips and dust are born and move: in the air, on colliders and on the material itself."""

import dataclasses

import numpy as np
import pytest

from mpm_addon.core.geometry.rotation import rotation_matrix
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider
from mpm_addon.core.scene.settings import Domain
from mpm_addon.core.scene.shape import Shape
from mpm_addon.core.swarm.debris_births import CHIP, DUST, Limits
from mpm_addon.derived.boundaries import Boundaries, Earlier
from mpm_addon.derived.debris_swarm import Motion as Flight
from mpm_addon.derived.debris_swarm import advanced, born, broken, flying_chips, hanging_dust, sizes
from mpm_addon.derived.swarm import Around, Swarm, lives
from tests.derived.caches import SPACING, block, description
from tests.derived.test_foam_motion import CELL, FRAME, GRAVITY, bounded, liquid, nothing, swarm
from tests.derived.test_foam_paths import FOIL, SHEET, WALL, behind, places, sheet, wall

CRUMBLES, TEARS = np.array([False]), np.array([True])
# All that parts at all makes debris.
LIMITS = Limits(5.0, 5.0, 0.01, 0.02, FRAME, 1.0)


def chips(drag: float = 0.0, bounce: float = 0.0, friction: float = 0.0, gravity: tuple[float, float, float] = GRAVITY) -> Flight:
    return flying_chips(FRAME, gravity, drag, bounce, friction)


def moved(given: Swarm, around: Around, frames: int, motion: Flight) -> Swarm:
    for _frame in range(frames):
        given = advanced(given, around, around, motion, CELL)
    return given


def heap(size: int = 16) -> Around:
    """A cube of still material whose upper face is at z = 0."""
    position = block(size, (0.0, 0.0, -0.5 * size * SPACING))
    return liquid(position, np.zeros_like(position))


@pytest.mark.parametrize("drag", [0.0, 2.0])
def test_chips_fly_as_a_parabola_that_drag_flattens(drag: float) -> None:
    start, velocity, frames = np.array([0.0, 0.0, 5.0]), np.array([2.0, -1.0, 4.0]), 12
    found = moved(swarm(start, velocity, CHIP), nothing(), frames, chips(drag))
    time, pull = frames * FRAME, np.array(GRAVITY)
    if drag:
        end = pull / drag
        expected = start + end * time + (velocity - end) * (1.0 - np.exp(-drag * time)) / drag
    else:
        expected = start + velocity * time + 0.5 * pull * time**2
    # speeds are stored with three digits
    np.testing.assert_allclose(found.position[0], expected, atol=5e-3)
    assert np.abs(found.position[0] - (start + velocity * time)).max() > 0.3


def test_dust_stops_in_the_air_and_then_falls_slowly() -> None:
    drag, fall, frames = 3.0, 0.2, 24
    found = moved(swarm([0.0, 0.0, 0.0], (3.0, 0.0, 1.0), DUST), nothing(), frames, hanging_dust(FRAME, GRAVITY, drag, fall))
    # v' = -k (v - v_end), v_end = (0, 0, -fall)
    time = frames * FRAME
    kept = (1.0 - np.exp(-drag * time)) / drag
    expected = [3.0 * kept, 0.0, -fall * time + (1.0 + fall) * kept]
    np.testing.assert_allclose(found.position[0], expected, atol=5e-3)
    chip = moved(swarm([0.0, 0.0, 0.0], (3.0, 0.0, 1.0), CHIP), nothing(), frames, chips())
    assert chip.position[0, 2] < found.position[0, 2] - 3.0


def test_dust_near_material_that_moves_is_dragged_along() -> None:
    position = block(16)
    around = liquid(position, np.tile(np.array([[2.0, 0.0, 0.0]], np.float32), (len(position), 1)))
    edge = 8.0 * SPACING
    start = swarm([[0.0, 0.0, edge + 0.02], [0.0, 0.0, edge + 2.0 * CELL]], 0.0, DUST)
    found = moved(start, around, 1, hanging_dust(FRAME, GRAVITY, 10.0, 0.0))
    assert found.velocity[0, 0] > 0.4
    assert found.velocity[1, 0] < 0.01


@pytest.mark.parametrize("kind", ["plane", "box"])
@pytest.mark.parametrize("angle", [20.0, 40.0])
def test_a_chip_comes_to_rest_on_a_slope_unless_it_is_too_steep(kind: str, angle: float) -> None:
    """With tan(angle) above the friction mu, a chip slides with g (sin - mu cos); below, it lies still."""
    friction, frames, turn = 0.6, 24, np.radians(angle)
    normal = (float(-np.sin(turn)), 0.0, float(np.cos(turn)))
    plane = SHAPES["plane"](point=(0.0, 0.0, 0.0), normal=normal)
    center = tuple(-2.0 * np.array(normal))
    slab = SHAPES["box"](center=center, size=(30.0, 4.0, 4.0), rotation=(0.0, -angle, 0.0))
    around = nothing(behind(plane if kind == "plane" else slab))
    start = 0.0101 * CELL * np.array(normal)
    found = moved(swarm(start, 0.0, CHIP), around, frames, chips(friction=friction))
    along = float((found.position[0] - start) @ np.array([np.cos(turn), 0.0, np.sin(turn)]))
    pull = 9.81 * (np.sin(turn) - friction * np.cos(turn))
    if pull > 0.0:
        time = frames * FRAME
        assert np.linalg.norm(found.velocity[0]) == pytest.approx(pull * time, rel=5e-3)
        # friction acts on the way of a frame as if at its beginning
        late = 0.5 * friction * 9.81 * np.cos(turn) * FRAME * time
        assert -0.5 * pull * time**2 == pytest.approx(along, abs=late)
        # without friction, it would be three times as far
        free = moved(swarm(start, 0.0, CHIP), around, frames, chips())
        assert np.linalg.norm(free.position[0] - start) > 2.0 * abs(along)
    else:
        assert abs(along) < 0.01 * CELL
        assert found.velocity[0] == pytest.approx((0.0, 0.0, 0.0), abs=1e-3)


@pytest.mark.parametrize("bounce", [0.0, 0.5])
def test_a_chip_rebounds_with_a_part_of_its_speed_and_then_lies_still(bounce: float) -> None:
    floor = behind(SHAPES["box"](center=(0.0, 0.0, -0.5), size=(8.0, 8.0, 1.0)))
    found = swarm([0.0, 0.0, 0.02], (0.0, 0.0, -6.0), CHIP)
    flight = chips(bounce=bounce, friction=0.5)
    found = advanced(found, nothing(floor), nothing(floor), flight, CELL)
    met = 6.0 + 9.81 * FRAME
    assert found.velocity[0, 2] == pytest.approx(bounce * (met - flight.contact.still), rel=5e-3)
    found = moved(found, nothing(floor), 72, flight)
    assert found.position[0, 2] == pytest.approx(0.0, abs=0.02 * CELL)
    assert not found.velocity.any()


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize(("shape", "half"), [(wall(WALL), WALL), (wall(FOIL), FOIL), (sheet(), SHEET)], ids=["wall", "foil", "sheet"])
def test_no_chip_and_no_dust_passes_through_a_thin_wall(shape: Shape, half: float, side: float) -> None:
    start = places(200, half + 0.02 * CELL, half + 12 * CELL) * (side, 1.0, 1.0)
    velocity = 15.0 * np.column_stack([np.full(200, -side), np.random.default_rng(8).uniform(-1.0, 1.0, (200, 2))])
    for kind, flight in ((CHIP, chips(bounce=0.4, friction=0.5, gravity=(0.0, 0.0, 0.0))), (DUST, hanging_dust(FRAME, GRAVITY, 0.5, 0.1))):
        given = swarm(start, 0.0, kind)._replace(velocity=velocity.astype(np.float32))
        found = moved(given, nothing(behind(shape)), 8, flight)
        assert len(found.id) == 200
        assert (side * found.position[:, 0]).min() >= half
        assert (side * moved(given, nothing(), 8, flight).position[:, 0]).min() < -half


def test_a_collider_that_moves_takes_chips_along_by_friction() -> None:
    slide = np.tile(np.eye(4), (13, 1, 1))
    slide[:, 0, 3] = 0.5 * FRAME * np.arange(13)
    slab = Collider("belt", SHAPES["box"](center=(0.0, 0.0, -0.5), size=(8.0, 8.0, 1.0)), motion=Motion(np.arange(13.0), slide))
    bounds = Boundaries(dataclasses.replace(description(), colliders=(slab,)))
    held, slips = (swarm([0.0, 0.0, 0.0101 * CELL], 0.0, CHIP) for _each in range(2))
    for number in range(1, 13):
        around = bounded(nothing(), bounds.at(Moment(number), {}, Earlier(number - 1, FRAME, {})))
        held = advanced(held, around, around, chips(friction=0.8), CELL)
        slips = advanced(slips, around, around, chips(), CELL)
    assert held.velocity[0, 0] == pytest.approx(0.5, rel=1e-3)
    assert slips.velocity[0, 0] == 0.0


def test_chips_come_to_rest_on_the_material_and_dust_stays_where_it_lands() -> None:
    around = heap()
    for kind, flight in ((CHIP, chips(bounce=0.3, friction=0.8)), (DUST, hanging_dust(FRAME, GRAVITY, 3.0, 2.0))):
        found = moved(swarm([0.0, 0.0, 0.3], (0.3, 0.0, -1.0), kind), around, 48, flight)
        assert abs(found.position[0, 2]) < 0.3 * CELL
        assert np.abs(found.velocity).max() < 0.01
        assert moved(swarm([0.0, 0.0, 0.3], (0.3, 0.0, -1.0), kind), nothing(), 48, flight).position[0, 2] < -2.0


def test_chips_ride_on_material_and_fly_on_when_it_stops() -> None:
    position = block(20, (0.0, 0.0, -10.0 * SPACING))
    flight, found = chips(friction=0.8), swarm([0.0, 0.0, 0.0], (1.0, 0.0, 0.0), CHIP)
    for frame in range(1, 9):
        places = [position + np.float32(number * FRAME) * np.array([1.0, 0.0, 0.0], np.float32) for number in (frame - 1, frame)]
        speed = np.tile(np.array([[1.0, 0.0, 0.0]], np.float32), (len(position), 1))
        found = advanced(found, liquid(places[0], speed), liquid(places[1], speed), flight, CELL)
    assert found.position[0, 0] == pytest.approx(8 * FRAME, abs=0.01)
    assert found.velocity[0, 0] == pytest.approx(1.0, rel=1e-2)


def expanding(rate: float, size: int = 12) -> tuple[Around, Around]:
    """Material that grows as a whole, at two frames."""
    position = block(size)
    ends = [position, position * np.float32(1.0 + rate * FRAME)]
    before, after = (liquid(place, (rate * position).astype(np.float32)) for place in ends)
    return before, after


def test_what_breaks_is_what_grows_beyond_its_rest_and_what_loses_bonds() -> None:
    before, after = expanding(4.0)
    inner = np.linalg.norm(after.position, axis=1) < 3.0 * SPACING
    # the volume grows by (1 + rate t)^3; up to a twentieth counts as noise
    expected = 3.0 * np.log(1.0 + 4.0 * FRAME) - 0.05
    np.testing.assert_allclose(broken(before, after, CRUMBLES)[inner], expected, atol=0.02)
    assert not broken(before, after, TEARS).any()
    # packing is no breaking, and neither is that it is undone
    packed = expanding(-4.0)
    assert not broken(*packed, CRUMBLES)[inner].any()
    assert broken(packed[1], packed[0], CRUMBLES)[inner].max() < 0.02
    count = len(after.id)
    lost = [each._replace(values={"damage": np.full(count, share, np.float32)}) for each, share in ((before, 0.25), (after, 0.75))]
    np.testing.assert_allclose(broken(lost[0], lost[1], TEARS), 0.5)
    own = [each._replace(values={"volume_ratio": np.full(count, ratio, np.float32)}) for each, ratio in ((before, 0.5), (before, 1.5))]
    np.testing.assert_allclose(broken(own[0], own[1], CRUMBLES)[inner], np.log(1.5) - 0.05, rtol=1e-5)


def test_material_that_does_not_part_throws_off_nothing_however_fast_it_moves() -> None:
    position = block(12)
    share = np.ones(len(position))
    for velocity in (np.zeros_like(position), np.tile([[9.0, 3.0, -2.0]], (len(position), 1)), -3.0 * position):
        found = born(liquid(position, velocity.astype(np.float32)), share, LIMITS, chips().contact, CELL)
        assert len(found.id) == 0
    # what turns seems to part a little at its surface, where all that is known is the mean of a cell
    turning = np.cross(np.array([0.0, 0.0, 10.0]), position).astype(np.float32)
    mean = float(np.sqrt((turning**2).sum(axis=1).mean()))
    limits = LIMITS._replace(slow=0.07 * mean, fast=0.35 * mean)
    assert len(born(liquid(position, turning), share, limits, chips().contact, CELL).id) == 0
    before, after = (liquid((position @ rotation_matrix(np.array([0.0, 0.0, turn])).T).astype(np.float32), turning) for turn in (0.0, 0.4))
    assert broken(before, after, CRUMBLES).max() < 0.1
    parting = liquid(position, (4.0 * position).astype(np.float32))
    assert len(born(parting, share, LIMITS, chips().contact, CELL).id) > 1000
    assert len(born(parting, 0.0 * share, LIMITS, chips().contact, CELL).id) == 0


def test_debris_comes_from_the_surface_and_flies_outward_with_the_material() -> None:
    position = block(16)
    drift = np.array([5.0, 0.0, 0.0])
    around = liquid(position, (drift + 4.0 * position).astype(np.float32))
    share = np.ones(len(position))
    found = born(around, share, LIMITS, chips().contact, CELL)
    assert {CHIP, DUST} == set(found.kind.tolist())
    depth = 8.0 * SPACING - np.abs(found.position).max(axis=1)
    assert np.median(depth) < CELL
    # outward: the mean of a vector in a half ball is 3/8 along the normal, that of its length 3/4
    still = born(around, share, LIMITS._replace(spread=0.0), chips().contact, CELL)
    np.testing.assert_array_equal(still.id, found.id)
    top = (still.position[:, 2] > 7.0 * SPACING) & (np.abs(still.position[:, 1]) < 4.0 * SPACING) & (np.abs(still.position[:, 0]) < 0.2)
    extra = (found.velocity - still.velocity)[top]
    assert extra[:, 2].min() >= -0.05
    length = np.linalg.norm(extra, axis=1)
    assert extra[:, 2].mean() / length.mean() == pytest.approx(0.5, abs=0.03)
    np.testing.assert_allclose(extra[:, :2].mean(axis=0), 0.0, atol=0.05 * length.mean())
    # without spread, each has the velocity of the material
    np.testing.assert_allclose(still.velocity.mean(axis=0), drift, atol=0.1)


def test_no_debris_is_born_beyond_a_thin_wall() -> None:
    position = block(12, (FOIL + 6.0 * SPACING, 0.0, 0.0))
    around = liquid(position, (12.0 * (position - position.mean(axis=0))).astype(np.float32), behind(wall(FOIL)))
    found = born(around, np.ones(len(position)), LIMITS, chips().contact, CELL)
    assert len(found.id) > 500
    assert found.position[:, 0].min() >= FOIL


def test_nothing_ends_up_inside_a_box_of_walls() -> None:
    box = dataclasses.replace(description(), domain=Domain(kind="box", min=(0.0, 0.0, 0.0), max=(1.0, 1.0, 1.0)))
    random = np.random.default_rng(5)
    start = random.random((1000, 3)) * 0.98 + 0.01
    given = swarm(start, 0.0, CHIP)._replace(velocity=(8.0 * random.normal(size=start.shape)).astype(np.float32))
    found = moved(given, nothing(box), 12, chips(bounce=0.5, friction=0.3))
    assert len(found.id) == 1000
    assert found.position.min() >= 0.0
    assert found.position.max() <= 1.0


def test_there_are_many_small_chips_and_few_large_ones_of_the_given_mean() -> None:
    ids = ((7 << 20) + np.arange(20000)).astype(np.int32)
    found = sizes(ids, np.full(len(ids), CHIP), 0.01, 0.5)
    assert found.mean() == pytest.approx(0.01, rel=0.02)
    assert found.max() / found.min() == pytest.approx(7.0, rel=0.05)
    # of those larger than r, 2^-2.5 are larger than 2 r, but for the largest
    small = found.min()
    assert np.mean(found > 2.0 * small) == pytest.approx((2.0**-2.5 - 7.0**-2.5) / (1.0 - 7.0**-2.5), abs=0.02)
    assert sizes(ids, np.full(len(ids), DUST), 0.01, 0.5).mean() == pytest.approx(0.55, rel=0.02)
    assert lives(ids, np.full(len(ids), 2.0)).mean() == pytest.approx(2.0, rel=0.02)


def test_a_turning_paddle_throws_chips() -> None:
    turns = np.tile(np.eye(4), (7, 1, 1))
    turns[:, :3, :3] = [rotation_matrix(np.array([0.0, 0.0, 0.1 * number])) for number in range(7)]
    paddle = Collider("paddle", SHAPES["box"](size=(2.0, 0.1, 2.0)), motion=Motion(np.arange(7.0), turns))
    bounds = Boundaries(dataclasses.replace(description(), colliders=(paddle,)))
    found = swarm([[0.8, 0.08, 0.0]], 0.0, CHIP)
    for number in range(1, 7):
        around = bounded(nothing(), bounds.at(Moment(number), {}, Earlier(number - 1, FRAME, {})))
        found = advanced(found, around, around, chips(bounce=0.5, friction=0.2, gravity=(0.0, 0.0, 0.0)), CELL)
    assert found.velocity[0, 1] > 0.8 * 0.1 / FRAME
    assert len(found.id) == 1
