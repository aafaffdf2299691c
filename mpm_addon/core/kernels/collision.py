"""Particles that slipped into obstacles between two nodes, or through thin ones: found by the distance between the nodes, pushed back."""

import math

import numpy as np
from numba import prange

from .arithmetic import any_of
from .blocks import ARENA, BLOCK
from .compilation import kernel
from .node_lookup import corner_place, neighbour_of_node
from .rows import POSITION, VELOCITY
from .table import load_vector
from .vector import LANE_COUNT, floor, store_as_int32

# so far may a particle sink in, for the nodes inside to carry it; farther it is pushed back [cells]
SINK = 0.25
# a particle that lies deeper than this before the step began inside and is left alone [cells]
INSIDE = SINK + 0.05
# the cells between an arena's nodes, counted from the block's origin: from the first to before the last
FIRST_CELL, LAST_CELL = -1.0, ARENA - 2.0


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
def interpolated_normal(x, y, z, neighbours, row_of_block, normal):
    """The unit normal at a point, interpolated like the distance; zero where it is not defined."""
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    nx, ny, nz = 0.0, 0.0, 0.0
    for corner in range(8):
        ix, iy, iz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
        row = row_of_block[neighbour_of_node(ix, iy, iz, neighbours)]
        if row >= 0:
            place = corner_place(ix, iy, iz, neighbours)
            share = (1.0 - abs(x - ix)) * (1.0 - abs(y - iy)) * (1.0 - abs(z - iz))
            nx += share * normal[row, place, 0]
            ny += share * normal[row, place, 1]
            nz += share * normal[row, place, 2]
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    return (nx / length, ny / length, nz / length) if length > 0.0 else (0.0, 0.0, 0.0)


@kernel
def has_inside(neighbours, holds_inside):
    """Whether one of the node blocks around a particle block holds a node inside."""
    is_found = False
    for place in range(neighbours.size):
        is_found |= holds_inside[neighbours[place]]
    return is_found


@kernel(parallel=True)
def count_pairs(neighbours, holds_any, holds_inside, counts):
    """Count the obstacles that have a node inside in the node blocks around each particle block.

    Args:
        neighbours: (blocks, 27 or 9); holds_any: (node blocks,); holds_inside: (obstacles, node blocks).
        counts: (blocks,) result.
    """
    for block in prange(neighbours.shape[0]):
        counts[block] = 0
        if has_inside(neighbours[block], holds_any):
            for owner in range(holds_inside.shape[0]):
                counts[block] += has_inside(neighbours[block], holds_inside[owner])


@kernel
def arena_part(offset):
    """The nodes [low, high) of an arena that lie in the node blocks below (0), at (1) and above (2) its own."""
    return (0, 1) if offset == 0 else ((1, BLOCK + 1) if offset == 1 else (BLOCK + 1, ARENA))


@kernel
def mark_cells(neighbours, row_of_block, distance, spacing, arena, cells, bounds):
    """Mark the cells of a block's arena in which a particle can lie deep enough to be pushed: those with a node as deep.

    Args:
        neighbours, row_of_block, distance: see `interpolated_distance`.
        arena: (ARENA, ARENA or, in the plane, 1, ARENA) result: the distance at the nodes [cells].
        cells: (ARENA**2,) or (ARENA,) result: a bit for each cell of a row along z.
        bounds: (6,) result: the box of these cells, low x, y, z, then high, relative to the block [cells].

    Returns:
        Whether the arena holds a node inside.
    """
    is_touched = False
    cells[:] = 0
    bounds[:3], bounds[3:] = math.inf, -math.inf
    height = arena.shape[1]
    inverse_spacing = 1.0 / spacing
    for place in range(neighbours.size):
        row = row_of_block[neighbours[place]]
        is_plane = height == 1
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
                    is_touched |= value < 0.0
                    cells[ix * height + iy] |= (value < -SINK) << iz
    nodes_to_cells(height, cells, bounds)
    return is_touched


@kernel
def nodes_to_cells(height, cells, bounds):
    """Mark the cells around marked nodes in their place, and find their box; see `mark_cells`."""
    along_z = 0
    for ix in range(ARENA):
        for iy in range(height):
            bits = 0
            # rows farther on still are of nodes
            for jx in range(ix, min(ix + 2, ARENA)):
                for jy in range(iy, min(iy + 2, height)):
                    bits |= cells[jx * height + jy]
            bits |= bits >> 1
            cells[ix * height + iy] = bits
            along_z |= bits
            if bits:
                bounds[0], bounds[3] = min(bounds[0], ix - 1), max(bounds[3], ix)
                bounds[1], bounds[4] = min(bounds[1], iy - 1), max(bounds[4], iy)
    for iz in range(ARENA):
        if along_z >> iz & 1:
            bounds[2], bounds[5] = min(bounds[2], iz - 1), max(bounds[5], iz)
    if height == 1 and along_z:
        bounds[1], bounds[4] = -math.inf, math.inf


@kernel(parallel=True)
def find_pairs(near, pair_first, neighbours, holds_inside, row_of_block, distance, spacing, owners, arenas, cells, bounds, is_touched):
    """Find the pairs of a particle block and an obstacle that may push its particles.

    Args:
        near: (k,) particle blocks; pair_first: (k + 1,) first pair of each.
        neighbours: (blocks, 27 or 9); holds_inside, row_of_block: (obstacles, node blocks); distance: (rows, block nodes).
        owners: (pairs,) result: the obstacles; arenas, cells, bounds: (pairs, ...) results, see `mark_cells`.
        is_touched: (k,) result: whether an obstacle has a node inside in the block's arena.
    """
    for index in prange(near.size):
        around = neighbours[near[index]]
        pair = pair_first[index]
        is_touched[index] = False
        for owner in range(holds_inside.shape[0]):
            if has_inside(around, holds_inside[owner]):
                owners[pair] = owner
                is_touched[index] |= mark_cells(around, row_of_block[owner], distance, spacing, arenas[pair], cells[pair], bounds[pair])
                pair += 1


@kernel
def interpolated_in_arena(x, y, z, cell, arena):
    """The distance [cells] at a point in a cell of an arena, x, y, z counted from its first node."""
    height = arena.shape[1]
    ix, iy, iz = cell // (height * ARENA), cell // ARENA % height, cell % ARENA
    dx, dz = x - ix, z - iz
    low = arena[ix, iy, iz] + dz * (arena[ix, iy, iz + 1] - arena[ix, iy, iz])
    high = arena[ix + 1, iy, iz] + dz * (arena[ix + 1, iy, iz + 1] - arena[ix + 1, iy, iz])
    lower = low + dx * (high - low)
    if height == 1:
        return lower
    low = arena[ix, iy + 1, iz] + dz * (arena[ix, iy + 1, iz + 1] - arena[ix, iy + 1, iz])
    high = arena[ix + 1, iy + 1, iz] + dz * (arena[ix + 1, iy + 1, iz + 1] - arena[ix + 1, iy + 1, iz])
    return lower + (y - iy) * (low + dx * (high - low) - lower)


@kernel
def push_particle(particles, slot, cell, arena, block, neighbours, row_of_block, distance, normal, rigid, dt, spacing):
    """Push a particle in an arena's cell, or -1, back to the depth `SINK` where it lies deeper; returns how far [cells]."""
    x, y, z = particles[POSITION, slot], particles[POSITION + 1, slot], particles[POSITION + 2, slot]
    # the arena's distance is rounded
    if cell >= 0 and interpolated_in_arena(x + 1.0, y + 1.0, z + 1.0, cell, arena) > 1e-4 - SINK:
        return 0.0
    excess = interpolated_distance(x, y, z, neighbours, row_of_block, distance, spacing) / spacing + SINK
    if excess >= 0.0:
        return 0.0
    # from the obstacle's origin to the particle
    px = (BLOCK * block[0] + x) * spacing - rigid[6]
    py = (BLOCK * block[1] + y) * spacing - rigid[7]
    pz = (BLOCK * block[2] + z) * spacing - rigid[8]
    step = dt / spacing
    u = particles[VELOCITY, slot] - (rigid[0] + rigid[4] * pz - rigid[5] * py)
    v = particles[VELOCITY + 1, slot] - (rigid[1] + rigid[5] * px - rigid[3] * pz)
    w = particles[VELOCITY + 2, slot] - (rigid[2] + rigid[3] * py - rigid[4] * px)
    before = interpolated_distance(x - step * u, y - step * v, z - step * w, neighbours, row_of_block, distance, spacing)
    if before < -INSIDE * spacing:
        return 0.0
    nx, ny, nz = interpolated_normal(x, y, z, neighbours, row_of_block, normal)
    particles[POSITION, slot] = x - excess * nx
    particles[POSITION + 1, slot] = y - excess * ny
    particles[POSITION + 2, slot] = z - excess * nz
    return -excess


@kernel
def push_block(
    particles, begin, end, arena, cells, box, block, neighbours, row_of_block, distance, normal, rigid, dt, spacing
):  # fmt: skip
    """Push the particles of one block out of one obstacle; returns how far, at most [cells]. See `collide_particles`."""
    farthest = 0.0
    if box[0] > box[3]:
        return farthest
    numbers = np.empty(LANE_COUNT, np.int32)
    height = arena.shape[1]
    for group in range(begin, end, LANE_COUNT):
        x, y, z = load_vector(particles, POSITION, group)
        is_beyond = (x < FIRST_CELL) | (x >= LAST_CELL) | (z < FIRST_CELL) | (z >= LAST_CELL) | (y < FIRST_CELL) | (y >= LAST_CELL)
        if any_of(is_beyond):
            numbers[:] = -1
        elif any_of((x >= box[0]) & (x < box[3]) & (y >= box[1]) & (y < box[4]) & (z >= box[2]) & (z < box[5])):
            # counted from the arena's first node; in the plane, where all y are the same, it lies there
            row = (floor(x) + 1.0) * float(height) + (floor(y) + 1.0 if height > 1 else 0.0 * y)
            store_as_int32(numbers, 0, row * float(ARENA) + (floor(z) + 1.0))
        else:
            continue
        for lane in range(LANE_COUNT):
            if numbers[lane] < 0 or cells[numbers[lane] // ARENA] >> numbers[lane] % ARENA & 1:
                farthest = max(farthest, push_particle(
                    particles, group + lane, numbers[lane], arena, block, neighbours, row_of_block, distance, normal, rigid, dt, spacing
                ))  # fmt: skip
    return farthest


@kernel(parallel=True)
def collide_particles(
    particles, first, material_count, near, pair_first, owners, arenas, cells, bounds, blocks, neighbours, row_of_block, distance, normal,
    rigid, dt, spacing, pushed,
):  # fmt: skip
    """Push particles that sank into obstacles during the step back to a depth of `SINK`.

    Their velocity stays: the nodes inside take it away, with friction. Held at the surface itself and stopped, they would load
    no node where the surface lies far above one, and sand would run away on the floor as on ice, a layer of no height.
    A particle that was already deeper inside than `INSIDE` before the step is left where it is.

    Args:
        particles: (ROW_COUNT, slots); positions are changed.
        near, pair_first, owners, arenas, cells, bounds: see `find_pairs`; bounds in the particles' type.
        blocks: (blocks, 3) coordinates of the particle blocks.
        neighbours: (blocks, 27 or 9) node blocks around each.
        row_of_block, distance, normal: obstacles near the nodes, see `surface`.
        rigid: (obstacles, 9) velocity of each origin [m/s], angular velocity [rad/s], origin [m].
        pushed: (k,) result: the farthest that a particle was pushed, by all obstacles one after another [cells].
    """
    for index in prange(near.size):
        block = near[index]
        pushed[index] = 0.0
        for pair in range(pair_first[index], pair_first[index + 1]):
            owner = owners[pair]
            pushed[index] += push_block(
                particles, first[block * material_count], first[(block + 1) * material_count], arenas[pair], cells[pair], bounds[pair],
                blocks[block], neighbours[block], row_of_block[owner], distance, normal, rigid[owner], dt, spacing,
            )  # fmt: skip
