"""Where the surfaces of obstacles lie among the nodes: found once for fixed obstacles when the particles are sorted.

A row is a pair of an obstacle and a node block near it (see `core.obstacle`). Nodes are numbered through all blocks, nodes in rows
through all rows. Every node inside next to one outside has a foot, its nearest point on the surface; nodes farther inside are deep.

The feet are kept in the order in which they are gone through (see `feet`), in runs: by colour, slab, obstacle and row. A slab is all
feet in the node blocks with one coordinate along an axis. Slabs of one colour touch no node together.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import BLOCK, NEIGHBOURS
from ..transfer.node_lookup import corner_place, neighbour_of_node, node_of_place

OUTSIDE, AT_SURFACE, DEEP = 0, 1, 2
# so many nodes beyond its own block may a foot touch: slabs of one colour lie one block apart
REACH = BLOCK // 2


class Feet(NamedTuple):
    """The feet of obstacles, n of them in runs (slab, obstacle); arrays may be longer. What is marked * changes in every step.

    Lists of four numbers each (x, y, z, 0) and the numbers by corner are of the nodes' type.

    Attributes:
        first: (runs + 1,) the first foot of each run; active_end: (runs,)* the end of the part of `active` in use.
        active: (n,)* the feet with matter, those of a run from its first place on.
        nodes, rows: (n,) the node that each foot belongs to, in both countings; own: (n,) its number among the corners, -1 for none.
        counts: (n,) nodes around; corners, row_corners: (n, 8) these in both countings, -1 in rows where they lie outside.
        linear: (n, 8) linear weights; even: (n, 8) times the part of an even pressure that each node takes.
        above_counts, above: (n,), (n, 8) nodes outside around the point one cell above.
        normals, velocities: (4 n,) of the obstacle [m/s].
        weights: (n, 8)* linear weights of nodes with matter; shares: (n, 8)* these over the masses that count [1/kg].
        offsets: (4 n,)* - velocity of the obstacle times the sum of the weights [m/s].
        ease: (n,)* the impulse that changes the velocity by one [kg], 0 for none.
        pressing: (n,)* what the node shared of its momentum towards the obstacle [kg m/s].
        normal_impulses: (n,)*; friction_impulses: (4 n,)* [kg m/s].
        counted: (row nodes,)* the mass with which nodes inside count [kg].
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


class Deep(NamedTuple):
    """The deep nodes in runs: first: (runs + 1,) the first of each run; nodes, rows: (n,) in both countings."""

    first: NDArray[np.int64]
    nodes: NDArray[np.int64]
    rows: NDArray[np.int64]


def room_for_feet(count: int, runs: int, row_nodes: int, dtype: type[np.floating] | np.dtype[np.floating], old: Feet | None = None) -> Feet:
    """Arrays for so many feet, runs and nodes in rows: the old ones where they are large enough."""
    is_large = old is not None and old.counts.size >= count and old.active_end.size >= runs and old.counted.size >= row_nodes
    if old is not None and is_large and old.weights.dtype == dtype:
        return old
    # moving obstacles need a little more now and then
    count, runs, row_nodes = count + count // 4, runs + runs // 4, row_nodes + row_nodes // 4

    def whole(*shape: int) -> NDArray[np.int32]:
        return np.zeros(shape, np.int32)

    def real(*shape: int) -> NDArray[np.floating]:
        return np.zeros(shape, dtype)

    return Feet(
        np.zeros(runs + 1, np.int64), np.zeros(runs, np.int64), whole(count), whole(count), whole(count), whole(count), whole(count),
        whole(count, 8), whole(count, 8), real(count, 8), real(count, 8), whole(count), whole(count, 8), real(4 * count),
        real(4 * count), real(count, 8), real(count, 8), real(4 * count), np.zeros(count), np.zeros(count), np.zeros(count),
        real(4 * count), np.zeros(row_nodes),
    )  # fmt: skip


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


@parallel_kernel
def find_surface(tickets, owners, blocks, row_of_block, neighbours, reached, distance, places, holds_inside):
    """Find the nodes inside that can have mass, and those of them that lie next to one outside.

    Args:
        owners, blocks: (rows,) obstacle and node block of each row, block -1 where it does not exist now.
        row_of_block: (obstacles, node blocks + 1) the row of each pair, -1 where it is not near.
        neighbours: (node blocks, 27 or 9) node blocks around those of the rows, -1 where there is none.
        reached: (node blocks + 1,) see `reach.mark_reached`.
        distance: (rows, block nodes) [m].
        places: (rows, block nodes) result: OUTSIDE, AT_SURFACE or DEEP.
        holds_inside: (obstacles, node blocks + 1) result: whether a node of the block is inside by more than nothing; false before.
    """
    for row in shared(tickets[0], owners.size, 16):
        block, owner = blocks[row], owners[row]
        for place in range(distance.shape[1]):
            places[row, place] = OUTSIDE
            if block < 0 or distance[row, place] > 0.0:
                continue
            if distance[row, place] < 0.0:
                holds_inside[owner, block] = True
            if reached[block] >> place & 1 == 0:
                continue
            ix, iy, iz = node_of_place(place, distance.shape[1])
            is_next = is_at_surface(ix, iy, iz, neighbours[block], row_of_block[owner], distance)
            places[row, place] = AT_SURFACE if is_next else DEEP


@kernel
def order_nodes(nodes, owners, slabs, obstacle_count, block_nodes, order, first):
    """Bring nodes in rows into runs.

    Args:
        nodes: (n,) in rows, ascending.
        owners, slabs: (rows,) obstacle and place of the slab of each row.
        order: (n,) result: the nodes in order; first: (slabs * obstacles + 1,) result: where each run begins.
    """
    first[:] = 0
    for index in range(nodes.size):
        row = nodes[index] // block_nodes
        first[slabs[row] * obstacle_count + owners[row]] += 1
    total = 0
    for run in range(first.size):
        count = first[run]
        first[run] = total
        total += count
    cursor = first.copy()
    for index in range(nodes.size):
        row = nodes[index] // block_nodes
        run = slabs[row] * obstacle_count + owners[row]
        order[cursor[run]] = nodes[index]
        cursor[run] += 1


@kernel
def rigid_velocity(block, ix, iy, iz, rigid, spacing):
    """The velocity [m/s] of a rigid obstacle at a point counted in cells from the origin of a block (3,)."""
    x = (BLOCK * block[0] + ix) * spacing - rigid[6]
    y = (BLOCK * block[1] + iy) * spacing - rigid[7]
    z = (BLOCK * block[2] + iz) * spacing - rigid[8]
    return (
        rigid[0] + rigid[4] * z - rigid[5] * y,
        rigid[1] + rigid[5] * x - rigid[3] * z,
        rigid[2] + rigid[3] * y - rigid[4] * x,
    )


@kernel
def place_foot(foot, node, owners, blocks, row_of_block, neighbours, node_blocks, distance, normal, velocity, rigid, spacing, feet):
    """Find where the foot of a node in rows lies and which nodes lie around it; see `place_feet`."""
    block_nodes = distance.shape[1]
    row, place = node // block_nodes, node % block_nodes
    number, owner = blocks[row], owners[row]
    around, rows = neighbours[number], row_of_block[owner]
    nx, ny, nz = normal[row, place, 0], normal[row, place, 1], normal[row, place, 2]
    depth = -distance[row, place] / spacing
    ix, iy, iz = node_of_place(place, block_nodes)
    x, y, z = ix + depth * nx, iy + depth * ny, iz + depth * nz
    if velocity.shape[0] > 0:
        # a node's foot is the point that is nearest to it
        u, v, w = velocity[row, place]
    else:
        u, v, w = rigid_velocity(node_blocks[number], x, y, z, rigid[owner], spacing)
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
        block = neighbour_of_node(jx, jy, jz, around) if is_within else -1
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
        block = neighbour_of_node(jx, jy, jz, around) if is_within else -1
        if block < 0:
            continue
        at = corner_place(jx, jy, jz, around)
        if rows[block] < 0 or distance[rows[block], at] > 0.0:
            feet.above[foot, above] = block * block_nodes + at
            above += 1
    feet.counts[foot] = count
    feet.above_counts[foot] = above


@parallel_kernel
def place_feet(tickets, order, owners, blocks, row_of_block, neighbours, node_blocks, distance, normal, velocity, rigid, spacing, feet):
    """Find where the feet lie and which nodes lie around them.

    Args:
        order: (n,) the nodes of the feet, in rows.
        owners, blocks, row_of_block, neighbours, distance: see `find_surface`.
        node_blocks: (node blocks, 3) block coordinates.
        normal: (rows, block nodes, 3).
        velocity: (rows, block nodes, 3) of deforming obstacles [m/s], without rows for rigid ones.
        rigid: (obstacles, 9) velocity of each origin [m/s], angular velocity [rad/s], origin [m].
        feet: see `Feet`; all that does not change in every step is a result.
    """
    # numba takes what a parallel loop itself writes to arrays in a tuple for dead
    for foot in shared(tickets[0], order.size, 64):
        place_foot(
            foot, order[foot], owners, blocks, row_of_block, neighbours, node_blocks, distance, normal, velocity, rigid, spacing, feet
        )
