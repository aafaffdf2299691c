"""The surfaces of colliders among the nodes, found at each sort of the particles for fixed colliders, else in each substep.

A row is a pair of a collider and a node block near it (see `LevelSets`). Nodes are numbered in two ways: through all node blocks, and
through all rows. Each node inside a collider that has a neighbor outside has a *foot*, its nearest point on the surface. The other nodes
inside are deep. At the edges of rigid bodies a node has a foot on each face (see `find_edges`).

Functions of one node or foot that take whole tuples are inlined (`generic`), because passing tuples would cost more than the work.

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
from .coverage import covered_share
from .feet import TOUCHING, TOUCHING_FLUID, find_above, lowering

OUTSIDE, AT_SURFACE, DEEP = 0, 1, 2
# how far a foot may touch nodes beyond its own block: slabs of one color are one block apart
REACH = BLOCK // 2
# two normals with a smaller dot product belong to different faces
SAME_FACE = 0.7
# number of nodes around a foot with linear weights, and with those of the quadratic spline
LINEAR_CORNERS, SPLINE_CORNERS = 8, 27


class LevelSets(NamedTuple):
    """The signed distances of colliders at the nodes around the particles, and how their surfaces move.

    Attributes:
        owners: the collider of each row, shape (rows,).
        blocks: the node block of each row, shape (rows,); -1 if it does not exist now.
        row_of_block: the row of each pair, shape (colliders, node blocks + 1); -1 where the collider is not near.
        coordinates: of the node blocks [blocks], shape (node blocks, 3).
        is_fluid: whether only fluids move the nodes of each node block, shape (node blocks,); settles: whether what does settles on
            surfaces, shape (node blocks,).
        filling: the mass with which colliders fill the nodes of each node block inside, at least [kg], shape (node blocks,).
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
    is_fluid: NDArray[np.bool_]
    settles: NDArray[np.bool_]
    filling: NDArray[np.float64]
    distance: NDArray[np.float64]
    normal: NDArray[np.float64]
    velocity: NDArray[np.float64]
    motions: NDArray[np.float64]
    spacing: float


class Feet(NamedTuple):
    """The feet of colliders, n of them, in runs (slab, collider); arrays may be longer. Arrays marked * change in every substep.

    Arrays with four numbers per foot (x, y, z, 0) and those with a number per corner have the precision of the nodes. There are c
    corners: 8 with linear weights or 27 with those of the quadratic spline.

    Attributes:
        first: the first foot of each run, shape (runs + 1,).
        active_end: * the end of each run's used part of `active`, shape (runs,).
        active: * the feet with material that are not lone, those of a run from its first index on, shape (n,).
        nodes, rows: the node of each foot, in both numberings, shape (n,).
        own: the index of this node among the corners, shape (n,); -1 if it is not among them.
        is_fluid: whether only fluids move the node, shape (n,).
        touching: the share of the mass above from which on the material touches, shape (n,); 0 where it does not settle on the surface.
        lowered: the part of its node's own velocity in the velocity of solids at the foot, shape (n,); see `feet.lowering`.
        is_lone: whether the foot shares no node with another or with a deep node, shape (n,); see `lone_feet`.
        filling: the mass with which the collider fills the node, at least [kg], shape (n,).
        counts: number of corners, the nodes around the foot, shape (n,).
        corners, row_corners: these in both numberings, shape (n, c); in `row_corners`, -1 for a corner outside.
        linear: their weights, shape (n, c).
        even: these times the share of a uniform pressure that each corner takes, shape (n, c).
        above_counts, above: nodes outside around the point one cell above, shapes (n,) and (n, 8).
        places: positions of the feet from the origin of the node's block [cells], shape (4 n,).
        normals: unit, outward, shape (4 n,).
        velocities: of the collider [m/s], shape (4 n,).
        mass_above, speed_above: * the greatest mass [kg] and normal speed [m/s] at the nodes above, shapes (n,), if the node has mass.
        weights: * weights of the corners with mass, shape (n, c).
        shares: * these over the effective masses [1/kg], shape (n, c).
        settling: * the speed with which the material may sink toward the surface [m/s], shape (n,).
        offsets: * minus the velocity that the surface allows times the sum of the weights [m/s], shape (4 n,).
        ease: * the impulse per change of the velocity, an effective mass [kg], shape (n,); 0 without mass.
        pressing: * the part of its momentum toward the collider that the node has shared [kg m/s], shape (n,).
        normal_impulses, friction_impulses: * [kg m/s], shapes (n,) and (4 n,).
        counted: * the effective mass of nodes inside [kg], shape (row nodes,).
    """

    first: NDArray[np.int64]
    active_end: NDArray[np.int64]
    active: NDArray[np.int32]
    nodes: NDArray[np.int32]
    rows: NDArray[np.int32]
    own: NDArray[np.int32]
    is_fluid: NDArray[np.bool_]
    touching: NDArray[np.float64]
    lowered: NDArray[np.float64]
    is_lone: NDArray[np.bool_]
    filling: NDArray[np.float64]
    counts: NDArray[np.int32]
    corners: NDArray[np.int32]
    row_corners: NDArray[np.int32]
    linear: NDArray[np.floating]
    even: NDArray[np.floating]
    above_counts: NDArray[np.int32]
    above: NDArray[np.int32]
    places: NDArray[np.floating]
    normals: NDArray[np.floating]
    velocities: NDArray[np.floating]
    mass_above: NDArray[np.float64]
    speed_above: NDArray[np.float64]
    weights: NDArray[np.floating]
    shares: NDArray[np.floating]
    settling: NDArray[np.float64]
    offsets: NDArray[np.floating]
    ease: NDArray[np.float64]
    pressing: NDArray[np.float64]
    normal_impulses: NDArray[np.float64]
    friction_impulses: NDArray[np.floating]
    counted: NDArray[np.float64]


def allocate_feet(
    count: int, runs: int, row_nodes: int, dtype: type[np.floating] | np.dtype[np.floating], corners: int, old: Feet | None = None
) -> Feet:
    """Arrays for these numbers of feet, runs, nodes in rows and corners: the old ones if they are large enough."""
    is_large = old is not None and old.counts.size >= count and old.active_end.size >= runs and old.counted.size >= row_nodes
    if old is not None and is_large and old.weights.dtype == dtype:
        return old
    # leaves spare capacity, because the number of feet of moving colliders varies
    count, runs, row_nodes = count + count // 4, runs + runs // 4, row_nodes + row_nodes // 4
    places, vectors, around = (count,), (4 * count,), (count, corners)
    arrays: dict[str, NDArray[Any]] = {
        "first": np.zeros(runs + 1, np.int64),
        "active_end": np.zeros(runs, np.int64),
        "counted": np.zeros(row_nodes),
        **{name: np.zeros(places, np.int32) for name in ("active", "nodes", "rows", "own", "counts", "above_counts")},
        **{name: np.zeros(places, np.bool_) for name in ("is_fluid", "is_lone")},
        **{name: np.zeros(around, np.int32) for name in ("corners", "row_corners")},
        "above": np.zeros((count, 8), np.int32),
        **{name: np.zeros(around, dtype) for name in ("linear", "even", "weights", "shares")},
        **{name: np.zeros(vectors, dtype) for name in ("places", "normals", "velocities", "offsets", "friction_impulses")},
        **{name: np.zeros(places) for name in ("touching", "lowered", "filling", "mass_above", "speed_above")},
        **{name: np.zeros(places) for name in ("settling", "ease", "pressing", "normal_impulses")},
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


@kernel(allocates=True)
def order_nodes(nodes, owners, slabs, collider_count, block_nodes, order, first):
    """Sort nodes into runs.

    Args:
        nodes: (n,) numbered through the rows.
        owners, slabs: (rows,) the collider of each row, and the index of its slab.
        order: (n,) result: the indices in `nodes`, in order.
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
        order[cursor[run]] = index
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


@kernel(allocates=True)
def find_edges(surface, level_sets, neighbors, found, depths, normals):
    """Find further feet for nodes at convex edges: on the faces that their neighbors outside lie in front of.

    A node's own foot lies on the nearest face. Without the further ones, no face would have a foot nearer to its edge than the nodes
    inside, and it would not receive the pressure there.

    Args:
        surface: (n,) nodes with feet, numbered through the rows.
        level_sets, neighbors: see `find_surface`.
        found: (6 n,) result: the node of each further foot.
        depths: (6 n,) result: distance of the foot from the node [cells]; normals: (6 n, 3) result: its direction.

    Returns:
        The number of further feet.
    """
    distance, normal = level_sets.distance, level_sets.normal
    block_nodes = distance.shape[1]
    count = 0
    for index in range(surface.size):
        row, place = surface[index] // block_nodes, surface[index] % block_nodes
        around = neighbors[level_sets.blocks[row]]
        rows = level_sets.row_of_block[level_sets.owners[row]]
        ix, iy, iz = node_of_place(place, block_nodes)
        first = count
        for direction in range(6):
            axis, step = direction % 3, 1 - 2 * (direction // 3)
            if axis == 1 and around.size != NEIGHBORS:
                continue
            jx, jy, jz = ix + step * (axis == 0), iy + step * (axis == 1), iz + step * (axis == 2)
            block = neighbor_of_node(jx, jy, jz, around)
            other = rows[block] if block >= 0 else -1
            at = corner_place(jx, jy, jz, around)
            if other < 0 or distance[other, at] <= 0.0:
                continue
            depth = step * normal[other, at, axis] - distance[other, at] / level_sets.spacing
            is_new = depth > 0.0 and dot3(normal[other, at], normal[row, place]) < SAME_FACE
            for earlier in range(first, count):
                is_new = is_new and dot3(normal[other, at], normals[earlier]) < SAME_FACE
            if is_new:
                found[count] = surface[index]
                depths[count] = depth
                normals[count] = normal[other, at]
                count += 1
    return count


@kernel
def dot3(a, b):
    """The dot product of two arrays (3,)."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def corner_weight(distance, is_spline):
    """The weight of a corner along one axis, at a distance [cells]: of the quadratic spline, or linear."""
    s = abs(distance)
    if is_spline:
        return 0.75 - s * s if s < 0.5 else 0.5 * max(0.0, 1.5 - s) ** 2
    return max(0.0, 1.0 - s)


@generic
def place_foot(foot, node, depth, normal, level_sets, neighbors, highest, feet):
    """Find the nodes around a foot, at a depth and in the direction of a normal (3,) from its node; see `place_feet`."""
    distance = level_sets.distance
    block_nodes = distance.shape[1]
    row, place = node // block_nodes, node % block_nodes
    number = level_sets.blocks[row]
    around, rows = neighbors[number], level_sets.row_of_block[level_sets.owners[row]]
    nx, ny, nz = normal[0], normal[1], normal[2]
    ix, iy, iz = node_of_place(place, block_nodes)
    x, y, z = ix + depth * nx, iy + depth * ny, iz + depth * nz
    u, v, w = collider_velocity(level_sets, row, place, x, y, z)
    feet.places[4 * foot], feet.places[4 * foot + 1], feet.places[4 * foot + 2] = x, y, z
    feet.normals[4 * foot], feet.normals[4 * foot + 1], feet.normals[4 * foot + 2] = nx, ny, nz
    feet.velocities[4 * foot], feet.velocities[4 * foot + 1], feet.velocities[4 * foot + 2] = u, v, w
    feet.nodes[foot] = number * block_nodes + place
    feet.rows[foot] = node
    feet.is_fluid[foot], feet.touching[foot] = level_sets.is_fluid[number], 0.0
    feet.filling[foot] = level_sets.filling[number]
    feet.is_lone[foot], feet.own[foot] = False, -1
    settles, sinks = level_sets.settles[number] and not feet.is_fluid[foot], level_sets.settles[number] and feet.is_fluid[foot]
    feet.lowered[foot] = lowering(depth, normal, highest) if settles else 0.0
    count, outside = 0, 0.0
    is_spline = feet.linear.shape[1] == SPLINE_CORNERS
    side, shift = (3, 0.5) if is_spline else (2, 1.0)
    cx, cy, cz = math.floor(x + shift) - 1, math.floor(y + shift) - 1, math.floor(z + shift) - 1
    for corner in range(side * side * side):
        jx, jy, jz = cx + corner // (side * side), cy + corner // side % side, cz + corner % side
        share = corner_weight(x - jx, is_spline) * corner_weight(z - jz, is_spline)
        if around.size == NEIGHBORS:
            share *= corner_weight(y - jy, is_spline)
        elif jy != iy:
            share = 0.0
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
        feet.even[foot, count] = share * corner_weight(height, is_spline)
        covered = covered_share(distance[other, at] / level_sets.spacing, is_cubic_spline=False) if sinks and other >= 0 else 0.0
        outside += share * (1.0 - covered)
        count += 1
    feet.counts[foot] = count
    feet.touching[foot] = TOUCHING if settles else TOUCHING_FLUID * outside if sinks else 0.0
    find_above(foot, (x + nx, y + ny, z + nz), rows, around, distance, feet)


@parallel_kernel
def place_feet(tickets, nodes, depths, normals, level_sets, neighbors, highest, feet):
    """Find the positions of the feet, and the nodes around them.

    Args:
        nodes: (n,) of the feet, numbered through the rows.
        depths: (n,) distance of each foot from its node [cells]; normals: (n, 3) its direction.
        level_sets, neighbors: see `find_surface`.
        highest: see `feet.lowering` [cells].
        feet: see `Feet`; all that does not change in every substep is a result.
    """
    for foot in shared(tickets[0], nodes.size, 64):
        place_foot(foot, nodes[foot], depths[foot], normals[foot], level_sets, neighbors, highest, feet)
