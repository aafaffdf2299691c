"""Particles that are near one another, for kernels that look at a particle's neighbourhood: damage, cohesion, density.

A kernel goes through the blocks, through the particles of each, and through those near each of these. It may do so between any two steps,
since particles are always found in the block where they were sorted, at most a cell away from it:

    for block in shared(tickets[0], near.around.shape[0], 1):
        for slot in particles_of(near, block):
            for other, squared in particles_near(near, block, slot):
                result[slot] += ...

A kernel's own arrays have one number for each slot; a kernel that writes only to the slots of its own block gives the same bytes with any
number of threads. The solver's own passes look at each particle alone: so far only a test runs such a kernel.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .blocks import BLOCK, KEY_BITS, NEIGHBOURS
from .layout import places_of
from .particle_store import ParticleStore
from .reach import find_extents
from .rows import MASS, POSITION

# two particles that are two blocks apart have each drifted by less than a cell since they were sorted
LARGEST_RADIUS = BLOCK - 2.0


class Near(NamedTuple):
    """What kernels find near particles by.

    Attributes:
        table: (rows, slots).
        first: (blocks + 1,) first slot of each block.
        extents: (blocks, 6) the box that each block's particles fill, see `reach.find_extents`.
        around: (blocks, 27 or 9) particle blocks around each block, -1 where there is none.
        radius: [cells].
    """

    table: NDArray[Any]
    first: NDArray[np.int64]
    extents: NDArray[np.float64]
    around: NDArray[np.int64]
    radius: float


def near(store: ParticleStore, radius: float) -> Near:
    """What kernels find the particles within a radius of each by, where particles are now.

    Args:
        radius: [cells], at most LARGEST_RADIUS.
    """
    assert 0.0 < radius <= LARGEST_RADIUS, "only the blocks around a block are looked through"
    layout = store.layout
    steps = np.arange(-1, 2)
    along_y = steps if store.dimension == 3 else steps[1:2]
    offsets = (steps[:, None, None] << 2 * KEY_BITS) + (along_y[:, None] << KEY_BITS) + steps
    around = places_of(layout.keys[:, None] + offsets.reshape(-1), layout.keys)
    extents = np.empty_like(layout.extents)
    find_extents(store.table, layout.first, store.body_count, extents)
    return Near(store.table, layout.first[:: store.body_count].copy(), extents, around, radius)


@njit(nogil=True)
def particles_of(near, block):
    """The slots of a block's particles, without weightless copies."""
    for slot in range(near.first[block], near.first[block + 1]):
        if near.table[MASS, slot] > 0.0:
            yield slot


@njit(nogil=True)
def origin_around(near, place):
    """Where the block number `place` of those around a block lies from it [cells]."""
    if near.around.shape[1] == NEIGHBOURS:
        return BLOCK * (place // 9 - 1), BLOCK * (place // 3 % 3 - 1), BLOCK * (place % 3 - 1)
    return BLOCK * (place // 3 - 1), 0, BLOCK * (place % 3 - 1)


@njit(nogil=True)
def is_within(near, block, x, y, z):
    """Whether the ball around a point, relative to a block, reaches the box of its particles."""
    extents, radius = near.extents[block], near.radius
    return (
        -extents[0] - radius <= x <= extents[3] + radius
        and -extents[1] - radius <= y <= extents[4] + radius
        and -extents[2] - radius <= z <= extents[5] + radius
    )


@njit(nogil=True)
def particles_near(near, block, slot):
    """The particles within the radius of the one in a slot of a block, itself too: their slots and squared distances [cells^2].

    Their order is that of the blocks around and of the slots in each.
    """
    x, y, z = near.table[POSITION, slot], near.table[POSITION + 1, slot], near.table[POSITION + 2, slot]
    for place in range(near.around.shape[1]):
        there = near.around[block, place]
        if there < 0:
            continue
        # positions count from the block that they are in
        dx, dy, dz = origin_around(near, place)
        px, py, pz = x - np.float32(dx), y - np.float32(dy), z - np.float32(dz)
        if not is_within(near, there, px, py, pz):
            continue
        for other in range(near.first[there], near.first[there + 1]):
            ox, oy, oz = near.table[POSITION, other] - px, near.table[POSITION + 1, other] - py, near.table[POSITION + 2, other] - pz
            squared = ox * ox + oy * oy + oz * oz
            if squared <= near.radius * near.radius and near.table[MASS, other] > 0.0:
                yield other, squared
