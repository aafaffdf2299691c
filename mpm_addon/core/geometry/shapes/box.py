"""A box."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...parameters import parameter
from ...scene.shape import Floats
from ..rotation import euler_matrix
from .closed_form import ClosedForm, distance_to_corner

# the corners of a cube with edges of length 2, and the triangles of its sides, facing outward
CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
CUBE_TRIANGLES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


@dataclass(frozen=True)
class Box(ClosedForm):
    """A box with any orientation."""

    kind: ClassVar[str] = "box"

    center: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="m", help="Center of the box")
    size: tuple[float, float, float] = parameter(unit="m", above=0.0, help="Edge lengths along the box's own axes")
    rotation: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="degrees", help="XYZ Euler angles")

    def bounds(self) -> Floats:
        reach = np.abs(euler_matrix(self.rotation)) @ np.asarray(self.size) / 2
        return np.array([self.center - reach, self.center + reach])

    def corners(self) -> Floats:
        """The corners [m], shape (8, 3), for the triangles `CUBE_TRIANGLES`."""
        return CUBE * np.asarray(self.size) / 2 @ euler_matrix(self.rotation).T + np.asarray(self.center)

    def volume(self) -> float:
        return self.size[0] * self.size[1] * self.size[2]

    def distance_and_normal(self, points: Floats) -> tuple[Floats, Floats]:
        rotation = euler_matrix(self.rotation)
        local = (points - np.asarray(self.center)) @ rotation
        distance, gradient = distance_to_corner(np.abs(local) - np.asarray(self.size) / 2)
        return distance, np.copysign(gradient, local) @ rotation.T
