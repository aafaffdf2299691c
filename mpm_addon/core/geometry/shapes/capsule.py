"""A capsule: all points within a radius of a segment."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...parameters import parameter
from ...scene.shape import Floats
from .closed_form import ClosedForm, length_and_direction


@dataclass(frozen=True)
class Capsule(ClosedForm):
    """A cylinder with half spheres at its ends; a ball if both ends coincide."""

    kind: ClassVar[str] = "capsule"

    start: tuple[float, float, float] = parameter(unit="m", help="Start of the axis")
    end: tuple[float, float, float] = parameter(unit="m", help="End of the axis")
    radius: float = parameter(unit="m", above=0.0, help="Radius")

    def bounds(self) -> Floats:
        ends = np.array([self.start, self.end])
        return np.array([ends.min(axis=0) - self.radius, ends.max(axis=0) + self.radius])

    def volume(self) -> float:
        return math.pi * self.radius**2 * (math.dist(self.start, self.end) + 4.0 / 3.0 * self.radius)

    def distance_and_normal(self, points: Floats) -> tuple[Floats, Floats]:
        offset = points - np.asarray(self.start)
        axis = np.asarray(self.end) - np.asarray(self.start)
        share = np.clip(offset @ axis / max(float(axis @ axis), np.finfo(np.float64).tiny), 0.0, 1.0)
        length, direction = length_and_direction(offset - share[:, None] * axis)
        return length - self.radius, direction
