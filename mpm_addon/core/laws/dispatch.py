"""How kernels call laws: the type of a law's constants selects its functions when a kernel is compiled."""

import functools
from collections.abc import Callable
from typing import Any

from numba.extending import overload

from ..arithmetic.linalg import advanced, determinant, principal_values, recomposed, selected, symmetric_recomposed, times_transpose
from ..arithmetic.operations import any_of, generic, sqrt
from ..arithmetic.symmetric import distortion, eigenvalues, increased, is_beyond_series
from ..compilation.kernel import kernel, register_generic_functions
from ..compilation.team import ParallelKernel, one_loop
from .hencky import HenckyLaw, flowed
from .law import DirectedLaw, FluidLaw, PrincipalLaw

# where J is below this, or negative, F is decomposed by the robust method
LEAST_REGULAR_RATIO = 1e-3
# lower bound on the squared stretch for which a wave speed is computed
LEAST_SQUARE = 1e-4
# the product of the squared stretches over the cube of their mean: 1 if they are equal, 0.3 if one is a third of the others
LEAST_PRODUCT = 0.3

_LAWS = __name__.rpartition(".")[0]


def law_of(constants: Any) -> Any:
    """The class of the law whose constants have this numba type."""
    register_generic_functions()
    return constants.instance_class.law


class LawKernel:
    """A kernel whose first argument (after the tickets of a parallel one) is a law's constants.

    Its code is stored on disk only for this package's laws, because source changes elsewhere cannot be detected.

    Attributes:
        stored: compiles it for the laws of this package.
    """

    def __init__(self, function: Callable[..., Any], *, parallel: bool) -> None:
        compiled = functools.partial(ParallelKernel, function, one_loop) if parallel else functools.partial(kernel, function)
        self.stored, self._passing = compiled(is_stored=True), compiled(is_stored=False)
        functools.update_wrapper(self, function)

    def __call__(self, constants: Any, *arguments: Any) -> Any:
        is_ours = type(constants).__module__.startswith(f"{_LAWS}.")
        return (self.stored if is_ours else self._passing)(constants, *arguments)


def law_kernel(function: Callable[..., Any] | None = None, *, parallel: bool = False) -> Any:
    """Compile a kernel whose first argument is a law's constants; see `LawKernel`."""
    if function is None:
        return functools.partial(law_kernel, parallel=parallel)
    return LawKernel(function, parallel=parallel)


def update(constants: Any, dimension: Any, deformation: Any, state: Any, velocity_gradient: Any, space: Any, dt: Any) -> Any:
    """Advance the deformation of a particle, or of a vector of particles, by a substep; dimension is 3, or 2 for plane strain.

    Returns:
        F (9 values), state, Kirchhoff stress (6 values) [Pa], J, wave speed squared [m^2/s^2].
    """
    raise TypeError("update is for kernels")


def elastic_response(constants: Any, deformation: Any, velocity_gradient: Any) -> Any:
    """The response of a `HyperelasticLaw` to F and L [1/s].

    Returns:
        Kirchhoff stress (6 values) [Pa] and J.
    """
    raise TypeError("elastic_response is for kernels")


@overload(elastic_response, jit_options={"forceinline": True})
def _overload_elastic_response(constants, deformation, velocity_gradient):
    stress = law_of(constants).stress
    return lambda constants, deformation, velocity_gradient: (stress(constants, deformation, velocity_gradient), determinant(deformation))


def rest_speed_squared(constants: Any, volume_ratio: Any, least_squared: Any) -> Any:
    """The square of the speed of waves in the rest state of a `HyperelasticLaw` [m^2/s^2], from J and the least squared stretch."""
    raise TypeError("rest_speed_squared is for kernels")


@overload(rest_speed_squared, jit_options={"forceinline": True})
def _overload_rest_speed_squared(constants, volume_ratio, least_squared):
    speed_squared = law_of(constants).rest_speed_squared
    return lambda constants, volume_ratio, least_squared: speed_squared(constants, volume_ratio, least_squared)


def mapped(project: Any, constants: Any, left: Any, s: Any, deformation: Any, state: Any, dt: Any) -> Any:
    """The return mapping of a principal law on the stretches s of F = U diag(s) V^T, with the axes U: new stretches and state."""
    raise TypeError("mapped is for kernels")


@overload(mapped, jit_options={"forceinline": True})
def _overload_mapped(project, constants, left, s, deformation, state, dt):
    if issubclass(law_of(constants), DirectedLaw):
        return lambda project, constants, left, s, deformation, state, dt: project(
            constants, s, alignment(constants, left, s, deformation), state, dt
        )
    return lambda project, constants, left, s, deformation, state, dt: project(constants, s, state, dt)


@generic
def alignment(constants: Any, left: Any, s: Any, deformation: Any) -> Any:
    """The squared cosines of the angles between the fiber of a directed law and the columns of V, from U^T F g = diag(s) V^T g."""
    a, b, c, d, e, f, g, h, i = deformation
    x, y, z = constants.fiber_x, constants.fiber_y, constants.fiber_z
    u, v, w = a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z
    a, b, c, d, e, f, g, h, i = left
    s0, s1, s2 = s
    p, q, r = (a * u + d * v + g * w) * s1 * s2, (b * u + e * v + h * w) * s0 * s2, (c * u + f * v + i * w) * s0 * s1
    p, q, r = p * p, q * q, r * r
    # the small number prevents 0/0 in material that is crushed to nothing
    share = 1.0 / (p + q + r + 1e-30)
    return p * share, q * share, r * share


@generic
def projected(project: Any, constants: Any, dimension: int, deformation: Any, state: Any, dt: Any) -> Any:
    """The return mapping of a principal law on a trial F: F, state, U and the new stretches. An elastic F is unchanged bit for bit."""
    left, s, right = principal_values(deformation, dimension)
    t, state = mapped(project, constants, left, s, deformation, state, dt)
    s0, s1, s2 = s
    t0, t1, t2 = t
    is_elastic = (s0 == t0) & (s1 == t1) & (s2 == t2)
    return selected(is_elastic, deformation, recomposed(left, t, right)), state, left, t


@generic
def projected_on_axes(project: Any, constants: Any, deformation: Any, squared: Any, state: Any, dt: Any) -> Any:
    """`projected` in 3D, from the axes of F F^T, whose `distortion` is given: half the work, but accurate only far from singular."""
    mean, x, _, _ = squared
    left, (e0, e1, e2) = eigenvalues(x)
    s0, s1, s2 = sqrt(mean + mean * e0), sqrt(mean + mean * e1), sqrt(mean + mean * e2)
    t, state = mapped(project, constants, left, (s0, s1, s2), deformation, state, dt)
    t0, t1, t2 = t
    # adds exactly zero where the stretches are unchanged
    increase = symmetric_recomposed(left, ((t0 - s0) / s0, (t1 - s1) / s1, (t2 - s2) / s2))
    return increased(deformation, increase), state, left, t


@generic
def returned(
    project: Any, principal_stress: Any, constants: Any, dimension: int, deformation: Any, squared: Any, state: Any, dt: Any
) -> Any:
    """The return mapping of a principal law on a trial F, and the stress: F, state, tau (6 values) [Pa], J."""
    _, _, m, n = squared
    # det (I + x) is the product of the squared stretches over the cube of their mean
    if dimension == 2 or any_of((1.0 - m + n < LEAST_PRODUCT) | (determinant(deformation) <= LEAST_REGULAR_RATIO)):
        deformation, state, left, t = projected(project, constants, dimension, deformation, state, dt)
    else:
        deformation, state, left, t = projected_on_axes(project, constants, deformation, squared, state, dt)
    t0, t1, t2 = t
    return deformation, state, symmetric_recomposed(left, principal_stress(constants, t, state)), t0 * t1 * t2


@overload(update, jit_options={"forceinline": True})
def _overload_update(constants, dimension, deformation, state, velocity_gradient, space, dt):
    law = law_of(constants)
    wave_speed_squared = law.wave_speed_squared
    if issubclass(law, FluidLaw):
        return _fluid_update(law.advance, law.fluid_stress, wave_speed_squared)
    if issubclass(law, HenckyLaw):
        return _hencky_update(law.flow, law.project, law.principal_stress, wave_speed_squared)
    if issubclass(law, PrincipalLaw):
        return _principal_update(law.project, law.principal_stress, wave_speed_squared)
    return _tensor_update(law.stress, wave_speed_squared)


def _fluid_update(advance: Any, fluid_stress: Any, wave_speed_squared: Any) -> Any:
    def update(constants, dimension, deformation, state, velocity_gradient, space, dt):
        volume_ratio = advance(constants, state[0], velocity_gradient, space, dt)
        state = (volume_ratio,)
        stress = fluid_stress(constants, volume_ratio, velocity_gradient)
        return deformation, state, stress, volume_ratio, wave_speed_squared(constants, volume_ratio, state)

    return update


def _principal_update(project: Any, principal_stress: Any, wave_speed_squared: Any) -> Any:
    def update(constants, dimension, deformation, state, velocity_gradient, space, dt):
        trial = advanced(deformation, velocity_gradient, dt)
        squared = distortion(times_transpose(trial, trial))
        deformation, state, stress, volume_ratio = returned(project, principal_stress, constants, dimension, trial, squared, state, dt)
        return deformation, state, stress, volume_ratio, wave_speed_squared(constants, volume_ratio, state)

    return update


def _hencky_update(flow: Any, project: Any, principal_stress: Any, wave_speed_squared: Any) -> Any:
    def update(constants, dimension, deformation, state, velocity_gradient, space, dt):
        trial = advanced(deformation, velocity_gradient, dt)
        volume_ratio = determinant(trial)
        squared = distortion(times_transpose(trial, trial))
        if dimension == 2 or any_of(is_beyond_series(squared[2]) | (volume_ratio <= LEAST_REGULAR_RATIO)):
            deformation, state, stress, volume_ratio = returned(project, principal_stress, constants, dimension, trial, squared, state, dt)
        else:
            deformation, state, stress, volume_ratio = flowed(flow, constants, trial, volume_ratio, squared, state, dt)
        return deformation, state, stress, volume_ratio, wave_speed_squared(constants, volume_ratio, state)

    return update


def _tensor_update(stress: Any, wave_speed_squared: Any) -> Any:
    def update(constants, dimension, deformation, state, velocity_gradient, space, dt):
        deformation = advanced(deformation, velocity_gradient, dt)
        volume_ratio = determinant(deformation)
        tau = stress(constants, deformation, velocity_gradient)
        return deformation, state, tau, volume_ratio, wave_speed_squared(constants, volume_ratio, state)

    return update
