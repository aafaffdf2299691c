"""Particles that slipped into colliders between two nodes, or through thin ones: found by the distance between nodes, and pushed back."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import ARENA, BLOCK
from ..transfer.node_lookup import corner_place, neighbor_of_node
from ..transfer.rows import POSITION, VELOCITY
from .surface import rigid_velocity

# how far a particle may sink in, so that the nodes inside carry it; if it is deeper, it is pushed back [cells]
SINK = 0.25
# a particle that was deeper than this before the substep began inside, and is left alone [cells]
INSIDE = SINK + 0.05


class Pairs(NamedTuple):
    """Pairs of a particle block and a collider with a node inside near it; k blocks have one. Those marked * change in every substep.

    Attributes:
        blocks: the particle blocks, shape (k,).
        first: the first pair of each block, shape (k + 1,).
        owners: the collider of each pair, shape (pairs,).
        arenas: distances at the nodes of the block's arena [cells], shape (pairs, ARENA, ARENA, ARENA), in the plane (.., 1, ARENA).
        is_near: whether the collider may push particles of the block, shape (pairs,).
        is_due: * whether it may in this substep, shape (pairs,).
        pushed: * the greatest distance that a particle of each block was pushed, summed over colliders [cells], shape (k,).
        room: * how far a particle's distance has to fall, at least, before it could be pushed [cells], shape (pairs,).
    """

    blocks: NDArray[np.int64]
    first: NDArray[np.int64]
    owners: NDArray[np.int64]
    arenas: NDArray[np.float32]
    is_near: NDArray[np.bool_]
    is_due: NDArray[np.bool_]
    pushed: NDArray[np.float64]
    room: NDArray[np.float64]


@kernel
def interpolated_distance(x, y, z, neighbors, row_of_block, distance, far):
    """The distance [m] at a point, by trilinear interpolation between nodes.

    Args:
        x, y, z: relative to a particle block's origin [cells].
        neighbors: (27,) or, in the plane, (9,) node blocks around the block.
        row_of_block: (node blocks + 1,) the row of `distance` of each, -1 for blocks that are not near.
        distance: (rows, block nodes) [m].
        far: the distance at nodes of blocks that are not near [m].

    Returns:
        The distance [m]; `far` if the cell reaches beyond the blocks around.
    """
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    if min(cx, cy, cz) < -BLOCK or max(cx, cy, cz) >= 2 * BLOCK - 1:
        return far
    total = 0.0
    for corner in range(8):
        ix, iy, iz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
        row = row_of_block[neighbor_of_node(ix, iy, iz, neighbors)]
        share = (1.0 - abs(x - ix)) * (1.0 - abs(y - iy)) * (1.0 - abs(z - iz))
        total += share * (distance[row, corner_place(ix, iy, iz, neighbors)] if row >= 0 else far)
    return total


@kernel
def interpolated_vector(x, y, z, neighbors, row_of_block, values):
    """Vectors at the nodes of near blocks, interpolated like the distance; also the weight of these nodes."""
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    u, v, w, total = 0.0, 0.0, 0.0, 0.0
    for corner in range(8):
        ix, iy, iz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
        row = row_of_block[neighbor_of_node(ix, iy, iz, neighbors)]
        if row >= 0:
            place = corner_place(ix, iy, iz, neighbors)
            share = (1.0 - abs(x - ix)) * (1.0 - abs(y - iy)) * (1.0 - abs(z - iz))
            u += share * values[row, place, 0]
            v += share * values[row, place, 1]
            w += share * values[row, place, 2]
            total += share
    return u, v, w, total


@kernel
def interpolated_normal(x, y, z, neighbors, row_of_block, normal):
    """The unit normal at a point, interpolated like the distance; zero if it is not defined."""
    nx, ny, nz, _ = interpolated_vector(x, y, z, neighbors, row_of_block, normal)
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    return (nx / length, ny / length, nz / length) if length > 0.0 else (0.0, 0.0, 0.0)


@kernel
def has_inside(neighbors, holds_inside):
    """Whether a node block around a particle block holds a node inside."""
    is_found = False
    for place in range(neighbors.size):
        is_found |= holds_inside[neighbors[place]]
    return is_found


@parallel_kernel
def count_pairs(tickets, neighbors, holds_any, holds_inside, counts):
    """Count the colliders that have a node inside in the node blocks around each particle block.

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
    """The nodes [low, high) of an arena in the node blocks below its own (0), in its own (1) and above it (2)."""
    return (0, 1) if offset == 0 else ((1, BLOCK + 1) if offset == 1 else (BLOCK + 1, ARENA))


@kernel
def fill_arena(neighbors, row_of_block, distance, spacing, arena):
    """Copy the distances at the nodes of a block's arena into one array.

    Args:
        neighbors, row_of_block, distance: see `interpolated_distance`.
        arena: (ARENA, ARENA or, in the plane, 1, ARENA) result [cells].

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
                    arena[ix, iy, z0:z1] = 1.0
                    continue
                at = corner_place(ix - 1, iy - 1, z0 - 1, neighbors)
                for iz in range(z0, z1):
                    value = inverse_spacing * distance[row, at + iz - z0]
                    arena[ix, iy, iz] = value
                    is_deep |= value < -SINK
    return is_deep


@parallel_kernel
def find_pairs(tickets, pairs, neighbors, holds_inside, level_sets):
    """Find the pairs of a particle block and a collider, and which of them may push particles.

    Args:
        pairs: see `Pairs`; `owners`, `arenas` and `is_near` are results.
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
                pair += 1


@kernel
def interpolated_in_arena(x, y, z, ix, iy, iz, arena):
    """The distance [cells] at a point x, y, z in the cell ix, iy, iz of an arena, both relative to its first node."""
    dx, dz = x - ix, z - iz
    low = arena[ix, iy, iz] + dz * (arena[ix, iy, iz + 1] - arena[ix, iy, iz])
    high = arena[ix + 1, iy, iz] + dz * (arena[ix + 1, iy, iz + 1] - arena[ix + 1, iy, iz])
    lower = low + dx * (high - low)
    if arena.shape[1] == 1:
        return lower
    low = arena[ix, iy + 1, iz] + dz * (arena[ix, iy + 1, iz + 1] - arena[ix, iy + 1, iz])
    high = arena[ix + 1, iy + 1, iz] + dz * (arena[ix + 1, iy + 1, iz + 1] - arena[ix + 1, iy + 1, iz])
    return lower + (y - iy) * (low + dx * (high - low) - lower)


@kernel
def depth_in_arena(x, y, z, arena):
    """The distance [cells] at a particle from a block's arena, or minus infinity outside of it."""
    is_plane = arena.shape[1] == 1
    # relative to the arena's first node
    x, y, z = x + 1.0, 0.0 if is_plane else y + 1.0, z + 1.0
    last = ARENA - 1.0
    if not (0.0 <= x < last and 0.0 <= y < last and 0.0 <= z < last):
        return -math.inf
    return interpolated_in_arena(x, y, z, int(x), int(y), int(z), arena)


@generic
def push_particle(particles, slot, coordinates, neighbors, owner, level_sets, dt):
    """Push a particle back to the depth `SINK` if it is deeper; returns how far [cells].

    Args:
        coordinates: (3,) of its block; neighbors: (27 or 9,) the node blocks around this.
        owner: the collider. The rest see `collide_particles`.
    """
    distance, velocity, spacing = level_sets.distance, level_sets.velocity, level_sets.spacing
    row_of_block = level_sets.row_of_block[owner]
    x, y, z = particles[POSITION, slot], particles[POSITION + 1, slot], particles[POSITION + 2, slot]
    excess = interpolated_distance(x, y, z, neighbors, row_of_block, distance, spacing) / spacing + SINK
    if excess >= 0.0:
        return 0.0
    if velocity.shape[0] > 0:
        ou, ov, ow, total = interpolated_vector(x, y, z, neighbors, row_of_block, velocity)
        ou, ov, ow = ou / total, ov / total, ow / total
    else:
        ou, ov, ow = rigid_velocity(coordinates, x, y, z, level_sets.motions[owner], spacing)
    step = dt / spacing
    u, v, w = particles[VELOCITY, slot] - ou, particles[VELOCITY + 1, slot] - ov, particles[VELOCITY + 2, slot] - ow
    before = interpolated_distance(x - step * u, y - step * v, z - step * w, neighbors, row_of_block, distance, spacing)
    if before < -INSIDE * spacing:
        return 0.0
    nx, ny, nz = interpolated_normal(x, y, z, neighbors, row_of_block, level_sets.normal)
    particles[POSITION, slot] = x - excess * nx
    particles[POSITION + 1, slot] = y - excess * ny
    particles[POSITION + 2, slot] = z - excess * nz
    return -excess


@parallel_kernel
def collide_particles(tickets, particles, first, body_count, coordinates, neighbors, pairs, level_sets, dt):
    """Push particles that sank into colliders during the substep back to the depth `SINK`.

    Their velocity stays: the nodes inside take it away, with friction. If particles were held and stopped at the surface itself, they
    would load no node wherever the surface lies far above one, and sand would slide away over the floor in a layer without height.
    A particle that was deeper than `INSIDE` before the substep is left alone.

    Args:
        particles: (rows, slots); positions are changed.
        first: first slot of each run (block, body); body_count: runs per block.
        coordinates: (blocks, 3) of the particle blocks; neighbors: (blocks, 27 or 9) node blocks around each.
        pairs: see `Pairs`; `pushed` and, of pairs that are due, `room` are results.
        level_sets: see `LevelSets`.
        dt: length of the substep [s].
    """
    for index in shared(tickets[0], pairs.blocks.size, 4):
        pairs.pushed[index] = 0.0
        block = pairs.blocks[index]
        for pair in range(pairs.first[index], pairs.first[index + 1]):
            if not pairs.is_due[pair]:
                continue
            owner, arena, farthest, least = pairs.owners[pair], pairs.arenas[pair], 0.0, math.inf
            for slot in range(first[block * body_count], first[(block + 1) * body_count]):
                x, y, z = particles[POSITION, slot], particles[POSITION + 1, slot], particles[POSITION + 2, slot]
                # distances in the arena are rounded
                room = SINK - 1e-4 + depth_in_arena(x, y, z, arena)
                if room < 0.0:
                    room = 0.0
                    way = push_particle(particles, slot, coordinates[block], neighbors[block], owner, level_sets, dt)
                    farthest = max(farthest, way)
                least = min(least, room)
            pairs.pushed[index] += farthest
            pairs.room[pair] = least
