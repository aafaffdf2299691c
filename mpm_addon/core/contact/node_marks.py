"""Marking nodes near thin colliders by the side from which particles reach them; see `thin_walls`.

Each cell that contains particles is compared with each node within reach.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..transfer.blocks import BLOCK, NEIGHBORS
from ..transfer.node_lookup import node_of_place
from ..transfer.rows import POSITION
from .thinness import OPPOSITE

# two surfaces face about the same way if the dot product of their normals is greater; see also `OPPOSITE`
ALIKE = 0.7
# number of samples on the line from a particle to a node
PARTS = 4
# the least component of a unit vector along an axis that counts in `direction_of`
STEEP = 0.35


class Marks(NamedTuple):
    """The nodes near thin colliders that particles reach, by side, while they are being marked.

    Attributes:
        reach: of a particle [cells].
        is_thin_near: the nodes to mark, shape (rows, block nodes); see `nodes_near_thin`.
        has_front, has_back: those that particles in front of their nearest surface reach, and those that particles behind it
            reach, shape (rows, block nodes); changed.
    """

    reach: float
    is_thin_near: NDArray[np.bool_]
    has_front: NDArray[np.bool_]
    has_back: NDArray[np.bool_]


class Surroundings(NamedTuple):
    """A collider at the nodes of a block and of the blocks around it, copied for fast access; n is 3 BLOCK.

    Attributes:
        sides: the distance [cells], infinite where the collider is not near, and the normal, shape (n, n or in the plane 1, n, 4).
        wanted: row times block nodes plus place of nodes that may be marked, -1 for others; shape (n, n or 1, n).
        seen: one bit for each direction of the surface near the particles of a cell that nodes were marked for, shape (n^3,).
    """

    sides: NDArray[np.float64]
    wanted: NDArray[np.int64]
    seen: NDArray[np.uint32]


@kernel(allocates=True)
def empty_surroundings(is_plane):
    """Memory for the surroundings of a block."""
    width, height = 3 * BLOCK, 1 if is_plane else 3 * BLOCK
    return Surroundings(np.empty((width, height, width, 4)), np.empty((width, height, width), np.int64), np.empty(width**3, np.uint32))


@kernel
def copy_surroundings(around, row_of_block, level_sets, marks, copied):
    """Fill `Surroundings` for a block; around, row_of_block: see `row_and_place`, the rest: see `mark_sides`."""
    sides, wanted, _ = copied
    reach, is_thin_near, _, _ = marks
    distance, normal, spacing = level_sets.distance, level_sets.normal, level_sets.spacing
    is_plane = around.size != NEIGHBORS
    block_nodes = is_thin_near.shape[1]
    # no particle reaches farther than this beyond a wall of one cell, even from inside it
    farthest = (reach - 0.5) * spacing
    for number in range(around.size):
        row = row_of_block[around[number]] if around[number] >= 0 else -1
        i, j, k = (number // 3, 0, number % 3) if is_plane else (number // 9, number // 3 % 3, number % 3)
        for place in range(block_nodes):
            ix, iy, iz = node_of_place(place, block_nodes)
            at = i * BLOCK + ix, 0 if is_plane else j * BLOCK + iy, k * BLOCK + iz
            wanted[at] = -1
            side = sides[at]
            side[0] = math.inf
            if row < 0:
                continue
            side[0] = distance[row, place] / spacing
            for axis in range(3):
                side[1 + axis] = normal[row, place, axis]
            if is_thin_near[row, place] and distance[row, place] <= farthest:
                wanted[at] = row * block_nodes + place


@kernel
def corner_around(x, y, z, corner, sides):
    """One of the eight nodes around a point.

    Args:
        x, y, z: relative to a block's origin [cells].

    Returns:
        Its distance [cells], infinite if it does not count, its normal and its coordinates.
    """
    ix, iy, iz = math.floor(x) + (corner >> 2), math.floor(y) + (corner >> 1 & 1), math.floor(z) + (corner & 1)
    is_plane = sides.shape[1] == 1
    side = sides[ix + BLOCK, 0 if is_plane else iy + BLOCK, iz + BLOCK]
    # in 2D, only nodes in the plane count
    away = math.inf if is_plane and abs(y - iy) >= 1.0 else side[0]
    return away, side[1], side[2], side[3], ix, iy, iz


@kernel
def nearest_surface(x, y, z, sides):
    """The height of a point above a surface near it, and the normal of that surface.

    Of the surfaces nearest to the eight nodes around the point, the one with the greatest height is used. In a thin wall that is the
    surface on the point's side of the middle.

    Args:
        x, y, z: relative to a particle block's origin [cells].
        sides: see `Surroundings`.

    Returns:
        The height [cells], minus infinity if the collider is not near, and the normal.
    """
    best, mx, my, mz = -math.inf, 0.0, 0.0, 0.0
    for corner in range(8):
        away, nx, ny, nz, ix, iy, iz = corner_around(x, y, z, corner, sides)
        if away == math.inf:
            continue
        height = away + (x - ix) * nx + (y - iy) * ny + (z - iz) * nz
        if height > best:
            best, mx, my, mz = height, nx, ny, nz
    return best, mx, my, mz


@kernel
def is_wall_between(point, node, facing, opposite, sides):
    """Whether a wall hides a node from a point: a surface near the line between them faces the opposite way from the node's surface.

    The height of the point above that surface must be greater than above the node's, and the node must lie behind it.

    Args:
        point, node: relative to a particle block's origin [cells].
        facing: the normal of the surface nearest to the node.
        opposite: height of the point above that surface [cells].
        sides: see `Surroundings`.
    """
    before = math.inf, math.inf, math.inf
    for part in range(PARTS):
        t = part / PARTS
        x, y, z = point[0] + t * (node[0] - point[0]), point[1] + t * (node[1] - point[1]), point[2] + t * (node[2] - point[2])
        cell = math.floor(x) * 1.0, math.floor(y) * 1.0, math.floor(z) * 1.0
        if cell == before:
            continue
        before = cell
        for corner in range(8):
            away, nx, ny, nz, ix, iy, iz = corner_around(x, y, z, corner, sides)
            if away < math.inf and nx * facing[0] + ny * facing[1] + nz * facing[2] < OPPOSITE:
                front = away + (point[0] - ix) * nx + (point[1] - iy) * ny + (point[2] - iz) * nz
                back = away + (node[0] - ix) * nx + (node[1] - iy) * ny + (node[2] - iz) * nz
                if front > opposite and back < 0.0:
                    return True
    return False


@kernel
def mark_nodes(point, height, facing, copied, marks):
    """Mark the nodes within reach of the cell of one particle.

    Args:
        point: of the particle, relative to its block's origin [cells].
        height, facing: see `nearest_surface`.
        copied, marks: see `Surroundings` and `Marks`.
    """
    sides, wanted, _ = copied
    reach, _, has_front, has_back = marks
    (x, y, z), (nx, ny, nz) = point, facing
    is_plane = wanted.shape[1] == 1
    has_front, has_back = has_front.reshape(-1), has_back.reshape(-1)
    more, low, end = math.ceil(reach), -BLOCK, 2 * BLOCK
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    first_y, end_y = (round(y), round(y) + 1) if is_plane else (max(cy + 1 - more, low), min(cy + more + 1, end))
    for ix in range(max(cx + 1 - more, low), min(cx + more + 1, end)):
        for iy in range(first_y, end_y):
            for iz in range(max(cz + 1 - more, low), min(cz + more + 1, end)):
                at = ix + BLOCK, 0 if is_plane else iy + BLOCK, iz + BLOCK
                node = wanted[at]
                if node < 0 or (has_front[node] and has_back[node]):
                    continue
                away, mx, my, mz = sides[at]
                along = nx * mx + ny * my + nz * mz
                if along > ALIKE:
                    has_front[node] = True
                    continue
                opposite = away + (x - ix) * mx + (y - iy) * my + (z - iz) * mz
                back = height + (ix - x) * nx + (iy - y) * ny + (iz - z) * nz
                is_behind = along < OPPOSITE and back < 0.0 and height > opposite
                if is_behind or is_wall_between(point, (1.0 * ix, 1.0 * iy, 1.0 * iz), (mx, my, mz), opposite, sides):
                    has_back[node] = True
                else:
                    has_front[node] = True


@kernel
def direction_of(nx, ny, nz):
    """The number of the one of 27 directions that is nearest to a unit vector, approximately."""
    number = 0
    for part in (nx, ny, nz):
        number = 3 * number + (2 if part > STEEP else 1 if part >= -STEEP else 0)
    return number


@kernel
def mark_from_run(table, begin, end, copied, marks):
    """Mark the nodes within reach of the particles of a block, once for each cell and each direction of the surface near it."""
    seen = copied.seen
    seen[:] = 0
    for slot in range(begin, end):
        x, y, z = 1.0 * table[POSITION, slot], 1.0 * table[POSITION + 1, slot], 1.0 * table[POSITION + 2, slot]
        cx, cy, cz = math.floor(x) + BLOCK, math.floor(y) + BLOCK, math.floor(z) + BLOCK
        if min(cx, cy, cz) < 0 or max(cx, cy, cz) >= 3 * BLOCK - 1:
            continue
        height, nx, ny, nz = nearest_surface(x, y, z, copied.sides)
        if height == -math.inf or height > marks.reach:
            continue
        cell = (cx * 3 * BLOCK + cy) * 3 * BLOCK + cz
        direction = direction_of(nx, ny, nz)
        if seen[cell] >> direction & 1 == 0:
            seen[cell] |= 1 << direction
            mark_nodes((x, y, z), height, (nx, ny, nz), copied, marks)
