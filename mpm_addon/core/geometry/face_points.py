"""Contact points on the faces of a shape, made only near what may touch it. Plain numpy.

A floor of a few meters in cells of a centimeter has a hundred thousand points, and a body that falls on it is near a few hundred of them.
"""

import numpy as np

from ..scene.shape import Floats
from .mesh_topology import Integers

# points of different triangles that are closer than this share of the spacing are one
_SAME = 1e-6
# a triangle with more parts along its edges is not divided as a whole
_MANY_PARTS = 32


class FacePoints:
    """The points of triangles: their corners, and on each triangle with an edge longer than the spacing a lattice.

    Args:
        vertices: [m], shape (n, 3); triangles: vertex indices, shape (m, 3).
        spacing: the greatest distance between points [m].
        closest: of the points in a cube of this size, only the one farthest from the middle remains [m]; 0 keeps all.

    Attributes:
        count: about as many points there are.
    """

    def __init__(self, vertices: Floats, triangles: Integers, spacing: float, closest: float = 0.0) -> None:
        self._corners = vertices[triangles]
        longest = np.linalg.norm(self._corners - np.roll(self._corners, 1, axis=1), axis=2).max(axis=1)
        self._parts = np.maximum(1, np.ceil(longest / spacing)).astype(np.int64)
        self._vertices = vertices[np.unique(triangles)]
        self._spacing, self._closest = spacing, closest
        self._low, self._high = self._corners.min(axis=1), self._corners.max(axis=1)
        self._middle = 0.5 * (self._vertices.min(axis=0) + self._vertices.max(axis=0))
        self.count = len(self._vertices) + int((self._parts[self._parts > 1] ** 2).sum()) // 2

    def all(self) -> Floats:
        """All points, shape (k, 3)."""
        points = self._distinct([self._vertices, *self._on(self._parts > 1)])
        return points if self._closest == 0.0 else self._thinned(points, points.mean(axis=0))

    def within(self, low: Floats, high: Floats) -> Floats:
        """The points in a box with these corners (3,), and perhaps some near it, shape (k, 3); which ones does not depend on the box."""
        if self._closest > 0.0:
            # cubes as a whole
            low, high = np.floor(low / self._closest) * self._closest, (np.floor(high / self._closest) + 1.0) * self._closest
        is_near = ((self._low <= high) & (self._high >= low)).all(axis=1)
        its = is_near & (self._parts > 1)
        found = [self._vertices, *self._on(its & (self._parts <= _MANY_PARTS))]
        found += [self._part_of(number, low, high) for number in np.flatnonzero(its & (self._parts > _MANY_PARTS))]
        points = np.concatenate(found)
        is_near = ((points >= low) & (points <= high)).all(axis=1)
        points = self._distinct([points[is_near]])
        return points if self._closest == 0.0 else self._thinned(points, self._middle)

    def _on(self, chosen: np.ndarray) -> list[Floats]:
        """The lattices of the chosen triangles (m,)."""
        found = []
        for count in np.unique(self._parts[chosen]):
            shares = _shares(np.arange(count + 1), np.arange(count + 1), int(count))
            found.append(np.einsum("sk,tkx->tsx", shares, self._corners[chosen & (self._parts == count)]).reshape(-1, 3))
        return found

    def _part_of(self, number: np.int64, low: Floats, high: Floats) -> Floats:
        """The points of a triangle's lattice whose shares of the corners may lie in a box."""
        corners, count = self._corners[number], int(self._parts[number])
        edges = corners[:2] - corners[2]
        # the share of a corner is affine: its gradients are dual to the edges
        dual = np.linalg.pinv(edges)
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        share, reach = (middle - corners[2]) @ dual, half @ np.abs(dual)
        first = np.clip(np.floor(count * (share - reach)) - 1.0, 0, count + 1).astype(np.int64)
        last = np.clip(np.ceil(count * (share + reach)) + 1.0, -1, count).astype(np.int64)
        along = [np.arange(start, end + 1) for start, end in zip(first, last, strict=True)]
        return _shares(along[0], along[1], count) @ corners

    def _distinct(self, parts: list[Floats]) -> Floats:
        """The points, those that triangles share once."""
        points = np.concatenate(parts)
        _, first = np.unique(np.round(points / (_SAME * self._spacing)).astype(np.int64), axis=0, return_index=True)
        return points[np.sort(first)]

    def _thinned(self, points: Floats, middle: Floats) -> Floats:
        return thinned(points, self._closest, middle)


def thinned(points: Floats, size: float, middle: Floats) -> Floats:
    """The point of each cube of this size [m] that is farthest from the middle (3,)."""
    outward = np.linalg.norm(points - middle, axis=1)
    order = np.argsort(-outward, kind="stable")
    _, first = np.unique(np.floor(points[order] / size).astype(np.int64), axis=0, return_index=True)
    return points[np.sort(order[first])]


def _shares(first: Integers, second: Integers, count: int) -> Floats:
    """Shares of the three corners at the points of a triangle's lattice, in rows and columns with these numbers; shape (k, 3)."""
    i, j = (index.ravel() for index in np.meshgrid(first, second, indexing="ij"))
    is_within = i + j <= count
    return np.column_stack([i, j, count - i - j])[is_within] / count
