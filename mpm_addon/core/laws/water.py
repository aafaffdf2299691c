"""Weakly compressible water (Tampubolon et al. 2017): pressure from the volume ratio J alone, with viscosity.

p = K/gamma (J^-gamma - 1), tau = -p J I + J eta (L + L^T - 2/3 tr(L) I).

A free surface holds no tension: where J > 1 there is no pressure. There J must neither run away (spray that lands would be
squeezed to nothing before it pushes back) nor be cut off (a stretched stream that gathers again would swell), so it is bounded
by the volume that the grid shows, rho0 / rho, and by 1 in dense matter, where obstacles count as filled. That bound is this
project's own.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..kernels.arithmetic import constant, exp, generic, log, maximum, minimum
from ..parameters import parameter
from .law import FluidLaw

LEAST_VOLUME_RATIO = 0.1
GREATEST_VOLUME_RATIO = 10.0


class WaterConstants(NamedTuple):
    stiffness: float
    exponent: float
    viscosity: float
    density: float


@generic
def advance(constants: WaterConstants, volume_ratio: Any, velocity_gradient: Any, density: Any, dt: Any) -> Any:
    """J <- (1 + dt tr L) J, at most max(1, rho0 / rho)."""
    trace = velocity_gradient[0] + velocity_gradient[4] + velocity_gradient[8]
    volume_ratio = volume_ratio + dt * trace * volume_ratio
    shown = constants.density / maximum(density, 0.0 * density + constants.density / GREATEST_VOLUME_RATIO)
    # what is not a number stays visible: it comes second
    volume_ratio = minimum(maximum(shown, 0.0 * shown + 1.0), volume_ratio)
    return maximum(constant(LEAST_VOLUME_RATIO, volume_ratio), volume_ratio)


@generic
def fluid_energy(constants: WaterConstants, volume_ratio: Any) -> Any:
    """Psi = -k (J^(1 - gamma) / (1 - gamma) - J) + k gamma / (1 - gamma), k = K/gamma; 0 for J >= 1."""
    compressed = minimum(volume_ratio, 0.0 * volume_ratio + 1.0)
    power = 1.0 - constants.exponent
    return constants.stiffness * (compressed - exp(power * log(compressed)) / power + constants.exponent / power)


@generic
def fluid_stress(constants: WaterConstants, volume_ratio: Any, velocity_gradient: Any) -> Any:
    a, b, c, d, e, f, g, h, i = velocity_gradient
    compressed = minimum(volume_ratio, 0.0 * volume_ratio + 1.0)
    pressure = constants.stiffness * (exp(-constants.exponent * log(compressed)) - 1.0)
    viscous = constants.viscosity * volume_ratio
    diagonal = -pressure * volume_ratio - viscous * (2.0 / 3.0) * (a + e + i)
    return (
        diagonal + 2.0 * viscous * a, viscous * (b + d), viscous * (c + g),
        diagonal + 2.0 * viscous * e, viscous * (f + h), diagonal + 2.0 * viscous * i,
    )  # fmt: skip


@generic
def wave_speed_squared(constants: WaterConstants, volume_ratio: Any, state: Any) -> Any:
    """k gamma J^(1 - gamma) / rho0."""
    compressed = minimum(volume_ratio, 0.0 * volume_ratio + 1.0)
    power = 1.0 - constants.exponent
    return constants.stiffness * constants.exponent / constants.density * exp(power * log(compressed))


@dataclass(frozen=True)
class Water(FluidLaw):
    """Parameters of weakly compressible water."""

    name = "water"
    label = "Water"
    state_names = ("volume_ratio",)
    virgin_state = (1.0,)
    constants_type = WaterConstants
    advance = staticmethod(advance)
    fluid_energy = staticmethod(fluid_energy)
    fluid_stress = staticmethod(fluid_stress)
    wave_speed_squared = staticmethod(wave_speed_squared)

    bulk_modulus: float = parameter(
        2.0e5, unit="Pa", above=0.0, help="Resistance to compression; real water has 2.2e9, which no explicit step can follow"
    )
    exponent: float = parameter(7.0, above=1.0, maximum=20.0, help="Exponent gamma of the equation of state")
    viscosity: float = parameter(0.001, unit="Pa s", minimum=0.0, help="Dynamic viscosity; water 0.001, honey about 10")

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> WaterConstants:
        return WaterConstants(self.bulk_modulus * stiffness_scale / self.exponent, self.exponent, self.viscosity, self.density)
