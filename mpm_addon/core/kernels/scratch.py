"""The scratch of a piece of work: what is made for all lanes at once and then read particle by particle, and the arenas of velocities."""

from typing import Any

from numba.extending import overload

from .arithmetic import generic
from .blocks import ARENA_NODES, NODE
from .scheme import is_cubic, is_plane
from .table import LANE_ROW
from .vector import LANE_COUNT, store

# the weights of up to 4^2 rows of nodes, each for all lanes
WEIGHTS = 0
# one row for each lane: eight weights along z, and behind them count * weight
ALONG_Z = WEIGHTS + 16 * LANE_COUNT
COUNTED = 8
# one row for each lane: four numbers, and their slopes along x, y and z
LANES = ALONG_Z + LANE_ROW * LANE_COUNT
# nodes around a block, and what they were before the step; a row of nodes may be read one node past the end
GATHERED = LANES + LANE_ROW * LANE_COUNT
GATHERED_BEFORE = GATHERED + NODE * (ARENA_NODES + 4)
SCRATCH_SIZE = GATHERED_BEFORE + NODE * (ARENA_NODES + 4)


@generic
def store_products_of_three(scratch, at, share, wy):
    w0, w1, w2, _ = wy
    store(scratch, at, share * w0)
    store(scratch, at + LANE_COUNT, share * w1)
    store(scratch, at + 2 * LANE_COUNT, share * w2)


@generic
def store_products_of_four(scratch, at, share, wy):
    w0, w1, w2, w3 = wy
    store(scratch, at, share * w0)
    store(scratch, at + LANE_COUNT, share * w1)
    store(scratch, at + 2 * LANE_COUNT, share * w2)
    store(scratch, at + 3 * LANE_COUNT, share * w3)


def store_row_weights(scheme: Any, scratch: Any, wx: Any, wy: Any) -> None:
    """Write the weights of `LANE_COUNT` particles on their rows of nodes."""
    raise TypeError("store_row_weights is for kernels")


@overload(store_row_weights, jit_options={"forceinline": True})
def _overload_store_row_weights(scheme, scratch, wx, wy):
    def quadratic_in_space(scheme, scratch, wx, wy):
        store_products_of_three(scratch, WEIGHTS, wx[0], wy)
        store_products_of_three(scratch, WEIGHTS + 3 * LANE_COUNT, wx[1], wy)
        store_products_of_three(scratch, WEIGHTS + 6 * LANE_COUNT, wx[2], wy)

    def cubic_in_space(scheme, scratch, wx, wy):
        store_products_of_four(scratch, WEIGHTS, wx[0], wy)
        store_products_of_four(scratch, WEIGHTS + 4 * LANE_COUNT, wx[1], wy)
        store_products_of_four(scratch, WEIGHTS + 8 * LANE_COUNT, wx[2], wy)
        store_products_of_four(scratch, WEIGHTS + 12 * LANE_COUNT, wx[3], wy)

    def quadratic_in_plane(scheme, scratch, wx, wy):
        store_products_of_three(scratch, WEIGHTS, wy[0], wx)

    def cubic_in_plane(scheme, scratch, wx, wy):
        store_products_of_four(scratch, WEIGHTS, wy[0], wx)

    if is_plane(scheme):
        return cubic_in_plane if is_cubic(scheme) else quadratic_in_plane
    return cubic_in_space if is_cubic(scheme) else quadratic_in_space
