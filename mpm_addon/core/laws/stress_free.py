"""Material without stress: dust and tracers, carried by the material around them.

On its own it is only affected by gravity, forces, contact and the smoothing of the transfers. It stores no F. J is tracked only for the
displayed density ratio, within bounds, since nothing restores it.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..arithmetic.operations import clamp, generic
from .law import GREATEST_FLUID_RATIO, LEAST_FLUID_RATIO, FluidLaw


class StressFreeConstants(NamedTuple):
    density: float


@generic
def advance(constants: StressFreeConstants, volume_ratio: Any, velocity_gradient: Any, space: Any, dt: Any) -> Any:
    """J <- (1 + dt tr L) J, within bounds."""
    trace = velocity_gradient[0] + velocity_gradient[4] + velocity_gradient[8]
    return clamp(volume_ratio + dt * trace * volume_ratio, LEAST_FLUID_RATIO, GREATEST_FLUID_RATIO)


@generic
def fluid_energy(constants: StressFreeConstants, volume_ratio: Any) -> Any:
    return 0.0 * volume_ratio


@generic
def fluid_stress(constants: StressFreeConstants, volume_ratio: Any, velocity_gradient: Any) -> Any:
    zero = 0.0 * volume_ratio
    return zero, zero, zero, zero, zero, zero


@generic
def wave_speed_squared(constants: StressFreeConstants, volume_ratio: Any, state: Any) -> Any:
    return 0.0 * volume_ratio


@dataclass(frozen=True)
class StressFree(FluidLaw):
    """Parameters of dust."""

    takes_space = False
    name = "stress_free"
    label = "Dust (Stress-Free)"
    help = "Moves without internal forces (dust, sparks, tests)"
    state_names = ("volume_ratio",)
    virgin_state = (1.0,)
    scalable = ("density",)
    constants_type = StressFreeConstants
    advance = staticmethod(advance)
    fluid_energy = staticmethod(fluid_energy)
    fluid_stress = staticmethod(fluid_stress)
    wave_speed_squared = staticmethod(wave_speed_squared)

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> StressFreeConstants:
        return StressFreeConstants(self.density)
