"""Schemes: which B-spline carries particles to the grid, in how many dimensions, and how velocities travel back.

The type of a scheme selects the code of the transfers when they are compiled; its numbers choose between APIC, PIC and FLIP.
In two dimensions (plane strain in the x-z plane) particles keep all their rows, and everything along y stays zero.

Quadratic splines touch three nodes along an axis, cubic ones four. Both are counted from a centre node: the nearest one for
the quadratic spline, the next lower one for the cubic; the offset d of the particle from it is in cells.
"""

from typing import Any, NamedTuple

from numba.extending import overload

from .arithmetic import generic
from .blocks import ARENA
from .vector import LANE_COUNT, floor, store, store_as_int32

# weights of an axis in a scratch table, each for eight lanes
AXIS_WEIGHTS = 4 * LANE_COUNT


class Quadratic3(NamedTuple):
    """Quadratic splines in space.

    Attributes:
        inverse_inertia: D^-1 h^2: 4 for quadratic, 3 for cubic splines (Jiang et al. 2016, section 5.3).
        affine: 1 where C goes to the grid (APIC), 0 where it does not (PIC, FLIP).
        flip_ratio: share of FLIP in the velocity that a particle gets back.
    """

    inverse_inertia: float
    affine: float
    flip_ratio: float


class Cubic3(NamedTuple):
    """Cubic splines in space."""

    inverse_inertia: float
    affine: float
    flip_ratio: float


class Quadratic2(NamedTuple):
    """Quadratic splines in the plane."""

    inverse_inertia: float
    affine: float
    flip_ratio: float


class Cubic2(NamedTuple):
    """Cubic splines in the plane."""

    inverse_inertia: float
    affine: float
    flip_ratio: float


Scheme = Quadratic3 | Cubic3 | Quadratic2 | Cubic2


def scheme_of(kernel: str, dimension: int, transfer: str, flip_ratio: float) -> Scheme:
    """The scheme of a solver's settings."""
    cubic, quadratic = (Cubic3, Quadratic3) if dimension == 3 else (Cubic2, Quadratic2)
    kind, inverse_inertia = (cubic, 3.0) if kernel == "cubic" else (quadratic, 4.0)
    return kind(inverse_inertia, float(transfer == "apic"), flip_ratio if transfer == "flip" else 0.0)


def farthest_drift(scheme: Scheme) -> float:
    """How far a particle may be from where it was sorted [cells], for its nodes to lie in its block's arena."""
    return 0.49 if isinstance(scheme, Cubic3 | Cubic2) else 0.99


def is_cubic(scheme: Any) -> bool:
    """Whether a scheme's numba type has cubic splines."""
    return scheme.instance_class in (Cubic3, Cubic2)


def is_plane(scheme: Any) -> bool:
    """Whether a scheme's numba type is two-dimensional."""
    return scheme.instance_class in (Quadratic2, Cubic2)


@generic
def quadratic_weights(d):
    """The weights of the nodes at -1, 0 and +1 for an offset d in [-1/2, 1/2] from the centre node."""
    low = 0.5 - d
    high = 0.5 + d
    return 0.5 * (low * low), 0.75 - d * d, 0.5 * (high * high)


@generic
def cubic_weights(d):
    """The weights of the nodes at -1, 0, +1 and +2 for an offset d in [0, 1] from the centre node."""
    e = 1.0 - d
    sixth = 1.0 / 6.0
    w0 = sixth * (e * e * e)
    w1 = 0.5 * (d * d * d) - d * d + 4.0 * sixth
    w3 = sixth * (d * d * d)
    # so that they add up to one in any float: the gathered velocity would grow or shrink at every step
    return w0, w1, 1.0 - (w0 + w1 + w3), w3


@generic
def store_quadratic_weights(x, scratch, at):
    """Write an axis's weights for eight particles; returns the centre node and the offset from it."""
    centre = floor(x - 0.5) + 1.0
    offset = x - centre
    w0, w1, w2 = quadratic_weights(offset)
    store(scratch, at, w0)
    store(scratch, at + LANE_COUNT, w1)
    store(scratch, at + 2 * LANE_COUNT, w2)
    return centre, offset


@generic
def store_cubic_weights(x, scratch, at):
    """Write an axis's weights for eight particles; returns the centre node and the offset from it."""
    centre = floor(x)
    offset = x - centre
    w0, w1, w2, w3 = cubic_weights(offset)
    store(scratch, at, w0)
    store(scratch, at + LANE_COUNT, w1)
    store(scratch, at + 2 * LANE_COUNT, w2)
    store(scratch, at + 3 * LANE_COUNT, w3)
    return centre, offset


def store_weights(scheme: Any, x: Any, scratch: Any, at: Any) -> Any:
    """Write an axis's weights for eight particles; returns the centre node and the offset from it."""
    raise TypeError("store_weights is for kernels")


@overload(store_weights, jit_options={"forceinline": True})
def _overload_store_weights(scheme, x, scratch, at):
    if is_cubic(scheme):
        return lambda scheme, x, scratch, at: store_cubic_weights(x, scratch, at)
    return lambda scheme, x, scratch, at: store_quadratic_weights(x, scratch, at)


def prepare_weights(scheme: Any, x: Any, y: Any, z: Any, scratch: Any, index: Any) -> Any:
    """Write the weights of eight particles to `scratch` and the number of their lowest node in the arena to `index`.

    Returns:
        The offsets from the centre nodes [cells].
    """
    raise TypeError("prepare_weights is for kernels")


@overload(prepare_weights, jit_options={"forceinline": True})
def _overload_prepare_weights(scheme, x, y, z, scratch, index):
    # the arena begins one node below the block, and the lowest node lies one below the centre: whole numbers, exact in any float
    def in_space(scheme, x, y, z, scratch, index):
        cx, dx = store_weights(scheme, x, scratch, 0)
        cy, dy = store_weights(scheme, y, scratch, AXIS_WEIGHTS)
        cz, dz = store_weights(scheme, z, scratch, 2 * AXIS_WEIGHTS)
        store_as_int32(index, 0, (cx * float(ARENA) + cy) * float(ARENA) + cz)
        return dx, dy, dz

    def in_plane(scheme, x, y, z, scratch, index):
        cx, dx = store_weights(scheme, x, scratch, 0)
        cz, dz = store_weights(scheme, z, scratch, 2 * AXIS_WEIGHTS)
        store_as_int32(index, 0, cx * float(ARENA) + cz)
        return dx, 0.0 * dx, dz

    return in_plane if is_plane(scheme) else in_space
