"""Arenas: the momentum and mass that each run has scattered, stored only for the nodes that its particles touch.

Nodes are counted from one node below the block, eight along each axis. A run's arena is the box around the nodes that its particles
touch, with all eight along z. Arenas are stored one after another, each as small as the substep allows, because with sparse particles
they make up most of the memory that a substep reads and writes.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from ..arithmetic.operations import constant, generic, maximum
from ..arithmetic.vector import LANE_COUNT, largest, load, store
from ..compilation.kernel import kernel
from .blocks import ARENA, BLOCK, NEIGHBORS, ROW
from .reach import HIGH, LOW
from .rows import POSITION
from .scheme import is_cubic, is_plane
from .scratch import CHUNK

# padding after each arena, for pairs of nodes that are written past its end with zero weight
ROOM = 16
BOX = 6
# numbers of a record, see `sparse`
RECORD = 36
HALF_ROW = ROW // 2
# numbers of nodes are positive: shifts are faster than divisions, which round down
PLANE_BITS = (ARENA * ARENA).bit_length() - 1
MARK_WORDS = 4
# largest rounding error of a displacement [cells]
LEAST_WAY = 1e-3


class Arenas(NamedTuple):
    """The momentum and mass that runs have scattered.

    Attributes:
        values: momentum [kg m/s] and mass [kg] of the nodes of all arenas, in order of x, y and z within each arena; in place of the
            arena of a run in a sparse group its records, see `sparse`.
        starts: (runs,) offset of each arena in `values`.
        rooms: (instances, pieces) offset of the first arena of each instance in each piece of work; each has space for its largest box.
        boxes: (runs, 6) nodes [begin, end) along x, y and z that each run touches; along z an arena stores all eight anyway. For
            records, -1 and their number.
        reach: (blocks, 6) largest possible box until the next sort.
        marks: (node blocks + 1, 4) 32 bytes per node block, one for each of the 27 (in two dimensions: 9) blocks around it that has
            scattered to it since the arenas were last summed. For records its bits tell which of them, counted modulo 8, touch the node
            block.
        mark_bytes: (node blocks + 1, 32) the same memory as bytes: no two blocks write the same one.
        instances: (node blocks + 1, 2) instances [begin, end) whose arenas each node block sums; see `fields`.
    """

    values: NDArray[np.floating]
    starts: NDArray[np.int64]
    rooms: NDArray[np.int64]
    boxes: NDArray[np.int8]
    reach: NDArray[np.int8]
    marks: NDArray[np.uint64]
    mark_bytes: NDArray[np.uint8]
    instances: NDArray[np.int64]


def no_arenas(dtype: np.dtype[Any]) -> Arenas:
    """Arenas for no runs."""
    marks, boxes = np.zeros((1, MARK_WORDS), np.uint64), np.zeros((0, BOX), np.int8)
    nothing = np.zeros(0, np.int64)
    instances = np.zeros((1, 2), np.int64)
    return Arenas(np.zeros(ROOM, dtype), nothing, nothing.reshape(1, 0), boxes, boxes, marks, marks.view(np.uint8), instances)


@kernel
def make_room(extents, runs, is_plane, rooms, reach):
    """Compute upper bounds on the sizes of the arenas.

    Args:
        extents: see `reach.find_extents`.
        runs: see `Runs`.
        is_plane: whether there are two dimensions.
        rooms, reach: results, see `Arenas`.

    Returns:
        Upper bound on the length of `Arenas.values`.
    """
    for block in range(extents.shape[0]):
        for axis in range(3):
            reach[block, 2 * axis] = inside_arena(math.floor(-extents[block, axis] - LOW) + 1)
            reach[block, 2 * axis + 1] = inside_arena(math.floor(extents[block, 3 + axis] + HIGH) + 2)
        if is_plane:
            reach[block, 2], reach[block, 3] = 0, 1
    start = 0
    first, pieces, instance_count = runs
    for instance in range(instance_count):
        for piece in range(rooms.shape[1]):
            rooms[instance, piece] = start
            for block in range(pieces[piece], pieces[piece + 1]):
                run = block * instance_count + instance
                if first[run] < first[run + 1]:
                    start += largest_arena(reach[block], first[run + 1] - first[run])
    return start


@kernel
def largest_arena(reach, slots):
    """The size of an arena whose box covers all nodes that particles of its block can reach, or of the records of a small run."""
    return max((reach[1] - reach[0]) * (reach[3] - reach[2]) * ROW + ROOM, RECORD * slots if slots <= CHUNK else 0)


@generic
def inside_arena(number):
    """A node's number along an axis, clamped to the arena."""
    return min(max(int(number), 0), ARENA)


def range_of(scheme: Any, particles: Any, low: Any, high: Any) -> Any:
    """The minimum and maximum position along x, y and z of the particles in slots [low, high)."""
    raise TypeError("range_of is for kernels")


@overload(range_of, jit_options={"forceinline": True})
def _overload_range_of(scheme, particles, low, high):
    def in_space(scheme, particles, low, high):
        x0, x1 = range_along(particles[POSITION], low, high)
        y0, y1 = range_along(particles[POSITION + 1], low, high)
        z0, z1 = range_along(particles[POSITION + 2], low, high)
        return x0, x1, y0, y1, z0, z1

    def in_plane(scheme, particles, low, high):
        x0, x1 = range_along(particles[POSITION], low, high)
        z0, z1 = range_along(particles[POSITION + 2], low, high)
        return x0, x1, z0, z0, z0, z1

    return in_plane if is_plane(scheme) else in_space


@generic
def range_along(row, low, high):
    """The minimum and maximum of a row in [low, high)."""
    if high - low < LANE_COUNT:
        # a whole vector could include slots of another block
        above = load(row, low, 1)
        below = -above
        for slot in range(low + 1, high):
            value = load(row, slot, 1)
            below, above = maximum(below, -value), maximum(above, value)
        return -largest(below), largest(above)
    most = load(row, high - LANE_COUNT, LANE_COUNT)
    least = -most
    for slot in range(low, high - LANE_COUNT, LANE_COUNT):
        values = load(row, slot, LANE_COUNT)
        least, most = maximum(least, -values), maximum(most, values)
    return -largest(least), largest(most)


def nodes_between(scheme: Any, positions: Any, way: Any) -> Any:
    """The nodes [begin, end) along x, y and z touched by particles at most `way` cells away from a range of positions."""
    raise TypeError("nodes_between is for kernels")


@overload(nodes_between, jit_options={"forceinline": True})
def _overload_nodes_between(scheme, positions, way):
    # the lowest node is one below the center, and the arena starts one below the block
    shift, count = (0.0, 4) if is_cubic(scheme) else (0.5, 3)

    def in_space(scheme, positions, way):
        x0, x1, y0, y1, z0, z1 = positions
        bx, ex = lowest_node(x0 - way, shift), inside_arena(lowest_node(x1 + way, shift) + count)
        by, ey = lowest_node(y0 - way, shift), inside_arena(lowest_node(y1 + way, shift) + count)
        bz, ez = lowest_node(z0 - way, shift), inside_arena(lowest_node(z1 + way, shift) + count)
        return bx, ex, by, ey, bz, ez

    def in_plane(scheme, positions, way):
        x0, x1, _, _, z0, z1 = positions
        bx, ex = lowest_node(x0 - way, shift), inside_arena(lowest_node(x1 + way, shift) + count)
        bz, ez = lowest_node(z0 - way, shift), inside_arena(lowest_node(z1 + way, shift) + count)
        return bx, ex, 0, 1, bz, ez

    return in_plane if is_plane(scheme) else in_space


@generic
def lowest_node(position, shift):
    """The lowest node that a particle touches, counted in the arena; its center is above x - 1/2 or below x, see `scheme`."""
    return inside_arena(math.floor(position - shift) + (1 if shift > 0.0 else 0))


@generic
def box_of(arenas, run):
    """The nodes [begin, end) along x, y and z of a run's arena."""
    box = arenas.boxes[run]
    return int(box[0]), int(box[1]), int(box[2]), int(box[3]), int(box[4]), int(box[5])


@generic
def blocks_along(begin, end):
    """The node blocks [low, high) along an axis that contain nodes [begin, end) of an arena; the arena's own block is number 1."""
    low = 0 if begin < 1 else (1 if begin <= BLOCK else 2)
    high = 1 if end <= 1 else (2 if end <= BLOCK + 1 else 3)
    return low, high


@generic
def open_arena(arenas, block, run, start, touched, neighbors):
    """Reset a run's arena to zero and mark the node blocks that it overlaps.

    Args:
        start: its offset in `Arenas.values`.
        touched: the nodes that the run's particles touch, see `nodes_between`.
        neighbors: (27 or 9,) node blocks around the block.

    Returns:
        The offset of the end of the arena.
    """
    x0, x1, y0, y1, z0, z1 = touched
    reach = arenas.reach[block]
    x0, x1 = max(x0, int(reach[0])), min(x1, int(reach[1]))
    y0, y1 = max(y0, int(reach[2])), min(y1, int(reach[3]))
    bx, by, bz = blocks_along(x0, x1), blocks_along(y0, y1), blocks_along(z0, z1)
    last = neighbors.size - 1
    for x in range(bx[0], bx[1]):
        for y in range(by[0], by[1]):
            for z in range(bz[0], bz[1]):
                place = 9 * x + 3 * y + z if neighbors.size == NEIGHBORS else 3 * x + z
                # seen from there, this block lies on the opposite side
                arenas.mark_bytes[neighbors[place], last - place] |= np.uint8(1)
    arenas.boxes[run, 0], arenas.boxes[run, 1] = x0, x1
    arenas.boxes[run, 2], arenas.boxes[run, 3] = y0, y1
    arenas.boxes[run, 4], arenas.boxes[run, 5] = z0, z1
    arenas.starts[run] = start
    end = start + (x1 - x0) * (y1 - y0) * ROW + ROOM
    zero = constant(0.0, load(arenas.values, 0, HALF_ROW))
    for at in range(start, end, HALF_ROW):
        store(arenas.values, at, zero)
    return end


@generic
def keep_room(arenas, block, run, slots, start):
    """Reserve an arena at `start` for a run of this many slots that is scattered later; returns the offset of its largest possible end."""
    arenas.starts[run] = start
    return start + largest_arena(arenas.reach[block], slots)


def offset_in_arena(scheme: Any, arenas: Any, run: Any) -> Any:
    """The conversion of node numbers in 8^3 (in two dimensions: 8^2) nodes to a run's arena: an offset, and the nodes per x plane."""
    raise TypeError("offset_in_arena is for kernels")


def place_in_arena(scheme: Any, node: Any, across: Any) -> Any:
    """The index in a run's arena of a node numbered in 8^3 (in two dimensions: 8^2) nodes, without the offset of `offset_in_arena`."""
    raise TypeError("place_in_arena is for kernels")


@overload(offset_in_arena, jit_options={"forceinline": True})
def _overload_offset_in_arena(scheme, arenas, run):
    def in_space(scheme, arenas, run):
        x0, y0, rows = int(arenas.boxes[run, 0]), int(arenas.boxes[run, 2]), int(arenas.boxes[run, 3]) - int(arenas.boxes[run, 2])
        return -ARENA * (x0 * rows + y0), ARENA * rows

    def in_plane(scheme, arenas, run):
        return -ARENA * int(arenas.boxes[run, 0]), ARENA

    return in_plane if is_plane(scheme) else in_space


@overload(place_in_arena, jit_options={"forceinline": True})
def _overload_place_in_arena(scheme, node, across):
    if is_plane(scheme):
        return lambda scheme, node, across: node
    return lambda scheme, node, across: (node >> PLANE_BITS) * across + (node & (1 << PLANE_BITS) - 1)
