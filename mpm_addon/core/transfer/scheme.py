"""Transfer schemes: the B-spline, the number of dimensions, and how velocities return to particles.

A scheme's type selects the code of the transfers when they are compiled; its numbers choose between APIC, PIC and FLIP. In two
dimensions (plane strain in the x-z plane) particles keep all their rows, and everything along y stays zero.

Quadratic splines touch three nodes along an axis, cubic splines four. Nodes are counted from a center node: the nearest node for
quadratic splines, the next lower one for cubic splines. The offset d of a particle from its center node is in cells.
"""

from typing import Any, NamedTuple

from numba.extending import overload

from ..arithmetic.operations import constant, floor, generic
from ..scene.settings import Solver
from .blocks import ARENA


class Quadratic3(NamedTuple):
    """Quadratic splines in three dimensions.

    Attributes:
        inverse_inertia: D^-1 h^2: 4 for quadratic, 3 for cubic splines (Jiang et al. 2016, section 5.3).
        affine: 1 if C is transferred to the grid (APIC), else 0 (PIC, FLIP).
        flip_ratio: share of FLIP in the velocity transferred back to particles.
    """

    inverse_inertia: float
    affine: float
    flip_ratio: float


class Cubic3(NamedTuple):
    """Cubic splines in three dimensions."""

    inverse_inertia: float
    affine: float
    flip_ratio: float


class Quadratic2(NamedTuple):
    """Quadratic splines in two dimensions."""

    inverse_inertia: float
    affine: float
    flip_ratio: float


class Cubic2(NamedTuple):
    """Cubic splines in two dimensions."""

    inverse_inertia: float
    affine: float
    flip_ratio: float


Scheme = Quadratic3 | Cubic3 | Quadratic2 | Cubic2


def scheme_of(solver: Solver) -> Scheme:
    """The scheme for a solver's settings."""
    cubic, quadratic = (Cubic3, Quadratic3) if solver.dimension == 3 else (Cubic2, Quadratic2)
    kind, inverse_inertia = (cubic, 3.0) if solver.kernel == "cubic" else (quadratic, 4.0)
    return kind(inverse_inertia, float(solver.transfer == "apic"), solver.flip_ratio if solver.transfer == "flip" else 0.0)


def farthest_drift(scheme: Scheme) -> float:
    """The distance that a particle may move between sorts so that its nodes stay in its block's arena [cells]."""
    return 0.49 if isinstance(scheme, Cubic3 | Cubic2) else 0.99


def is_cubic(scheme: Any) -> bool:
    """Whether a scheme, given as a numba type, has cubic splines."""
    return scheme.instance_class in (Cubic3, Cubic2)


def is_plane(scheme: Any) -> bool:
    """Whether a scheme, given as a numba type, is two-dimensional."""
    return scheme.instance_class in (Quadratic2, Cubic2)


def dimension_of(scheme: Any) -> int:
    """The number of dimensions of a scheme, known when a kernel is compiled."""
    raise TypeError("dimension_of is for kernels")


@overload(dimension_of, jit_options={"forceinline": True})
def _overload_dimension_of(scheme):
    return (lambda scheme: 2) if is_plane(scheme) else (lambda scheme: 3)


@generic
def quadratic_weights(d):
    """The weights of the nodes at -1, 0 and +1 for an offset d in [-1/2, 1/2] from the center node."""
    low = 0.5 - d
    high = 0.5 + d
    return 0.5 * (low * low), 0.75 - d * d, 0.5 * (high * high)


@generic
def cubic_weights(d):
    """The weights of the nodes at -1, 0, +1 and +2 for an offset d in [0, 1] from the center node."""
    e = 1.0 - d
    sixth = 1.0 / 6.0
    w0 = sixth * (e * e * e)
    w1 = 0.5 * (d * d * d) - d * d + 4.0 * sixth
    w3 = sixth * (d * d * d)
    # the weights add up to exactly one in any precision; otherwise gathered velocities would grow or shrink in every substep
    return w0, w1, 1.0 - (w0 + w1 + w3), w3


@generic
def quadratic_axis(x):
    """The center node of positions along an axis, the offset from it, and four weights, the last one zero."""
    center = floor(x - 0.5) + 1.0
    offset = x - center
    w0, w1, w2 = quadratic_weights(offset)
    return center, offset, (w0, w1, w2, 0.0 * offset)


@generic
def cubic_axis(x):
    """The center node of positions along an axis, the offset from it, and four weights."""
    center = floor(x)
    offset = x - center
    return center, offset, cubic_weights(offset)


def axis_weights(scheme: Any, x: Any) -> Any:
    """The center node of positions along an axis, the offset from it, and the weights of the nodes at -1, 0, +1 and +2."""
    raise TypeError("axis_weights is for kernels")


@overload(axis_weights, jit_options={"forceinline": True})
def _overload_axis_weights(scheme, x):
    return (lambda scheme, x: cubic_axis(x)) if is_cubic(scheme) else (lambda scheme, x: quadratic_axis(x))


def all_weights(scheme: Any, position: Any) -> Any:
    """The weights of `LANE_COUNT` particles on their nodes, axis by axis.

    Returns:
        The number of the lowest node in the arena, the offsets from the center nodes [cells], and the weights along the three axes;
        in two dimensions the node at y = 0 has all the weight along y.
    """
    raise TypeError("all_weights is for kernels")


@overload(all_weights, jit_options={"forceinline": True})
def _overload_all_weights(scheme, position):
    # the arena starts one node below the block, and the lowest node is one below the center: integers, exact in any precision
    def in_space(scheme, position):
        x, y, z = position
        cx, dx, wx = axis_weights(scheme, x)
        cy, dy, wy = axis_weights(scheme, y)
        cz, dz, wz = axis_weights(scheme, z)
        return (cx * float(ARENA) + cy) * float(ARENA) + cz, (dx, dy, dz), wx, wy, wz

    def in_plane(scheme, position):
        x, _, z = position
        cx, dx, wx = axis_weights(scheme, x)
        cz, dz, wz = axis_weights(scheme, z)
        zero = 0.0 * dx
        one = constant(1.0, dx)
        return cx * float(ARENA) + cz, (dx, zero, dz), wx, (one, zero, zero, zero), wz

    return in_plane if is_plane(scheme) else in_space
