"""Shared by the plastic laws on Hencky strain: elasticity, and a return mapping for which a law only defines its flow rule.

With e = ln(F F^T) / 2 the energy is Psi = mu |e|^2 + lambda/2 tr(e)^2 and tau = 2 mu e + lambda tr(e) I (Hencky 1928; Klar et al.
2016, eq. 26). Plastic flow is coaxial with the strain: it changes the trace of e and scales its deviator. So a flow rule of two
numbers defines the law, for principal values and tensors alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..arithmetic.operations import exp, generic, log, maximum, minimum, select, sqrt
from ..arithmetic.symmetric import EXPONENTIAL_LESS_ONE, LOGARITHM, increased, invariants, series, summed
from .elasticity import LEAST_VOLUME_RATIO, ElasticLaw, elastic_wave_speed_squared, log_volume_ratio
from .law import PrincipalLaw


@generic
def hencky_strain(s: Any) -> Any:
    """ln s_i; a stretch below 1e-6 counts as 1e-6."""
    s0, s1, s2 = s
    least = 0.0 * s0 + 1e-6
    return log(maximum(s0, least)), log(maximum(s1, least)), log(maximum(s2, least))


@generic
def principal_stress(constants: Any, s: Any, state: Any) -> Any:
    """tau_i = 2 mu ln s_i + lambda ln J."""
    e0, e1, e2 = hencky_strain(s)
    pressure = constants.lam * (e0 + e1 + e2)
    twice = 2.0 * constants.mu
    return twice * e0 + pressure, twice * e1 + pressure, twice * e2 + pressure


@generic
def principal_energy(constants: Any, s: Any, state: Any) -> Any:
    """Psi = mu sum (ln s_i)^2 + lambda/2 (ln J)^2."""
    e0, e1, e2 = hencky_strain(s)
    trace = e0 + e1 + e2
    return constants.mu * (e0 * e0 + e1 * e1 + e2 * e2) + 0.5 * constants.lam * trace * trace


@generic
def wave_speed_squared(constants: Any, volume_ratio: Any, state: Any) -> Any:
    """The elastic wave speed squared [m^2/s^2], greater in compression.

    d(tau/s)/ds s^2 = (lambda + 2 mu)(1 - ln s) in a bar of stretch s.
    """
    stiffening = 1.0 - minimum(log_volume_ratio(volume_ratio), 0.0 * volume_ratio)
    return stiffening * elastic_wave_speed_squared(constants.mu, constants.lam, constants.density, volume_ratio)


def project_of(flow: Callable[..., Any]) -> Callable[..., Any]:
    """The return mapping of a flow rule on principal stretches; in 2D it ignores the third, that of y."""

    @generic
    def project(constants: Any, s: Any, state: Any, dt: Any) -> Any:
        s0, s1, s2 = s
        e0, e1, e2 = hencky_strain(s)
        trace = e0 + e1 + e2
        mean = constants.axis_share * trace
        d0, d1, d2 = e0 - mean, e1 - mean, constants.depth * (e2 - mean)
        new_trace, factor, state = flow(constants, trace, sqrt(d0 * d0 + d1 * d1 + d2 * d2), state, dt)
        is_elastic = (new_trace == trace) & (factor == 1.0)
        mean = constants.axis_share * new_trace
        t0 = select(is_elastic, s0, exp(mean + factor * d0))
        t1 = select(is_elastic, s1, exp(mean + factor * d1))
        t2 = select(is_elastic, s2, exp(constants.depth * mean + factor * d2))
        return (t0, t1, t2), state

    return project


@generic
def flowed(flow: Any, constants: Any, trial: Any, volume_ratio: Any, squared: Any, state: Any, dt: Any) -> Any:
    """The return mapping and the stress in 3D, without principal values, for a trial F for whose F F^T the series converges.

    The new F is exp(e_new - e) F; an elastic F is unchanged bit for bit.

    Args:
        flow: the law's flow rule.
        volume_ratio: det F.
        squared: the `distortion` of F F^T.

    Returns:
        F (9 values), state, tau (6 values) [Pa], J.
    """
    _, x, m, n = squared
    # only the deviator of ln b = 2 e is summed, because its trace is 2 ln J
    _, q, r = series(LOGARITHM, m, n)
    deviator = summed(r * m * (-1.0 / 3.0), 0.5 * q, 0.5 * r, x)
    half_square, cube = invariants(deviator)
    trace = log(volume_ratio)
    new_trace, factor, state = flow(constants, trace, sqrt(2.0 * half_square), state, dt)
    # exp(e_new - e) - I, with growth = exp of the mean; a multiple of the deviator has multiples of its invariants
    change = factor - 1.0
    change_squared = change * change
    p, q, r = series(EXPONENTIAL_LESS_ONE, change_squared * half_square, change_squared * change * cube)
    growth = exp((new_trace - trace) * (1.0 / 3.0))
    increase = summed(growth * p + (growth - 1.0), growth * change * q, growth * change_squared * r, deviator)
    xx, xy, xz, yy, yz, zz = deviator
    twice = 2.0 * constants.mu * factor
    pressure = (constants.lam + 2.0 / 3.0 * constants.mu) * new_trace
    stress = (twice * xx + pressure, twice * xy, twice * xz, twice * yy + pressure, twice * yz, twice * zz + pressure)
    return increased(trial, increase), state, stress, volume_ratio * (growth * growth * growth)


def axes(dimension: int) -> tuple[float, float]:
    """axis_share = 1/d, and depth: 1 in 3D, 0 in 2D, where trace and deviator exclude y."""
    return 1.0 / dimension, float(dimension == 3)


@dataclass(frozen=True)
class HenckyLaw(PrincipalLaw, ElasticLaw):
    """A plastic law on Hencky strain, given by its flow rule; its constants have mu, lam, density, axis_share and depth.

    flow(constants, trace, shear, state, dt) -> (new trace, factor on the deviator, state), with shear = |deviator|;
        if elastic, the trace is unchanged bit for bit and the factor is exactly 1
    """

    least_volume_ratio = LEAST_VOLUME_RATIO
    flow: ClassVar[Callable[..., Any]]
    principal_stress = staticmethod(principal_stress)
    principal_energy = staticmethod(principal_energy)
    wave_speed_squared = staticmethod(wave_speed_squared)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "flow" in vars(cls):
            cls.project = staticmethod(project_of(cls.flow))
