"""Values painted on an emitter's shape: per vertex or corner of a mesh, or per point of a cloud. Plain numpy.

Some names affect the simulation (`ACTING`); values with any other name are only passed on to frames.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..particles import ATTRIBUTES, TEMPERATURE

Floats = NDArray[np.float64]

LARGEST_COMPONENT_COUNT = 4


class Acting(NamedTuple):
    """The allowed values of a painted factor, both limits included, its effect, and its usual value where a weight is 0."""

    minimum: float
    maximum: float
    help: str
    at_zero: float = 0.0


# the factors of materials, and the pins
ACTING: Mapping[str, Acting] = {
    "stiffness": Acting(1e-6, 1e6, "scales the material's stiffness", 0.05),
    "density": Acting(1e-6, 1e6, "scales the material's density", 0.1),
    "friction": Acting(0.0, 1e3, "scales the friction of sand"),
    "strength": Acting(0.0, 1e6, "scales the material's strength"),
    "goal": Acting(0.0, 1.0, "scales the pin strength"),
}

# names with another meaning in frame files and exports
RESERVED = ("file", "frame", "header", "time", "x", "y", "z")
_NAME = re.compile(r"[\w][\w .-]{0,62}")


# limit on attribute names in Blender [bytes]
_LONGEST_NAME = 63


def is_attribute_name(name: str) -> bool:
    """Whether frames, exports and Blender can store values under this name."""
    return name not in RESERVED and bool(_NAME.fullmatch(name)) and len(name.encode()) <= _LONGEST_NAME


@dataclass(frozen=True, eq=False)
class Painting:
    """Values painted on a shape.

    Attributes:
        values: name -> values per vertex or point, (n,) or (n, components), or per corner of a mesh's triangles,
            (m, 3, components); at most four components.
    """

    values: Mapping[str, Floats]

    def __eq__(self, other: object) -> bool:
        """Whether the arrays are equal by value."""
        if not isinstance(other, Painting):
            return NotImplemented
        return self.values.keys() == other.values.keys() and all(
            np.array_equal(values, other.values[name]) for name, values in self.values.items()
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def carried(self) -> dict[str, int]:
        """The values that are only passed on to frames: name -> components."""
        return {name: values.shape[-1] if values.ndim > 1 else 1 for name, values in self.values.items() if name not in ACTING}

    def check(self, point_count: int, triangle_count: int, subject: str) -> None:
        """Check names, shapes and ranges.

        Args:
            point_count: vertices of the mesh, or points of the cloud.
            triangle_count: triangles of the mesh, 0 for a cloud.
            subject: how messages name the emitter.

        Raises:
            SceneError: naming the attribute, its value, the limit and the remedy.
        """
        for name, values in self.values.items():
            # frames have a temperature only in scenes with heat, which refuse a painted one
            if name in ATTRIBUTES and name != TEMPERATURE:
                raise SceneError(f'"{name}" is a built-in attribute of every frame', "rename the painted one", subject=subject)
            if not is_attribute_name(name):
                raise SceneError(
                    f'"{name}" cannot be the name of a painted attribute',
                    f'use letters, digits, spaces, "_", "." and "-", at most {_LONGEST_NAME} bytes, and none of {", ".join(RESERVED)}',
                    subject=subject,
                )
            is_corner = values.ndim == 3
            wanted = (triangle_count, 3) if is_corner else (point_count,)
            if values.shape[: len(wanted)] != wanted or values.ndim == 0 or (values.ndim > 1 and not 1 <= values.shape[-1] <= 4):
                raise SceneError(
                    f'the painted attribute "{name}" has the shape {values.shape}',
                    f"use ({point_count},), "
                    f"({point_count}, components) or ({triangle_count}, 3, components), with at most {LARGEST_COMPONENT_COUNT} components",
                    subject=subject,
                )
            if not np.isfinite(values).all():
                raise SceneError(
                    f'the painted attribute "{name}" has a value that is not a finite number', "paint it again", subject=subject
                )
            if name not in ACTING:
                continue
            limits = ACTING[name]
            if values[0].size != (3 if is_corner else 1):
                raise SceneError(
                    f'the painted attribute "{name}" has {values.shape[-1]} components',
                    "use one component, as for any factor",
                    subject=subject,
                )
            if values.min() < limits.minimum or values.max() > limits.maximum:
                worst = values.min() if values.min() < limits.minimum else values.max()
                raise SceneError(
                    f'the painted attribute "{name}" has the value {worst:g}',
                    f"use values from {limits.minimum:g} to {limits.maximum:g}",
                    subject=subject,
                )
