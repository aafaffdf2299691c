"""Velocity fields: the material instances of one field share a velocity at each node; those of another field have their own.

Where particles of several fields can reach a node block, it belongs to the first of these fields, and each other field has a *twin* of
it: a node block like any other, numbered after the rest. Such a node block sums only the arenas of its field's instances (see `grid`), and
an instance scatters to and gathers from the node blocks of its field. Everywhere else one node block serves the field that is present, so
that a field takes memory only where it meets others.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
# the instances of each field, with consecutive numbers
Fields = tuple[range, ...]


class NodeBlocks(NamedTuple):
    """The node blocks of all fields.

    Attributes:
        neighbors: for each field, the node blocks around each particle block, (blocks, 27 or 9); the number of node blocks for none.
        origins: (node blocks,) the node block in the same place: its own number, or that of the block it is a twin of.
        instances: (node blocks + 1, 2) the instances [begin, end) whose arenas each sums.
        fields: (node blocks,) the field that each belongs to; other fields that reach the place have twins.
        numbers: (fields, places + 1) the node block of each field in each place, and of none in the last column; the number of node blocks
            where a field does not reach.
    """

    neighbors: tuple[Ints, ...]
    origins: Ints
    instances: Ints
    fields: Ints
    numbers: Ints

    @property
    def has_twins(self) -> bool:
        return len(self.origins) >= self.numbers.shape[1]

    def around(self, places: Ints) -> Ints:
        """The node blocks of the same field around each, -1 for none, from the places (places, 27 or 9) around each place."""
        if not self.has_twins:
            return places
        absent = len(self.origins)
        numbers = np.where(self.numbers == absent, -1, self.numbers)
        # index -1 is the last column, which stands for none
        return numbers[self.fields[:, None], places[self.origins]]


def divide(fields: Fields, first: Ints, neighbors: Ints, count: int) -> NodeBlocks:
    """Give the instances of each field their own node blocks where several fields meet.

    Args:
        fields: the instances of each field, in order; every instance is in one.
        first: see `Runs`.
        neighbors: (blocks, 27 or 9) node blocks around each particle block; `count` for none.
        count: number of node blocks.
    """
    instance_count = fields[-1].stop
    instances = np.tile(np.array([0, instance_count]), (count + 1, 1))
    if len(fields) == 1:
        return NodeBlocks((neighbors,), np.arange(count), instances, np.zeros(count, np.int64), np.arange(count + 1)[None])
    is_present = np.diff(first).reshape(-1, instance_count) > 0
    is_reached = np.zeros((len(fields), count + 1), np.bool_)
    for field, its in enumerate(fields):
        is_reached[field, neighbors[is_present[:, its.start : its.stop].any(axis=1)]] = True
    is_reached[:, count] = False
    is_own = is_reached & (is_reached.sum(axis=0) > 1)
    is_first = is_own & (np.cumsum(is_own, axis=0) == 1)
    field_of_twin, origin_of_twin = np.nonzero(is_own & ~is_first)
    origins = np.concatenate([np.arange(count), origin_of_twin])
    numbers = np.tile(np.append(np.arange(count), len(origins)), (len(fields), 1))
    numbers[field_of_twin, origin_of_twin] = np.arange(count, len(origins))
    instances = instances[np.append(origins, 0)]
    for field, its in enumerate(fields):
        instances[numbers[field, is_own[field].nonzero()[0]]] = its.start, its.stop
    field_of_place = np.append(is_reached.argmax(axis=0)[:count], field_of_twin)
    reached = np.where(is_reached, numbers, len(origins))
    return NodeBlocks(tuple(its[neighbors] for its in numbers), origins, instances, field_of_place, reached)
