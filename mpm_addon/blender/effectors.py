"""The settings of force fields that belong to the scene: which act, and how strongly. Declarations alone."""

from typing import Any

import bpy
from bpy.props import FloatProperty, PointerProperty

# Blender's names of its effector weights.
FORCE_WEIGHTS = ("gravity", "all", "force", "vortex", "wind", "turbulence", "drag", "harmonic")


def _help(name: str) -> str:
    if name in ("gravity", "all"):
        return "How strongly gravity acts" if name == "gravity" else "How strongly all force fields act"
    return f"How strongly fields of the type {name} act"


EFFECTOR_COLLECTION: Any = PointerProperty(
    type=bpy.types.Collection,
    name="Effector Collection",
    description="Only force fields of objects in this collection act; all of the scene where it is empty",
)
WEIGHTS: dict[str, Any] = {
    name: FloatProperty(name=name.title(), description=_help(name), default=1.0, min=-200.0, max=200.0, soft_min=0.0, soft_max=1.0)
    for name in FORCE_WEIGHTS
}
