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
            "automatic": "The rest state for a body in one piece that is emitted once and has no tear stretch, otherwise the current state",
            "current": "The current state; comes apart when stretched to more than about twice its length",
            "rest": "The rest state; comes apart only at its tear stretch, however far that is",
        },
        help="State from which forces are computed; the rest state suits what is stretched far, the current state what folds or is crushed",
    )

    tear_stretch: float = parameter(
        0.0,
        minimum=0.0,
        help="Stretch at which it tears, as a factor on the distance between neighbors; it then no longer pulls there "
        "(up to 1 it never tears, dry clay 1.02, jelly 1.3, rubber 1.6)",
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
