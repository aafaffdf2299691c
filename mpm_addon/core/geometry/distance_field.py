"""A mesh's signed distance, sampled in blocks around the surface and interpolated between samples.

Space is divided into blocks of 8^3 cells. A block near the surface holds its 9^3 samples (those on shared faces are stored twice, so that
a query reads only one block); for any other block only the distance of its center is stored. Samples are at integer multiples of the
spacing, so that the nodes of a grid with twice the spacing are exact. Distances are exact up to `reach` from the surface; beyond that, a
value is a lower bound with the right sign.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .lattice import DIAGONAL, SAFE, lattice_scratch, measure_lattice
from .mesh_cells import NO_CELLS, MeshCells, winding_in
from .mesh_distance import nearest
from .mesh_topology import Floats
from .mesh_tree import MeshTree, search_stack
from .thickness import CELLS

SAMPLES = CELLS + 1
BLOCK_RADIUS = 0.5 * CELLS * DIAGONAL
GROUP = 4
# samples along the edge of each cube of samples that is measured at once
CUBE = 2
BLOCKS_PER_TASK = 8
QUERIES_PER_TASK = 1024
# where the gradient is shorter than this fraction of a distance's, the samples belong to two sides of the mesh
LEAST_SLOPE = 0.7


class DistanceField(NamedTuple):
    """A sparse sampled distance.

    Attributes:
        origin: corner of the first block [m], shape (3,).
        spacing: distance between samples [m].
        exact: distance from the surface up to which samples are exact [m]; points in far blocks are farther away.
        rows: the row of each block's samples, -1 for a far block, shape (bx, by, bz).
        centers: signed distance at each block's center, or a bound [m], shape (bx, by, bz).
        samples: signed distances [m], shape (k, 9, 9, 9).
    """

    origin: Floats
    spacing: float
    exact: float
    rows: NDArray[np.int32]
    centers: NDArray[np.float32]
    samples: NDArray[np.float32]


def build_field(tree: MeshTree, cells: MeshCells | None, center: Floats, spacing: float, reach: float) -> DistanceField:
    """Sample the distance from a mesh.

    Args:
        tree: the triangles, relative to `center`.
        cells: the same triangles, closed and facing outward, if the inside is negative; None if the distance has no sign.
        center: [m], shape (3,).
        spacing: distance between samples [m].
        reach: distance from the surface up to which interpolated values are exact [m].
    """
    block = CELLS * spacing
    # all eight samples around a query within reach must be exact
    exact = reach + DIAGONAL * spacing
    low = np.floor((tree.boxes[0, :3] + center - exact) / spacing) - CELLS
    groups = np.ceil((tree.boxes[0, 3:] + center + exact - low * spacing) / (block * GROUP)).astype(np.int64)
    origin = low * spacing
    centers = np.empty(tuple(groups * GROUP))
    _measure_centers(tree, origin - center, block, exact, centers)
    if cells is not None:
        _sign(cells, origin + 0.5 * block - center, block, centers)
    active = np.ascontiguousarray(np.argwhere(np.abs(centers) <= BLOCK_RADIUS * spacing + exact))
    rows = np.full(centers.shape, -1, dtype=np.int32)
    rows[tuple(active.T)] = np.arange(len(active))
    measured = np.empty((len(active), CELLS, CELLS, CELLS), dtype=np.float32)
    is_solid = cells is not None
    _measure_blocks(tree, cells or NO_CELLS, active, origin - center, spacing, exact, is_solid, measured)
    samples = np.empty((len(active), SAMPLES, SAMPLES, SAMPLES), dtype=np.float32)
    _join(active, rows, centers, measured, spacing, exact, samples)
    return DistanceField(origin, spacing, exact, rows, centers.astype(np.float32), samples)


@parallel_kernel(allocates=True)
def _measure_centers(tickets, tree, origin, block, exact, centers):
    """Measure the distance at the centers of all blocks; in far groups of blocks, a bound from the group's center."""
    nx, ny, nz = centers.shape[0] // GROUP, centers.shape[1] // GROUP, centers.shape[2] // GROUP
    group_reach = 0.5 * GROUP * block * DIAGONAL + exact
    for group in shared(tickets[0], nx * ny * nz, 64):
        stack = search_stack()
        i, j, k = group // (ny * nz) * GROUP, group // nz % ny * GROUP, group % nz * GROUP
        x, y, z = origin[0] + (i + 0.5 * GROUP) * block, origin[1] + (j + 0.5 * GROUP) * block, origin[2] + (k + 0.5 * GROUP) * block
        squared, guess = nearest(tree, x, y, z, 0, stack)
        middle = np.sqrt(squared)
        for part in range(GROUP**3):
            di, dj, dk = part // GROUP**2, part // GROUP % GROUP, part % GROUP
            dx, dy, dz = (di + 0.5 - 0.5 * GROUP) * block, (dj + 0.5 - 0.5 * GROUP) * block, (dk + 0.5 - 0.5 * GROUP) * block
            if middle > group_reach:
                value = middle - np.sqrt(dx * dx + dy * dy + dz * dz)
            else:
                squared, guess = nearest(tree, x + dx, y + dy, z + dz, guess, stack)
                value = np.sqrt(squared)
            centers[i + di, j + dj, k + dk] = value


@kernel
def _sign(cells, origin, spacing, distance):
    """Make the distances of a lattice's points inside a closed mesh negative; `origin` is the first point [m].

    No surface lies between two points whose distances from it add up to more than the distance between them.
    """
    nx, ny, nz = distance.shape
    for i in range(nx):
        for j in range(ny):
            sign, before = 0.0, 0.0
            for k in range(nz):
                here = distance[i, j, k]
                if sign == 0.0 or here + before <= spacing * SAFE:
                    winding = winding_in(cells, origin[0] + i * spacing, origin[1] + j * spacing, origin[2] + k * spacing)
                    sign = -1.0 if winding >= 1 else 1.0
                before = here
                distance[i, j, k] = sign * here


@parallel_kernel(allocates=True)
def _measure_blocks(tickets, tree, cells, active, origin, spacing, exact, is_solid, measured):
    """Write the distances at the samples of blocks (k, 3), except those on their far sides, into measured (k, 8, 8, 8)."""
    for task in shared(tickets[0], (len(active) + BLOCKS_PER_TASK - 1) // BLOCKS_PER_TASK, 1):
        scratch = lattice_scratch()
        distance, triangle = np.empty((CELLS, CELLS, CELLS)), np.empty((CELLS, CELLS, CELLS), np.int64)
        guess = 0
        for block in range(task * BLOCKS_PER_TASK, min((task + 1) * BLOCKS_PER_TASK, len(active))):
            corner = origin + active[block] * (CELLS * spacing)
            guess = measure_lattice(tree, (corner[0], corner[1], corner[2]), spacing, CUBE, exact, guess, scratch, distance, triangle)
            if is_solid:
                _sign(cells, corner, spacing, distance)
            measured[block] = distance


@kernel(allocates=True)
def _join(active, rows, centers, measured, spacing, exact, samples):
    """Add the samples on each block's far sides: those of the next blocks, or a bound from the center of a far block."""
    nx, ny, nz = rows.shape
    for block in range(len(active)):
        samples[block, :CELLS, :CELLS, :CELLS] = measured[block]
        for i in range(SAMPLES):
            for j in range(SAMPLES):
                for k in range(0 if i == CELLS or j == CELLS else CELLS, SAMPLES):
                    a, b, c = active[block, 0] + i // CELLS, active[block, 1] + j // CELLS, active[block, 2] + k // CELLS
                    di, dj, dk = i % CELLS, j % CELLS, k % CELLS
                    if a < nx and b < ny and c < nz and rows[a, b, c] >= 0:
                        samples[block, i, j, k] = measured[rows[a, b, c], di, dj, dk]
                        continue
                    away = spacing * np.sqrt((di - 0.5 * CELLS) ** 2 + (dj - 0.5 * CELLS) ** 2 + (dk - 0.5 * CELLS) ** 2)
                    value = centers[min(a, nx - 1), min(b, ny - 1), min(c, nz - 1)]
                    samples[block, i, j, k] = np.copysign(max(abs(value) - away, exact), value)


@parallel_kernel
def query_field(tickets, field, points, offset, distance, normal):
    """Interpolate the field at points (n, 3) [m], with the surface moved outward by `offset` [m].

    Writes the distance (n,) and its unit gradient (n, 3). In blocks with samples both are trilinear; elsewhere the distance is a bound
    with the right sign, and the gradient comes from the centers of the blocks.
    """
    for task in shared(tickets[0], (len(points) + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK, 1):
        for query in range(task * QUERIES_PER_TASK, min((task + 1) * QUERIES_PER_TASK, len(points))):
            x = (points[query, 0] - field.origin[0]) / field.spacing
            y = (points[query, 1] - field.origin[1]) / field.spacing
            z = (points[query, 2] - field.origin[2]) / field.spacing
            value, gx, gy, gz = _field_at(field, x, y, z)
            length = np.sqrt(gx * gx + gy * gy + gz * gz)
            if length < LEAST_SLOPE * field.spacing:
                gx, gy, gz, length = _steepest_nearby(field, x, y, z)
            if not length > 1e-6:
                gx, gy, gz, length = 0.0, 0.0, 1.0, 1.0
            distance[query] = value - offset
            normal[query, 0], normal[query, 1], normal[query, 2] = gx / length, gy / length, gz / length


@kernel
def _steepest_nearby(field, x, y, z):
    """The steepest gradient at eight points half a sample away, and its length: midway between two sides the distance has a ridge."""
    best_x, best_y, best_z, best = 0.0, 0.0, 0.0, 0.0
    for corner in range(8):
        at_x, at_y, at_z = x + 0.5 - (corner >> 2), y + 0.5 - (corner >> 1 & 1), z + 0.5 - (corner & 1)
        _, gx, gy, gz = _field_at(field, at_x, at_y, at_z)
        length = np.sqrt(gx * gx + gy * gy + gz * gz)
        if length > best:
            best_x, best_y, best_z, best = gx, gy, gz, length
    return best_x, best_y, best_z, best


@kernel
def _field_at(field, x, y, z):
    """Distance [m] and its gradient at (x, y, z), in samples from the field's origin."""
    nx, ny, nz = field.rows.shape
    # the nearest point of the field, for points outside of it
    cx, cy, cz = min(max(x, 0.0), CELLS * nx), min(max(y, 0.0), CELLS * ny), min(max(z, 0.0), CELLS * nz)
    i, j, k = min(int(cx / CELLS), nx - 1), min(int(cy / CELLS), ny - 1), min(int(cz / CELLS), nz - 1)
    row = field.rows[i, j, k]
    if row >= 0:
        value, gx, gy, gz = _interpolated(field.samples[row], cx - CELLS * i, cy - CELLS * j, cz - CELLS * k)
    else:
        value, gx, gy, gz = _bound(field, i, j, k, cx, cy, cz)
    dx, dy, dz = x - cx, y - cy, z - cz
    away = np.sqrt(dx * dx + dy * dy + dz * dz)
    if away > 0.0:
        return max(value, away * field.spacing + field.exact), dx, dy, dz
    return value, gx, gy, gz


@kernel
def _interpolated(samples, x, y, z):
    """Trilinear interpolation in one block: value [m] and gradient; x, y, z in [0, 8]."""
    i, j, k = min(int(x), CELLS - 1), min(int(y), CELLS - 1), min(int(z), CELLS - 1)
    x, y, z = x - i, y - j, z - k
    value = gx = gy = gz = 0.0
    for a in range(2):
        wx, sx = (x, 1.0) if a else (1.0 - x, -1.0)
        for b in range(2):
            wy, sy = (y, 1.0) if b else (1.0 - y, -1.0)
            low, high = float(samples[i + a, j + b, k]), float(samples[i + a, j + b, k + 1])
            along = (1.0 - z) * low + z * high
            value += wx * wy * along
            gx += sx * wy * along
            gy += wx * sy * along
            gz += wx * wy * (high - low)
    return value, gx, gy, gz


@kernel
def _bound(field, i, j, k, x, y, z):
    """A lower bound of the distance in a far block, with its sign, and the gradient from the centers of the blocks."""
    nx, ny, nz = field.rows.shape
    centers = field.centers
    gx = centers[min(i + 1, nx - 1), j, k] - centers[max(i - 1, 0), j, k]
    gy = centers[i, min(j + 1, ny - 1), k] - centers[i, max(j - 1, 0), k]
    gz = centers[i, j, min(k + 1, nz - 1)] - centers[i, j, max(k - 1, 0)]
    dx, dy, dz = x - CELLS * (i + 0.5), y - CELLS * (j + 0.5), z - CELLS * (k + 0.5)
    away = field.spacing * np.sqrt(dx * dx + dy * dy + dz * dz)
    value = float(centers[i, j, k])
    return np.copysign(max(abs(value) - away, field.exact), value), float(gx), float(gy), float(gz)
