"""The settings of force fields that belong to the scene: which act, and how strongly. Declarations alone."""

from typing import Any

import bpy
from bpy.props import FloatProperty, PointerProperty

# Blender's names of its effector weights.
FORCE_WEIGHTS = ("gravity", "all", "force", "vortex", "wind", "turbulence", "drag", "harmonic")


def _help(name: str) -> str:
    fields = {"gravity": "gravity", "all": "all force fields"}.get(name, f"force fields of the type {name.title()}")
    verb = "acts" if name == "gravity" else "act"
    return f"How strongly {fields} {verb} on matter; 0 not at all, 1 as they are, -1 the other way round"


EFFECTOR_COLLECTION: Any = PointerProperty(
    type=bpy.types.Collection,
    name="Effector Collection",
    description="Only force fields of objects in this collection act; all of the scene where it is empty",
)
WEIGHTS: dict[str, Any] = {
    name: FloatProperty(name=name.title(), description=_help(name), default=1.0, min=-200.0, max=200.0, soft_min=0.0, soft_max=1.0)
    for name in FORCE_WEIGHTS
}
