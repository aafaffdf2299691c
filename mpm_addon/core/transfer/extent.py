"""Arenas: what the particles of each run have scattered, and which nodes they touch: few where particles are few, and seldom all.

Nodes are counted from one node below the block on, eight along an axis. Of these a run has only those in a box around the ones
that its particles touch, all eight along z: its arena. Arenas lie one behind another, as small as they are in a step: where particles
are alone, this is most of what a step reads and writes.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from ..arithmetic.operations import constant, generic, maximum
from ..arithmetic.vector import LANE_COUNT, largest, load, store
from ..compilation.kernel import kernel
from .blocks import ARENA, BLOCK, NEIGHBOURS, ROW
from .reach import HIGH, LOW
from .rows import POSITION
from .scheme import is_cubic, is_plane

# behind the nodes of an arena: room for pairs of nodes that are written past its end (with a weight of zero)
ROOM = 16
BOX = 6
HALF_ROW = ROW // 2
MARK_WORDS = 4
# what rounding may add to a way [cells]
LEAST_WAY = 1e-3


class Arenas(NamedTuple):
    """What the runs have scattered.

    Attributes:
        values: momentum [kg m/s] and mass [kg] of each node in each arena's box, in order of x, y and z.
        starts: (runs,) where each arena begins.
        rooms: (bodies, pieces) where the arenas of a body in a piece of work begin; there is room for the largest boxes.
        boxes: (runs, 6) the nodes [begin, end) along x, y and z that each arena has; those along z are all there, the others empty.
        reach: (blocks, 6) the largest box until the next sort.
        marks: (node blocks + 1, 4) for each node block 32 bytes: which of the 27 (in the plane: 9) blocks around scattered to it,
            until the arenas are summed.
        mark_bytes: (node blocks + 1, 32) the same memory byte by byte: no two blocks write the same one.
        bodies: (node blocks + 1, 2) the bodies [begin, end) whose arenas each node block sums; see `fields`.
    """

    values: NDArray[np.floating]
    starts: NDArray[np.int64]
    rooms: NDArray[np.int64]
    boxes: NDArray[np.int8]
    reach: NDArray[np.int8]
    marks: NDArray[np.uint64]
    mark_bytes: NDArray[np.uint8]
    bodies: NDArray[np.int64]


def no_arenas(dtype: np.dtype[Any]) -> Arenas:
    """Arenas of no run."""
    marks, boxes = np.zeros((1, MARK_WORDS), np.uint64), np.zeros((0, BOX), np.int8)
    nothing = np.zeros(0, np.int64)
    bodies = np.zeros((1, 2), np.int64)
    return Arenas(np.zeros(ROOM, dtype), nothing, nothing.reshape(1, 0), boxes, boxes, marks, marks.view(np.uint8), bodies)


@kernel
def make_room(extents, first, pieces, is_plane, rooms, reach):
    """Find how large the arenas can become.

    Args:
        extents: see `reach.find_extents`; first: first slot of each run; pieces: first block of each piece of work.
        rooms, reach: results, see `Arenas`.

    Returns:
        How many numbers all arenas take at most.
    """
    body_count = rooms.shape[0]
    for block in range(extents.shape[0]):
        for axis in range(3):
            reach[block, 2 * axis] = inside_arena(math.floor(-extents[block, axis] - LOW) + 1)
            reach[block, 2 * axis + 1] = inside_arena(math.floor(extents[block, 3 + axis] + HIGH) + 2)
        if is_plane:
            reach[block, 2], reach[block, 3] = 0, 1
    start = 0
    for body in range(body_count):
        for piece in range(rooms.shape[1]):
            rooms[body, piece] = start
            for block in range(pieces[piece], pieces[piece + 1]):
                run = block * body_count + body
                if first[run] < first[run + 1]:
                    start += largest_arena(reach[block])
    return start


@kernel
def largest_arena(reach):
    """The numbers that an arena takes whose box is all that its block can reach."""
    return (reach[1] - reach[0]) * (reach[3] - reach[2]) * ROW + ROOM


@generic
def inside_arena(number):
    """A node's number along an axis, within the arena whatever it is."""
    return min(max(int(number), 0), ARENA)


def range_of(scheme: Any, particles: Any, low: Any, high: Any) -> Any:
    """The least and the greatest position along x, y and z of the particles in slots [low, high)."""
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
    """The least and the greatest number in [low, high) of a row."""
    if high - low < LANE_COUNT:
        # what lies behind in the vector may be another block's
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
    """The nodes [begin, end) along x, y and z that particles touch which are at most `way` cells from a range of positions."""
    raise TypeError("nodes_between is for kernels")


@overload(nodes_between, jit_options={"forceinline": True})
def _overload_nodes_between(scheme, positions, way):
    # the lowest node lies one below the centre, and the arena begins one below the block
    shift, count = (0.0, 4) if is_cubic(scheme) else (0.5, 3)

    def in_space(scheme, positions, way):
        x0, x1, y0, y1, z0, z1 = positions
        return (
            lowest_node(x0 - way, shift), inside_arena(lowest_node(x1 + way, shift) + count),
            lowest_node(y0 - way, shift), inside_arena(lowest_node(y1 + way, shift) + count),
            lowest_node(z0 - way, shift), inside_arena(lowest_node(z1 + way, shift) + count),
        )  # fmt: skip

    def in_plane(scheme, positions, way):
        x0, x1, _, _, z0, z1 = positions
        return (
            lowest_node(x0 - way, shift), inside_arena(lowest_node(x1 + way, shift) + count), 0, 1,
            lowest_node(z0 - way, shift), inside_arena(lowest_node(z1 + way, shift) + count),
        )  # fmt: skip

    return in_plane if is_plane(scheme) else in_space


@generic
def lowest_node(position, shift):
    """The lowest node that a particle touches, counted in the arena; splines are centred at the node above x - shift, or below."""
    return inside_arena(math.floor(position - shift) + (1 if shift > 0.0 else 0))


@generic
def box_of(arenas, run):
    """The box of a run's arena."""
    return (
        int(arenas.boxes[run, 0]), int(arenas.boxes[run, 1]), int(arenas.boxes[run, 2]),
        int(arenas.boxes[run, 3]), int(arenas.boxes[run, 4]), int(arenas.boxes[run, 5]),
    )  # fmt: skip


@generic
def blocks_along(begin, end):
    """The node blocks [low, high) along an axis, the own one being number 1, that nodes [begin, end) of an arena lie in."""
    low = 0 if begin < 1 else (1 if begin <= BLOCK else 2)
    high = 1 if end <= 1 else (2 if end <= BLOCK + 1 else 3)
    return low, high


@generic
def open_arena(arenas, block, run, start, touched, neighbours):
    """Make a run's arena anew, empty, and mark the node blocks that it lies in.

    Args:
        start: where it begins.
        touched: the nodes that the run's particles touch, see `nodes_between`.
        neighbours: (27 or 9,) node blocks around the block.

    Returns:
        Where it ends.
    """
    x0, x1, y0, y1, z0, z1 = touched
    reach = arenas.reach[block]
    x0, x1 = max(x0, int(reach[0])), min(x1, int(reach[1]))
    y0, y1 = max(y0, int(reach[2])), min(y1, int(reach[3]))
    bx, by, bz = blocks_along(x0, x1), blocks_along(y0, y1), blocks_along(z0, z1)
    last = neighbours.size - 1
    for x in range(bx[0], bx[1]):
        for y in range(by[0], by[1]):
            for z in range(bz[0], bz[1]):
                place = 9 * x + 3 * y + z if neighbours.size == NEIGHBOURS else 3 * x + z
                # seen from there, this block lies on the other side
                arenas.mark_bytes[neighbours[place], last - place] = 1
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
def keep_room(arenas, block, run, start):
    """Let a run's arena, which is opened later, begin at `start`; returns where it ends at most."""
    arenas.starts[run] = start
    return start + largest_arena(arenas.reach[block])


def offset_in_arena(scheme: Any, arenas: Any, run: Any) -> Any:
    """How nodes of an arena of 8^3 (in the plane: 8^2) are found in a run's: what to add, and the nodes from plane to plane."""
    raise TypeError("offset_in_arena is for kernels")


def place_in_arena(scheme: Any, node: Any, across: Any) -> Any:
    """Where the node number `node` of an arena of 8^3 (in the plane: 8^2) lies, but for what `offset_in_arena` says is to be added."""
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
    return lambda scheme, node, across: node // (ARENA * ARENA) * across + node % (ARENA * ARENA)
