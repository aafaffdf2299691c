"""A tree over the triangles of a mesh: bounding boxes for the nearest point, moments for the winding number.

The tree is complete and implicit: node k has the children 2k + 1 and 2k + 2, and each leaf holds an equal run of the
triangles in Morton order. Building is sorting and one pass upward, so that a mesh that deforms can afford it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.compilation import kernel

Floats = NDArray[np.float64]

TRIANGLES_PER_LEAF = 4
STACK_SIZE = 64


class MeshTree(NamedTuple):
    """The arrays of a tree over m triangles, with k nodes.

    Attributes:
        triangles: first corner and the two edges that start there [m], shape (m, 9), in the order of the leaves.
        numbers: which of the given triangles each of them is, shape (m,).
        leaf_starts: first triangle of each leaf, and the triangle count at the end, shape ((k + 1) / 2 + 1,).
        boxes: lowest and highest corner of each node [m], shape (k, 6).
        moments: per node, shape (k, 13): centre of area (3), squared radius about it, area vector N (3), and the
            symmetric first moment of the area vectors about the centre (xx, yy, zz, xy, xz, yz).
    """

    triangles: Floats
    numbers: NDArray[np.int64]
    leaf_starts: NDArray[np.int64]
    boxes: Floats
    moments: Floats


def build_tree(corners: Floats) -> MeshTree:
    """A tree over triangles given by their corners [m], shape (m, 3, 3). Those without area are left out."""
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    size = max(float(np.ptp(corners[:, :, axis])) for axis in range(3))
    numbers = np.flatnonzero(areas > 1e-14 * size**2)
    numbers = numbers[np.argsort(morton_codes(corners[numbers].mean(axis=1)), kind="stable")]
    corners = np.ascontiguousarray(corners[numbers])
    leaf_count = 1
    while leaf_count * TRIANGLES_PER_LEAF < len(corners):
        leaf_count *= 2
    leaf_starts = np.arange(leaf_count + 1) * len(corners) // leaf_count
    boxes = np.empty((2 * leaf_count - 1, 6))
    moments = np.zeros((2 * leaf_count - 1, 13))
    area = np.zeros(2 * leaf_count - 1)
    _fill_leaves(corners, leaf_starts, boxes, moments, area)
    _fill_inner_nodes(boxes, moments, area)
    _fill_radii(boxes, moments)
    triangles = np.concatenate([corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=1)
    return MeshTree(triangles, numbers, leaf_starts, boxes, moments)


def morton_codes(points: Floats) -> NDArray[np.uint64]:
    """The points' places on a curve that keeps neighbours together: the bits of 3 x 21-bit coordinates interleaved."""
    low = points.min(axis=0)
    size = float((points.max(axis=0) - low).max())
    cells = ((points - low) * ((2**21 - 1) / size if size > 0.0 else 0.0)).astype(np.uint64)
    for shift, mask in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        cells = (cells | (cells << np.uint64(shift))) & np.uint64(mask)
    return cells[:, 0] | (cells[:, 1] << np.uint64(1)) | (cells[:, 2] << np.uint64(2))


@kernel
def _fill_leaves(corners, leaf_starts, boxes, moments, areas):
    first = len(leaf_starts) - 2
    for leaf in range(len(leaf_starts) - 1):
        box, moment = boxes[first + leaf], moments[first + leaf]
        box[:3] = np.inf
        box[3:] = -np.inf
        for triangle in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
            a, b, c = corners[triangle]
            for axis in range(3):
                box[axis] = min(box[axis], a[axis], b[axis], c[axis])
                box[3 + axis] = max(box[3 + axis], a[axis], b[axis], c[axis])
            nx, ny, nz = _area_vector(a, b, c)
            area = np.sqrt(nx * nx + ny * ny + nz * nz)
            areas[first + leaf] += area
            for axis in range(3):
                moment[axis] += area * (a[axis] + b[axis] + c[axis]) / 3.0
        moment[:3] /= areas[first + leaf]
        for triangle in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
            a, b, c = corners[triangle]
            nx, ny, nz = _area_vector(a, b, c)
            x = (a[0] + b[0] + c[0]) / 3.0 - moment[0]
            y = (a[1] + b[1] + c[1]) / 3.0 - moment[1]
            z = (a[2] + b[2] + c[2]) / 3.0 - moment[2]
            _add_moment(moment, nx, ny, nz, x, y, z)


@kernel
def _fill_inner_nodes(boxes, moments, areas):
    for node in range(len(boxes) // 2 - 1, -1, -1):
        left, right = 2 * node + 1, 2 * node + 2
        areas[node] = areas[left] + areas[right]
        moment = moments[node]
        for axis in range(3):
            boxes[node, axis] = min(boxes[left, axis], boxes[right, axis])
            boxes[node, 3 + axis] = max(boxes[left, 3 + axis], boxes[right, 3 + axis])
            total = areas[left] * moments[left, axis] + areas[right] * moments[right, axis]
            moment[axis] = total / areas[node]
        for child in (left, right):
            part = moments[child]
            x, y, z = part[0] - moment[0], part[1] - moment[1], part[2] - moment[2]
            _add_moment(moment, part[4], part[5], part[6], x, y, z)
            for entry in range(7, 13):
                moment[entry] += part[entry]


@kernel
def _fill_radii(boxes, moments):
    for node in range(len(boxes)):
        for axis in range(3):
            middle = moments[node, axis]
            moments[node, 3] += max(boxes[node, 3 + axis] - middle, middle - boxes[node, axis]) ** 2


@kernel
def _area_vector(a, b, c):
    """Half the cross product of two edges: the triangle's normal times its area."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return 0.5 * (uy * vz - uz * vy), 0.5 * (uz * vx - ux * vz), 0.5 * (ux * vy - uy * vx)


@kernel
def _add_moment(moment, nx, ny, nz, x, y, z):
    """Add an area vector at (x, y, z) from the node's centre to its moments."""
    moment[4] += nx
    moment[5] += ny
    moment[6] += nz
    moment[7] += nx * x
    moment[8] += ny * y
    moment[9] += nz * z
    moment[10] += 0.5 * (nx * y + ny * x)
    moment[11] += 0.5 * (nx * z + nz * x)
    moment[12] += 0.5 * (ny * z + nz * y)
