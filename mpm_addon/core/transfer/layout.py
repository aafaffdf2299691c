"""How the particles of a store are cut into blocks: where each block's lie, and which node blocks surround it. See `blocks`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import blocks
from .fields import Fields, divide
from .packing import place_runs
from .reach import find_wanted

Ints = NDArray[np.int64]
PIECE_COUNT = 64
_MASK = (1 << blocks.KEY_BITS) - 1


def unpacked(keys: Ints) -> Ints:
    """The coordinates of blocks from their keys, shape (n, 3)."""
    return np.stack([keys >> (2 * blocks.KEY_BITS), keys >> blocks.KEY_BITS & _MASK, keys & _MASK], axis=1) - blocks.KEY_OFFSET


def packed(coordinates: Ints) -> Ints:
    """The keys of blocks from their coordinates (n, 3)."""
    x, y, z = (coordinates + blocks.KEY_OFFSET).T
    return (x << (2 * blocks.KEY_BITS)) | (y << blocks.KEY_BITS) | z


@dataclass
class Runs:
    """Where the particles of each block and body lie.

    Attributes:
        first: first slot of each run (block, body), with the number of slots at the end.
        pieces: first block of each piece of work.
    """

    first: Ints
    pieces: Ints


def runs_of(counts: Ints, body_count: int) -> Runs:
    """Where so many particles in each run come to lie, (runs,)."""
    pieces, first = np.zeros(PIECE_COUNT + 1, np.int64), np.empty(len(counts) + 1, np.int64)
    before = np.zeros(len(counts) // body_count + 1, np.int64)
    np.cumsum(counts.reshape(-1, body_count).sum(axis=1), out=before[1:])
    blocks.cut_into_pieces(before, pieces)
    place_runs(counts, body_count, pieces, first)
    return Runs(first, pieces)


@dataclass
class Around:
    """Blocks around each of some blocks: their distinct keys, and which of them lie where.

    Attributes:
        keys: in ascending order.
        places: (blocks, 27 or 9) places in `keys`, as many as there are where none is wanted.
        opposite: (keys, 27 or 9) the blocks that lie around each of `keys`, -1 where there is none.
        table_keys, table_values: a hash table of keys; numbers: the places in `keys` that its values stand for.
    """

    keys: Ints
    places: Ints
    opposite: NDArray[np.int32]
    table_keys: Ints
    table_values: Ints
    numbers: Ints

    def __post_init__(self) -> None:
        self._neighbours = np.empty(self.opposite.shape, np.int64)
        self._is_known = np.zeros(len(self.keys), np.bool_)

    def neighbours_of(self, numbers: Ints) -> Ints:
        """Which of `keys` lie around each of them, (keys, 27 or 9), -1 where there is none; known of those with these numbers."""
        missing = numbers[~self._is_known[numbers]]
        if len(missing):
            found = np.empty((len(missing), self._neighbours.shape[1]), np.int64)
            blocks.find_around(self.keys[missing], self.table_keys, self.table_values, self.numbers, found)
            self._neighbours[missing] = found
            self._is_known[missing] = True
        return self._neighbours


def blocks_around(keys: Ints, is_wanted: NDArray[np.bool_]) -> Around:
    """The wanted ones of the blocks around each block, (blocks, 27 or 9)."""
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
    """Where the particles of each block lie, and which node blocks surround it.

    Args:
        keys: of the particle blocks, in ascending order.
        runs: of their particles.
        extents: the box that each block's particles fill when they are sorted; see `reach.find_extents`.
        dimension: 3 or 2.
        fields: the bodies of each velocity field, see `fields`.
        old: a layout that the same node blocks may be taken from.

    Attributes:
        keys, coordinates: of the particle blocks, in ascending order.
        first, pieces: see `Runs`.
        extents: as above.
        neighbours: (blocks, 27 or 9) node blocks around each particle block; where there is none, as many as there are.
        node_keys: of the node blocks but twins, in ascending order.
        node_coordinates, node_arenas: of all node blocks, twins behind the others: (node blocks, 3), and (node blocks, 27 or 9) the
            particle blocks around each, -1 where there is none.
        node_bodies, field_neighbours: see `fields.NodeBlocks`; `neighbours` is that of the first field.
    """

    def __init__(
        self, keys: Ints, runs: Runs, extents: NDArray[np.float64], dimension: int, fields: Fields, old: "Layout | None" = None
    ) -> None:
        self.keys = keys
        self.first, self.pieces = runs.first, runs.pieces
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
        self.field_neighbours, self._origins, self.node_bodies = divide(fields, runs.first, self._around.places, len(self.node_keys))
        self.neighbours = self.field_neighbours[0]
        has_twins = self.node_count > len(self.node_keys)
        self.node_coordinates = coordinates[self._origins] if has_twins else coordinates
        self.node_arenas = self._around.opposite[self._origins] if has_twins else self._around.opposite

    @property
    def slot_count(self) -> int:
        return int(self.first[-1])

    @property
    def node_count(self) -> int:
        """How many node blocks there are, with twins; the number that stands for none."""
        return len(self._origins)

    def has_nodes_of(self, other: "Layout") -> bool:
        """Whether the node blocks are those of another layout."""
        return self._around is other._around and np.array_equal(self._origins, other._origins)

    def node_neighbours(self, numbers: Ints) -> Ints:
        """The node blocks around node blocks, (node blocks, 27 or 9), -1 where there is none; known of those with these numbers."""
        return self._around.neighbours_of(numbers)


def places_of(wanted: Ints, keys: Ints) -> Ints:
    """Where keys lie in an ascending list, -1 where they are not in it."""
    if len(keys) == 0:
        return np.full(wanted.shape, -1, np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)
