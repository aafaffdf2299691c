"""Sums for the exchange of momentum between rigid bodies and material: over nodes and particles, in float64 and a fixed order.

These cover only the surface of a body, too little work for threads to pay off.
"""

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from ..transfer.blocks import BLOCK, NODE
from ..transfer.node_lookup import node_of_place
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import MASS, POSITION, VELOCITY
from .surface import collider_velocity


@kernel
def add_cross(sums, at, scale, x, y, z, u, v, w):
    """Add `scale` times (x, y, z) x (u, v, w)."""
    sums[at] += scale * (y * w - z * v)
    sums[at + 1] += scale * (z * u - x * w)
    sums[at + 2] += scale * (x * v - y * u)


@kernel
def sum_block_momentum(node, coordinates, spacing, origin, sums):
    """The contribution of one block to `sum_momenta`."""
    sums[:] = 0.0
    block_nodes = node.size // NODE
    for place in range(block_nodes):
        at = NODE * place
        mass = 1.0 * node[at + 3]
        if mass == 0.0:
            continue
        ix, iy, iz = node_of_place(place, block_nodes)
        x = (BLOCK * coordinates[0] + ix) * spacing - origin[0]
        y = (BLOCK * coordinates[1] + iy) * spacing - origin[1]
        z = (BLOCK * coordinates[2] + iz) * spacing - origin[2]
        u, v, w = 1.0 * node[at], 1.0 * node[at + 1], 1.0 * node[at + 2]
        sums[0] += mass * u
        sums[1] += mass * v
        sums[2] += mass * w
        add_cross(sums, 3, mass, x, y, z, u, v, w)


@kernel
def sum_momenta(nodes, blocks, node_blocks, spacing, origin, sums):
    """Sum m v [kg m/s] and m x × v [kg m^2/s] over the nodes of blocks.

    Args:
        nodes: (node blocks, 4 * block nodes) velocity and mass.
        blocks: (k,) the blocks; node_blocks: (node blocks, 3) their coordinates.
        origin: (3,) the point that x is relative to [m].
        sums: (k, 6) results, a row per block.
    """
    for index in range(blocks.size):
        block = blocks[index]
        sum_block_momentum(nodes[block], node_blocks[block], spacing, origin, sums[index])


@kernel
def sum_block_inertia(row, node, level_sets, origin, sums):
    """The contribution of one row to `sum_inertia`."""
    sums[:] = 0.0
    coordinates, spacing = level_sets.coordinates[level_sets.blocks[row]], level_sets.spacing
    block_nodes = level_sets.distance.shape[1]
    for place in range(block_nodes):
        mass = 1.0 * node[NODE * place + 3]
        if mass == 0.0 or level_sets.distance[row, place] > spacing:
            continue
        ix, iy, iz = node_of_place(place, block_nodes)
        x = (BLOCK * coordinates[0] + ix) * spacing - origin[0]
        y = (BLOCK * coordinates[1] + iy) * spacing - origin[1]
        z = (BLOCK * coordinates[2] + iz) * spacing - origin[2]
        sums[0] += mass
        sums[1] += mass * x
        sums[2] += mass * y
        sums[3] += mass * z
        sums[4] += mass * x * x
        sums[5] += mass * y * y
        sums[6] += mass * z * z
        sums[7] += mass * x * y
        sums[8] += mass * y * z
        sums[9] += mass * z * x


@kernel
def sum_inertia(nodes, level_sets, origin, sums):
    """Sum the mass of the nodes inside a collider or within a cell of it, and its first and second moments.

    Args:
        nodes: (node blocks, 4 * block nodes) velocity and mass.
        level_sets: of one collider, see `LevelSets`.
        origin: (3,) the point that x is relative to [m].
        sums: (rows, 10) results: m, m x, m y, m z, m x^2, m y^2, m z^2, m x y, m y z, m z x.
    """
    for row in range(level_sets.blocks.size):
        block = level_sets.blocks[row]
        if block >= 0:
            sum_block_inertia(row, nodes[block], level_sets, origin, sums[row])
        else:
            sums[row] = 0.0


@generic
def move_foot(foot, level_sets, feet):
    """Update the velocity of the collider at a foot."""
    block_nodes = level_sets.distance.shape[1]
    row, place = feet.rows[foot] // block_nodes, feet.rows[foot] % block_nodes
    x, y, z = 1.0 * feet.places[4 * foot], 1.0 * feet.places[4 * foot + 1], 1.0 * feet.places[4 * foot + 2]
    u, v, w = collider_velocity(level_sets, row, place, x, y, z)
    feet.velocities[4 * foot], feet.velocities[4 * foot + 1], feet.velocities[4 * foot + 2] = u, v, w


@kernel
def move_feet(count, level_sets, feet):
    """Update the velocity of the collider at its feet, which stay in place.

    Args:
        count: the number of feet.
        level_sets: of one collider, see `LevelSets`.
        feet: see `Feet`; the velocities are results.
    """
    for foot in range(count):
        move_foot(foot, level_sets, feet)


@kernel
def sum_block_moment(particles, begin, end, coordinates, spacing, origin, sums):
    """The contribution of one block to `sum_moments`."""
    sums[:] = 0.0
    for slot in range(begin, end):
        mass = 1.0 * particles[MASS, slot]
        x = (BLOCK * coordinates[0] + particles[POSITION, slot]) * spacing - origin[0]
        y = (BLOCK * coordinates[1] + particles[POSITION + 1, slot]) * spacing - origin[1]
        z = (BLOCK * coordinates[2] + particles[POSITION + 2, slot]) * spacing - origin[2]
        u, v, w = 1.0 * particles[VELOCITY, slot], 1.0 * particles[VELOCITY + 1, slot], 1.0 * particles[VELOCITY + 2, slot]
        sums[0] += mass * x
        sums[1] += mass * y
        sums[2] += mass * z
        add_cross(sums, 3, mass, x, y, z, u, v, w)


@kernel
def sum_moments(particles, first, instance_count, blocks, coordinates, spacing, origin, sums):
    """Sum m x [kg m] and m x × v [kg m^2/s] over the particles of blocks.

    Args:
        particles: (rows, slots); first: first slot of each run.
        blocks: (k,) particle blocks; coordinates: (blocks, 3) of all.
        origin: (3,) the point that x is relative to [m].
        sums: (k, 6) results, a row per block.
    """
    for index in range(blocks.size):
        block = blocks[index]
        begin, end = first[block * instance_count], first[(block + 1) * instance_count]
        sum_block_moment(particles, begin, end, coordinates[block], spacing, origin, sums[index])


def moments_of(store: ParticleStore, blocks: NDArray[np.int64], spacing: float, origin: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of `sum_moments` over blocks of a store, (6,)."""
    sums, layout = np.empty((len(blocks), 6)), store.layout
    sum_moments(store.table, layout.first, store.instance_count, blocks, layout.coordinates, spacing, origin, sums)
    return sums.sum(axis=0)
