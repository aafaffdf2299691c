"""Weakly compressible water (Tampubolon et al. 2017): pressure from the volume ratio J alone, with viscosity.

tau = -p J I + min(J, 1) eta (L + L^T - 2/d tr(L) I) with Tait's equation of state, p = K/gamma (J^-gamma - 1), or a linear one,
p = K (1 - J).

A free surface supports no tension: for J > 1 the pressure is zero, unless the water has cohesion; then tension grows to `cohesion`
and stays there. A little cohesion lets a falling stream taper and break into drops. J must not grow without bound in free spray (which
would have to be crushed before it pushes back on landing), nor be cut off at 1 (a stretched stream that gathers again would swell).
So it is bounded by the volume ratio measured on the grid, 1 / fullness, but never below 1. Where space is full, J also relaxes toward
that ratio from both sides while water deforms: otherwise errors in J add up and stirred water stays swollen. The bound, this correction and
the form of cohesion are this project's own.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import constant, exp, generic, log, maximum, minimum, select, sqrt
from ..parameters import parameter
from .factors import Factors
from .finish import Finish
from .law import GREATEST_FLUID_RATIO, LEAST_FLUID_RATIO, FluidLaw

USUAL_EXPONENT = 7.0
AUTOMATIC, GIVEN = "automatic", "given"
TENSE = "water_with_surface_tension"
# J relaxes toward the volume ratio measured on the grid at STRAIN_RATES times the rate of strain: deformation is what makes J drift, so
# water at rest is left alone. Errors below TOLERANCE standard deviations of the fullness count as noise. Below LEAST_FULLNESS, water is
# spray, which cannot be compressed; from TRUSTED_FULLNESS on, the measured ratio counts fully.
STRAIN_RATES = 2.0
TOLERANCE = 0.5
LEAST_FULLNESS, TRUSTED_FULLNESS = 0.6, 0.7


class WaterConstants(NamedTuple):
    stiffness: float
    exponent: float
    viscosity: float
    density: float
    is_linear: float
    slack: float
    tension: float
    volume_viscosity: float


class TenseWaterConstants(NamedTuple):
    """Those of water with surface tension. The type selects its kernels, so that water without it costs nothing."""

    stiffness: float
    exponent: float
    viscosity: float
    density: float
    is_linear: float
    slack: float
    tension: float
    volume_viscosity: float
    surface_tension: float


@generic
def advance(constants: WaterConstants, volume_ratio: Any, velocity_gradient: Any, space: Any, dt: Any) -> Any:
    """J <- (1 + dt tr L) J, at most max(1, 1 / fullness), then toward 1 / fullness where space is full; at least 1 where it is not."""
    fullness, noise = space
    a, b, c, d, e, f, g, h, i = velocity_gradient
    volume_ratio = volume_ratio + dt * (a + e + i) * volume_ratio
    one, zero = constant(1.0, fullness), constant(0.0, fullness)
    shown = 1.0 / maximum(fullness, constant(1.0 / GREATEST_FLUID_RATIO, fullness))
    # NaN must propagate, so it is the second argument
    volume_ratio = minimum(maximum(shown, one), volume_ratio)
    trusted = minimum(one, maximum(zero, (fullness - LEAST_FULLNESS) * (1.0 / (TRUSTED_FULLNESS - LEAST_FULLNESS))))
    strain_rate = sqrt(a * a + e * e + i * i + 0.5 * ((b + d) * (b + d) + (c + g) * (c + g) + (f + h) * (f + h)))
    error = shown - volume_ratio
    tolerance = TOLERANCE * noise
    error = error - minimum(tolerance, maximum(-tolerance, error))
    volume_ratio = volume_ratio + trusted * minimum(one, STRAIN_RATES * dt * strain_rate) * error
    return maximum(one + trusted * (LEAST_FLUID_RATIO - 1.0), volume_ratio)


@generic
def fluid_energy(constants: WaterConstants, volume_ratio: Any) -> Any:
    """Psi = -k (J^(1 - gamma) / (1 - gamma) - J) + k gamma / (1 - gamma), k = K/gamma, or K/2 (J - 1)^2; linear in J where slack."""
    taut = _taut(constants, volume_ratio)
    if constants.is_linear > 0.0:
        density = 0.5 * constants.stiffness * (taut - 1.0) * (taut - 1.0)
    else:
        power = 1.0 - constants.exponent
        density = constants.stiffness * (taut - exp(power * log(taut)) / power + constants.exponent / power)
    return density + constants.tension * (volume_ratio - taut)


@generic
def fluid_stress(constants: WaterConstants, volume_ratio: Any, velocity_gradient: Any) -> Any:
    a, b, c, d, e, f, g, h, i = velocity_gradient
    taut = _taut(constants, volume_ratio)
    if constants.is_linear > 0.0:
        pressure = constants.stiffness * (1.0 - taut)
    else:
        pressure = constants.stiffness * (_power(constants, taut) - 1.0)
    # where J > 1, the rest of the volume is air
    filled = minimum(constant(1.0, volume_ratio), volume_ratio)
    viscous = constants.viscosity * filled
    diagonal = -pressure * volume_ratio - constants.volume_viscosity * filled * (a + e + i)
    return (
        diagonal + 2.0 * viscous * a, viscous * (b + d), viscous * (c + g),
        diagonal + 2.0 * viscous * e, viscous * (f + h), diagonal + 2.0 * viscous * i,
    )  # fmt: skip


@generic
def wave_speed_squared(constants: WaterConstants, volume_ratio: Any, state: Any) -> Any:
    """k gamma J^(1 - gamma) / rho0 with J at most 1, or K J^2 / rho0 with J at least 1."""
    one = constant(1.0, volume_ratio)
    taut = _taut(constants, volume_ratio)
    if constants.is_linear > 0.0:
        stretched = maximum(one, taut)
        speed = constants.stiffness / constants.density * (stretched * stretched)
    else:
        # the same power as in the pressure, so a compiler evaluates it once
        speed = constants.stiffness * constants.exponent / constants.density * select(taut > one, one, _power(constants, taut) * taut)
    return speed


@generic
def _power(constants: WaterConstants, taut: Any) -> Any:
    """J^-gamma; the usual power is a product, with a lower latency than a logarithm and an exponential."""
    if constants.exponent == USUAL_EXPONENT:
        square = taut * taut
        cube = square * taut
        power = 1.0 / (square * square * cube)
    else:
        power = exp(-constants.exponent * log(taut))
    return power


@generic
def _taut(constants: WaterConstants, volume_ratio: Any) -> Any:
    """J, at most the slack ratio: 1, or the ratio at which tension reaches the cohesion."""
    # NaN must propagate, so it is the second argument
    return minimum(constant(constants.slack, volume_ratio), volume_ratio)


@dataclass(frozen=True)
class Water(FluidLaw):
    """Parameters of weakly compressible water."""

    name = "water"
    label = "Water"
    help = "Flows and splashes (water, oil, honey)"
    state_names = ("volume_ratio",)
    virgin_state = (1.0,)
    scalable = ("density", "stiffness", "strength")
    family = "Fluids"
    color = (0.05, 0.25, 0.80, 1.0)
    finish = Finish(roughness=0.02, transmission=1.0, absorption_depth=0.7, ior=1.333)
    constants_type = WaterConstants
    variants: ClassVar[Mapping[str, type]] = {TENSE: TenseWaterConstants}
    advance = staticmethod(advance)
    fluid_energy = staticmethod(fluid_energy)
    fluid_stress = staticmethod(fluid_stress)
    wave_speed_squared = staticmethod(wave_speed_squared)

    stiffness: str = parameter(
        GIVEN,
        choices={
            AUTOMATIC: "As high as the greatest speed requires that the fluid can reach in the scene, and no higher",
            GIVEN: "The bulk modulus below",
        },
        help="What decides how much the fluid resists compression; automatic keeps the volume at any size and bakes fastest",
    )
    bulk_modulus: float = parameter(
        2.0e5,
        unit="Pa",
        above=0.0,
        help="Resistance to compression; higher values keep the volume in fast flows and bake slower (slow pools 2e5, up to 4.5 m/s 2e6)",
    )
    equation_of_state: str = parameter(
        "tait",
        choices={"tait": "Stiffens under compression; suitable for water", "linear": "Pressure rises linearly; gentler on hard impacts"},
        help="How pressure rises under compression",
    )
    exponent: float = parameter(
        USUAL_EXPONENT,
        above=1.0,
        maximum=20.0,
        help="Exponent of Tait's equation of state; higher values stiffen the fluid faster under compression (water 7)",
    )
    viscosity: float = parameter(0.001, unit="Pa s", minimum=0.0, help="Thickness of the fluid (water 0.001, oil 0.1, syrup 2, honey 19)")
    cohesion: float = parameter(
        0.0,
        unit="Pa",
        minimum=0.0,
        help="Tension that the fluid withstands before it breaks apart; a little of it makes streams taper (spray 0, water 30)",
    )
    surface_tension: float = parameter(
        0.0,
        unit="N/m",
        minimum=0.0,
        help="Pull along the surface that rounds drops and breaks threads; it only shows at scales of millimeters, and shortens substeps "
        "on fine grids (off 0, alcohol 0.022, water 0.072, mercury 0.485)",
    )

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {**({"stiffness": GIVEN} if "bulk_modulus" in values else {}), **values}

    @classmethod
    def idle(cls, values: Any) -> frozenset[str]:
        settled = {"bulk_modulus"} if values.stiffness == AUTOMATIC else set()
        return frozenset(settled | ({"exponent"} if values.equation_of_state == "linear" else set()))

    def scaled(self, factors: Factors) -> "Water":
        """Strength scales the cohesion."""
        return replace(self, cohesion=factors.strength * self.cohesion)

    @property
    def kernel_name(self) -> str:
        return TENSE if self.surface_tension > 0.0 else self.name

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> WaterConstants | TenseWaterConstants:
        modulus = self.bulk_modulus * stiffness_scale
        is_linear = self.equation_of_state == "linear"
        stiffness = modulus if is_linear else modulus / self.exponent
        slack = self._slack(stiffness)
        tension = stiffness * ((slack - 1.0) if is_linear else (1.0 - slack**-self.exponent))
        viscous = (self.viscosity, self.density, float(is_linear), slack, tension, 2.0 / dimension * self.viscosity)
        if self.surface_tension > 0.0:
            return TenseWaterConstants(stiffness, self.exponent, *viscous, self.surface_tension)
        return WaterConstants(stiffness, self.exponent, *viscous)

    def with_pressure_of(self, other: "Water", volume_ratio: NDArray[np.float64], stiffness_scale: float = 1.0) -> NDArray[np.float64]:
        """The J at which this water has the pressure that another, with the same equation of state, has at some J."""
        ratio = other.bulk_modulus / self.bulk_modulus
        slack, its = (each._slack(each.constants(stiffness_scale).stiffness) for each in (self, other))
        taut = np.minimum(volume_ratio, its)
        if self.equation_of_state == "linear":
            same = 1.0 - ratio * (1.0 - taut)
        else:
            # no tension is greater than that at its slack, which a soft fluid may not even reach
            same = np.maximum(1.0 + ratio * (taut**-self.exponent - 1.0), slack**-self.exponent) ** (-1.0 / self.exponent)
        same = np.minimum(same, slack)
        return np.where(volume_ratio < its, same, np.maximum(volume_ratio, slack))

    def greatest_viscosity(self, stiffness_scale: float = 1.0) -> float:
        return self.viscosity

    def capillary_limit(self, spacing: float, mass_scale: float = 1.0) -> float:
        if self.surface_tension == 0.0:
            return math.inf
        return math.sqrt(self.density * mass_scale * spacing**3 / (2.0 * math.pi * self.surface_tension))

    def _slack(self, stiffness: float) -> float:
        """The J at which tension reaches the cohesion; 1 without cohesion."""
        share = self.cohesion / stiffness
        if self.equation_of_state == "linear":
            return min(1.0 + share, GREATEST_FLUID_RATIO)
        return GREATEST_FLUID_RATIO if share >= 1.0 else min((1.0 - share) ** (-1.0 / self.exponent), GREATEST_FLUID_RATIO)
