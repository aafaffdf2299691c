"""Contact with obstacles: at the grid's nodes, then for particles that slipped through between them.

An obstacle is given by its signed distance (positive outside) and unit normal at the nodes of the blocks near it, and by its rigid
velocity. Nodes inside it get its velocity according to its surface; Coulomb friction shortens the tangential part.
"""

import math

import numpy as np
from numba import prange

from .blocks import BLOCK, BLOCK_NODES
from .compilation import kernel
from .rows import POSITION, VELOCITY
from .transfer import NODE

STICKY, SLIP, SEPARATE = 0, 1, 2
# a particle that lies deeper than this before the step began inside and is left alone [cells]
INSIDE = 0.05


@kernel
def contact_velocity(u, v, w, nx, ny, nz, surface, friction):
    """The velocity relative to the obstacle after contact (Stomakhin et al. 2013, section 8).

    Args:
        u, v, w: velocity relative to the obstacle [m/s].
        nx, ny, nz: unit normal, outward.
        surface: STICKY, SLIP or SEPARATE.
        friction: Coulomb coefficient; only a compressive change of the normal velocity rubs.
    """
    if surface == STICKY:
        return 0.0, 0.0, 0.0
    normal = u * nx + v * ny + w * nz
    if surface == SEPARATE and normal >= 0.0:
        return u, v, w
    u, v, w = u - normal * nx, v - normal * ny, w - normal * nz
    tangential = math.sqrt(u * u + v * v + w * w)
    if tangential > 0.0:
        kept = max(0.0, 1.0 - friction * max(0.0, -normal) / tangential)
        u, v, w = kept * u, kept * v, kept * w
    return u, v, w


@kernel(parallel=True)
def collide_nodes(nodes, node_blocks, rows, distance, normal, surface, friction, rigid, spacing):
    """Apply an obstacle to the velocities of the nodes inside it.

    Args:
        nodes: (node blocks, 4 * BLOCK_NODES) velocity and mass; changed.
        node_blocks: (node blocks, 3) block coordinates.
        rows: (k,) the node blocks near the obstacle.
        distance: (k, BLOCK_NODES) [m]; normal: (k, BLOCK_NODES, 3).
        rigid: (9,) velocity of the obstacle's origin [m/s], angular velocity [rad/s], origin [m].
    """
    for row in prange(rows.size):
        number = rows[row]
        node = nodes[number]
        for place in range(BLOCK_NODES):
            at = NODE * place
            if distance[row, place] > 0.0 or node[at + 3] == 0.0:
                continue
            # from the obstacle's origin to the node
            x = (BLOCK * node_blocks[number, 0] + place // (BLOCK * BLOCK)) * spacing - rigid[6]
            y = (BLOCK * node_blocks[number, 1] + place // BLOCK % BLOCK) * spacing - rigid[7]
            z = (BLOCK * node_blocks[number, 2] + place % BLOCK) * spacing - rigid[8]
            ou = rigid[0] + rigid[4] * z - rigid[5] * y
            ov = rigid[1] + rigid[5] * x - rigid[3] * z
            ow = rigid[2] + rigid[3] * y - rigid[4] * x
            u, v, w = contact_velocity(
                node[at] - ou,
                node[at + 1] - ov,
                node[at + 2] - ow,
                normal[row, place, 0],
                normal[row, place, 1],
                normal[row, place, 2],
                surface,
                friction,
            )
            node[at], node[at + 1], node[at + 2] = u + ou, v + ov, w + ow


@kernel
def interpolated_distance(x, y, z, neighbours, row_of_block, distance, normal, far, gradient):
    """The distance [m] at a point, by trilinear interpolation between nodes, and the normal there in `gradient`.

    Args:
        x, y, z: relative to a particle block's origin [cells].
        neighbours: (27,) node blocks around the block.
        row_of_block: row of `distance` of each node block, -1 where the block is not near.
        far: the distance that counts at nodes of blocks that are not near [m].

    Returns:
        The distance, or infinity where no corner of the cell is near the obstacle.
    """
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    total = 0.0
    is_near = False
    gradient[:] = 0.0
    for corner in range(8):
        ix, iy, iz = int(cx) + (corner >> 2), int(cy) + (corner >> 1 & 1), int(cz) + (corner & 1)
        if min(ix, iy, iz) < -BLOCK or max(ix, iy, iz) >= 2 * BLOCK:
            return np.inf
        block = ((ix + BLOCK) // BLOCK * 3 + (iy + BLOCK) // BLOCK) * 3 + (iz + BLOCK) // BLOCK
        row = row_of_block[neighbours[block]]
        share = (1.0 - abs(x - ix)) * (1.0 - abs(y - iy)) * (1.0 - abs(z - iz))
        if row < 0:
            total += share * far
            continue
        is_near = True
        place = ((ix + BLOCK) % BLOCK * BLOCK + (iy + BLOCK) % BLOCK) * BLOCK + (iz + BLOCK) % BLOCK
        total += share * distance[row, place]
        for axis in range(3):
            gradient[axis] += share * normal[row, place, axis]
    return total if is_near else np.inf


@kernel(parallel=True)
def collide_particles(
    particles, first, material_count, pieces, blocks, neighbours, row_of_block, distance, normal, rigid, dt, spacing, pushed
):
    """Push particles that entered an obstacle during the step back to its surface and take their inward velocity away.

    A particle that was already deeper inside than `INSIDE` before the step is left where it is.

    Args:
        particles: (ROW_COUNT, slots); positions and velocities are changed.
        blocks: (blocks, 3) coordinates of the particle blocks.
        neighbours: (blocks, 27) node blocks around each.
        row_of_block, distance, normal: the obstacle near the nodes, see `interpolated_distance`.
        rigid: (9,) as for `collide_nodes`.
        pushed: (pieces,) result: the farthest that a particle was pushed [cells].
    """
    for piece in prange(pieces.size - 1):
        gradient = np.empty(3)
        unused = np.empty(3)
        farthest = 0.0
        for block in range(pieces[piece], pieces[piece + 1]):
            is_near = False
            for place in range(27):
                is_near |= row_of_block[neighbours[block, place]] >= 0
            if not is_near:
                continue
            for slot in range(first[block * material_count], first[(block + 1) * material_count]):
                x, y, z = particles[POSITION, slot], particles[POSITION + 1, slot], particles[POSITION + 2, slot]
                depth = interpolated_distance(x, y, z, neighbours[block], row_of_block, distance, normal, spacing, gradient) / spacing
                length = math.sqrt(gradient[0] ** 2 + gradient[1] ** 2 + gradient[2] ** 2)
                if depth >= 0.0 or length == 0.0:
                    continue
                u, v, w = particles[VELOCITY, slot], particles[VELOCITY + 1, slot], particles[VELOCITY + 2, slot]
                px = BLOCK * blocks[block, 0] * spacing + x * spacing - rigid[6]
                py = BLOCK * blocks[block, 1] * spacing + y * spacing - rigid[7]
                pz = BLOCK * blocks[block, 2] * spacing + z * spacing - rigid[8]
                ou = rigid[0] + rigid[4] * pz - rigid[5] * py
                ov = rigid[1] + rigid[5] * px - rigid[3] * pz
                ow = rigid[2] + rigid[3] * py - rigid[4] * px
                step = dt / spacing
                before = interpolated_distance(
                    x - step * (u - ou),
                    y - step * (v - ov),
                    z - step * (w - ow),
                    neighbours[block],
                    row_of_block,
                    distance,
                    normal,
                    spacing,
                    unused,
                )
                if before / spacing < -INSIDE:
                    continue
                nx, ny, nz = gradient[0] / length, gradient[1] / length, gradient[2] / length
                particles[POSITION, slot] = x - depth * nx
                particles[POSITION + 1, slot] = y - depth * ny
                particles[POSITION + 2, slot] = z - depth * nz
                inward = min(0.0, (u - ou) * nx + (v - ov) * ny + (w - ow) * nz)
                particles[VELOCITY, slot] = u - inward * nx
                particles[VELOCITY + 1, slot] = v - inward * ny
                particles[VELOCITY + 2, slot] = w - inward * nz
                farthest = max(farthest, -depth)
        pushed[piece] = farthest
