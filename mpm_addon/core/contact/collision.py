"""Particles that slipped into colliders between nodes, or through thin ones: found by the interpolated distance, and pushed back."""

import math

import numpy as np

from ..arithmetic.operations import generic
from ..arithmetic.vector import LANE_COUNT, largest, store
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import ARENA, BLOCK
from ..transfer.node_lookup import corner_place, neighbor_of_node
from ..transfer.rows import POSITION, VELOCITY
from ..transfer.table import load_vector
from .pairs import SINK
from .surface import rigid_velocity

# a particle that was deeper than this before the substep began inside the collider, and is left alone [cells]
INSIDE = SINK + 0.05
# rounding error of the distances in arenas [cells]
ROUNDING = 1e-4
# greatest rounding error of a particle's displacement in a substep [cells]
SLIP_OF_ROUNDING = 1e-5


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
        The distance [m]; `far` if the cell reaches beyond the surrounding blocks.
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
def distance_at(x, y, z, arena, neighbors, owner, level_sets):
    """The distance [cells] at a point, from a block's arena or, beyond it, from the nodes."""
    depth = depth_in_arena(x, y, z, arena)
    if depth == -math.inf:
        row_of_block = level_sets.row_of_block[owner]
        depth = interpolated_distance(x, y, z, neighbors, row_of_block, level_sets.distance, level_sets.spacing) / level_sets.spacing
    return depth


@generic
def push_particle(table, slot, coordinates, neighbors, owner, level_sets, dt, arena):
    """Push a particle back to the depth `SINK` if it is deeper; returns how far [cells].

    Args:
        coordinates: (3,) of its block; neighbors: (27 or 9,) the node blocks around this.
        owner: the collider; arena: see `Pairs`. The rest see `collide_particles`.
    """
    velocity, spacing = level_sets.velocity, level_sets.spacing
    row_of_block = level_sets.row_of_block[owner]
    x, y, z = table[POSITION, slot], table[POSITION + 1, slot], table[POSITION + 2, slot]
    excess = distance_at(x, y, z, arena, neighbors, owner, level_sets) + SINK
    if excess >= 0.0:
        return 0.0
    if velocity.shape[0] > 0:
        ou, ov, ow, total = interpolated_vector(x, y, z, neighbors, row_of_block, velocity)
        ou, ov, ow = ou / total, ov / total, ow / total
    else:
        ou, ov, ow = rigid_velocity(coordinates, x, y, z, level_sets.motions[owner], spacing)
    step = dt / spacing
    u, v, w = table[VELOCITY, slot] - ou, table[VELOCITY + 1, slot] - ov, table[VELOCITY + 2, slot] - ow
    if distance_at(x - step * u, y - step * v, z - step * w, arena, neighbors, owner, level_sets) < -INSIDE:
        return 0.0
    nx, ny, nz = interpolated_normal(x, y, z, neighbors, row_of_block, level_sets.normal)
    table[POSITION, slot] = x - excess * nx
    table[POSITION + 1, slot] = y - excess * ny
    table[POSITION + 2, slot] = z - excess * nz
    return -excess


@kernel
def find_due(pairs, speeds, step, least, is_within, due):
    """Find the pairs whose particles may be pushed after a substep.

    Args:
        pairs: see `Pairs`; `room` and `is_due` are results.
        speeds: see `fastest_nodes`.
        step: length of the substep over the cell size [s/m].
        least: displacement that particles may have regardless of the nodes, such as pinned ones [cells].
        is_within: whether all particles are within their blocks' arenas; if not, all pairs are due.
        due: (k,) result: the blocks with a pair that is due.

    Returns:
        The number of these.
    """
    count = 0
    for index in range(pairs.blocks.size):
        u, v, w = 0.0, 0.0, 0.0
        for place in range(pairs.around.shape[1]):
            number = pairs.around[index, place]
            u, v, w = max(u, 1.0 * speeds[number, 0]), max(v, 1.0 * speeds[number, 1]), max(w, 1.0 * speeds[number, 2])
        u, v, w = max(step * u, least), max(step * v, least), max(step * w, least)
        is_any = False
        for pair in range(pairs.first[index], pairs.first[index + 1]):
            falls = pairs.falls[pair]
            pairs.room[pair] -= falls[0] * u + falls[1] * v + falls[2] * w + SLIP_OF_ROUNDING
            pairs.is_due[pair] = not is_within or (pairs.is_near[pair] and pairs.room[pair] < 0.0)
            is_any |= pairs.is_due[pair]
        if is_any:
            due[count] = pairs.blocks[index]
            count += 1
    return count


@generic
def rooms_of(table, slot, bound, rooms):
    """Store a lower bound on the room of `LANE_COUNT` particles [cells], see `Pairs`; returns the least."""
    x, y, z = load_vector(table, POSITION, slot)
    room = bound[0] * x + bound[1] * y + bound[2] * z + (bound[3] + SINK - ROUNDING)
    store(rooms, 0, room)
    return -largest(-room)


@generic
def collide_pair(particles, is_carried, place, pairs, pair, level_sets, dt, is_within, rooms):
    """Push the particles of a pair; returns the greatest distance that one was pushed [cells].

    Args:
        place: the particle block, its coordinates, and the node blocks around it.
        pair: its number in `pairs`.
        rooms: (LANE_COUNT,) scratch. The rest see `collide_particles`.
    """
    table, first, instance_count = particles.table, particles.runs.first, particles.runs.instance_count
    block, coordinates, neighbors = place
    owner, arena, bound = pairs.owners[pair], pairs.arenas[pair], pairs.bounds[pair]
    farthest, least = 0.0, math.inf
    last = 0
    while last < instance_count:
        instance = last
        last += 1
        if is_carried[instance]:
            continue
        # consecutive instances are processed together
        while last < instance_count and not is_carried[last]:
            last += 1
        begin, end = first[block * instance_count + instance], first[block * instance_count + last]
        # a block may begin within a vector that small runs share
        for at in range(begin - begin % LANE_COUNT, end, LANE_COUNT):
            lowest = rooms_of(table, at, bound, rooms)
            if is_within and at >= begin and at + LANE_COUNT <= end and lowest >= bound[4]:
                least = min(least, lowest)
                continue
            for slot in range(max(at, begin), min(at + LANE_COUNT, end)):
                room = 1.0 * rooms[slot - at]
                if not is_within or room < bound[4]:
                    x, y, z = table[POSITION, slot], table[POSITION + 1, slot], table[POSITION + 2, slot]
                    room = SINK - ROUNDING + depth_in_arena(x, y, z, arena)
                if room < 0.0:
                    room = 0.0
                    way = push_particle(table, slot, coordinates, neighbors, owner, level_sets, dt, arena)
                    farthest = max(farthest, way)
                least = min(least, room)
    pairs.room[pair] = least
    return farthest


@parallel_kernel(allocates=True)
def collide_particles(tickets, particles, is_carried, coordinates, neighbors, pairs, level_sets, dt, is_within):
    """Push particles that sank into colliders during the substep back to the depth `SINK`.

    Their velocity is unchanged: contact at the nodes inside reduces it, with friction. If particles were stopped at the surface itself,
    they would load no node wherever the surface lies far above one, and sand would slide away over the floor in a layer without thickness.
    A particle that was deeper than `INSIDE` before the substep is left alone.

    Args:
        particles: see `Particles`; positions are changed.
        is_carried: (instances,) instances that are left alone, see `ParticleStore`.
        coordinates: (blocks, 3) of the particle blocks; neighbors: (blocks, 27 or 9) node blocks around each.
        pairs: see `Pairs`; `pushed` and, of pairs that are due, `room` are results.
        level_sets: see `LevelSets`.
        dt: length of the substep [s].
        is_within: whether all particles are within their blocks' arenas.
    """
    rooms = np.empty(LANE_COUNT, particles.table.dtype)
    collide_blocks(tickets, particles, is_carried, (coordinates, neighbors), pairs, level_sets, (dt, is_within), rooms)


@kernel
def collide_blocks(tickets, particles, is_carried, places, pairs, level_sets, task, rooms):
    """One thread's share of `collide_particles`.

    Args:
        places: the coordinates and neighbors of all particle blocks; task: dt and `is_within`.
        rooms: (LANE_COUNT,) scratch.
    """
    coordinates, neighbors = places
    dt, is_within = task
    for index in shared(tickets[0], pairs.blocks.size, 4):
        pairs.pushed[index] = 0.0
        block = pairs.blocks[index]
        place = block, coordinates[block], neighbors[block]
        for pair in range(pairs.first[index], pairs.first[index + 1]):
            if pairs.is_due[pair]:
                pairs.pushed[index] += collide_pair(particles, is_carried, place, pairs, pair, level_sets, dt, is_within, rooms)
        if pairs.pushed[index] > 0.0:
            # a particle may have been pushed toward another collider
            for pair in range(pairs.first[index], pairs.first[index + 1]):
                pairs.room[pair] -= pairs.pushed[index] * pairs.falls[pair].sum()
