"""Materials: named laws with their parameters, which may be animated."""

from dataclasses import dataclass, replace

import numpy as np

from ..laws.law import Law
from ..parameters import parameters_of
from .animation import Animation, check_animation


@dataclass(frozen=True)
class Material:
    """A named law with its parameters."""

    name: str
    law: Law
    animation: Animation | None = None

    def __post_init__(self) -> None:
        subject = f'Material "{self.name}"'
        self.law.check(subject)
        # the mass of a particle is fixed when it is emitted
        numbers = {each.name: each for each in parameters_of(type(self.law)) if each.kind == "number" and each.name != "density"}
        check_animation(self.animation, numbers, subject)
        # values within their ranges may still contradict each other
        for frame in () if self.animation is None else self.animation.frames:
            law_at(self.law, self.animation, float(frame)).check(f"{subject}, frame {frame:g}")

    @property
    def kernel_names(self) -> set[str]:
        """The names of its law's constants at one time or another, see `Law.kernel_name`."""
        keyed = self.animation.values if self.animation is not None and self.law.variants else {}
        extremes = [{name: float(end)} for name, values in keyed.items() for end in (np.min(values), np.max(values))]
        return {replace(self.law, **values).kernel_name for values in ({}, *extremes)}


def law_at(law: Law, animation: Animation | None, frame: float) -> Law:
    """A law with its parameters' values at a (fractional) frame."""
    if animation is None:
        return law
    return replace(law, **{name: float(animation.at(name, frame)) for name in animation.values})
