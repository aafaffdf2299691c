"""Bonds: pairs of particles that are neighbors where they were emitted, and when they parted. No numba, no files.

Tearing and skins read this structure. A bond joins particles of one emission of one emitter, named by their ids, and parts once and for
ever. Bonds are numbered in order of emission, so their numbers stay. A *fragment* is the particles that bonds still join.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .components import components

# neighbors are nearer than this [mean distances between particles]
REACH = 1.5
WHOLE = np.inf


@dataclass(frozen=True)
class Bonds:
    """Bonds, in order of their numbers.

    Attributes:
        pairs: the ids of the two particles of each, the lower one first, (m, 2).
        parted: when each parted [s since the first frame], infinity if it did not, (m,).
    """

    pairs: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    parted: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def is_whole(self) -> NDArray[np.bool_]:
        """Which bonds have not parted, (m,)."""
        return self.parted == WHOLE

    def damage(self, count: int) -> NDArray[np.float32]:
        """The share of its bonds that each of the first `count` particles has lost, (count,); 0 for those that never had any."""
        every = np.bincount(self.pairs.reshape(-1), minlength=count)
        lost = np.bincount(self.pairs[~self.is_whole].reshape(-1), minlength=count)
        return (lost / np.maximum(every, 1)).astype(np.float32)

    def fragments(self, count: int) -> NDArray[np.int64]:
        """The fragment of each of the first `count` particles: the least id among those that bonds still join it to, (count,)."""
        fragment = np.arange(count)
        starts, ends = self.pairs[self.is_whole].T.astype(np.int64)
        fragment[starts] = fragment[ends] = components(starts, ends, count)
        return fragment


def neighbors(position: NDArray[np.float64], spacing: float) -> NDArray[np.int64]:
    """The pairs of neighbors among points, each once, the lower number first, in ascending order, (m, 2).

    Args:
        position: [m], shape (n, 3).
        spacing: mean distance between them [m].
    """
    reach = REACH * spacing
    cells = np.floor((position - position.min(axis=0)) / reach).astype(np.int64)
    size = cells.max(axis=0) + 3
    key = (cells[:, 0] * size[1] + cells[:, 1]) * size[2] + cells[:, 2]
    order = np.argsort(key, kind="stable")
    keys, found = key[order], []
    for step in _steps(size):
        first, last = (np.searchsorted(keys, keys + step, side) for side in ("left", "right"))
        if step == 0:
            # each pair within a cell once
            first = np.arange(len(keys)) + 1
        counts = last - first
        start = np.repeat(np.arange(len(keys)), counts)
        end = np.arange(len(start)) + np.repeat(first - np.cumsum(counts) + counts, counts)
        pairs = np.stack([order[start], order[end]], axis=1)
        apart = position[pairs[:, 0]] - position[pairs[:, 1]]
        found.append(pairs[(apart * apart).sum(axis=1) < reach * reach])
    every = np.sort(np.concatenate(found), axis=1)
    return every[np.lexsort((every[:, 1], every[:, 0]))]


def _steps(size: NDArray[np.int64]) -> Iterator[int]:
    """The steps from the key of a cell to those of itself and half of the cells around it."""
    for x in (-1, 0, 1):
        for y in (-1, 0, 1):
            for z in (-1, 0, 1):
                if (x, y, z) >= (0, 0, 0):
                    yield (x * int(size[1]) + y) * int(size[2]) + z
