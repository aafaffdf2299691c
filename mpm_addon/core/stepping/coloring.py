"""Which velocity field each fragment has: those near each other have different ones, as neighbors on a map have different colors."""

import itertools

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# Fragments nearer than this may share nodes before the next sort [cells]: particles reach 1.5 cells, and move up to one.
REACH = 4.0


def near_pairs(position: NDArray[np.float64], fragment: Ints) -> NDArray[np.int64]:
    """The pairs of fragments that are near each other, and how much of them is.

    Args:
        position: of particles [cells], (n, 3).
        fragment: of each, numbered from 0, (n,).

    Returns:
        (k, 3): both fragments, the lower number first, and the number of pairs of neighboring cubes of `REACH` that they are in.
    """
    cells = np.floor(position / REACH).astype(np.int64)
    cells -= cells.min(axis=0) - 1
    size = cells.max(axis=0) + 2
    key = (cells[:, 0] * size[1] + cells[:, 1]) * size[2] + cells[:, 2]
    count = int(fragment.max()) + 1
    present = np.unique(key * count + fragment)
    keys, owners = np.divmod(present, count)
    found = []
    for x, y, z in itertools.product((-1, 0, 1), repeat=3):
        if (x, y, z) < (0, 0, 0):
            continue
        wanted = keys + (x * size[1] + y) * size[2] + z
        low, high = np.searchsorted(keys, wanted, "left"), np.searchsorted(keys, wanted, "right")
        counts = high - low
        start = np.repeat(np.arange(len(keys)), counts)
        end = np.arange(len(start)) + np.repeat(low - np.cumsum(counts) + counts, counts)
        its = np.stack([owners[start], owners[end]], axis=1)
        found.append(np.sort(its[its[:, 0] != its[:, 1]], axis=1))
    pairs, shared = np.unique(np.concatenate(found), axis=0, return_counts=True)
    return np.column_stack([pairs, shared])


def colored(fields: Ints, sizes: Ints, pairs: NDArray[np.int64], count: int) -> Ints:
    """Choose a field for each fragment, from the largest to the smallest; each keeps its own unless a larger one nearby has it.

    Args:
        fields: those that they have, (n,).
        sizes: their numbers of particles, (n,).
        pairs: which are near each other, see `near_pairs`.
        count: number of fields. Where a fragment is near others of all fields, it gets that of those that it touches least.

    Returns:
        (n,) fields.
    """
    if not (fields[pairs[:, 0]] == fields[pairs[:, 1]]).any():
        return fields
    chosen = fields.copy()
    rank = np.empty(len(fields), np.int64)
    rank[np.lexsort((np.arange(len(fields)), -sizes))] = np.arange(len(fields))
    larger: list[list[tuple[int, int]]] = [[] for _ in fields]
    for one, other, shared in pairs.tolist():
        low, high = (one, other) if rank[one] < rank[other] else (other, one)
        larger[high].append((low, shared))
    for each in np.argsort(rank):
        weights = np.zeros(count)
        for other, shared in larger[each]:
            weights[chosen[other]] += shared
        if weights[chosen[each]] > weights.min():
            chosen[each] = weights.argmin()
    return chosen
