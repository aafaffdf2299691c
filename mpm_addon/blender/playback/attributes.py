"""Arrays of a cache as named attributes of a mesh, for its vertices."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.particles import ATTRIBUTES
from ..host.blender_types import BlenderMesh

PAINTED_COLOR = "color"
VELOCITY = "velocity"
# A mesh reserves `material_index` for its faces. Cycles reserves the others for volumes, and reads 0 from a mesh's. It also reserves
# `velocity`, which has to keep its name for motion blur, so colors read its length from an attribute of its own.
_STORED_NAMES = {name: f"mpm_{name}" for name in ("material_index", PAINTED_COLOR, "density", "flame", "heat", "temperature")}
MATERIAL_INDEX, MESH_COLOR, MESH_TEMPERATURE = (_STORED_NAMES[name] for name in ("material_index", PAINTED_COLOR, "temperature"))

MESH_SPEED = "mpm_speed"

# numpy dtype and number of components -> Blender's attribute type and the name of its values.
_TYPES = {
    ("int32", 1): ("INT", "value"),
    ("float32", 1): ("FLOAT", "value"),
    ("float32", 2): ("FLOAT2", "vector"),
    ("float32", 3): ("FLOAT_VECTOR", "vector"),
    ("float32", 4): ("QUATERNION", "value"),
}
# Of painted attributes, those with four components are colors.
_PAINTED_TYPES = {**_TYPES, ("float32", 4): ("FLOAT_COLOR", "color")}
_WITH_LENGTH = {"m", "m/s"}


def stored_name(name: str) -> str:
    """The name under which a mesh stores an attribute."""
    return _STORED_NAMES.get(name, name)


def with_speed(arrays: Mapping[str, NDArray[Any]], scale_length: float) -> Mapping[str, NDArray[Any]]:
    """Arrays of a frame, and the length of its velocities [Blender units/s] for colors, if it has velocities.

    Args:
        scale_length: meters per Blender unit.
    """
    if VELOCITY not in arrays:
        return arrays
    velocity = arrays[VELOCITY]
    return {**arrays, MESH_SPEED: np.sqrt(np.einsum("ij,ij->i", velocity, velocity)) / np.float32(scale_length)}


def in_blender_units(name: str, values: NDArray[Any], scale_length: float) -> NDArray[Any]:
    """The values of an attribute as one contiguous row, lengths in Blender units.

    Args:
        scale_length: meters per Blender unit.
    """
    flat = np.ascontiguousarray(values).ravel()
    if name in ATTRIBUTES and ATTRIBUTES[name].unit in _WITH_LENGTH and scale_length != 1.0:
        flat = flat / np.float32(scale_length)
    return flat


def store(mesh: BlenderMesh, name: str, values: NDArray[Any], flat: NDArray[Any]) -> None:
    """Write an attribute of a mesh's vertices.

    Args:
        name: its name in the cache.
        values: its values, whose shape and type say of which kind it is.
        flat: the values to write, as `in_blender_units` returns them.
    """
    components = values.shape[1] if values.ndim > 1 else 1
    kind, field = (_TYPES if name in ATTRIBUTES else _PAINTED_TYPES)[values.dtype.name, components]
    _attribute(mesh, stored_name(name), kind).data.foreach_set(field, flat)


def _attribute(mesh: BlenderMesh, name: str, kind: str) -> Any:
    attribute = mesh.attributes.get(name)
    if attribute is not None and attribute.data_type == kind and attribute.domain == "POINT":
        return attribute
    if attribute is not None:
        mesh.attributes.remove(attribute)
    return mesh.attributes.new(name, kind, "POINT")
