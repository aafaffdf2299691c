"""What every shape can do. The shapes themselves are in `core/geometry/shapes`."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..parameters import validate

Floats = NDArray[np.float64]


class Shape(ABC):
    """A region of space: what an emitter fills or a collider blocks. Concrete shapes are frozen dataclasses.

    Class attributes:
        kind: the word in scene files.
        can_emit, can_collide: whether emitters, and colliders and outflows, can have this shape.
    """

    kind: ClassVar[str]
    can_emit: ClassVar[bool] = True
    can_collide: ClassVar[bool] = True

    @abstractmethod
    def bounds(self) -> Floats:
        """The axis-aligned bounding box [m], shape (2, 3): lowest and highest corner."""

    @abstractmethod
    def signed_distance(self, points: Floats) -> Floats:
        """The signed distance [m] of points (n, 3) from the surface, shape (n,); positive outside."""

    @abstractmethod
    def volume(self) -> float:
        """The enclosed volume [m^3]."""

    def check(self, subject: str) -> None:
        """Check the parameters. Raises SceneError naming `subject`."""
        validate(self, subject)

    def check_inside(self, subject: str) -> None:
        """Check, after `check`, that the shape has an inside to fill. Raises SceneError naming `subject`."""
