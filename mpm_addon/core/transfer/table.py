"""Loading and storing the particle table, `LANE_COUNT` slots at a time. See `rows` for its contents."""

from typing import Any

from numba.extending import overload

from ..arithmetic.operations import generic
from ..arithmetic.vector import LANE_COUNT, load, shuffled, store
from .rows import MASS

# distance between the rows of neighboring lanes in `store_rows` and `load_rows`
LANE_ROW = 16


@generic
def load_vector(particles, row, slot):
    """Three rows of `LANE_COUNT` slots."""
    return load(particles[row], slot, LANE_COUNT), load(particles[row + 1], slot, LANE_COUNT), load(particles[row + 2], slot, LANE_COUNT)


@generic
def store_vector(particles, row, slot, value):
    a, b, c = value
    store(particles[row], slot, a)
    store(particles[row + 1], slot, b)
    store(particles[row + 2], slot, c)


@generic
def load_symmetric(particles, row, slot):
    """Six rows of slots: xx xy xz yy yz zz."""
    a, b, c = load_vector(particles, row, slot)
    d, e, f = load_vector(particles, row + 3, slot)
    return a, b, c, d, e, f


@generic
def load_matrix(particles, row, slot):
    """Nine rows of slots."""
    a, b, c = load_vector(particles, row, slot)
    d, e, f = load_vector(particles, row + 3, slot)
    g, h, i = load_vector(particles, row + 6, slot)
    return a, b, c, d, e, f, g, h, i


@generic
def store_matrix(particles, row, slot, value):
    a, b, c, d, e, f, g, h, i = value
    store_vector(particles, row, slot, (a, b, c))
    store_vector(particles, row + 3, slot, (d, e, f))
    store_vector(particles, row + 6, slot, (g, h, i))


@generic
def live_count(particles, slot, count):
    """The number of particles in the `count` slots from `slot` on, without the massless copies of the last one; at least one."""
    while count > 1 and particles[MASS, slot + count - 1] == 0.0:
        count -= 1
    return count


def store_rows(table: Any, column: Any, a: Any, b: Any, c: Any, d: Any) -> None:
    """Store lanes of four values as rows of four, `LANE_ROW` numbers apart."""
    raise TypeError("store_rows is for kernels")


def load_rows(table: Any, column: Any) -> Any:
    """Load rows of four, `LANE_ROW` numbers apart, as four vectors of `LANE_COUNT` lanes."""
    raise TypeError("load_rows is for kernels")


@overload(store_rows, jit_options={"forceinline": True})
def _overload_store_rows(table, column, a, b, c, d):
    return {4: _store_four_rows, 8: _store_eight_rows, 16: _store_sixteen_rows}[a.count]


@overload(load_rows, jit_options={"forceinline": True})
def _overload_load_rows(table, column):
    return {4: _load_four_rows, 8: _load_eight_rows, 16: _load_sixteen_rows}[LANE_COUNT]


def _store_four_rows(table, column, a, b, c, d):
    ab_low, ab_high = shuffled(a, b, (0, 4, 1, 5)), shuffled(a, b, (2, 6, 3, 7))
    cd_low, cd_high = shuffled(c, d, (0, 4, 1, 5)), shuffled(c, d, (2, 6, 3, 7))
    store(table, column, shuffled(ab_low, cd_low, (0, 1, 4, 5)))
    store(table, column + LANE_ROW, shuffled(ab_low, cd_low, (2, 3, 6, 7)))
    store(table, column + 2 * LANE_ROW, shuffled(ab_high, cd_high, (0, 1, 4, 5)))
    store(table, column + 3 * LANE_ROW, shuffled(ab_high, cd_high, (2, 3, 6, 7)))


def _store_eight_rows(table, column, a, b, c, d):
    ab_low, ab_high = shuffled(a, b, (0, 8, 1, 9, 4, 12, 5, 13)), shuffled(a, b, (2, 10, 3, 11, 6, 14, 7, 15))
    cd_low, cd_high = shuffled(c, d, (0, 8, 1, 9, 4, 12, 5, 13)), shuffled(c, d, (2, 10, 3, 11, 6, 14, 7, 15))
    r04, r15 = shuffled(ab_low, cd_low, (0, 1, 8, 9, 4, 5, 12, 13)), shuffled(ab_low, cd_low, (2, 3, 10, 11, 6, 7, 14, 15))
    r26, r37 = shuffled(ab_high, cd_high, (0, 1, 8, 9, 4, 5, 12, 13)), shuffled(ab_high, cd_high, (2, 3, 10, 11, 6, 7, 14, 15))
    store(table, column, shuffled(r04, r04, (0, 1, 2, 3)))
    store(table, column + LANE_ROW, shuffled(r15, r15, (0, 1, 2, 3)))
    store(table, column + 2 * LANE_ROW, shuffled(r26, r26, (0, 1, 2, 3)))
    store(table, column + 3 * LANE_ROW, shuffled(r37, r37, (0, 1, 2, 3)))
    store(table, column + 4 * LANE_ROW, shuffled(r04, r04, (4, 5, 6, 7)))
    store(table, column + 5 * LANE_ROW, shuffled(r15, r15, (4, 5, 6, 7)))
    store(table, column + 6 * LANE_ROW, shuffled(r26, r26, (4, 5, 6, 7)))
    store(table, column + 7 * LANE_ROW, shuffled(r37, r37, (4, 5, 6, 7)))


def _store_sixteen_rows(table, column, a, b, c, d):
    low = (0, 1, 2, 3, 4, 5, 6, 7)
    high = (8, 9, 10, 11, 12, 13, 14, 15)
    store_rows(table, column, shuffled(a, a, low), shuffled(b, b, low), shuffled(c, c, low), shuffled(d, d, low))
    store_rows(table, column + 8 * LANE_ROW, shuffled(a, a, high), shuffled(b, b, high), shuffled(c, c, high), shuffled(d, d, high))


def _load_four_rows(table, column):
    r0, r1 = load(table, column, 4), load(table, column + LANE_ROW, 4)
    r2, r3 = load(table, column + 2 * LANE_ROW, 4), load(table, column + 3 * LANE_ROW, 4)
    ab_low, ab_high = shuffled(r0, r1, (0, 4, 1, 5)), shuffled(r2, r3, (0, 4, 1, 5))
    cd_low, cd_high = shuffled(r0, r1, (2, 6, 3, 7)), shuffled(r2, r3, (2, 6, 3, 7))
    return (
        shuffled(ab_low, ab_high, (0, 1, 4, 5)),
        shuffled(ab_low, ab_high, (2, 3, 6, 7)),
        shuffled(cd_low, cd_high, (0, 1, 4, 5)),
        shuffled(cd_low, cd_high, (2, 3, 6, 7)),
    )


@generic
def load_eight_rows(table, column):
    together = (0, 1, 2, 3, 4, 5, 6, 7)
    r04 = shuffled(load(table, column, 4), load(table, column + 4 * LANE_ROW, 4), together)
    r15 = shuffled(load(table, column + LANE_ROW, 4), load(table, column + 5 * LANE_ROW, 4), together)
    r26 = shuffled(load(table, column + 2 * LANE_ROW, 4), load(table, column + 6 * LANE_ROW, 4), together)
    r37 = shuffled(load(table, column + 3 * LANE_ROW, 4), load(table, column + 7 * LANE_ROW, 4), together)
    ab_low, ab_high = shuffled(r04, r15, (0, 8, 1, 9, 4, 12, 5, 13)), shuffled(r26, r37, (0, 8, 1, 9, 4, 12, 5, 13))
    cd_low, cd_high = shuffled(r04, r15, (2, 10, 3, 11, 6, 14, 7, 15)), shuffled(r26, r37, (2, 10, 3, 11, 6, 14, 7, 15))
    return (
        shuffled(ab_low, ab_high, (0, 1, 8, 9, 4, 5, 12, 13)),
        shuffled(ab_low, ab_high, (2, 3, 10, 11, 6, 7, 14, 15)),
        shuffled(cd_low, cd_high, (0, 1, 8, 9, 4, 5, 12, 13)),
        shuffled(cd_low, cd_high, (2, 3, 10, 11, 6, 7, 14, 15)),
    )


def _load_eight_rows(table, column):
    return load_eight_rows(table, column)


def _load_sixteen_rows(table, column):
    a, b, c, d = load_eight_rows(table, column)
    e, f, g, h = load_eight_rows(table, column + 8 * LANE_ROW)
    both = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    return shuffled(a, e, both), shuffled(b, f, both), shuffled(c, g, both), shuffled(d, h, both)
