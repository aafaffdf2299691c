"""The sides of thin colliders on which there is material.

A particle's spline reaches through a wall that is thinner than the spline is wide. A node beyond the wall, or in it but nearer to the
other side, then has mass from particles that the wall should hold back, and its nearest surface is not the one that holds them. Therefore
each node near a thin part of a collider is marked by the particles that reach it: those in front of its nearest surface, and those behind
it with a surface in between that faces the opposite way. For a node reached only from behind, distance and normal are replaced by those
from the surface on the particles' side, because for these it lies inside the wall. A node that particles on both sides touch moves with
the wall along the normal.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import NEIGHBORS
from ..transfer.layout import Layout
from ..transfer.node_lookup import node_of_place
from ..transfer.particle_store import ParticleStore
from .node_marks import Marks, copy_surroundings, empty_surroundings, mark_from_run
from .surface import LevelSets
from .thinness import OPPOSITE, is_in_wall, nodes_near_thin, surface_behind

HELD, STUCK = 1, 2
# how far the splines of particles reach, and how far particles may have sunk into a thin wall [cells]
QUADRATIC_REACH, CUBIC_REACH, SUNKEN = 1.5, 2.0, 0.5
# how far outside of an edge nodes keep particles in that sank into the wall, over the depth below which nodes belong to the other side, for
# quadratic splines .75 cells: at .5, 3 of 5,700 get out; at 1, more drops hang
EDGE_SHARE = 0.375
# depth of the middle of a thin wall below its surface, at least [cells]
MIDDLE = 0.5
# nodes below the rim of a hole, up to this far from it, are left alone: held, they would stop what flows through [cells]
RIM = 0.75
# in two dimensions, nodes closer to a wall are held at its rim, too: there, water that runs down it creeps inside [cells]
CLOSE = 0.25
# number of samples on the way over an edge
PARTS = 6
# reach of a particle's spline until the next sort, see `farthest_drift` [cells]
PARTICLE_REACH = 2.5
# distance that a surface moves before the sides of its nodes are marked again [cells]
LARGEST_MOTION = 0.25


@dataclass(frozen=True)
class Sides:
    """The nodes near thin colliders that particles reach, by side; valid until the particles are sorted or a surface has moved.

    Attributes:
        layout: the layout of the particles when nodes were marked.
        level_sets: the level sets of the colliders when nodes were marked.
        has_front, has_back: see `Marks`; without rows if no collider is thin anywhere.
    """

    layout: Layout
    level_sets: LevelSets
    has_front: NDArray[np.bool_]
    has_back: NDArray[np.bool_]


def sides_of(level_sets: LevelSets, around: NDArray[np.int64], store: ParticleStore, is_half_space: NDArray[np.bool_]) -> Sides:
    """Mark the nodes near thin colliders.

    Args:
        level_sets: of the colliders.
        around: (node blocks, 27 or 9) node blocks around those of the rows, -1 where there is none.
        store: the particles.
        is_half_space: see `nodes_near_thin`.
    """
    layout = store.layout
    axes = (0, 2) if store.dimension == 2 else (0, 1, 2)
    is_thin_near = nodes_near_thin(level_sets, around, is_half_space, PARTICLE_REACH, axes)
    if not is_thin_near.any():
        nothing = np.zeros((0, is_thin_near.shape[1]), np.bool_)
        return Sides(layout, level_sets, nothing, nothing)
    marks = Marks(PARTICLE_REACH, is_thin_near, np.zeros_like(is_thin_near), np.zeros_like(is_thin_near))
    for instances, its in zip(store.fields, layout.field_neighbors, strict=True):
        mark_sides(store.particles, np.array([instances.start, instances.stop]), its, level_sets, marks)
    return Sides(layout, level_sets, marks.has_front, marks.has_back)


def recalled(sides: Sides, level_sets: LevelSets) -> Sides | None:
    """The sides of the nodes for level sets that have moved since the nodes were marked; None if they have moved too far."""
    rows, nodes = level_sets.distance.shape
    has_front, has_back = (np.zeros((rows if len(sides.has_back) else 0, nodes), np.bool_) for _ in range(2))
    motion = np.zeros(rows)
    recall_sides(level_sets, sides.level_sets, sides.has_front, sides.has_back, has_front, has_back, motion)
    if motion.max(initial=0.0) > LARGEST_MOTION * level_sets.spacing:
        return None
    return Sides(sides.layout, sides.level_sets, has_front, has_back)


@parallel_kernel(allocates=True)
def mark_sides(tickets, particles, instances, around, level_sets, marks):
    """Mark the nodes near thin colliders that particles reach.

    Args:
        particles: see `Particles`.
        instances: (2,) the instances [begin, end) of the velocity field.
        around: (blocks, 27 or 9) node blocks of this field around each particle block.
        level_sets: see `LevelSets`.
        marks: see `Marks`.
    """
    mark_blocks(tickets, particles, instances, around, level_sets, marks, empty_surroundings(around.shape[1] != NEIGHBORS))


@kernel
def mark_blocks(tickets, particles, instances, around, level_sets, marks, copied):
    """One thread's share of `mark_sides`; copied: scratch, see `Surroundings`."""
    for block in shared(tickets[0], around.shape[0], 4):
        mark_around(particles, instances, block, around[block], level_sets, marks, copied)


@generic
def mark_around(particles, instances, block, around, level_sets, marks, copied):
    """Mark the nodes near thin colliders that the particles of a block reach."""
    first, instance_count = particles.runs.first, particles.runs.instance_count
    begin, end = first[block * instance_count + instances[0]], first[block * instance_count + instances[1]]
    if begin == end:
        return
    for owner in range(level_sets.row_of_block.shape[0]):
        row_of_block = level_sets.row_of_block[owner]
        is_near = False
        for place in range(around.size):
            row = row_of_block[around[place]]
            for node in range(marks.is_thin_near.shape[1] if row >= 0 else 0):
                is_near |= marks.is_thin_near[row, node]
        if is_near:
            copy_surroundings(around, row_of_block, level_sets, marks, copied)
            mark_from_run(particles.table, begin, end, copied, marks)


@parallel_kernel
def recall_sides(tickets, level_sets, before, front_before, back_before, has_front, has_back, motion):
    """Transfer marks to level sets that have moved.

    Args:
        level_sets, before: see `LevelSets`, now and when the nodes were marked.
        front_before, back_before: see `Marks`, of the rows when nodes were marked; empty if nothing was thin.
        has_front, has_back: (rows, block nodes) results; false before.
        motion: (rows,) result: the greatest change of a distance near the surface [m].
    """
    near = PARTICLE_REACH * level_sets.spacing
    for row in shared(tickets[0], level_sets.owners.size, 16):
        block = level_sets.blocks[row]
        old = before.row_of_block[level_sets.owners[row], block] if block >= 0 else -1
        if old < 0:
            continue
        for place in range(level_sets.distance.shape[1]):
            now, then = level_sets.distance[row, place], before.distance[old, place]
            if min(abs(now), abs(then)) < near:
                motion[row] = max(motion[row], abs(now - then))
            if back_before.size == 0 or not (front_before[old, place] or back_before[old, place]):
                continue
            nx, ny, nz = level_sets.normal[row, place]
            mx, my, mz = before.normal[old, place]
            # a node whose nearest surface is now the opposite one has the material on its other side
            is_turned = nx * mx + ny * my + nz * mz < OPPOSITE
            has_front[row, place] = back_before[old, place] if is_turned else front_before[old, place]
            has_back[row, place] = front_before[old, place] if is_turned else back_before[old, place]


@generic
def is_covered(row, place, depth, behind, around, row_of_block, level_sets):
    """Whether the wall goes on around the place in it that is nearest to a node outside: not so at the rim of a hole.

    Args:
        depth, behind: of the node below the surface on the other side [m], and the row and place of a node there; see `surface_behind`.
        around, row_of_block: see `row_and_place`.
        level_sets: see `LevelSets`.
    """
    ix, iy, iz = node_of_place(place, level_sets.distance.shape[1])
    nx, ny, nz = level_sets.normal[behind]
    up = nx, ny, nz
    way = depth / level_sets.spacing - MIDDLE
    at = ix + way * nx, iy + way * ny, iz + way * nz
    if not is_in_wall(at[0], at[1], at[2], around, row_of_block, level_sets):
        # beyond an edge: back over it
        mx, my, mz = level_sets.normal[row, place]
        off = mx * nx + my * ny + mz * nz
        mx, my, mz = mx - off * nx, my - off * ny, mz - off * nz
        far = -(level_sets.distance[row, place] / level_sets.spacing + RIM) / max(math.sqrt(mx * mx + my * my + mz * mz), 1e-9)
        return is_walled(at, (far * mx, far * my, far * mz), up, around, row_of_block, level_sets)
    # two directions along the wall; in 2D, the first is in the plane
    length = math.sqrt(nx * nx + nz * nz)
    ux, uz = (RIM * nz / length, -RIM * nx / length) if length > 0.0 else (RIM, 0.0)
    vx, vy, vz = (ny * uz, nz * ux - nx * uz, -ny * ux) if around.size == NEIGHBORS else (ux, 0.0, uz)
    for along in ((ux, 0.0, uz), (-ux, 0.0, -uz), (vx, vy, vz), (-vx, -vy, -vz)):
        x, y, z = at[0] + along[0], at[1] + along[1], at[2] + along[2]
        is_on = is_in_wall(x, y, z, around, row_of_block, level_sets) or is_walled(at, along, up, around, row_of_block, level_sets)
        if not is_on:
            return False
    return True


@generic
def is_walled(at, along, up, around, row_of_block, level_sets):
    """Whether a wall stands a cell `up` from a point on the way `along`, as another side of a cup does on its floor."""
    for part in range(PARTS + 1):
        share = part / PARTS
        x, y, z = at[0] + up[0] + share * along[0], at[1] + up[1] + share * along[1], at[2] + up[2] + share * along[2]
        if is_in_wall(x, y, z, around, row_of_block, level_sets):
            return True
    return False


@parallel_kernel
def turn_nodes(tickets, level_sets, neighbors, reach, has_front, has_back, distance, normal, held):
    """Give nodes that particles reach only from behind the distance and normal from the surface on the particles' side.

    Where no such surface is found, as beyond an edge, a node is held in all directions. One outside that particles outside reach, too, is
    only held along the normal, and left alone farther away than EDGE_SHARE tells: otherwise these particles would hang in the air.

    Args:
        level_sets: see `LevelSets`.
        neighbors: (node blocks, 27 or 9) node blocks around those of the rows, -1 where there is none.
        reach: the depth [m] below the surface on one side down to which particles there touch nodes; deeper ones belong to the other side.
        has_front, has_back: see `Marks`.
        distance, normal: as in `level_sets`, for all nodes; changed.
        held: (rows, block nodes) result: HELD at nodes that particles on both sides touch, STUCK at those held in all directions; 0 before.
    """
    for row in shared(tickets[0], level_sets.owners.size, 4):
        block, owner = level_sets.blocks[row], level_sets.owners[row]
        if block < 0:
            continue
        around, row_of_block = neighbors[block], level_sets.row_of_block[owner]
        for place in range(distance.shape[1]):
            if not has_back[row, place]:
                continue
            depth, other, at = surface_behind(row, place, around, row_of_block, level_sets)
            if other < 0 and distance[row, place] > 0.0 and has_front[row, place]:
                if distance[row, place] < EDGE_SHARE * reach:
                    held[row, place] = HELD
                continue
            if other < 0:
                held[row, place] = STUCK
                if not has_front[row, place]:
                    # the depth in a wall one cell thick, so that particles that sank in are pushed back
                    distance[row, place] = -level_sets.spacing
                    normal[row, place] = 0.0
                continue
            if has_front[row, place]:
                is_close = distance[row, place] <= (0.0 if around.size == NEIGHBORS else CLOSE * level_sets.spacing)
                if depth < reach and (is_close or is_covered(row, place, depth, (other, at), around, row_of_block, level_sets)):
                    held[row, place] = HELD
                continue
            nx, ny, nz = level_sets.normal[other, at]
            distance[row, place] = -depth
            normal[row, place, 0], normal[row, place, 1], normal[row, place, 2] = nx, ny, nz
