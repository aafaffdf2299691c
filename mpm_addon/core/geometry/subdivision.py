"""Meshes with additional vertices in the middle of edges, as a list of the edges that were bisected. Plain numpy."""

import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Subdivided(NamedTuple):
    """The triangles of a mesh that was subdivided.

    Attributes:
        triangles: those that are parts of one follow one another, in the order of the mesh, (m, 3).
        source: the triangle of the mesh that each is a part of, ascending (m,).
    """

    triangles: Integers
    source: Integers


class Subdivision(NamedTuple):
    """Edges that are bisected, round after round; each bisects all triangles that have it. It says all about the faces, so no numbers
    are rounded differently where it is used.

    Attributes:
        ends: the vertices at the ends of each edge, the lower number first, int32 (k, 2). The new vertices in the middle of the edges are
            numbered after those of the mesh, in this order.
        rounds: the number of edges of each round, whose ends ascend. A triangle has at most one of them, int32 (r,).
    """

    ends: NDArray[np.int32]
    rounds: NDArray[np.int32]

    @property
    def key(self) -> str:
        """Differs between different subdivisions."""
        return f"{len(self.ends)}.{zlib.crc32(self.rounds.tobytes(), zlib.crc32(self.ends.tobytes())):08x}"

    def between(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the vertices of a mesh (n, c), then of the additional ones: the mean of both ends, (n + k, c)."""
        total, first, start = np.empty((len(values) + len(self.ends), values.shape[1])), len(values), 0
        total[:first] = values
        for number in self.rounds.tolist():
            total[first : first + number] = total[self.ends[start : start + number]].mean(axis=1)
            first, start = first + number, start + number
        return total

    def applied(self, triangles: NDArray[np.integer], count: int) -> Subdivided:
        """The triangles with these edges bisected.

        Args:
            triangles: those of the mesh, (m, 3). Those that have a vertex twice stay as they are.
            count: the number of vertices of the mesh.

        Raises:
            ValueError: two edges of a triangle are bisected in the same round, so that this is the subdivision of another mesh.
        """
        whole = triangles.astype(np.int64)
        is_sound = (whole != np.roll(whole, 1, axis=1)).all(axis=1)
        parts, source, start = whole[is_sound], np.flatnonzero(is_sound), 0
        for number in self.rounds.tolist():
            keys = edge_keys(*self.ends[start : start + number].T.astype(np.int64))
            own = edge_keys(parts, np.roll(parts, -1, axis=1))
            place = np.minimum(np.searchsorted(keys, own), number - 1)
            is_bisected = keys[place] == own
            if is_bisected.sum(axis=1).max(initial=0) > 1:
                raise ValueError("two edges of a triangle")
            rows = np.flatnonzero(is_bisected.any(axis=1))
            side = is_bisected[rows].argmax(axis=1)
            first, last, apex = parts[rows[:, None], (side[:, None] + np.arange(3)) % 3].T
            middle = count + start + place[rows, side]
            parts[rows] = np.stack([first, middle, apex], axis=1)
            parts = np.concatenate([parts, np.stack([middle, last, apex], axis=1)])
            source = np.concatenate([source, source[rows]])
            start += number
        unsound = np.flatnonzero(~is_sound)
        source = np.concatenate([source, unsound])
        order = np.argsort(source, kind="stable")
        return Subdivided(np.concatenate([parts, whole[unsound]])[order], source[order])


def edge_keys(starts: Integers, ends: Integers) -> Integers:
    """A number for each edge, whatever its direction; ascends with the lower, then with the higher vertex."""
    return (np.minimum(starts, ends) << 32) | np.maximum(starts, ends)
