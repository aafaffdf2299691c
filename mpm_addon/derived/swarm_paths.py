"""The paths of a swarm's particles past thin colliders: they slide along what they meet, and stay on the side from which they came."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .boundaries import Boundary
from .swarm import Around
from .swarm_walls import GAP, Contact, dot

Floats = NDArray[np.float64]

# Steps along a path where colliders are near [cells].
_STEP = 0.5
# What is this much farther away than the path is long is not met [gaps].
_MARGIN = 3.0
# In so many steps the longest paths end, those of 100 cells in a slit of a tenth of a cell; if not, particles wait where they are.
_MOST_STEPS = 1000


class _Walk(NamedTuple):
    """Particles on their way.

    Attributes:
        number: of each particle, (n,).
        place: [m], (n, 3).
        left: of the way [m], (n, 3).
        speed: velocities [m/s], (n, 3).
        distance: to the nearest collider, or a cell if none is nearer [m], (n,).
        normal: of that collider there, (n, 3); 0 if none is near.
        stride: the longest next step [m], (n,).
    """

    number: NDArray[Any]
    place: NDArray[Any]
    left: NDArray[Any]
    speed: NDArray[Any]
    distance: NDArray[Any]
    normal: NDArray[Any]
    stride: NDArray[Any]


def lead_past(
    start: Floats, points: Floats, velocity: Floats, around: Around, contact: Contact, cell: float, *, is_born: bool = False
) -> None:
    """Stop particles on the near side of colliders, in place, however thin these are.

    Past colliders that have moved since particles were at the start of their paths, a path is straight as it is seen from the collider. One
    that deforms is left out.

    Args:
        start: where particles come from [m], (n, 3).
        points: where they would get on straight paths [m], (n, 3).
        velocity: theirs [m/s], (n, 3); loses what leads into a collider.
        around: the colliders and walls.
        contact: see `Contact`.
        cell: the grid spacing [m].
        is_born: whether the paths lead through the frame as it is, whatever has moved.
    """
    # with friction, what lies on a plane is held there; without, it is enough that nothing ends up behind it
    passable = [boundary for boundary in around.boundaries if boundary.is_passable or (contact.friction and boundary.plane is not None)]
    still = [boundary for boundary in passable if is_born or not boundary.has_moved]
    if still:
        way = points - start
        near = np.flatnonzero(np.sqrt(dot(way, way)) > around.clearance(start) - _MARGIN * GAP * cell)
        if len(near):
            place, speed = points[near], velocity[near]
            _lead(start[near], place, speed, still, contact, cell)
            points[near], velocity[near] = place, speed
    for boundary in passable:
        if boundary not in still:
            along = boundary.velocity(points)
            velocity -= along
            _lead(boundary.carried(start), points, velocity, [boundary], contact, cell)
            velocity += along


def _lead(start: Floats, points: Floats, velocity: Floats, passable: Sequence[Boundary], contact: Contact, cell: float) -> None:
    """As `lead_past`, past colliders where they are now."""
    if not len(points):
        return
    place = start.copy()
    walk = _Walk(
        np.arange(len(points)), place, points - place, velocity.copy(), *_nearest(place, passable, cell), np.full(len(points), cell)
    )
    for _step in range(_MOST_STEPS):
        _slide(walk, contact, cell)
        length = np.sqrt(dot(walk.left, walk.left))
        # what has arrived, or cannot meet anything
        is_done = (length <= np.maximum(walk.distance - GAP * cell, 0.0)) | (length == 0.0)
        _write(walk, is_done, points, velocity)
        walk, length = _Walk(*(array[~is_done] for array in walk)), length[~is_done]
        if not len(length):
            return
        walk = _stepped(walk, length, passable, cell)
    _write(walk._replace(left=np.zeros_like(walk.left)), np.ones(len(walk.number), np.bool_), points, velocity)


def _write(walk: _Walk, which: NDArray[np.bool_], points: Floats, velocity: Floats) -> None:
    points[walk.number[which]] = walk.place[which] + walk.left[which]
    velocity[walk.number[which]] = walk.speed[which]


def _slide(walk: _Walk, contact: Contact, cell: float) -> None:
    """Move particles that touch a collider out of it; their ways and velocities no longer lead into it."""
    touching = np.flatnonzero(walk.distance < 1.02 * GAP * cell)
    normal = walk.normal[touching]
    walk.place[touching] += (1.01 * GAP * cell - walk.distance[touching])[:, None] * normal
    walk.distance[touching] = 1.01 * GAP * cell
    speed, back, kept = contact.rebound(walk.speed[touching], normal)
    walk.speed[touching] = speed
    # the rest of the way as what is left of the velocity
    along = dot(walk.left[touching], normal)
    flat = walk.left[touching] - along[:, None] * normal
    walk.left[touching] = kept[:, None] * flat + np.where(along < 0.0, -back * along, along)[:, None] * normal


def _stepped(walk: _Walk, length: Floats, passable: Sequence[Boundary], cell: float) -> _Walk:
    """One step, which is not taken, but halved, if it may lead through a collider: to where the surface faces the other way.

    No collider is nearer than the distance, so steps that do not exceed the distances at both ends meet none.
    """
    step = np.minimum(length, np.minimum(walk.stride, np.maximum(walk.distance - GAP * cell, _STEP * cell)))
    way = walk.left * (step / length)[:, None]
    distance, normal = _nearest(walk.place + way, passable, cell)
    is_through = (step > walk.distance + np.maximum(distance, 0.0)) & (dot(normal, walk.normal) < 0.0)
    taken = ~is_through[:, None]
    return _Walk(
        walk.number,
        np.where(taken, walk.place + way, walk.place),
        np.where(taken, walk.left - way, walk.left),
        walk.speed,
        np.where(is_through, walk.distance, distance),
        np.where(taken, normal, walk.normal),
        np.where(is_through, 0.5 * step, cell),
    )


def _nearest(points: Floats, boundaries: Sequence[Boundary], cell: float) -> tuple[Floats, Floats]:
    """The distance and normal of the nearest collider, as in `_Walk`."""
    distance, normal = np.full(len(points), cell), np.zeros((len(points), 3))
    for boundary in boundaries:
        near, found, directions = boundary.near(points, cell)
        closer = found < distance[near]
        distance[near[closer]], normal[near[closer]] = found[closer], directions[closer]
    return distance, normal
