"""Triangles of a polygon in a plane: ears are clipped, inner points are added, and edges are flipped until no triangle is a needle."""

from collections.abc import Iterable

import numpy as np

from .neighbors import Floats, Integers

# Inner points keep this part of their distance from the edges.
_CLEAR = 0.7
# Flips of an edge, on average; flipping ends without that limit where the polygon does not cross itself.
_MOST_FLIPS = 50


def filled(polygon: Floats, pitch: float) -> tuple[Floats, Integers]:
    """Inner points (k, 2) of a polygon (n, 2), counterclockwise, and triangles of its corners and, after these, the inner points (m, 3).

    Args:
        pitch: distance between inner points.
    """
    inner = _inner_points(polygon, pitch)
    points = np.concatenate([polygon, inner])
    mesh = _Triangles(points, clipped(polygon))
    mesh.flip(list(mesh.sides))
    for number in range(len(polygon), len(points)):
        mesh.insert(number)
    return inner, mesh.rows()


def _inner_points(polygon: Floats, pitch: float) -> Floats:
    """Points of a triangular grid inside a polygon."""
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    rows = np.arange(low[1] + 0.5 * pitch, high[1], pitch * np.sqrt(0.75))
    columns = np.arange(low[0], high[0] + pitch, pitch)
    grid = np.stack(np.meshgrid(columns, rows), axis=-1)
    grid[1::2, :, 0] -= 0.5 * pitch
    grid = grid.reshape(-1, 2)
    start, end = polygon, np.roll(polygon, -1, axis=0)
    along, is_inside, nearest = end - start, np.zeros(len(grid), np.bool_), np.full(len(grid), np.inf)
    for first, arm in zip(start, along, strict=True):
        offset = grid - first
        share = np.clip(offset @ arm / max(float(arm @ arm), 1e-300), 0.0, 1.0)
        nearest = np.minimum(nearest, ((offset - share[:, None] * arm) ** 2).sum(axis=1))
        is_across = (first[1] > grid[:, 1]) != (first[1] + arm[1] > grid[:, 1])
        if is_across.any():
            place = first[0] + arm[0] * offset[:, 1] / (arm[1] if arm[1] != 0.0 else 1.0)
            is_inside ^= is_across & (grid[:, 0] < place)
    return grid[is_inside & (nearest > (_CLEAR * pitch) ** 2)]


class _Triangles:
    """Triangles whose edges can be flipped.

    Attributes:
        sides: the third corner of the triangle to the left of each directed edge.
    """

    def __init__(self, points: Floats, triangles: Integers) -> None:
        self._points = points.tolist()
        self.sides: dict[tuple[int, int], int] = {}
        self._last = 0, 0, 0
        for row in triangles.tolist():
            self._add(*row)

    def rows(self) -> Integers:
        """The triangles (m, 3)."""
        return np.array([(a, b, c) for (a, b), c in self.sides.items() if a < b and a < c], np.int64)

    def insert(self, number: int) -> None:
        """Add a point to the triangle that it lies in; leaves it out where a polygon that crosses itself has none."""
        found = self._around(number)
        if found is None:
            return
        a, b, c = found
        self._remove(a, b, c)
        for start, end in ((a, b), (b, c), (c, a)):
            self._add(start, end, number)
        self._last = a, b, number
        self.flip([(a, b), (b, c), (c, a)])

    def _around(self, number: int) -> tuple[int, int, int] | None:
        """The triangle that a point lies in; None if there is none."""
        a, b, c = self._last
        # from the last one, across the edges that the point lies behind
        for _step in range(len(self.sides)):
            if self.sides.get((a, b)) != c:
                break
            behind = next(((x, y) for x, y in ((a, b), (b, c), (c, a)) if self._area(x, y, number) <= 0.0), None)
            if behind is None:
                return a, b, c
            b, a = behind
            across = self.sides.get((a, b))
            if across is None:
                break
            c = across
        return next(((a, b, c) for (a, b), c in self.sides.items() if a < b and a < c and self._contains(a, b, c, number)), None)

    def flip(self, waiting: Iterable[tuple[int, int]]) -> None:
        """Flip edges until the circle around no triangle holds the opposite corner (Lawson 1977)."""
        stack = list(waiting)
        budget = _MOST_FLIPS * (len(stack) + 10)
        while stack and budget:
            a, b = stack.pop()
            c, d = self.sides.get((a, b)), self.sides.get((b, a))
            if c is None or d is None or (c, d) in self.sides or (d, c) in self.sides or not self._is_bad(a, b, c, d):
                continue
            budget -= 1
            self._remove(a, b, c)
            self._remove(b, a, d)
            self._add(a, d, c)
            self._add(d, b, c)
            stack += [(a, d), (d, b), (b, c), (c, a)]

    def _add(self, a: int, b: int, c: int) -> None:
        self.sides[a, b], self.sides[b, c], self.sides[c, a] = c, a, b

    def _remove(self, a: int, b: int, c: int) -> None:
        for edge in ((a, b), (b, c), (c, a)):
            del self.sides[edge]

    def _area(self, a: int, b: int, c: int) -> float:
        """Twice the area of a triangle, negative if clockwise."""
        (ax, ay), (bx, by), (cx, cy) = self._points[a], self._points[b], self._points[c]
        return float((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))

    def _contains(self, a: int, b: int, c: int, d: int) -> bool:
        return self._area(a, b, d) > 0.0 and self._area(b, c, d) > 0.0 and self._area(c, a, d) > 0.0

    def _is_bad(self, a: int, b: int, c: int, d: int) -> bool:
        """Whether the edge between a and b, with c to its left and d to its right, is better between c and d."""
        if min(self._area(a, d, c), self._area(d, b, c)) <= 0.0:
            return False
        if min(self._area(a, b, c), self._area(b, a, d)) <= 0.0:
            return True
        # the angles at c and d have a sum of more than a half turn
        return self._cosine(c, a, b) * self._sine(d, a, b) + self._sine(c, a, b) * self._cosine(d, a, b) < -1e-12

    def _sine(self, at: int, a: int, b: int) -> float:
        return abs(self._area(at, a, b)) / self._reach(at, a, b)

    def _cosine(self, at: int, a: int, b: int) -> float:
        (x, y), (ax, ay), (bx, by) = self._points[at], self._points[a], self._points[b]
        return float(((ax - x) * (bx - x) + (ay - y) * (by - y)) / self._reach(at, a, b))

    def _reach(self, at: int, a: int, b: int) -> float:
        (x, y), (ax, ay), (bx, by) = self._points[at], self._points[a], self._points[b]
        return float(max(np.hypot(ax - x, ay - y) * np.hypot(bx - x, by - y), 1e-300))


def clipped(polygon: Floats) -> Integers:
    """Triangles (n - 2, 3) of a polygon (n, 2), counterclockwise: ears are clipped, of those that are free the one with the best angles.

    Where a polygon crosses itself there may be none; the corner that turns most is clipped then, so that there are always n - 2 triangles.
    """
    left = list(range(len(polygon)))
    quality = [_quality(polygon, left, place) for place in range(len(left))]
    triangles = []
    while len(left) > 3:
        place = int(np.argmax(quality))
        if quality[place] <= 0.0:
            # clipping may have freed others
            quality = [_quality(polygon, left, corner) for corner in range(len(left))]
            place = int(np.argmax(quality))
        triangles.append((left[place - 1], left[place], left[(place + 1) % len(left)]))
        del left[place], quality[place]
        for near in {(place - 1) % len(left), place % len(left)}:
            quality[near] = _quality(polygon, left, near)
    return np.array([*triangles, tuple(left)], np.int64)


def _quality(polygon: Floats, left: list[int], place: int) -> float:
    """How good the triangle of a corner and its neighbors is: above 0 if it is free, 1 if it is equilateral."""
    names = [left[place - 1], left[place], left[(place + 1) % len(left)]]
    a, b, c = polygon[names]
    sides = np.array([b - a, c - b, a - c])
    double = float(sides[0, 0] * sides[1, 1] - sides[0, 1] * sides[1, 0])
    shape = 2.0 * np.sqrt(3.0) * double / max(float((sides * sides).sum()), 1e-300)
    if shape <= 0.0:
        return shape - 2.0
    arms = polygon[left][:, None] - np.array([a, b, c])
    turns = sides[None, :, 0] * arms[..., 1] - sides[None, :, 1] * arms[..., 0]
    is_within = (turns >= 0.0).all(axis=1)
    is_within[[(place - 1) % len(left), place, (place + 1) % len(left)]] = False
    # an ear that is not free is still better than a corner that turns the other way
    return shape - 1.0 if is_within.any() else shape
