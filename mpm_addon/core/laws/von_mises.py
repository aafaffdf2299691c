"""Elasticity with a yield stress (von Mises 1913): clay, dough, metal.

On Hencky strain, by radial return (Simo and Hughes 1998, box 3.1): the deviator of the Kirchhoff stress is scaled back to
|dev tau| = sqrt(2/3) (yield stress + hardening * plastic strain); the trace is unchanged, since plastic flow preserves
volume. A bar in tension yields at the yield stress, simple shear at the yield stress / sqrt 3.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..arithmetic.operations import constant, generic, select
from ..parameters import parameter
from .factors import Factors
from .finish import Finish
from .hencky import HenckyLaw, axes


class VonMisesConstants(NamedTuple):
    mu: float
    lam: float
    density: float
    yield_strain: float
    hardening_strain: float
    flow_share: float
    axis_share: float
    depth: float


@generic
def flow(constants: VonMisesConstants, trace: Any, shear: Any, state: Any, dt: Any) -> Any:
    """Scale the deviator back to the yield surface; the state is the equivalent plastic strain, sum of sqrt(2/3) |de_p|."""
    (plastic_strain,) = state
    zero, one = constant(0.0, shear), constant(1.0, shear)
    excess = shear - constants.yield_strain - constants.hardening_strain * plastic_strain
    # flow_share accounts for hardening during the flow
    flowed = select(excess <= 0.0, zero, constants.flow_share * excess)
    return trace, 1.0 - flowed / select(shear > 0.0, shear, one), (plastic_strain + 0.816496580927726 * flowed,)


@dataclass(frozen=True)
class VonMises(HenckyLaw):
    """Parameters of clay, dough and metal."""

    name = "von_mises"
    label = "Clay, Dough, Metal (von Mises)"
    help = "Dents and bends permanently (clay, dough, soft metal)"
    state_names = ("plastic_strain",)
    virgin_state = (0.0,)
    scalable = ("density", "stiffness", "strength")
    family = "Plastic"
    finish = Finish(own_mesh=True, roughness=0.6, bump=0.2)
    constants_type = VonMisesConstants
    flow = staticmethod(flow)

    density: float = parameter(1800.0, unit="kg/m^3", above=0.0, help="Mass per volume (dough 1200, clay 1850, lead 11340)")
    young_modulus: float = parameter(
        1.0e6,
        unit="Pa",
        above=0.0,
        help="Stiffness before the material yields; higher values keep edges and bake slower (dough 5e4, clay 1.8e6, soft metal 1.6e7)",
    )
    yield_stress: float = parameter(
        1.0e4,
        unit="Pa",
        above=0.0,
        help="Tensile stress beyond which the material deforms permanently (dough 1800, clay 2e4, soft metal 2e5)",
    )
    hardening: float = parameter(
        0.0, unit="Pa", minimum=0.0, help="How much the material hardens where it deforms (dough 0, clay 1e4, soft metal 2e5)"
    )

    def scaled(self, factors: Factors) -> "VonMises":
        """Strength scales the yield stress."""
        return replace(self, yield_stress=factors.strength * self.yield_stress)

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> VonMisesConstants:
        mu, lam = self.lame(stiffness_scale)
        strain = math.sqrt(2.0 / 3.0) / (2.0 * mu)
        return VonMisesConstants(
            mu,
            lam,
            self.density,
            strain * self.yield_stress,
            strain * self.hardening,
            1.0 / (1.0 + self.hardening / (3.0 * mu)),
            *axes(dimension),
        )
