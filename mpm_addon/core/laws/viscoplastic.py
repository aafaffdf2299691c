"""Herschel-Bulkley fluid (Yue, Smith, Batty, Zheng and Grinspun 2015): mud, cream, foam, lava; without a yield stress, honey.

In simple shear at the rate g it flows at tau = yield stress + viscosity * g^exponent, where the yield stress is that in shear, as
measured by rheometers. Below the yield stress it is elastic; above it, the excess relaxes. Unlike the paper, it uses Hencky's
energy, so that the deviators of ln s and tau are parallel and the flow is one scalar equation.

With T = |dev tau| / sqrt 2, dT/dt = -mu ((T - yield) / viscosity)^(1 / exponent) by backward Euler: for X = T_trial - yield
and x = T - yield

    x + mu dt (x / viscosity)^(1 / exponent) = X,

which has one root in [0, X] for every dt: the flow does not limit the substep, and a long one ends at the yield stress.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..arithmetic.operations import constant, exp, generic, log, maximum, minimum, select
from ..parameters import parameter
from .factors import Factors
from .finish import Finish
from .hencky import HenckyLaw, axes

# From this yield stress on, it is a solid [Pa]: of the density of water, 40 cm of it stand upright.
SOLID = 2e3
# Newton steps; five reach 1.5e-14 for any exponent from 0.1 to 3
FLOW_STEPS = 6


class ViscoplasticConstants(NamedTuple):
    mu: float
    lam: float
    density: float
    yield_stress: float
    viscosity: float
    log_viscosity: float
    inverse_exponent: float
    axis_share: float
    depth: float


@generic
def flow(constants: ViscoplasticConstants, trace: Any, shear: Any, state: Any, dt: Any) -> Any:
    """Relax the deviator's excess over the yield stress for a time dt; the trace is unchanged."""
    one = constant(1.0, shear)
    trial = 1.4142135623730951 * constants.mu * shear
    excess = trial - constants.yield_stress
    remaining = (constants.yield_stress + relaxed(constants, excess, dt)) / select(trial > 0.0, trial, one)
    return trace, select(excess <= 0.0, one, remaining), state


@generic
def relaxed(constants: ViscoplasticConstants, excess: Any, dt: Any) -> Any:
    """x [Pa] of x + mu dt (x / viscosity)^m = X, m = 1 / exponent, for X > 0.

    Newton's method on ln(e^v + a e^(m v)) = 0 with v = ln(x / X) and a = mu dt X^(m - 1) / viscosity^m. The function is convex and
    increasing, and one of its two terms is 1 at the start, so the iterates decrease monotonically to the root for any m and a.
    """
    strain_stress = constants.mu * dt
    m = constants.inverse_exponent
    if m == 1.0:
        remaining = excess / (1.0 + strain_stress / constants.viscosity)
    else:
        size = log(maximum(excess, constant(1e-30, excess)))
        log_a = (m - 1.0) * size + (log(maximum(strain_stress, 1e-300)) - m * constants.log_viscosity)
        v = minimum(constant(0.0, excess), -log_a / m)
        for _ in range(FLOW_STEPS):
            kept = exp(v)
            flowed = exp(log_a + m * v)
            total = kept + flowed
            v = v - total * log(total) / (kept + m * flowed)
        remaining = excess * exp(v)
    return remaining


@dataclass(frozen=True)
class Viscoplastic(HenckyLaw):
    """Parameters of a Herschel-Bulkley fluid."""

    name = "viscoplastic"
    label = "Mud, Cream, Lava (Herschel-Bulkley)"
    help = "Stands in heaps and flows when pushed hard enough (mud, cream, ketchup, lava)"
    scalable = ("density", "stiffness", "strength")
    family = "Pastes"
    finish = Finish(roughness=0.3, coat=0.4)
    constants_type = ViscoplasticConstants
    flow = staticmethod(flow)

    density: float = parameter(1500.0, unit="kg/m^3", above=0.0, help="Mass per volume (cream 420, ketchup 1130, mud 1600, concrete 2350)")
    poisson_ratio: float = parameter(
        0.4,
        minimum=0.0,
        below=0.5,
        help="How much the material bulges sideways under compression (sponge 0, most solids 0.3, volume-preserving 0.45)",
    )
    yield_stress: float = parameter(
        100.0,
        unit="Pa",
        minimum=0.0,
        help="Stress below which the material does not flow; higher stands taller (honey 0, ketchup 30, cream 100, mud 500, concrete 800)",
    )
    viscosity: float = parameter(
        10.0, unit="Pa s^n", above=0.0, help="Viscosity once the material flows (ketchup 18, cream 20, mud 40, lava 500)"
    )
    exponent: float = parameter(
        1.0,
        minimum=0.1,
        maximum=3.0,
        help="How flow changes the viscosity: below 1 it thins, above 1 it thickens (ketchup 0.35, mud 0.5)",
    )

    @property
    def mixes(self) -> bool:
        """Pastes do; butter, wax and ice keep their shape and touch what is around them, as other solids do."""
        return self.yield_stress < SOLID

    def scaled(self, factors: Factors) -> "Viscoplastic":
        """Strength scales the yield stress."""
        return replace(self, yield_stress=factors.strength * self.yield_stress)

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> ViscoplasticConstants:
        return ViscoplasticConstants(
            *self.lame(stiffness_scale),
            self.density,
            self.yield_stress,
            self.viscosity,
            math.log(self.viscosity),
            1.0 / self.exponent,
            *axes(dimension),
        )
