"""Particles that slipped into obstacles between two nodes, or through thin ones: found by the distance between the nodes, pushed back."""

import math

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import ARENA, BLOCK
from ..transfer.node_lookup import corner_place, neighbour_of_node
from ..transfer.rows import POSITION, VELOCITY
from .surface import rigid_velocity

# so far may a particle sink in, for the nodes inside to carry it; farther it is pushed back [cells]
SINK = 0.25
# a particle that lies deeper than this before the step began inside and is left alone [cells]
INSIDE = SINK + 0.05


@kernel
def interpolated_distance(x, y, z, neighbours, row_of_block, distance, far):
    """The distance [m] at a point, by trilinear interpolation between nodes.

    Args:
        x, y, z: relative to a particle block's origin [cells].
        neighbours: (27,) or, in the plane, (9,) node blocks around the block.
        row_of_block: (node blocks,) row of `distance` of each, -1 where the block is not near.
        far: the distance that counts at nodes of blocks that are not near [m].

    Returns:
        The distance; `far` where the cell reaches beyond the blocks around.
    """
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    if min(cx, cy, cz) < -BLOCK or max(cx, cy, cz) >= 2 * BLOCK - 1:
        return far
    total = 0.0
    for corner in range(8):
        ix, iy, iz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
        row = row_of_block[neighbour_of_node(ix, iy, iz, neighbours)]
        share = (1.0 - abs(x - ix)) * (1.0 - abs(y - iy)) * (1.0 - abs(z - iz))
        total += share * (distance[row, corner_place(ix, iy, iz, neighbours)] if row >= 0 else far)
    return total


@kernel
def interpolated_vector(x, y, z, neighbours, row_of_block, values):
    """Vectors at the nodes of blocks that are near, interpolated like the distance; also the weight of those nodes."""
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    u, v, w, total = 0.0, 0.0, 0.0, 0.0
    for corner in range(8):
        ix, iy, iz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
        row = row_of_block[neighbour_of_node(ix, iy, iz, neighbours)]
        if row >= 0:
            place = corner_place(ix, iy, iz, neighbours)
            share = (1.0 - abs(x - ix)) * (1.0 - abs(y - iy)) * (1.0 - abs(z - iz))
            u += share * values[row, place, 0]
            v += share * values[row, place, 1]
            w += share * values[row, place, 2]
            total += share
    return u, v, w, total


@kernel
def interpolated_normal(x, y, z, neighbours, row_of_block, normal):
    """The unit normal at a point, interpolated like the distance; zero where it is not defined."""
    nx, ny, nz, _ = interpolated_vector(x, y, z, neighbours, row_of_block, normal)
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    return (nx / length, ny / length, nz / length) if length > 0.0 else (0.0, 0.0, 0.0)


@kernel
def has_inside(neighbours, holds_inside):
    """Whether one of the node blocks around a particle block holds a node inside."""
    is_found = False
    for place in range(neighbours.size):
        is_found |= holds_inside[neighbours[place]]
    return is_found


@parallel_kernel
def count_pairs(tickets, neighbours, holds_any, holds_inside, counts):
    """Count the obstacles that have a node inside in the node blocks around each particle block.

    Args:
        neighbours: (blocks, 27 or 9); holds_any: (node blocks,); holds_inside: (obstacles, node blocks).
        counts: (blocks,) result.
    """
    for block in shared(tickets[0], neighbours.shape[0], 64):
        counts[block] = 0
        if has_inside(neighbours[block], holds_any):
            for owner in range(holds_inside.shape[0]):
                counts[block] += has_inside(neighbours[block], holds_inside[owner])


@kernel
def arena_part(offset):
    """The nodes [low, high) of an arena that lie in the node blocks below (0), at (1) and above (2) its own."""
    return (0, 1) if offset == 0 else ((1, BLOCK + 1) if offset == 1 else (BLOCK + 1, ARENA))


@kernel
def fill_arena(neighbours, row_of_block, distance, spacing, arena):
    """Copy the distance at the nodes of a block's arena next to each other.

    Args:
        neighbours, row_of_block, distance: see `interpolated_distance`.
        arena: (ARENA, ARENA or, in the plane, 1, ARENA) result [cells].

    Returns:
        Whether one of them lies deep enough for a particle beside it to be pushed.
    """
    is_deep = False
    is_plane = arena.shape[1] == 1
    inverse_spacing = 1.0 / spacing
    for place in range(neighbours.size):
        row = row_of_block[neighbours[place]]
        x0, x1 = arena_part(place // 3 if is_plane else place // 9)
        y0, y1 = (0, 1) if is_plane else arena_part(place // 3 % 3)
        z0, z1 = arena_part(place % 3)
        for ix in range(x0, x1):
            for iy in range(y0, y1):
                if row < 0:
                    arena[ix, iy, z0:z1] = 1.0
                    continue
                at = corner_place(ix - 1, iy - 1, z0 - 1, neighbours)
                for iz in range(z0, z1):
                    value = inverse_spacing * distance[row, at + iz - z0]
                    arena[ix, iy, iz] = value
                    is_deep |= value < -SINK
    return is_deep


@parallel_kernel
def find_pairs(tickets, near, pair_first, neighbours, holds_inside, row_of_block, distance, spacing, owners, arenas, is_near):
    """Find the pairs of a particle block and an obstacle that may push its particles.

    Args:
        near: (k,) particle blocks; pair_first: (k + 1,) first pair of each.
        neighbours: (blocks, 27 or 9); holds_inside, row_of_block: (obstacles, node blocks); distance: (rows, block nodes).
        owners: (pairs,) result: the obstacles; arenas: (pairs, ...) results, see `fill_arena`.
        is_near: (pairs,) result: whether the obstacle may push particles of the block.
    """
    for index in shared(tickets[0], near.size, 4):
        around = neighbours[near[index]]
        pair = pair_first[index]
        for owner in range(holds_inside.shape[0]):
            if has_inside(around, holds_inside[owner]):
                owners[pair] = owner
                is_near[pair] = fill_arena(around, row_of_block[owner], distance, spacing, arenas[pair])
                pair += 1


@kernel
def interpolated_in_arena(x, y, z, ix, iy, iz, arena):
    """The distance [cells] at a point in the cell ix, iy, iz of an arena, x, y, z counted from its first node."""
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
    """The distance [cells] at a particle as far as a block's arena tells, or minus infinity beside it."""
    is_plane = arena.shape[1] == 1
    # counted from the arena's first node
    x, y, z = x + 1.0, 0.0 if is_plane else y + 1.0, z + 1.0
    last = ARENA - 1.0
    if not (0.0 <= x < last and 0.0 <= y < last and 0.0 <= z < last):
        return -math.inf
    return interpolated_in_arena(x, y, z, int(x), int(y), int(z), arena)


@kernel
def push_particle(particles, slot, block, neighbours, row_of_block, distance, normal, velocity, rigid, dt, spacing):
    """Push a particle back to the depth `SINK` where it lies deeper; returns how far [cells]."""
    x, y, z = particles[POSITION, slot], particles[POSITION + 1, slot], particles[POSITION + 2, slot]
    excess = interpolated_distance(x, y, z, neighbours, row_of_block, distance, spacing) / spacing + SINK
    if excess >= 0.0:
        return 0.0
    if velocity.shape[0] > 0:
        ou, ov, ow, total = interpolated_vector(x, y, z, neighbours, row_of_block, velocity)
        ou, ov, ow = ou / total, ov / total, ow / total
    else:
        ou, ov, ow = rigid_velocity(block, x, y, z, rigid, spacing)
    step = dt / spacing
    u, v, w = particles[VELOCITY, slot] - ou, particles[VELOCITY + 1, slot] - ov, particles[VELOCITY + 2, slot] - ow
    before = interpolated_distance(x - step * u, y - step * v, z - step * w, neighbours, row_of_block, distance, spacing)
    if before < -INSIDE * spacing:
        return 0.0
    nx, ny, nz = interpolated_normal(x, y, z, neighbours, row_of_block, normal)
    particles[POSITION, slot] = x - excess * nx
    particles[POSITION + 1, slot] = y - excess * ny
    particles[POSITION + 2, slot] = z - excess * nz
    return -excess


@parallel_kernel
def collide_particles(
    tickets, particles, first, body_count, near, is_due, pair_first, owners, arenas, blocks, neighbours, row_of_block, distance, normal,
    velocity, rigid, dt, spacing, pushed, room,
):  # fmt: skip
    """Push particles that sank into obstacles during the step back to a depth of `SINK`.

    Their velocity stays: the nodes inside take it away, with friction. Held at the surface itself and stopped, they would load
    no node where the surface lies far above one, and sand would run away on the floor as on ice, a layer of no height.
    A particle that was already deeper inside than `INSIDE` before the step is left where it is.

    Args:
        particles: (rows, slots); positions are changed.
        near, pair_first, owners, arenas: see `find_pairs`.
        is_due: (pairs,) which of them to look at.
        blocks: (blocks, 3) coordinates of the particle blocks.
        neighbours: (blocks, 27 or 9) node blocks around each.
        row_of_block, distance, normal, velocity: obstacles near the nodes, see `surface`.
        rigid: (obstacles, 9) velocity of each origin [m/s], angular velocity [rad/s], origin [m].
        pushed: (k,) result: the farthest that a particle was pushed, by all obstacles one after another [cells].
        room: (pairs,) result where due: how much a particle's distance has to fall before it could be pushed, at least [cells].
    """
    for index in shared(tickets[0], near.size, 4):
        pushed[index] = 0.0
        block = near[index]
        for pair in range(pair_first[index], pair_first[index + 1]):
            if not is_due[pair]:
                continue
            owner, farthest, least = owners[pair], 0.0, math.inf
            for slot in range(first[block * body_count], first[(block + 1) * body_count]):
                # the arena's distance is rounded
                left = SINK - 1e-4 + depth_in_arena(
                    particles[POSITION, slot], particles[POSITION + 1, slot], particles[POSITION + 2, slot], arenas[pair]
                )  # fmt: skip
                if left < 0.0:
                    left = 0.0
                    farthest = max(farthest, push_particle(
                        particles, slot, blocks[block], neighbours[block], row_of_block[owner], distance, normal, velocity,
                        rigid[owner], dt, spacing,
                    ))  # fmt: skip
                least = min(least, left)
            pushed[index] += farthest
            room[pair] = least
