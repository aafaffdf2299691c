"""Conduction of heat: particles to nodes, exchange between neighboring nodes, and the changes back to particles.

Nodes hold, summed over particles with their weights w, the capacity C = w m c [J/K], the conductance V k, V k T, and the occupied share of
space. Temperature passes between neighboring nodes through the share of their common face that material occupies, which follows from
theirs, relative to the fullest node near them on the same line; nothing passes through the free surface of a body of several cells, and
along one, and along the edge of a bar, as much as its cross section lets. Particles take up changes, not temperatures, so nothing spreads
by being transferred (as velocities with FLIP, Zhu and Bridson 2005). What nodes do not see of the particles' temperatures would stay
forever, so these relax toward the nodes' by BLEND times the step over the time in which heat crosses a cell. That conducts heat too, as
much as BLEND / 4 of the conductivity (the variance of the spline, h^2 / 4, twice, over 2 h^2), by which conduction between nodes is
reduced. Both conserve heat. Right after a sort, particles of a block touch only nodes of that block and the ones above. Blocks of one
*color*, whose coordinates have the same parities, touch no common node.
"""

import math

import numpy as np

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .blocks import BLOCK, NEIGHBORS
from .node_lookup import corner_place, neighbor_of_node
from .rows import POSITION

BLEND = 2.0
# what a node holds
CAPACITY, CONDUCTANCE, WARMTH, FULLNESS, NODE_VALUES = 0, 1, 2, 3, 4
# what particles gather: the change of temperature by conduction [K], the nodes' temperature, and the free surface per volume [1/m]
CHANGE, SEEN, EXPOSURE, GATHERED = 0, 1, 2, 3


@kernel
def spline(x, weights):
    """The lowest of three nodes along an axis, and their quadratic weights, for a position [cells]."""
    base = math.floor(x - 0.5)
    offset = x - base - 1.0
    weights[0] = 0.5 * (0.5 - offset) * (0.5 - offset)
    weights[1] = 0.75 - offset * offset
    weights[2] = 0.5 * (0.5 + offset) * (0.5 + offset)
    return base


@parallel_kernel(allocates=True)
def warm_nodes(tickets, particles, blocks, neighbors, values, nodes):
    """Add what particles hold to the nodes around them.

    Args:
        particles: see `Particles`, right after a sort.
        blocks: (n,) blocks of one color.
        neighbors: (blocks, 27 or 9) node blocks around each, without twins.
        values: (slots, 4) what each particle adds: m c, V k, V k T, and V over the volume of a cell.
        nodes: (node blocks + 1, block nodes, NODE_VALUES) sums.
    """
    table, _, (first, _, instance_count) = particles
    is_plane = neighbors.shape[1] != NEIGHBORS
    wx, wy, wz = np.empty(3), np.ones(3), np.empty(3)
    for index in shared(tickets[0], blocks.size, 4):
        block = blocks[index]
        around = neighbors[block]
        for slot in range(first[block * instance_count], first[(block + 1) * instance_count]):
            if values[slot, 3] > 0.0:
                x, z = spline(table[POSITION, slot], wx), spline(table[POSITION + 2, slot], wz)
                y = 0 if is_plane else spline(table[POSITION + 1, slot], wy)
                for i in range(3):
                    for j in range(1 if is_plane else 3):
                        for k in range(3):
                            node = nodes[neighbor_of_node(x + i, y + j, z + k, around), corner_place(x + i, y + j, z + k, around)]
                            weight = wx[i] * wy[j] * wz[k]
                            node[0] += weight * values[slot, 0]
                            node[1] += weight * values[slot, 1]
                            node[2] += weight * values[slot, 2]
                            node[3] += weight * values[slot, 3]


@kernel
def neighbor_at(nodes, around, x, y, z):
    """Conductance, warmth and fullness of the node at coordinates relative to a node block; 0 where there is none."""
    number = neighbor_of_node(x, y, z, around)
    node = nodes[number if number >= 0 else nodes.shape[0] - 1, corner_place(x, y, z, around)]
    return node[CONDUCTANCE], node[WARMTH], node[FULLNESS]


@kernel
def passed_between(mine, theirs, beyond, scale):
    """The heat that comes to a node from another in a step [J], exactly opposite for both.

    Args:
        mine, theirs: what `neighbor_at` returns of them.
        beyond: the fullness of the next node on the same line, on either side.
        scale: see `conduct`.
    """
    conductance, warmth, fullness = mine
    other_conductance, other_warmth, other_fullness = theirs
    if conductance <= 0.0 or other_conductance <= 0.0:
        return 0.0
    across = min(1.0, max(fullness, other_fullness, beyond[0], beyond[1]))
    face = min(across, max(0.0, fullness + other_fullness - 0.5 * across))
    face = min(face, 2.0 * min(fullness, other_fullness))
    own, other = conductance / fullness, other_conductance / other_fullness
    return scale * face * (2.0 * (own * other) / (own + other)) * (other_warmth / other_conductance - warmth / conductance)


@parallel_kernel
def conduct(tickets, nodes, neighbors, scale, spacing, changes):
    """Pass heat between neighboring nodes for a step.

    Args:
        nodes: (node blocks + 1, block nodes, NODE_VALUES); the last block is empty.
        neighbors: (node blocks, 27 or 9) the node blocks around each, -1 for none.
        scale: dt (1 - BLEND / 4) / h^2: V k of a full cell times it, times a difference of temperatures, is the heat that passes.
        spacing: cell size [m].
        changes: (node blocks + 1, block nodes, GATHERED) result; the last block is not written.
    """
    is_plane = neighbors.shape[1] != NEIGHBORS
    for number in shared(tickets[0], neighbors.shape[0], 8):
        around = neighbors[number]
        for place in range(nodes.shape[1]):
            node, change = nodes[number, place], changes[number, place]
            change[CHANGE] = change[SEEN] = change[EXPOSURE] = 0.0
            if node[CAPACITY] <= 0.0:
                continue
            x, z = place // BLOCK if is_plane else place // (BLOCK * BLOCK), place % BLOCK
            y = 0 if is_plane else place // BLOCK % BLOCK
            mine = node[CONDUCTANCE], node[WARMTH], node[FULLNESS]
            heat, steepness = 0.0, 0.0
            for axis in range(3):
                if axis != 1 or not is_plane:
                    dx, dy, dz = axis == 0, axis == 1, axis == 2
                    above = neighbor_at(nodes, around, x + dx, y + dy, z + dz)
                    below = neighbor_at(nodes, around, x - dx, y - dy, z - dz)
                    _, _, far_above = neighbor_at(nodes, around, x + 2 * dx, y + 2 * dy, z + 2 * dz)
                    _, _, far_below = neighbor_at(nodes, around, x - 2 * dx, y - 2 * dy, z - 2 * dz)
                    heat += passed_between(mine, above, (below[2], far_above), scale)
                    heat += passed_between(mine, below, (above[2], far_below), scale)
                    slope = 0.5 * (above[2] - below[2])
                    steepness += slope * slope
            change[CHANGE] = heat / node[CAPACITY]
            if node[CONDUCTANCE] > 0.0:
                change[SEEN] = node[WARMTH] / node[CONDUCTANCE]
            # 2 (1 - fullness) has the mean 1 across a surface, and hides the noise inside
            free = max(0.0, 2.0 * (1.0 - node[FULLNESS]))
            change[EXPOSURE] = free * math.sqrt(steepness) / (node[FULLNESS] * spacing)


@parallel_kernel(allocates=True)
def gather_heat(tickets, particles, blocks, neighbors, values, changes, gathered):
    """Gather the changes at the nodes.

    Args:
        particles, blocks, neighbors, values: see `warm_nodes`; all blocks at once are possible, too.
        changes: see `conduct`.
        gathered: (slots, GATHERED) result, 0 for massless copies.
    """
    table, _, (first, _, instance_count) = particles
    is_plane = neighbors.shape[1] != NEIGHBORS
    wx, wy, wz = np.empty(3), np.ones(3), np.empty(3)
    for index in shared(tickets[0], blocks.size, 4):
        block = blocks[index]
        around = neighbors[block]
        for slot in range(first[block * instance_count], first[(block + 1) * instance_count]):
            change, seen, exposure = 0.0, 0.0, 0.0
            if values[slot, 3] > 0.0:
                x, z = spline(table[POSITION, slot], wx), spline(table[POSITION + 2, slot], wz)
                y = 0 if is_plane else spline(table[POSITION + 1, slot], wy)
                for i in range(3):
                    for j in range(1 if is_plane else 3):
                        for k in range(3):
                            node = changes[neighbor_of_node(x + i, y + j, z + k, around), corner_place(x + i, y + j, z + k, around)]
                            weight = wx[i] * wy[j] * wz[k]
                            change += weight * node[CHANGE]
                            seen += weight * node[SEEN]
                            exposure += weight * node[EXPOSURE]
            gathered[slot, CHANGE], gathered[slot, SEEN], gathered[slot, EXPOSURE] = change, seen, exposure
