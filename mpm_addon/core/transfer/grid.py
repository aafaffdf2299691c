"""The grid update: arenas and records summed into nodes, momentum to velocity, gravity. See `blocks` for the layout.

The sums are made in a *tile*, the rows of a node block with a margin of three rows around them, so that a record is added whole
wherever it lies. What lands in the margin is never read. A tile stays in the first-level cache; each node is written once.
"""

import numpy as np

from ..arithmetic.operations import absolute, constant, generic, maximum, select
from ..arithmetic.vector import largest, load, prefetch, shuffled, store, trailing_zeros
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .blocks import ARENA, BLOCK, NEIGHBORS, NODE
from .extent import MARK_WORDS, box_of
from .sparse import IS_RECORDS, MARGIN, TILE, add_records

# numbers per row of nodes in a block; an arena's row is twice as long
ROW = NODE * BLOCK
# adjacent rows are processed together: branches cost more than rows
FOUR_ROWS = (1 << BLOCK) - 1


# how many node blocks before its sum what a node block reads and writes is fetched
AHEAD = 2

# a factor of masses before they are inverted
ENLARGED = 2.0**64


@generic
def overlap(offset, begin, end):
    """The nodes [low, high) of a node block that nodes [begin, end) in the arena of the block at `offset` overlap.

    Also returns the number to add to get a node's number in the arena.
    """
    if offset < 0:
        return max(begin - BLOCK - 1, 0), min(end - BLOCK - 1, BLOCK - 1), BLOCK + 1
    if offset == 0:
        return max(begin - 1, 0), min(end - 1, BLOCK), 1
    return max(begin + BLOCK - 1, BLOCK - 1), min(end + BLOCK - 1, BLOCK), 1 - BLOCK


@generic
def row_of_tile(x, y):
    """Where a row of a node block begins in a tile."""
    return ROW * (TILE * (x + MARGIN) + y + MARGIN)


@generic
def add_row(arena, at, offset, node, row):
    """Add an arena's row to a row of four nodes along z in a tile; `offset` is the position of the arena's block along z."""
    total = load(node, row, ROW)
    zero = constant(0.0, total)
    if offset < 0:
        # the upper three of the arena's last four nodes
        last = load(arena, at + ROW, ROW)
        store(node, row, total + shuffled(last, zero, (4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16)))
    elif offset == 0:
        store(node, row, total + load(arena, at + NODE, ROW))
    else:
        # the arena's lowest node
        first = load(arena, at, ROW)
        store(node, row, total + shuffled(first, zero, (16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3)))


@generic
def add_arena(arenas, run, place, tile):
    """Add the arena of a run in neighbor number `place` to the tile of a node block; returns the rows that it overlaps, as bits."""
    x0, x1, y0, y1, z0, z1 = box_of(arenas, run)
    low_x, high_x, ax = overlap(place // 9 - 1, x0, x1)
    low_y, high_y, ay = overlap(place // 3 % 3 - 1, y0, y1)
    low_z, high_z, _ = overlap(place % 3 - 1, z0, z1)
    rows = 0
    if low_z < high_z:
        for x in range(low_x, high_x):
            for y in range(low_y, high_y):
                at = arenas.starts[run] + ((x + ax - x0) * (y1 - y0) + y + ay - y0) * NODE * ARENA
                add_row(arenas.values, at, place % 3 - 1, tile, row_of_tile(x, y))
                rows |= 1 << (x * BLOCK + y)
    return rows


@generic
def add_plane_arena(arenas, run, place, tile):
    """`add_arena` in two dimensions."""
    x0, x1, _, _, z0, z1 = box_of(arenas, run)
    low_x, high_x, ax = overlap(place // 3 - 1, x0, x1)
    low_z, high_z, _ = overlap(place % 3 - 1, z0, z1)
    rows = 0
    if low_z < high_z:
        for x in range(low_x, high_x):
            add_row(arenas.values, arenas.starts[run] + (x + ax - x0) * NODE * ARENA, place % 3 - 1, tile, row_of_tile(0, x))
            rows |= 1 << x
    return rows


@generic
def masses_of(first, second):
    """The masses of eight nodes, from two rows."""
    return shuffled(first, second, (3, 7, 11, 15, 19, 23, 27, 31))


@generic
def velocities_of(rows, gravity):
    """Momenta and masses of four rows of nodes as velocities and masses; a node without mass stays zero."""
    first, second, third, fourth = rows
    sixteen = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    mass = shuffled(masses_of(first, second), masses_of(third, fourth), sixteen)
    zero, one = constant(0.0, mass), constant(1.0, mass)
    there = select(mass > 0.0, one, zero)
    # divisions cost most: one for four rows; the least masses are so small that their inverse would be infinite
    inverse = 1.0 / select(mass > 0.0, ENLARGED * mass, one)
    enlarged = shuffled(constant(ENLARGED, mass), one, (0, 0, 0, 16, 0, 0, 0, 16, 0, 0, 0, 16, 0, 0, 0, 16))
    return (
        shuffled(inverse, one, (0, 0, 0, 16, 1, 1, 1, 16, 2, 2, 2, 16, 3, 3, 3, 16)) * first * enlarged
        + shuffled(there, zero, (0, 0, 0, 16, 1, 1, 1, 16, 2, 2, 2, 16, 3, 3, 3, 16)) * gravity,
        shuffled(inverse, one, (4, 4, 4, 16, 5, 5, 5, 16, 6, 6, 6, 16, 7, 7, 7, 16)) * second * enlarged
        + shuffled(there, zero, (4, 4, 4, 16, 5, 5, 5, 16, 6, 6, 6, 16, 7, 7, 7, 16)) * gravity,
        shuffled(inverse, one, (8, 8, 8, 16, 9, 9, 9, 16, 10, 10, 10, 16, 11, 11, 11, 16)) * third * enlarged
        + shuffled(there, zero, (8, 8, 8, 16, 9, 9, 9, 16, 10, 10, 10, 16, 11, 11, 11, 16)) * gravity,
        shuffled(inverse, one, (12, 12, 12, 16, 13, 13, 13, 16, 14, 14, 14, 16, 15, 15, 15, 16)) * fourth * enlarged
        + shuffled(there, zero, (12, 12, 12, 16, 13, 13, 13, 16, 14, 14, 14, 16, 15, 15, 15, 16)) * gravity,
    )


@generic
def take_rows(tile, at):
    """Four rows of a tile, which are set to zero."""
    first, second = load(tile, at, ROW), load(tile, at + ROW, ROW)
    third, fourth = load(tile, at + 2 * ROW, ROW), load(tile, at + 3 * ROW, ROW)
    zero = constant(0.0, first)
    for row in range(BLOCK):
        store(tile, at + ROW * row, zero)
    return first, second, third, fourth


@generic
def store_plane(node, at, rows):
    """Store four rows of a node block."""
    first, second, third, fourth = rows
    store(node, at, first)
    store(node, at + ROW, second)
    store(node, at + 2 * ROW, third)
    store(node, at + 3 * ROW, fourth)


@generic
def fastest_of(rows, fastest):
    """The largest of each number of `fastest` and of four rows of nodes; and zeros, or NaN where a number is not finite."""
    first, second, third, fourth = rows
    first, second = absolute(without_masses(first)), absolute(without_masses(second))
    third, fourth = absolute(without_masses(third)), absolute(without_masses(fourth))
    most = maximum(maximum(first, second), maximum(third, fourth))
    # a sum, because NaN may get lost in a maximum
    return maximum(fastest, most), 0.0 * ((first + second) + (third + fourth))


@generic
def clear_rows(node, rows):
    """Set rows of a node block, given as bits, and the other rows at the same x to zero."""
    zero = constant(0.0, load(node, 0, ROW))
    for row in range(0, node.size // ROW, BLOCK):
        if rows >> row & FOUR_ROWS:
            for each in range(row, row + BLOCK):
                store(node, each * ROW, zero)


@parallel_kernel
def empty_grid(tickets, nodes, node_rows, count):
    """Set the first `count` node blocks to zero; nodes, node_rows: see `update_grid`."""
    for number in shared(tickets[0], count, 64):
        if node_rows[number] != 0:
            clear_rows(nodes[number], node_rows[number])
            node_rows[number] = 0


@generic
def without_masses(row):
    """The velocities of four nodes, the last component twice."""
    return shuffled(row, row, (0, 1, 2, 2, 4, 5, 6, 6, 8, 9, 10, 10, 12, 13, 14, 14))


@generic
def largest_of_nodes(row):
    """The largest of each number of four nodes."""
    half = maximum(shuffled(row, row, (0, 1, 2, 3, 4, 5, 6, 7)), shuffled(row, row, (8, 9, 10, 11, 12, 13, 14, 15)))
    return maximum(shuffled(half, half, (0, 1, 2, 3)), shuffled(half, half, (4, 5, 6, 7)))


@generic
def sum_of_nodes(row):
    """The sum of each number of four nodes."""
    half = shuffled(row, row, (0, 1, 2, 3, 4, 5, 6, 7)) + shuffled(row, row, (8, 9, 10, 11, 12, 13, 14, 15))
    return shuffled(half, half, (0, 1, 2, 3)) + shuffled(half, half, (4, 5, 6, 7))


@kernel(allocates=True)
def empty_tile(like):
    """A tile of zeros, of the type of an array."""
    tile = np.zeros(ROW * (TILE * TILE + 1), like.dtype)
    # vectors of a row must not straddle two of the processor's cache lines
    return tile[ROW - int(tile.ctypes.data) // tile.itemsize % ROW :]


@generic
def fetch_arena(arenas, run):
    """Let the processor fetch the arena of a run. Records are read in order anyway."""
    x0, x1, y0, y1, _, _ = box_of(arenas, run)
    if x0 != IS_RECORDS:
        start = arenas.starts[run]
        for at in range(start, start + (x1 - x0) * (y1 - y0) * NODE * ARENA, ROW):
            prefetch(arenas.values, at)


@generic
def fetch_block(arenas, number, around, node, rows):
    """Let the processor fetch what the sum of a node block reads and writes: arenas that no block before it has read, and its rows.

    Args:
        around: (27 or 9,) see `node_arenas` in `update_grid`.
        node, rows: the block's nodes, and those of its rows that held something before.
    """
    place = around.size // 2
    for _ in range(2):
        if around[place] >= 0:
            first = around[place] * arenas.rooms.shape[0]
            for run in range(first + arenas.instances[number, 0], first + arenas.instances[number, 1]):
                fetch_arena(arenas, run)
        # the next one along x
        place += around.size // 3
    for row in range(0, node.size // ROW, BLOCK):
        if rows >> row & FOUR_ROWS:
            for each in range(row, row + BLOCK):
                prefetch(node, each * ROW)


@parallel_kernel(allocates=True)
def update_grid(tickets, arenas, node_arenas, nodes, node_rows, impulse, speeds):
    """Sum the arenas into nodes in a fixed order, then v_i = (mv)_i / m_i + dt g where m_i > 0.

    Args:
        arenas: see `Arenas`; the marks are cleared.
        node_arenas: (node blocks, 27 or 9) particle blocks around each node block, -1 for none.
        nodes: (node blocks, 4 * block nodes) result: velocity [m/s] and mass [kg].
        node_rows: (node blocks,) the rows along z that may be nonzero, as bits; read and updated.
        impulse: (16,) dt g [m/s] and 0, four times.
        speeds: (node blocks + 1, 4) result: see `fastest_nodes`; NaN where a velocity is not finite.
    """
    sum_blocks(tickets, arenas, node_arenas, nodes, node_rows, impulse, speeds, empty_tile(impulse))


@kernel
def sum_blocks(tickets, arenas, node_arenas, nodes, node_rows, impulse, speeds, tile):
    """One thread's share of `update_grid`; tile: see `empty_tile`."""
    gravity = load(impulse, 0, ROW)
    instance_count = arenas.rooms.shape[0]
    is_plane = node_arenas.shape[1] != NEIGHBORS
    for number in shared(tickets[0], node_arenas.shape[0], 16):
        coming = number + AHEAD
        if coming < node_arenas.shape[0]:
            fetch_block(arenas, coming, node_arenas[coming], nodes[coming], node_rows[coming])
        rows = 0
        for word in range(MARK_WORDS):
            marks = arenas.marks[number, word]
            arenas.marks[number, word] = 0
            while marks != np.uint64(0):
                byte = trailing_zeros(marks) >> 3
                mark = marks >> np.uint64(8 * byte) & np.uint64(0xFF)
                marks ^= mark << np.uint64(8 * byte)
                place = 8 * word + byte
                block = node_arenas[number, place]
                first = block * instance_count
                for run in range(first + arenas.instances[number, 0], first + arenas.instances[number, 1]):
                    if is_plane:
                        rows |= add_plane_arena(arenas, run, place, tile)
                    elif arenas.boxes[run, 0] == IS_RECORDS:
                        rows |= add_records(arenas, run, mark, place, tile)
                    else:
                        rows |= add_arena(arenas, run, place, tile)
        node, before = nodes[number], node_rows[number]
        fastest = constant(0.0, gravity)
        check = fastest
        for row in range(0, node.size // ROW, BLOCK):
            if rows >> row & FOUR_ROWS:
                values = velocities_of(take_rows(tile, row_of_tile(row // BLOCK, 0)), gravity)
                store_plane(node, row * ROW, values)
                fastest, sums = fastest_of(values, fastest)
                check = check + sums
            elif before >> row & FOUR_ROWS:
                clear_rows(node, before & FOUR_ROWS << row)
        node_rows[number] = rows
        store(speeds[number], 0, largest_of_nodes(fastest) + sum_of_nodes(check))


@parallel_kernel
def fastest_nodes(tickets, nodes, node_rows, count, speeds, extremes):
    """Find an upper bound on gathered velocities, which are means of the nodes' with positive weights.

    Args:
        nodes, node_rows: see `update_grid`.
        count: number of node blocks in use.
        speeds: (node blocks + 1, 4) result: the largest speed along x, y and z in each [m/s], that along z twice; 0 at the end.
        extremes: (pieces, 2) result: largest component of a velocity [m/s], and 0, or NaN if one is not finite.
    """
    pieces = extremes.shape[0]
    for piece in shared(tickets[0], pieces, 1):
        zero = constant(0.0, load(nodes[0], 0, ROW))
        fastest, check = zero, zero
        for number in range(count * piece // pieces, count * (piece + 1) // pieces):
            rows = node_rows[number]
            its = zero
            node = nodes[number]
            for row in range(0, node.size // ROW, BLOCK):
                if rows >> row & FOUR_ROWS:
                    for each in range(row, row + BLOCK):
                        velocity = absolute(without_masses(load(node, each * ROW, ROW)))
                        its = maximum(its, velocity)
                        check = check + 0.0 * velocity
            fastest = maximum(fastest, its)
            store(speeds[number], 0, largest_of_nodes(its))
        extremes[piece, 0] = largest(fastest)
        extremes[piece, 1] = largest(check)
