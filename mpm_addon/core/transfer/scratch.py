"""Scratch memory for values that are computed as vectors of slots and then read particle by particle, and for gathered arenas.

Particles are processed in chunks, and each stage processes a whole chunk before the next begins. Within a stage particles do not depend
on one another, so that the processor works on several at a time. A chunk fits into the first-level cache.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from ..arithmetic.operations import constant, generic
from ..arithmetic.vector import store
from .blocks import ARENA_NODES, NODE
from .scheme import is_cubic, is_plane
from .table import LANE_ROW, store_lines

# slots per chunk
CHUNK = 64
# weights of up to 4^2 rows of nodes, each for all slots
WEIGHTS = 0
# one row per slot: up to six weights along z
ALONG_Z = WEIGHTS + 16 * CHUNK
# one row per slot: four numbers, and their slopes along x, y and z; for FLIP also those before forces and contact
LANES = ALONG_Z + LANE_ROW * CHUNK
LANES_BEFORE = LANES + LANE_ROW * CHUNK
# nodes around a block, and the same before forces and contact; a row of nodes may be read and written one node past its end. The second
# node of a row, the block's own first one, begins a line of the processor's cache.
GATHERED = LANES_BEFORE + LANE_ROW * CHUNK + 3 * NODE
GATHERED_BEFORE = GATHERED + NODE * (ARENA_NODES + 4)
SCRATCH_SIZE = GATHERED_BEFORE + NODE * (ARENA_NODES + 5)


class Scratch(NamedTuple):
    """Scratch memory of all pieces of work.

    Attributes:
        values: (pieces, SCRATCH_SIZE), at the offsets above.
        lowest: (pieces, CHUNK) number in the arena of each slot's lowest node.
    """

    values: NDArray[Any]
    lowest: NDArray[np.int32]


@generic
def store_products_of_three(scratch, at, share, wy):
    w0, w1, w2, _ = wy
    store(scratch, at, share * w0)
    store(scratch, at + CHUNK, share * w1)
    store(scratch, at + 2 * CHUNK, share * w2)


@generic
def store_products_of_four(scratch, at, share, wy):
    w0, w1, w2, w3 = wy
    store(scratch, at, share * w0)
    store(scratch, at + CHUNK, share * w1)
    store(scratch, at + 2 * CHUNK, share * w2)
    store(scratch, at + 3 * CHUNK, share * w3)


@generic
def store_momenta(scratch, row, offsets, mass, velocity, affine):
    """Store each lane's momentum and mass at the node where counting starts, and the momentum's slopes along x, y and z."""
    dx, dy, dz = offsets
    u, v, w = velocity
    a, b, c, d, e, f, g, h, i = affine
    zero = constant(0.0, mass)
    x = mass * u - (a * dx + b * dy + c * dz)
    y = mass * v - (d * dx + e * dy + f * dz)
    z = mass * w - (g * dx + h * dy + i * dz)
    store_lines(scratch, row, (x, y, z, mass), (a, d, g, zero), (b, e, h, zero), (c, f, i, zero))


def store_row_weights(scheme: Any, scratch: Any, at: Any, wx: Any, wy: Any) -> None:
    """Store the weights of `LANE_COUNT` slots, from number `at` of the chunk on, on their rows of nodes."""
    raise TypeError("store_row_weights is for kernels")


@overload(store_row_weights, jit_options={"forceinline": True})
def _overload_store_row_weights(scheme, scratch, at, wx, wy):
    def quadratic_in_space(scheme, scratch, at, wx, wy):
        store_products_of_three(scratch, WEIGHTS + at, wx[0], wy)
        store_products_of_three(scratch, WEIGHTS + at + 3 * CHUNK, wx[1], wy)
        store_products_of_three(scratch, WEIGHTS + at + 6 * CHUNK, wx[2], wy)

    def cubic_in_space(scheme, scratch, at, wx, wy):
        store_products_of_four(scratch, WEIGHTS + at, wx[0], wy)
        store_products_of_four(scratch, WEIGHTS + at + 4 * CHUNK, wx[1], wy)
        store_products_of_four(scratch, WEIGHTS + at + 8 * CHUNK, wx[2], wy)
        store_products_of_four(scratch, WEIGHTS + at + 12 * CHUNK, wx[3], wy)

    def quadratic_in_plane(scheme, scratch, at, wx, wy):
        store_products_of_three(scratch, WEIGHTS + at, wy[0], wx)

    def cubic_in_plane(scheme, scratch, at, wx, wy):
        store_products_of_four(scratch, WEIGHTS + at, wy[0], wx)

    if is_plane(scheme):
        return cubic_in_plane if is_cubic(scheme) else quadratic_in_plane
    return cubic_in_space if is_cubic(scheme) else quadratic_in_space
