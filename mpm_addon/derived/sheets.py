"""Thin sheets without holes: additional particles between those of a sheet, for the surface alone.

Where water is one or two particles thick, their distances grow as it spreads, and the kernels around them no longer overlap: the mesh
tears to lace. A sheet is recognized by the spread of the particles around each of its own: their weighted covariance (Yu and Turk 2013,
section 4.1) is much smaller along its normal than across it. Between particles of the same sheet that are farther apart than at rest,
others are put in the middle (Ando, Thuerey and Tsuruno 2012), as far as there is room, with the mean of their attributes.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .neighbors import nearest
from .particles import Cloud

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Particles in the 27 cells of two spacings around one that may be in a sheet: two layers of water at rest have 72 there, and no gaps.
_CELL, _MOST_NEAR = 2.0, 70
# The neighbors that are looked at, and how far away they are at most [spacings].
_NEIGHBORS, _REACH = 16, 4.5
# Fewer neighbors are a drop or a thread.
_LEAST_NEAR = 4
# Standard deviations: along the normal over the next larger one in a sheet, and that one over the largest; less is a thread.
_FLAT, _WIDE = 0.4, 0.35
# Neighbors of one sheet have normals within this cosine, and lie within this sine of its plane.
_ALIKE, _LEVEL = 0.75, 0.45
# Distances between particles of a sheet that get one in between [spacings].
_NEAREST, _FARTHEST = 1.5, 4.0
# No particle is added nearer to another than this [spacings].
_ROOM = 0.8
# The second round divides what is left of wide gaps.
_ROUNDS = 2


class _Sheet(NamedTuple):
    """Particles of sheets: their numbers (k,), neighbors (k, 16) with squared distances [m^2], and unit normals (k, 3)."""

    particles: Integers
    neighbors: Integers
    squared: Floats
    normal: Floats


def filled(cloud: Cloud) -> Cloud:
    """The particles, with those added that fill gaps in thin sheets."""
    for _round in range(_ROUNDS):
        position = cloud.position.astype(np.float64)
        first, second = _gaps(_sheet(position, cloud.spacing), position, cloud.spacing)
        if not len(first):
            break
        cloud = replace(
            cloud,
            position=np.concatenate([cloud.position, (0.5 * (position[first] + position[second])).astype(np.float32)]),
            values={name: np.concatenate([each, 0.5 * (each[first] + each[second])]) for name, each in cloud.values.items()},
            numbers={name: np.concatenate([each, each[first]]) for name, each in cloud.numbers.items()},
        )
    return cloud


def _sheet(position: Floats, spacing: float) -> _Sheet:
    """The particles whose surroundings are flat."""
    some = np.flatnonzero(_crowd(position, _CELL * spacing) < _MOST_NEAR)
    reach = _REACH * spacing
    number, squared = nearest(position, position[some], _NEIGHBORS, 0.6 * reach, reach)
    weight = np.maximum(1.0 - (np.sqrt(squared) / reach) ** 3, 0.0)
    total = weight.sum(axis=1, keepdims=True)
    offset = position[number] - position[some][:, None]
    offset -= np.einsum("nk,nkd->nd", weight / total, offset)[:, None]
    spread, axes = np.linalg.eigh(np.einsum("nk,nkd,nke->nde", weight / total, offset, offset))
    least, middle, most = np.sqrt(np.maximum(spread, 0.0)).T
    # a particle is its own first neighbor
    is_sheet = (np.count_nonzero(weight > 0.0, axis=1) > _LEAST_NEAR) & (least < _FLAT * middle) & (middle > _WIDE * most)
    return _Sheet(some[is_sheet], number[is_sheet], squared[is_sheet], axes[is_sheet, :, 0])


def _crowd(position: Floats, edge: float) -> Integers:
    """How many particles are in the 27 cells around each, (n,)."""
    cells = np.floor((position - position.min(axis=0)) / edge)
    # a particle that flew far away shares a cell with others like it
    cells = np.minimum(cells, (1 << 20) - 3).astype(np.int64) + 1
    keys, place, count = np.unique((cells[:, 0] << 42) | (cells[:, 1] << 21) | cells[:, 2], return_inverse=True, return_counts=True)
    total = np.zeros(len(keys), np.int64)
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            for dz in (-1, 0, 1):
                other = keys + (dx << 42) + (dy << 21) + dz
                at = np.minimum(np.searchsorted(keys, other), len(keys) - 1)
                total += np.where(keys[at] == other, count[at], 0)
    return total[place.ravel()]


def _gaps(sheet: _Sheet, position: Floats, spacing: float) -> tuple[Integers, Integers]:
    """The pairs of particles of one sheet in whose middle there is room for another, both (m,)."""
    row = np.full(len(position), -1)
    row[sheet.particles] = np.arange(len(sheet.particles))
    distance = np.sqrt(sheet.squared)
    near = (distance > _NEAREST * spacing) & (distance < _FARTHEST * spacing) & (row[sheet.neighbors] >= 0)
    which, place = np.nonzero(near)
    first, second = sheet.particles[which], sheet.neighbors[which, place]
    way = (position[second] - position[first]) / distance[which, place][:, None]
    normal, other = sheet.normal[which], sheet.normal[row[second]]
    is_one = np.abs(np.einsum("nd,nd->n", normal, other)) > _ALIKE
    for each in (normal, other):
        is_one &= np.abs(np.einsum("nd,nd->n", way, each)) < _LEVEL
    keys = np.unique(np.minimum(first, second)[is_one] * len(position) + np.maximum(first, second)[is_one])
    return _with_room(np.stack(np.divmod(keys, len(position)), axis=1), position, _ROOM * spacing)


def _with_room(pairs: Integers, position: Floats, room: float) -> tuple[Integers, Integers]:
    """The pairs whose middles are that far from all particles and, of those nearer to one another, the one in the widest gap [m]."""
    middle = 0.5 * (position[pairs[:, 0]] + position[pairs[:, 1]])
    if not len(pairs):
        return pairs[:, 0], pairs[:, 1]
    free = np.sqrt(nearest(position, middle, 1, 2.0 * room).squared[:, 0])
    pairs, middle, free = pairs[free > room], middle[free > room], free[free > room]
    kept = np.zeros(len(pairs), np.bool_)
    waiting = np.lexsort((pairs[:, 1], pairs[:, 0], -free))
    # the place in the order of those that wait
    while len(waiting):
        number, squared = nearest(middle[waiting], middle[waiting], 12, room, room)
        rank = np.arange(len(waiting))[:, None]
        is_near = (squared < room * room) & (number < rank)
        is_first = ~is_near.any(axis=1)
        kept[waiting[is_first]] = True
        is_beside = ((squared < room * room) & is_first[number] & (number != rank)).any(axis=1)
        waiting = waiting[~is_first & ~is_beside]
    return pairs[kept, 0], pairs[kept, 1]
