"""A cylinder."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...parameters import parameter
from ...scene.shape import Floats
from ..rotation import euler_matrix
from .closed_form import ClosedForm, distance_to_corner, length_and_direction


@dataclass(frozen=True)
class Cylinder(ClosedForm):
    """A solid cylinder along its own z axis."""

    kind: ClassVar[str] = "cylinder"

    center: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="m", help="Center of the cylinder")
    radius: float = parameter(unit="m", above=0.0, help="Radius")
    height: float = parameter(unit="m", above=0.0, help="Length along the cylinder's own z axis")
    rotation: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="degrees", help="XYZ Euler angles")

    def bounds(self) -> Floats:
        axis = euler_matrix(self.rotation)[:, 2]
        reach = np.abs(axis) * self.height / 2 + self.radius * np.sqrt(np.maximum(1.0 - axis**2, 0.0))
        return np.array([self.center - reach, self.center + reach])

    def volume(self) -> float:
        return math.pi * self.radius**2 * self.height

    def distance_and_normal(self, points: Floats) -> tuple[Floats, Floats]:
        rotation = euler_matrix(self.rotation)
        local = (points - np.asarray(self.center)) @ rotation
        radial, direction = length_and_direction(local[:, :2])
        slabs = np.column_stack([radial - self.radius, np.abs(local[:, 2]) - self.height / 2])
        distance, gradient = distance_to_corner(slabs)
        normal = np.column_stack([gradient[:, :1] * direction, np.copysign(gradient[:, 1], local[:, 2])])
        return distance, normal @ rotation.T
