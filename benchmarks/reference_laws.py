"""The four materials of the lean reference: laws reduced to the bare minimum.

Each function advances the state of a vector of particles in place and returns the Kirchhoff stress (6 values). Plastic ones keep
b = F F^T (6 values) and one number instead of F.
"""

from typing import Any

from mpm_addon.core.arithmetic.linalg import advanced, cofactor, determinant, squared_norm, symmetric_recomposed, times_transpose
from mpm_addon.core.arithmetic.operations import constant, exp, generic, log, maximum, minimum, select, sqrt
from mpm_addon.core.arithmetic.symmetric import eigenvalues
from mpm_addon.core.arithmetic.vector import load, store

WIDTH = 8
NEWTON_STEPS = 4

# Young's modulus [Pa], Poisson's ratio, hardening and critical stretches of snow, slope of sand's cone
STIFFNESS = 1.4e5
POISSON = 0.2
MU = STIFFNESS / (2.0 * (1.0 + POISSON))
LAMBDA = STIFFNESS * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON))
BULK = 2.0e5
HARDENING = 10.0
LEAST_STRETCH, GREATEST_STRETCH = 1.0 - 2.5e-2, 1.0 + 7.5e-3
CONE = 0.3

# numbers that a particle's state has, and which of them are 1 at rest
STATES = {"water": (1, (0,)), "corotated": (9, (0, 4, 8)), "snow": (7, (0, 3, 5, 6)), "sand": (7, (0, 3, 5))}


@generic
def load_six(state: Any, at: int) -> Any:
    return (
        load(state[0], at, WIDTH),
        load(state[1], at, WIDTH),
        load(state[2], at, WIDTH),
        load(state[3], at, WIDTH),
        load(state[4], at, WIDTH),
        load(state[5], at, WIDTH),
    )


@generic
def store_six(state: Any, at: int, value: Any) -> None:
    a, b, c, d, e, f = value
    store(state[0], at, a)
    store(state[1], at, b)
    store(state[2], at, c)
    store(state[3], at, d)
    store(state[4], at, e)
    store(state[5], at, f)


@generic
def water(state: Any, at: int, gradient: Any, dt: Any) -> Any:
    """p = K/7 (J^-7 - 1)."""
    j = load(state[0], at, WIDTH)
    j = j + dt * (gradient[0] + gradient[4] + gradient[8]) * j
    store(state[0], at, j)
    square = j * j
    tension = BULK / 7.0 * (j - 1.0 / (square * square * square))
    zero = constant(0.0, j)
    return tension, zero, zero, tension, zero, tension


@generic
def newton_step(m: Any) -> Any:
    """One scaled Newton step to the nearest rotation (Higham 1986), with one division and two roots."""
    a, b, c, d, e, f, g, h, i = m
    p, q, r, s, t, u, v, w, x = cofactor(m)
    volume = a * p + b * q + c * r
    ratio = sqrt(squared_norm((p, q, r, s, t, u, v, w, x)) * squared_norm(m))
    # |m^-1| / |m| = ratio / (volume |m|^2)
    size = squared_norm(m)
    scale = 0.5 * sqrt(ratio / (volume * size))
    other = 0.25 / (scale * volume)
    return (
        scale * a + other * p, scale * b + other * q, scale * c + other * r,
        scale * d + other * s, scale * e + other * t, scale * f + other * u,
        scale * g + other * v, scale * h + other * w, scale * i + other * x,
    )  # fmt: skip


@generic
def corotated(state: Any, at: int, gradient: Any, dt: Any) -> Any:
    """2 mu (F F^T - F R^T) + lambda (J - 1) J."""
    a, b, c, d, e, f = load_six(state, at)
    g, h, i = load(state[6], at, WIDTH), load(state[7], at, WIDTH), load(state[8], at, WIDTH)
    deformation = advanced((a, b, c, d, e, f, g, h, i), gradient, dt)
    a, b, c, d, e, f, g, h, i = deformation
    store_six(state, at, (a, b, c, d, e, f))
    store(state[6], at, g)
    store(state[7], at, h)
    store(state[8], at, i)
    rotation = deformation
    for _ in range(NEWTON_STEPS):
        rotation = newton_step(rotation)
    j = determinant(deformation)
    pressure = LAMBDA * (j - 1.0) * j
    xx, xy, xz, yy, yz, zz = times_transpose(deformation, deformation)
    vxx, vxy, vxz, vyy, vyz, vzz = times_transpose(deformation, rotation)
    xx, yy, zz = 2.0 * MU * (xx - vxx) + pressure, 2.0 * MU * (yy - vyy) + pressure, 2.0 * MU * (zz - vzz) + pressure
    return xx, 2.0 * MU * (xy - vxy), 2.0 * MU * (xz - vxz), yy, 2.0 * MU * (yz - vyz), zz


@generic
def advanced_square(b: Any, gradient: Any, dt: Any) -> Any:
    """(I + dt L) b (I + dt L)^T."""
    xx, xy, xz, yy, yz, zz = b
    moved = advanced((xx, xy, xz, xy, yy, yz, xz, yz, zz), gradient, dt)
    a, b, c, d, e, f, g, h, i = moved
    a, b, c, d, e, f, g, h, i = advanced((a, d, g, b, e, h, c, f, i), gradient, dt)
    return a, b, c, e, f, i


@generic
def snow(state: Any, at: int, gradient: Any, dt: Any) -> Any:
    """Stretches clamped, moduli hardened (Stomakhin 2013)."""
    left, (b0, b1, b2) = eigenvalues(advanced_square(load_six(state, at), gradient, dt))
    s0, s1, s2 = sqrt(b0), sqrt(b1), sqrt(b2)
    low, high = constant(LEAST_STRETCH, s0), constant(GREATEST_STRETCH, s0)
    t0, t1, t2 = minimum(high, maximum(low, s0)), minimum(high, maximum(low, s1)), minimum(high, maximum(low, s2))
    volume = t0 * t1 * t2
    plastic = load(state[6], at, WIDTH) * (s0 * s1 * s2 / volume)
    plastic = minimum(constant(20.0, s0), maximum(constant(0.6, s0), plastic))
    store(state[6], at, plastic)
    store_six(state, at, symmetric_recomposed(left, (t0 * t0, t1 * t1, t2 * t2)))
    factor = exp(HARDENING * (1.0 - plastic))
    pressure, twice = factor * LAMBDA * (volume - 1.0) * volume, factor * (2.0 * MU)
    return symmetric_recomposed(
        left, (twice * (t0 - 1.0) * t0 + pressure, twice * (t1 - 1.0) * t1 + pressure, twice * (t2 - 1.0) * t2 + pressure)
    )


@generic
def sand(state: Any, at: int, gradient: Any, dt: Any) -> Any:
    """Drucker and Prager's cone on Hencky strain (Klar 2016), with the volume that expansion has added."""
    left, (b0, b1, b2) = eigenvalues(advanced_square(load_six(state, at), gradient, dt))
    e0, e1, e2 = 0.5 * log(b0), 0.5 * log(b1), 0.5 * log(b2)
    added = load(state[6], at, WIDTH)
    trace = e0 + e1 + e2
    corrected, mean = trace + added, trace * (1.0 / 3.0)
    d0, d1, d2 = e0 - mean, e1 - mean, e2 - mean
    shear = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    zero = constant(0.0, trace)
    excess = maximum(zero, shear + ((3.0 * LAMBDA + 2.0 * MU) / (2.0 * MU) * CONE) * corrected)
    is_free = corrected > zero
    kept = select(is_free, zero, 1.0 - excess / (shear + 1e-20))
    left_over = select(is_free, corrected, zero)
    store(state[6], at, left_over)
    mean = (corrected - left_over) * (1.0 / 3.0)
    h0, h1, h2 = mean + kept * d0, mean + kept * d1, mean + kept * d2
    store_six(state, at, symmetric_recomposed(left, (exp(2.0 * h0), exp(2.0 * h1), exp(2.0 * h2))))
    pressure = LAMBDA * (h0 + h1 + h2)
    return symmetric_recomposed(left, (2.0 * MU * h0 + pressure, 2.0 * MU * h1 + pressure, 2.0 * MU * h2 + pressure))


LAWS = {"water": water, "corotated": corotated, "snow": snow, "sand": sand}
