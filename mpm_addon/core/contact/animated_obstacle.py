"""What colliders of all kinds have in common: animated values, and how far they have moved since their surfaces were found."""

import math

import numpy as np

from ..scene.animation import value_at
from ..scene.description import Collider
from ..scene.settings import DEFAULT_FRICTION
from .feet import SEPARATE, SLIP, STICKY

# time for which a collider that has appeared around material expels it [frames]
EXPULSION_FRAMES = 10.0
SURFACE_NUMBERS = {"sticky": STICKY, "slip": SLIP, "separate": SEPARATE}


def frictions_of(surface: str, given: float | None) -> tuple[float, float]:
    """The Coulomb coefficients for solids and for fluids: the given one, or the default of the surface for solids and 0 for fluids."""
    if given is not None:
        return given, given
    return (DEFAULT_FRICTION if surface == "separate" else 0.0), 0.0


class AnimatedObstacle:
    """The animated values of a collider, except for its pose.

    Attributes:
        name, collider: its name and description.
        surface: see `impulses`.
        frictions: on solids and on fluids.
        is_present: whether it is enabled.
        is_expelling: whether it has just appeared and is expelling the material inside.
    """

    def __init__(self, collider: Collider) -> None:
        self.name = collider.name
        self.collider = collider
        self.surface = SURFACE_NUMBERS[collider.surface]
        self.frictions = frictions_of(collider.surface, collider.friction)
        self.is_present = True
        self.is_expelling = False
        self._was_present = False

    def note_pose(self) -> None:
        """Remember the pose, for `lag`."""
        self._was_present = self.is_present

    def lag(self) -> float:
        """A bound on how far points of its surface have moved since `note_pose` [m]; infinite if more than its pose has changed."""
        is_same = self.is_present == self._was_present and not self.is_expelling
        return self._way() if is_same else math.inf

    def _way(self) -> float:
        """A bound on how far points of its surface have moved since `note_pose` [m]."""
        return 0.0

    def begin_frame(self) -> None:
        """Reset results from before a frame or subframe, since a simulation may resume from there."""

    def take_values(self, frame: float) -> None:
        """Update the values of an animated collider for a time, in frames."""
        self.frictions = frictions_of(self.collider.surface, value_at(self.collider, "friction", frame))
        self.is_present = value_at(self.collider, "enabled", frame)
        self.is_expelling = self.is_present and frame - _appearance(self.collider, frame) < EXPULSION_FRAMES
        # a sticky surface would hold the material that it expels
        kind = "separate" if self.is_expelling and self.collider.surface == "sticky" else self.collider.surface
        self.surface = SURFACE_NUMBERS[kind]


def _appearance(collider: Collider, frame: float) -> float:
    """The frame at which an enabled collider was last enabled; minus infinity if it always was."""
    animation = collider.animation
    if animation is None or "enabled" not in animation.values:
        return -math.inf
    absent = np.flatnonzero((animation.values["enabled"] < 0.5) & (animation.frames <= frame))
    return float(animation.frames[absent[-1] + 1]) if len(absent) else -math.inf
