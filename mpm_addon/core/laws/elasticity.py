"""Shared by the elastic laws: moduli, and the stress of isotropic energies in principal stretches."""

from dataclasses import dataclass
from typing import Any

from ..arithmetic.operations import generic, log, maximum, minimum
from ..parameters import parameter
from .law import Law

# ln J is undefined for inverted material; below this ratio the stress no longer grows
LEAST_VOLUME_RATIO = 1e-6


@dataclass(frozen=True)
class ElasticLaw(Law):
    """The parameters of isotropic elasticity, and of the contact with other solids."""

    young_modulus: float = parameter(
        1.0e5,
        unit="Pa",
        above=0.0,
        help="Stiffness; higher values sag less, bounce higher and bake slower (soft gelatin 1e4, firm jelly 5e4, rubber 1e6)",
    )
    poisson_ratio: float = parameter(
        0.3,
        minimum=0.0,
        below=0.5,
        help="How much the material bulges sideways under compression (sponge 0, most solids 0.3, volume-preserving 0.45)",
    )

    contact_friction: float = parameter(
        0.5,
        minimum=0.0,
        maximum=100.0,
        help="Coulomb friction against other solids; a pair uses the geometric mean (ice 0.05, wood 0.4, rubber 1)",
    )
    adhesion: float = parameter(
        0.0,
        unit="Pa",
        minimum=0.0,
        help="Tension at which it separates from solids with another body name; a pair uses the geometric mean (0 never sticks)",
    )

    def lame(self, stiffness_scale: float) -> tuple[float, float]:
        """Lame's mu and lambda [Pa]."""
        young, poisson = self.young_modulus * stiffness_scale, self.poisson_ratio
        return young / (2.0 * (1.0 + poisson)), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))


@generic
def elastic_wave_speed_squared(mu: Any, lam: Any, density: float, volume_ratio: Any) -> Any:
    """(lambda + 2 mu) / rho [m^2/s^2]; rho is the current density, at most the rest density."""
    return (lam + 2.0 * mu) * maximum(volume_ratio, 0.0 * volume_ratio + 1.0) * (1.0 / density)


@generic
def log_volume_ratio(volume_ratio: Any) -> Any:
    """ln J, with J at least `LEAST_VOLUME_RATIO`."""
    return log(maximum(volume_ratio, 0.0 * volume_ratio + LEAST_VOLUME_RATIO))


@generic
def logarithmic_wave_speed_squared(mu: Any, lam: Any, density: float, volume_ratio: Any) -> Any:
    """The squared wave speed [m^2/s^2] for a pressure lambda ln J: the bulk term stiffens by (1 - ln J) under compression."""
    stiffening = 1.0 - minimum(log_volume_ratio(volume_ratio), 0.0 * volume_ratio)
    return elastic_wave_speed_squared(mu, lam * stiffening, density, volume_ratio)


@generic
def corotated_principal_stress(mu: Any, lam: Any, s: Any) -> Any:
    """tau_i = 2 mu (s_i - 1) s_i + lambda (J - 1) J (Stomakhin 2012)."""
    s0, s1, s2 = s
    volume_ratio = s0 * s1 * s2
    pressure = lam * (volume_ratio - 1.0) * volume_ratio
    return (
        2.0 * mu * (s0 - 1.0) * s0 + pressure,
        2.0 * mu * (s1 - 1.0) * s1 + pressure,
        2.0 * mu * (s2 - 1.0) * s2 + pressure,
    )


@generic
def corotated_principal_energy(mu: Any, lam: Any, s: Any) -> Any:
    """Psi = mu sum (s_i - 1)^2 + lambda/2 (J - 1)^2 (Stomakhin 2012)."""
    s0, s1, s2 = s
    change = s0 * s1 * s2 - 1.0
    stretch = (s0 - 1.0) * (s0 - 1.0) + (s1 - 1.0) * (s1 - 1.0) + (s2 - 1.0) * (s2 - 1.0)
    return mu * stretch + 0.5 * lam * change * change


@generic
def neo_hookean_principal_stress(mu: Any, lam: Any, s: Any) -> Any:
    """tau_i = mu (s_i^2 - 1) + lambda ln J (Bonet and Wood 1997)."""
    s0, s1, s2 = s
    pressure = lam * log_volume_ratio(s0 * s1 * s2)
    return mu * (s0 * s0 - 1.0) + pressure, mu * (s1 * s1 - 1.0) + pressure, mu * (s2 * s2 - 1.0) + pressure


@generic
def neo_hookean_principal_energy(mu: Any, lam: Any, s: Any) -> Any:
    """Psi = mu/2 sum (s_i^2 - 1) - mu ln J + lambda/2 ln^2 J (Bonet and Wood 1997)."""
    s0, s1, s2 = s
    log_volume = log_volume_ratio(s0 * s1 * s2)
    return mu * (0.5 * (s0 * s0 + s1 * s1 + s2 * s2 - 3.0) - log_volume) + 0.5 * lam * log_volume * log_volume
