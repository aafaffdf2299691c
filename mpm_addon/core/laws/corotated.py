"""Fixed corotated elasticity (Stomakhin, Howes, Schroeder and Teran 2012): jelly that survives extreme bending.

Psi = mu |F - R|^2 + lambda/2 (J - 1)^2 and tau = 2 mu (F - R) F^T + lambda (J - 1) J I, R the polar rotation of F.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..kernels.arithmetic import generic
from ..kernels.linalg import determinant, plane_polar_rotation, polar_rotation, squared_norm, times_transpose
from .elasticity import ElasticLaw, elastic_wave_speed_squared
from .law import TensorLaw


class CorotatedConstants(NamedTuple):
    mu: float
    lam: float
    density: float
    dimension: float


@generic
def energy(constants: CorotatedConstants, deformation: Any) -> Any:
    change = determinant(deformation) - 1.0
    return constants.mu * squared_norm(_stretch(constants, deformation)) + 0.5 * constants.lam * change * change


@generic
def stress(constants: CorotatedConstants, deformation: Any, velocity_gradient: Any) -> Any:
    volume_ratio = determinant(deformation)
    pressure = constants.lam * (volume_ratio - 1.0) * volume_ratio
    xx, xy, xz, yy, yz, zz = times_transpose(_stretch(constants, deformation), deformation)
    twice = 2.0 * constants.mu
    return twice * xx + pressure, twice * xy, twice * xz, twice * yy + pressure, twice * yz, twice * zz + pressure


@generic
def wave_speed_squared(constants: CorotatedConstants, volume_ratio: Any, state: Any) -> Any:
    return elastic_wave_speed_squared(constants.mu, constants.lam, constants.density, volume_ratio)


@generic
def _stretch(constants: CorotatedConstants, deformation: Any) -> Any:
    """F - R."""
    if constants.dimension == 2.0:
        rotation = plane_polar_rotation(deformation)
    else:
        rotation = polar_rotation(deformation)
    a, b, c, d, e, f, g, h, i = deformation
    r, s, t, u, v, w, x, y, z = rotation
    return a - r, b - s, c - t, d - u, e - v, f - w, g - x, h - y, i - z


@dataclass(frozen=True)
class Corotated(TensorLaw, ElasticLaw):
    """Parameters of fixed corotated elasticity."""

    name = "corotated"
    label = "Jelly (corotated elastic)"
    constants_type = CorotatedConstants
    energy = staticmethod(energy)
    stress = staticmethod(stress)
    wave_speed_squared = staticmethod(wave_speed_squared)

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> CorotatedConstants:
        return CorotatedConstants(*self.lame(stiffness_scale), self.density, float(dimension))
