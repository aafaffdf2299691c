"""Particles near one another, for kernels that need a particle's neighborhood: damage, cohesion, density.

A kernel loops over the blocks, over the particles of each, and over the particles near each of these. It may do so between any two
substeps, because a particle is always stored in the block where it was sorted, at most one cell away from it:

    for block in shared(tickets[0], near.around.shape[0], 1):
        for slot in particles_of(near, block):
            for other, squared in particles_near(near, block, slot):
                result[slot] += ...

A kernel's own arrays have one number per slot. A kernel that writes only to the slots of its own block gives the same bytes with any
number of threads. The solver's own passes process each particle alone, so this is not part of it: it proves that its tables allow it.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mpm_addon.core.transfer.blocks import BLOCK, KEY_BITS, NEIGHBORS
from mpm_addon.core.transfer.layout import places_of
from mpm_addon.core.transfer.particle_store import ParticleStore
from mpm_addon.core.transfer.reach import find_extents
from mpm_addon.core.transfer.rows import MASS, POSITION

# particles two blocks apart have each drifted by less than a cell since they were sorted
LARGEST_RADIUS = BLOCK - 2.0


class Near(NamedTuple):
    """The data that kernels need to find particles near one another.

    Attributes:
        table: (rows, slots).
        first: (blocks + 1,) first slot of each block.
        extents: (blocks, 6) bounding box of each block's particles, see `reach.find_extents`.
        around: (blocks, 27 or 9) particle blocks around each block, -1 for none.
        radius: [cells].
    """

    table: NDArray[Any]
    first: NDArray[np.int64]
    extents: NDArray[np.float64]
    around: NDArray[np.int64]
    radius: float


def near(store: ParticleStore, radius: float) -> Near:
    """The data that kernels need to find the particles within a radius of one another, at their current positions.

    Args:
        store: the particles.
        radius: [cells], at most LARGEST_RADIUS.
    """
    assert 0.0 < radius <= LARGEST_RADIUS, "only the blocks around a block are searched"
    layout = store.layout
    steps = np.arange(-1, 2)
    along_y = steps if store.dimension == 3 else steps[1:2]
    offsets = (steps[:, None, None] << 2 * KEY_BITS) + (along_y[:, None] << KEY_BITS) + steps
    around = places_of(layout.keys[:, None] + offsets.reshape(-1), layout.keys)
    extents = np.empty_like(layout.extents)
    find_extents(store.particles, extents)
    return Near(store.table, layout.first[:: store.instance_count].copy(), extents, around, radius)


@njit(nogil=True)
def particles_of(near, block):
    """The slots of a block's particles, without massless copies."""
    for slot in range(near.first[block], near.first[block + 1]):
        if near.table[MASS, slot] > 0.0:
            yield slot


@njit(nogil=True)
def origin_around(near, place):
    """The offset from a block to block number `place` of those around it [cells]."""
    if near.around.shape[1] == NEIGHBORS:
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
    """The slots and squared distances [cells^2] of the particles within the radius of the one in a slot, including itself.

    They are in order of the surrounding blocks, and of the slots in each.
    """
    x, y, z = near.table[POSITION, slot], near.table[POSITION + 1, slot], near.table[POSITION + 2, slot]
    for place in range(near.around.shape[1]):
        there = near.around[block, place]
        if there < 0:
            continue
        # positions are relative to the block that the particle is in
        dx, dy, dz = origin_around(near, place)
        px, py, pz = x - np.float32(dx), y - np.float32(dy), z - np.float32(dz)
        if not is_within(near, there, px, py, pz):
            continue
        for other in range(near.first[there], near.first[there + 1]):
            ox, oy, oz = near.table[POSITION, other] - px, near.table[POSITION + 1, other] - py, near.table[POSITION + 2, other] - pz
            squared = ox * ox + oy * oy + oz * oz
            if squared <= near.radius * near.radius and near.table[MASS, other] > 0.0:
                yield other, squared
