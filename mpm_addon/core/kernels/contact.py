"""Contact with obstacles on the grid: at points of their surface, and at the nodes farther inside.

An obstacle is given by its signed distance (positive outside) and unit normal at the nodes of the blocks near it, and by its rigid
velocity. The velocity that matter has at the surface is what contact changes: at the foot of every node that lies inside next to one
outside, with impulses on the nodes with matter around it. So matter comes to rest at the surface itself, wherever between two
nodes that lies. Nodes farther inside move with the obstacle.
"""

import math

import numpy as np
from numba import prange

from .blocks import BLOCK, NEIGHBOURS, NODE
from .compilation import kernel
from .node_lookup import corner_place, neighbour_of_node

STICKY, SLIP, SEPARATE = 0, 1, 2
# one after another, surface points share their nodes; so often they are gone through
SWEEPS = 2


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


@kernel(parallel=True)
def fill_nodes(nodes, rows, distance, filling):
    """Give the nodes inside an obstacle at least the mass `filling` [kg]: to the density that particles gather it is full of matter."""
    for row in prange(rows.size):
        node = nodes[rows[row]]
        for place in range(distance.shape[1]):
            if distance[row, place] <= 0.0:
                node[NODE * place + 3] = max(node[NODE * place + 3], filling)
