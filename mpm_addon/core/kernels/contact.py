"""Contact with obstacles on the grid: at points of their surface, and at the nodes farther inside.

An obstacle is given by its signed distance (positive outside) and unit normal at the nodes of the blocks near it, and by its rigid
velocity. The velocity that matter has at the surface is what contact changes: at the foot of every node that lies inside next to one
outside, with impulses on the nodes with matter around it. So matter comes to rest at the surface itself, wherever between two
nodes that lies. Nodes farther inside move with the obstacle.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from .blocks import BLOCK, NEIGHBOURS, NODE
from .compilation import kernel
from .node_lookup import corner_place, neighbour_of_node

STICKY, SLIP, SEPARATE = 0, 1, 2
# one after another, surface points share their nodes; so often they are gone through
SWEEPS = 2


class Feet(NamedTuple):
    """The feet of an obstacle's surface nodes on its surface, with the nodes around each; those in use come first.

    Nodes are numbered through all blocks, nodes inside through the rows of blocks near the obstacle.

    Attributes:
        nodes, insides: (n,) the node that each foot belongs to, in both countings.
        counts: (n,) nodes with matter around.
        corners, inside_corners: (n, 8) these nodes; -1 for those outside.
        weights: (n, 8) linear weights; heights: (n, 8) above the surface [cells]; masses: (n, 8) that they count [kg].
        normals: (n, 3); velocities: (n, 3) of the obstacle [m/s].
        impulses: (n, 4) normal, and the vector of friction [kg m/s].
        shared: (n,) the momentum towards the obstacle that the node shared with it [kg m/s].
    """

    nodes: NDArray[np.int64]
    insides: NDArray[np.int64]
    counts: NDArray[np.int64]
    corners: NDArray[np.int64]
    inside_corners: NDArray[np.int64]
    weights: NDArray[np.float64]
    heights: NDArray[np.float64]
    masses: NDArray[np.float64]
    normals: NDArray[np.float64]
    velocities: NDArray[np.float64]
    impulses: NDArray[np.float64]
    shared: NDArray[np.float64]


def room_for_feet(count: int) -> Feet:
    """Arrays for so many feet."""
    one, eight = np.zeros(count, np.int64), np.zeros((count, 8), np.int64)
    return Feet(
        one, one.copy(), one.copy(), eight, eight.copy(),
        np.zeros((count, 8)), np.zeros((count, 8)), np.zeros((count, 8)),
        np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 4)), np.zeros(count),
    )  # fmt: skip


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
        rows, row_of_block, neighbours, distance: see `meet_feet`.
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
def has_matter_above(x, y, z, neighbours, row_of_block, distance, nodes):
    """Whether a node outside carries matter at the corners of a point's cell, in cells from a node block's origin."""
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    for corner in range(8):
        jx, jy, jz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
        is_corner = abs(x - jx) < 1.0 and abs(y - jy) < 1.0 and abs(z - jz) < 1.0
        block = neighbour_of_node(jx, jy, jz, neighbours) if is_corner else -1
        if block < 0:
            continue
        at = corner_place(jx, jy, jz, neighbours)
        row = row_of_block[block]
        if nodes[block, NODE * at + 3] > 0.0 and (row < 0 or distance[row, at] > 0.0):
            return True
    return False


@kernel
def meet_feet(nodes, node_blocks, neighbours, surface_nodes, rows, row_of_block, distance, normal, rigid, spacing, feet):
    """Find the feet of the nodes next to the surface that have matter, and the nodes with matter around each.

    Args:
        nodes, node_blocks, rows, distance, normal, rigid, spacing: see `collide_nodes`.
        neighbours: (node blocks, 27 or 9) node blocks around each node block, -1 where there is none.
        surface_nodes: (n, 2) row and place of the nodes next to the surface.
        row_of_block: the row of each node block, -1 where it is not near.
        feet: see `Feet`; all but impulses, shared and masses are results.

    Returns:
        The number of feet.
    """
    block_nodes = distance.shape[1]
    found = 0
    for index in range(surface_nodes.shape[0]):
        row, place = surface_nodes[index, 0], surface_nodes[index, 1]
        number = rows[row]
        if nodes[number, NODE * place + 3] == 0.0:
            continue
        nx, ny, nz = normal[row, place, 0], normal[row, place, 1], normal[row, place, 2]
        depth = -distance[row, place] / spacing
        ix, iy, iz = node_of_place(place, block_nodes)
        x, y, z = ix + depth * nx, iy + depth * ny, iz + depth * nz
        feet.normals[found, 0], feet.normals[found, 1], feet.normals[found, 2] = nx, ny, nz
        velocity = obstacle_velocity(number, x, y, z, node_blocks, rigid, spacing)
        feet.velocities[found, 0], feet.velocities[found, 1], feet.velocities[found, 2] = velocity
        feet.nodes[found] = number * block_nodes + place
        feet.insides[found] = row * block_nodes + place
        cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
        count = 0
        for corner in range(8):
            jx, jy, jz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
            share = (1.0 - abs(x - jx)) * (1.0 - abs(y - jy)) * (1.0 - abs(z - jz))
            block = neighbour_of_node(jx, jy, jz, neighbours[number]) if share > 0.0 else -1
            if block < 0:
                continue
            at = corner_place(jx, jy, jz, neighbours[number])
            if nodes[block, NODE * at + 3] > 0.0:
                other = row_of_block[block]
                is_inside = other >= 0 and distance[other, at] <= 0.0
                feet.corners[found, count] = block * block_nodes + at
                feet.inside_corners[found, count] = other * block_nodes + at if is_inside else -1
                feet.weights[found, count] = share
                feet.heights[found, count] = (jx - x) * nx + (jy - y) * ny + (jz - z) * nz
                count += 1
        if not has_matter_above(x + nx, y + ny, z + nz, neighbours[number], row_of_block, distance, nodes):
            # what the node carries came through the wall from its other side
            node, at = nodes[number], NODE * place
            ou, ov, ow = velocity
            outward = (node[at] - ou) * nx + (node[at + 1] - ov) * ny + (node[at + 2] - ow) * nz
            node[at] -= outward * nx
            node[at + 1] -= outward * ny
            node[at + 2] -= outward * nz
            continue
        feet.counts[found] = count
        found += 1
    return found


@kernel(parallel=True)
def collide_nodes(nodes, node_blocks, rows, distance, normal, is_surface, surface, friction, rigid, spacing, filled_mass, counted):
    """Apply an obstacle to the velocities of the nodes inside it that do not lie next to its surface.

    Args:
        nodes: (node blocks, 4 * block nodes) velocity and mass; changed.
        node_blocks: (node blocks, 3) block coordinates.
        rows: (k,) the node blocks near the obstacle.
        distance: (k, block nodes) [m]; normal: (k, block nodes, 3).
        is_surface: (k, block nodes) whether a node inside lies next to one outside.
        surface: STICKY, SLIP or SEPARATE; friction: Coulomb coefficient.
        rigid: (9,) velocity of the obstacle's origin [m/s], angular velocity [rad/s], origin [m].
        filled_mass: the least mass with which a node inside counts [kg].
        counted: (k, block nodes) result: the mass with which the nodes inside count [kg].
    """
    # through a wall of two or three cells a fluid would leave by the far side's nodes, which it may move away
    far_surface = SLIP if surface == SEPARATE and filled_mass > 0.0 else surface
    for row in prange(rows.size):
        number = rows[row]
        node = nodes[number]
        for place in range(distance.shape[1]):
            at = NODE * place
            counted[row, place] = max(node[at + 3], filled_mass)
            if distance[row, place] > 0.0 or is_surface[row, place] or node[at + 3] == 0.0:
                continue
            ix, iy, iz = node_of_place(place, distance.shape[1])
            ou, ov, ow = obstacle_velocity(number, ix, iy, iz, node_blocks, rigid, spacing)
            nx, ny, nz = normal[row, place, 0], normal[row, place, 1], normal[row, place, 2]
            u, v, w = contact_velocity(node[at] - ou, node[at + 1] - ov, node[at + 2] - ow, nx, ny, nz, far_surface, friction)
            node[at], node[at + 1], node[at + 2] = u + ou, v + ov, w + ow


@kernel
def excess_velocity(u, v, w, p, q, r, nx, ny, nz, part, surface):
    """The part of a node's velocity u that brings about the velocity p at its foot, where the surface does not allow that [m/s].

    It is along p, at most `part` times p and at most what u has along p; zero where u does not add to p.
    """
    if surface != STICKY:
        inward, breaking = u * nx + v * ny + w * nz, p * nx + q * ny + r * nz
        if surface == SEPARATE and breaking >= 0.0:
            return 0.0, 0.0, 0.0
        u, v, w, p, q, r = inward * nx, inward * ny, inward * nz, breaking * nx, breaking * ny, breaking * nz
    along, size = u * p + v * q + w * r, p * p + q * q + r * r
    if along <= 0.0:
        return 0.0, 0.0, 0.0
    share = min(along / size, part)
    return share * p, share * q, share * r


@kernel
def velocity_at_foot(nodes, feet, index):
    """The velocity of matter at a foot, relative to the obstacle [m/s]."""
    ou, ov, ow = feet.velocities[index, 0], feet.velocities[index, 1], feet.velocities[index, 2]
    u, v, w = 0.0, 0.0, 0.0
    for n in range(feet.counts[index]):
        node, weight = nodes[feet.corners[index, n]], feet.weights[index, n]
        u += weight * (node[0] - ou)
        v += weight * (node[1] - ov)
        w += weight * (node[2] - ow)
    return u, v, w


@kernel
def push_foot(nodes, feet, index, p, q, r):
    """Give the nodes around a foot their shares of an impulse [kg m/s]."""
    for n in range(feet.counts[index]):
        node, share = nodes[feet.corners[index, n]], feet.weights[index, n] / feet.masses[index, n]
        node[0] += share * p
        node[1] += share * q
        node[2] += share * r


@kernel
def share_momentum(nodes, feet, found, surface, counted):
    """Let the nodes next to the surface share their momentum with the obstacle, as if it filled them.

    By their own mass alone the lightest would move, and far. Only the velocity that contact is about to change is shared, so
    that what the nodes mirror of the matter above, which is at rest at the surface, stays.

    Args:
        nodes: (nodes, 4) velocity and mass; changed.
        feet: what `meet_feet` found, `found` of them; masses and shared are results.
        counted: (inside nodes,) the mass with which the nodes inside count [kg]; changed.
    """
    for index in range(found):
        nx, ny, nz = feet.normals[index, 0], feet.normals[index, 1], feet.normals[index, 2]
        part = math.inf
        for n in range(feet.counts[index]):
            if feet.corners[index, n] == feet.nodes[index]:
                part = 1.0 / feet.weights[index, n]
        u, v, w = velocity_at_foot(nodes, feet, index)
        node = nodes[feet.nodes[index]]
        ou, ov, ow = feet.velocities[index, 0], feet.velocities[index, 1], feet.velocities[index, 2]
        # kept here until all have been found
        feet.impulses[index, 1:4] = excess_velocity(node[0] - ou, node[1] - ov, node[2] - ow, u, v, w, nx, ny, nz, part, surface)
    for index in range(found):
        node = nodes[feet.nodes[index]]
        u, v, w = feet.impulses[index, 1], feet.impulses[index, 2], feet.impulses[index, 3]
        feet.impulses[index] = 0.0
        feet.shared[index] = 0.0
        if u == 0.0 and v == 0.0 and w == 0.0:
            counted[feet.insides[index]] = node[3]
            continue
        lost = 1.0 - node[3] / counted[feet.insides[index]]
        node[0] -= lost * u
        node[1] -= lost * v
        node[2] -= lost * w
        inward = u * feet.normals[index, 0] + v * feet.normals[index, 1] + w * feet.normals[index, 2]
        feet.shared[index] = max(0.0, -lost * inward) * node[3]
    for index in range(found):
        for n in range(feet.counts[index]):
            inside = feet.inside_corners[index, n]
            feet.masses[index, n] = counted[inside] if inside >= 0 else nodes[feet.corners[index, n], 3]


@kernel
def press_evenly(nodes, feet, found, surface):
    """Give all feet at once the normal impulses that are right where the pressure is even along the surface."""
    for index in range(found):
        mobility = 0.0
        for n in range(feet.counts[index]):
            mobility += feet.weights[index, n] * max(0.0, 1.0 - abs(feet.heights[index, n])) / feet.masses[index, n]
        u, v, w = velocity_at_foot(nodes, feet, index)
        inward = u * feet.normals[index, 0] + v * feet.normals[index, 1] + w * feet.normals[index, 2]
        impulse = -inward / mobility if mobility > 0.0 else 0.0
        feet.impulses[index, 0] = max(0.0, impulse) if surface == SEPARATE else impulse
    for index in range(found):
        impulse = feet.impulses[index, 0]
        nx, ny, nz = feet.normals[index, 0], feet.normals[index, 1], feet.normals[index, 2]
        push_foot(nodes, feet, index, impulse * nx, impulse * ny, impulse * nz)


@kernel
def collide_feet(nodes, feet, found, surface, friction):
    """Apply an obstacle to the velocity that matter has at its surface, at the foot of every node next to it.

    At a foot the velocity is v = sum w_i v_i, linear between the nodes. An impulse J there, w_i J on node i, changes it
    by J sum w_i^2 / m_i. The normal impulse brings v.n to 0; friction is at most mu times what matter felt of it, with what its
    nodes had shared before, and against the sliding. Nodes inside count as filled with the obstacle (see `share_momentum`).
    Feet share nodes: they are gone through one after another, forth and back (projected Gauss-Seidel), always in the same order.

    Args:
        nodes: (nodes, 4) velocity and mass; changed.
        feet: what `meet_feet` found, `found` of them; the impulses are changed.
    """
    for turn in range(SWEEPS * found):
        index = turn % found if turn // found % 2 == 0 else found - 1 - turn % found
        mobility, felt = 0.0, 0.0
        for n in range(feet.counts[index]):
            weight, mass = feet.weights[index, n], feet.masses[index, n]
            mobility += weight * weight / mass
            felt += weight * nodes[feet.corners[index, n], 3] / mass
        if mobility == 0.0:
            continue
        u, v, w = velocity_at_foot(nodes, feet, index)
        if surface == STICKY:
            push_foot(nodes, feet, index, -u / mobility, -v / mobility, -w / mobility)
            continue
        nx, ny, nz = feet.normals[index, 0], feet.normals[index, 1], feet.normals[index, 2]
        inward = u * nx + v * ny + w * nz
        impulse = feet.impulses[index, 0] - inward / mobility
        if surface == SEPARATE:
            impulse = max(0.0, impulse)
        change = impulse - feet.impulses[index, 0]
        feet.impulses[index, 0] = impulse
        push_foot(nodes, feet, index, change * nx, change * ny, change * nz)
        if friction > 0.0:
            p = feet.impulses[index, 1] - (u - inward * nx) / mobility
            q = feet.impulses[index, 2] - (v - inward * ny) / mobility
            r = feet.impulses[index, 3] - (w - inward * nz) / mobility
            size = math.sqrt(p * p + q * q + r * r)
            pressing = max(0.0, impulse + feet.shared[index] / felt)
            kept = min(1.0, friction * pressing / size) if size > 0.0 else 0.0
            p, q, r = kept * p, kept * q, kept * r
            push_foot(nodes, feet, index, p - feet.impulses[index, 1], q - feet.impulses[index, 2], r - feet.impulses[index, 3])
            feet.impulses[index, 1], feet.impulses[index, 2], feet.impulses[index, 3] = p, q, r


@kernel(parallel=True)
def fill_nodes(nodes, rows, distance, filling):
    """Give the nodes inside an obstacle at least the mass `filling` [kg]: to the density that particles gather it is full of matter."""
    for row in prange(rows.size):
        node = nodes[rows[row]]
        for place in range(distance.shape[1]):
            if distance[row, place] <= 0.0:
                node[NODE * place + 3] = max(node[NODE * place + 3], filling)
