"""A mesh's triangles in cubic cells, with the winding number at one point of each, so that a few triangles decide what is inside.

The winding numbers of a closed mesh at two points differ only by the triangles that the line between them crosses, each counted by the
side from which it is crossed. So the winding number is an exact integer at the cost of the triangles in one cell.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from .mesh_topology import Floats, Integers

# edge of a cell, relative to that of a square with a triangle's mean area; and the least number of cells along the mesh's longest side
EDGE, LEAST_CELLS = 2.0, 48
MOST_CELLS, MOST_VISITS = 2**22, 2**25
# the points' position in their cells: off the planes and lines where a mesh is likely to have vertices and faces
PLACES = ((0.5377, 0.4641, 0.5213), (0.4717, 0.5519, 0.4391), (0.5107, 0.5823, 0.4969))
SAFE = 1e-9


class MeshCells(NamedTuple):
    """The cells around a mesh; in 2D, one layer of cells around the plane y = 0.

    Attributes:
        low: corner of the first cell [m], shape (3,).
        edge: of a cell [m].
        place: of the point in its cell, relative to the edge, shape (3,).
        starts: where each cell's triangles begin in `members`, and the end of the last cell's, shape (nx ny nz + 1,).
        members: numbers of triangles, cell by cell.
        triangles: first corner and the two edges that start there [m], shape (m, 9).
        windings: the winding number around each cell's point, shape (nx, ny, nz).
    """

    low: Floats
    edge: float
    place: Floats
    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    triangles: Floats
    windings: NDArray[np.int16]


NO_CELLS = MeshCells(
    np.zeros(3), 1.0, np.zeros(3), np.zeros(1, np.int64), np.empty(0, np.int32), np.empty((0, 9)), np.empty((0, 0, 0), np.int16)
)


def build_cells(vertices: Floats, corners: Integers, *, is_flat: bool = False) -> MeshCells:
    """Sort the triangles of a closed mesh into cells.

    Args:
        vertices: [m], shape (n, 3).
        corners: vertex indices, shape (m, 3), counterclockwise seen from outside.
        is_flat: whether only points in the plane y = 0 are tested; then only the section of the triangles with that plane must be closed.
    """
    first, second, third = (vertices[corners[:, corner]] for corner in range(3))
    triangles = np.hstack([first, second - first, third - first])
    lows, highs = np.minimum(np.minimum(first, second), third), np.maximum(np.maximum(first, second), third)
    if is_flat:
        lows[:, 1] = highs[:, 1] = 0.0
    low, high = lows.min(axis=0), highs.max(axis=0)
    edge = _edge_of(triangles, lows, highs, high - low)
    # an empty layer on all sides
    counts = np.floor((high - low) / edge).astype(np.int64) + 3
    low = 0.5 * (low + high - counts * edge)
    if is_flat:
        counts[1], low[1] = 1, -0.5 * edge
    starts = np.zeros(int(counts.prod()) + 1, np.int64)
    _sort_in(triangles, lows, highs, low, edge, counts, starts, np.empty(0, np.int32))
    members = np.empty(int(starts[1:].sum()), np.int32)
    starts = np.cumsum(starts)
    ends = starts.copy()
    _sort_in(triangles, lows, highs, low, edge, counts, ends, members)
    windings = np.zeros(tuple(counts), np.int16)
    cells = NO_CELLS
    for place in np.array(PLACES):
        if is_flat:
            place[1] = 0.5
        cells = MeshCells(low, edge, place, starts, members, triangles, windings)
        # a column that ends inside the mesh has hit an edge or a corner exactly
        if _wind(cells):
            break
    return cells


def _edge_of(triangles: Floats, lows: Floats, highs: Floats, extents: Floats) -> float:
    """The edge of the cells [m]: about that of the triangles, unless that gives too many cells, or too many per triangle."""
    areas = 0.5 * np.linalg.norm(np.cross(triangles[:, 3:6], triangles[:, 6:]), axis=1)
    edge = min(EDGE * float(areas.mean()) ** 0.5, float(extents.max()) / LEAST_CELLS)
    while True:
        is_few = np.prod(np.floor(extents / edge) + 3.0) <= MOST_CELLS
        if is_few and np.prod((highs - lows) / edge + 1.0, axis=1).sum() <= MOST_VISITS + 8 * len(triangles):
            return edge
        edge *= 1.25


@kernel(allocates=True)
def _sort_in(triangles, lows, highs, low, edge, counts, places, members):
    """Count the triangles of each cell in the next element of `places`; or, with room for members, write them and advance places."""
    reach = 0.5 * edge * (1.0 + SAFE)
    for number in range(len(triangles)):
        row = triangles[number]
        nx = row[4] * row[8] - row[5] * row[7]
        ny = row[5] * row[6] - row[3] * row[8]
        nz = row[3] * row[7] - row[4] * row[6]
        width = reach * (abs(nx) + abs(ny) + abs(nz))
        first, last = np.empty(3, np.int64), np.empty(3, np.int64)
        for axis in range(3):
            first[axis] = max(int((lows[number, axis] - low[axis]) / edge - SAFE), 0)
            last[axis] = min(int((highs[number, axis] - low[axis]) / edge + SAFE), counts[axis] - 1)
        for i in range(first[0], last[0] + 1):
            x = low[0] + (i + 0.5) * edge - row[0]
            for j in range(first[1], last[1] + 1):
                y = low[1] + (j + 0.5) * edge - row[1]
                for k in range(first[2], last[2] + 1):
                    z = low[2] + (k + 0.5) * edge - row[2]
                    if abs(nx * x + ny * y + nz * z) > width:
                        continue
                    cell = (i * counts[1] + j) * counts[2] + k
                    if len(members):
                        members[places[cell]] = number
                        places[cell] += 1
                    else:
                        places[cell + 1] += 1


@kernel
def _wind(cells):
    """Find the winding numbers, upward along each column of cells; returns whether all columns end outside."""
    low, edge, place = cells.low, cells.edge, cells.place
    nx, ny, nz = cells.windings.shape
    is_sound = True
    for column in range(nx * ny):
        i, j = column // ny, column % ny
        x, y = low[0] + (i + place[0]) * edge, low[1] + (j + place[1]) * edge
        winding = 0
        for k in range(nz):
            bottom, at, top = low[2] + k * edge, low[2] + (k + place[2]) * edge, low[2] + (k + 1) * edge
            above = 0
            for member in range(cells.starts[column * nz + k], cells.starts[column * nz + k + 1]):
                sign, z = _crossing(cells.triangles[cells.members[member]], x, y)
                if sign != 0 and bottom <= z < top:
                    winding += sign
                    above += sign if z >= at else 0
            cells.windings[i, j, k] = winding - above
        is_sound = is_sound and winding == 0
    return is_sound


@kernel
def _crossing(triangle, x, y):
    """How an upward line through (x, y) crosses a triangle (1 into the mesh, -1 out of it, 0 not at all), and at which height."""
    px, py = x - triangle[0], y - triangle[1]
    ux, uy, vx, vy = triangle[3], triangle[4], triangle[6], triangle[7]
    area, s, t = ux * vy - uy * vx, px * vy - py * vx, ux * py - uy * px
    if area < 0.0:
        s, t = -s, -t
    if area == 0.0 or s < 0.0 or t < 0.0 or s + t > abs(area):
        return 0, 0.0
    return (-1 if area > 0.0 else 1), triangle[2] + (s * triangle[5] + t * triangle[8]) / abs(area)


@kernel
def winding_in(cells, x, y, z):
    """The winding number around (x, y, z), an integer."""
    nx, ny, nz = cells.windings.shape
    fx, fy, fz = (x - cells.low[0]) / cells.edge, (y - cells.low[1]) / cells.edge, (z - cells.low[2]) / cells.edge
    if not (0.0 <= fx < nx and 0.0 <= fy < ny and 0.0 <= fz < nz):
        return 0
    i, j, k = int(fx), int(fy), int(fz)
    winding, cell = int(cells.windings[i, j, k]), (i * ny + j) * nz + k
    # d is the vector from the cell's point p to (x, y, z)
    dx, dy, dz = (fx - i - cells.place[0]) * cells.edge, (fy - j - cells.place[1]) * cells.edge, (fz - k - cells.place[2]) * cells.edge
    px, py, pz = x - dx, y - dy, z - dz
    for member in range(cells.starts[cell], cells.starts[cell + 1]):
        row = cells.triangles[cells.members[member]]
        ux, uy, uz, vx, vy, vz = row[3], row[4], row[5], row[6], row[7], row[8]
        ox, oy, oz = px - row[0], py - row[1], pz - row[2]
        # o + r d = s u + t v by Cramer's rule, all times the determinant
        normal_x, normal_y, normal_z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        determinant = normal_x * dx + normal_y * dy + normal_z * dz
        r = -(normal_x * ox + normal_y * oy + normal_z * oz)
        s = dx * (oy * vz - oz * vy) + dy * (oz * vx - ox * vz) + dz * (ox * vy - oy * vx)
        t = dx * (uy * oz - uz * oy) + dy * (uz * ox - ux * oz) + dz * (ux * oy - uy * ox)
        side = -1 if determinant > 0.0 else 1
        determinant, r, s, t = -side * determinant, -side * r, -side * s, -side * t
        if determinant > 0.0 and r >= 0.0 and r < determinant and s >= 0.0 and t >= 0.0 and s + t <= determinant:
            winding += side
    return winding


@kernel(allocates=True)
def classify_blocks(cells, low, edge, states):
    """Write whether each block is outside (0), may be cut by the surface (1), or is inside (2).

    Args:
        low: corner of the first block [m], shape (3,).
        edge: of the blocks [m].
        states: (bx, by, bz) result.
    """
    counts, first, end = cells.windings.shape, np.empty(3, np.int64), np.empty(3, np.int64)
    for block in np.ndindex(states.shape):
        has_outside = has_inside = is_cut = False
        for axis in range(3):
            start = (low[axis] + block[axis] * edge - cells.low[axis]) / cells.edge
            first[axis], end[axis] = math.floor(start - SAFE), math.floor(start + edge / cells.edge + SAFE) + 1
            has_outside = has_outside or first[axis] < 0 or end[axis] > counts[axis]
            first[axis], end[axis] = max(first[axis], 0), min(end[axis], counts[axis])
        for i in range(first[0], end[0]):
            for j in range(first[1], end[1]):
                for k in range(first[2], end[2]):
                    cell = (i * counts[1] + j) * counts[2] + k
                    is_cut = is_cut or cells.starts[cell + 1] > cells.starts[cell]
                    is_in = cells.windings[i, j, k] >= 1
                    has_inside, has_outside = has_inside or is_in, has_outside or not is_in
        states[block] = 1 if is_cut or (has_inside and has_outside) else 2 * has_inside
