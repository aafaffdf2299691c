"""Particles that slipped into obstacles between two nodes, or through thin ones: found by the distance between the nodes, pushed back."""

import math

from numba import prange

from .blocks import ARENA, BLOCK
from .compilation import kernel
from .node_lookup import corner_place, neighbour_of_node
from .rows import POSITION, VELOCITY

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
        row_of_block: row of `distance` of each node block, -1 where the block is not near.
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


@kernel(parallel=True)
def fill_arenas(blocks, neighbours, row_of_block, distance, far, arenas):
    """Copy the distance at the nodes of each block's arena next to each other.

    Args:
        blocks: (k,) particle blocks.
        neighbours, row_of_block, distance, far: see `interpolated_distance`.
        arenas: (k, ARENA, ARENA or, in the plane, 1, ARENA) result [m].
    """
    for index in prange(blocks.size):
        around = neighbours[blocks[index]]
        for ix in range(ARENA):
            for iy in range(arenas.shape[2]):
                for iz in range(ARENA):
                    row = row_of_block[neighbour_of_node(ix - 1, iy - 1, iz - 1, around)]
                    value = distance[row, corner_place(ix - 1, iy - 1, iz - 1, around)] if row >= 0 else far
                    arenas[index, ix, iy, iz] = value


@kernel
def is_surely_outside(x, y, z, arena, far):
    """Whether a point lies outside, as far as the nodes of its block's arena tell."""
    ix, iy, iz = math.floor(x) + 1, math.floor(y) + 1, math.floor(z) + 1
    if arena.shape[1] == 1:
        iy = 0
    above = min(iy + 1, arena.shape[1] - 1)
    if min(ix, iy, iz) < 0 or max(ix, iz) >= ARENA - 1 or iy >= ARENA - 1:
        return False
    # no point of the cell is farther from a corner than the cell's diagonal
    if arena[ix, iy, iz] > 1.75 * far:
        return True
    least = min(arena[ix, iy, iz], arena[ix, iy, iz + 1], arena[ix, above, iz], arena[ix, above, iz + 1])
    more = min(arena[ix + 1, iy, iz], arena[ix + 1, iy, iz + 1], arena[ix + 1, above, iz], arena[ix + 1, above, iz + 1])
    return min(least, more) >= 0.0


@kernel(parallel=True)
def collide_particles(
    particles, first, material_count, near, arenas, blocks, neighbours, row_of_block, distance, normal, rigid, dt, spacing, pushed
):
    """Push particles that sank into an obstacle during the step back to a depth of `SINK`.

    Their velocity stays: the nodes inside take it away, with friction. Held at the surface itself and stopped, they would load
    no node where the surface lies far above one, and sand would run away on the floor as on ice, a layer of no height.
    A particle that was already deeper inside than `INSIDE` before the step is left where it is.

    Args:
        particles: (ROW_COUNT, slots); positions are changed.
        near: (k,) the particle blocks whose arena holds a node inside the obstacle; arenas: see `fill_arenas`.
        blocks: (blocks, 3) coordinates of the particle blocks.
        neighbours: (blocks, 27) node blocks around each.
        row_of_block, distance, normal: the obstacle near the nodes, see `interpolated_distance`.
        rigid: (9,) as for `collide_nodes`.
        pushed: (k,) result: the farthest that a particle was pushed [cells].
    """
    step = dt / spacing
    for index in prange(near.size):
        block = near[index]
        around = neighbours[block]
        arena = arenas[index]
        farthest = 0.0
        for slot in range(first[block * material_count], first[(block + 1) * material_count]):
            x, y, z = particles[POSITION, slot], particles[POSITION + 1, slot], particles[POSITION + 2, slot]
            if is_surely_outside(x, y, z, arena, spacing):
                continue
            excess = interpolated_distance(x, y, z, around, row_of_block, distance, spacing) / spacing + SINK
            if excess >= 0.0:
                continue
            # from the obstacle's origin to the particle
            px = (BLOCK * blocks[block, 0] + x) * spacing - rigid[6]
            py = (BLOCK * blocks[block, 1] + y) * spacing - rigid[7]
            pz = (BLOCK * blocks[block, 2] + z) * spacing - rigid[8]
            u = particles[VELOCITY, slot] - (rigid[0] + rigid[4] * pz - rigid[5] * py)
            v = particles[VELOCITY + 1, slot] - (rigid[1] + rigid[5] * px - rigid[3] * pz)
            w = particles[VELOCITY + 2, slot] - (rigid[2] + rigid[3] * py - rigid[4] * px)
            before = interpolated_distance(x - step * u, y - step * v, z - step * w, around, row_of_block, distance, spacing)
            if before < -INSIDE * spacing:
                continue
            nx, ny, nz = interpolated_normal(x, y, z, around, row_of_block, normal)
            particles[POSITION, slot] = x - excess * nx
            particles[POSITION + 1, slot] = y - excess * ny
            particles[POSITION + 2, slot] = z - excess * nz
            farthest = max(farthest, -excess)
        pushed[index] = farthest
