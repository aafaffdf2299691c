"""The Delaunay tetrahedra of points, inserted one after another (Bowyer 1981; Watson 1981).

A tetrahedron with the last vertex `OUTSIDE` stands for the space beyond a face of the convex hull. Points on a common plane or sphere have
no unique tetrahedra and defeat rounded arithmetic, so the tetrahedra are those of points moved by a tiny random way.
"""

import numpy as np
from numpy.typing import NDArray

from ..geometry.mesh_topology import Floats, Integers

OUTSIDE = -1
# the way that points are moved, relative to their extent; tried again with others where rounding still decides
_SHIFT = 1e-6
_ATTEMPTS = 8
# the faces of a tetrahedron, opposite to each vertex
FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])


class _Rounded(Exception):
    """Rounding made the tetrahedra around a new point overlap."""


def delaunay(points: Floats, random: np.random.Generator) -> Integers:
    """The tetrahedra of points (n, 3), n >= 4, that are not all in a plane: vertex indices, shape (t, 4), all of positive volume.

    No point lies inside the sphere through the corners of a tetrahedron, except by less than the random way.

    Raises:
        ValueError: the points lie in a plane.
    """
    extent = float(np.ptp(points, axis=0).max())
    for attempt in range(_ATTEMPTS):
        moved = points + _SHIFT * 4.0**attempt * extent * random.uniform(-1.0, 1.0, points.shape)
        try:
            return _inserted(moved - moved.mean(axis=0), extent)
        except _Rounded:
            continue
    raise ValueError("the points are too close together")


def volumes(points: Floats, tetrahedra: Integers) -> Floats:
    """The signed volumes of tetrahedra (t, 4), positive if the last vertex is in front of the first three, counterclockwise; shape (t,)."""
    corners = points[tetrahedra]
    a, b, c, d = (corners[:, vertex] for vertex in range(4))
    return np.einsum("ti,ti->t", b - a, _cross(c - a, d - a)) / 6.0


def _cross(a: Floats, b: Floats) -> Floats:
    """The cross products of vectors (t, 3): `numpy.cross`, which takes ten times as long for as few as there are around a point."""
    found = np.empty((len(a), 3))
    for axis in range(3):
        second, third = (axis + 1) % 3, (axis + 2) % 3
        found[:, axis] = a[:, second] * b[:, third] - a[:, third] * b[:, second]
    return found


def _inserted(points: Floats, extent: float) -> Integers:
    first = _first_four(points, extent)
    cells = _with_outside(first)
    for number in range(len(points)):
        if number not in first:
            cells = _with_point(points, cells, number)
    return cells[(cells != OUTSIDE).all(axis=1)]


def _first_four(points: Floats, extent: float) -> list[int]:
    """Four points that are far from lying in a plane, in positive order."""
    first = 0
    second = int(np.linalg.norm(points - points[first], axis=1).argmax())
    along = points[second] - points[first]
    across = np.linalg.norm(np.cross(points - points[first], along), axis=1)
    third = int(across.argmax())
    height = (points - points[first]) @ np.cross(along, points[third] - points[first])
    fourth = int(np.abs(height).argmax())
    if abs(height[fourth]) < 1e-4 * extent**3:
        raise ValueError("the points lie in a plane")
    return [first, second, third, fourth] if height[fourth] > 0.0 else [first, third, second, fourth]


def _with_outside(first: list[int]) -> Integers:
    """The first tetrahedron, and the space beyond each of its faces."""
    cells = [first]
    # seen from outside, a face runs the other way than seen from the opposite vertex
    cells += [[first[i], first[j], first[k], OUTSIDE] for i, j, k in FACES]
    return np.array(cells, np.int64)


def _with_point(points: Floats, cells: Integers, number: int) -> Integers:
    """The cells after one more point: those whose sphere contains it give way to cells between their hull and the point."""
    is_replaced = _contains(points, cells, points[number])
    old = cells[is_replaced]
    if not len(old):
        raise _Rounded
    # a face between two replaced cells disappears
    faces = np.sort(old[:, FACES].reshape(-1, 3), axis=1) - OUTSIDE
    size = len(points) - OUTSIDE
    _, where, counts = np.unique((faces[:, 0] * size + faces[:, 1]) * size + faces[:, 2], return_inverse=True, return_counts=True)
    cell, slot = np.divmod(np.flatnonzero(counts[where] == 1), 4)
    new = old[cell]
    new[np.arange(len(new)), slot] = number
    finite = new[(new != OUTSIDE).all(axis=1)]
    if (volumes(points, finite) <= 0.0).any():
        raise _Rounded
    return np.concatenate([cells[~is_replaced], new])


def _contains(points: Floats, cells: Integers, point: Floats) -> NDArray[np.bool_]:
    """Whether the sphere of each cell contains a point; for the space beyond a face, whether the point is beyond it."""
    is_outside = cells[:, 3] == OUTSIDE
    found = np.empty(len(cells), np.bool_)
    corners = points[cells[is_outside, :3]]
    a, b, c = (corners[:, vertex] for vertex in range(3))
    found[is_outside] = np.einsum("ti,ti->t", b - a, _cross(c - a, point - a)) > 0.0
    corners = points[cells[~is_outside]] - point
    a, b, c, d = (corners[:, vertex] for vertex in range(4))
    ab, cd = _cross(a, b), _cross(c, d)
    squares = np.einsum("tvi,tvi->vt", corners, corners)

    def triple(cross: Floats, vector: Floats) -> Floats:
        return np.einsum("ti,ti->t", cross, vector)

    # the determinant of the rows (x, |x|^2), expanded by its last column
    inside = squares[0] * triple(cd, b) - squares[1] * triple(cd, a) + squares[2] * triple(ab, d) - squares[3] * triple(ab, c)
    found[~is_outside] = inside > 0.0
    return found
