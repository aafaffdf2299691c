"""Reading and writing the particles' table eight slots at a time. See `rows` for what lies where."""

from .arithmetic import generic
from .vector import load, shuffled, store


@generic
def load_vector(particles, row, slot):
    """Three rows of eight slots."""
    return load(particles[row], slot, 8), load(particles[row + 1], slot, 8), load(particles[row + 2], slot, 8)


@generic
def store_vector(particles, row, slot, value):
    a, b, c = value
    store(particles[row], slot, a)
    store(particles[row + 1], slot, b)
    store(particles[row + 2], slot, c)


@generic
def load_symmetric(particles, row, slot):
    """Six rows of eight slots: xx xy xz yy yz zz."""
    a, b, c = load_vector(particles, row, slot)
    d, e, f = load_vector(particles, row + 3, slot)
    return a, b, c, d, e, f


@generic
def load_matrix(particles, row, slot):
    """Nine rows of eight slots."""
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
def store_rows(table, column, a, b, c, d):
    """Write eight lanes of four values as eight rows of four, 16 numbers apart."""
    ab_low = shuffled(a, b, (0, 8, 1, 9, 4, 12, 5, 13))
    ab_high = shuffled(a, b, (2, 10, 3, 11, 6, 14, 7, 15))
    cd_low = shuffled(c, d, (0, 8, 1, 9, 4, 12, 5, 13))
    cd_high = shuffled(c, d, (2, 10, 3, 11, 6, 14, 7, 15))
    r04 = shuffled(ab_low, cd_low, (0, 1, 8, 9, 4, 5, 12, 13))
    r15 = shuffled(ab_low, cd_low, (2, 3, 10, 11, 6, 7, 14, 15))
    r26 = shuffled(ab_high, cd_high, (0, 1, 8, 9, 4, 5, 12, 13))
    r37 = shuffled(ab_high, cd_high, (2, 3, 10, 11, 6, 7, 14, 15))
    store(table, column, shuffled(r04, r04, (0, 1, 2, 3)))
    store(table, column + 16, shuffled(r15, r15, (0, 1, 2, 3)))
    store(table, column + 32, shuffled(r26, r26, (0, 1, 2, 3)))
    store(table, column + 48, shuffled(r37, r37, (0, 1, 2, 3)))
    store(table, column + 64, shuffled(r04, r04, (4, 5, 6, 7)))
    store(table, column + 80, shuffled(r15, r15, (4, 5, 6, 7)))
    store(table, column + 96, shuffled(r26, r26, (4, 5, 6, 7)))
    store(table, column + 112, shuffled(r37, r37, (4, 5, 6, 7)))


@generic
def load_rows(table, column):
    """Read eight rows of four, 16 numbers apart, as four vectors of eight lanes."""
    together = (0, 1, 2, 3, 4, 5, 6, 7)
    r04 = shuffled(load(table, column, 4), load(table, column + 64, 4), together)
    r15 = shuffled(load(table, column + 16, 4), load(table, column + 80, 4), together)
    r26 = shuffled(load(table, column + 32, 4), load(table, column + 96, 4), together)
    r37 = shuffled(load(table, column + 48, 4), load(table, column + 112, 4), together)
    ab_low = shuffled(r04, r15, (0, 8, 1, 9, 4, 12, 5, 13))
    ab_high = shuffled(r26, r37, (0, 8, 1, 9, 4, 12, 5, 13))
    cd_low = shuffled(r04, r15, (2, 10, 3, 11, 6, 14, 7, 15))
    cd_high = shuffled(r26, r37, (2, 10, 3, 11, 6, 14, 7, 15))
    a = shuffled(ab_low, ab_high, (0, 1, 8, 9, 4, 5, 12, 13))
    b = shuffled(ab_low, ab_high, (2, 3, 10, 11, 6, 7, 14, 15))
    c = shuffled(cd_low, cd_high, (0, 1, 8, 9, 4, 5, 12, 13))
    d = shuffled(cd_low, cd_high, (2, 3, 10, 11, 6, 7, 14, 15))
    return a, b, c, d
