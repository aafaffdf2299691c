"""The order in which feet are solved, and the slabs that are solved in parallel.

A slab is all feet in the node blocks with one coordinate along an axis. Slabs of one color share no node. Neighboring slabs of one color
form the pieces that threads take. Colliders of one level share no node either, so that they do not affect one another. Lone feet belong
to slabs, but need none of this.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel

Ints = NDArray[np.int64]

# approximate number of feet in a piece: with fewer, distributing pieces costs more than the work itself
PIECE_FEET = 400


class Slabs(NamedTuple):
    """Slabs, ordered by color.

    Attributes:
        slab_count: the number of slabs.
        cuts: the first slab of each piece, and the number of slabs at the end, shape (pieces + 1,).
        colors: the first piece of each of the two colors, and the number of pieces, shape (3,).
        levels: of the colliders, ascending where two share a node, shape (colliders,).
    """

    slab_count: int
    cuts: Ints
    colors: Ints
    levels: Ints


def no_slabs(colliders: int) -> Slabs:
    """All feet in one slab, each collider on a level of its own."""
    return Slabs(1, np.array([0, 1]), np.array([0, 1, 1]), np.arange(colliders))


def slabs_of(feet: Ints, coordinates: Ints, colliders: int, least: int) -> tuple[Ints, Slabs]:
    """Slabs along the axis whose fullest slab has the fewest feet; with fewer feet than `least`, a single slab.

    Args:
        feet: the number of feet of each row, (rows,).
        coordinates: of the rows' node blocks, (rows, 3).

    Returns:
        The slab of each row, (rows,), and the slabs; see `find_levels` for their levels.
    """
    if feet.sum() < least:
        return np.zeros(len(feet), np.int64), no_slabs(colliders)
    fewest, slab, colors, counts = math.inf, np.zeros(len(feet), np.int64), (0, 1, 1), np.zeros(1)
    for axis in range(3):
        values, place = np.unique(coordinates[:, axis], return_inverse=True)
        its = np.bincount(place, feet)
        if its.max() < fewest:
            order = np.argsort(values & 1, kind="stable")
            rank = np.empty(len(values), np.int64)
            rank[order] = np.arange(len(values))
            fewest, slab, counts = its.max(), rank[place], its[order]
            colors = 0, int(np.count_nonzero(values & 1 == 0)), len(values)
    cuts, firsts = [], [0]
    for begin, end in ((colors[0], colors[1]), (colors[1], colors[2])):
        portion = (np.cumsum(counts[begin:end]) - counts[begin:end]) // PIECE_FEET
        cuts += [begin + each for each in np.flatnonzero(np.diff(portion, prepend=-1.0))]
        firsts.append(len(cuts))
    return slab, Slabs(colors[2], np.array([*cuts, colors[2]], np.int64), np.array(firsts, np.int64), np.arange(colliders))


def in_one_piece(slabs: Slabs) -> Slabs:
    """The slabs as one piece, which one thread solves, collider after collider."""
    return slabs._replace(cuts=np.array([0, slabs.slab_count]), colors=np.array([0, 1, 1]))


@kernel(allocates=True)
def find_levels(feet, deep, slabs, node_count):
    """Find the levels of colliders.

    Args:
        feet, deep: see `surface.Feet` and `deep_nodes.DeepNodes`.
        slabs: see `Slabs`; `levels` is a result.
        node_count: the number of nodes.
    """
    count = slabs.levels.size
    taken = np.zeros(node_count, np.uint8)
    for owner in range(count):
        level = 0
        for is_marking in (False, True):
            for slab in range(slabs.slab_count):
                run = slab * count + owner
                for index in range(deep.first[run], deep.first[run + 1]):
                    if deep.is_lone[index]:
                        continue
                    level = visit(taken, deep.nodes[index], level, is_marking)
                for foot in range(feet.first[run], feet.first[run + 1]):
                    if feet.is_lone[foot]:
                        continue
                    level = visit(taken, feet.nodes[foot], level, is_marking)
                    for corner in range(feet.counts[foot]):
                        level = visit(taken, feet.corners[foot, corner], level, is_marking)
        slabs.levels[owner] = level


@kernel
def visit(taken, node, level, is_marking):
    """Mark a node as used by a level, or return the lowest level above those that use it, at least `level`."""
    if is_marking:
        taken[node] = max(taken[node], level + 1)
        return level
    return max(level, int(taken[node]))
