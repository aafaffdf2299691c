"""Sparse groups: particles that are few in their blocks exchange with the nodes directly.

An arena is far larger than what one particle touches, so a group (see `packing`) with few particles per run does without. Each of
its particles is gathered from the rows of the node blocks themselves, and scatters a *record*: its momentum, the slopes of the
momentum and the weights, not yet multiplied. A node block that a record touches multiplies them out for its own nodes (see `grid`).

A record holds, as numbers: momentum and mass at the center node (4); slopes of the momentum along x (3), the number of the lowest node,
made even, in the 8^3 nodes of an arena, slopes along y (3), the number of nodes along an axis, slopes along z (3), unused; the weights
along x and y (4 each); and those along z (5, from the even node on) with three zeros before and four after them, so that the weights of
the four nodes of a node block can be read wherever it lies. No branch depends on where a particle is: a wrong guess would take longer
than to add zeros.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from ..arithmetic.operations import constant, floor, generic, multiply_add, select
from ..arithmetic.vector import LANE_COUNT, broadcast, load, prefetch, shuffled, store, store_as_int32, trailing_zeros, whole_numbers
from .blocks import BLOCK, NODE
from .extent import RECORD
from .gather import ROW_OF_FOUR, store_gathered
from .rows import POSITION
from .scheme import all_weights, is_cubic, is_plane
from .scratch import ALONG_Z, CHUNK, LANES, WEIGHTS, store_row_weights
from .table import LANE_ROW, live_count, load_vector, store_rows

# offsets in a record; those of the weights of the lowest nodes
NUMBER, COUNT, LOWEST_X, LOWEST_Y, LOWEST_Z = 7, 11, 16, 20, 27
# particles per run up to which records cost less than an arena
MOST = 10
# marks an arena that holds records: the first number of its box
IS_RECORDS = -1
MARK_BITS = 8
# how many blocks ahead rows are fetched
AHEAD = 3
# the length of a record beyond two rows of the scratch
REST_OF_RECORD = RECORD - 2 * LANE_ROW
# the rows of nodes around a node block that records in it may touch, and along an axis with them
MARGIN = BLOCK - 1
TILE = BLOCK + 2 * MARGIN


def is_sparse(scheme: Any, table: Any, runs: Any, instance: Any, blocks: Any) -> bool:
    """Whether the group of an instance's runs in the blocks [begin, end) does without arenas; never in 2D, where they are small."""
    raise TypeError("is_sparse is for kernels")


@overload(is_sparse, jit_options={"forceinline": True})
def _overload_is_sparse(scheme, table, runs, instance, blocks):
    def in_space(scheme, table, runs, instance, blocks):
        begin, end = blocks
        first, _, instance_count = runs
        low, high = first[begin * instance_count + instance], first[(end - 1) * instance_count + instance + 1]
        if high - low > CHUNK or low == high:
            return False
        there = 0
        for block in range(begin, end):
            run = block * instance_count + instance
            there += int(first[run] < first[run + 1])
        return live_count(table, low, high - low) <= MOST * there

    if is_plane(scheme):
        return lambda scheme, table, runs, instance, blocks: False
    return in_space


def nodes_along(scheme: Any) -> int:
    """The number of nodes that a particle touches along an axis."""
    raise TypeError("nodes_along is for kernels")


@overload(nodes_along, jit_options={"forceinline": True})
def _overload_nodes_along(scheme):
    return (lambda scheme: 4) if is_cubic(scheme) else (lambda scheme: 3)


@generic
def store_padded(scratch, row, wz):
    """Store the weights along z with three zeros before and after them."""
    w0, w1, w2, w3 = wz
    zero = constant(0.0, w0)
    store_rows(scratch, row, zero, zero, zero, w0)
    store_rows(scratch, row + 4, w1, w2, w3, zero)
    store_rows(scratch, row + 8, zero, zero, zero, zero)


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
    weights = ALONG_Z + LANE_ROW * lane + 3 - (z & 3)
    wz = for_each_node(load(scratch, weights, 4))
    value, along_x, along_y = value * wz, along_x * wz, along_y * wz
    along_z = value * (whole_numbers(value, (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)) - center)
    if (z & 3) + nodes_along(scheme) > BLOCK:
        more, more_x, more_y = rows_around(scheme, nodes, neighbors, size, (x, y, (z >> 2) + 1), scratch, WEIGHTS + lane)
        wz = for_each_node(load(scratch, weights + 4, 4))
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
        store_padded(scratch, ALONG_Z + LANE_ROW * at, wz)


@generic
def gather_sparse(scheme, runs, instance, part, grid_nodes, neighbors, scratch, index, result):
    """Gather the particles of a sparse group, which are in one part (see `advance`), from the node blocks."""
    begin, end, low, _, _, live = part
    first, _, instance_count = runs
    nodes = grid_nodes.reshape(-1)
    for block in range(begin, end):
        run = block * instance_count + instance
        around = neighbors[block]
        if block + AHEAD < end:
            coming, next_around = run + AHEAD * instance_count, neighbors[block + AHEAD]
            for lane in range(first[coming] - low, min(first[coming + 1] - low, live)):
                fetch_rows(scheme, nodes, next_around, int(index[lane]))
        for lane in range(first[run] - low, min(first[run + 1] - low, live)):
            gather_directly(scheme, nodes, around, int(index[lane]), scratch, lane, result)


@generic
def fetch_rows(scheme, nodes, neighbors, number):
    """Let the processor fetch a particle's rows; they are read soon, and nowhere near those of the particle before."""
    size, count = BLOCK * BLOCK * ROW_OF_FOUR, nodes_along(scheme)
    x, y, z = (number >> 6) + BLOCK - 1, (number >> 3 & 7) + BLOCK - 1, (number & 7) + BLOCK - 1
    for i in range(count):
        for j in range(count):
            prefetch(nodes, row_at(nodes, neighbors, size, x + i, y + j, z >> 2))
            prefetch(nodes, row_at(nodes, neighbors, size, x + i, y + j, (z + count - 1) >> 2))


@generic
def prepare_records(scheme, table, low, count, scratch):
    """Store the weights of the records of a sparse group's slots [low, low + count), for which `prepare_scatter` has stored the momenta."""
    for at in range(0, count, LANE_COUNT):
        lowest, _, (x0, x1, x2, x3), (y0, y1, y2, y3), (z0, z1, z2, z3) = all_weights(scheme, load_vector(table, POSITION, low + at))
        is_odd = 2.0 * floor(0.5 * lowest) < lowest
        zero = constant(0.0, z0)
        row = ALONG_Z + LANE_ROW * at
        store_rows(scratch, row, x0, x1, x2, x3)
        store_rows(scratch, row + 4, y0, y1, y2, y3)
        store_rows(scratch, row + 8, zero, zero, zero, select(is_odd, zero, z0))
        z1, z2, z3, z4 = select(is_odd, z0, z1), select(is_odd, z1, z2), select(is_odd, z2, z3), select(is_odd, z3, zero)
        store_rows(scratch, row + 12, z1, z2, z3, z4)
        store_rows(scratch, WEIGHTS + LANE_ROW * at, zero, zero, zero, zero)


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
    for lane in range(begin, end):
        store(arenas.values, start, load(scratch, LANES + LANE_ROW * lane, LANE_ROW))
        arenas.values[start + NUMBER] = index[lane]
        arenas.values[start + COUNT] = nodes_along(scheme)
        store(arenas.values, start + LANE_ROW, load(scratch, ALONG_Z + LANE_ROW * lane, LANE_ROW))
        store(arenas.values, start + 2 * LANE_ROW, load(scratch, WEIGHTS + LANE_ROW * lane, REST_OF_RECORD))
        start += RECORD
        mark_touched(scheme, int(index[lane]), (lane - begin) % MARK_BITS, neighbors, arenas.mark_bytes)
    return start


@generic
def mark_touched(scheme, number, bit, neighbors, mark_bytes):
    """Mark the node blocks that contain a particle's nodes: the lowest one's along each axis, and the next if they may reach it.

    Args:
        number: of the lowest node, or of the even one below it along z, see `prepare_scatter`.
    """
    farthest = BLOCK - nodes_along(scheme)
    x, y, z = (number >> 6) + BLOCK - 1, (number >> 3 & 7) + BLOCK - 1, (number & 7) + BLOCK - 1
    is_x, is_y, is_z = int((x & 3) > farthest), int((y & 3) > farthest), int((z & 3) >= farthest)
    for i in range(2):
        for j in range(2):
            for k in range(2):
                place = 9 * min((x >> 2) + i, 2) + 3 * min((y >> 2) + j, 2) + min((z >> 2) + k, 2)
                reaches = (is_x | 1 - i) & (is_y | 1 - j) & (is_z | 1 - k)
                # from there, this block lies on the opposite side
                mark_bytes[neighbors[place], neighbors.size - 1 - place] |= np.uint8(reaches << bit)


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
def planes_from(x, count):
    """The rows of a node block in the planes from x on, as bits."""
    planes = (((1 << count) - 1) << (x + BLOCK)) >> BLOCK & 0xF
    return ((planes | planes << 3 | planes << 6 | planes << 9) & 0x1111) * 0xF


@generic
def add_share(tile, row, records, weight, value):
    """Add a value, times a weight of a record, to a row of a tile."""
    store(tile, row, multiply_add(broadcast(records, weight, ROW_OF_FOUR), value, load(tile, row, ROW_OF_FOUR)))


@generic
def add_record(records, at, place, tile):
    """Add a record to a tile (see `grid`); returns the rows of nodes that it touches, as bits. `place`: see `lowest_of_record`."""
    x, y, z = lowest_of_record(records, at, place)
    # also along z, where z is odd, and up to one node more is touched
    if min(x, y, z) <= -BLOCK or max(x, y, z) >= BLOCK:
        return 0
    wz = for_each_node(load(records, at + LOWEST_Z - z, 4))
    value = load(records, at, NODE)
    zero = constant(0.0, value)
    value = shuffled(value, zero, (0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3))
    along_x, along_y = wz * of_momentum(records, at + NODE, zero), wz * of_momentum(records, at + 2 * NODE, zero)
    steps = whole_numbers(value, (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)) - float(z + 1)
    plane = wz * (value + steps * of_momentum(records, at + 3 * NODE, zero)) - along_x - along_y
    count = int(records[at + COUNT])
    row = ROW_OF_FOUR * (TILE * (x + MARGIN) + y + MARGIN)
    for i in range(count):
        share = broadcast(records, at + LOWEST_X + i, ROW_OF_FOUR)
        value, slope = share * plane, share * along_y
        add_share(tile, row, records, at + LOWEST_Y, value)
        add_share(tile, row + ROW_OF_FOUR, records, at + LOWEST_Y + 1, value + slope)
        value = (value + slope) + slope
        add_share(tile, row + 2 * ROW_OF_FOUR, records, at + LOWEST_Y + 2, value)
        if count == 4:
            add_share(tile, row + 3 * ROW_OF_FOUR, records, at + LOWEST_Y + 3, value + slope)
        row += ROW_OF_FOUR * TILE
        plane = plane + along_x
    return planes_from(x, count)


@generic
def add_records(arenas, run, mark, place, tile):
    """Add the records of a run that may touch a node block, by the bits of its mark; returns the rows of nodes that they touch."""
    rows, count, start = 0, int(arenas.boxes[run, 1]), arenas.starts[run]
    while mark != np.uint64(0):
        lane = trailing_zeros(mark)
        mark &= mark - np.uint64(1)
        for each in range(lane, count, MARK_BITS):
            rows |= add_record(arenas.values, start + RECORD * each, place, tile)
    return rows


@generic
def add_mass_of_record(records, at, place, factor, node):
    """Add the mass of a record, times a factor, to the nodes of a node block that have mass."""
    x, y, z = lowest_of_record(records, at, place)
    count = int(records[at + COUNT])
    for i in range(max(x, 0), min(x + count, BLOCK)):
        for j in range(max(y, 0), min(y + count, BLOCK)):
            share = factor * records[at + NODE - 1] * records[at + LOWEST_X + i - x] * records[at + LOWEST_Y + j - y]
            for k in range(max(z, 0), min(z + count + 1, BLOCK)):
                mass = NODE * (BLOCK * (BLOCK * i + j) + k) + NODE - 1
                if node[mass] > 0.0:
                    node[mass] += share * records[at + LOWEST_Z + k - z]
