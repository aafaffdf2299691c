"""The settings of surfaces: how they are made, on `Scene.mpm.surface`, and how an object shows them, on `Object.mpm.surface`."""

from typing import Any

import bpy
from bpy.props import PointerProperty

from ...derived.settings import SurfaceSettings
from ..host.blender_types import BlenderScene
from .declarations import annotations_of, property_group, toggle, values_of
from .listeners import playback_changed

MADE_GROUP = property_group(
    "MPM_PG_surface",
    {
        **annotations_of(SurfaceSettings),
        "while_baking": toggle(
            "Make While Baking", "Make the surface of each new frame during the bake, at low priority; the bake takes a little longer"
        ),
    },
    description="How surfaces are made from cached frames.",
)

SHOWN_GROUP = property_group(
    "MPM_PG_shown_surface",
    {
        "object": PointerProperty(type=bpy.types.Object, name="Object", description="Mesh object with the surface of these particles"),
        "is_shown": toggle(
            "Show Surface", "Show the surface of these particles at frames that have one", default=True, update=playback_changed
        ),
        "has_points": toggle(
            "Keep Particles", "Also show the particles at frames that have a surface, for example to instance foam", update=playback_changed
        ),
    },
    description="How an object shows the surface of its particles.",
)

GROUPS = (MADE_GROUP, SHOWN_GROUP)
OF_SCENE: dict[str, Any] = {"surface": PointerProperty(type=MADE_GROUP)}
OF_OBJECT: dict[str, Any] = {"surface": PointerProperty(type=SHOWN_GROUP)}


def settings_of(scene: BlenderScene) -> SurfaceSettings:
    """How a scene's surfaces are made. Raises SceneError if a value is out of range."""
    return SurfaceSettings(**values_of(scene.mpm.surface, SurfaceSettings, scale_length=scene.unit_settings.scale_length))
