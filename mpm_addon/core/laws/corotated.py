"""Fixed corotated elasticity (Stomakhin, Howes, Schroeder and Teran 2012): jelly that survives extreme bending.

Psi = mu |F - R|^2 + lambda/2 (J - 1)^2 and tau = 2 mu (F - R) F^T + lambda (J - 1) J I, F = V R with the
polar rotation R and the stretch V.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..arithmetic.linalg import determinant, plane_polar_rotation, polar_rotation, times_transpose
from ..arithmetic.operations import any_of, generic, sqrt
from ..arithmetic.symmetric import SQUARE_ROOT, distortion, is_beyond_series, series, summed
from .elasticity import elastic_wave_speed_squared
from .finish import JELLY
from .hyperelastic import HyperelasticLaw, corotated_rest_speed_squared


class CorotatedConstants(NamedTuple):
    mu: float
    lam: float
    density: float
    dimension: float


@generic
def energy(constants: CorotatedConstants, deformation: Any) -> Any:
    """|F - R| is |V - I|."""
    change = determinant(deformation) - 1.0
    xx, xy, xz, yy, yz, zz = left_stretch(deformation, constants.dimension)
    diagonal = (xx - 1.0) * (xx - 1.0) + (yy - 1.0) * (yy - 1.0) + (zz - 1.0) * (zz - 1.0)
    return constants.mu * (diagonal + 2.0 * (xy * xy + xz * xz + yz * yz)) + 0.5 * constants.lam * change * change


@generic
def stress(constants: CorotatedConstants, deformation: Any, velocity_gradient: Any) -> Any:
    """(F - R) F^T is F F^T - V."""
    volume_ratio = determinant(deformation)
    pressure = constants.lam * (volume_ratio - 1.0) * volume_ratio
    a, b, c, d, e, f = times_transpose(deformation, deformation)
    xx, xy, xz, yy, yz, zz = left_stretch(deformation, constants.dimension)
    twice = 2.0 * constants.mu
    return (
        twice * (a - xx) + pressure, twice * (b - xy), twice * (c - xz),
        twice * (d - yy) + pressure, twice * (e - yz), twice * (f - zz) + pressure,
    )  # fmt: skip


@generic
def wave_speed_squared(constants: CorotatedConstants, volume_ratio: Any, state: Any) -> Any:
    return elastic_wave_speed_squared(constants.mu, constants.lam, constants.density, volume_ratio)


@generic
def left_stretch(deformation: Any, dimension: float) -> Any:
    """V of F = V R, 6 values."""
    if dimension == 2.0:
        stretch = times_transpose(deformation, plane_polar_rotation(deformation))
    else:
        stretch = _left_stretch_in_space(deformation)
    return stretch


@generic
def _left_stretch_in_space(deformation: Any) -> Any:
    """The square root of F F^T by its series, or F R^T where F is far from isotropic or inverted."""
    mean, x, m, n = distortion(times_transpose(deformation, deformation))
    if any_of(is_beyond_series(m) | (determinant(deformation) <= 0.0)):
        stretch = times_transpose(deformation, polar_rotation(deformation))
    else:
        root = sqrt(mean)
        p, q, r = series(SQUARE_ROOT, m, n)
        stretch = summed(root * p, root * q, root * r, x)
    return stretch


@dataclass(frozen=True)
class Corotated(HyperelasticLaw):
    """Parameters of fixed corotated elasticity."""

    name = "corotated"
    label = "Jelly (Corotated)"
    help = "Springs back to its shape and keeps wobbling (jelly, soft toys)"
    family = "Elastic"
    color = (0.75, 0.05, 0.06, 1.0)
    finish = JELLY
    constants_type = CorotatedConstants
    energy = staticmethod(energy)
    stress = staticmethod(stress)
    wave_speed_squared = staticmethod(wave_speed_squared)
    rest_speed_squared = staticmethod(corotated_rest_speed_squared)

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> CorotatedConstants:
        return CorotatedConstants(*self.lame(stiffness_scale), self.density, float(dimension))
