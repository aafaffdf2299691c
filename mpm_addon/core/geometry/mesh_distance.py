"""The exact distance from points to the nearest triangle of a mesh, by a search down the tree's boxes."""

import numpy as np
from numba import prange

from ..kernels.compilation import kernel
from .mesh_tree import STACK_SIZE

QUERIES_PER_TASK = 256


@kernel(parallel=True)
def distances(tree, points, distance):
    """Write the distance [m] of each point (n, 3) from the nearest triangle into distance (n,)."""
    for task in prange((len(points) + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK):
        stack, stack_distance = np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE)
        for query in range(task * QUERIES_PER_TASK, min((task + 1) * QUERIES_PER_TASK, len(points))):
            x, y, z = points[query]
            distance[query] = np.sqrt(nearest(tree, x, y, z, 0, stack, stack_distance)[0])


@kernel
def nearest(tree, x, y, z, guess, stack, stack_distance):
    """The squared distance [m^2] from (x, y, z) to the nearest triangle, and that triangle.

    `guess` is a triangle that may be near: the nearer, the faster. `stack` and `stack_distance` are scratch arrays of
    `STACK_SIZE`.
    """
    best = _squared_distance(tree.triangles[guess], x, y, z)
    best_triangle = guess
    first_leaf = len(tree.leaf_starts) - 2
    top = 0
    node = 0
    while True:
        if node >= first_leaf:
            for triangle in range(tree.leaf_starts[node - first_leaf], tree.leaf_starts[node - first_leaf + 1]):
                squared = _squared_distance(tree.triangles[triangle], x, y, z)
                if squared < best:
                    best, best_triangle = squared, triangle
        else:
            near, far = 2 * node + 1, 2 * node + 2
            near_distance = _squared_distance_to_box(tree.boxes[near], x, y, z)
            far_distance = _squared_distance_to_box(tree.boxes[far], x, y, z)
            if far_distance < near_distance:
                near, far = far, near
                near_distance, far_distance = far_distance, near_distance
            if far_distance < best:
                stack[top] = far
                stack_distance[top] = far_distance
                top += 1
            if near_distance < best:
                node = near
                continue
        while top > 0 and stack_distance[top - 1] >= best:
            top -= 1
        if top == 0:
            return best, best_triangle
        top -= 1
        node = stack[top]


@kernel
def _squared_distance_to_box(box, x, y, z):
    dx = max(box[0] - x, x - box[3], 0.0)
    dy = max(box[1] - y, y - box[4], 0.0)
    dz = max(box[2] - z, z - box[5], 0.0)
    return dx * dx + dy * dy + dz * dz


@kernel
def _squared_distance(triangle, x, y, z):
    """The squared distance to a triangle, by the region that the point projects to (Ericson 2005, section 5.1.5)."""
    px, py, pz = x - triangle[0], y - triangle[1], z - triangle[2]
    ux, uy, uz = triangle[3], triangle[4], triangle[5]
    vx, vy, vz = triangle[6], triangle[7], triangle[8]
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    up, vp = ux * px + uy * py + uz * pz, vx * px + vy * py + vz * pz
    # The nearest point is the first corner + s u + t v.
    determinant = uu * vv - uv * uv
    s, t = vv * up - uv * vp, uu * vp - uv * up
    if s >= 0.0 and t >= 0.0 and s + t <= determinant:
        s /= determinant
        t /= determinant
    else:
        s, t = _nearest_on_edges(uu, uv, vv, up, vp)
    dx, dy, dz = px - s * ux - t * vx, py - s * uy - t * vy, pz - s * uz - t * vz
    return dx * dx + dy * dy + dz * dz


@kernel
def _nearest_on_edges(uu, uv, vv, up, vp):
    """The coordinates (s, t) of the nearest point on a triangle's three edges."""
    s = min(max(up / uu, 0.0), 1.0)
    best_s, best_t, best = s, 0.0, s * (s * uu - 2.0 * up)
    t = min(max(vp / vv, 0.0), 1.0)
    value = t * (t * vv - 2.0 * vp)
    if value < best:
        best_s, best_t, best = 0.0, t, value
    # On the edge from u to v: s = 1 - t.
    t = min(max((uu - uv + vp - up) / (uu - 2.0 * uv + vv), 0.0), 1.0)
    s = 1.0 - t
    value = s * (s * uu - 2.0 * up) + t * (t * vv - 2.0 * vp) + 2.0 * s * t * uv
    if value < best:
        best_s, best_t = s, t
    return best_s, best_t
