"""A plane: a half space that blocks everything behind it."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...errors import SceneError
from ...parameters import parameter
from ...scene.shape import Floats
from .closed_form import ClosedForm


@dataclass(frozen=True)
class Plane(ClosedForm):
    """The infinite half space behind a plane."""

    kind: ClassVar[str] = "plane"
    can_emit: ClassVar[bool] = False

    point: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="m", help="A point on the plane")
    normal: tuple[float, float, float] = parameter((0.0, 0.0, 1.0), help="Direction toward the free side, of any length")

    def check(self, subject: str) -> None:
        super().check(subject)
        if not any(self.normal):
            raise SceneError(f"the plane's normal {self.normal} has length 0", "use a direction such as (0, 0, 1)", subject=subject)

    def bounds(self) -> Floats:
        return np.array([[-np.inf] * 3, [np.inf] * 3])

    def volume(self) -> float:
        return math.inf

    def distance_and_normal(self, points: Floats) -> tuple[Floats, Floats]:
        return (points - np.asarray(self.point)) @ self._unit_normal, np.full((len(points), 3), self._unit_normal)

    @cached_property
    def _unit_normal(self) -> Floats:
        normal = np.asarray(self.normal) / np.max(np.abs(self.normal))
        return normal / np.linalg.norm(normal)
