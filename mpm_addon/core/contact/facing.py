"""Which side of thin colliders material is on.

A particle's spline reaches through a wall that is thinner than the spline is wide. A node beyond the wall, or in it but nearer to the
other side, then has mass from particles that the wall is to hold, and its nearest surface is not the one that holds them. So each node
near a thin part of a collider is marked: can particles in front of its nearest surface reach it, or particles behind, with a surface
between that looks the other way? A node with particles behind alone lies inside the wall as these see it: its distance and normal become
those from the surface on their side. With particles on both sides it moves with the wall along the normal.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import BLOCK, NEIGHBORS
from ..transfer.layout import Layout
from ..transfer.node_lookup import corner_place, neighbor_of_node, node_of_place
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import POSITION
from .surface import LevelSets

HELD, STUCK = 1, 2
# two surfaces look in opposite directions if the product of their normals is less
OPPOSITE = -0.5
# and in about the same if it is more
ALIKE = 0.7
# the way from a particle to a node is looked at in so many parts
PARTS = 4
# the least part of a unit vector along an axis for its direction to count as along that axis too
STEEP = 0.35
# how far from a node the surface on the other side is looked for, in steps of half a cell [cells]
FARTHEST = 4.0
# so far around the edge of a thin part nodes are looked at, along each axis [cells]
NEAR_THIN = 2
# how far a particle's spline reaches until the next sort, see `farthest_drift` [cells]
PARTICLE_REACH = 2.5
# so far a surface moves until the sides of its nodes are marked anew [cells]
LARGEST_MOTION = 0.25


@dataclass(frozen=True)
class Sides:
    """Which nodes near thin colliders particles reach, and from which side, until these are sorted or a surface has moved.

    Attributes:
        layout: of the particles then.
        level_sets: of the colliders then.
        has_front, has_back: see `mark_sides`; without rows if no collider is thin anywhere.
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
    layout, shape = store.layout, level_sets.distance.shape
    is_thin = np.zeros(shape, np.bool_)
    find_thin(level_sets, around, PARTICLE_REACH, is_thin)
    if not is_thin.any():
        nothing = np.zeros((0, shape[1]), np.bool_)
        return Sides(layout, level_sets, nothing, nothing)
    for axis in (0, 2) if store.dimension == 2 else (0, 1, 2):
        is_thin_near = np.zeros(shape, np.bool_)
        spread_thin(level_sets, around, axis, is_thin, is_thin_near)
        is_thin = is_thin_near
    has_front, has_back = (np.zeros(shape, np.bool_) for _ in range(2))
    for bodies, its in zip(store.fields, layout.field_neighbors, strict=True):
        ends = np.array([bodies.start, bodies.stop])
        mark_sides(store.table, layout.first, store.body_count, ends, its, level_sets, PARTICLE_REACH, is_thin, has_front, has_back)
    return Sides(layout, level_sets, has_front, has_back)


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
def row_and_place(ix, iy, iz, around, row_of_block):
    """The row of a node, relative to a block's origin, and its place in its block; row -1 if the collider is not near.

    Args:
        around: (27 or 9,) node blocks around the block.
        row_of_block: (node blocks + 1,) rows of one collider.
    """
    is_plane = around.size != NEIGHBORS
    if min(ix, iz) < -BLOCK or max(ix, iz) >= 2 * BLOCK or (not is_plane and (iy < -BLOCK or iy >= 2 * BLOCK)):
        return -1, 0
    block = neighbor_of_node(ix, iy, iz, around)
    return (row_of_block[block] if block >= 0 else -1), corner_place(ix, iy, iz, around)


@kernel
def corner_around(x, y, z, corner, around, row_of_block):
    """One of the eight nodes around a point, relative to a block's origin [cells]: its row, its place and its coordinates.

    The row is -1 if the collider is not near, or in the plane if the node is not in it.
    """
    ix, iy, iz = math.floor(x) + (corner >> 2), math.floor(y) + (corner >> 1 & 1), math.floor(z) + (corner & 1)
    row, place = row_and_place(ix, iy, iz, around, row_of_block)
    return (row if abs(y - iy) < 1.0 else -1), place, ix, iy, iz


@kernel
def place_of_normal(x, y, z, around, row_of_block, level_sets):
    """The row and place of the corner node around a point whose nearest surface the point is farthest in front of, or least behind.

    In a thin wall that is the surface on the point's side of the middle.

    Args:
        x, y, z: relative to a particle block's origin [cells].
        around, row_of_block: see `row_and_place`.

    Returns:
        The row, -1 if the collider is not near, the place, and how far in front of its surface the point is [cells].
    """
    distance, normal, spacing = level_sets.distance, level_sets.normal, level_sets.spacing
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
def is_wall_between(point, node, facing, opposite, around, row_of_block, level_sets):
    """Whether a surface near the way from a point to a node hides the node: it looks the other way than the node's own.

    The point is farther in front of that surface, or less behind it, than of the node's.

    Args:
        point, node: relative to a particle block's origin [cells].
        facing: the normal at the node's nearest surface.
        opposite: how far the point is in front of that [cells].
        around, row_of_block: see `place_of_normal`.
    """
    distance, normal, spacing = level_sets.distance, level_sets.normal, level_sets.spacing
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
def mark_nodes(x, y, z, height, from_row, from_place, around, row_of_block, level_sets, reach, is_thin_near, has_front, has_back):
    """Mark the nodes within reach of the cell of one particle; see `mark_sides`.

    Args:
        height, from_row, from_place: see `place_of_normal`.
        is_thin_near: see `spread_thin`.
    """
    distance, normal = level_sets.distance, level_sets.normal
    nx, ny, nz = normal[from_row, from_place]
    is_plane = around.size != NEIGHBORS
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    more, farthest = math.ceil(reach), (reach - 0.5) * level_sets.spacing
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
                opposite = distance[row, place] / level_sets.spacing + (x - ix) * mx + (y - iy) * my + (z - iz) * mz
                back = height + (ix - x) * nx + (iy - y) * ny + (iz - z) * nz
                if along < OPPOSITE and back < 0.0 and height > opposite:
                    has_back[row, place] = True
                    continue
                point, node, facing = (x, y, z), (1.0 * ix, 1.0 * iy, 1.0 * iz), (mx, my, mz)
                if is_wall_between(point, node, facing, opposite, around, row_of_block, level_sets):
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
def mark_from_run(table, begin, end, around, row_of_block, level_sets, reach, is_thin_near, has_front, has_back):
    """Mark the nodes within reach of the particles of a block, once for each cell and each direction of the surface near them."""
    seen = np.zeros((3 * BLOCK) ** 3, np.uint32)
    normal = level_sets.normal
    for slot in range(begin, end):
        x, y, z = table[POSITION, slot], table[POSITION + 1, slot], table[POSITION + 2, slot]
        cx, cy, cz = math.floor(x) + BLOCK, math.floor(y) + BLOCK, math.floor(z) + BLOCK
        if min(cx, cy, cz) < 0 or max(cx, cy, cz) >= 3 * BLOCK:
            continue
        row, place, height = place_of_normal(x, y, z, around, row_of_block, level_sets)
        if row < 0 or height > reach:
            continue
        cell = (cx * 3 * BLOCK + cy) * 3 * BLOCK + cz
        direction = direction_of(normal[row, place, 0], normal[row, place, 1], normal[row, place, 2])
        if seen[cell] >> direction & 1 == 0:
            seen[cell] |= 1 << direction
            mark_nodes(x, y, z, height, row, place, around, row_of_block, level_sets, reach, is_thin_near, has_front, has_back)


@parallel_kernel
def find_thin(tickets, level_sets, neighbors, reach, is_thin):
    """Find the nodes where particles may reach through the collider: within reach of the nearest surface and of another behind it.

    Args:
        level_sets: see `LevelSets`.
        neighbors: (node blocks, 27 or 9) node blocks around those of the rows, -1 where there is none.
        reach: of a particle [cells].
        is_thin: (rows, block nodes) result; false before.
    """
    spacing = level_sets.spacing
    for row in shared(tickets[0], level_sets.owners.size, 16):
        block = level_sets.blocks[row]
        if block < 0:
            continue
        row_of_block = level_sets.row_of_block[level_sets.owners[row]]
        for place in range(level_sets.distance.shape[1]):
            if abs(level_sets.distance[row, place]) < reach * spacing:
                depth, other, _ = surface_behind(row, place, neighbors[block], row_of_block, level_sets)
                is_thin[row, place] = other >= 0 and depth < reach * spacing


@parallel_kernel
def spread_thin(tickets, level_sets, neighbors, axis, is_thin, is_thin_near):
    """Find the nodes near thin ones along an axis: around the edge of a sheet, where no surface lies behind another, particles reach too.

    Args:
        level_sets, neighbors, is_thin: see `find_thin`.
        axis: 0, 1 or 2.
        is_thin_near: (rows, block nodes) result; false before.
    """
    dx, dy, dz = axis == 0, axis == 1, axis == 2
    for row in shared(tickets[0], level_sets.owners.size, 16):
        block = level_sets.blocks[row]
        if block < 0:
            continue
        row_of_block = level_sets.row_of_block[level_sets.owners[row]]
        for place in range(is_thin.shape[1]):
            if not is_thin[row, place]:
                continue
            ix, iy, iz = node_of_place(place, is_thin.shape[1])
            for step in range(-NEAR_THIN, NEAR_THIN + 1):
                other, at = row_and_place(ix + dx * step, iy + dy * step, iz + dz * step, neighbors[block], row_of_block)
                if other >= 0:
                    is_thin_near[other, at] = True


@parallel_kernel
def mark_sides(tickets, table, first, body_count, bodies, around, level_sets, reach, is_thin_near, has_front, has_back):
    """Mark the nodes near thin colliders that particles in front of their nearest surface reach, and those that particles behind it reach.

    Args:
        table: (rows, slots), see `Particles`.
        first: (blocks * body_count + 1,) first slot of each run.
        bodies: (2,) the bodies [begin, end) of the velocity field.
        around: (blocks, 27 or 9) node blocks of this field around each particle block.
        level_sets: see `LevelSets`.
        reach: of a particle [cells].
        is_thin_near: see `spread_thin`.
        has_front, has_back: (rows, block nodes) results; false before.
    """
    for block in shared(tickets[0], around.shape[0], 4):
        begin, end = first[block * body_count + bodies[0]], first[block * body_count + bodies[1]]
        if begin == end:
            continue
        for owner in range(level_sets.row_of_block.shape[0]):
            row_of_block = level_sets.row_of_block[owner]
            is_near = False
            for place in range(around.shape[1]):
                row = row_of_block[around[block, place]]
                is_near |= row >= 0 and is_thin_near[row].any()
            if is_near:
                mark_from_run(table, begin, end, around[block], row_of_block, level_sets, reach, is_thin_near, has_front, has_back)


@parallel_kernel
def recall_sides(tickets, level_sets, before, front_before, back_before, has_front, has_back, motion):
    """Carry marks over to level sets that have moved.

    Args:
        level_sets, before: see `LevelSets`, now and when the nodes were marked.
        front_before, back_before: see `mark_sides`, of the rows then; empty if nothing was thin.
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


@kernel
def surface_behind(row, place, around, row_of_block, level_sets):
    """The nearest node along the normal, backward, whose nearest surface looks in the opposite direction and hides a node from it.

    Returns:
        The depth [m] of the node below that surface, and the other node's row, -1 if there is none, and place.
    """
    distance, normal, spacing = level_sets.distance, level_sets.normal, level_sets.spacing
    ix, iy, iz = node_of_place(place, distance.shape[1])
    nx, ny, nz = normal[row, place]
    for step in range(1, int(2 * FARTHEST) + 1):
        jx, jz = round(ix - 0.5 * step * nx), round(iz - 0.5 * step * nz)
        jy = iy if around.size != NEIGHBORS else round(iy - 0.5 * step * ny)
        other, at = row_and_place(jx, jy, jz, around, row_of_block)
        if other < 0:
            continue
        mx, my, mz = normal[other, at]
        if mx * nx + my * ny + mz * nz < OPPOSITE:
            depth = spacing * ((jx - ix) * mx + (jy - iy) * my + (jz - iz) * mz) - distance[other, at]
            if depth > 0.0:
                return depth, other, at
    return 0.0, -1, 0


@parallel_kernel
def turn_nodes(tickets, level_sets, neighbors, has_front, has_back, distance, normal, held):
    """Give nodes with particles behind alone the distance and normal that these see.

    Where no such surface is found, beyond an edge, a node is held in all directions.

    Args:
        level_sets: see `LevelSets`.
        neighbors: (node blocks, 27 or 9) node blocks around those of the rows, -1 where there is none.
        has_front, has_back: see `mark_sides`.
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
