"""Deep nodes: the nodes inside colliders without a neighbor outside, and those held at thin walls. They move with the collider."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import NODE
from ..transfer.node_lookup import node_of_place
from .feet import SEPARATE, SLIP, STICKY
from .surface import collider_velocity
from .thin_walls import HELD, STUCK


class DeepNodes(NamedTuple):
    """The deep nodes, n of them in runs, with all that contact needs side by side in memory.

    Attributes:
        first: the first of each run, shape (runs + 1,).
        nodes, rows: the nodes in both numberings (see `surface`), shape (n,).
        held: HELD where they move with the collider along the normal, STUCK in all directions, else 0; see `thin_walls`, shape (n,).
        is_fluid: whether only fluids move the node, shape (n,).
        is_lone: whether no foot or other deep node shares the node, shape (n,); see `lone_feet`.
        filling: the mass with which the collider fills the node, at least [kg], shape (n,).
        normals: unit, outward, shape (n, 3).
        velocities: of the collider [m/s], shape (n, 3).
    """

    first: NDArray[np.int64]
    nodes: NDArray[np.int64]
    rows: NDArray[np.int64]
    held: NDArray[np.uint8]
    is_fluid: NDArray[np.bool_]
    is_lone: NDArray[np.bool_]
    filling: NDArray[np.float64]
    normals: NDArray[np.float64]
    velocities: NDArray[np.float64]


def allocate_deep_nodes(first: NDArray[np.int64]) -> DeepNodes:
    """Arrays for the nodes in runs that begin at `first`, (runs + 1,)."""
    count = int(first[-1])
    nodes, rows = np.zeros((2, count), np.int64)
    is_fluid, is_lone = np.zeros((2, count), np.bool_)
    normals, velocities = np.zeros((2, count, 3))
    return DeepNodes(first, nodes, rows, np.zeros(count, np.uint8), is_fluid, is_lone, np.zeros(count), normals, velocities)


@parallel_kernel
def place_deep_nodes(tickets, nodes, held, level_sets, deep):
    """Collect the properties of the deep nodes.

    Args:
        nodes: (n,) numbered through the rows.
        held: (rows, block nodes) how nodes are held; see `turn_nodes`.
        level_sets: see `LevelSets`.
        deep: see `DeepNodes`; all but `first` are results.
    """
    block_nodes = held.shape[1]
    for index in shared(tickets[0], nodes.size, 256):
        row, place = nodes[index] // block_nodes, nodes[index] % block_nodes
        block = level_sets.blocks[row]
        deep.nodes[index], deep.rows[index] = block * block_nodes + place, nodes[index]
        deep.held[index], deep.is_fluid[index] = held[row, place], level_sets.is_fluid[block]
        deep.filling[index] = level_sets.filling[block]
        for axis in range(3):
            deep.normals[index, axis] = level_sets.normal[row, place, axis]
        move_deep_node(index, level_sets, deep)


@generic
def move_deep_node(index, level_sets, deep):
    """Update the velocity of the collider at a deep node."""
    block_nodes = level_sets.distance.shape[1]
    row, place = deep.rows[index] // block_nodes, deep.rows[index] % block_nodes
    ix, iy, iz = node_of_place(place, block_nodes)
    u, v, w = collider_velocity(level_sets, row, place, ix, iy, iz)
    deep.velocities[index, 0], deep.velocities[index, 1], deep.velocities[index, 2] = u, v, w


@kernel
def move_deep_nodes(level_sets, deep):
    """Update the velocity of the collider at its deep nodes, which stay in place; level_sets: of one collider, see `LevelSets`."""
    for index in range(deep.nodes.size):
        move_deep_node(index, level_sets, deep)


@kernel
def contact_velocity(u, v, w, nx, ny, nz, surface, friction):
    """The velocity relative to the collider after contact (Stomakhin et al. 2013, section 8).

    The normal at the start of the substep is used, also on curved surfaces: a particle rises or sinks relative to the surface by an amount
    of second order in the substep, which `collide_particles` corrects.

    Args:
        u, v, w: velocity relative to the collider [m/s].
        nx, ny, nz: unit normal, outward.
        surface: STICKY, SLIP or SEPARATE.
        friction: Coulomb coefficient; only a change of the normal velocity by compression causes friction.
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


@generic
def collide_deep_node(nodes, deep, index, surface, friction, counted):
    """Apply a collider to the velocity of a deep node; see `apply_initial_impulses`. friction: on solids and on fluids."""
    at = NODE * deep.nodes[index]
    mass = nodes[at + 3]
    if mass == 0.0:
        return
    counted[deep.rows[index]] = max(mass, deep.filling[index])
    # fluid could leave a wall of two or three cells on its far side, because separation is allowed there
    far_surface = SLIP if surface == SEPARATE and deep.filling[index] > 0.0 else surface
    ou, ov, ow = deep.velocities[index]
    nx, ny, nz = deep.normals[index]
    held = deep.held[index]
    kind = STICKY if surface == STICKY or held == STUCK else SLIP if held == HELD else far_surface
    its = friction[1] if deep.is_fluid[index] else friction[0]
    u, v, w = contact_velocity(nodes[at] - ou, nodes[at + 1] - ov, nodes[at + 2] - ow, nx, ny, nz, kind, its)
    nodes[at], nodes[at + 1], nodes[at + 2] = u + ou, v + ov, w + ow


@kernel
def collide_deep_nodes(nodes, deep, run, surface, friction, counted):
    """Apply a collider to the deep nodes of a run, without the lone ones."""
    for index in range(deep.first[run], deep.first[run + 1]):
        if not deep.is_lone[index]:
            collide_deep_node(nodes, deep, index, surface, friction, counted)
