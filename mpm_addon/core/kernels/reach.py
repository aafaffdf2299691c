"""Which nodes can have mass until the particles are sorted again: those that particles reach from where they are now."""

import math

import numpy as np

from .arithmetic import maximum
from .blocks import BLOCK, NEIGHBOURS
from .compilation import kernel
from .rows import POSITION
from .team import parallel_kernel
from .tickets import shared
from .vector import LANE_COUNT, largest, load

# before its nodes are touched, a particle has gone a cell and its splines reach 3/2 (quadratic) or half a cell and 2 (cubic), at
# most: from the node below x - LOW to the node below x + HIGH
LOW, HIGH = 1.5, 2.5


@parallel_kernel
def find_extents(tickets, particles, first, material_count, extents):
    """Find the box that each block's particles fill.

    Args:
        particles: (ROW_COUNT, slots); first: first slot of each run, with the number of slots at the end.
        extents: (blocks, 6) result: highest -x, -y, -z, x, y, z, relative to the block [cells].
    """
    for block in shared(tickets[0], extents.shape[0], 64):
        begin, end = first[block * material_count], first[(block + 1) * material_count]
        for axis in range(3):
            row = particles[POSITION + axis]
            high = load(row, begin, LANE_COUNT)
            low = -high
            for slot in range(begin + LANE_COUNT, end, LANE_COUNT):
                value = load(row, slot, LANE_COUNT)
                high, low = maximum(high, value), maximum(low, -value)
            extents[block, axis], extents[block, 3 + axis] = largest(low), largest(high)


@kernel
def layer_bits(axis, index, is_plane):
    """The nodes of a block with one coordinate along an axis: a bit for each."""
    if is_plane:
        return np.int64(0xF) << (BLOCK * index) if axis == 0 else np.int64(0x1111) << index
    if axis == 0:
        return np.int64(0xFFFF) << (BLOCK * BLOCK * index)
    return np.int64(0x000F000F000F000F) << (BLOCK * index) if axis == 1 else np.int64(0x1111111111111111) << index


@kernel
def mark_reached(extents, neighbours, reached):
    """Mark the nodes that particles can touch before they are sorted again.

    Args:
        extents: see `find_extents`.
        neighbours: (blocks, 27 or 9) node blocks around each particle block.
        reached: (node blocks,) result: a bit for each node.
    """
    is_plane = neighbours.shape[1] != NEIGHBOURS
    bits = np.zeros((3, 3), np.int64)
    reached[:] = 0
    for block in range(neighbours.shape[0]):
        for axis in range(3):
            low, high = math.floor(-extents[block, axis] - LOW), math.floor(extents[block, 3 + axis] + HIGH)
            bits[axis] = 0
            for node in range(max(low, -BLOCK), min(high + 1, 2 * BLOCK)):
                bits[axis, (node + BLOCK) // BLOCK] |= layer_bits(axis, node % BLOCK, is_plane)
        for place in range(neighbours.shape[1]):
            if is_plane:
                reached[neighbours[block, place]] |= bits[0, place // 3] & bits[2, place % 3]
            else:
                reached[neighbours[block, place]] |= bits[0, place // 9] & bits[1, place // 3 % 3] & bits[2, place % 3]
