"""Sparse groups: particles that are few in their blocks exchange with the nodes directly.

An arena is far larger than what one particle touches, so a group (see `packing`) with few particles per run does without. Each of
its particles is gathered from the rows of the node blocks themselves, and scatters a *record*: its momentum, the slopes of the
momentum and the weights, not yet multiplied. A node block that a record touches multiplies them out for its own nodes (see `grid`).

A record holds, as numbers: momentum and mass at the center node (4); slopes of the momentum along x (3), the number of the lowest
node in the 8^3 nodes of an arena, slopes along y (3), the number of nodes along an axis, slopes along z (3), unused; weights along z
of the four nodes of the node block that contains the lowest one (4), and of the node block above it (4); weights along x (4) and
y (4).
"""

from typing import Any

import numpy as np
from numba.extending import overload

from ..arithmetic.operations import constant, generic, multiply_add, select
from ..arithmetic.vector import LANE_COUNT, broadcast, load, shuffled, store, store_as_int32, trailing_zeros, whole_numbers
from ..arithmetic.vector_arithmetic import floor
from .blocks import ARENA, BLOCK, NODE
from .extent import RECORD
from .gather import ROW_OF_FOUR, store_gathered
from .rows import POSITION
from .scheme import all_weights, is_cubic, is_plane
from .scratch import ALONG_Z, CHUNK, LANES, WEIGHTS, store_momenta, store_row_weights
from .table import LANE_ROW, live_count, load_vector, store_rows

# offsets in a record
NUMBER, COUNT, ALONG_Z_OF_RECORD, ALONG_X_OF_RECORD, ALONG_Y_OF_RECORD = 7, 11, 16, 24, 28
# particles per run up to which records cost less than an arena
MOST = 10
# what stands in the box of an arena that holds records, in place of its first number
IS_RECORDS = -1
MARK_BITS = 8


def is_sparse(scheme: Any, table: Any, runs: Any, body: Any, blocks: Any) -> bool:
    """Whether the group of a body's runs in the blocks [begin, end) does without arenas; never in two dimensions, where they are small."""
    raise TypeError("is_sparse is for kernels")


@overload(is_sparse, jit_options={"forceinline": True})
def _overload_is_sparse(scheme, table, runs, body, blocks):
    def in_space(scheme, table, runs, body, blocks):
        begin, end = blocks
        first, _, body_count = runs
        low, high = first[begin * body_count + body], first[(end - 1) * body_count + body + 1]
        if high - low > CHUNK or low == high:
            return False
        there = 0
        for block in range(begin, end):
            run = block * body_count + body
            there += int(first[run] < first[run + 1])
        return live_count(table, low, high - low) <= MOST * there

    if is_plane(scheme):
        return lambda scheme, table, runs, body, blocks: False
    return in_space


def nodes_along(scheme: Any) -> int:
    """How many nodes a particle touches along an axis."""
    raise TypeError("nodes_along is for kernels")


@overload(nodes_along, jit_options={"forceinline": True})
def _overload_nodes_along(scheme):
    return (lambda scheme: 4) if is_cubic(scheme) else (lambda scheme: 3)


@generic
def store_quads(scratch, row, lowest, wz):
    """Store the weights along z of the four nodes of the node block with the lowest node, and of the node block above it."""
    w0, w1, w2, w3 = wz
    zero = constant(0.0, w0)
    # an arena starts at the last node of a node block
    z = lowest - ARENA * floor(lowest * (1.0 / ARENA)) + (BLOCK - 1.0)
    place = z - BLOCK * floor(z * (1.0 / BLOCK))
    is_first, is_second, is_third = place == 0.0, place == 1.0, place == 2.0
    is_fourth = place == 3.0
    store_rows(
        scratch,
        row,
        select(is_first, w0, zero),
        select(is_first, w1, select(is_second, w0, zero)),
        select(is_first, w2, select(is_second, w1, select(is_third, w0, zero))),
        select(is_first, w3, select(is_second, w2, select(is_third, w1, w0))),
    )
    store_rows(
        scratch,
        row + 4,
        select(is_fourth, w1, select(is_third, w2, select(is_second, w3, zero))),
        select(is_fourth, w2, select(is_third, w3, zero)),
        select(is_fourth, w3, zero),
        zero,
    )


@generic
def row_at(nodes, neighbors, size, x, y, place):
    """Where a row of four nodes begins; x and y are counted from the node block below, `place` is that of its node block along z."""
    return neighbors[9 * (x >> 2) + 3 * (y >> 2) + place] * size + (((x & 3) << 2) + (y & 3)) * ROW_OF_FOUR


@generic
def plane_of_three(nodes, neighbors, size, at, scratch, weight):
    """The weighted sum over three rows of node blocks, and the slope from row to row."""
    x, y, place = at
    low = broadcast(scratch, weight, ROW_OF_FOUR) * load(nodes, row_at(nodes, neighbors, size, x, y, place), ROW_OF_FOUR)
    w1 = broadcast(scratch, weight + CHUNK, ROW_OF_FOUR)
    w2 = broadcast(scratch, weight + 2 * CHUNK, ROW_OF_FOUR)
    r1 = load(nodes, row_at(nodes, neighbors, size, x, y + 1, place), ROW_OF_FOUR)
    r2 = load(nodes, row_at(nodes, neighbors, size, x, y + 2, place), ROW_OF_FOUR)
    return multiply_add(w2, r2, multiply_add(w1, r1, low)), multiply_add(w2, r2, -low)


@generic
def plane_of_four(nodes, neighbors, size, at, scratch, weight):
    """The weighted sum over four rows of node blocks, and the slope from row to row."""
    x, y, place = at
    low = broadcast(scratch, weight, ROW_OF_FOUR) * load(nodes, row_at(nodes, neighbors, size, x, y, place), ROW_OF_FOUR)
    w1 = broadcast(scratch, weight + CHUNK, ROW_OF_FOUR)
    w2 = broadcast(scratch, weight + 2 * CHUNK, ROW_OF_FOUR)
    w3 = broadcast(scratch, weight + 3 * CHUNK, ROW_OF_FOUR)
    r1 = load(nodes, row_at(nodes, neighbors, size, x, y + 1, place), ROW_OF_FOUR)
    r2 = load(nodes, row_at(nodes, neighbors, size, x, y + 2, place), ROW_OF_FOUR)
    r3 = load(nodes, row_at(nodes, neighbors, size, x, y + 3, place), ROW_OF_FOUR)
    last = w3 * r3
    high = multiply_add(w2, r2, last)
    return multiply_add(w1, r1, low) + high, (high + last) - low


def rows_around(scheme: Any, nodes: Any, neighbors: Any, size: Any, at: Any, scratch: Any, weight: Any) -> Any:
    """The weighted sum over one particle's rows in the node blocks at a place along z, and the slopes along x and y."""
    raise TypeError("rows_around is for kernels")


@overload(rows_around, jit_options={"forceinline": True})
def _overload_rows_around(scheme, nodes, neighbors, size, at, scratch, weight):
    def quadratic(scheme, nodes, neighbors, size, at, scratch, weight):
        x, y, place = at
        p0, y0 = plane_of_three(nodes, neighbors, size, at, scratch, weight)
        p1, y1 = plane_of_three(nodes, neighbors, size, (x + 1, y, place), scratch, weight + 3 * CHUNK)
        p2, y2 = plane_of_three(nodes, neighbors, size, (x + 2, y, place), scratch, weight + 6 * CHUNK)
        return p0 + p1 + p2, p2 - p0, y0 + y1 + y2

    def cubic(scheme, nodes, neighbors, size, at, scratch, weight):
        x, y, place = at
        p0, y0 = plane_of_four(nodes, neighbors, size, at, scratch, weight)
        p1, y1 = plane_of_four(nodes, neighbors, size, (x + 1, y, place), scratch, weight + 4 * CHUNK)
        p2, y2 = plane_of_four(nodes, neighbors, size, (x + 2, y, place), scratch, weight + 8 * CHUNK)
        p3, y3 = plane_of_four(nodes, neighbors, size, (x + 3, y, place), scratch, weight + 12 * CHUNK)
        high = p2 + p3
        return (p0 + p1) + high, (high + p3) - p0, (y0 + y1) + (y2 + y3)

    return cubic if is_cubic(scheme) else quadratic


@generic
def for_each_node(weights):
    """Four numbers, one for each of four nodes, each repeated for the numbers of a node."""
    return shuffled(weights, weights, (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3))


@generic
def gather_directly(scheme, nodes, neighbors, number, scratch, lane, result):
    """`gather_lane` from node blocks; `number` is that of the lowest node, `nodes` are all node blocks in one row."""
    size = BLOCK * BLOCK * ROW_OF_FOUR
    x, y, z = (number >> 6) + BLOCK - 1, (number >> 3 & 7) + BLOCK - 1, (number & 7) + BLOCK - 1
    value, along_x, along_y = rows_around(scheme, nodes, neighbors, size, (x, y, z >> 2), scratch, WEIGHTS + lane)
    center = float((z & 3) + 1)
    wz = for_each_node(load(scratch, ALONG_Z + LANE_ROW * lane, 4))
    value, along_x, along_y = value * wz, along_x * wz, along_y * wz
    along_z = value * (whole_numbers(value, (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)) - center)
    if (z & 3) + nodes_along(scheme) > BLOCK:
        more, more_x, more_y = rows_around(scheme, nodes, neighbors, size, (x, y, (z >> 2) + 1), scratch, WEIGHTS + lane)
        wz = for_each_node(load(scratch, ALONG_Z + LANE_ROW * lane + 4, 4))
        more = more * wz
        value, along_x, along_y = value + more, multiply_add(more_x, wz, along_x), multiply_add(more_y, wz, along_y)
        along_z = along_z + more * (whole_numbers(more, (4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7)) - center)
    store_gathered(scratch, result + LANE_ROW * lane, (value, along_x, along_y, along_z))


@generic
def prepare_sparse(scheme, table, low, count, scratch, index):
    """Store the weights of a sparse group's slots [low, low + count)."""
    for at in range(0, count, LANE_COUNT):
        lowest, _, wx, wy, wz = all_weights(scheme, load_vector(table, POSITION, low + at))
        store_as_int32(index, at, lowest)
        store_row_weights(scheme, scratch, at, wx, wy)
        store_quads(scratch, ALONG_Z + LANE_ROW * at, lowest, wz)


@generic
def gather_sparse(scheme, runs, body, blocks, live, grid_nodes, neighbors, scratch, index, result):
    """Gather the first `live` slots of a sparse group from the node blocks."""
    begin, end = blocks
    first, _, body_count = runs
    low = first[begin * body_count + body]
    nodes = grid_nodes.reshape(-1)
    for block in range(begin, end):
        run = block * body_count + body
        around = neighbors[block]
        for lane in range(first[run] - low, min(first[run + 1] - low, live)):
            gather_directly(scheme, nodes, around, int(index[lane]), scratch, lane, result)


@generic
def prepare_records(scheme, position, mass, velocity, affine, scratch, index, at):
    """Store both halves of the records of `LANE_COUNT` slots, from number `at` of the chunk on; `affine`: see `affine_momentum`."""
    lowest, offsets, wx, wy, wz = all_weights(scheme, position)
    store_as_int32(index, at, lowest)
    zero = constant(0.0, mass)
    unused = lowest, constant(float(nodes_along(scheme)), mass), zero
    store_momenta(scratch, LANES + LANE_ROW * at, offsets, mass, velocity, affine, unused)
    row = ALONG_Z + LANE_ROW * at
    store_quads(scratch, row, lowest, wz)
    w0, w1, w2, w3 = wx
    store_rows(scratch, row + 8, w0, w1, w2, w3)
    w0, w1, w2, w3 = wy
    store_rows(scratch, row + 12, w0, w1, w2, w3)


@generic
def write_records(scheme, lanes, scratch, index, arenas, run, start, neighbors):
    """Write the records of the slots [begin, end) of the chunk, all of one run, and mark the node blocks that each touches.

    Args:
        start: where in `Arenas.values`.
        neighbors: (27,) node blocks around the block.

    Returns:
        The offset behind them.
    """
    begin, end = lanes
    arenas.boxes[run, 0] = IS_RECORDS
    arenas.boxes[run, 1] = end - begin
    arenas.starts[run] = start
    farther = BLOCK - 1 + nodes_along(scheme) - 1
    for lane in range(begin, end):
        store(arenas.values, start, load(scratch, LANES + LANE_ROW * lane, LANE_ROW))
        store(arenas.values, start + LANE_ROW, load(scratch, ALONG_Z + LANE_ROW * lane, LANE_ROW))
        start += RECORD
        number, bit = int(index[lane]), np.uint8(1 << (lane - begin) % MARK_BITS)
        x, y, z = number >> 6, number >> 3 & 7, number & 7
        for i in range((x + BLOCK - 1) >> 2, ((x + farther) >> 2) + 1):
            for j in range((y + BLOCK - 1) >> 2, ((y + farther) >> 2) + 1):
                for k in range((z + BLOCK - 1) >> 2, ((z + farther) >> 2) + 1):
                    place = 9 * i + 3 * j + k
                    # from there, this block lies on the opposite side
                    arenas.mark_bytes[neighbors[place], neighbors.size - 1 - place] |= bit
    return start


@generic
def of_momentum(records, at, zero):
    """The slopes of a record's momentum, for each of four nodes; the mass has none."""
    slope = load(records, at, NODE)
    return shuffled(slope, zero, (0, 1, 2, 4, 0, 1, 2, 4, 0, 1, 2, 4, 0, 1, 2, 4))


@generic
def lowest_of_record(records, at, place):
    """The lowest node of a record along x, y and z, in the node block for which its block is in neighbor number `place`."""
    number = int(records[at + NUMBER])
    x = (number >> 6) - 1 + BLOCK * (place // 9 - 1)
    y = (number >> 3 & 7) - 1 + BLOCK * (place // 3 % 3 - 1)
    return x, y, (number & 7) - 1 + BLOCK * (place % 3 - 1)


@generic
def add_record(records, at, place, node):
    """Add a record to a node block; returns the rows that it touches, as bits. `place`: see `lowest_of_record`."""
    x, y, z = lowest_of_record(records, at, place)
    count = int(records[at + COUNT])
    low_x, high_x, low_y, high_y = max(x, 0), min(x + count, BLOCK), max(y, 0), min(y + count, BLOCK)
    rows = 0
    if low_x < high_x and low_y < high_y and -count < z < BLOCK:
        quad = at + ALONG_Z_OF_RECORD + (BLOCK if z < 0 else 0)
        wz = for_each_node(load(records, quad, 4))
        node_value = load(records, at, NODE)
        zero = constant(0.0, node_value)
        value = shuffled(node_value, zero, (0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3))
        along_x, along_y = wz * of_momentum(records, at + NODE, zero), wz * of_momentum(records, at + 2 * NODE, zero)
        steps = whole_numbers(value, (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)) - float(z + 1)
        value = wz * (value + steps * of_momentum(records, at + 3 * NODE, zero))
        plane = value + float(low_x - x - 1) * along_x + float(low_y - y - 1) * along_y
        for i in range(low_x, high_x):
            share_x = records[at + ALONG_X_OF_RECORD + i - x]
            row_value = plane
            for j in range(low_y, high_y):
                row = BLOCK * i + j
                share = share_x * records[at + ALONG_Y_OF_RECORD + j - y]
                store(node, ROW_OF_FOUR * row, load(node, ROW_OF_FOUR * row, ROW_OF_FOUR) + share * row_value)
                row_value = row_value + along_y
                rows |= 1 << row
            plane = plane + along_x
    return rows


@generic
def add_records(arenas, run, mark, place, node):
    """Add the records of a run that may touch a node block, by the bits of its mark; returns the rows that they touch, as bits."""
    rows, count, start = 0, int(arenas.boxes[run, 1]), arenas.starts[run]
    while mark != np.uint64(0):
        lane = trailing_zeros(mark)
        mark &= mark - np.uint64(1)
        for each in range(lane, count, MARK_BITS):
            rows |= add_record(arenas.values, start + RECORD * each, place, node)
    return rows


@generic
def add_mass_of_record(records, at, place, factor, node):
    """Add the mass of a record, times a factor, to the nodes of a node block that have mass."""
    x, y, z = lowest_of_record(records, at, place)
    count = int(records[at + COUNT])
    quad = at + ALONG_Z_OF_RECORD + (BLOCK if z < 0 else 0)
    for i in range(max(x, 0), min(x + count, BLOCK)):
        for j in range(max(y, 0), min(y + count, BLOCK)):
            share = factor * records[at + NODE - 1] * records[at + ALONG_X_OF_RECORD + i - x] * records[at + ALONG_Y_OF_RECORD + j - y]
            for k in range(max(z, 0), min(z + count, BLOCK)):
                mass = NODE * (BLOCK * (BLOCK * i + j) + k) + NODE - 1
                if node[mass] > 0.0:
                    node[mass] += share * records[quad + k]
