"""Pairs of a particle block and a collider that may push its particles, and the distances around the block; see `collision`."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import ARENA, BLOCK
from ..transfer.node_lookup import corner_place

# depth to which a particle may sink in, so that the nodes inside support it; a deeper one is pushed back [cells]
SINK = 0.25
# stands for an unknown distance at a node [cells]
ABSENT = 1e3
# a surface is flat if its distances differ by less than this from a linear function [cells]
FLAT = 1e-3
# height above the depth `SINK` up to which particles near a surface that is not flat are tested one by one [cells]
UNCERTAIN = 1.0


class Pairs(NamedTuple):
    """Pairs of a particle block and a collider with a node inside near it; k blocks have one. Those marked * change in every substep.

    Attributes:
        blocks: the particle blocks, shape (k,).
        first: the first pair of each block, shape (k + 1,).
        owners: the collider of each pair, shape (pairs,).
        arenas: distances at the nodes of the block's arena [cells], shape (pairs, ARENA, ARENA, ARENA), in the plane (.., 1, ARENA).
        bounds: a linear function that is nowhere above these distances, so that most particles only need that: its slope, its value at
            the block's origin, and the height above the depth `SINK` up to which it is too inaccurate [cells], shape (pairs, 5).
        falls: how much a distance decreases at most while a particle moves by a cell along x, y or z, shape (pairs, 3).
        around: the node blocks around each block, of all velocity fields, shape (k, n).
        is_near: whether the collider may push particles of the block, shape (pairs,).
        is_due: * whether it may do so in this substep, shape (pairs,).
        pushed: * the greatest distance that a particle of each block was pushed, summed over colliders [cells], shape (k,).
        room: * lower bound on how much the distance of any particle of the pair must decrease before it could be pushed [cells], shape
            (pairs,); negative if one could be pushed after the substep.
    """

    blocks: NDArray[np.int64]
    first: NDArray[np.int64]
    owners: NDArray[np.int64]
    arenas: NDArray[np.float32]
    bounds: NDArray[np.float64]
    falls: NDArray[np.float64]
    around: NDArray[np.int64]
    is_near: NDArray[np.bool_]
    is_due: NDArray[np.bool_]
    pushed: NDArray[np.float64]
    room: NDArray[np.float64]


@kernel
def has_inside(neighbors, holds_inside):
    """Whether a node block around a particle block contains a node inside a collider."""
    is_found = False
    for place in range(neighbors.size):
        is_found |= holds_inside[neighbors[place]]
    return is_found


@parallel_kernel
def count_pairs(tickets, neighbors, holds_any, holds_inside, counts):
    """Count the colliders with a node inside among the node blocks around each particle block.

    Args:
        neighbors: (blocks, 27 or 9) node blocks around each particle block.
        holds_inside: (colliders, node blocks + 1) whether a node of the block is inside; holds_any: (node blocks + 1,) of any collider.
        counts: (blocks,) result.
    """
    for block in shared(tickets[0], neighbors.shape[0], 64):
        counts[block] = 0
        if has_inside(neighbors[block], holds_any):
            for owner in range(holds_inside.shape[0]):
                counts[block] += has_inside(neighbors[block], holds_inside[owner])


@kernel
def arena_part(offset):
    """The nodes [low, high) of an arena in the node block below its own (0), in its own (1) or above it (2)."""
    return (0, 1) if offset == 0 else ((1, BLOCK + 1) if offset == 1 else (BLOCK + 1, ARENA))


@kernel
def fill_arena(neighbors, row_of_block, distance, spacing, arena):
    """Copy the distances at the nodes of a block's arena into one array.

    Args:
        neighbors, row_of_block, distance: see `interpolated_distance`.
        arena: (ARENA, ARENA or, in the plane, 1, ARENA) result [cells]; `ABSENT` at nodes of blocks that are not near.

    Returns:
        Whether a node is deep enough for a particle next to it to be pushed.
    """
    is_deep = False
    is_plane = arena.shape[1] == 1
    inverse_spacing = 1.0 / spacing
    for place in range(neighbors.size):
        row = row_of_block[neighbors[place]]
        x0, x1 = arena_part(place // 3 if is_plane else place // 9)
        y0, y1 = (0, 1) if is_plane else arena_part(place // 3 % 3)
        z0, z1 = arena_part(place % 3)
        for ix in range(x0, x1):
            for iy in range(y0, y1):
                if row < 0:
                    arena[ix, iy, z0:z1] = ABSENT
                    continue
                at = corner_place(ix - 1, iy - 1, z0 - 1, neighbors)
                for iz in range(z0, z1):
                    value = inverse_spacing * distance[row, at + iz - z0]
                    arena[ix, iy, iz] = value
                    is_deep |= value < -SINK
    return is_deep


@kernel
def bound_arena(arena, bound, falls):
    """Find the linear function below the distances in an arena; see `Pairs`.

    It has the mean slope near the surface. Nodes of blocks that are not near are ignored and set to the distance of one cell: in a
    cell with such a node no particle is deep.

    Args:
        arena: see `fill_arena`; changed.
        bound, falls: (5,) and (3,) results.
    """
    slope_x, slope_y, slope_z = 0.0, 0.0, 0.0
    count = 0
    last = arena.shape[1] - 1
    for ix in range(ARENA - 1):
        for iy in range(max(last, 1)):
            for iz in range(ARENA - 1):
                value = arena[ix, iy, iz]
                along_x, along_y, along_z = arena[ix + 1, iy, iz], arena[ix, min(iy + 1, last), iz], arena[ix, iy, iz + 1]
                if abs(value) < 1.0 and max(along_x, along_y, along_z) < ABSENT:
                    slope_x, slope_y, slope_z = slope_x + (along_x - value), slope_y + (along_y - value), slope_z + (along_z - value)
                    count += 1
    slope = slope_x / max(count, 1), slope_y / max(count, 1), slope_z / max(count, 1)
    least, most = math.inf, -math.inf
    for ix in range(ARENA):
        for iy in range(arena.shape[1]):
            base = slope[0] * (ix - 1.0) + slope[1] * (iy - 1.0)
            for iz in range(ARENA):
                value = arena[ix, iy, iz]
                if value == ABSENT:
                    arena[ix, iy, iz] = 1.0
                    continue
                rest = value - (base + slope[2] * (iz - 1.0))
                least = min(least, rest)
                if abs(value) < 1.0:
                    most = max(most, rest)
    is_flat = most - least < FLAT
    for axis in range(3):
        bound[axis] = slope[axis]
        falls[axis] = abs(slope[axis]) if is_flat else 1.0
    bound[3] = least
    bound[4] = 0.0 if is_flat else UNCERTAIN


@parallel_kernel
def find_pairs(tickets, pairs, neighbors, holds_inside, level_sets):
    """Find the pairs of a particle block and a collider, and which of them may push particles.

    Args:
        pairs: see `Pairs`; `owners`, `arenas`, `bounds`, `falls` and `is_near` are results.
        neighbors: (blocks, 27 or 9) node blocks around each particle block.
        holds_inside: (colliders, node blocks + 1) whether a node of the block is inside.
        level_sets: see `LevelSets`.
    """
    for index in shared(tickets[0], pairs.blocks.size, 4):
        around = neighbors[pairs.blocks[index]]
        pair = pairs.first[index]
        for owner in range(holds_inside.shape[0]):
            if has_inside(around, holds_inside[owner]):
                row_of_block = level_sets.row_of_block[owner]
                pairs.owners[pair] = owner
                pairs.is_near[pair] = fill_arena(around, row_of_block, level_sets.distance, level_sets.spacing, pairs.arenas[pair])
                bound_arena(pairs.arenas[pair], pairs.bounds[pair], pairs.falls[pair])
                pair += 1
