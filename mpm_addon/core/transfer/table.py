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


def store_lines(table: Any, column: Any, first: Any, second: Any, third: Any, fourth: Any) -> None:
    """Store lanes of sixteen values, given as four tuples of four, as rows of `LANE_ROW` numbers."""
    raise TypeError("store_lines is for kernels")


def load_lines(table: Any, column: Any) -> Any:
    """Load rows of `LANE_ROW` numbers as sixteen vectors of `LANE_COUNT` lanes, in four tuples of four."""
    raise TypeError("load_lines is for kernels")


@overload(store_rows, jit_options={"forceinline": True})
def _overload_store_rows(table, column, a, b, c, d):
    return {4: _store_four_rows, 8: _store_eight_rows, 16: _store_sixteen_rows}[a.count]


@overload(load_rows, jit_options={"forceinline": True})
def _overload_load_rows(table, column):
    return {4: _load_four_rows, 16: _load_sixteen_rows}[LANE_COUNT]


@overload(store_lines, jit_options={"forceinline": True})
def _overload_store_lines(table, column, first, second, third, fourth):
    return {4: _store_four_lines, 16: _store_sixteen_lines}[LANE_COUNT]


@overload(load_lines, jit_options={"forceinline": True})
def _overload_load_lines(table, column):
    return {4: _load_four_lines, 16: _load_sixteen_lines}[LANE_COUNT]


# Sixteen lanes are transposed in two steps, which are their own inverses: numbers within quarters of a vector, then whole quarters.


@generic
def transposed_in_quarters(a, b, c, d):
    """Four vectors of sixteen, whose quarters hold the first, second, third and fourth numbers of the quarters of a, b, c and d."""
    ab_low = shuffled(a, b, (0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29))
    ab_high = shuffled(a, b, (2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31))
    cd_low = shuffled(c, d, (0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29))
    cd_high = shuffled(c, d, (2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31))
    low = (0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
    high = (2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
    return shuffled(ab_low, cd_low, low), shuffled(ab_low, cd_low, high), shuffled(ab_high, cd_high, low), shuffled(ab_high, cd_high, high)


@generic
def transposed_quarters(a, b, c, d):
    """Four vectors of sixteen: the first, second, third and fourth quarters of a, b, c and d."""
    low = (0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
    high = (8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)
    ab_low, ab_high, cd_low, cd_high = shuffled(a, b, low), shuffled(a, b, high), shuffled(c, d, low), shuffled(c, d, high)
    even = (0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
    odd = (4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)
    return shuffled(ab_low, cd_low, even), shuffled(ab_low, cd_low, odd), shuffled(ab_high, cd_high, even), shuffled(ab_high, cd_high, odd)


def _store_sixteen_lines(table, column, first, second, third, fourth):
    a0, a1, a2, a3 = transposed_in_quarters(first[0], first[1], first[2], first[3])
    b0, b1, b2, b3 = transposed_in_quarters(second[0], second[1], second[2], second[3])
    c0, c1, c2, c3 = transposed_in_quarters(third[0], third[1], third[2], third[3])
    d0, d1, d2, d3 = transposed_in_quarters(fourth[0], fourth[1], fourth[2], fourth[3])
    store_every_fourth_line(table, column, transposed_quarters(a0, b0, c0, d0))
    store_every_fourth_line(table, column + LANE_ROW, transposed_quarters(a1, b1, c1, d1))
    store_every_fourth_line(table, column + 2 * LANE_ROW, transposed_quarters(a2, b2, c2, d2))
    store_every_fourth_line(table, column + 3 * LANE_ROW, transposed_quarters(a3, b3, c3, d3))


@generic
def store_every_fourth_line(table, column, lines):
    a, b, c, d = lines
    store(table, column, a)
    store(table, column + 4 * LANE_ROW, b)
    store(table, column + 8 * LANE_ROW, c)
    store(table, column + 12 * LANE_ROW, d)


def _load_sixteen_lines(table, column):
    a0, b0, c0, d0 = quarters_of_every_fourth_line(table, column)
    a1, b1, c1, d1 = quarters_of_every_fourth_line(table, column + LANE_ROW)
    a2, b2, c2, d2 = quarters_of_every_fourth_line(table, column + 2 * LANE_ROW)
    a3, b3, c3, d3 = quarters_of_every_fourth_line(table, column + 3 * LANE_ROW)
    return (
        transposed_in_quarters(a0, a1, a2, a3), transposed_in_quarters(b0, b1, b2, b3),
        transposed_in_quarters(c0, c1, c2, c3), transposed_in_quarters(d0, d1, d2, d3),
    )  # fmt: skip


@generic
def quarters_of_every_fourth_line(table, column):
    return transposed_quarters(
        load(table, column, LANE_ROW),
        load(table, column + 4 * LANE_ROW, LANE_ROW),
        load(table, column + 8 * LANE_ROW, LANE_ROW),
        load(table, column + 12 * LANE_ROW, LANE_ROW),
    )


def _store_four_lines(table, column, first, second, third, fourth):
    store_rows(table, column, first[0], first[1], first[2], first[3])
    store_rows(table, column + 4, second[0], second[1], second[2], second[3])
    store_rows(table, column + 8, third[0], third[1], third[2], third[3])
    store_rows(table, column + 12, fourth[0], fourth[1], fourth[2], fourth[3])


def _load_four_lines(table, column):
    return load_rows(table, column), load_rows(table, column + 4), load_rows(table, column + 8), load_rows(table, column + 12)


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
    every_fourth, second, third, fourth = transposed_in_quarters(a, b, c, d)
    store_quarters(table, column, every_fourth)
    store_quarters(table, column + LANE_ROW, second)
    store_quarters(table, column + 2 * LANE_ROW, third)
    store_quarters(table, column + 3 * LANE_ROW, fourth)


@generic
def store_quarters(table, column, value):
    """Store the quarters of a vector of sixteen as rows, four times `LANE_ROW` numbers apart."""
    store(table, column, shuffled(value, value, (0, 1, 2, 3)))
    store(table, column + 4 * LANE_ROW, shuffled(value, value, (4, 5, 6, 7)))
    store(table, column + 8 * LANE_ROW, shuffled(value, value, (8, 9, 10, 11)))
    store(table, column + 12 * LANE_ROW, shuffled(value, value, (12, 13, 14, 15)))


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
