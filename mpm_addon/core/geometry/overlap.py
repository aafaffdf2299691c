"""Where a closed mesh encloses space more than once, or inside out, so that integrals over its faces are not those over its inside.

Parts that overlap, such as joined objects, enclose what they share twice. The inside is where the winding number is at least 1, so the
rest is the integral of the winding number minus one there. It is measured along a lattice of lines. Plain numpy, because the interface
uses it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .mesh_topology import Floats, Integers, bounds, volume

# Lines through the mesh's bounds, and triangles that may cross one, at most.
_LINES, _MOST_PAIRS = 2**14, 2**20
# How far the lattice of lines is turned about z [radians], so that it is not aligned with faces.
_TURN = 0.5536
# An excess that is not subtracted, as a share of the volume.
_NEGLIGIBLE = 1e-3


class Excess(NamedTuple):
    """Stretches of lines along z that are enclosed too often.

    Attributes:
        place: of the lines [m], shape (n, 2).
        low, high: their ends [m], shape (n,).
        weight: how much too often, times the area of a line [m^2], shape (n,).
    """

    place: Floats
    low: Floats
    high: Floats
    weight: Floats

    @property
    def volume(self) -> float:
        """The volume that is enclosed too often, as often as it is [m^3]."""
        return float(self.weight @ (self.high - self.low))

    def moments(self, origin: Floats) -> tuple[float, Floats, Floats]:
        """The integrals of 1, x and x x^T over it, with x from the origin [m]: a number, (3,) and (3, 3)."""
        (x, y), low, high = (self.place - origin[:2]).T, self.low - origin[2], self.high - origin[2]
        of_one, of_z, of_square = (self.weight * (high**n - low**n) / n for n in (1, 2, 3))
        first = np.array([of_one @ x, of_one @ y, of_z.sum()])
        xy, xz, yz = of_one @ (x * y), of_z @ x, of_z @ y
        second = np.array([[of_one @ (x * x), xy, xz], [xy, of_one @ (y * y), yz], [xz, yz, of_square.sum()]])
        return float(of_one.sum()), first, second


def inside_volume(vertices: Floats, triangles: Integers) -> float:
    """The volume of the inside of a closed mesh [m^3], by the divergence theorem minus what it encloses too often."""
    enclosed = volume(vertices, triangles)
    too_often = excess(vertices, triangles).volume
    return enclosed - too_often if is_worth_it(too_often, enclosed) else enclosed


def is_worth_it(too_often: float, enclosed: float) -> bool:
    """Whether a volume that is enclosed too often is more than rounding and small folds [m^3]."""
    return abs(too_often) > _NEGLIGIBLE * abs(enclosed)


def excess(vertices: Floats, triangles: Integers) -> Excess:
    """What a closed mesh encloses too often, as stretches of lines.

    Args:
        vertices: [m], shape (n, 3).
        triangles: vertex indices, shape (m, 3), counterclockwise seen from outside.
    """
    turn = np.array([[np.cos(_TURN), -np.sin(_TURN)], [np.sin(_TURN), np.cos(_TURN)]])
    turned = np.column_stack([vertices[:, :2] @ turn, vertices[:, 2]])
    low, high = bounds(turned, triangles)[:, :2]
    corner = turned[triangles]
    least, most = corner[..., :2].min(axis=1), corner[..., :2].max(axis=1)
    covered = float(np.prod(most - least, axis=1).sum())
    edge = max(float(np.prod(high - low)) / _LINES, covered / _MOST_PAIRS) ** 0.5
    if not edge > 0.0:
        return Excess(np.empty((0, 2)), *np.empty((3, 0)))
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
    return Excess((low + line[which] * edge) @ turn.T, height[which], height[which + 1], too_often[which] * edge**2)


def _crossings(corner: Floats, first: Floats, last: Floats, low: Floats, edge: float) -> tuple[Floats, Floats, Floats]:
    """The lines (k, 2) that cross triangles (m, 3, 3), where along z (k,), and 1 where one enters and -1 where it leaves (k,).

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
