"""Neo-Hookean elasticity (Bonet and Wood 1997): rubber.

Psi = mu/2 (tr F^T F - 3) - mu ln J + lambda/2 ln^2 J and tau = mu (F F^T - I) + lambda ln J I.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..arithmetic.linalg import determinant, squared_norm, times_transpose
from ..arithmetic.operations import generic
from .elasticity import LEAST_VOLUME_RATIO, log_volume_ratio, logarithmic_wave_speed_squared
from .finish import JELLY
from .hyperelastic import HyperelasticLaw, neo_hookean_rest_speed_squared


class NeoHookeanConstants(NamedTuple):
    mu: float
    lam: float
    density: float


@generic
def energy(constants: NeoHookeanConstants, deformation: Any) -> Any:
    log_volume = log_volume_ratio(determinant(deformation))
    return (
        0.5 * constants.mu * (squared_norm(deformation) - 3.0) - constants.mu * log_volume + 0.5 * constants.lam * log_volume * log_volume
    )


@generic
def stress(constants: NeoHookeanConstants, deformation: Any, velocity_gradient: Any) -> Any:
    diagonal = constants.lam * log_volume_ratio(determinant(deformation)) - constants.mu
    xx, xy, xz, yy, yz, zz = times_transpose(deformation, deformation)
    mu = constants.mu
    return mu * xx + diagonal, mu * xy, mu * xz, mu * yy + diagonal, mu * yz, mu * zz + diagonal


@generic
def wave_speed_squared(constants: NeoHookeanConstants, volume_ratio: Any, state: Any) -> Any:
    return logarithmic_wave_speed_squared(constants.mu, constants.lam, constants.density, volume_ratio)


@dataclass(frozen=True)
class NeoHookean(HyperelasticLaw):
    """Parameters of Neo-Hookean elasticity."""

    name = "neo_hookean"
    label = "Rubber (Neo-Hookean)"
    help = "Springs back, and harder the more it is compressed (rubber, tires)"
    least_volume_ratio = LEAST_VOLUME_RATIO
    family = "Elastic"
    color = (0.10, 0.55, 0.12, 1.0)
    finish = JELLY
    constants_type = NeoHookeanConstants
    energy = staticmethod(energy)
    stress = staticmethod(stress)
    wave_speed_squared = staticmethod(wave_speed_squared)
    rest_speed_squared = staticmethod(neo_hookean_rest_speed_squared)

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> NeoHookeanConstants:
        return NeoHookeanConstants(*self.lame(stiffness_scale), self.density)
