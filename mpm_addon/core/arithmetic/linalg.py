"""3x3 linear algebra on generic values. Matrices are tuples of 9, row by row; symmetric ones of 6: xx xy xz yy yz zz.

In 2D, deformation is in the x-z plane: only xx, xz, zx and zz of F differ from the identity. The `plane_` functions read those four
and leave y exactly unchanged.
"""

from typing import Any

from .operations import absolute, any_of, constant, generic, newton_count, rounding, select, sqrt, sweep_count


@generic
def determinant(m: Any) -> Any:
    """det m."""
    a, b, c, d, e, f, g, h, i = m
    return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)


@generic
def multiply(m: Any, n: Any) -> Any:
    """The product m n."""
    a, b, c, d, e, f, g, h, i = m
    r, s, t, u, v, w, x, y, z = n
    return (
        a * r + b * u + c * x, a * s + b * v + c * y, a * t + b * w + c * z,
        d * r + e * u + f * x, d * s + e * v + f * y, d * t + e * w + f * z,
        g * r + h * u + i * x, g * s + h * v + i * y, g * t + h * w + i * z,
    )  # fmt: skip


@generic
def advanced(deformation: Any, velocity_gradient: Any, dt: Any) -> Any:
    """(I + dt L) F: the deformation gradient after a substep."""
    p, q, r, s, t, u, v, w, x = multiply(velocity_gradient, deformation)
    a, b, c, d, e, f, g, h, i = deformation
    return (
        a + dt * p, b + dt * q, c + dt * r,
        d + dt * s, e + dt * t, f + dt * u,
        g + dt * v, h + dt * w, i + dt * x,
    )  # fmt: skip


@generic
def cofactor(m: Any) -> Any:
    """The cofactor matrix det(m) m^-T."""
    a, b, c, d, e, f, g, h, i = m
    return (
        e * i - f * h, f * g - d * i, d * h - e * g,
        c * h - b * i, a * i - c * g, b * g - a * h,
        b * f - c * e, c * d - a * f, a * e - b * d,
    )  # fmt: skip


@generic
def times_transpose(m: Any, n: Any) -> Any:
    """The product m n^T where it is symmetric, as 6 values."""
    a, b, c, d, e, f, g, h, i = m
    r, s, t, u, v, w, x, y, z = n
    return (
        a * r + b * s + c * t, a * u + b * v + c * w, a * x + b * y + c * z,
        d * u + e * v + f * w, d * x + e * y + f * z, g * x + h * y + i * z,
    )  # fmt: skip


@generic
def squared_norm(m: Any) -> Any:
    """The sum of the squares of the entries."""
    a, b, c, d, e, f, g, h, i = m
    return a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i


@generic
def _rotated_columns(p: Any, q: Any, u: Any, w: Any) -> Any:
    """One Jacobi rotation that makes the columns p and q orthogonal, also applied to the columns u and w."""
    p0, p1, p2 = p
    q0, q1, q2 = q
    u0, u1, u2 = u
    w0, w1, w2 = w
    difference = (q0 * q0 + q1 * q1 + q2 * q2) - (p0 * p0 + p1 * p1 + p2 * p2)
    twice_product = 2.0 * (p0 * q0 + p1 * q1 + p2 * q2)
    hypotenuse = sqrt(difference * difference + twice_product * twice_product)
    # Rutishauser's small angle: tangent = 2 g / (d + sign(d) sqrt(d^2 + 4 g^2)), zero for orthogonal columns
    denominator = select(difference < 0.0, difference - hypotenuse, difference + hypotenuse)
    # also true where the squares of a tiny product underflow
    is_orthogonal = absolute(denominator) <= 0.0
    zero = constant(0.0, p0)
    tangent = select(is_orthogonal, zero, twice_product / select(is_orthogonal, zero + 1.0, denominator))
    cosine = 1.0 / sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    return (
        (cosine * p0 - sine * q0, cosine * p1 - sine * q1, cosine * p2 - sine * q2),
        (sine * p0 + cosine * q0, sine * p1 + cosine * q1, sine * p2 + cosine * q2),
        (cosine * u0 - sine * w0, cosine * u1 - sine * w1, cosine * u2 - sine * w2),
        (sine * u0 + cosine * w0, sine * u1 + cosine * w1, sine * u2 + cosine * w2),
    )


@generic
def _length_squared(p: Any) -> Any:
    p0, p1, p2 = p
    return p0 * p0 + p1 * p1 + p2 * p2


@generic
def _cross(p: Any, q: Any) -> Any:
    p0, p1, p2 = p
    q0, q1, q2 = q
    return (p1 * q2 - p2 * q1, p2 * q0 - p0 * q2, p0 * q1 - p1 * q0)


@generic
def _dot(p: Any, q: Any) -> Any:
    p0, p1, p2 = p
    q0, q1, q2 = q
    return p0 * q0 + p1 * q1 + p2 * q2


@generic
def _select_column(mask: Any, p: Any, q: Any) -> Any:
    p0, p1, p2 = p
    q0, q1, q2 = q
    return (select(mask, p0, q0), select(mask, p1, q1), select(mask, p2, q2))


@generic
def _negative(p: Any) -> Any:
    p0, p1, p2 = p
    return (-p0, -p1, -p2)


@generic
def _ordered(p: Any, q: Any, u: Any, w: Any) -> Any:
    """The pair p, q (and u, w), swapped where q is longer; one sign is flipped so that rotations stay rotations."""
    is_ordered = _length_squared(p) >= _length_squared(q)
    return (
        _select_column(is_ordered, p, q),
        _select_column(is_ordered, q, _negative(p)),
        _select_column(is_ordered, u, w),
        _select_column(is_ordered, w, _negative(u)),
    )


@generic
def _unit(p: Any, least: Any, fallback: Any) -> Any:
    """p scaled to length 1, or the fallback where p is not longer than `least`; also the length."""
    p0, p1, p2 = p
    length = sqrt(_length_squared(p))
    is_zero = length <= least
    inverse = 1.0 / select(is_zero, length + 1.0, length)
    return _select_column(is_zero, fallback, (p0 * inverse, p1 * inverse, p2 * inverse)), length


@generic
def _perpendicular(p: Any) -> Any:
    """A unit vector perpendicular to the unit vector p."""
    p0, p1, p2 = p
    zero = 0.0 * p0
    is_steep = absolute(p2) > 0.7
    along = _select_column(is_steep, (-p2, zero, p0), (-p1, p0, zero))
    unit, _ = _unit(along, zero, (zero + 1.0, zero, zero))
    return unit


@generic
def singular_values(m: Any) -> Any:
    """The decomposition m = U diag(s) V^T by one-sided Jacobi rotations (Hestenes 1958).

    det U = det V = +1; s0 >= s1 >= |s2|, and s2 has the sign of det m.

    Returns:
        U (9 values), s (3 values), V (9 values).
    """
    a, b, c, d, e, f, g, h, i = m
    zero = constant(0.0, a)
    one = constant(1.0, a)
    p, q, r = (a, d, g), (b, e, h), (c, f, i)
    u, v, w = (one, zero, zero), (zero, one, zero), (zero, zero, one)
    for _ in range(sweep_count(a)):
        p, q, u, v = _rotated_columns(p, q, u, v)
        p, r, u, w = _rotated_columns(p, r, u, w)
        q, r, v, w = _rotated_columns(q, r, v, w)
    p, q, u, v = _ordered(p, q, u, v)
    q, r, v, w = _ordered(q, r, v, w)
    p, q, u, v = _ordered(p, q, u, v)
    first, s0 = _unit(p, zero, (one, zero, zero))
    # q is perpendicular to p up to rounding; if q is tiny, the rounding must be removed before it is scaled
    along = _dot(first, q)
    q0, q1, q2 = q
    f0, f1, f2 = first
    q = (q0 - along * f0, q1 - along * f1, q2 - along * f2)
    second, s1 = _unit(q, rounding(one) * s0, _perpendicular(first))
    third = _cross(first, second)
    s2 = _dot(third, r)
    g0, g1, g2 = second
    h0, h1, h2 = third
    u0, u1, u2 = u
    v0, v1, v2 = v
    w0, w1, w2 = w
    return (f0, g0, h0, f1, g1, h1, f2, g2, h2), (s0, s1, s2), (u0, v0, w0, u1, v1, w1, u2, v2, w2)


@generic
def plane_singular_values(m: Any) -> Any:
    """The decomposition m = U diag(s) V^T of a matrix that deforms only the x-z plane.

    det U = det V = +1; s0 >= |s1|, s1 has the sign of det m, and s2 = 1 is the stretch of y.

    Returns:
        U (9 values), s (3 values), V (9 values).
    """
    a, _, c, _, _, _, g, _, i = m
    zero = constant(0.0, a)
    one = constant(1.0, a)
    p, q = (a, zero, g), (c, zero, i)
    u, v = (one, zero, zero), (zero, zero, one)
    # one rotation suffices; a second one removes the rounding error of the first
    for _ in range(2):
        p, q, u, v = _rotated_columns(p, q, u, v)
    p, q, u, v = _ordered(p, q, u, v)
    first, s0 = _unit(p, zero, (one, zero, zero))
    f0, _, f2 = first
    q0, _, q2 = q
    u0, _, u2 = u
    v0, _, v2 = v
    # the third axis is -y, which makes both factors proper rotations
    return (
        (f0, -f2, zero, zero, zero, -one, f2, f0, zero),
        (s0, f0 * q2 - f2 * q0, one),
        (u0, v0, zero, zero, zero, -one, u2, v2, zero),
    )


@generic
def plane_polar_rotation(m: Any) -> Any:
    """The rotation about y that is nearest to m, 9 values."""
    a, _, c, _, _, _, g, _, i = m
    zero = constant(0.0, a)
    one = constant(1.0, a)
    cosine, sine = a + i, g - c
    length = sqrt(cosine * cosine + sine * sine)
    is_any = length <= 0.0
    inverse = 1.0 / select(is_any, one, length)
    cosine, sine = select(is_any, one, cosine * inverse), sine * inverse
    return cosine, zero, -sine, zero, one, zero, sine, zero, cosine


@generic
def principal_values(m: Any, dimension: int) -> Any:
    """The decomposition of `singular_values` in 3D, or of `plane_singular_values` in 2D."""
    if dimension == 2:
        left, s, right = plane_singular_values(m)
    else:
        left, s, right = singular_values(m)
    return left, s, right


@generic
def recomposed(left: Any, s: Any, right: Any) -> Any:
    """U diag(s) V^T."""
    a, b, c, d, e, f, g, h, i = left
    s0, s1, s2 = s
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = right
    a, b, c, d, e, f, g, h, i = a * s0, b * s1, c * s2, d * s0, e * s1, f * s2, g * s0, h * s1, i * s2
    return (
        a * r0 + b * r1 + c * r2, a * r3 + b * r4 + c * r5, a * r6 + b * r7 + c * r8,
        d * r0 + e * r1 + f * r2, d * r3 + e * r4 + f * r5, d * r6 + e * r7 + f * r8,
        g * r0 + h * r1 + i * r2, g * r3 + h * r4 + i * r5, g * r6 + h * r7 + i * r8,
    )  # fmt: skip


@generic
def symmetric_recomposed(left: Any, s: Any) -> Any:
    """U diag(s) U^T, 6 values."""
    a, b, c, d, e, f, g, h, i = left
    s0, s1, s2 = s
    return times_transpose((a * s0, b * s1, c * s2, d * s0, e * s1, f * s2, g * s0, h * s1, i * s2), left)


@generic
def _newton_step(m: Any) -> Any:
    """(z m + m^-T / z) / 2 with Higham's scale z^2 = |m^-1| / |m|; m stays a rotation once it is one."""
    a, b, c, d, e, f, g, h, i = m
    p, q, r, s, t, u, v, w, x = cofactor(m)
    inverse = 1.0 / (a * p + b * q + c * r)
    scale_squared = sqrt(squared_norm((p, q, r, s, t, u, v, w, x)) * inverse * inverse / squared_norm(m))
    scale = 0.5 * sqrt(scale_squared)
    other = 0.5 * inverse / sqrt(scale_squared)
    return (
        scale * a + other * p, scale * b + other * q, scale * c + other * r,
        scale * d + other * s, scale * e + other * t, scale * f + other * u,
        scale * g + other * v, scale * h + other * w, scale * i + other * x,
    )  # fmt: skip


@generic
def polar_rotation(m: Any) -> Any:
    """The rotation nearest to m, 9 values, by scaled Newton steps (Higham 1986), or U V^T where m is nearly singular or inverted."""
    one = constant(1.0, m[0])
    zero = constant(0.0, m[0])
    size = squared_norm(m)
    volume = determinant(m)
    is_difficult = volume * volume <= 1e-8 * size * size * size
    is_difficult = is_difficult | (volume <= 0.0)
    rotation = selected(is_difficult, (one, zero, zero, zero, one, zero, zero, zero, one), m)
    for _ in range(newton_count(one)):
        rotation = _newton_step(rotation)
    if any_of(is_difficult):
        left, _, right = singular_values(m)
        rotation = selected(is_difficult, recomposed(left, (one, one, one), right), rotation)
    return rotation


@generic
def selected(mask: Any, m: Any, n: Any) -> Any:
    """The matrix m where the mask holds, else n."""
    a, b, c, d, e, f, g, h, i = m
    r, s, t, u, v, w, x, y, z = n
    return (
        select(mask, a, r), select(mask, b, s), select(mask, c, t),
        select(mask, d, u), select(mask, e, v), select(mask, f, w),
        select(mask, g, x), select(mask, h, y), select(mask, i, z),
    )  # fmt: skip
