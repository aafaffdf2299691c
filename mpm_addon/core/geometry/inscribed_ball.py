"""The largest ball inside a mesh, which measures its thickest part. Plain numpy, because the interface uses it, too.

Balls that touch the surface from inside shrink until no other part of the surface is in them, as in the shrinking ball algorithm of Ma,
Bae and Choi (2012), with the triangles themselves in place of sampled points.
"""

import numpy as np
from numpy.typing import NDArray

from . import mesh_topology
from .mesh_topology import Floats
from .outline import Outline
from .rotation import euler_matrix
from .shapes import Mesh
from .triangle_boxes import TriangleBoxes

_POINTS = 2000
_BATCH = 64
_CHUNK = 512
# how far the surface may cut into a ball, relative to its radius: flat triangles approximate a curved surface
_TOLERANCE = 0.02
# only balls larger than the largest by this factor are searched for
_GAIN = 1.03
# the least result, relative to the limit
_LEAST = 0.01
# turns rays away from the common directions of edges
_TURN = euler_matrix((31.7, 17.3, 43.9))


def ball_diameter(mesh: Mesh, limit: float) -> float:
    """The diameter [m] of the largest ball inside a mesh with capped holes, to within 3 %, between `limit` / 100 and `limit`.

    If parts of a mesh overlap, the surface of each also counts inside the other.
    """
    closed = mesh.closed
    corners = mesh_topology.corners(closed.vertices, closed.triangles)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    has_area = areas > 1e-14 * float(np.ptp(corners.reshape(-1, 3), axis=0).max()) ** 2
    corners, normals, areas = corners[has_area], normals[has_area], areas[has_area]
    points, inward = _surface_points(corners, normals, areas)
    return 2.0 * _largest_radius(_Surface(points, corners), _Inside(corners), points, inward, 0.5 * limit)


def disk_diameter(outline: Outline, limit: float) -> float:
    """The diameter [m] of the largest disk inside an outline, as `ball_diameter`: that of the largest ball in a long prism over it."""
    low, high = outline.bounds()[:, [0, 2]]
    half = max(limit, float((high - low).max()))
    x0, z0, x1, z1 = outline.segments.T
    near, far = np.full_like(x0, -half), np.full_like(x0, half)
    # the inside is to the left of each segment, seen against y
    quads = np.stack([np.stack(corner, axis=1) for corner in ((x0, near, z0), (x1, near, z1), (x1, far, z1), (x0, far, z0))], axis=1)
    first = 4 * np.arange(len(quads))[:, None]
    triangles = np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])])
    return ball_diameter(Mesh(quads.reshape(-1, 3), triangles), limit)


def _surface_points(corners: Floats, normals: Floats, areas: Floats) -> tuple[Floats, Floats]:
    """Points on triangles, evenly by area, and the directions into the mesh; shape (n, 3) each."""
    random = np.random.default_rng(0)
    chosen = random.choice(len(areas), _POINTS, p=areas / areas.sum())
    first, second = random.random((2, _POINTS, 1))
    first, second = np.where(first + second > 1.0, 1.0 - first, first), np.where(first + second > 1.0, 1.0 - second, second)
    a, b, c = np.moveaxis(corners[chosen], 1, 0)
    return a + first * (b - a) + second * (c - a), -normals[chosen] / areas[chosen, None]


def _largest_radius(surface: "_Surface", inside: "_Inside", points: Floats, inward: Floats, limit: float) -> float:
    best, least = 0.0, _LEAST * limit
    waiting = np.arange(len(points))
    while len(waiting) and best < limit:
        batch, waiting = waiting[:_BATCH], waiting[_BATCH:]
        radii = np.full(len(batch), limit)
        while len(batch):
            centers = points[batch] + radii[:, None] * inward[batch]
            is_free, touched = surface.touch(centers, (1.0 - _TOLERANCE) * radii)
            best = max(best, inside.largest(centers[is_free], radii[is_free], above=best))
            batch, radii, touched = batch[~is_free], radii[~is_free], touched[~is_free]
            # the ball that touches the surface at the point, through the point found inside the last ball
            way = touched - points[batch]
            radii = np.einsum("ij,ij->i", way, way) / (2.0 * np.einsum("ij,ij->i", way, inward[batch]))
            may_win = radii > max(_GAIN * best, least)
            batch, radii = batch[may_win], radii[may_win]
        # drop points that cannot hold a larger ball
        radii = np.full(len(waiting), min(max(_GAIN * best, least), limit))
        is_free, _ = surface.touch(points[waiting] + radii[:, None] * inward[waiting], (1.0 - _TOLERANCE) * radii)
        waiting = waiting[is_free]
    return max(best, least)


class _Surface:
    """A surface that balls may not contain: its points are tested first, which is fast, then its triangles."""

    def __init__(self, points: Floats, corners: Floats) -> None:
        self._points = points
        self._squares = np.einsum("ij,ij->i", points, points)
        self._boxes = TriangleBoxes(corners)

    def touch(self, centers: Floats, radii: Floats) -> tuple[NDArray[np.bool_], Floats]:
        """Whether balls (n,) are free of the surface and, for those that are not, a surface point deep inside, shape (n, 3)."""
        touched = np.zeros((len(centers), 3))
        is_free = np.ones(len(centers), np.bool_)
        for start in range(0, len(centers), _CHUNK):
            part = slice(start, start + _CHUNK)
            # |q - c|^2 without |c|^2
            squares = self._squares - 2.0 * centers[part] @ self._points.T
            nearest = squares.argmin(axis=1)
            touched[part] = self._points[nearest]
            is_free[part] = np.linalg.norm(touched[part] - centers[part], axis=1) >= radii[part]
        rest = np.flatnonzero(is_free)
        distances, touched[rest] = self._boxes.touch(centers[rest], radii[rest])
        is_free[rest] = np.isinf(distances)
        return is_free, touched


class _Inside:
    """Whether points are inside a closed mesh: how often rays from them leave it, minus how often they enter it."""

    def __init__(self, corners: Floats) -> None:
        """Triangles with these corners [m], shape (m, 3, 3)."""
        self._corners = corners @ _TURN
        self._low, self._high = self._corners.min(axis=1), self._corners.max(axis=1)

    def largest(self, centers: Floats, radii: Floats, *, above: float) -> float:
        """The largest of the radii (n,) above a value whose center (n, 3) is inside; 0 if there is none."""
        for index in np.argsort(-radii, kind="stable"):
            if radii[index] <= above:
                break
            if self._winding(centers[index] @ _TURN) > 0:
                return float(radii[index])
        return 0.0

    def _winding(self, point: Floats) -> int:
        x, y, z = point
        low, high = self._low, self._high
        near = self._corners[(low[:, 0] <= x) & (high[:, 0] >= x) & (low[:, 1] <= y) & (high[:, 1] >= y) & (high[:, 2] >= z)] - point
        a, b, c = np.moveaxis(near, 1, 0)
        sides = np.stack([_cross(a, b), _cross(b, c), _cross(c, a)], axis=1)
        total = sides.sum(axis=1)
        is_hit = (sides >= 0.0).all(axis=1) | (sides <= 0.0).all(axis=1)
        is_hit &= total != 0.0
        heights = (sides[:, 0] * c[:, 2] + sides[:, 1] * a[:, 2] + sides[:, 2] * b[:, 2])[is_hit] / total[is_hit]
        return int(np.sign(total[is_hit])[heights > 0.0].sum())


def _cross(a: Floats, b: Floats) -> Floats:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
