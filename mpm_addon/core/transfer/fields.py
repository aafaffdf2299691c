"""Velocity fields: bodies of one field share a velocity at each node, bodies of another field have one of their own.

Where particles of several fields can reach a node block, it belongs to the first of these, and each other one has a *twin* of it: a node
block like any other, numbered behind the rest. Such a node block sums the arenas of the bodies of its field alone (see `grid`), and a
body scatters to the node blocks of its field and gathers from them. Everywhere else one node block serves the field that is there,
so that a field takes memory only where it meets others.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
# bodies with consecutive numbers, for each field
Fields = tuple[range, ...]


class NodeBlocks(NamedTuple):
    """The node blocks of all fields.

    Attributes:
        neighbours: for each field, the node blocks around each particle block, (blocks, 27 or 9); as many as there are where there is none.
        origins: (node blocks,) the node block that each one lies at the place of: its own number, or that of which it is a twin.
        bodies: (node blocks + 1, 2) the bodies [begin, end) whose arenas each sums.
    """

    neighbours: tuple[Ints, ...]
    origins: Ints
    bodies: Ints


def divide(fields: Fields, first: Ints, neighbours: Ints, count: int) -> NodeBlocks:
    """Give the bodies of each field node blocks of their own where several fields meet.

    Args:
        fields: the bodies of each, all bodies together, in order.
        first: first slot of each run, with the number of slots at the end.
        neighbours: (blocks, 27 or 9) node blocks around each particle block; `count` where there is none.
        count: how many there are.
    """
    body_count = fields[-1].stop
    bodies = np.tile(np.array([0, body_count]), (count + 1, 1))
    if len(fields) == 1:
        return NodeBlocks((neighbours,), np.arange(count), bodies)
    is_there = np.diff(first).reshape(-1, body_count) > 0
    is_reached = np.zeros((len(fields), count + 1), np.bool_)
    for field, its in enumerate(fields):
        is_reached[field, neighbours[is_there[:, its.start : its.stop].any(axis=1)]] = True
    is_reached[:, count] = False
    is_own = is_reached & (is_reached.sum(axis=0) > 1)
    is_first = is_own & (np.cumsum(is_own, axis=0) == 1)
    field_of_twin, origin_of_twin = np.nonzero(is_own & ~is_first)
    origins = np.concatenate([np.arange(count), origin_of_twin])
    numbers = np.tile(np.append(np.arange(count), len(origins)), (len(fields), 1))
    numbers[field_of_twin, origin_of_twin] = np.arange(count, len(origins))
    bodies = bodies[np.append(origins, 0)]
    for field, its in enumerate(fields):
        bodies[numbers[field, is_own[field].nonzero()[0]]] = its.start, its.stop
    return NodeBlocks(tuple(its[neighbours] for its in numbers), origins, bodies)
