"""Sand, dry or wet: Drucker-Prager plasticity on Hencky strain (Klar, Gast, Pradhana, Fu, Schroeder, Jiang and Teran 2016) with the
volume correction of Tampubolon et al. 2017 (section 4.3.4).

In 3D simple shear this cone flows at tau/p = 3 alpha / sqrt 2, so that a friction angle of 30 degrees acts as a slope of
34.7 degrees. In 2D it flows at sin phi.

Cohesion, for wet sand, shifts the tip of the cone along the axis of mean stress, from zero stress to the tension `cohesion`, the
greatest mean tension [Pa] that the sand supports. Everything inside the shifted cone is elastic, including a small expansion; without
pressure the sand supports the shear that dry sand supports under a pressure of `cohesion`.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic.operations import constant, exp, generic, select, sin, sqrt
from ..errors import SceneError
from ..parameters import parameter
from .elasticity import elastic_wave_speed_squared
from .factors import Factors
from .finish import GRAINS, Finish
from .hencky import HenckyLaw, axes

KLAR_HARDENING = (35.0, 9.0, 0.2, 10.0)
# limit on the volumetric strain of the tip, which a cohesion greater than the stiffness would exceed
GREATEST_TIP = 1.0
# steepest friction angle that a painted factor can give [degrees]
STEEPEST = 89.0


class SandConstants(NamedTuple):
    mu: float
    lam: float
    density: float
    cone_factor: float
    h0: float
    h1: float
    h2: float
    h3: float
    slope_factor: float
    slope_base: float
    slope_sine: float
    tip: float
    axis_share: float
    depth: float


@generic
def flow(constants: SandConstants, trace: Any, shear: Any, state: Any, dt: Any) -> Any:
    """The return mapping of Klar 2016, section 7.3: expansion to the tip, shear back to the cone.

    The state is the hardening q and the volumetric Hencky strain v_c that expansion has added.
    """
    hardening, added_volume = state
    zero, one, tip = constant(0.0, shear), constant(1.0, shear), constant(constants.tip, shear)
    corrected = trace + added_volume
    beyond = corrected - constants.tip
    excess = shear + constants.cone_factor * beyond * _cone_slope(constants, hardening)
    is_expanded = beyond > 0.0
    is_elastic = (excess <= 0.0) & (beyond <= 0.0)
    kept = 1.0 - excess / select(shear > 0.0, shear, one)
    # |e - e_tip|, whose mean part is beyond / sqrt d
    flowed = select(is_expanded, sqrt(shear * shear + constants.axis_share * beyond * beyond), excess)
    # v_c + ln det F_trial - ln det F_new: the tip discards the trace beyond it, the cone keeps it
    left_over = select(is_expanded, beyond, zero)
    return (
        select(is_elastic, trace, select(is_expanded, tip, corrected)),
        select(is_elastic, one, select(is_expanded, zero, kept)),
        (hardening + select(is_elastic, zero, flowed), select(is_elastic, added_volume, left_over)),
    )


@generic
def _cone_slope(constants: SandConstants, hardening: Any) -> Any:
    """alpha = sqrt(2/3) 2 sin phi / (3 - sin phi), phi = h0 + (h1 q - h3) exp(-h2 q) (Klar 2016, eq. 31 and 32).

    In 2D alpha = sin phi / sqrt 2, which satisfies the plane Mohr-Coulomb law tau/p = sin phi; the 3D value would not.
    """
    angle = (constants.h1 * hardening - constants.h3) * exp(-constants.h2 * hardening) + constants.h0
    sine = sin(angle)
    return constants.slope_factor * sine / (constants.slope_base - constants.slope_sine * sine)


@generic
def wave_speed_squared(constants: SandConstants, volume_ratio: Any, state: Any) -> Any:
    return elastic_wave_speed_squared(constants.mu, constants.lam, constants.density, volume_ratio)


@dataclass(frozen=True)
class Sand(HenckyLaw):
    """Parameters of sand; the defaults are those of Klar 2016."""

    name = "sand"
    label = "Sand"
    help = "Flows and piles up (dry sand, gravel; with cohesion, wet sand)"
    state_names = ("hardening", "added_volume")
    virgin_state = (0.0, 0.0)
    scalable = ("density", "stiffness", "friction", "strength")
    family = "Granular"
    color = (0.70, 0.48, 0.22, 1.0)
    finish = Finish(mode=GRAINS, roughness=0.95, variation=0.55)
    constants_type = SandConstants
    flow = staticmethod(flow)
    wave_speed_squared = staticmethod(wave_speed_squared)

    density: float = parameter(2200.0, unit="kg/m^3", above=0.0, help="Mass per volume (dry 1600, wet 1900, packed 2200)")
    young_modulus: float = parameter(
        3.537e5,
        unit="Pa",
        above=0.0,
        help="Stiffness of the packed grains; lower values bake faster and look the same (sand 3.5e5, gravel 6e5)",
    )
    poisson_ratio: float = parameter(0.3, minimum=0.0, below=0.5, help="How much the sand bulges sideways under compression (0.3)")
    friction_angle: float | None = parameter(
        None,
        unit="degrees",
        minimum=0.0,
        below=90.0,
        example=35.0,
        help="Steepness of a pile (round grains 25, sand 33, angular gravel 38)",
    )
    friction_hardening: tuple[float, float, float, float] | None = parameter(
        None,
        unit="degrees",
        minimum=0.0,
        example=KLAR_HARDENING,
        help="Friction angle that increases as the material flows: h0, h1, h2 and h3 of h0 + (h1 q - h3) exp(-h2 q), where q is the "
        "accumulated plastic strain (35, 9, 0.2, 10)",
    )

    cohesion: float = parameter(
        0.0, unit="Pa", minimum=0.0, help="How strongly the grains stick together (dry 0, damp 500, sand castle 1500)"
    )

    @property
    def mixes(self) -> bool:
        return True

    def check(self, subject: str) -> None:
        super().check(subject)
        if self.friction_angle is not None and self.friction_hardening is not None:
            raise SceneError("`friction_angle` and `friction_hardening` are both set", "set only one of them", subject=subject)
        h0, _, _, h3 = self._hardening_degrees()
        if h0 < h3 or (h0 == h3 and h0 > 0.0):
            raise SceneError(f"`friction_hardening` h0 {h0:g} degrees is not above h3 {h3:g} degrees", "raise h0", subject=subject)
        greatest = self._greatest_angle()
        if greatest >= 90.0:
            raise SceneError(
                f"`friction_hardening` lets the friction angle grow to {greatest:g} degrees",
                "lower h0 or h1, or raise h2, to stay below 90 degrees",
                subject=subject,
            )

    def _greatest_angle(self) -> float:
        """The greatest friction angle [degrees]: where its derivative vanishes, at q = 1/h2 + h3/h1."""
        h0, h1, h2, h3 = self._hardening_degrees()
        return h0 if h1 == 0.0 else math.inf if h2 == 0.0 else h0 + h1 / h2 * math.exp(-1.0 - h2 * h3 / h1)

    def _hardening_degrees(self) -> tuple[float, float, float, float]:
        if self.friction_angle is not None:
            return self.friction_angle, 0.0, 0.0, 0.0
        return self.friction_hardening or KLAR_HARDENING

    def volume_ratio(self, elastic: Any, state: Any) -> Any:
        return elastic * np.exp(state[1])

    def scaled(self, factors: Factors) -> "Sand":
        """Strength scales the cohesion. Of a hardening friction angle, friction scales the tangent of h0, and the other angles in
        proportion, as long as the greatest angle stays below 90 degrees."""
        cohesion = factors.strength * self.cohesion
        if factors.friction == 1.0:
            return replace(self, cohesion=cohesion)
        h0 = self._hardening_degrees()[0]
        angle = math.degrees(math.atan(factors.friction * math.tan(math.radians(h0))))
        if self.friction_angle is not None:
            return replace(self, friction_angle=angle, cohesion=cohesion)
        share = min(angle / h0, STEEPEST / self._greatest_angle()) if h0 > 0.0 else 1.0
        h0, h1, h2, h3 = self._hardening_degrees()
        return replace(self, friction_hardening=(share * h0, share * h1, h2, share * h3), cohesion=cohesion)

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> SandConstants:
        mu, lam = self.lame(stiffness_scale)
        h0, h1, h2, h3 = self._hardening_degrees()
        axis_share, depth = axes(dimension)
        slope = (math.sqrt(8.0 / 3.0), 3.0, 1.0) if dimension == 3 else (math.sqrt(0.5), 1.0, 0.0)
        tip = min(self.cohesion / (lam + 2.0 * mu * axis_share), GREATEST_TIP)
        return SandConstants(
            mu,
            lam,
            self.density,
            (dimension * lam + 2.0 * mu) / (2.0 * mu),
            math.radians(h0),
            math.radians(h1),
            h2,
            math.radians(h3),
            *slope,
            tip,
            axis_share,
            depth,
        )
