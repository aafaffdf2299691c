"""The exact distance of points from the nearest triangle of a mesh, by a search through the boxes of its tree."""

import numpy as np

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .mesh_tree import search_stack

QUERIES_PER_TASK = 256
# edges with a squared length below this have no length [m^2]
TINY = 1e-300


@parallel_kernel(allocates=True)
def distances(tickets, tree, points, distance):
    """Write the distance [m] of each point (n, 3) from the nearest triangle into distance (n,)."""
    for task in shared(tickets[0], (len(points) + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK, 1):
        stack = search_stack()
        found = 0
        for query in range(task * QUERIES_PER_TASK, min((task + 1) * QUERIES_PER_TASK, len(points))):
            x, y, z = points[query]
            squared, found = nearest(tree, x, y, z, found, stack)
            distance[query] = np.sqrt(squared)


@parallel_kernel(allocates=True)
def find_closest(tickets, tree, points, triangles, weights):
    """Write the nearest triangle of each point (n, 3) into triangles (n,), and barycentric coordinates on it into weights (n, 3)."""
    for task in shared(tickets[0], (len(points) + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK, 1):
        stack = search_stack()
        found = 0
        for query in range(task * QUERIES_PER_TASK, min((task + 1) * QUERIES_PER_TASK, len(points))):
            x, y, z = points[query]
            found = nearest(tree, x, y, z, found, stack)[1]
            s, t = nearest_on_triangle(tree.triangles[found], x, y, z)
            triangles[query] = tree.numbers[found]
            weights[query, 0], weights[query, 1], weights[query, 2] = max(1.0 - s - t, 0.0), s, t


@kernel
def nearest(tree, x, y, z, guess, stack):
    """The squared distance [m^2] from (x, y, z) to the nearest triangle, and that triangle.

    Args:
        guess: a triangle that is probably near; the nearer it is, the faster the search.
        stack: from `search_stack`.
    """
    nodes, distances = stack.nodes, stack.distances
    best = squared_distance_to_triangle(tree.triangles[guess], x, y, z)
    best_triangle = guess
    first_leaf = len(tree.leaf_starts) - 2
    top = 0
    node = 0
    while True:
        if node >= first_leaf:
            for triangle in range(tree.leaf_starts[node - first_leaf], tree.leaf_starts[node - first_leaf + 1]):
                squared = squared_distance_to_triangle(tree.triangles[triangle], x, y, z)
                if squared < best:
                    best, best_triangle = squared, triangle
        else:
            near, far = 2 * node + 1, 2 * node + 2
            near_distance = squared_distance_to_box(tree.boxes[near], x, y, z)
            far_distance = squared_distance_to_box(tree.boxes[far], x, y, z)
            if far_distance < near_distance:
                near, far = far, near
                near_distance, far_distance = far_distance, near_distance
            if far_distance < best:
                nodes[top] = far
                distances[top] = far_distance
                top += 1
            if near_distance < best:
                node = near
                continue
        while top > 0 and distances[top - 1] >= best:
            top -= 1
        if top == 0:
            return best, best_triangle
        top -= 1
        node = nodes[top]


@kernel
def may_reach(tree, x, y, z, reach, stack):
    """Whether a triangle may be nearer to (x, y, z) than `reach` [m]; false only if none is."""
    top = 1
    stack[0] = 0
    while top > 0:
        top -= 1
        node = stack[top]
        if squared_distance_to_box(tree.boxes[node], x, y, z) > reach * reach:
            continue
        if node >= len(tree.leaf_starts) - 2:
            return True
        stack[top], stack[top + 1] = 2 * node + 1, 2 * node + 2
        top += 2
    return False


@kernel
def squared_distance_to_box(box, x, y, z):
    dx = max(box[0] - x, x - box[3], 0.0)
    dy = max(box[1] - y, y - box[4], 0.0)
    dz = max(box[2] - z, z - box[5], 0.0)
    return dx * dx + dy * dy + dz * dz


@kernel
def squared_distance_to_triangle(triangle, x, y, z):
    s, t = nearest_on_triangle(triangle, x, y, z)
    dx = x - triangle[0] - s * triangle[3] - t * triangle[6]
    dy = y - triangle[1] - s * triangle[4] - t * triangle[7]
    dz = z - triangle[2] - s * triangle[5] - t * triangle[8]
    return dx * dx + dy * dy + dz * dz


@kernel
def nearest_on_triangle(triangle, x, y, z):
    """The nearest point of a triangle as (s, t), the first corner + s u + t v (Ericson 2005, section 5.1.5)."""
    px, py, pz = x - triangle[0], y - triangle[1], z - triangle[2]
    ux, uy, uz = triangle[3], triangle[4], triangle[5]
    vx, vy, vz = triangle[6], triangle[7], triangle[8]
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    up, vp = ux * px + uy * py + uz * pz, vx * px + vy * py + vz * pz
    determinant = uu * vv - uv * uv
    s, t = vv * up - uv * vp, uu * vp - uv * up
    if s >= 0.0 and t >= 0.0 and s + t <= determinant and determinant > 0.0:
        return s / determinant, t / determinant
    return _nearest_on_edges(uu, uv, vv, up, vp)


@kernel
def _nearest_on_edges(uu, uv, vv, up, vp):
    """The coordinates (s, t) of the nearest point on a triangle's three edges."""
    s = min(max(up / max(uu, TINY), 0.0), 1.0)
    best_s, best_t, best = s, 0.0, s * (s * uu - 2.0 * up)
    t = min(max(vp / max(vv, TINY), 0.0), 1.0)
    value = t * (t * vv - 2.0 * vp)
    if value < best:
        best_s, best_t, best = 0.0, t, value
    # on the edge from u to v: s = 1 - t
    t = min(max((uu - uv + vp - up) / max(uu - 2.0 * uv + vv, TINY), 0.0), 1.0)
    s = 1.0 - t
    value = s * (s * uu - 2.0 * up) + t * (t * vv - 2.0 * vp) + 2.0 * s * t * uv
    if value < best:
        best_s, best_t = s, t
    return best_s, best_t
