"""Which nodes of its arena a block's particles touch: few where particles are few, and seldom all of them.

Only these nodes are copied, summed and emptied again. Outside of them an arena is zero; which they are stands in the arena itself,
behind its nodes.
"""

from typing import Any

from numba.extending import overload

from .arithmetic import constant, generic, maximum
from .blocks import ARENA, NODE, PLANE, ROW
from .rows import POSITION
from .scheme import axis_weights, is_cubic, is_plane
from .vector import LANE_COUNT, largest, load, store

# behind the nodes of an arena: room for pairs of nodes that are written past its end (with a weight of zero), then its extent
ROOM = 16
EXTENT = 6
EXTENT_SIZE = 16
HALF_ROW = ROW // 2


def arena_size(dimension: int) -> int:
    """How many numbers an arena takes."""
    return NODE * ARENA**dimension + ROOM + EXTENT_SIZE


def extent_of(scheme: Any, particles: Any, low: Any, high: Any) -> Any:
    """The nodes [begin, end) of the arena, along x, y and z, that the particles in slots [low, high) touch: six integers."""
    raise TypeError("extent_of is for kernels")


@overload(extent_of, jit_options={"forceinline": True})
def _overload_extent_of(scheme, particles, low, high):
    count = 4 if is_cubic(scheme) else 3

    def in_space(scheme, particles, low, high):
        x0, x1 = extent_along(scheme, particles[POSITION], low, high)
        y0, y1 = extent_along(scheme, particles[POSITION + 1], low, high)
        z0, z1 = extent_along(scheme, particles[POSITION + 2], low, high)
        return x0, inside_arena(x1 + count), y0, inside_arena(y1 + count), z0, inside_arena(z1 + count)

    def in_plane(scheme, particles, low, high):
        x0, x1 = extent_along(scheme, particles[POSITION], low, high)
        z0, z1 = extent_along(scheme, particles[POSITION + 2], low, high)
        return x0, inside_arena(x1 + count), 0, 1, z0, inside_arena(z1 + count)

    return in_plane if is_plane(scheme) else in_space


@generic
def extent_along(scheme, row, low, high):
    """The least and the greatest of the lowest nodes of the particles in slots [low, high); counted in the arena, as their centres."""
    below = constant(-1e6, load(row, low, LANE_COUNT))
    above = below
    for slot in range(low, high, LANE_COUNT):
        lowest, _, _ = axis_weights(scheme, load(row, slot, LANE_COUNT))
        below, above = maximum(below, -lowest), maximum(above, lowest)
    return inside_arena(-largest(below)), inside_arena(largest(above))


@generic
def inside_arena(number):
    """A node's number along an axis, within the arena whatever it is."""
    return min(max(int(number), 0), ARENA)


@generic
def extent(arena):
    """What was touched of an arena."""
    at = arena.size - EXTENT
    return int(arena[at]), int(arena[at + 1]), int(arena[at + 2]), int(arena[at + 3]), int(arena[at + 4]), int(arena[at + 5])


@generic
def widen(arena, touched):
    """Add to what is touched of an arena."""
    x0, x1, y0, y1, z0, z1 = touched
    at = arena.size - EXTENT
    if arena[at + 1] > 0:
        x0, x1 = min(x0, int(arena[at])), max(x1, int(arena[at + 1]))
        y0, y1 = min(y0, int(arena[at + 2])), max(y1, int(arena[at + 3]))
        z0, z1 = min(z0, int(arena[at + 4])), max(z1, int(arena[at + 5]))
    arena[at], arena[at + 1], arena[at + 2], arena[at + 3], arena[at + 4], arena[at + 5] = x0, x1, y0, y1, z0, z1


@generic
def clear(arena):
    """Empty what was touched of an arena; nothing is touched any more."""
    x0, x1, y0, y1, _, _ = extent(arena)
    zero = constant(0.0, load(arena, 0, HALF_ROW))
    across = PLANE if arena.size > PLANE + ROOM + EXTENT_SIZE else ROW
    for x in range(x0, x1):
        for y in range(y0, y1):
            at = x * across + y * ROW
            store(arena, at, zero)
            store(arena, at + HALF_ROW, zero)
    at = arena.size - EXTENT
    arena[at], arena[at + 1], arena[at + 2], arena[at + 3], arena[at + 4], arena[at + 5] = 0, 0, 0, 0, 0, 0
