"""The division of particles into blocks: the slots of each block, and the node blocks around it. See `blocks`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import blocks
from .blocks import Runs
from .fields import Fields, divide
from .packing import place_runs
from .reach import find_wanted

Ints = NDArray[np.int64]
PIECE_COUNT = 64
_MASK = (1 << blocks.KEY_BITS) - 1


def unpacked(keys: Ints) -> Ints:
    """The coordinates of blocks, shape (n, 3), from their keys."""
    return np.stack([keys >> (2 * blocks.KEY_BITS), keys >> blocks.KEY_BITS & _MASK, keys & _MASK], axis=1) - blocks.KEY_OFFSET


def packed(coordinates: Ints) -> Ints:
    """The keys of blocks from their coordinates (n, 3)."""
    x, y, z = (coordinates + blocks.KEY_OFFSET).T
    return (x << (2 * blocks.KEY_BITS)) | (y << blocks.KEY_BITS) | z


def runs_of(counts: Ints, instance_count: int) -> Runs:
    """The slots of runs with these numbers of particles, (runs,)."""
    pieces, first = np.zeros(PIECE_COUNT + 1, np.int64), np.empty(len(counts) + 1, np.int64)
    before = np.zeros(len(counts) // instance_count + 1, np.int64)
    np.cumsum(counts.reshape(-1, instance_count).sum(axis=1), out=before[1:])
    blocks.cut_into_pieces(before, pieces)
    place_runs(counts, instance_count, pieces, first)
    return Runs(first, pieces, instance_count)


@dataclass
class Around:
    """The distinct blocks around some blocks.

    Attributes:
        keys: in ascending order.
        places: (blocks, 27 or 9) indices in `keys` of the blocks around each; the number of keys where none is wanted.
        opposite: (keys, 27 or 9) the blocks that each of `keys` surrounds, -1 for none.
        table_keys, table_values: a hash table of keys.
        numbers: the index in `keys` that each value of the table stands for.
    """

    keys: Ints
    places: Ints
    opposite: NDArray[np.int32]
    table_keys: Ints
    table_values: Ints
    numbers: Ints

    def __post_init__(self) -> None:
        self._neighbors = np.empty(self.opposite.shape, np.int64)
        self._is_known = np.zeros(len(self.keys), np.bool_)

    def neighbors_of(self, numbers: Ints) -> Ints:
        """The numbers of the `keys` around each of them, (keys, 27 or 9), -1 for none; only filled for those with these numbers."""
        missing = numbers[~self._is_known[numbers]]
        if len(missing):
            found = np.empty((len(missing), self._neighbors.shape[1]), np.int64)
            blocks.find_around(self.keys[missing], self.table_keys, self.table_values, self.numbers, found)
            self._neighbors[missing] = found
            self._is_known[missing] = True
        return self._neighbors


def blocks_around(keys: Ints, is_wanted: NDArray[np.bool_]) -> Around:
    """The wanted blocks around each block; is_wanted: (blocks, 27 or 9)."""
    wanted = int(np.count_nonzero(is_wanted))
    size = 1 << (2 * min(wanted, 4 * len(keys)) + 64).bit_length()
    places = np.empty(is_wanted.shape, np.int64)
    while True:
        table_keys, table_values = np.full(size, -1, np.int64), np.empty(size, np.int64)
        unique = np.empty(size, np.int64)
        count = blocks.keys_around(keys, is_wanted, table_keys, table_values, places, unique)
        if count >= 0:
            break
        size *= 4
    order = np.argsort(unique[:count])
    numbers = np.empty(count, np.int64)
    numbers[order] = np.arange(count)
    opposite = np.full((count, is_wanted.shape[1]), -1, np.int32)
    blocks.number_around(places, numbers, count, opposite)
    return Around(unique[:count][order], places, opposite, table_keys, table_values, numbers)


class Layout:
    """The slots of each block's particles, and the node blocks around it.

    Args:
        keys: keys of the particle blocks, in ascending order.
        runs: slots of their particles.
        extents: bounding box of each block's particles at the sort; see `reach.find_extents`.
        dimension: 3 or 2.
        fields: instances of each velocity field, see `fields`.
        old: a layout to reuse the node blocks of, if they are the same.

    Attributes:
        keys, coordinates: of the particle blocks, in ascending order.
        runs, extents: as above.
        first: first slot of each run, see `Runs`.
        neighbors: (blocks, 27 or 9) node blocks around each particle block; the number of node blocks for none.
        node_keys: of the node blocks without twins, in ascending order.
        node_coordinates: (node blocks, 3) of all node blocks, with twins at the end.
        node_arenas: (node blocks, 27 or 9) particle blocks around each of them, -1 for none.
        node_instances, node_fields, field_neighbors: see `fields.NodeBlocks`; `neighbors` is that of the first field.
        fields: as above; origins: see `fields.NodeBlocks`.
        places: `neighbors` without twins.
    """

    def __init__(
        self, keys: Ints, runs: Runs, extents: NDArray[np.float64], dimension: int, fields: Fields, old: "Layout | None" = None
    ) -> None:
        self.keys = keys
        self.runs = runs
        self.first = runs.first
        self.fields = fields
        self.extents = extents
        self._is_wanted = np.empty((len(keys), 3**dimension), np.bool_)
        find_wanted(extents, self._is_wanted)
        if old is not None and np.array_equal(keys, old.keys) and np.array_equal(self._is_wanted, old._is_wanted):
            self.coordinates, self._around, coordinates = old.coordinates, old._around, old.node_coordinates[: len(old.node_keys)]
        else:
            self.coordinates = unpacked(keys)
            self._around = blocks_around(keys, self._is_wanted)
            coordinates = unpacked(self._around.keys)
        self.node_keys = self._around.keys
        self.places = self._around.places
        self._nodes = divide(fields, runs.first, self.places, len(self.node_keys))
        self.field_neighbors, self.origins = self._nodes.neighbors, self._nodes.origins
        self.node_instances, self.node_fields = self._nodes.instances, self._nodes.fields
        self.neighbors = self.field_neighbors[0]
        self.node_coordinates = coordinates[self.origins] if self.has_twins else coordinates
        self.node_arenas = self._around.opposite[self.origins] if self.has_twins else self._around.opposite
        self._node_neighbors: Ints | None = None

    @property
    def slot_count(self) -> int:
        return int(self.first[-1])

    @property
    def node_count(self) -> int:
        """The number of node blocks, including twins, which also stands for none."""
        return len(self.origins)

    @property
    def has_twins(self) -> bool:
        return self._nodes.has_twins

    def has_nodes_of(self, other: "Layout") -> bool:
        """Whether this layout has the same node blocks as another."""
        return self._around is other._around and np.array_equal(self.origins, other.origins)

    def plain_neighbors(self, numbers: Ints) -> Ints:
        """The node blocks around each node block, (node blocks, 27 or 9), -1 for none, without twins; filled for these numbers."""
        return self._around.neighbors_of(numbers)

    def node_neighbors(self, numbers: Ints) -> Ints:
        """The node blocks of the same field around each node block, (node blocks, 27 or 9), -1 for none; filled for these numbers."""
        if not self.has_twins:
            return self._around.neighbors_of(numbers)
        if self._node_neighbors is None:
            self._node_neighbors = self._nodes.around(self._around.neighbors_of(np.arange(len(self.node_keys))))
        return self._node_neighbors

    def with_twins(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Node blocks and all their twins.

        Args:
            numbers: (n,) of node blocks that are not twins, -1 for none.

        Returns:
            For each result, the index of the given block that it is or is a twin of, (m,); and the numbers, (m,): given blocks, then twins.
        """
        count = len(self.node_keys)
        order = np.argsort(self.origins[count:], kind="stable")
        ordered = self.origins[count:][order]
        first, end = np.searchsorted(ordered, numbers, "left"), np.searchsorted(ordered, numbers, "right")
        counts = end - first
        whose = np.repeat(np.arange(len(numbers)), counts)
        place = np.arange(len(whose)) - np.repeat(np.cumsum(counts) - counts, counts) + first[whose]
        return np.concatenate([np.arange(len(numbers)), whose]), np.concatenate([numbers, count + order[place]])


def places_of(wanted: Ints, keys: Ints) -> Ints:
    """The indices of `wanted` in the ascending `keys`, -1 for those not in it."""
    if len(keys) == 0:
        return np.full(wanted.shape, -1, np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)
