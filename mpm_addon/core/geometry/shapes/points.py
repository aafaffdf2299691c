"""A cloud of given points, one per particle."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ...errors import SceneError
from ...scene.shape import Floats, Shape
from .arrays import ArrayEquality, frozen_array


@dataclass(frozen=True, eq=False)
class Points(ArrayEquality, Shape):
    """Points that each become one particle.

    Attributes:
        position: [m], shape (n, 3).
        velocity: [m/s], shape (n, 3), or None.
        volume: rest volume of each point [m^3], shape (n,), or None to derive them from the density of points on the grid. (Points have no
            inside, so this replaces the enclosed volume of other shapes.)
        source: where the points come from, for messages.
    """

    kind: ClassVar[str] = "points"
    can_collide: ClassVar[bool] = False

    position: Floats
    velocity: Floats | None = None
    volume: Floats | None = None  # type: ignore[assignment]
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "volume"):
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, frozen_array(values, "fiu", np.float64))

    def check(self, subject: str) -> None:
        super().check(subject)
        where = f'the points of "{self.source}"' if self.source else "the points"
        count = len(self.position) if self.position.ndim else 0
        if count == 0:
            empty = f'"{self.source}" contains no points' if self.source else "it has no points"
            raise SceneError(empty, "use at least 1", subject=subject)
        for name, shape in (("position", (count, 3)), ("velocity", (count, 3)), ("volume", (count,))):
            values = getattr(self, name)
            if values is None:
                continue
            if values.dtype != np.float64 or values.shape != shape:
                raise SceneError(
                    f"{where} have {name} of shape {values.shape} and type {values.dtype}", f"use numbers of shape {shape}", subject=subject
                )
            wrong = ~np.isfinite(values).reshape(count, -1).all(axis=1)
            if wrong.any():
                index = int(np.argmax(wrong))
                raise SceneError(f"{where} have {name} {values[index]} at point {index}", "use finite numbers everywhere", subject=subject)
        if self.volume is not None and not (self.volume > 0.0).all():
            index = int(np.argmin(self.volume))
            raise SceneError(f"{where} have volume {self.volume[index]:g} m^3 at point {index}", "use volumes above 0 m^3", subject=subject)

    def bounds(self) -> Floats:
        return np.array([self.position.min(axis=0), self.position.max(axis=0)])

    def signed_distance(self, points: Floats) -> Floats:
        raise SceneError("points have no surface to measure a distance from", "use another shape")
