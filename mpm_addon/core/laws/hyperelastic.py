"""Elastic laws without plasticity, whose forces can also be computed in the rest state: rubber and jelly."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..arithmetic.operations import generic, maximum
from ..parameters import parameter
from .elasticity import ElasticLaw, log_volume_ratio
from .law import TensorLaw


@dataclass(frozen=True)
class HyperelasticLaw(TensorLaw, ElasticLaw):
    """The parameters of elasticity without plasticity.

    rest_speed_squared(constants, J, s^2) -> [m^2/s^2], of waves in the rest state, with the least principal stretch s
    """

    rest_speed_squared: ClassVar[Callable[..., Any]]

    reference: str = parameter(
        "current",
        choices={
            "automatic": "The rest state for emitters in one piece that emit once and cannot tear, otherwise the current state",
            "current": "The current state; the material comes apart at about twice its length",
            "rest": "The rest state; the material comes apart only at its tear stretch",
        },
        help="State that forces refer to; the rest state suits material that stretches far, the current state what folds or is crushed",
    )

    tear_stretch: float = parameter(
        0.0,
        minimum=0.0,
        help="Stretch at which neighboring particles part permanently, relative to their distance at rest "
        "(0 never tears, dry clay 1.02, jelly 1.3, rubber 1.6)",
    )

    @property
    def uses_rest_state(self) -> bool:
        return self.reference == "rest"

    @property
    def greatest_stretch(self) -> float:
        return self.tear_stretch if self.tear_stretch > 1.0 else math.inf


@generic
def neo_hookean_rest_speed_squared(constants: Any, volume_ratio: Any, least_squared: Any) -> Any:
    """(mu (s^2 + 1) + lambda (1 - ln J)) / (rho0 s^2) [m^2/s^2]: dP/ds / rho0 along the axis of the least stretch s."""
    bulk = maximum(1.0 - log_volume_ratio(volume_ratio), 0.0 * volume_ratio)
    return (constants.mu * (least_squared + 1.0) + constants.lam * bulk) / (constants.density * least_squared)


@generic
def corotated_rest_speed_squared(constants: Any, volume_ratio: Any, least_squared: Any) -> Any:
    """(2 mu + lambda (J / s)^2) / rho0 [m^2/s^2]: dP/ds / rho0 along the axis of the least stretch s."""
    return (2.0 * constants.mu + constants.lam * volume_ratio * volume_ratio / least_squared) * (1.0 / constants.density)
