"""Where the surfaces of colliders lie among the nodes: found at each sort of the particles for fixed colliders, else in each substep.

A row is a pair of a collider and a node block near it (see `LevelSets`). Nodes are numbered in two ways: through all node blocks, and
through all rows. Each node inside a collider that has a neighbor outside has a foot, its nearest point on the surface. The other nodes
inside are deep.

Functions of one node or foot that take whole tuples are inlined (`generic`): passing these would cost more than the work.

Feet are stored in the order in which they are solved (see `feet`), in runs: by color, slab, collider and row. A slab is all feet in the
node blocks with one coordinate along an axis. Slabs of one color share no node.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import BLOCK, NEIGHBORS
from ..transfer.node_lookup import corner_place, neighbor_of_node, node_of_place

OUTSIDE, AT_SURFACE, DEEP = 0, 1, 2
# how many nodes beyond its own block a foot may touch: slabs of one color are one block apart
REACH = BLOCK // 2


class LevelSets(NamedTuple):
    """The signed distances of colliders at the nodes around the particles, and how their surfaces move.

    Attributes:
        owners: the collider of each row, shape (rows,).
        blocks: the node block of each row, shape (rows,); -1 if it does not exist now.
        row_of_block: the row of each pair, shape (colliders, node blocks + 1); -1 where the collider is not near.
        coordinates: of the node blocks [blocks], shape (node blocks, 3).
        distance: [m], positive outside, shape (rows, block nodes).
        normal: unit, outward, shape (rows, block nodes, 3).
        velocity: of deforming colliders at the nearest point [m/s], shape (rows, block nodes, 3); without rows for rigid ones.
        motions: of rigid colliders, shape (colliders, 9): velocity of the origin [m/s], angular velocity [rad/s], origin [m].
        spacing: of the grid [m].
    """

    owners: NDArray[np.int64]
    blocks: NDArray[np.int64]
    row_of_block: NDArray[np.int64]
    coordinates: NDArray[np.int64]
    distance: NDArray[np.float64]
    normal: NDArray[np.float64]
    velocity: NDArray[np.float64]
    motions: NDArray[np.float64]
    spacing: float


class Feet(NamedTuple):
    """The feet of colliders, n of them in runs (slab, collider); arrays may be longer. Those marked * change in every substep.

    Arrays with four numbers per foot (x, y, z, 0) and those with a number per corner have the precision of the nodes.

    Attributes:
        first: the first foot of each run, shape (runs + 1,).
        active_end: * the end of each run's used part of `active`, shape (runs,).
        active: * the feet with material, those of a run from its first place on, shape (n,).
        nodes, rows: the node of each foot, in both numberings, shape (n,).
        own: the place of this node among the corners, shape (n,); -1 if it is none of them.
        counts: how many corners, the nodes around the foot, shape (n,).
        corners, row_corners: these in both numberings, shape (n, 8); -1 in rows where a corner is outside.
        linear: their linear weights, shape (n, 8).
        even: these times the share of an even pressure that each corner takes, shape (n, 8).
        above_counts, above: nodes outside around the point one cell above, shapes (n,) and (n, 8).
        normals: unit, outward, shape (4 n,).
        velocities: of the collider [m/s], shape (4 n,).
        weights: * linear weights of the corners with mass, shape (n, 8).
        shares: * these over the effective masses [1/kg], shape (n, 8).
        offsets: * minus the collider's velocity times the sum of the weights [m/s], shape (4 n,).
        ease: * the impulse that changes the velocity by one [kg], shape (n,); 0 if there is none.
        pressing: * what the node has shared of its momentum toward the collider [kg m/s], shape (n,).
        normal_impulses, friction_impulses: * [kg m/s], shapes (n,) and (4 n,).
        counted: * the effective mass of nodes inside [kg], shape (row nodes,).
    """

    first: NDArray[np.int64]
    active_end: NDArray[np.int64]
    active: NDArray[np.int32]
    nodes: NDArray[np.int32]
    rows: NDArray[np.int32]
    own: NDArray[np.int32]
    counts: NDArray[np.int32]
    corners: NDArray[np.int32]
    row_corners: NDArray[np.int32]
    linear: NDArray[np.floating]
    even: NDArray[np.floating]
    above_counts: NDArray[np.int32]
    above: NDArray[np.int32]
    normals: NDArray[np.floating]
    velocities: NDArray[np.floating]
    weights: NDArray[np.floating]
    shares: NDArray[np.floating]
    offsets: NDArray[np.floating]
    ease: NDArray[np.float64]
    pressing: NDArray[np.float64]
    normal_impulses: NDArray[np.float64]
    friction_impulses: NDArray[np.floating]
    counted: NDArray[np.float64]


class DeepNodes(NamedTuple):
    """The deep nodes, n of them in runs.

    Attributes:
        first: the first of each run, shape (runs + 1,).
        nodes, rows: the nodes in both numberings, shape (n,).
        is_stuck: whether they move with the collider in all directions, shape (n,).
    """

    first: NDArray[np.int64]
    nodes: NDArray[np.int64]
    rows: NDArray[np.int64]
    is_stuck: NDArray[np.bool_]


def room_for_feet(count: int, runs: int, row_nodes: int, dtype: type[np.floating] | np.dtype[np.floating], old: Feet | None = None) -> Feet:
    """Arrays for so many feet, runs and nodes in rows: the old ones if they are large enough."""
    is_large = old is not None and old.counts.size >= count and old.active_end.size >= runs and old.counted.size >= row_nodes
    if old is not None and is_large and old.weights.dtype == dtype:
        return old
    # moving colliders need a few more now and then
    count, runs, row_nodes = count + count // 4, runs + runs // 4, row_nodes + row_nodes // 4
    places, vectors, corners = (count,), (4 * count,), (count, 8)
    arrays: dict[str, NDArray[Any]] = {
        "first": np.zeros(runs + 1, np.int64),
        "active_end": np.zeros(runs, np.int64),
        "counted": np.zeros(row_nodes),
        **{name: np.zeros(places, np.int32) for name in ("active", "nodes", "rows", "own", "counts", "above_counts")},
        **{name: np.zeros(corners, np.int32) for name in ("corners", "row_corners", "above")},
        **{name: np.zeros(corners, dtype) for name in ("linear", "even", "weights", "shares")},
        **{name: np.zeros(vectors, dtype) for name in ("normals", "velocities", "offsets", "friction_impulses")},
        **{name: np.zeros(places) for name in ("ease", "pressing", "normal_impulses")},
    }
    return Feet(**arrays)


@kernel
def is_at_surface(ix, iy, iz, neighbors, row_of_block, distance):
    """Whether a node inside, given by its place in its block, has a neighbor outside."""
    for step in (-1, 1):
        for axis in range(3):
            if axis == 1 and neighbors.size != NEIGHBORS:
                continue
            jx, jy, jz = ix + step * (axis == 0), iy + step * (axis == 1), iz + step * (axis == 2)
            block = neighbor_of_node(jx, jy, jz, neighbors)
            row = row_of_block[block] if block >= 0 else -1
            if row < 0 or distance[row, corner_place(jx, jy, jz, neighbors)] > 0.0:
                return True
    return False


@parallel_kernel
def find_surface(tickets, level_sets, neighbors, reached, places, holds_inside):
    """Find the nodes inside colliders that can have mass, and those of them that have a neighbor outside.

    Args:
        level_sets: see `LevelSets`.
        neighbors: (node blocks, 27 or 9) node blocks around those of the rows, -1 where there is none.
        reached: (node blocks + 1,) see `reach.mark_reached`.
        places: (rows, block nodes) result: OUTSIDE, AT_SURFACE or DEEP.
        holds_inside: (colliders, node blocks + 1) result: whether a node of the block is inside, not on the surface; false before.
    """
    distance = level_sets.distance
    for row in shared(tickets[0], level_sets.owners.size, 16):
        block, owner = level_sets.blocks[row], level_sets.owners[row]
        for place in range(distance.shape[1]):
            places[row, place] = OUTSIDE
            if block < 0 or distance[row, place] > 0.0:
                continue
            if distance[row, place] < 0.0:
                holds_inside[owner, block] = True
            if reached[block] >> place & 1 == 0:
                continue
            ix, iy, iz = node_of_place(place, distance.shape[1])
            is_next = is_at_surface(ix, iy, iz, neighbors[block], level_sets.row_of_block[owner], distance)
            places[row, place] = AT_SURFACE if is_next else DEEP


@kernel
def order_nodes(nodes, owners, slabs, collider_count, block_nodes, order, first):
    """Sort nodes into runs.

    Args:
        nodes: (n,) numbered through the rows, ascending.
        owners, slabs: (rows,) the collider of each row, and the place of its slab.
        order: (n,) result: the nodes in order.
        first: (slabs * colliders + 1,) result: where each run begins.
    """
    first[:] = 0
    for index in range(nodes.size):
        row = nodes[index] // block_nodes
        first[slabs[row] * collider_count + owners[row]] += 1
    total = 0
    for run in range(first.size):
        count = first[run]
        first[run] = total
        total += count
    cursor = first.copy()
    for index in range(nodes.size):
        row = nodes[index] // block_nodes
        run = slabs[row] * collider_count + owners[row]
        order[cursor[run]] = nodes[index]
        cursor[run] += 1


@kernel
def rigid_velocity(block, ix, iy, iz, motion, spacing):
    """The velocity [m/s] of a rigid collider at a point, in cells from the origin of a block with coordinates (3,)."""
    x = (BLOCK * block[0] + ix) * spacing - motion[6]
    y = (BLOCK * block[1] + iy) * spacing - motion[7]
    z = (BLOCK * block[2] + iz) * spacing - motion[8]
    return (
        motion[0] + motion[4] * z - motion[5] * y,
        motion[1] + motion[5] * x - motion[3] * z,
        motion[2] + motion[3] * y - motion[4] * x,
    )


@generic
def collider_velocity(level_sets, row, place, x, y, z):
    """The velocity [m/s] of the collider of a row: at the surface nearest to a node if it deforms, else at a point.

    Args:
        place: of the node in its block.
        x, y, z: the point, from the block's origin [cells].
    """
    velocity = level_sets.velocity
    if velocity.shape[0] > 0:
        return velocity[row, place, 0], velocity[row, place, 1], velocity[row, place, 2]
    block, motion = level_sets.coordinates[level_sets.blocks[row]], level_sets.motions[level_sets.owners[row]]
    return rigid_velocity(block, x, y, z, motion, level_sets.spacing)


@generic
def place_foot(foot, node, level_sets, neighbors, feet):
    """Find the foot of a node, numbered through the rows, and the nodes around it; see `place_feet`."""
    distance, normal = level_sets.distance, level_sets.normal
    block_nodes = distance.shape[1]
    row, place = node // block_nodes, node % block_nodes
    number = level_sets.blocks[row]
    around, rows = neighbors[number], level_sets.row_of_block[level_sets.owners[row]]
    nx, ny, nz = normal[row, place, 0], normal[row, place, 1], normal[row, place, 2]
    depth = -distance[row, place] / level_sets.spacing
    ix, iy, iz = node_of_place(place, block_nodes)
    x, y, z = ix + depth * nx, iy + depth * ny, iz + depth * nz
    u, v, w = collider_velocity(level_sets, row, place, x, y, z)
    feet.normals[4 * foot], feet.normals[4 * foot + 1], feet.normals[4 * foot + 2] = nx, ny, nz
    feet.velocities[4 * foot], feet.velocities[4 * foot + 1], feet.velocities[4 * foot + 2] = u, v, w
    feet.nodes[foot] = number * block_nodes + place
    feet.rows[foot] = node
    feet.own[foot] = -1
    count, above = 0, 0
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    for corner in range(8):
        jx, jy, jz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
        share = (1.0 - abs(x - jx)) * (1.0 - abs(y - jy)) * (1.0 - abs(z - jz))
        is_within = share > 0.0 and min(jx, jy, jz) >= -REACH and max(jx, jy, jz) < BLOCK + REACH
        block = neighbor_of_node(jx, jy, jz, around) if is_within else -1
        if block < 0:
            continue
        at = corner_place(jx, jy, jz, around)
        other = rows[block]
        is_inside = other >= 0 and distance[other, at] <= 0.0
        if jx == ix and jy == iy and jz == iz:
            feet.own[foot] = count
        height = (jx - x) * nx + (jy - y) * ny + (jz - z) * nz
        feet.corners[foot, count] = block * block_nodes + at
        feet.row_corners[foot, count] = other * block_nodes + at if is_inside else -1
        feet.linear[foot, count] = share
        feet.even[foot, count] = share * max(0.0, 1.0 - abs(height))
        count += 1
    x, y, z = x + nx, y + ny, z + nz
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    for corner in range(8):
        jx, jy, jz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
        is_within = abs(x - jx) < 1.0 and abs(y - jy) < 1.0 and abs(z - jz) < 1.0
        is_within = is_within and min(jx, jy, jz) >= -BLOCK and max(jx, jy, jz) < 2 * BLOCK
        block = neighbor_of_node(jx, jy, jz, around) if is_within else -1
        if block < 0:
            continue
        at = corner_place(jx, jy, jz, around)
        if rows[block] < 0 or distance[rows[block], at] > 0.0:
            feet.above[foot, above] = block * block_nodes + at
            above += 1
    feet.counts[foot] = count
    feet.above_counts[foot] = above


@parallel_kernel
def place_feet(tickets, order, level_sets, neighbors, feet):
    """Find where the feet are, and the nodes around them.

    Args:
        order: (n,) the nodes of the feet, numbered through the rows.
        level_sets, neighbors: see `find_surface`.
        feet: see `Feet`; all that does not change in every substep is a result.
    """
    for foot in shared(tickets[0], order.size, 64):
        place_foot(foot, order[foot], level_sets, neighbors, feet)
