"""Which side of thin colliders material is on.

A particle's spline reaches through a wall that is thinner than the spline is wide. A node beyond the wall, or in it but nearer to the
other side, then has mass from particles that the wall is to hold, and its nearest surface is not the one that holds them. So each node
near a thin part of a collider is marked: can particles in front of its nearest surface reach it, or particles behind, with a surface
between that looks the other way? A node with particles behind alone lies inside the wall as these see it: its distance and normal become
those from the surface on their side. With particles on both sides it moves with the wall along the normal.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import BLOCK, NEIGHBORS
from ..transfer.layout import Layout
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import POSITION
from .surface import LevelSets
from .thinness import OPPOSITE, nodes_near_thin, row_and_place, surface_behind

HELD, STUCK = 1, 2
# two surfaces look in about the same direction if the product of their normals is more, see also `OPPOSITE`
ALIKE = 0.7
# the way from a particle to a node is looked at in so many parts
PARTS = 4
# the least part of a unit vector along an axis for its direction to count as along that axis too
STEEP = 0.35
# how far a particle's spline reaches until the next sort, see `farthest_drift` [cells]
PARTICLE_REACH = 2.5
# so far a surface moves until the sides of its nodes are marked anew [cells]
LARGEST_MOTION = 0.25


class Marks(NamedTuple):
    """Which nodes near thin colliders particles reach, while these are looked at.

    Attributes:
        reach: of a particle [cells].
        is_thin_near: which nodes count, shape (rows, block nodes); see `nodes_near_thin`.
        has_front, has_back: those that particles in front of their nearest surface reach, and those that particles behind it
            reach, shape (rows, block nodes); changed.
    """

    reach: float
    is_thin_near: NDArray[np.bool_]
    has_front: NDArray[np.bool_]
    has_back: NDArray[np.bool_]


class Near(NamedTuple):
    """A collider's level set around a block. Loops take its arrays out first: reading them from the tuple each time costs a third more.

    Attributes:
        around: node blocks around the block, shape (27 or 9,); -1 where there is none.
        row_of_block: the collider's row in each node block, shape (node blocks + 1,).
        level_sets: of all colliders.
    """

    around: NDArray[np.int64]
    row_of_block: NDArray[np.int64]
    level_sets: LevelSets


@dataclass(frozen=True)
class Sides:
    """Which nodes near thin colliders particles reach, and from which side, until these are sorted or a surface has moved.

    Attributes:
        layout: of the particles then.
        level_sets: of the colliders then.
        has_front, has_back: see `Marks`; without rows if no collider is thin anywhere.
    """

    layout: Layout
    level_sets: LevelSets
    has_front: NDArray[np.bool_]
    has_back: NDArray[np.bool_]


def sides_of(level_sets: LevelSets, around: NDArray[np.int64], store: ParticleStore) -> Sides:
    """Mark the nodes near thin colliders.

    Args:
        level_sets: of the colliders.
        around: (node blocks, 27 or 9) node blocks around those of the rows, -1 where there is none.
        store: the particles.
    """
    layout = store.layout
    is_thin_near = nodes_near_thin(level_sets, around, PARTICLE_REACH, (0, 2) if store.dimension == 2 else (0, 1, 2))
    if not is_thin_near.any():
        nothing = np.zeros((0, is_thin_near.shape[1]), np.bool_)
        return Sides(layout, level_sets, nothing, nothing)
    marks = Marks(PARTICLE_REACH, is_thin_near, np.zeros_like(is_thin_near), np.zeros_like(is_thin_near))
    for bodies, its in zip(store.fields, layout.field_neighbors, strict=True):
        mark_sides(store.particles, np.array([bodies.start, bodies.stop]), its, level_sets, marks)
    return Sides(layout, level_sets, marks.has_front, marks.has_back)


def recalled(sides: Sides, level_sets: LevelSets) -> Sides | None:
    """The sides of the nodes for level sets that have moved since they were marked; None if they have moved too far."""
    rows, nodes = level_sets.distance.shape
    has_front, has_back = (np.zeros((rows if len(sides.has_back) else 0, nodes), np.bool_) for _ in range(2))
    motion = np.zeros(rows)
    recall_sides(level_sets, sides.level_sets, sides.has_front, sides.has_back, has_front, has_back, motion)
    if motion.max(initial=0.0) > LARGEST_MOTION * level_sets.spacing:
        return None
    return Sides(sides.layout, sides.level_sets, has_front, has_back)


@kernel
def corner_around(x, y, z, corner, around, row_of_block):
    """One of the eight nodes around a point, relative to a block's origin [cells]: its row, its place and its coordinates.

    The row is -1 if the collider is not near, or in the plane if the node is not in it.
    """
    ix, iy, iz = math.floor(x) + (corner >> 2), math.floor(y) + (corner >> 1 & 1), math.floor(z) + (corner & 1)
    row, place = row_and_place(ix, iy, iz, around, row_of_block)
    return (row if abs(y - iy) < 1.0 else -1), place, ix, iy, iz


@kernel
def place_of_normal(x, y, z, near):
    """The row and place of the corner node around a point whose nearest surface the point is farthest in front of, or least behind.

    In a thin wall that is the surface on the point's side of the middle.

    Args:
        x, y, z: relative to a particle block's origin [cells].
        near: see `Near`.

    Returns:
        The row, -1 if the collider is not near, the place, and how far in front of its surface the point is [cells].
    """
    distance, normal, spacing = near.level_sets.distance, near.level_sets.normal, near.level_sets.spacing
    around, row_of_block = near.around, near.row_of_block
    best, best_row, best_place = -math.inf, -1, 0
    for corner in range(8):
        row, place, ix, iy, iz = corner_around(x, y, z, corner, around, row_of_block)
        if row < 0:
            continue
        nx, ny, nz = normal[row, place]
        height = distance[row, place] / spacing + (x - ix) * nx + (y - iy) * ny + (z - iz) * nz
        if height > best:
            best, best_row, best_place = height, row, place
    return best_row, best_place, best


@kernel
def is_wall_between(point, node, facing, opposite, near):
    """Whether a surface near the way from a point to a node hides the node: it looks the other way than the node's own.

    The point is farther in front of that surface, or less behind it, than of the node's.

    Args:
        point, node: relative to a particle block's origin [cells].
        facing: the normal at the node's nearest surface.
        opposite: how far the point is in front of that [cells].
        near: see `Near`.
    """
    distance, normal, spacing = near.level_sets.distance, near.level_sets.normal, near.level_sets.spacing
    around, row_of_block = near.around, near.row_of_block
    for part in range(PARTS):
        t = part / PARTS
        x, y, z = point[0] + t * (node[0] - point[0]), point[1] + t * (node[1] - point[1]), point[2] + t * (node[2] - point[2])
        for corner in range(8):
            row, place, ix, iy, iz = corner_around(x, y, z, corner, around, row_of_block)
            if row < 0:
                continue
            nx, ny, nz = normal[row, place]
            if nx * facing[0] + ny * facing[1] + nz * facing[2] < OPPOSITE:
                away = distance[row, place] / spacing
                front = away + (point[0] - ix) * nx + (point[1] - iy) * ny + (point[2] - iz) * nz
                back = away + (node[0] - ix) * nx + (node[1] - iy) * ny + (node[2] - iz) * nz
                if front > opposite and back < 0.0:
                    return True
    return False


@kernel
def mark_nodes(point, height, from_row, from_place, near, marks):
    """Mark the nodes within reach of the cell of one particle.

    Args:
        point: where the particle is, relative to its block's origin [cells].
        height, from_row, from_place: see `place_of_normal`.
        near, marks: see `Near` and `Marks`.
    """
    x, y, z = point
    around, row_of_block = near.around, near.row_of_block
    reach, is_thin_near, has_front, has_back = marks
    distance, normal, spacing = near.level_sets.distance, near.level_sets.normal, near.level_sets.spacing
    nx, ny, nz = normal[from_row, from_place]
    is_plane = around.size != NEIGHBORS
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    more, farthest = math.ceil(reach), (reach - 0.5) * spacing
    first_y, last_y = (round(y), round(y)) if is_plane else (cy + 1 - more, cy + more)
    for ix in range(cx + 1 - more, cx + more + 1):
        for iy in range(first_y, last_y + 1):
            for iz in range(cz + 1 - more, cz + more + 1):
                row, place = row_and_place(ix, iy, iz, around, row_of_block)
                # no particle reaches farther beyond a wall of a cell, even from inside it
                if row < 0 or not is_thin_near[row, place] or distance[row, place] > farthest:
                    continue
                if has_front[row, place] and has_back[row, place]:
                    continue
                mx, my, mz = normal[row, place]
                along = nx * mx + ny * my + nz * mz
                if along > ALIKE:
                    has_front[row, place] = True
                    continue
                opposite = distance[row, place] / spacing + (x - ix) * mx + (y - iy) * my + (z - iz) * mz
                back = height + (ix - x) * nx + (iy - y) * ny + (iz - z) * nz
                if along < OPPOSITE and back < 0.0 and height > opposite:
                    has_back[row, place] = True
                    continue
                node, facing = (1.0 * ix, 1.0 * iy, 1.0 * iz), (mx, my, mz)
                if is_wall_between(point, node, facing, opposite, near):
                    has_back[row, place] = True
                else:
                    has_front[row, place] = True


@kernel
def direction_of(nx, ny, nz):
    """The number of one of 27 directions that a unit vector has about."""
    number = 0
    for part in (nx, ny, nz):
        number = 3 * number + (2 if part > STEEP else 1 if part >= -STEEP else 0)
    return number


@kernel
def mark_from_run(table, begin, end, near, marks):
    """Mark the nodes within reach of the particles of a block, once for each cell and each direction of the surface near them."""
    seen = np.zeros((3 * BLOCK) ** 3, np.uint32)
    normal = near.level_sets.normal
    for slot in range(begin, end):
        x, y, z = table[POSITION, slot], table[POSITION + 1, slot], table[POSITION + 2, slot]
        cx, cy, cz = math.floor(x) + BLOCK, math.floor(y) + BLOCK, math.floor(z) + BLOCK
        if min(cx, cy, cz) < 0 or max(cx, cy, cz) >= 3 * BLOCK:
            continue
        row, place, height = place_of_normal(x, y, z, near)
        if row < 0 or height > marks.reach:
            continue
        cell = (cx * 3 * BLOCK + cy) * 3 * BLOCK + cz
        direction = direction_of(normal[row, place, 0], normal[row, place, 1], normal[row, place, 2])
        if seen[cell] >> direction & 1 == 0:
            seen[cell] |= 1 << direction
            mark_nodes((x, y, z), height, row, place, near, marks)


@parallel_kernel
def mark_sides(tickets, particles, bodies, around, level_sets, marks):
    """Mark the nodes near thin colliders that particles reach.

    Args:
        particles: see `Particles`.
        bodies: (2,) the bodies [begin, end) of the velocity field.
        around: (blocks, 27 or 9) node blocks of this field around each particle block.
        level_sets: see `LevelSets`.
        marks: see `Marks`.
    """
    first, body_count = particles.runs.first, particles.runs.body_count
    for block in shared(tickets[0], around.shape[0], 4):
        begin, end = first[block * body_count + bodies[0]], first[block * body_count + bodies[1]]
        if begin == end:
            continue
        for owner in range(level_sets.row_of_block.shape[0]):
            row_of_block = level_sets.row_of_block[owner]
            is_near = False
            for place in range(around.shape[1]):
                row = row_of_block[around[block, place]]
                is_near |= row >= 0 and marks.is_thin_near[row].any()
            if is_near:
                mark_from_run(particles.table, begin, end, Near(around[block], row_of_block, level_sets), marks)


@parallel_kernel
def recall_sides(tickets, level_sets, before, front_before, back_before, has_front, has_back, motion):
    """Carry marks over to level sets that have moved.

    Args:
        level_sets, before: see `LevelSets`, now and when the nodes were marked.
        front_before, back_before: see `Marks`, of the rows then; empty if nothing was thin.
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
            # a node whose nearest surface is the other one now has the material on the other side of it
            is_turned = nx * mx + ny * my + nz * mz < OPPOSITE
            has_front[row, place] = back_before[old, place] if is_turned else front_before[old, place]
            has_back[row, place] = front_before[old, place] if is_turned else back_before[old, place]


@parallel_kernel
def turn_nodes(tickets, level_sets, neighbors, has_front, has_back, distance, normal, held):
    """Give nodes with particles behind alone the distance and normal that these see.

    Where no such surface is found, beyond an edge, a node is held in all directions.

    Args:
        level_sets: see `LevelSets`.
        neighbors: (node blocks, 27 or 9) node blocks around those of the rows, -1 where there is none.
        has_front, has_back: see `Marks`.
        distance, normal: as in `level_sets`, for all nodes; changed.
        held: (rows, block nodes) result: HELD at nodes with particles on both sides, STUCK at those held in all directions; 0 before.
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
            if other < 0:
                held[row, place] = STUCK
                if not has_front[row, place]:
                    # as deep as in a wall of one cell, so that particles that sank in are pushed back
                    distance[row, place] = -level_sets.spacing - max(distance[row, place], 0.0)
                    normal[row, place] = 0.0
                continue
            if has_front[row, place]:
                held[row, place] = HELD
                continue
            nx, ny, nz = level_sets.normal[other, at]
            distance[row, place] = -depth
            normal[row, place, 0], normal[row, place, 1], normal[row, place, 2] = nx, ny, nz
