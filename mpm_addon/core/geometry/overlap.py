"""Where a closed mesh encloses space more than once, or inside out, so that integrals over its faces are not those over its inside.

Parts that overlap, such as joined objects, enclose what they share twice. The inside is where the winding number is at least 1, so the
rest is the integral of the winding number minus one there. It is measured along a lattice of lines. Plain numpy, because the interface
uses it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .mesh_topology import Floats, Integers, bounds, corners, volume

# Triangles that may cross a line: few tell whether there is any excess, many measure it. And lines side by side, at most.
_FEW_PAIRS, _PAIRS, _MOST_LINES = 2**12, 2**18, 2**14
# How far the lattice is turned about the lines [radians], so that it is not aligned with faces.
_TURN = 0.5536
# An excess that counts as rounding or a small fold, as a share of the volume.
_NEGLIGIBLE = 1e-3


class Excess(NamedTuple):
    """Stretches of parallel lines that are enclosed too often.

    Attributes:
        start, end: their ends [m], shape (n, 3).
        weight: how much too often, times the area of a line [m^2], shape (n,).
    """

    start: Floats
    end: Floats
    weight: Floats

    @property
    def volume(self) -> float:
        """The volume that is enclosed too often, as often as it is [m^3]."""
        return float(self._volumes.sum())

    @property
    def _volumes(self) -> Floats:
        return self.weight * np.linalg.norm(self.end - self.start, axis=1)

    def moments(self, origin: Floats) -> tuple[float, Floats, Floats]:
        """The integrals of 1, x and x x^T over it, with x from the origin [m]: a number, (3,) and (3, 3)."""
        start, end, volumes = self.start - origin, self.end - origin, self._volumes
        # of x x^T over a line from a to b: (a a^T + b b^T + (a + b) (a + b)^T) / 6
        second = sum((np.einsum("i,ij,ik->jk", volumes, each, each) for each in (start, end, start + end)), np.zeros((3, 3))) / 6.0
        return float(volumes.sum()), 0.5 * volumes @ (start + end), second


_NOTHING = Excess(np.empty((0, 3)), np.empty((0, 3)), np.empty(0))


def inside_volume(vertices: Floats, triangles: Integers) -> float:
    """The volume of the inside of a closed mesh [m^3], by the divergence theorem minus what it encloses too often."""
    enclosed = volume(vertices, triangles)
    return enclosed - excess(vertices, triangles, enclosed).volume


def excess(vertices: Floats, triangles: Integers, enclosed: float) -> Excess:
    """What a closed mesh encloses too often; nothing if it is less than a thousandth of what it encloses.

    Args:
        vertices: [m], shape (n, 3).
        triangles: vertex indices, shape (m, 3), counterclockwise seen from outside.
        enclosed: the volume by the divergence theorem [m^3].
    """
    if not len(_stretches(vertices, triangles, _FEW_PAIRS).weight):
        return _NOTHING
    found = _stretches(vertices, triangles, _PAIRS)
    return found if abs(found.volume) > _NEGLIGIBLE * abs(enclosed) else _NOTHING


def _stretches(vertices: Floats, triangles: Integers, pairs: int) -> Excess:
    frame = _frame(vertices, triangles)
    turned = vertices @ frame
    low, high = bounds(turned, triangles)[:, :2]
    corner = turned[triangles]
    least, most = corner[..., :2].min(axis=1), corner[..., :2].max(axis=1)
    covered = float(np.prod(most - least, axis=1).sum())
    edge = max((covered / pairs) ** 0.5, float((high - low).max()) / _MOST_LINES)
    if not edge > 0.0:
        return _NOTHING
    first, last = np.ceil((least - low) / edge), np.floor((most - low) / edge)
    # of a fine mesh, lines cross few triangles
    some = (first <= last).all(axis=1)
    line, height, side = _crossings(corner[some], first[some], last[some], low, edge)
    number = (line[:, 0] * (np.ceil((high[1] - low[1]) / edge) + 1.0) + line[:, 1]).astype(np.int64)
    # not those along which rounding has lost a crossing
    is_whole = (np.bincount(number, side) == 0.0)[number]
    line, height, side, number = line[is_whole], height[is_whole], side[is_whole], number[is_whole]
    order = np.lexsort((height, number))
    line, height, winding = line[order], height[order], np.cumsum(side[order])
    too_often = winding - (winding >= 1.0)
    # after the last crossing of a line, the winding number is 0
    (which,) = np.nonzero(too_often)
    place = low + line[which] * edge
    start, end = (np.column_stack([place, height[each]]) @ frame.T for each in (which, which + 1))
    return Excess(start, end, too_often[which] * edge**2)


def _frame(vertices: Floats, triangles: Integers) -> Floats:
    """The axes of the lattice (columns): the last, along the lines, is the axis of the world that crosses most of the mesh's area."""
    a, b, c = np.moveaxis(corners(vertices, triangles), 1, 0)
    along = int(np.argmax(np.abs(np.cross(b - a, c - a)).sum(axis=0)))
    cos, sin = np.cos(_TURN), np.sin(_TURN)
    turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return np.roll(turn, along + 1, axis=0)


def _crossings(corner: Floats, first: Floats, last: Floats, low: Floats, edge: float) -> tuple[Floats, Floats, Floats]:
    """The lines (k, 2) that cross triangles (m, 3, 3), where along it (k,), and 1 where one enters and -1 where it leaves (k,).

    Args:
        first, last: the lines over the bounds of each triangle, (m, 2).
    """
    counts = (last - first + 1.0).astype(np.int64)
    pairs = counts.prod(axis=1)
    triangle = np.repeat(np.arange(len(pairs)), pairs)
    place = np.arange(len(triangle)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    line = first[triangle] + np.stack(np.divmod(place, counts[triangle, 1]), axis=1)
    point = low + line * edge
    sides = np.stack([_side(corner[:, k, :2], corner[:, (k + 1) % 3, :2], triangle, point) for k in range(3)], axis=1)
    is_left = sides > 0.0
    is_crossed = is_left.all(axis=1) | ~is_left.any(axis=1)
    sides, corner = sides[is_crossed], corner[triangle[is_crossed]]
    # the side of an edge is the weight of the corner opposite
    total = sides.sum(axis=1)
    height = np.divide((sides * np.roll(corner[..., 2], 1, axis=1)).sum(axis=1), total, out=corner[:, 0, 2].copy(), where=total != 0.0)
    return line[is_crossed], height, np.where(is_left[is_crossed, 0], -1.0, 1.0)


def _side(start: Floats, end: Floats, triangle: NDArray[np.int64], point: Floats) -> Floats:
    """Twice the signed area of an edge of each triangle and a point, (k,), positive to its left.

    Exactly opposite for the two triangles at an edge, also on the edge, so that a line crosses exactly one of them.
    """
    is_turned = (start[:, 0] > end[:, 0]) | ((start[:, 0] == end[:, 0]) & (start[:, 1] > end[:, 1]))
    here, there = np.where(is_turned[:, None], end, start)[triangle], np.where(is_turned[:, None], start, end)[triangle]
    way, off = there - here, point - here
    area = way[:, 0] * off[:, 1] - way[:, 1] * off[:, 0]
    area = np.where(area == 0.0, np.finfo(np.float64).tiny, area)
    return np.where(is_turned[triangle], -area, area)
