"""Sparse voxels around points: only leaves of 8^3 voxels that a point reaches are in memory. Plain numpy, in a fixed order."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.errors import MpmError
from ..storage.vdb import FARTHEST, LEAF, LEAF_VOXELS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The largest radius [voxels], with which a point reaches at most two leaves along each axis.
LARGEST_RADIUS = 4.0
# Leaves of a frame, of which each takes 2 kB for a number and 6 kB for a vector; more are refused.
_MOST_LEAVES = 200_000
# Pairs of a point and a voxel that are in memory at once.
_PIECE = 1 << 20
_BITS = FARTHEST.bit_length()
_CORNERS = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1).reshape(8, 3)


class _Share(NamedTuple):
    """Voxels near some points.

    Attributes:
        points: numbers of the points, (m,).
        leaves: leaves that they reach, ascending (l,).
        voxel: voxels of these leaves, 512 to each, (m, k).
        share: the part of each point in them, whose sum is 1, (m, k).
    """

    points: Integers
    leaves: Integers
    voxel: Integers
    share: Floats


class Voxels:
    """The voxels that points reach. Each point is spread over them by the product of (1 - d^2/R^2)^2 along the axes, scaled to a sum of 1.

    Points farther than a million leaves from the origin reach none.

    Attributes:
        leaves: numbers of the leaves along x, y and z, ascending, (n, 3).
    """

    def __init__(self, position: Floats, voxel: float, radius: float) -> None:
        """Find the leaves.

        Args:
            position: [m], shape (p, 3), finite.
            voxel: the distance between voxels [m]; the center of voxel (0, 0, 0) is at the origin.
            radius: R [m]: 1 to `LARGEST_RADIUS` voxels.

        Raises:
            MpmError: they are too many.
        """
        self._count, self._reach = len(position), radius / voxel
        self._width = int(np.floor(2.0 * self._reach)) + 1
        scaled = position / voxel
        self._near = np.flatnonzero((np.abs(scaled) < (FARTHEST - 2) * LEAF).all(axis=1))
        self._scaled = scaled[self._near]
        self._first = np.floor(self._scaled - self._reach).astype(np.int64) + 1
        low = self._first // LEAF
        high = (self._first + self._width - 1) // LEAF
        keys = np.stack([_key(np.where(corner, high, low)) for corner in _CORNERS], axis=1)
        self._keys = np.unique(keys)
        if len(self._keys) > _MOST_LEAVES:
            voxels = len(self._keys) * LEAF_VOXELS
            raise MpmError(f"a frame would have about {voxels:.2g} voxels", "use a larger voxel size", subject="Volume")
        self._slots = np.searchsorted(self._keys, keys)
        mask = (1 << _BITS) - 1
        self.leaves = np.stack([(self._keys >> shift & mask) - FARTHEST for shift in (2 * _BITS, _BITS, 0)], axis=1)

    def spread(self, values: Floats) -> NDArray[np.float32]:
        """The sums of values (p, c) of the points at the voxels, (n, 512, c)."""
        total = np.zeros((len(self.leaves), LEAF_VOXELS, values.shape[1]), np.float32)
        for some in self._shares():
            for component, value in enumerate(values[some.points].T):
                count = LEAF_VOXELS * len(some.leaves)
                sums = np.bincount(some.voxel.ravel(), (some.share * value[:, None]).ravel(), count)
                total[some.leaves, :, component] += sums.reshape(-1, LEAF_VOXELS)
        return total

    def gathered(self, values: NDArray[np.float32]) -> Floats:
        """The mean values (p,) of the voxels (n, 512) around the points, weighted by each point's shares; 0 for those that reach none."""
        result = np.zeros(self._count)
        for some in self._shares():
            near = values[some.leaves].reshape(-1)
            result[some.points] = np.einsum("mk,mk->m", near[some.voxel].astype(np.float64), some.share)
        return result

    def _shares(self) -> Iterator[_Share]:
        """The points in order of their leaves, a few at a time."""
        order = np.argsort(self._slots[:, 0], kind="stable")
        step = max(1, _PIECE // self._width**3)
        for start in range(0, len(order), step):
            yield self._share(order[start : start + step])

    def _share(self, some: Integers) -> _Share:
        nodes = self._first[some][:, :, None] + np.arange(self._width)
        distance = (nodes - self._scaled[some][:, :, None]) / self._reach
        weight = np.maximum(1.0 - distance * distance, 0.0) ** 2
        weight /= weight.sum(axis=2, keepdims=True)
        leaves, slot = np.unique(self._slots[some], return_inverse=True)
        slot = slot.reshape(len(some), 2, 2, 2)
        side = nodes // LEAF - self._first[some][:, :, None] // LEAF
        within = nodes % LEAF
        row = np.arange(len(some))[:, None, None, None]
        leaf = slot[row, side[:, 0, :, None, None], side[:, 1, None, :, None], side[:, 2, None, None, :]]
        place = (within[:, 0, :, None, None] * LEAF + within[:, 1, None, :, None]) * LEAF + within[:, 2, None, None, :]
        share = weight[:, 0, :, None, None] * weight[:, 1, None, :, None] * weight[:, 2, None, None, :]
        shape = (len(some), -1)
        return _Share(self._near[some], leaves, (leaf * LEAF_VOXELS + place).reshape(shape), share.reshape(shape))


def _key(leaf: Integers) -> Integers:
    """One number for three, in the same order."""
    x, y, z = (leaf + FARTHEST).T
    return (x << 2 * _BITS) | (y << _BITS) | z
