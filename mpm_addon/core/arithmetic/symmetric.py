"""Functions of symmetric 3x3 matrices (6 values: xx xy xz yy yz zz) by power series, without eigenvectors; and their eigenvectors.

A symmetric, traceless x satisfies x^3 = m x + n I with m = |x|^2 / 2 and n = det x (Cayley-Hamilton). Any power series in x is
therefore p I + q x + r x^2, and Horner's scheme sums it with three numbers in place of a matrix. Near the identity this costs
far less than an eigendecomposition and is robust for equal eigenvalues.
"""

import math
from typing import Any

from .operations import absolute, constant, generic, maximum, select, series_radius, sqrt, sweep_count

# truncation errors are below rounding within `series_radius`; for the exponential within half of it, since its argument is a logarithm / 2
LOGARITHM = (0.0, *((-1.0) ** (k + 1) / k for k in range(1, 17)))
SQUARE_ROOT = (1.0, *(math.prod((1.5 - j) / j for j in range(1, k + 1)) for k in range(1, 17)))
EXPONENTIAL_LESS_ONE = (0.0, *(1.0 / math.factorial(k) for k in range(1, 9)))


@generic
def distortion(b: Any) -> Any:
    """The traceless x = b / mean - I, where mean is that of b's eigenvalues.

    Returns:
        mean, x (6 values), m = |x|^2 / 2, n = det x.
    """
    xx, xy, xz, yy, yz, zz = b
    trace = xx + yy + zz
    # a division, because 1/3 is too large in float32 and would make the volume grow during plastic flow
    mean, inverse = trace / 3.0, 3.0 / trace
    x = (xx * inverse - 1.0, xy * inverse, xz * inverse, yy * inverse - 1.0, yz * inverse, zz * inverse - 1.0)
    m, n = invariants(x)
    return mean, x, m, n


@generic
def invariants(x: Any) -> Any:
    """m = |x|^2 / 2 and n = det x of a symmetric, traceless matrix."""
    xx, xy, xz, yy, yz, zz = x
    m = 0.5 * (xx * xx + yy * yy + zz * zz) + (xy * xy + xz * xz + yz * yz)
    n = xx * (yy * zz - yz * yz) + xy * (yz * xz - xy * zz) + xz * (xy * yz - yy * xz)
    return m, n


@generic
def is_beyond_series(m: Any) -> Any:
    """Whether an eigenvalue of x may be too large for the series; the largest is at most sqrt(4 m / 3)."""
    radius = series_radius(m)
    return m > 0.75 * radius * radius


@generic
def series(coefficients: Any, m: Any, n: Any) -> Any:
    """The sum of coefficients[k] x^k as (p, q, r) of p I + q x + r x^2."""
    p, q, r = constant(0.0, m), constant(0.0, m), constant(0.0, m)
    for k in range(len(coefficients)):
        p, q, r = n * r + coefficients[len(coefficients) - 1 - k], p + m * r, q
    return p, q, r


@generic
def least_eigenvalue(b: Any) -> Any:
    """The least eigenvalue of a symmetric matrix, 6 values.

    The eigenvalues of the traceless part are the roots of x^3 - m x - n (see above). Newton's method finds the greatest from the right,
    and the other two follow from it. Where the greatest two are equal it converges slowly, but the least is insensitive to its error.
    """
    xx, xy, xz, yy, yz, zz = b
    mean = (xx + yy + zz) / 3.0
    m, n = invariants((xx - mean, xy, xz, yy - mean, yz, zz - mean))
    greatest = sqrt(m * (4.0 / 3.0))
    for _ in range(4):
        slope = maximum(3.0 * greatest * greatest - m, constant(1e-30, m))
        greatest = greatest - (greatest * greatest * greatest - m * greatest - n) / slope
    return mean - 0.5 * (greatest + sqrt(maximum(4.0 * m - 3.0 * greatest * greatest, constant(0.0, m))))


@generic
def lower_bound(b: Any) -> Any:
    """A bound below the eigenvalues of a symmetric matrix, 6 values; the least itself if the other two are equal."""
    xx, xy, xz, yy, yz, zz = b
    mean = (xx + yy + zz) / 3.0
    m, _ = invariants((xx - mean, xy, xz, yy - mean, yz, zz - mean))
    return mean - sqrt(m * (4.0 / 3.0))


@generic
def summed(p: Any, q: Any, r: Any, x: Any) -> Any:
    """p I + q x + r x^2, 6 values."""
    xx, xy, xz, yy, yz, zz = x
    return (
        p + q * xx + r * (xx * xx + xy * xy + xz * xz),
        q * xy + r * (xx * xy + xy * yy + xz * yz),
        q * xz + r * (xx * xz + xy * yz + xz * zz),
        p + q * yy + r * (xy * xy + yy * yy + yz * yz),
        q * yz + r * (xy * xz + yy * yz + yz * zz),
        p + q * zz + r * (xz * xz + yz * yz + zz * zz),
    )


@generic
def increased(m: Any, a: Any) -> Any:
    """m + a m for a matrix m and a small symmetric a: small changes in many substeps are rounded once each, without bias."""
    r, s, t, u, v, w, x, y, z = m
    xx, xy, xz, yy, yz, zz = a
    return (
        r + (xx * r + xy * u + xz * x), s + (xx * s + xy * v + xz * y), t + (xx * t + xy * w + xz * z),
        u + (xy * r + yy * u + yz * x), v + (xy * s + yy * v + yz * y), w + (xy * t + yy * w + yz * z),
        x + (xz * r + yz * u + zz * x), y + (xz * s + yz * v + zz * y), z + (xz * t + yz * w + zz * z),
    )  # fmt: skip


@generic
def _rotated(p: Any, q: Any, off: Any, off_squared: Any, rp: Any, rq: Any, u: Any, w: Any) -> Any:
    """One Jacobi rotation that zeroes the entry `off` between the diagonal entries p and q and rotates the axes u and w.

    Off-diagonal entries are returned with their squares, so that the next rotation need not wait for the root in this one's cosine.
    """
    # the small number prevents 0/0 if the matrix is already diagonal
    size = absolute(q - p) + 1e-15
    hypotenuse = sqrt(size * size + 4.0 * off_squared)
    tangent = select(q < p, -2.0 * off, 2.0 * off) / (size + hypotenuse)
    cosine_squared = 0.5 + 0.5 * size / hypotenuse
    cosine = sqrt(cosine_squared)
    sine = tangent * cosine
    p, q = p - tangent * off, q + tangent * off
    rp, rq = rp - tangent * rq, rq + tangent * rp
    u0, u1, u2 = u
    w0, w1, w2 = w
    return (
        p,
        q,
        cosine * rp,
        cosine_squared * (rp * rp),
        cosine * rq,
        cosine_squared * (rq * rq),
        (cosine * u0 - sine * w0, cosine * u1 - sine * w1, cosine * u2 - sine * w2),
        (sine * u0 + cosine * w0, sine * u1 + cosine * w1, sine * u2 + cosine * w2),
    )


@generic
def _ordered(p: Any, q: Any, u: Any, w: Any) -> Any:
    """The eigenvalues p and q with their axes u and w, swapped where q is larger; one sign is flipped to keep the handedness."""
    is_ordered = p >= q
    u0, u1, u2 = u
    w0, w1, w2 = w
    return (
        select(is_ordered, p, q),
        select(is_ordered, q, p),
        (select(is_ordered, u0, w0), select(is_ordered, u1, w1), select(is_ordered, u2, w2)),
        (select(is_ordered, w0, -u0), select(is_ordered, w1, -u1), select(is_ordered, w2, -u2)),
    )


@generic
def eigenvalues(x: Any) -> Any:
    """The decomposition x = U diag(e) U^T of a symmetric matrix of norm 1 or less, by Jacobi rotations (1846); det U = +1.

    Returns:
        U (9 values), e (3 values, the largest first).
    """
    xx, xy, xz, yy, yz, zz = x
    zero, one = constant(0.0, xx), constant(1.0, xx)
    u, v, w = (one, zero, zero), (zero, one, zero), (zero, zero, one)
    xy_squared = xy * xy
    # one sweep less than for a nonsymmetric matrix: float32 needs three
    for _ in range(sweep_count(xx) - 1):
        xx, yy, xz, xz_squared, yz, _, u, v = _rotated(xx, yy, xy, xy_squared, xz, yz, u, v)
        xx, zz, xy, _, yz, yz_squared, u, w = _rotated(xx, zz, xz, xz_squared, zero, yz, u, w)
        yy, zz, xy, xy_squared, xz, _, v, w = _rotated(yy, zz, yz, yz_squared, xy, zero, v, w)
        yz = zero
    xx, yy, u, v = _ordered(xx, yy, u, v)
    yy, zz, v, w = _ordered(yy, zz, v, w)
    xx, yy, u, v = _ordered(xx, yy, u, v)
    u0, u1, u2 = u
    v0, v1, v2 = v
    w0, w1, w2 = w
    return (u0, v0, w0, u1, v1, w1, u2, v2, w2), (xx, yy, zz)
