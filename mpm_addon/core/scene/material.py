"""Materials: named laws with their parameters, which may be animated or follow from the temperature."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import SceneError
from ..laws.law import Law
from ..parameters import parameters_of
from .animation import Animation, check_animation
from .thermal import Curves, Thermal, checked_curves


@dataclass(frozen=True)
class Material:
    """A named law with its parameters.

    Attributes:
        thermal: how it takes up and conducts heat; None for a material that keeps its temperature.
        curves: parameters that follow from the temperature, see `thermal`.
    """

    name: str
    law: Law
    animation: Animation | None = None
    thermal: Thermal | None = None
    curves: Curves = field(default_factory=dict)

    def __post_init__(self) -> None:
        subject = f'Material "{self.name}"'
        self.law.check(subject)
        # the mass of a particle is fixed when it is emitted
        numbers = {each.name: each for each in parameters_of(type(self.law)) if each.kind == "number" and each.name != "density"}
        check_animation(self.animation, numbers, subject)
        # values within their ranges may still contradict each other
        for frame in () if self.animation is None else self.animation.frames:
            law_at(self.law, self.animation, float(frame)).check(f"{subject}, frame {frame:g}")
        if self.thermal is not None:
            self.thermal.check(subject)
        object.__setattr__(self, "curves", checked_curves(self.curves, self.law, subject))
        if self.curves and self.thermal is None:
            raise SceneError("its curves need the temperature, but it has no thermal values", "add the table thermal", subject=subject)
        if self.curves and self.law.breaks:
            # a fragment changes its instance at a sort, and so does what has another temperature
            raise SceneError(f'curves over temperature are not possible with law "{self.law.name}"', "remove the curves", subject=subject)
        if self.curves and self.animation is not None:
            raise SceneError("it has both curves over temperature and keyframes", "remove one of them", subject=subject)

    @property
    def kernel_names(self) -> set[str]:
        """The names of its law's constants at one time or another, see `Law.kernel_name`."""
        keyed = dict(self.animation.values) if self.animation is not None else {}
        keyed |= {name: np.array([value for _, value in points]) for name, points in self.curves.items()}
        extremes = [{name: float(end)} for name, values in keyed.items() for end in (np.min(values), np.max(values)) if self.law.variants]
        return {replace(self.law, **values).kernel_name for values in ({}, *extremes)}


def law_at(law: Law, animation: Animation | None, frame: float) -> Law:
    """A law with its parameters' values at a (fractional) frame."""
    if animation is None:
        return law
    return replace(law, **{name: float(animation.at(name, frame)) for name in animation.values})
