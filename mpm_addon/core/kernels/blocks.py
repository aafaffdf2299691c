"""How particles and nodes are laid out in memory: the sparse, blocked grid.

Space is cut into blocks of 4^3 cells. A particle belongs to the block of floor(x - 1/2) in cells: of the lowest of the 3^3 nodes
that quadratic splines touch. Its position is kept relative to the block's origin, in cells, so that precision does not depend
on the distance from the world's origin. A particle may leave its block by one cell (with cubic splines by half a cell) before the
particles are sorted again.

Slots: all particles of a block lie one after another, those of one material together; such a run is filled up to a multiple
of `LANE_COUNT` with copies of its last particle that weigh nothing.

Arena: the 8^3 nodes that a block's particles can touch, from one node below the block on. Every block scatters into its own
arena; a node's value is the sum over the arenas that hold it, in a fixed order. So there are no races, and the result does not
depend on the number of threads.

Nodes: blocks of 4^3 nodes of four numbers: momentum (later velocity) and mass. Every block around a particle block exists.

In the plane everything is the same without y: blocks of 4^2 nodes, arenas of 8^2, nine blocks around each. The particles lie at
y = 0, which is the top of the blocks with the y coordinate -1.
"""

import numpy as np

from .compilation import kernel
from .vector import LANE_COUNT

BLOCK_BITS = 2
BLOCK = 1 << BLOCK_BITS
ARENA = 8
ARENA_NODES = ARENA**3
NEIGHBOURS = 27
# numbers of a node, and the distance between nodes that are neighbours along y (in the plane: x) and x
NODE = 4
ROW = NODE * ARENA
PLANE = ROW * ARENA

# the blocks that a packed key can name along an axis: -2^20 to 2^20 - 1
KEY_BITS = 21
KEY_OFFSET = 1 << (KEY_BITS - 1)


@kernel
def find(table_keys, table_values, key):
    """The value of a key in a hash table made by `insert`, or -1."""
    mask = table_keys.size - 1
    place = (key * np.int64(-7046029254386353131) >> np.int64(20)) & mask
    while table_keys[place] != -1:
        if table_keys[place] == key:
            return table_values[place]
        place = (place + 1) & mask
    return np.int64(-1)


@kernel
def insert(table_keys, table_values, key, value):
    """Add a key to an open-addressing table (a power of two in size, keys -1 where empty); returns the value that it has."""
    mask = table_keys.size - 1
    place = (key * np.int64(-7046029254386353131) >> np.int64(20)) & mask
    while table_keys[place] != -1:
        if table_keys[place] == key:
            return table_values[place]
        place = (place + 1) & mask
    table_keys[place] = key
    table_values[place] = value
    return value


@kernel
def unique_keys(keys, table_keys, table_values, unique):
    """Write the distinct `keys` to `unique` in order of first appearance; returns their number, or -1 where the table is too small."""
    count = 0
    for index in range(keys.size):
        if insert(table_keys, table_values, keys[index], count) == count:
            if 2 * (count + 1) > table_keys.size:
                return -1
            unique[count] = keys[index]
            count += 1
    return count


@kernel
def neighbour_keys(keys, result):
    """The keys of the 27 (in the plane: 9) blocks around each block, in order of the offsets (-1 ... 1)^3, z fastest."""
    reach = 1 if result.shape[1] == NEIGHBOURS else 0
    for index in range(keys.size):
        place = 0
        for dx in range(-1, 2):
            for dy in range(-reach, reach + 1):
                for dz in range(-1, 2):
                    result[index, place] = keys[index] + (dx << (2 * KEY_BITS)) + (dy << KEY_BITS) + dz
                    place += 1


@kernel
def look_up(table_keys, table_values, keys, values):
    """The values of keys that are all in the table."""
    for index in range(keys.size):
        values[index] = find(table_keys, table_values, keys[index])


@kernel
def locate(table, coordinates, first, ids, material_count, limits, keys, sources, materials, positions):
    """Find the block that every particle's base node lies in now, and its position relative to it.

    Weightless copies (id -1) and particles beyond the limits are left out.

    Args:
        table: (rows, slots), the first three rows are positions relative to the old block [cells].
        coordinates: (blocks, 3) of the old blocks; first: first slot of each run; ids: (slots,).
        limits: (2, 3) lowest and highest corner [cells].
        keys, sources, materials: (slots,) results: block key, slot and material of each particle that is kept.
        positions: (3, slots) result, by slot: relative to the new block [cells].

    Returns:
        The number kept, or -1 where a particle has left the space that keys can name; and the number beyond the limits.
    """
    count = 0
    beyond = 0
    for run in range(first.size - 1):
        block = run // material_count
        for slot in range(first[run], first[run + 1]):
            if ids[slot] < 0:
                continue
            key = np.int64(0)
            is_within = True
            for axis in range(3):
                position = table[axis, slot]
                world = position + np.float64(BLOCK * coordinates[block, axis])
                is_within &= limits[0, axis] <= world and world <= limits[1, axis]
                shift = np.floor(np.floor(position - 0.5) / BLOCK)
                if not abs(shift) < KEY_OFFSET:
                    return -1, beyond
                coordinate = coordinates[block, axis] + np.int64(shift)
                if abs(coordinate) >= KEY_OFFSET - 2:
                    return -1, beyond
                positions[axis, slot] = position - BLOCK * shift
                key = (key << KEY_BITS) | (coordinate + KEY_OFFSET)
            if not is_within:
                beyond += 1
                continue
            keys[count] = key
            sources[count] = slot
            materials[count] = run % material_count
            count += 1
    return count, beyond


@kernel
def count_runs(block_of, material_of, material_count, first):
    """The first slot of each run (block, material), runs filled up to whole vectors; `first` has a zero behind its last run.

    Returns:
        The number of slots.
    """
    first[:] = 0
    for index in range(block_of.size):
        first[block_of[index] * material_count + material_of[index]] += 1
    total = 0
    for run in range(first.size):
        filled = (first[run] + LANE_COUNT - 1) // LANE_COUNT * LANE_COUNT
        first[run] = total
        total += filled
    return total


@kernel
def place(block_of, material_of, sources, material_count, first, cursor, origin, is_copy):
    """Which old slot every new slot is filled from; the order inside a run is kept.

    Args:
        block_of, material_of, sources: block, material and old slot of each particle.
        cursor: scratch of the size of `first`.
        origin, is_copy: (slots,) results: the old slot, and whether the new one is a weightless copy.
    """
    cursor[:] = first
    for index in range(block_of.size):
        run = block_of[index] * material_count + material_of[index]
        slot = cursor[run]
        cursor[run] += 1
        origin[slot] = sources[index]
        is_copy[slot] = False
    for run in range(first.size - 1):
        for slot in range(cursor[run], first[run + 1]):
            origin[slot] = origin[cursor[run] - 1]
            is_copy[slot] = True


@kernel
def cut_into_pieces(first, material_count, pieces):
    """Cut the blocks into `pieces.size - 1` ranges of about as many slots each; pieces[k] is the first block of range k."""
    block_count = (first.size - 1) // material_count
    total = first[first.size - 1]
    block = 0
    piece_count = pieces.size - 1
    for piece in range(piece_count):
        while block < block_count and first[block * material_count] * piece_count < piece * total:
            block += 1
        pieces[piece] = block
    pieces[piece_count] = block_count
