"""Contact with obstacles: at points of their surface and at the grid's nodes, then for particles that slipped through between them.

An obstacle is given by its signed distance (positive outside) and unit normal at the nodes of the blocks near it, and by its rigid
velocity. The velocity that matter has at the surface is what contact changes: at the foot of every node that lies inside next to one
outside, with impulses on all nodes that carry matter there. So matter comes to rest at the surface itself, wherever between two
nodes that lies. Nodes farther inside move with the obstacle.
"""

import math

import numpy as np
from numba import prange

from .blocks import ARENA, BLOCK, BLOCK_BITS, NEIGHBOURS, NODE
from .compilation import kernel
from .rows import POSITION, VELOCITY

STICKY, SLIP, SEPARATE = 0, 1, 2
# so far may a particle sink in, for the nodes inside to carry it; farther it is pushed back [cells]
SINK = 0.25
# one after another, surface points share their nodes; so often they are gone through
SWEEPS = 2
# a particle that lies deeper than this before the step began inside and is left alone [cells]
INSIDE = SINK + 0.05


@kernel
def contact_velocity(u, v, w, nx, ny, nz, surface, friction):
    """The velocity relative to the obstacle after contact (Stomakhin et al. 2013, section 8).

    The normal at the start of the step decides, also where the surface is curved: what a particle gains on the surface within
    one step is second order in the step, and `collide_particles` takes it back.

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


@kernel
def node_of_place(place, block_nodes):
    """The node in its block that lies at a place; in the plane all lie at the top, y = 0."""
    if block_nodes == BLOCK * BLOCK:
        return place // BLOCK, BLOCK, place % BLOCK
    return place // (BLOCK * BLOCK), place // BLOCK % BLOCK, place % BLOCK


@kernel
def neighbour_of_node(ix, iy, iz, neighbours):
    """The block among the neighbours of a block that holds a node, counted from that block's origin; -1 where there is none."""
    # shifts and masks: these run for eight corners of every particle near an obstacle
    bx, bz = ix + BLOCK >> BLOCK_BITS, iz + BLOCK >> BLOCK_BITS
    if neighbours.size == NEIGHBOURS:
        return neighbours[(bx * 3 + (iy + BLOCK >> BLOCK_BITS)) * 3 + bz]
    return neighbours[bx * 3 + bz]


@kernel
def corner_place(ix, iy, iz, neighbours):
    """The place of a node in its block."""
    if neighbours.size == NEIGHBOURS:
        return ((ix & BLOCK - 1) * BLOCK + (iy & BLOCK - 1)) * BLOCK + (iz & BLOCK - 1)
    return (ix & BLOCK - 1) * BLOCK + (iz & BLOCK - 1)


@kernel
def is_at_surface(ix, iy, iz, neighbours, row_of_block, distance):
    """Whether a node inside, counted in its block, lies next to one outside."""
    for step in (-1, 1):
        for axis in range(3):
            if axis == 1 and neighbours.size != NEIGHBOURS:
                continue
            jx, jy, jz = ix + step * (axis == 0), iy + step * (axis == 1), iz + step * (axis == 2)
            block = neighbour_of_node(jx, jy, jz, neighbours)
            row = row_of_block[block] if block >= 0 else -1
            if row < 0 or distance[row, corner_place(jx, jy, jz, neighbours)] > 0.0:
                return True
    return False


@kernel(parallel=True)
def find_surface(rows, row_of_block, neighbours, distance, is_surface):
    """Find the nodes inside that lie next to one outside.

    Args:
        rows, row_of_block, neighbours, distance: see `collide_surface`.
        is_surface: (k, block nodes) result.
    """
    for row in prange(rows.size):
        around = neighbours[rows[row]]
        for place in range(distance.shape[1]):
            ix, iy, iz = node_of_place(place, distance.shape[1])
            is_surface[row, place] = distance[row, place] <= 0.0 and is_at_surface(ix, iy, iz, around, row_of_block, distance)


@kernel
def obstacle_velocity(block, ix, iy, iz, node_blocks, rigid, spacing):
    """The velocity [m/s] of an obstacle at a point counted in cells from a node block's origin."""
    x = (BLOCK * node_blocks[block, 0] + ix) * spacing - rigid[6]
    y = (BLOCK * node_blocks[block, 1] + iy) * spacing - rigid[7]
    z = (BLOCK * node_blocks[block, 2] + iz) * spacing - rigid[8]
    return (
        rigid[0] + rigid[4] * z - rigid[5] * y,
        rigid[1] + rigid[5] * x - rigid[3] * z,
        rigid[2] + rigid[3] * y - rigid[4] * x,
    )


@kernel(parallel=True)
def fill_nodes(nodes, rows, distance, filling):
    """Give the nodes inside an obstacle at least the mass `filling` [kg]: to the density that particles gather it is full of matter."""
    for row in prange(rows.size):
        node = nodes[rows[row]]
        for place in range(distance.shape[1]):
            if distance[row, place] <= 0.0:
                node[NODE * place + 3] = max(node[NODE * place + 3], filling)


@kernel
def gather_foot(x, y, z, nx, ny, nz, neighbours, nodes, blocks, places, weights, heights):
    """Find the nodes with matter at the corners of a point's cell, with their linear weights; returns their number.

    Args:
        x, y, z: the point, in cells from a node block's origin; nx, ny, nz: the normal there.
        neighbours: (27,) or, in the plane, (9,) node blocks around that block, -1 where there is none.
        blocks, places, weights: (8,) results; heights: (8,) result: of the nodes above the surface [cells].
    """
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    count = 0
    for corner in range(8):
        ix, iy, iz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
        share = (1.0 - abs(x - ix)) * (1.0 - abs(y - iy)) * (1.0 - abs(z - iz))
        block = neighbour_of_node(ix, iy, iz, neighbours) if share > 0.0 else -1
        if block < 0:
            continue
        place = corner_place(ix, iy, iz, neighbours)
        if nodes[block, NODE * place + 3] > 0.0:
            blocks[count], places[count], weights[count] = block, place, share
            heights[count] = (ix - x) * nx + (iy - y) * ny + (iz - z) * nz
            count += 1
    return count


@kernel(parallel=True)
def share_momentum(nodes, node_blocks, rows, distance, normal, is_surface, surface, friction, rigid, spacing, filled_mass, counted, shared):
    """Let the nodes next to the surface share their momentum with the obstacle, as if it filled them; those farther in move with it.

    Only what contact changes is shared: the normal part, of a sticky surface all of it. Then `collide_surface` can weigh these
    nodes as filled: by their own mass alone the lightest would move, and far.

    Args:
        nodes: (node blocks, 4 * block nodes) velocity and mass; changed.
        node_blocks: (node blocks, 3) block coordinates.
        rows: (k,) the node blocks near the obstacle.
        distance: (k, block nodes) [m]; normal: (k, block nodes, 3).
        is_surface: (k, block nodes) whether a node inside lies next to one outside.
        surface: STICKY, SLIP or SEPARATE; friction: Coulomb coefficient.
        rigid: (9,) velocity of the obstacle's origin [m/s], angular velocity [rad/s], origin [m].
        filled_mass: the least mass with which a node inside counts [kg].
        counted: (k, block nodes) result: the mass with which nodes inside count [kg].
        shared: (k, block nodes) result: the momentum towards the obstacle that nodes next to the surface lost [kg m/s].
    """
    for row in prange(rows.size):
        number = rows[row]
        node = nodes[number]
        for place in range(distance.shape[1]):
            at = NODE * place
            shared[row, place] = 0.0
            if distance[row, place] > 0.0 or node[at + 3] == 0.0:
                continue
            ix, iy, iz = node_of_place(place, distance.shape[1])
            counted[row, place] = max(node[at + 3], filled_mass)
            ou, ov, ow = obstacle_velocity(number, ix, iy, iz, node_blocks, rigid, spacing)
            u, v, w = node[at] - ou, node[at + 1] - ov, node[at + 2] - ow
            nx, ny, nz = normal[row, place, 0], normal[row, place, 1], normal[row, place, 2]
            inward = u * nx + v * ny + w * nz
            lost = max(0.0, 1.0 - node[at + 3] / filled_mass)
            if not is_surface[row, place]:
                u, v, w = contact_velocity(u, v, w, nx, ny, nz, surface, friction)
            elif surface == STICKY:
                u, v, w = u - lost * u, v - lost * v, w - lost * w
            elif surface == SLIP or inward < 0.0:
                u, v, w = u - lost * inward * nx, v - lost * inward * ny, w - lost * inward * nz
                shared[row, place] = -min(0.0, lost * inward) * node[at + 3]
            else:
                counted[row, place] = node[at + 3]
            node[at], node[at + 1], node[at + 2] = u + ou, v + ov, w + ow


@kernel
def push_foot(nodes, count, blocks, places, weights, masses, p, q, r):
    """Give the nodes around a foot their shares of an impulse [kg m/s]."""
    for n in range(count):
        node, at, share = nodes[blocks[n]], NODE * places[n], weights[n] / masses[n]
        node[at] += share * p
        node[at + 1] += share * q
        node[at + 2] += share * r


@kernel
def meet_foot(
    index, nodes, node_blocks, neighbours, surface_nodes, rows, row_of_block, distance, normal, rigid, spacing, counted,
    blocks, places, weights, heights, masses,
):  # fmt: skip
    """Find what lies around the foot of a node next to the surface; see `collide_surface` for the arguments.

    Args:
        masses: (8,) result: what the nodes around count [kg].

    Returns:
        How many nodes, the velocity relative to the obstacle [m/s], the normal; and what an impulse changes the velocity by, alone
        and where all feet around get the same [1/kg], and the share of an impulse that matter feels.
    """
    row, place = surface_nodes[index, 0], surface_nodes[index, 1]
    number = rows[row]
    nx, ny, nz = normal[row, place, 0], normal[row, place, 1], normal[row, place, 2]
    if nodes[number, NODE * place + 3] == 0.0:
        return 0, (0.0, 0.0, 0.0), (nx, ny, nz), (0.0, 0.0, 0.0)
    depth = -distance[row, place] / spacing
    ix, iy, iz = node_of_place(place, distance.shape[1])
    x, y, z = ix + depth * nx, iy + depth * ny, iz + depth * nz
    count = gather_foot(x, y, z, nx, ny, nz, neighbours[number], nodes, blocks, places, weights, heights)
    ou, ov, ow = obstacle_velocity(number, x, y, z, node_blocks, rigid, spacing)
    u, v, w, mobility, common_mobility, felt = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for n in range(count):
        node, at, weight = nodes[blocks[n]], NODE * places[n], weights[n]
        u += weight * (node[at] - ou)
        v += weight * (node[at + 1] - ov)
        w += weight * (node[at + 2] - ow)
        other = row_of_block[blocks[n]]
        is_inside = other >= 0 and distance[other, places[n]] <= 0.0
        masses[n] = counted[other, places[n]] if is_inside else node[at + 3]
        mobility += weight * weight / masses[n]
        common_mobility += weight * max(0.0, 1.0 - abs(heights[n])) / masses[n]
        felt += weight * node[at + 3] / masses[n]
    return count, (u, v, w), (nx, ny, nz), (mobility, common_mobility, felt)


@kernel
def collide_surface(
    nodes, node_blocks, neighbours, surface_nodes, rows, row_of_block, distance, normal, surface, friction, rigid, spacing,
    counted, shared, impulses, is_first,
):  # fmt: skip
    """Apply an obstacle to the velocity that matter has at its surface, at the foot of every node next to it.

    At a foot the velocity is v = sum w_i v_i, linear between the nodes. An impulse J there, w_i J on node i, changes it
    by J sum w_i^2 / m_i. The normal impulse brings v.n to 0; friction is at most mu times what matter felt of it, with what its
    nodes had shared before, and against the sliding.
    Nodes inside count as filled with the obstacle (see `share_momentum`).
    Feet share nodes: all get what is right where the pressure is even; then they are gone through one after another, forth
    and back (projected Gauss-Seidel), always in the same order.

    Args:
        nodes, node_blocks, rows, distance, normal, surface, friction, rigid, spacing, counted, shared: see `share_momentum`.
        neighbours: (node blocks, 27 or 9) node blocks around each node block, -1 where there is none.
        surface_nodes: (n, 2) row and place of the nodes next to the surface.
        row_of_block: the row of each node block, -1 where it is not near.
        impulses: (n, 4) of the feet so far: normal, and the vector of friction [kg m/s]; changed.
        is_first: whether these are the first impulses of the step.
    """
    blocks, places, weights = np.empty(8, np.int64), np.empty(8, np.int64), np.empty(8)
    heights, masses = np.empty(8), np.empty(8)
    total = surface_nodes.shape[0]
    for turn in range(2 * total if is_first else 0):
        index = turn % total
        count, (u, v, w), (nx, ny, nz), (_, mobility, _) = meet_foot(
            index, nodes, node_blocks, neighbours, surface_nodes, rows, row_of_block, distance, normal, rigid, spacing, counted,
            blocks, places, weights, heights, masses,
        )  # fmt: skip
        if count == 0 or surface == STICKY:
            continue
        if turn < total:
            impulse = -(u * nx + v * ny + w * nz) / mobility
            impulses[index, 0] = max(0.0, impulse) if surface == SEPARATE else impulse
        else:
            impulse = impulses[index, 0]
            push_foot(nodes, count, blocks, places, weights, masses, impulse * nx, impulse * ny, impulse * nz)
    for turn in range(SWEEPS * total):
        index = turn % total if turn // total % 2 == 0 else total - 1 - turn % total
        count, (u, v, w), (nx, ny, nz), (mobility, _, felt) = meet_foot(
            index, nodes, node_blocks, neighbours, surface_nodes, rows, row_of_block, distance, normal, rigid, spacing, counted,
            blocks, places, weights, heights, masses,
        )  # fmt: skip
        if count == 0:
            continue
        if surface == STICKY:
            factor = -1.0 / mobility
            push_foot(nodes, count, blocks, places, weights, masses, factor * u, factor * v, factor * w)
            continue
        inward = u * nx + v * ny + w * nz
        impulse = impulses[index, 0] - inward / mobility
        if surface == SEPARATE:
            impulse = max(0.0, impulse)
        change = impulse - impulses[index, 0]
        impulses[index, 0] = impulse
        push_foot(nodes, count, blocks, places, weights, masses, change * nx, change * ny, change * nz)
        if friction > 0.0:
            p = impulses[index, 1] - (u - inward * nx) / mobility
            q = impulses[index, 2] - (v - inward * ny) / mobility
            r = impulses[index, 3] - (w - inward * nz) / mobility
            size = math.sqrt(p * p + q * q + r * r)
            pressing = max(0.0, impulse + shared[surface_nodes[index, 0], surface_nodes[index, 1]] / felt)
            kept = min(1.0, friction * pressing / size) if size > 0.0 else 0.0
            p, q, r = kept * p, kept * q, kept * r
            push_foot(
                nodes, count, blocks, places, weights, masses,
                p - impulses[index, 1], q - impulses[index, 2], r - impulses[index, 3],
            )  # fmt: skip
            impulses[index, 1], impulses[index, 2], impulses[index, 3] = p, q, r


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
