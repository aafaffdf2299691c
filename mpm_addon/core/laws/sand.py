"""Dry sand: Drucker-Prager plasticity on Hencky strain (Klar, Gast, Pradhana, Fu, Schroeder, Jiang and Teran 2016) with the
volume correction of Tampubolon et al. 2017 (section 4.3.4).

In 3D simple shear this cone flows at tau/p = 3 alpha / sqrt 2, so that a friction angle of 30 degrees acts as a slope of
34.7 degrees.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import SceneError
from ..kernels.arithmetic import constant, exp, generic, select, sin, sqrt
from ..parameters import parameter
from .elasticity import (
    ElasticLaw,
    elastic_wave_speed_squared,
    hencky_principal_energy,
    hencky_principal_stress,
    hencky_strain,
)
from .law import PrincipalLaw

KLAR_HARDENING = (35.0, 9.0, 0.2, 10.0)


class SandConstants(NamedTuple):
    mu: float
    lam: float
    density: float
    cone_factor: float
    h0: float
    h1: float
    h2: float
    h3: float


@generic
def project(constants: SandConstants, s: Any, state: Any, dt: Any) -> Any:
    """The return mapping of Klar 2016, section 7.3: expansion to the tip, shear back to the cone.

    The state is the hardening q and the volume v_c that expansion has added [Hencky strain].
    """
    s0, s1, s2 = s
    hardening, added_volume = state
    e0, e1, e2 = hencky_strain(s)
    trial_trace = e0 + e1 + e2
    shift = added_volume * (1.0 / 3.0)
    e0, e1, e2 = e0 + shift, e1 + shift, e2 + shift
    trace = e0 + e1 + e2
    mean = trace * (1.0 / 3.0)
    d0, d1, d2 = e0 - mean, e1 - mean, e2 - mean
    shear = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    excess = shear + constants.cone_factor * trace * _cone_slope(constants, hardening)

    zero = constant(0.0, s0)
    one = constant(1.0, s0)
    is_expanded = trace > 0.0
    is_elastic = (excess <= 0.0) & (trace <= 0.0)
    scale = 1.0 - excess / select(shear > 0.0, shear, one)
    r0 = select(is_elastic, s0, select(is_expanded, one, exp(mean + scale * d0)))
    r1 = select(is_elastic, s1, select(is_expanded, one, exp(mean + scale * d1)))
    r2 = select(is_elastic, s2, select(is_expanded, one, exp(mean + scale * d2)))
    flow = select(is_elastic, zero, select(is_expanded, sqrt(e0 * e0 + e1 * e1 + e2 * e2), excess))
    # v_c + ln det F_trial - ln det F_new: the tip forgets all of the trace, the cone keeps it
    added_volume = select(is_elastic, added_volume, select(is_expanded, added_volume + trial_trace, zero))
    return (r0, r1, r2), (hardening + flow, added_volume)


@generic
def _cone_slope(constants: SandConstants, hardening: Any) -> Any:
    """alpha = sqrt(2/3) 2 sin phi / (3 - sin phi), phi = h0 + (h1 q - h3) exp(-h2 q) (Klar 2016, eq. 31 and 32)."""
    angle = (constants.h1 * hardening - constants.h3) * exp(-constants.h2 * hardening) + constants.h0
    sine = sin(angle)
    return 1.632993161855452 * sine / (3.0 - sine)


@generic
def principal_stress(constants: SandConstants, s: Any, state: Any) -> Any:
    return hencky_principal_stress(constants.mu, constants.lam, s)


@generic
def principal_energy(constants: SandConstants, s: Any, state: Any) -> Any:
    return hencky_principal_energy(constants.mu, constants.lam, s)


@generic
def wave_speed_squared(constants: SandConstants, volume_ratio: Any, state: Any) -> Any:
    return elastic_wave_speed_squared(constants.mu, constants.lam, constants.density, volume_ratio)


@dataclass(frozen=True)
class Sand(PrincipalLaw, ElasticLaw):
    """Parameters of dry sand; the defaults are those of Klar 2016."""

    name = "sand"
    label = "Sand"
    state_names = ("hardening", "added_volume")
    virgin_state = (0.0, 0.0)
    constants_type = SandConstants
    project = staticmethod(project)
    principal_stress = staticmethod(principal_stress)
    principal_energy = staticmethod(principal_energy)
    wave_speed_squared = staticmethod(wave_speed_squared)

    density: float = parameter(2200.0, unit="kg/m^3", above=0.0, help="Mass of the undeformed sand per volume")
    young_modulus: float = parameter(3.537e5, unit="Pa", above=0.0, help="Stiffness of the grains' packing")
    poisson_ratio: float = parameter(0.3, minimum=0.0, below=0.5, help="How much the packing bulges sideways when pressed")
    friction_angle: float | None = parameter(
        None, unit="degrees", minimum=0.0, below=90.0, example=35.0, help="Constant angle of inner friction; a larger one heaps steeper"
    )
    friction_hardening: tuple[float, float, float, float] | None = parameter(
        None,
        unit="degrees",
        minimum=0.0,
        example=KLAR_HARDENING,
        help="h0, h1, h2, h3 of a friction angle that grows with flow, h0 + (h1 q - h3) exp(-h2 q); "
        "35, 9, 0.2, 10 where neither this nor friction_angle is given",
    )

    def check(self, subject: str) -> None:
        super().check(subject)
        if self.friction_angle is not None and self.friction_hardening is not None:
            raise SceneError(f"{subject}: friction_angle and friction_hardening are both given; give one of them.")
        h0, h1, h2, h3 = self._hardening_degrees()
        if h0 < h3 or (h0 == h3 and h0 > 0.0):
            raise SceneError(f"{subject}: friction_hardening h0 {h0:g} degrees is not above h3 {h3:g} degrees; raise h0.")
        # the angle is greatest where its derivative vanishes, at q = 1/h2 + h3/h1
        greatest = h0 if h1 == 0.0 else math.inf if h2 == 0.0 else h0 + h1 / h2 * math.exp(-1.0 - h2 * h3 / h1)
        if greatest >= 90.0:
            raise SceneError(
                f"{subject}: friction_hardening lets the friction angle grow to {greatest:g} degrees; "
                "it must stay below 90 degrees: lower h0 or h1, or raise h2."
            )

    def _hardening_degrees(self) -> tuple[float, float, float, float]:
        if self.friction_angle is not None:
            return self.friction_angle, 0.0, 0.0, 0.0
        return self.friction_hardening or KLAR_HARDENING

    def volume_ratio(self, elastic: Any, state: Any) -> Any:
        return elastic * np.exp(state[1])

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> SandConstants:
        mu, lam = self.lame(stiffness_scale)
        h0, h1, h2, h3 = self._hardening_degrees()
        return SandConstants(
            mu, lam, self.density, (3.0 * lam + 2.0 * mu) / (2.0 * mu), math.radians(h0), math.radians(h1), h2, math.radians(h3)
        )
