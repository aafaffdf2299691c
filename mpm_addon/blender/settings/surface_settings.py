"""The settings of surfaces: how they are made, on `Scene.mpm.surface`, and how an object shows them, on `Object.mpm.surface`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bpy
from bpy.props import BoolProperty, PointerProperty

from ...derived.settings import SurfaceSettings
from ..host.blender_types import BlenderScene, Context
from ..host.runtime import OfSession, runtime
from .declarations import STILL, annotations_of, property_group, values_of


@dataclass
class SurfaceListeners(OfSession):
    """Called with the scene when an object is to show its surface in another way."""

    functions: list[Callable[[Any], None]] = field(default_factory=list)


def _changed(_settings: Any, context: Context) -> None:
    for listener in runtime.of(SurfaceListeners).functions:
        listener(context.scene)


MADE_GROUP = property_group(
    "MPM_PG_surface",
    {
        **annotations_of(SurfaceSettings),
        "while_baking": BoolProperty(
            name="Make While Baking",
            description="Make the surface of each new frame during the bake, at low priority; the bake takes a little longer",
            options=STILL,
        ),
    },
    description="How surfaces are made from cached frames.",
)

SHOWN_GROUP = property_group(
    "MPM_PG_shown_surface",
    {
        "object": PointerProperty(type=bpy.types.Object, name="Object", description="Mesh object with the surface of these particles"),
        "is_shown": BoolProperty(
            name="Show Surface",
            description="Show the surface that was made of these particles at the frames that have one",
            default=True,
            options=STILL,
            update=_changed,
        ),
        "has_points": BoolProperty(
            name="Keep Particles",
            description="Keep the particles of frames that have a surface, for example to instance foam on them",
            options=STILL,
            update=_changed,
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
