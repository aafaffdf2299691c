"""Fixed colliders that touch or overlap act as one solid: where the surface of one lies inside another, it has no effect.

A wall of a cup is a box that stands on another box. Below the wall's lower edge its nearest surface is the seam between the two, and
contact there would let material slip out of the cup along the seam. Therefore, nodes in the union whose nearest surface of a collider is
hidden in another use the visible part of its surface, continued beyond the edge at which it is hidden.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..geometry.distance import ON_SURFACE
from ..geometry.shapes.plane import Plane
from ..transfer.layout import places_of
from .obstacle import Field, Floats, Obstacle

# a surface point is open if it is farther than this from other colliders [cells]
OPEN = 0.05
# and hidden if a point this far outside of it is not open: a narrower gap counts as closed [cells]
GAP = 0.25
# nodes farther from a surface than this are not corrected [cells]
REACH = 3.0
# offsets from a node at which its collider's surface is sought, along each axis [cells]; not whole cells, as nodes may lie on surfaces
STEPS = (-1.8, -0.9, 0.0, 0.9, 1.8)
SAMPLES = np.array(list(product(STEPS, repeat=3)))
# number of nodes whose samples are measured at once, and of the samples of a node that are tried at once
AT_ONCE = 2048
TRIED = 8
# nodes so near to a sample may tell that it is inside, and by how much deeper they must be than the sample is far [cells]
_NEAR, _ROUNDING = 1.1, 1e-6


def join_solids(field: Field, number: int, obstacles: Sequence[Obstacle], points: Floats, spacing: float) -> None:
    """Correct the distances and normals of one fixed collider, in place, where its surface is hidden in another.

    Args:
        field: rows of the collider with this number alone.
        obstacles: all fixed colliders, this one included.
        points: the nodes [m], shape (rows, block nodes, 3).
        spacing: cell size [m].
    """
    this = obstacles[number]
    nodes = np.nonzero(np.abs(field.distance) < REACH * spacing)
    at, distance, normal = points[nodes], field.distance[nodes], field.normal[nodes]
    if not len(at):
        return
    low, high = at.min(axis=0) - REACH * spacing, at.max(axis=0) + REACH * spacing
    near = {index: each for index, each in enumerate(obstacles) if index != number and each.is_within(low, high)}
    if not near:
        return
    others = list(near.values())
    beside = _distance_from(others, at)
    is_free = (distance > 0.0) & (beside > 0.0)
    surface = at[is_free] - distance[is_free, None] * normal[is_free]
    is_twin = _belongs_to_nearer(near, number, at[is_free], surface, distance[is_free], spacing)
    field.is_hidden[tuple(each[is_free][is_twin] for each in nodes)] = True
    # a plane has only one surface, which is infinite
    if isinstance(this.collider.shape, Plane):
        return
    beyond = at[~is_free] + (GAP * spacing - distance[~is_free])[:, None] * normal[~is_free]
    hidden = np.flatnonzero(~is_free)[_distance_from(others, beyond) < OPEN * spacing]
    # nodes inside must stay inside
    least = np.where(distance[hidden] <= 0.0, 0.0, -np.inf)
    is_inside = _samples_inside(at, -np.minimum(distance, beside), hidden, spacing)
    depth, outward = _nearest_open_surface(this, others, at[hidden], ~is_inside, least, spacing)
    is_found = np.isfinite(depth)
    found = tuple(each[hidden[is_found]] for each in nodes)
    field.distance[found] = -depth[is_found]
    field.normal[found] = outward[is_found]


def _belongs_to_nearer(
    others: Mapping[int, Obstacle], number: int, points: Floats, surface: Floats, distance: Floats, spacing: float
) -> NDArray[np.bool_]:
    """Whether the nearest surface points of a collider belong to a nearer one, or to an equally near one with a lower number.

    Both would cover the same space.

    Args:
        points, surface: points outside all colliders, and the surface points nearest to them [m], shape (n, 3).
        distance: between them [m], shape (n,).
    """
    belongs = np.zeros(len(points), np.bool_)
    for index, other in others.items():
        chosen = np.flatnonzero(other.distance(surface)[0] < OPEN * spacing)
        excess = other.distance(points[chosen])[0] - distance[chosen]
        belongs[chosen] |= excess < (ON_SURFACE if index < number else -ON_SURFACE) * spacing
    return belongs


def _samples_inside(nodes: Floats, depth: Floats, chosen: NDArray[np.int64], spacing: float) -> NDArray[np.bool_]:
    """Which samples of nodes are inside a collider because a node near them is deeper in it than they are far from that, (n, samples).

    Where colliders rest on each other, these are nearly all, and their distances need not be measured.

    Args:
        nodes: [m], shape (m, 3).
        depth: how deep they are at least in one of the colliders, negative outside [m], shape (m,).
        chosen: the numbers of the nodes whose samples are asked for, shape (n,).
    """
    place = np.rint((nodes - nodes.min(axis=0)) / spacing).astype(np.int64) + 2
    factors = np.array([(place[:, 1].max() + 3) * (place[:, 2].max() + 3), place[:, 2].max() + 3, 1])
    keys = place @ factors
    order = np.argsort(keys)
    depths = np.append(depth[order] / spacing, -np.inf)
    is_inside = np.zeros((len(chosen), len(SAMPLES)), np.bool_)
    for offset in product(range(-2, 3), repeat=3):
        away = np.linalg.norm(SAMPLES - offset, axis=1)
        near = np.flatnonzero(away < _NEAR)
        found = depths[places_of(keys[chosen] + np.array(offset) @ factors, keys[order])]
        is_inside[:, near] |= found[:, None] > away[near] + _ROUNDING
    return is_inside


def _nearest_open_surface(
    this: Obstacle, others: Sequence[Obstacle], points: Floats, is_sampled: NDArray[np.bool_], least: Floats, spacing: float
) -> tuple[Floats, Floats]:
    """The depth [m] of points below the nearest open surface, infinite without one, and its normal; shapes (n,) and (n, 3).

    The surface is approximated by tangent planes at the surface points nearest to sample points outside all colliders around.

    Args:
        is_sampled: which samples of the points may be outside all colliders, shape (n, samples).
        least: the least depth [m], shape (n,).
    """
    depth, normal = np.full(len(points), np.inf), np.zeros((len(points), 3))
    for begin in range(0, len(points), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        around = points[part, None] + spacing * SAMPLES
        distance, outward = np.full(around.shape[:2], -np.inf), np.zeros(around.shape)
        distance[is_sampled[part]], outward[is_sampled[part]] = this.distance(around[is_sampled[part]])[:2]
        surface = around - np.maximum(distance, 0.0)[..., None] * outward
        height = ((surface - points[part, None]) * outward).sum(axis=2)
        height[(distance < 0.0) | (distance > spacing) | (height < least[part, None])] = np.inf
        order = np.argsort(height, axis=1, kind="stable")
        rows = np.arange(len(order))
        for first in range(0, len(SAMPLES), TRIED):
            tried = order[rows, first : first + TRIED]
            place, which = np.nonzero(np.isfinite(height[rows[:, None], tried]))
            if not len(place):
                break
            row, sample = rows[place], tried[place, which]
            is_open = _distance_from(others, surface[row, sample]) > OPEN * spacing
            is_open[is_open] &= _distance_from(others, around[row[is_open], sample[is_open]]) > 0.0
            foot = points[begin + row] + height[row, sample, None] * outward[row, sample]
            is_open[is_open] &= ~_is_buried(this, others, foot[is_open], spacing)
            # the first one of each row is its lowest
            found, lowest = np.unique(place[is_open], return_index=True)
            row, sample = rows[found], sample[is_open][lowest]
            depth[begin + row], normal[begin + row] = height[row, sample], outward[row, sample]
            rows = np.delete(rows, found)
    return depth, normal


def _is_buried(this: Obstacle, others: Sequence[Obstacle], feet: Floats, spacing: float) -> NDArray[np.bool_]:
    """Whether points on tangent planes, shape (n, 3), lie in the collider itself, where nothing else hides it.

    There the plane has left the surface: that of a cup's floor goes on below its wall, whose nodes would let material out along the floor.
    """
    is_buried = this.distance(feet)[0] < -OPEN * spacing
    is_buried[is_buried] = _distance_from(others, feet[is_buried]) > OPEN * spacing
    return is_buried


def _distance_from(obstacles: Sequence[Obstacle], points: Floats) -> Floats:
    """The distance of points (n, 3) from the nearest of several colliders [m], infinite without colliders; shape (n,)."""
    nearest = np.full(len(points), np.inf)
    if len(points):
        for obstacle in obstacles:
            nearest = np.minimum(nearest, obstacle.distance(points)[0])
    return nearest
