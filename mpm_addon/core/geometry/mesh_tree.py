"""A tree over the triangles of a mesh: bounding boxes for the nearest point, moments for the winding number.

The tree is complete and implicit: node k has the children 2k + 1 and 2k + 2, and each leaf holds an equal run of triangles in Morton order.
To build it, triangles are sorted and nodes are filled in one pass upward; a deforming mesh keeps its order and repeats only the pass.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .morton import morton_codes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TRIANGLES_PER_LEAF = 4
MOMENTS, AREA = 14, 13
STACK_SIZE = 64


class SearchStack(NamedTuple):
    """Nodes of a tree that a search has yet to visit.

    Attributes:
        nodes: (STACK_SIZE,) their numbers; distances: (STACK_SIZE,) squared distances of their boxes [m^2].
    """

    nodes: Integers
    distances: Floats


@kernel(allocates=True)
def search_stack():
    """A new stack for searches."""
    return SearchStack(np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE))


class MeshTree(NamedTuple):
    """The arrays of a tree over m triangles, with k nodes.

    Attributes:
        triangles: first corner and the two edges that start there [m], shape (m, 9), in the order of the leaves.
        numbers: of the given triangles, shape (m,).
        leaf_starts: first triangle of each leaf, and the triangle count at the end, shape ((k + 1) / 2 + 1,).
        boxes: lowest and highest corner of each node [m], shape (k, 6).
        moments: per node, shape (k, 14): center of area (3), squared radius about it, area vector N (3), the symmetric first moment of
            the area vectors about the center (xx, yy, zz, xy, xz, yz), and the area.
    """

    triangles: Floats
    numbers: NDArray[np.int64]
    leaf_starts: NDArray[np.int64]
    boxes: Floats
    moments: Floats


def build_tree(vertices: Floats, triangles: Integers, *, keeps_all: bool = False) -> MeshTree:
    """A tree over triangles.

    Args:
        vertices: [m], shape (n, 3).
        triangles: vertex indices, shape (m, 3).
        keeps_all: whether triangles without area are kept, because they may gain area later; otherwise they are dropped.
    """
    corners = vertices[triangles]
    numbers = np.arange(len(triangles))
    if not keeps_all:
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        size = max(float(np.ptp(corners[:, :, axis])) for axis in range(3))
        numbers = np.flatnonzero(areas > 1e-14 * size**2)
    numbers = numbers[np.argsort(morton_codes(corners[numbers].mean(axis=1)), kind="stable")]
    leaf_count = 1
    while leaf_count * TRIANGLES_PER_LEAF < len(numbers):
        leaf_count *= 2
    leaf_starts = np.arange(leaf_count + 1) * len(numbers) // leaf_count
    nodes = 2 * leaf_count - 1
    tree = MeshTree(np.empty((len(numbers), 9)), numbers, leaf_starts, np.empty((nodes, 6)), np.empty((nodes, MOMENTS)))
    refit(tree, vertices, np.ascontiguousarray(triangles[numbers]))
    return tree


def refit(tree: MeshTree, vertices: Floats, corner_vertices: Integers) -> None:
    """Fit a tree to new positions of its vertices (n, 3) [m]; `corner_vertices` (m, 3) are in the order of the tree."""
    _fill_leaves(vertices, corner_vertices, tree.triangles, tree.leaf_starts, tree.boxes, tree.moments)
    _fill_inner_nodes(tree.boxes, tree.moments)
    _fill_radii(tree.boxes, tree.moments)


@parallel_kernel
def _fill_leaves(tickets, vertices, corner_vertices, triangles, leaf_starts, boxes, moments):
    for leaf in shared(tickets[0], len(leaf_starts) - 1, 16):
        node = len(leaf_starts) - 2 + leaf
        _fill_leaf(vertices, corner_vertices, triangles, leaf_starts[leaf], leaf_starts[leaf + 1], boxes[node], moments[node])


@kernel
def _fill_leaf(vertices, corner_vertices, triangles, first, end, box, moment):
    box[:3] = np.inf
    box[3:] = -np.inf
    moment[:] = 0.0
    for triangle in range(first, end):
        a, b, c = corner_vertices[triangle]
        for axis in range(3):
            x, y, z = vertices[a, axis], vertices[b, axis], vertices[c, axis]
            triangles[triangle, axis] = x
            triangles[triangle, 3 + axis] = y - x
            triangles[triangle, 6 + axis] = z - x
            box[axis] = min(box[axis], x, y, z)
            box[3 + axis] = max(box[3 + axis], x, y, z)
        nx, ny, nz = _area_vector(triangles[triangle])
        area = np.sqrt(nx * nx + ny * ny + nz * nz)
        moment[AREA] += area
        for axis in range(3):
            moment[axis] += area * _middle(triangles[triangle], axis)
    for axis in range(3):
        moment[axis] = moment[axis] / moment[AREA] if moment[AREA] > 0.0 else 0.5 * (box[axis] + box[3 + axis])
    for triangle in range(first, end):
        row = triangles[triangle]
        nx, ny, nz = _area_vector(row)
        x, y, z = _middle(row, 0) - moment[0], _middle(row, 1) - moment[1], _middle(row, 2) - moment[2]
        _add_moment(moment, nx, ny, nz, x, y, z)


@kernel
def _fill_inner_nodes(boxes, moments):
    for node in range(len(boxes) // 2 - 1, -1, -1):
        left, right = 2 * node + 1, 2 * node + 2
        moment = moments[node]
        moment[:] = 0.0
        moment[AREA] = moments[left, AREA] + moments[right, AREA]
        for axis in range(3):
            boxes[node, axis] = min(boxes[left, axis], boxes[right, axis])
            boxes[node, 3 + axis] = max(boxes[left, 3 + axis], boxes[right, 3 + axis])
            total = moments[left, AREA] * moments[left, axis] + moments[right, AREA] * moments[right, axis]
            moment[axis] = total / moment[AREA] if moment[AREA] > 0.0 else 0.5 * (boxes[node, axis] + boxes[node, 3 + axis])
        for child in (left, right):
            part = moments[child]
            x, y, z = part[0] - moment[0], part[1] - moment[1], part[2] - moment[2]
            _add_moment(moment, part[4], part[5], part[6], x, y, z)
            for entry in range(7, AREA):
                moment[entry] += part[entry]


@kernel
def _fill_radii(boxes, moments):
    for node in range(len(boxes)):
        for axis in range(3):
            middle = moments[node, axis]
            moments[node, 3] += max(boxes[node, 3 + axis] - middle, middle - boxes[node, axis]) ** 2


@kernel
def _area_vector(triangle):
    """Half the cross product of two edges: the triangle's normal times its area."""
    ux, uy, uz, vx, vy, vz = triangle[3], triangle[4], triangle[5], triangle[6], triangle[7], triangle[8]
    return 0.5 * (uy * vz - uz * vy), 0.5 * (uz * vx - ux * vz), 0.5 * (ux * vy - uy * vx)


@kernel
def _middle(triangle, axis):
    return triangle[axis] + (triangle[3 + axis] + triangle[6 + axis]) / 3.0


@kernel
def _add_moment(moment, nx, ny, nz, x, y, z):
    """Add an area vector at (x, y, z) from the node's center to its moments."""
    moment[4] += nx
    moment[5] += ny
    moment[6] += nz
    moment[7] += nx * x
    moment[8] += ny * y
    moment[9] += nz * z
    moment[10] += 0.5 * (nx * y + ny * x)
    moment[11] += 0.5 * (nx * z + nz * x)
    moment[12] += 0.5 * (ny * z + nz * y)
