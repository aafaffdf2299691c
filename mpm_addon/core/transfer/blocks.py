"""The layout of particles and nodes in memory: the sparse, blocked grid.

Space is divided into blocks of 4^3 cells. A particle belongs to the block that contains floor(x - 1/2), with x in cells: the lowest
of the 3^3 nodes that a quadratic spline touches. Its position is stored in cells relative to the block's origin, so precision does
not depend on the distance from the world origin. A particle may leave its block by one cell (half a cell with cubic splines) before
the particles are sorted again.

Slots: the particles of a block are stored one after another, grouped by instance into *runs*. Small consecutive runs of one instance share
vectors (see `packing`). Such a group is padded to a multiple of `LANE_COUNT` with massless copies of its last particle; they belong
to its last run.

Arenas: a block's particles can touch 8^3 nodes, starting one node below the block. A run's *arena* holds those that its own particles
touch (see `extent`). Each run scatters into its own arena, and a node's value is the sum over the arenas that contain it, in a fixed
order. There are no races, and the result does not depend on the number of threads.

Nodes: blocks of 4^3 nodes with four numbers each: momentum (later velocity) and mass. A node block exists if it contains a node that
a particle can touch before the next sort, or a neighbor of such a node.

In two dimensions the layout is the same without y: blocks of 4^2 nodes, arenas of 8^2, nine blocks around each. Particles lie at
y = 0, the top of the blocks with y coordinate -1.

An *instance* is a material instance: all particles of one body with the same law and the same constants.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared

BLOCK_BITS = 2
BLOCK = 1 << BLOCK_BITS
ARENA = 8
ARENA_NODES = ARENA**3
NEIGHBORS = 27
# numbers per node, and the distance in an arena between neighboring nodes along y (in two dimensions: x) and along x
NODE = 4
ROW = NODE * ARENA
PLANE = ROW * ARENA

# block coordinates that fit in a packed key: -2^20 to 2^20 - 1 along each axis
KEY_BITS = 21
KEY_OFFSET = 1 << (KEY_BITS - 1)


class Runs(NamedTuple):
    """The slots of each run, which is the particles of one instance in one block.

    Attributes:
        first: (runs + 1,) first slot of each run, and the number of slots at the end; run = block * instance_count + instance.
        pieces: (pieces + 1,) first block of each piece of work, and the number of blocks at the end.
        instance_count: number of instances.
    """

    first: NDArray[np.int64]
    pieces: NDArray[np.int64]
    instance_count: int


class Particles(NamedTuple):
    """Particles in memory, sorted into runs.

    Attributes:
        table: (rows, slots), one column per slot; see `rows`.
        ids: (slots,), -1 for massless copies.
        runs: the slots of each run.
    """

    table: NDArray[Any]
    ids: NDArray[np.int32]
    runs: Runs


class Grid(NamedTuple):
    """The nodes that particles exchange momentum with.

    Attributes:
        spacing: cell size [m].
        neighbors: (blocks, 27 or 9) node blocks around each particle block.
        nodes: (node blocks, 4 * block nodes) velocity [m/s] and mass [kg] of each node.
        nodes_before: the same before gravity, forces and contact; only used with FLIP.
        low_instance, high_instance: the instances [low, high) of the velocity field that these nodes belong to, see `fields`.
    """

    spacing: float
    neighbors: NDArray[np.int64]
    nodes: NDArray[Any]
    nodes_before: NDArray[Any]
    low_instance: int
    high_instance: int


@kernel
def hashed(key):
    """A hash whose low bits depend on all bits of a key; after a multiplication alone they would not depend on the x coordinate."""
    product = key * np.int64(-7046029254386353131)
    return (product ^ (product >> np.int64(32))) * np.int64(-7046029254386353131) >> np.int64(32)


@kernel
def find(table_keys, table_values, key):
    """The value of a key in a hash table made by `insert`, or -1."""
    mask = table_keys.size - 1
    place = hashed(key) & mask
    while table_keys[place] != -1:
        if table_keys[place] == key:
            return table_values[place]
        place = (place + 1) & mask
    return np.int64(-1)


@kernel
def insert(table_keys, table_values, key, value):
    """Add a key to an open-addressing table (size a power of two, -1 for empty); returns the value stored for the key."""
    mask = table_keys.size - 1
    place = hashed(key) & mask
    while table_keys[place] != -1:
        if table_keys[place] == key:
            return table_values[place]
        place = (place + 1) & mask
    table_keys[place] = key
    table_values[place] = value
    return value


@kernel
def keys_around(keys, is_wanted, table_keys, table_values, around, unique):
    """Collect the distinct keys of the wanted blocks among the 27 (in two dimensions: 9) around each block.

    Args:
        keys: (n,).
        is_wanted: (n, 27 or 9) whether each surrounding block is wanted, in order of the offsets (-1 ... 1)^3, z fastest.
        table_keys, table_values: an empty hash table, more than twice the size of its contents; a key's value becomes its place in
            `unique`.
        around: (n, 27 or 9) result: places in `unique`, -1 if not wanted.
        unique: result, in order of first appearance; as long as the table.

    Returns:
        The number of keys, or -1 if the table is too small.
    """
    count = 0
    reach = 1 if around.shape[1] == NEIGHBORS else 0
    for index in range(keys.size):
        place = 0
        for dx in range(-1, 2):
            for dy in range(-reach, reach + 1):
                for dz in range(-1, 2):
                    around[index, place] = -1
                    if is_wanted[index, place]:
                        key = keys[index] + (dx << (2 * KEY_BITS)) + (dy << KEY_BITS) + dz
                        found = insert(table_keys, table_values, key, count)
                        if found == count:
                            if 2 * (count + 1) > table_keys.size:
                                return -1
                            unique[count] = key
                            count += 1
                        around[index, place] = found
                    place += 1
    return count


@kernel
def number_around(around, numbers, absent, opposite):
    """Replace indices into a list by block numbers, and record the inverse relation.

    Args:
        around: (n, 27 or 9) indices, -1 for none; become numbers, with `absent` for none.
        numbers: the number at each index.
        absent: number for none.
        opposite: (numbers, 27 or 9) result: the blocks that each number surrounds; must be filled with -1.
    """
    last = around.shape[1] - 1
    for index in range(around.shape[0]):
        for place in range(around.shape[1]):
            at = around[index, place]
            around[index, place] = numbers[at] if at >= 0 else absent
            if at >= 0:
                # seen from there, this block lies on the opposite side
                opposite[numbers[at], last - place] = index


@parallel_kernel
def find_around(tickets, keys, table_keys, table_values, numbers, result):
    """Find the numbers of the 27 (in two dimensions: 9) blocks around each block, -1 for none.

    Args:
        keys: (n,).
        table_keys, table_values: a hash table of keys.
        numbers: the block number that each value of the table stands for.
        result: (n, 27 or 9).
    """
    reach = 1 if result.shape[1] == NEIGHBORS else 0
    for index in shared(tickets[0], keys.size, 64):
        place = 0
        for dx in range(-1, 2):
            for dy in range(-reach, reach + 1):
                for dz in range(-1, 2):
                    key = keys[index] + (dx << (2 * KEY_BITS)) + (dy << KEY_BITS) + dz
                    value = find(table_keys, table_values, key)
                    result[index, place] = numbers[value] if value >= 0 else -1
                    place += 1


@kernel
def cut_into_pieces(before, pieces):
    """Divide the blocks into `pieces.size - 1` ranges with about the same number of particles.

    Args:
        before: (blocks + 1,) number of particles in the blocks before each block.
        pieces: result: pieces[k] is the first block of range k.
    """
    total = before[before.size - 1]
    block = 0
    piece_count = pieces.size - 1
    for piece in range(piece_count):
        while block < before.size - 1 and before[block] * piece_count < piece * total:
            block += 1
        pieces[piece] = block
    pieces[piece_count] = before.size - 1
