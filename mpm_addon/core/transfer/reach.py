"""The nodes that can have mass before the next sort: those that particles can reach from their current positions."""

import math

import numpy as np

from ..arithmetic.operations import maximum
from ..arithmetic.vector import LANE_COUNT, largest, load
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .blocks import BLOCK, NEIGHBORS
from .rows import POSITION

# a particle moves up to one cell and its splines reach 3/2 cells (quadratic), or half a cell and 2 (cubic): it touches at most the
# nodes from the one below x - LOW to the one below x + HIGH
LOW, HIGH = 1.5, 2.5


@parallel_kernel
def find_extents(tickets, particles, extents):
    """Find the bounding box of each block's particles.

    Args:
        particles: see `Particles`.
        extents: (blocks, 6) result: maximum of -x, -y, -z, x, y, z, relative to the block [cells].
    """
    table, first, instance_count = particles.table, particles.runs.first, particles.runs.instance_count
    for block in shared(tickets[0], extents.shape[0], 64):
        begin, end = first[block * instance_count], first[(block + 1) * instance_count]
        for axis in range(3):
            row = table[POSITION + axis]
            if end - begin < LANE_COUNT:
                low, high = row[begin], row[begin]
                for slot in range(begin + 1, end):
                    low, high = min(low, row[slot]), max(high, row[slot])
                extents[block, axis], extents[block, 3 + axis] = -low, high
                continue
            above = load(row, end - LANE_COUNT, LANE_COUNT)
            below = -above
            for slot in range(begin, end - LANE_COUNT, LANE_COUNT):
                value = load(row, slot, LANE_COUNT)
                above, below = maximum(above, value), maximum(below, -value)
            extents[block, axis], extents[block, 3 + axis] = largest(below), largest(above)


@kernel(allocates=True)
def find_wanted(extents, is_wanted):
    """Find the node blocks around each block that must exist: those with a node that particles can touch, or with a neighbor of one.

    Args:
        extents: see `find_extents`.
        is_wanted: (blocks, 27 or 9) result.
    """
    is_plane = is_wanted.shape[1] != NEIGHBORS
    along = np.empty((3, 3), np.bool_)
    for block in range(is_wanted.shape[0]):
        for axis in range(3):
            along[axis, 0] = math.floor(-extents[block, axis] - LOW) - 1 < 0
            along[axis, 1] = True
            along[axis, 2] = math.floor(extents[block, 3 + axis] + HIGH) + 1 >= BLOCK
        for place in range(is_wanted.shape[1]):
            if is_plane:
                is_wanted[block, place] = along[0, place // 3] and along[2, place % 3]
            else:
                is_wanted[block, place] = along[0, place // 9] and along[1, place // 3 % 3] and along[2, place % 3]


@kernel
def layer_bits(axis, index, is_plane):
    """The nodes of a block that share a coordinate along an axis, as bits."""
    if is_plane:
        return np.int64(0xF) << (BLOCK * index) if axis == 0 else np.int64(0x1111) << index
    if axis == 0:
        return np.int64(0xFFFF) << (BLOCK * BLOCK * index)
    return np.int64(0x000F000F000F000F) << (BLOCK * index) if axis == 1 else np.int64(0x1111111111111111) << index


@kernel
def reached_layers(extents, block, is_plane, bits):
    """The layers of nodes around a block that its particles can touch before the next sort: (3, 3) result, for each axis and node block
    along it."""
    bits[:] = 0
    for axis in range(3):
        low, high = math.floor(-extents[block, axis] - LOW), math.floor(extents[block, 3 + axis] + HIGH)
        for node in range(max(low, -BLOCK), min(high + 1, 2 * BLOCK)):
            bits[axis, (node + BLOCK) // BLOCK] |= layer_bits(axis, node % BLOCK, is_plane)


@kernel
def bits_at(bits, place, is_plane):
    """The nodes of the node block at a place around a block; bits: see `reached_layers`."""
    if is_plane:
        return bits[0, place // 3] & bits[2, place % 3]
    return bits[0, place // 9] & bits[1, place // 3 % 3] & bits[2, place % 3]


@kernel(allocates=True)
def mark_reached(extents, neighbors, reached):
    """Mark the nodes that particles can touch before the next sort.

    Args:
        extents: see `find_extents`.
        neighbors: (blocks, 27 or 9) node blocks around each particle block; the number of node blocks for none.
        reached: (node blocks + 1,) result: one bit per node.
    """
    is_plane = neighbors.shape[1] != NEIGHBORS
    bits = np.zeros((3, 3), np.int64)
    reached[:] = 0
    for block in range(neighbors.shape[0]):
        reached_layers(extents, block, is_plane, bits)
        for place in range(neighbors.shape[1]):
            reached[neighbors[block, place]] |= bits_at(bits, place, is_plane)


@kernel(allocates=True)
def find_reaching(extents, neighbors, marked, is_reaching):
    """Find the blocks whose particles can touch marked nodes before the next sort.

    Args:
        extents, neighbors: see `mark_reached`.
        marked: (node blocks + 1,) one bit per node.
        is_reaching: (blocks,) result, where it is not set already.
    """
    is_plane = neighbors.shape[1] != NEIGHBORS
    bits = np.zeros((3, 3), np.int64)
    for block in range(neighbors.shape[0]):
        reached_layers(extents, block, is_plane, bits)
        for place in range(neighbors.shape[1]):
            if bits_at(bits, place, is_plane) & marked[neighbors[block, place]]:
                is_reaching[block] = True
