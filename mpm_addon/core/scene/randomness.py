"""Randomness: noise on the parameters of an emitter's material, which gives cracks a place to start."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from ..errors import SceneError
from ..laws.factors import Factors
from ..parameters import parameter, parameters_of, validate

# the noise is clipped there, in standard deviations
LARGEST_NOISE = 2.4
_LARGEST_AMOUNT = 3.0


@dataclass(frozen=True)
class Randomness:
    """Noise n of unit variance on a material's parameters: each is multiplied by exp(amount * n), with the same n for all.

    An amount is thus the standard deviation of the natural logarithm.
    """

    label: ClassVar[str] = "Randomness of an emitter or a preset"

    strength: float = parameter(
        0.0,
        minimum=0.0,
        maximum=_LARGEST_AMOUNT,
        help="Variation of the strength; more gives more varied chunks (clay 0.3, snow 1.2)",
    )
    stiffness: float = parameter(
        0.0, minimum=0.0, maximum=_LARGEST_AMOUNT, help="Variation of the stiffness; more bakes slower (rubber 0.1, snow 0.3)"
    )
    friction: float = parameter(
        0.0,
        minimum=0.0,
        maximum=_LARGEST_AMOUNT,
        help="Variation of the friction; more makes uneven piles (sand 0.2, rubble 0.5)",
    )
    size: float = parameter(
        0.07, unit="m", above=0.0, maximum=1e6, help="Size of the largest weak and strong spots (snow 0.07, a boulder 0.5)"
    )
    seed: int = parameter(0, minimum=0, maximum=2**31 - 1, help="Random seed for the pattern of weak and strong spots")

    def check(self, subject: str) -> None:
        """Check the values. Raises SceneError naming `subject`."""
        validate(self, f"{subject}, randomness")

    @property
    def amounts(self) -> dict[str, float]:
        """The amounts above 0: name of the factor -> standard deviation of its natural logarithm."""
        return {name: getattr(self, name) for name in RANDOM_FACTORS if getattr(self, name) > 0.0}

    def check_factors(self, scalable: Collection[str], law: str, material: str, subject: str) -> None:
        """Refuse randomness of a factor that the material's law does not have. Raises SceneError."""
        for name, amount in self.amounts.items():
            if name not in scalable:
                known = [each for each in RANDOM_FACTORS if each in scalable]
                instead = f", use {' or '.join(known)}" if known else ""
                raise SceneError(
                    f'its randomness of {name} is {amount:g}, but the law "{law}" of material "{material}" has no {name}',
                    f"use 0{instead}, or use another law",
                    subject=subject,
                )


UNIFORM = Randomness()
# the factors that noise can act on
RANDOM_FACTORS = tuple(each.name for each in parameters_of(Randomness) if each.name in Factors._fields)
