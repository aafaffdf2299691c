"""The arithmetic in which laws are written: the same names for plain numbers and for vectors of particles.

Without numba these are ordinary functions of floats. `vector_arithmetic` defines them for numba, for float32 and float64
scalars and for lanes. A function marked `generic` may call them and other generic functions, use + - * / and comparisons
on values, and loop over plain counts; a branch on a value is a `select`, and a branch on something equal for all particles
(the dimension, a constant of the law) is an `if`.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# Functions that are not yet registered with numba.
UNREGISTERED: list[Callable[..., Any]] = []


def generic(function: Function) -> Function:
    """Mark a function as compilable for any value type."""
    UNREGISTERED.append(function)
    return function


def select(mask: Any, where_true: Any, where_false: Any) -> Any:
    """`where_true` where the mask holds, else `where_false`; both sides are evaluated."""
    return where_true if mask else where_false


def constant(number: float, like: Any) -> Any:
    """`number` in the type of the value `like`."""
    return number + 0.0 * like


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two values; b if either is NaN."""
    return a if a < b else b


def maximum(a: Any, b: Any) -> Any:
    """The larger of two values; b if either is NaN."""
    return a if a > b else b


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, a single instruction for lanes, even if another sum needs the same product."""
    return a * b + c


def absolute(a: Any) -> Any:
    """|a|."""
    return abs(a)


def floor(a: Any) -> Any:
    """The greatest whole number that is not above a value, in its type."""
    return float(math.floor(a))


def sqrt(a: Any) -> Any:
    """The square root of a >= 0."""
    return math.sqrt(a)


def log(a: Any) -> Any:
    """The natural logarithm of a > 0."""
    return math.log(a)


def exp(a: Any) -> Any:
    """e^a; float32 lanes clamp a to [-87, 88]."""
    return math.exp(a)


def sweep_count(a: Any) -> int:
    """The number of Jacobi sweeps that a 3x3 matrix of this value type needs to converge to rounding error."""
    return 8


def rounding(a: Any) -> float:
    """A few times the relative rounding error of this value type."""
    return 4e-15


def any_of(mask: Any) -> bool:
    """Whether the mask holds for any particle; the only way to branch on values."""
    return mask


def newton_count(a: Any) -> int:
    """The number of scaled Newton steps that a polar decomposition of this value type needs to converge to rounding error."""
    return 10


def series_radius(a: Any) -> float:
    """The largest |x| for which the series of `symmetric` are accurate to the rounding error of this value type."""
    return 0.1


@generic
def clamp(a: Any, low: Any, high: Any) -> Any:
    """a, but at least `low` and at most `high`."""
    # NaN must propagate, and minimum and maximum return their second argument if either is NaN
    return minimum(constant(high, a), maximum(constant(low, a), a))


@generic
def sin(a: Any) -> Any:
    """The sine of an angle from -pi/2 to pi/2 [rad], by its Taylor polynomial of degree 15 (error below 1e-11)."""
    z = a * a
    y = z * (-1.0 / 1307674368000.0) + 1.0 / 6227020800.0
    y = y * z - 1.0 / 39916800.0
    y = y * z + 1.0 / 362880.0
    y = y * z - 1.0 / 5040.0
    y = y * z + 1.0 / 120.0
    y = y * z - 1.0 / 6.0
    return a + a * z * y
