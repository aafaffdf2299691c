"""Damped rubber: Neo-Hookean elasticity with Kelvin-Voigt damping, proportional to stiffness (Rayleigh).

tau = tau_elastic(F) + J t (2 mu D + lambda tr(D) I), D = (L + L^T) / 2, with the damping time t, which gives a shear viscosity of t mu
[Pa s]. A small oscillation of angular frequency omega has the damping ratio t omega / 2, at any resolution and substep. Rotation is
not damped.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..arithmetic.linalg import determinant
from ..arithmetic.operations import generic
from ..parameters import parameter
from .elasticity import LEAST_VOLUME_RATIO, logarithmic_wave_speed_squared
from .finish import JELLY
from .hyperelastic import HyperelasticLaw, neo_hookean_rest_speed_squared
from .neo_hookean import energy as neo_hookean_energy
from .neo_hookean import stress as neo_hookean_stress


class DampedElasticConstants(NamedTuple):
    mu: float
    lam: float
    density: float
    damping_time: float


@generic
def stress(constants: Any, deformation: Any, velocity_gradient: Any) -> Any:
    a, b, c, d, e, f, g, h, i = velocity_gradient
    xx, xy, xz, yy, yz, zz = neo_hookean_stress(constants, deformation, velocity_gradient)
    time = constants.damping_time * determinant(deformation)
    shear = constants.mu * time
    bulk = constants.lam * time * (a + e + i)
    return (
        xx + 2.0 * shear * a + bulk, xy + shear * (b + d), xz + shear * (c + g),
        yy + 2.0 * shear * e + bulk, yz + shear * (f + h), zz + 2.0 * shear * i + bulk,
    )  # fmt: skip


@generic
def wave_speed_squared(constants: DampedElasticConstants, volume_ratio: Any, state: Any) -> Any:
    return logarithmic_wave_speed_squared(constants.mu, constants.lam, constants.density, volume_ratio)


@dataclass(frozen=True)
class DampedElastic(HyperelasticLaw):
    """Parameters of damped rubber."""

    name = "damped_elastic"
    label = "Damped Rubber"
    help = "Bounces and wobbles, then comes to rest (rubber, jelly, sponge)"
    least_volume_ratio = LEAST_VOLUME_RATIO
    family = "Elastic"
    finish = JELLY
    constants_type = DampedElasticConstants
    energy = staticmethod(neo_hookean_energy)
    stress = staticmethod(stress)
    wave_speed_squared = staticmethod(wave_speed_squared)
    rest_speed_squared = staticmethod(neo_hookean_rest_speed_squared)

    density: float = parameter(1100.0, unit="kg/m^3", above=0.0, help="Mass per volume (sponge 50, rubber 950, jelly 1050)")
    damping_time: float = parameter(
        0.002, unit="s", minimum=0.0, help="How quickly wobbling dies away (none 0, rubber 6e-4, jelly 0.003, soft gelatin 0.012)"
    )

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> DampedElasticConstants:
        return DampedElasticConstants(*self.lame(stiffness_scale), self.density, self.damping_time)

    def viscosities(self, stiffness_scale: float = 1.0) -> tuple[float, float]:
        mu, lam = self.lame(stiffness_scale)
        return self.damping_time * mu, self.damping_time * lam

    def greatest_viscosity(self, stiffness_scale: float = 1.0) -> float:
        """The viscosity of compression waves, t (lambda + 2 mu)."""
        mu, lam = self.lame(stiffness_scale)
        return self.damping_time * (lam + 2.0 * mu)
