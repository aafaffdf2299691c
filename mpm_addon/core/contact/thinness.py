"""Thin parts of colliders, through which a particle's spline reaches."""

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import BLOCK, NEIGHBORS
from ..transfer.node_lookup import corner_place, neighbor_of_node, node_of_place
from .surface import LevelSets

# two surfaces face opposite ways if the dot product of their normals is less
OPPOSITE = -0.5
# search distance from a node for the surface on the other side, in steps of half a cell [cells]
FARTHEST = 4.0
# distance around a thin part within which nodes are included, along each axis [cells]
NEAR_THIN = 2


def nodes_near_thin(
    level_sets: LevelSets, around: NDArray[np.int64], is_half_space: NDArray[np.bool_], reach: float, axes: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Whether nodes lie where particles may reach through a collider, or near such a part; shape (rows, block nodes).

    Args:
        level_sets: of the colliders.
        around: (node blocks, 27 or 9) node blocks around those of the rows, -1 where there is none.
        is_half_space: whether each collider is a half space, which has no other side, (colliders,).
        reach: of a particle [cells].
        axes: of the grid.
    """
    is_thin = np.zeros(level_sets.distance.shape, np.bool_)
    find_thin(level_sets, around, is_half_space, reach, is_thin)
    for axis in axes if is_thin.any() else ():
        is_thin_near = np.zeros_like(is_thin)
        spread_thin(level_sets, around, axis, is_thin, is_thin_near)
        is_thin = is_thin_near
    return is_thin


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
def surface_behind(row, place, around, row_of_block, level_sets):
    """The nearest node along the inward normal whose nearest surface faces the opposite way and has the given node behind it.

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


@kernel
def is_in_wall(x, y, z, around, row_of_block, level_sets):
    """Whether a point is in a collider, by the surface nearest to the node that is nearest to it.

    Args:
        x, y, z: relative to a block's origin [cells].
    """
    # the level sets of 2D have only nodes in the plane
    ix, iy, iz = round(x), round(y), round(z)
    row, at = row_and_place(ix, iy, iz, around, row_of_block)
    if row < 0:
        return False
    nx, ny, nz = level_sets.normal[row, at]
    return level_sets.distance[row, at] / level_sets.spacing + (x - ix) * nx + (y - iy) * ny + (z - iz) * nz <= 0.0


@parallel_kernel
def find_thin(tickets, level_sets, neighbors, is_half_space, reach, is_thin):
    """Find the nodes where particles may reach through the collider: within reach of the nearest surface and of another behind it.

    Args:
        level_sets: see `LevelSets`.
        neighbors: (node blocks, 27 or 9) node blocks around those of the rows, -1 where there is none.
        is_half_space: see `nodes_near_thin`.
        reach: of a particle [cells].
        is_thin: (rows, block nodes) result; false before.
    """
    spacing = level_sets.spacing
    for row in shared(tickets[0], level_sets.owners.size, 16):
        block = level_sets.blocks[row]
        if block < 0 or is_half_space[level_sets.owners[row]]:
            continue
        row_of_block = level_sets.row_of_block[level_sets.owners[row]]
        for place in range(level_sets.distance.shape[1]):
            if abs(level_sets.distance[row, place]) < reach * spacing:
                depth, other, _ = surface_behind(row, place, neighbors[block], row_of_block, level_sets)
                is_thin[row, place] = other >= 0 and depth < reach * spacing


@parallel_kernel
def spread_thin(tickets, level_sets, neighbors, axis, is_thin, is_thin_near):
    """Find the nodes near thin ones along an axis.

    Around the edge of a sheet, where no surface lies behind another, particles reach to the other side, too.

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
        stride = corner_place(dx, dy, dz, neighbors[block])
        for place in range(is_thin.shape[1]):
            if not is_thin[row, place]:
                continue
            ix, iy, iz = node_of_place(place, is_thin.shape[1])
            along = dx * ix + dy * iy + dz * iz
            for step in range(-NEAR_THIN, NEAR_THIN + 1):
                if 0 <= along + step < BLOCK:
                    is_thin_near[row, place + step * stride] = True
                    continue
                other, at = row_and_place(ix + dx * step, iy + dy * step, iz + dz * step, neighbors[block], row_of_block)
                if other >= 0:
                    is_thin_near[other, at] = True
