"""Particles so deep in the material that its surface does not depend on them; without them, it takes a fraction of the time to make.

The mesh then also has a surface around the cavity that they leave. It is recognized by its place alone, since no other one comes near.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.bool_]

# A cell is filled if the 27 around it have this share of the particles at rest: the smallest bubble with a surface takes more away.
_FILLED = 0.65
# Around the cavity, the surface lies within so many cells.
_AROUND = 3
# Leaving out a smaller share takes longer, for the surface of the cavity.
_LEAST = 0.25
# Cells of one spacing in memory; in larger boxes, all particles are kept.
_MOST_CELLS = 1 << 25


class Interior:
    """The inside of some particles.

    Attributes:
        is_deep: which particles the surface does not depend on, (n,); none where these are few.
    """

    def __init__(self, position: NDArray[Any], spacing: float, reach: float) -> None:
        """Find it.

        Args:
            position: [m], finite (n, 3).
            spacing: the distance between particles at rest [m].
            reach: how far below the outermost particles the surface depends on particles [spacings].
        """
        self._low, self._spacing = position.min(axis=0).astype(np.float64), spacing
        cells = np.floor((position - self._low) / spacing)
        size = cells.max(axis=0) + 1.0
        self.is_deep = np.zeros(len(position), np.bool_)
        self._inner = np.zeros((1, 1, 1), np.bool_)
        least = 2.0 * (reach + 1.0) + 1.0
        if size.min() < least or size.prod() > _MOST_CELLS:
            return
        shape = tuple(size.astype(np.int64).tolist())
        place = np.ravel_multi_index(tuple(cells.astype(np.int64).T), shape)
        count = np.bincount(place, minlength=int(size.prod())).reshape(shape).astype(np.uint16)
        filled: Cells = _summed(count) > _FILLED * 27.0
        depth = int(np.ceil(reach))
        inner = _eroded(filled, depth - _AROUND)
        is_deep = _eroded(inner, _AROUND).ravel()[place]
        if is_deep.mean() > _LEAST:
            self.is_deep, self._inner = is_deep, inner

    def contains(self, points: NDArray[Any]) -> NDArray[np.bool_]:
        """Which vertices of a surface (k, 3) belong to that of the cavity."""
        cells = np.floor((points - self._low) / self._spacing).astype(np.int64)
        is_near = ((cells >= 0) & (cells < self._inner.shape)).all(axis=1)
        found = np.zeros(len(points), np.bool_)
        found[is_near] = self._inner[tuple(cells[is_near].T)]
        return found


def _summed(count: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """The sum of the 27 cells around each."""
    total: NDArray[np.uint16] = count
    for axis in range(3):
        padded: NDArray[np.uint16] = _padded(total, axis, 1)
        total = np.moveaxis(np.add(np.add(padded[:-2], padded[1:-1], dtype=np.uint16), padded[2:], dtype=np.uint16), 0, axis)
    return total


def _eroded(cells: Cells, depth: int) -> Cells:
    """The cells with only set ones within a depth along the axes and diagonals."""
    for axis in range(3):
        row, length = _padded(cells, axis, depth), 1
        while length < 2 * depth + 1:
            step = min(length, 2 * depth + 1 - length)
            row, length = row[:-step] & row[step:], length + step
        cells = np.moveaxis(row, 0, axis)
    return cells


def _padded(cells: NDArray[Any], axis: int, depth: int) -> NDArray[Any]:
    """The cells with that axis first, and empty ones added at its ends."""
    return np.pad(np.moveaxis(cells, axis, 0), [(depth, depth), (0, 0), (0, 0)])
