"""Hardening snow (Stomakhin, Schroeder, Chai, Teran and Selle 2013).

Corotated or Neo-Hookean elasticity whose stretches are clamped to [1 - theta_c, 1 + theta_s]; the clamped part changes the plastic
volume ratio J_P, and the moduli grow by exp(xi (1 - J_P)): packed snow is hard, loose snow falls apart.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..arithmetic.operations import clamp, exp, generic, minimum
from ..parameters import parameter
from .elasticity import (
    ElasticLaw,
    corotated_principal_energy,
    corotated_principal_stress,
    elastic_wave_speed_squared,
    logarithmic_wave_speed_squared,
    neo_hookean_principal_energy,
    neo_hookean_principal_stress,
)
from .factors import Factors
from .finish import GRAINS, Finish
from .law import PrincipalLaw

GREATEST_CRITICAL_STRETCH = 1.0
# Stress at the edges and tips of an object that hits a floor, relative to that of a face: 5 for balls and tilted cubes of 10 to 20 cells.
EDGE_CONCENTRATION = 5.0


class SnowConstants(NamedTuple):
    mu: float
    lam: float
    density: float
    least_stretch: float
    greatest_stretch: float
    hardening: float
    volume_ratio_min: float
    volume_ratio_max: float
    is_neo_hookean: float


@generic
def project(constants: SnowConstants, s: Any, state: Any, dt: Any) -> Any:
    """Clamp the stretches; J_P <- J_P det(F_trial) / det(F_E)."""
    s0, s1, s2 = s
    (plastic_volume_ratio,) = state
    t0 = clamp(s0, constants.least_stretch, constants.greatest_stretch)
    t1 = clamp(s1, constants.least_stretch, constants.greatest_stretch)
    t2 = clamp(s2, constants.least_stretch, constants.greatest_stretch)
    plastic_volume_ratio = plastic_volume_ratio * ((s0 * s1 * s2) / (t0 * t1 * t2))
    return (t0, t1, t2), (clamp(plastic_volume_ratio, constants.volume_ratio_min, constants.volume_ratio_max),)


@generic
def principal_stress(constants: SnowConstants, s: Any, state: Any) -> Any:
    factor = _hardening_factor(constants, state)
    mu, lam = factor * constants.mu, factor * constants.lam
    if constants.is_neo_hookean > 0.0:
        tau = neo_hookean_principal_stress(mu, lam, s)
    else:
        tau = corotated_principal_stress(mu, lam, s)
    return tau


@generic
def principal_energy(constants: SnowConstants, s: Any, state: Any) -> Any:
    factor = _hardening_factor(constants, state)
    mu, lam = factor * constants.mu, factor * constants.lam
    if constants.is_neo_hookean > 0.0:
        density = neo_hookean_principal_energy(mu, lam, s)
    else:
        density = corotated_principal_energy(mu, lam, s)
    return density


@generic
def wave_speed_squared(constants: SnowConstants, volume_ratio: Any, state: Any) -> Any:
    """(lambda + 2 mu) / rho [m^2/s^2], hardened by `_hardening_factor`; packed snow is also denser, by 1 / J_P."""
    factor = _hardening_factor(constants, state)
    (plastic_volume_ratio,) = state
    packed = minimum(plastic_volume_ratio, 0.0 * volume_ratio + 1.0)
    mu, lam = factor * constants.mu, factor * constants.lam
    if constants.is_neo_hookean > 0.0:
        speed = logarithmic_wave_speed_squared(mu, lam, constants.density, volume_ratio)
    else:
        speed = elastic_wave_speed_squared(mu, lam, constants.density, volume_ratio)
    return packed * speed


@generic
def _hardening_factor(constants: SnowConstants, state: Any) -> Any:
    """exp(xi (1 - J_P))."""
    (plastic_volume_ratio,) = state
    return exp(constants.hardening * (1.0 - plastic_volume_ratio))


@dataclass(frozen=True)
class Snow(PrincipalLaw, ElasticLaw):
    """Parameters of snow; the defaults are the reference values of Stomakhin 2013, table 2."""

    name = "snow"
    label = "Snow"
    help = "Packs, hardens, and breaks into chunks and powder"
    state_names = ("plastic_volume_ratio",)
    virgin_state = (1.0,)
    scalable = ("density", "stiffness", "strength")
    family = "Snow"
    color = (0.86, 0.90, 0.95, 1.0)
    finish = Finish(mode=GRAINS, roughness=0.75, subsurface=0.6, variation=0.08, flatness=0.45)
    constants_type = SnowConstants
    project = staticmethod(project)
    principal_stress = staticmethod(principal_stress)
    principal_energy = staticmethod(principal_energy)
    wave_speed_squared = staticmethod(wave_speed_squared)

    density: float = parameter(400.0, unit="kg/m^3", above=0.0, help="Mass per volume (fresh powder 150, packed 400, wet 500)")
    young_modulus: float = parameter(
        1.4e5,
        unit="Pa",
        above=0.0,
        help="Stiffness before the snow packs; higher values keep chunks together and bake slower (powder 3e4, packed 1.4e5, icy 3e5)",
    )
    poisson_ratio: float = parameter(0.2, minimum=0.0, below=0.5, help="How much the snow bulges sideways under compression (0.2)")
    critical_compression: float = parameter(
        2.5e-2, minimum=0.0, maximum=0.9, help="Compression at which the snow packs (powder 0.015, packed 0.025, wet and chunky 0.04)"
    )
    critical_stretch: float = parameter(
        7.5e-3,
        minimum=0.0,
        maximum=GREATEST_CRITICAL_STRETCH,
        help="Stretch at which the snow breaks (powder 0.004, packed 0.0075, wet and chunky 0.01)",
    )
    hardening: float = parameter(
        10.0, minimum=0.0, maximum=100.0, help="How much the snow hardens as it packs (wet 5, packed 10, icy and brittle 12)"
    )
    volume_ratio_min: float = parameter(
        0.6,
        above=0.0,
        maximum=1.0,
        help="Smallest volume to which the snow packs, relative to the original; lower values harden more and bake slower (packed "
        "0.6, icy 0.8)",
    )
    volume_ratio_max: float = parameter(
        20.0, minimum=1.0, maximum=1000.0, help="Largest volume to which the snow loosens, as a multiple of the original"
    )

    elasticity: str = parameter(
        "corotated",
        choices={
            "corotated": "The standard model; soft when flattened",
            "neo_hookean": "Pushes back harder the more it is compressed",
        },
        help="Elastic model, which applies until the snow packs or breaks",
    )

    def volume_ratio(self, elastic: Any, state: Any) -> Any:
        return elastic * state[0]

    def scaled(self, factors: Factors) -> "Snow":
        """Strength scales the stretch at which snow begins to break."""
        return replace(self, critical_stretch=min(factors.strength * self.critical_stretch, GREATEST_CRITICAL_STRETCH))

    def stiffening(self, wave_speed: float, impact_speed: float) -> float:
        """An impact packs snow until it can support the stress at an edge, k rho c v.

        Yielding snow supports (lambda + 2 mu) theta_c exp(xi (1 - J_P)), and rho c v is the pressure of a sudden stop
        (Joukowsky 1898); the stress at edges and tips is k times as great.
        """
        if self.hardening == 0.0 or impact_speed <= 0.0:
            return 1.0
        bearing = wave_speed * self.critical_compression
        excess = EDGE_CONCENTRATION * impact_speed / bearing if bearing > 0.0 else math.inf
        # beyond J_P = 1 / xi the moduli grow more slowly than the density
        most = min(1.0 - self.volume_ratio_min, max(0.0, 1.0 - 1.0 / self.hardening))
        packing = min(math.log(max(1.0, excess)) / self.hardening, most)
        return max(1.0, math.sqrt((1.0 - packing) * math.exp(self.hardening * packing)))

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> SnowConstants:
        return SnowConstants(
            *self.lame(stiffness_scale),
            self.density,
            1.0 - self.critical_compression,
            1.0 + self.critical_stretch,
            self.hardening,
            self.volume_ratio_min,
            self.volume_ratio_max,
            float(self.elasticity == "neo_hookean"),
        )
