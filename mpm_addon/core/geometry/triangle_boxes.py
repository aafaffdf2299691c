"""A tree of boxes over triangles, searched for many points at once. Plain numpy, because the interface uses it, too.

Triangles are in Morton order, and each box contains eight boxes of the level below. All points descend together: each level has one array
of pairs of a point and a box that is near enough.
"""

import numpy as np

from .mesh_topology import Floats, Integers
from .morton import morton_codes

_CHILDREN = 8
# edges with a squared length below this have no length [m^2]
_TINY = 1e-300


class TriangleBoxes:
    """The triangles of a mesh, and the boxes around them."""

    def __init__(self, corners: Floats) -> None:
        """A tree over the triangles with these corners [m], shape (m, 3, 3)."""
        corners = corners[np.argsort(morton_codes(corners.mean(axis=1)), kind="stable")]
        self._first = corners[:, 0]
        self._edges = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        # from the triangles up: lowest and highest corners
        self._levels = [(corners.min(axis=1), corners.max(axis=1))]
        while len(self._levels[-1][0]) > 1:
            lowest, highest = self._levels[-1]
            starts = np.arange(0, len(lowest), _CHILDREN)
            self._levels.append((np.minimum.reduceat(lowest, starts), np.maximum.reduceat(highest, starts)))

    def touch(self, points: Floats, reach: Floats) -> tuple[Floats, Floats]:
        """The surface point nearest to each point (n, 3), if it is nearer than `reach` (n,).

        Returns:
            distances: [m], infinite if no triangle is that near, shape (n,).
            touched: the nearest points [m], shape (n, 3).
        """
        distances, touched = np.full(len(points), np.inf), np.zeros((len(points), 3))
        point, triangle = self._near(points, reach)
        found = _nearest(points[point], self._first[triangle], self._edges[0][triangle], self._edges[1][triangle])
        far = np.linalg.norm(found - points[point], axis=1)
        order = np.argsort(-far, kind="stable")
        # pairs are sorted from far to near: of several writes to one element the last, nearest one remains
        distances[point[order]], touched[point[order]] = far[order], found[order]
        distances[distances >= reach] = np.inf
        return distances, touched

    def _near(self, points: Floats, reach: Floats) -> tuple[Integers, Integers]:
        """The pairs of a point and a triangle whose box is nearer than the point's reach."""
        point, node = np.arange(len(points)), np.zeros(len(points), np.int64)
        for level in range(len(self._levels) - 1, -1, -1):
            lowest, highest = self._levels[level]
            if level < len(self._levels) - 1:
                point = np.repeat(point, _CHILDREN)
                node = (_CHILDREN * node[:, None] + np.arange(_CHILDREN)).ravel()
                exists = node < len(lowest)
                point, node = point[exists], node[exists]
            place = points[point]
            beyond = np.maximum(np.maximum(lowest[node] - place, place - highest[node]), 0.0)
            is_near = np.einsum("ij,ij->i", beyond, beyond) < reach[point] ** 2
            point, node = point[is_near], node[is_near]
        return point, node


def _nearest(points: Floats, first: Floats, u: Floats, v: Floats) -> Floats:
    """The nearest point of each triangle, first + s u + t v, to each point; all of shape (n, 3) (Ericson 2005, section 5.1.5)."""
    away = points - first
    uu, uv, vv = (np.einsum("ij,ij->i", a, b) for a, b in ((u, u), (u, v), (v, v)))
    up, vp = np.einsum("ij,ij->i", u, away), np.einsum("ij,ij->i", v, away)
    determinant = uu * vv - uv * uv
    inner_s, inner_t = vv * up - uv * vp, uu * vp - uv * up
    is_inner = (inner_s >= 0.0) & (inner_t >= 0.0) & (inner_s + inner_t <= determinant) & (determinant > 0.0)
    # on the three edges: how much less the squared distances are than that of the first corner
    on_u = np.clip(up / np.maximum(uu, _TINY), 0.0, 1.0)
    on_v = np.clip(vp / np.maximum(vv, _TINY), 0.0, 1.0)
    on_third = np.clip((uu - uv + vp - up) / np.maximum(uu - 2.0 * uv + vv, _TINY), 0.0, 1.0)
    s, t, best = on_u, np.zeros_like(on_u), on_u * (on_u * uu - 2.0 * up)
    for other_s, other_t in ((np.zeros_like(on_v), on_v), (1.0 - on_third, on_third)):
        value = other_s * (other_s * uu - 2.0 * up) + other_t * (other_t * vv - 2.0 * vp) + 2.0 * other_s * other_t * uv
        s, t, best = np.where(value < best, other_s, s), np.where(value < best, other_t, t), np.minimum(value, best)
    divisor = np.where(is_inner, determinant, 1.0)
    s, t = np.where(is_inner, inner_s / divisor, s), np.where(is_inner, inner_t / divisor, t)
    return first + s[:, None] * u + t[:, None] * v
