"""The nearest points of other points, in plain numpy: points are sorted into cells, and a few cells around each query are searched."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Factor from one search to the next, of what has not been found.
_GROWTH = 1.7
# Distances that are computed at once.
_PIECE = 60_000
_LARGEST_CELL_NUMBER = 1 << 20


class Found(NamedTuple):
    """The nearest points of each query, in order of their numbers: these and their squared distances [m^2], both (q, k)."""

    number: Integers
    squared: Floats


def nearest(points: Floats, queries: Floats, count: int, reach: float, farthest: float = math.inf) -> Found:
    """The `count` nearest points of each query, or all points if they are fewer; for arguments see `Neighborhood`."""
    return Neighborhood(points, reach).nearest(queries, count, farthest)


class Neighborhood:
    """Points among which the nearest are looked for, again and again; they are sorted once."""

    def __init__(self, points: Floats, reach: float) -> None:
        """Args:
        points: [m], shape (p, 3), at least one.
        reach: a distance within which most queries have as many as they want [m]; others are searched again, farther away.
        """
        self._points, self._low, self._high = points, points.min(axis=0), points.max(axis=0)
        # a cell number of each axis has to fit into a third of a key
        self._edge = max(reach, float((self._high - self._low).max()) / (_LARGEST_CELL_NUMBER - 4), 1e-300)
        self._tables: dict[float, _Table] = {}

    def nearest(self, queries: Floats, count: int, farthest: float = math.inf) -> Found:
        """The `count` nearest points of each query [m], (q, 3), or all points if they are fewer.

        Of those beyond `farthest` [m], some may be missing, and are then number 0 at an infinite distance.
        """
        count = min(count, len(self._points))
        found = Found(np.zeros((len(queries), count), np.int64), np.full((len(queries), count), np.inf))
        if not len(queries):
            return found
        extent = float((np.maximum(self._high, queries.max(axis=0)) - np.minimum(self._low, queries.min(axis=0))).max())
        edge, waiting = self._edge, np.arange(len(queries))
        while len(waiting):
            is_last = edge >= min(extent, farthest)
            for some, number, squared in self._table(edge).search(queries, waiting, count):
                found.number[some], found.squared[some] = number, squared
            is_sure = found.squared[waiting].max(axis=1) <= edge * edge
            waiting = waiting[~is_sure] if not is_last else waiting[:0]
            edge *= _GROWTH
        return found

    def are_none_within(self, queries: Floats) -> NDArray[np.bool_]:
        """Whether no point lies within reach of each query [m], (q, 3)."""
        are_none = np.ones(len(queries), np.bool_)
        for some, _number, squared in self._table(self._edge).search(queries, np.arange(len(queries)), 1):
            are_none[some] = squared[:, 0] > self._edge**2
        return are_none

    def _table(self, edge: float) -> "_Table":
        if edge not in self._tables:
            self._tables[edge] = _Table(self._points, self._low, self._high, edge)
        return self._tables[edge]


class _Table:
    """Points sorted by cells of one edge."""

    def __init__(self, points: Floats, low: Floats, high: Floats, edge: float) -> None:
        self._low, self._edge = low, edge
        self._last = np.floor((high - low) / edge).astype(np.int64)
        keys = self._key(self._cells(points))
        order = np.argsort(keys, kind="stable")
        self._order, self._keys = order, keys[order]
        self._columns = np.ascontiguousarray(points[order].T)

    def search(self, queries: Floats, chosen: Integers, count: int) -> "list[tuple[Integers, Integers, Floats]]":
        """The nearest points of some queries among the 27 cells around each: parts of `chosen`, with what was found for each."""
        cells = self._cells(queries[chosen])
        keys = self._key(cells)
        order = np.argsort(keys, kind="stable")
        chosen, cells = chosen[order], cells[order]
        # cells of one column are neighbors in the order of keys
        columns = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        middle = [self._key(cells + np.array([dx, dy, 0])) for dx, dy in columns]
        starts = np.stack([np.searchsorted(self._keys, key - 1, "left") for key in middle], axis=1)
        ends = np.stack([np.searchsorted(self._keys, key + 1, "right") for key in middle], axis=1)
        total = np.cumsum((ends - starts).sum(axis=1))
        pieces = []
        first = 0
        while first < len(chosen):
            done = total[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(total, done + _PIECE, "right")))
            part = slice(first, last)
            pieces.append((chosen[part], *self._among(queries[chosen[part]], starts[part], ends[part], count)))
            first = last
        return pieces

    def _among(self, queries: Floats, starts: Integers, ends: Integers, count: int) -> tuple[Integers, Floats]:
        """The nearest of the points between the starts and ends (q, 9) of each query; numbers 0 at infinity where they are too few."""
        lengths = ends - starts
        counts = lengths.sum(axis=1)
        width = max(int(counts.max(initial=0)), count)
        # the candidates of each query, one row after another
        flat = lengths.ravel()
        before = np.cumsum(flat) - flat
        candidate = np.arange(int(counts.sum()))
        place = candidate + np.repeat(starts.ravel() - before, flat)
        cell = candidate + np.repeat(np.arange(len(queries)) * width - before[::9], counts)
        distance = np.zeros(len(candidate))
        for points, query in zip(self._columns, queries.T, strict=True):
            distance += (points[place] - np.repeat(query, counts)) ** 2
        squared = np.full(len(queries) * width, np.inf)
        number = np.zeros(len(queries) * width, np.int64)
        squared[cell], number[cell] = distance, self._order[place]
        squared, number = squared.reshape(-1, width), number.reshape(-1, width)
        if count < width:
            best = np.argpartition(squared, count - 1, axis=1)[:, :count]
            squared, number = np.take_along_axis(squared, best, axis=1), np.take_along_axis(number, best, axis=1)
        order = np.argsort(number, axis=1)
        return np.take_along_axis(number, order, axis=1), np.take_along_axis(squared, order, axis=1)

    def _cells(self, points: Floats) -> Integers:
        # what is farther outside is beside the outermost cells all the same; two more on each side, so that neighbors have keys too
        places = np.clip((points - self._low) / self._edge, -1.0, self._last + 1.0)
        return np.floor(places).astype(np.int64) + 2

    @staticmethod
    def _key(cells: Integers) -> Integers:
        return (cells[:, 0] << 42) | (cells[:, 1] << 21) | cells[:, 2]
