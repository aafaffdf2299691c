"""Materials: named laws with their parameters, which may be animated or follow from the temperature."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import SceneError
from ..laws.law import FluidLaw, Law
from ..parameters import parameters_of
from .animation import Animation, check_animation
from .thermal import Curves, Thermal, checked_curves


@dataclass(frozen=True)
class Material:
    """A named law with its parameters.

    Attributes:
        thermal: how it takes up and conducts heat; None for a material that keeps its temperature.
        curves: parameters that follow from the temperature, see `thermal`.
        melts_into: the law of the fluid that particles are while they have melted; None for one that keeps its law.
    """

    name: str
    law: Law
    animation: Animation | None = None
    thermal: Thermal | None = None
    curves: Curves = field(default_factory=dict)
    melts_into: Law | None = None

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
        if self.melts_into is not None:
            self._check_melting(self.melts_into, subject)

    def _check_melting(self, fluid: Law, subject: str) -> None:
        fluid.check(f"{subject}, melts_into")
        if not isinstance(fluid, FluidLaw):
            raise SceneError(f'it melts into law "{fluid.name}", which is not a fluid', 'use law "water"', subject=subject)
        if isinstance(self.law, FluidLaw) or self.law.has_bonds:
            reason = "comes apart, which the bonds of its particles tell" if self.law.has_bonds else "is a fluid already"
            raise SceneError(f'`melts_into` is not possible with law "{self.law.name}": it {reason}', "remove it", subject=subject)
        if self.thermal is None or self.thermal.melting_temperature is None:
            raise SceneError("`melts_into` needs a `melting_temperature`", "set it in the table thermal", subject=subject)
        if self.animation is not None:
            raise SceneError("it has both `melts_into` and keyframes", "remove one of them", subject=subject)

    def ever(self, name: str) -> bool:
        """Whether a parameter of its law is nonzero at any time."""
        if self.animation is not None and name in self.animation.values:
            return bool(self.animation.values[name].any())
        return bool(getattr(self.law, name))

    @property
    def changes_instance(self) -> bool:
        """Whether its particles have other constants, or another law, at another temperature."""
        return bool(self.curves) or self.melts_into is not None

    @property
    def kernel_names(self) -> set[str]:
        """The names of its law's constants at one time or another, see `Law.kernel_name`."""
        keyed = dict(self.animation.values) if self.animation is not None else {}
        keyed |= {name: np.array([value for _, value in points]) for name, points in self.curves.items()}
        extremes = [{name: float(end)} for name, values in keyed.items() for end in (np.min(values), np.max(values)) if self.law.variants]
        names = {replace(self.law, **values).kernel_name for values in ({}, *extremes)}
        return names if self.melts_into is None else names | {self.melts_into.kernel_name}


def law_at(law: Law, animation: Animation | None, frame: float) -> Law:
    """A law with its parameters' values at a (fractional) frame."""
    if animation is None:
        return law
    return replace(law, **{name: float(animation.at(name, frame)) for name in animation.values})
