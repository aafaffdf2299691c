"""The settings for force fields: which act, how strongly, and how they heat. Declarations only."""

from typing import Any

import bpy
from bpy.props import FloatProperty, PointerProperty

from ...core.scene.force import Force
from .declarations import annotations_of, property_group

# The names of Blender's effector weights.
FORCE_WEIGHTS = ("gravity", "all", "force", "vortex", "wind", "turbulence", "drag", "harmonic")


def _help(name: str) -> str:
    what = {"gravity": "gravity", "all": "all force fields"}.get(name, f"{name.title()} force fields")
    return f"Strength of {what} (off 0, normal 1, reversed -1)"


EFFECTOR_COLLECTION: Any = PointerProperty(
    type=bpy.types.Collection,
    name="Effector Collection",
    description="Limit force fields to those in this collection",
)
WEIGHTS: dict[str, Any] = {
    name: FloatProperty(name=name.title(), description=_help(name), default=1.0, min=-200.0, max=200.0, soft_min=0.0, soft_max=1.0)
    for name in FORCE_WEIGHTS
}
# The parameters of a force that Blender's fields do not have.
HEAT = ("heating", "temperature")
FIELD_GROUP = property_group("MPM_PG_field", annotations_of(Force, names=HEAT), description="How an object's force field heats particles.")
