"""How particles and nodes are laid out in memory: the sparse, blocked grid.

Space is cut into blocks of 4^3 cells. A particle belongs to the block of floor(x - 1/2) in cells: of the lowest of the 3^3 nodes
that quadratic splines touch. Its position is kept relative to the block's origin, in cells, so that precision does not depend
on the distance from the world's origin. A particle may leave its block by one cell (with cubic splines by half a cell) before the
particles are sorted again.

Slots: all particles of a block lie one after another, those of one material together in a run. Small runs of one material that follow
one another share vectors (see `packing`): such a group is filled up to a multiple of `LANE_COUNT` with copies of its last particle that
weigh nothing, and which count to its last run.

Arena: of the 8^3 nodes that a block's particles can touch, from one node below the block on, those that the particles of one run do
touch (see `extent`). Every run scatters into its own arena; a node's value is the sum over the arenas that hold it, in a fixed order.
So there are no races, and the result does not depend on the number of threads.

Nodes: blocks of 4^3 nodes of four numbers: momentum (later velocity) and mass. Every block exists that holds a node which a particle
can touch before the next sort, or a neighbour of such a node.

In the plane everything is the same without y: blocks of 4^2 nodes, arenas of 8^2, nine blocks around each. The particles lie at
y = 0, which is the top of the blocks with the y coordinate -1.
"""

import numpy as np

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared

BLOCK_BITS = 2
BLOCK = 1 << BLOCK_BITS
ARENA = 8
ARENA_NODES = ARENA**3
NEIGHBOURS = 27
# numbers of a node, and the distance in an arena between nodes that are neighbours along y (in the plane: x) and along x
NODE = 4
ROW = NODE * ARENA
PLANE = ROW * ARENA

# the blocks that a packed key can name along an axis: -2^20 to 2^20 - 1
KEY_BITS = 21
KEY_OFFSET = 1 << (KEY_BITS - 1)


@kernel
def hashed(key):
    """A number whose low bits depend on all bits of a key: multiplied alone, the low bits would know nothing of x."""
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
    """Add a key to an open-addressing table (a power of two in size, keys -1 where empty); returns the value that it has."""
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
    """The distinct keys of the wanted ones of the 27 (in the plane: 9) blocks around each block.

    Args:
        keys: (n,).
        is_wanted: (n, 27 or 9) which of those around, in order of the offsets (-1 ... 1)^3, z fastest.
        table_keys, table_values: an empty hash table, more than twice as large as what it has to hold; each key's value becomes
            its place in `unique`.
        around: (n, 27 or 9) result: places in `unique`, -1 where nothing is wanted.
        unique: (as many as there may be,) result, in order of first appearance.

    Returns:
        How many there are, or -1 where the table is too small.
    """
    count = 0
    reach = 1 if around.shape[1] == NEIGHBOURS else 0
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
    """Turn places in a list into numbers, and note which blocks lie around each of these.

    Args:
        around: (n, 27 or 9) places, -1 for none; becomes numbers, `absent` for none.
        numbers: of the places.
        opposite: (numbers, 27 or 9) result: the blocks around each number that have it around them; -1 elsewhere, and before.
    """
    last = around.shape[1] - 1
    for index in range(around.shape[0]):
        for place in range(around.shape[1]):
            at = around[index, place]
            around[index, place] = numbers[at] if at >= 0 else absent
            if at >= 0:
                # seen from there, this block lies on the other side
                opposite[numbers[at], last - place] = index


@parallel_kernel
def find_around(tickets, keys, table_keys, table_values, numbers, result):
    """The numbers of the 27 (in the plane: 9) blocks around each block, -1 where there is none.

    Args:
        keys: (n,).
        table_keys, table_values: a hash table of keys; numbers: what each of its values stands for.
        result: (n, 27 or 9).
    """
    reach = 1 if result.shape[1] == NEIGHBOURS else 0
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
    """Cut the blocks into `pieces.size - 1` ranges of about as many particles each.

    Args:
        before: (blocks + 1,) how many particles the blocks before each hold.
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
