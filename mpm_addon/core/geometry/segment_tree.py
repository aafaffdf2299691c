"""A tree over line segments in a plane, for the nearest point of an outline and its winding number.

The tree is complete and implicit, like that over triangles (see `mesh_tree`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .mesh_tree import Floats, search_stack
from .morton import morton_codes

SEGMENTS_PER_LEAF = 4
QUERIES_PER_TASK = 256
# relative to a segment's length: nearer than this to the outline, the segment's normal is more accurate than the direction to it
ON_OUTLINE = 1e-9


class SegmentTree(NamedTuple):
    """The arrays of a tree over m segments, with k nodes.

    Attributes:
        segments: start and end (x, z, x, z) [m], shape (m, 4), in the order of the leaves.
        leaf_starts: first segment of each leaf, and the segment count at the end, shape ((k + 1) / 2 + 1,).
        boxes: lowest and highest corner of each node (x, z, x, z) [m], shape (k, 4).
    """

    segments: Floats
    leaf_starts: NDArray[np.int64]
    boxes: Floats


def build_segment_tree(segments: Floats) -> SegmentTree:
    """A tree over segments (m, 4): start x, z and end x, z [m]."""
    middle = 0.5 * (segments[:, :2] + segments[:, 2:])
    codes = morton_codes(np.column_stack([middle, np.zeros(len(middle))]))
    segments = np.ascontiguousarray(segments[np.argsort(codes, kind="stable")])
    leaf_count = 1
    while leaf_count * SEGMENTS_PER_LEAF < len(segments):
        leaf_count *= 2
    leaf_starts = np.arange(leaf_count + 1) * len(segments) // leaf_count
    boxes = np.empty((2 * leaf_count - 1, 4))
    low, high = np.minimum(segments[:, :2], segments[:, 2:]), np.maximum(segments[:, :2], segments[:, 2:])
    boxes[leaf_count - 1 :, :2] = np.minimum.reduceat(low, leaf_starts[:-1])
    boxes[leaf_count - 1 :, 2:] = np.maximum.reduceat(high, leaf_starts[:-1])
    for node in range(leaf_count - 2, -1, -1):
        left, right = boxes[2 * node + 1], boxes[2 * node + 2]
        boxes[node, :2], boxes[node, 2:] = np.minimum(left[:2], right[:2]), np.maximum(left[2:], right[2:])
    return SegmentTree(segments, leaf_starts, boxes)


@parallel_kernel(allocates=True)
def query_outline(tickets, tree, points, is_solid, distance, normal):
    """The distance from an outline, and its gradient.

    Args:
        tree: the segments; closed, with the inside to their left, where `is_solid`.
        points: x and z [m], shape (n, 2).
        is_solid: whether the distance inside is negative; otherwise it has no sign.
        distance: result [m], shape (n,).
        normal: result, unit vectors, shape (n, 2); on the outline itself, that of the segment.
    """
    for task in shared(tickets[0], (len(points) + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK, 1):
        stack = search_stack()
        for query in range(task * QUERIES_PER_TASK, min((task + 1) * QUERIES_PER_TASK, len(points))):
            x, z = points[query]
            squared, segment = _nearest(tree, x, z, stack)
            away = np.sqrt(squared)
            sign = -1.0 if is_solid and _winding(tree, x, z, stack.nodes) > 0 else 1.0
            nx, nz = _offset(tree.segments[segment], x, z)
            rx, rz, length = _right_of(tree.segments[segment])
            if away <= ON_OUTLINE * length:
                nx, nz = rx, rz
            else:
                nx, nz = sign * nx / away, sign * nz / away
            distance[query] = sign * away
            normal[query, 0], normal[query, 1] = nx, nz


@kernel
def _nearest(tree, x, z, stack):
    """The squared distance [m^2] to the nearest segment, and that segment."""
    nodes, distances = stack.nodes, stack.distances
    best, best_segment = np.inf, 0
    first_leaf = len(tree.leaf_starts) - 2
    top, node = 0, 0
    while True:
        if node >= first_leaf:
            for segment in range(tree.leaf_starts[node - first_leaf], tree.leaf_starts[node - first_leaf + 1]):
                dx, dz = _offset(tree.segments[segment], x, z)
                if dx * dx + dz * dz < best:
                    best, best_segment = dx * dx + dz * dz, segment
        else:
            near, far = 2 * node + 1, 2 * node + 2
            near_distance, far_distance = _to_box(tree.boxes[near], x, z), _to_box(tree.boxes[far], x, z)
            if far_distance < near_distance:
                near, far = far, near
                near_distance, far_distance = far_distance, near_distance
            if far_distance < best:
                nodes[top], distances[top] = far, far_distance
                top += 1
            if near_distance < best:
                node = near
                continue
        while top > 0 and distances[top - 1] >= best:
            top -= 1
        if top == 0:
            return best, best_segment
        top -= 1
        node = nodes[top]


@kernel
def _winding(tree, x, z, stack):
    """The winding number of a closed outline around a point: the signed crossings of the ray toward +x (Sunday 2001)."""
    first_leaf = len(tree.leaf_starts) - 2
    winding, top = 0, 1
    stack[0] = 0
    while top > 0:
        top -= 1
        node = stack[top]
        box = tree.boxes[node]
        if box[3] < z or box[1] > z or box[2] < x:
            continue
        if node < first_leaf:
            stack[top], stack[top + 1] = 2 * node + 1, 2 * node + 2
            top += 2
            continue
        for segment in range(tree.leaf_starts[node - first_leaf], tree.leaf_starts[node - first_leaf + 1]):
            ax, az, bx, bz = tree.segments[segment]
            if (az <= z) == (bz <= z):
                continue
            side = (bx - ax) * (z - az) - (x - ax) * (bz - az)
            if az <= z and side > 0.0:
                winding += 1
            elif bz <= z and side < 0.0:
                winding -= 1
    return winding


@kernel
def _offset(segment, x, z):
    """The vector from the nearest point of a segment to (x, z)."""
    dx, dz = segment[2] - segment[0], segment[3] - segment[1]
    px, pz = x - segment[0], z - segment[1]
    share = min(max((px * dx + pz * dz) / (dx * dx + dz * dz), 0.0), 1.0)
    return px - share * dx, pz - share * dz


@kernel
def _right_of(segment):
    """The unit vector to the right of a segment, outward if the inside is to its left, and the segment's length."""
    dx, dz = segment[2] - segment[0], segment[3] - segment[1]
    length = np.sqrt(dx * dx + dz * dz)
    return dz / length, -dx / length, length


@kernel
def _to_box(box, x, z):
    dx, dz = max(box[0] - x, x - box[2], 0.0), max(box[1] - z, z - box[3], 0.0)
    return dx * dx + dz * dz
