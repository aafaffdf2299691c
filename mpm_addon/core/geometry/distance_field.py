"""A mesh's signed distance, sampled where it matters: in blocks around the surface, interpolated between samples.

Space is cut into blocks of 8 cells an edge. A block near the surface holds its 9^3 samples (its faces are stored on
both sides, so that a query reads one block alone); of any other block only the distance of its centre is kept.
Samples lie at integer multiples of the spacing, so that the nodes of a grid of twice the spacing are exact.
Distances count as exact up to `reach` from the surface; beyond, a value is a lower bound with the right sign.
"""

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from ..kernels.compilation import kernel
from .mesh_distance import nearest
from .mesh_topology import Floats
from .mesh_tree import STACK_SIZE, MeshTree
from .winding import FAR_FOR_SIGNS, winding_at

CELLS = 8
SAMPLES = CELLS + 1
DIAGONAL = 3**0.5
BLOCK_RADIUS = 0.5 * CELLS * DIAGONAL
GROUP = 4
QUERIES_PER_TASK = 1024


class DistanceField(NamedTuple):
    """A sparse sampled distance.

    Attributes:
        origin: corner of the first block [m], shape (3,).
        spacing: distance between samples [m].
        exact: distance from the surface up to which samples are exact; points in far blocks are farther away [m].
        rows: for each block the row of its samples, or -1 for a far block, shape (bx, by, bz).
        centers: signed distance at each block's centre, or a bound of it [m], shape (bx, by, bz).
        samples: signed distances [m], shape (k, 9, 9, 9).
    """

    origin: Floats
    spacing: float
    exact: float
    rows: NDArray[np.int32]
    centers: NDArray[np.float32]
    samples: NDArray[np.float32]


def build_field(tree: MeshTree, center: Floats, spacing: float, reach: float, *, is_solid: bool) -> DistanceField:
    """Sample the distance from a mesh.

    Args:
        tree: the triangles, relative to `center`; closed and facing outward where `is_solid`.
        center: [m], shape (3,).
        spacing: distance between samples [m].
        reach: distance from the surface up to which interpolated values are right [m].
        is_solid: whether the inside is negative; otherwise the distance has no sign.
    """
    block = CELLS * spacing
    # All eight samples around a query within reach must be exact.
    exact = reach + DIAGONAL * spacing
    low = np.floor((tree.boxes[0, :3] + center - exact) / spacing) - CELLS
    groups = np.ceil((tree.boxes[0, 3:] + center + exact - low * spacing) / (block * GROUP)).astype(np.int64)
    origin = low * spacing
    centers = np.empty(tuple(groups * GROUP), dtype=np.float32)
    _measure_centers(tree, origin - center, block, exact, is_solid, centers)
    active = np.argwhere(np.abs(centers) <= BLOCK_RADIUS * spacing + exact)
    rows = np.full(centers.shape, -1, dtype=np.int32)
    rows[tuple(active.T)] = np.arange(len(active))
    samples = np.empty((len(active), SAMPLES, SAMPLES, SAMPLES), dtype=np.float32)
    _fill_blocks(tree, active, origin - center, spacing, exact, is_solid, samples)
    return DistanceField(origin, spacing, exact, rows, centers, samples)


@kernel(parallel=True)
def _measure_centers(tree, origin, block, exact, is_solid, centers):
    """The signed distance at the centres of all blocks; far groups of blocks get a bound from the group's centre."""
    nx, ny, nz = centers.shape[0] // GROUP, centers.shape[1] // GROUP, centers.shape[2] // GROUP
    group_reach = 0.5 * GROUP * block * DIAGONAL + exact
    for group in prange(nx * ny * nz):
        stack, stack_distance = np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE)
        first = np.array([group // (ny * nz), group // nz % ny, group % nz]) * GROUP
        middle = origin + (first + 0.5 * GROUP) * block
        distance, guess = _signed_at(tree, middle[0], middle[1], middle[2], 0, is_solid, stack, stack_distance)
        for i in range(GROUP):
            for j in range(GROUP):
                for k in range(GROUP):
                    offset = (np.array([i, j, k]) + (0.5 - 0.5 * GROUP)) * block
                    x, y, z = middle + offset
                    away = np.sqrt(np.sum(offset * offset))
                    if abs(distance) > group_reach:
                        value = np.copysign(abs(distance) - away, distance)
                    else:
                        value, guess = _signed_at(tree, x, y, z, guess, is_solid, stack, stack_distance)
                    centers[first[0] + i, first[1] + j, first[2] + k] = value


@kernel
def _signed_at(tree, x, y, z, guess, is_solid, stack, stack_distance):
    squared, triangle = nearest(tree, x, y, z, guess, stack, stack_distance)
    distance = np.sqrt(squared)
    if is_solid and winding_at(tree, x, y, z, FAR_FOR_SIGNS, stack) >= 0.5:
        distance = -distance
    return distance, triangle


@kernel(parallel=True)
def _fill_blocks(tree, active, origin, spacing, exact, is_solid, samples):
    for block in prange(len(active)):
        stack, stack_distance = np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE)
        corner = origin + active[block] * (CELLS * spacing)
        distance = np.empty((SAMPLES, SAMPLES, SAMPLES))
        _measure_block(tree, corner, spacing, exact, stack, stack_distance, distance)
        if is_solid:
            _sign_block(tree, corner, spacing, stack, distance)
        samples[block] = distance


@kernel
def _measure_block(tree, corner, spacing, exact, stack, stack_distance, distance):
    """Unsigned distances of a block's samples, exact up to `exact`, beyond it a lower bound above `exact`.

    The samples are taken in cubes of 3^3: where a cube's middle is far, its other samples need no search.
    """
    guess = 0
    for cube in range(27):
        i, j, k = cube // 9 * 3 + 1, cube // 3 % 3 * 3 + 1, cube % 3 * 3 + 1
        x, y, z = corner[0] + i * spacing, corner[1] + j * spacing, corner[2] + k * spacing
        squared, guess = nearest(tree, x, y, z, guess, stack, stack_distance)
        middle = np.sqrt(squared)
        near = guess
        for part in range(27):
            di, dj, dk = part // 9 - 1, part // 3 % 3 - 1, part % 3 - 1
            if middle > exact + DIAGONAL * spacing:
                value = middle - spacing * np.sqrt(float(di * di + dj * dj + dk * dk))
            else:
                squared, near = nearest(tree, x + di * spacing, y + dj * spacing, z + dk * spacing, near, stack, stack_distance)
                value = np.sqrt(squared)
            distance[i + di, j + dj, k + dk] = value


@kernel
def _sign_block(tree, corner, spacing, stack, distance):
    """Make the distances of samples inside the mesh negative.

    Two samples whose distances sum to more than the way between them have no surface between them, so a closed mesh
    winds around both alike. The winding number is asked once for each set of samples that are connected so.
    """
    is_known = np.zeros((SAMPLES, SAMPLES, SAMPLES), np.bool_)
    queue = np.empty((SAMPLES**3, 3), np.int64)
    for sample in range(SAMPLES**3):
        i, j, k = sample // SAMPLES**2, sample // SAMPLES % SAMPLES, sample % SAMPLES
        if is_known[i, j, k]:
            continue
        x, y, z = corner[0] + i * spacing, corner[1] + j * spacing, corner[2] + k * spacing
        sign = -1.0 if winding_at(tree, x, y, z, FAR_FOR_SIGNS, stack) >= 0.5 else 1.0
        queue[0] = i, j, k
        is_known[i, j, k] = True
        distance[i, j, k] *= sign
        length = 1
        while length > 0:
            length -= 1
            i, j, k = queue[length]
            length = _spread_sign(i, j, k, sign, spacing, is_known, distance, queue, length)


@kernel
def _spread_sign(i, j, k, sign, spacing, is_known, distance, queue, length):
    """Give the sign of sample (i, j, k) to those of its 26 neighbours that no surface parts from it."""
    here = abs(distance[i, j, k])
    for a in range(max(i - 1, 0), min(i + 2, SAMPLES)):
        for b in range(max(j - 1, 0), min(j + 2, SAMPLES)):
            for c in range(max(k - 1, 0), min(k + 2, SAMPLES)):
                if is_known[a, b, c]:
                    continue
                way = spacing * np.sqrt(float((a - i) ** 2 + (b - j) ** 2 + (c - k) ** 2))
                if here + distance[a, b, c] > way * (1.0 + 1e-9):
                    is_known[a, b, c] = True
                    distance[a, b, c] *= sign
                    queue[length] = a, b, c
                    length += 1
    return length


@kernel(parallel=True)
def query_field(field, points, offset, distance, normal):
    """Interpolate the field at points (n, 3) [m], with the surface moved outward by `offset` [m].

    Writes the distance (n,) and its unit gradient (n, 3). In blocks that hold samples both are trilinear; elsewhere
    the distance is a bound of the right sign and the gradient that of the blocks' centres.
    """
    for task in prange((len(points) + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK):
        for query in range(task * QUERIES_PER_TASK, min((task + 1) * QUERIES_PER_TASK, len(points))):
            x = (points[query, 0] - field.origin[0]) / field.spacing
            y = (points[query, 1] - field.origin[1]) / field.spacing
            z = (points[query, 2] - field.origin[2]) / field.spacing
            value, gx, gy, gz = _field_at(field, x, y, z)
            length = np.sqrt(gx * gx + gy * gy + gz * gz)
            if not length > 1e-6:
                gx, gy, gz, length = 0.0, 0.0, 1.0, 1.0
            distance[query] = value - offset
            normal[query, 0], normal[query, 1], normal[query, 2] = gx / length, gy / length, gz / length


@kernel
def _field_at(field, x, y, z):
    """Distance [m] and its gradient at (x, y, z), counted in samples from the field's origin."""
    nx, ny, nz = field.rows.shape
    # The nearest point of the field, for points outside it.
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
    """A lower bound of the distance in a far block, with its sign, and the gradient of the blocks' centres."""
    nx, ny, nz = field.rows.shape
    centers = field.centers
    gx = centers[min(i + 1, nx - 1), j, k] - centers[max(i - 1, 0), j, k]
    gy = centers[i, min(j + 1, ny - 1), k] - centers[i, max(j - 1, 0), k]
    gz = centers[i, j, min(k + 1, nz - 1)] - centers[i, j, max(k - 1, 0)]
    dx, dy, dz = x - CELLS * (i + 0.5), y - CELLS * (j + 0.5), z - CELLS * (k + 0.5)
    away = field.spacing * np.sqrt(dx * dx + dy * dy + dz * dz)
    value = float(centers[i, j, k])
    return np.copysign(max(abs(value) - away, field.exact), value), float(gx), float(gy), float(gz)
