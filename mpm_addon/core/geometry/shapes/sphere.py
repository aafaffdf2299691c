"""A sphere."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...parameters import parameter
from ...scene.shape import Floats
from .closed_form import ClosedForm, length_and_direction


@dataclass(frozen=True)
class Sphere(ClosedForm):
    """A ball."""

    kind: ClassVar[str] = "sphere"

    center: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="m", help="Center of the sphere")
    radius: float = parameter(unit="m", above=0.0, help="Radius")

    def bounds(self) -> Floats:
        center = np.asarray(self.center)
        return np.array([center - self.radius, center + self.radius])

    def volume(self) -> float:
        return 4.0 / 3.0 * math.pi * self.radius**3

    def distance_and_normal(self, points: Floats) -> tuple[Floats, Floats]:
        length, direction = length_and_direction(points - np.asarray(self.center))
        return length - self.radius, direction
