"""The settings of derived data: how it is made, on `Scene.mpm.surface`, `skin` and `volume`, and how an object shows it."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import IntProperty, PointerProperty

from ...core.errors import MpmError
from ...derived.settings import SkinSettings, SurfaceSettings, VolumeSettings
from ...storage.take import SURFACE, VOLUME
from ..host.blender_types import BlenderScene
from . import paths
from .declarations import annotations_of, property_group, toggle, values_of
from .display_settings import shows_mesh
from .listeners import playback_changed

MADE_GROUP = property_group(
    "MPM_PG_surface",
    {
        **annotations_of(SurfaceSettings),
        "while_baking": toggle(
            "Make While Baking",
            "Make the surface of each new frame during the bake, at low priority, where renders show one",
            default=True,
        ),
    },
    description="How surfaces are made from cached frames.",
)

SKIN_GROUP = property_group(
    "MPM_PG_skin",
    {
        "while_baking": toggle("Make While Baking", "Make the skin of each new frame during the bake, at low priority", default=True),
    },
    description="How the meshes of emitters follow their particles.",
)

VOLUME_GROUP = property_group(
    "MPM_PG_volume",
    {
        **annotations_of(VolumeSettings),
        "while_baking": toggle("Make While Baking", "Make the volume of each new frame during the bake, at low priority"),
    },
    description="How volumes are made from cached frames.",
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

SHOWN_VOLUME_GROUP = property_group(
    "MPM_PG_shown_volume",
    {
        "object": PointerProperty(type=bpy.types.Object, name="Object", description="Volume object with the powder of these particles"),
        "is_shown": toggle(
            "Show Volume", "Show the powder of these particles as fog at frames that have a volume", default=True, update=playback_changed
        ),
    },
    description="How an object shows the volume of its particles.",
)

TORN_GROUP = property_group(
    "MPM_PG_torn",
    {
        "whole": PointerProperty(type=bpy.types.Mesh, name="Whole Mesh", description="The mesh of this skin before its material tears"),
        "inside": IntProperty(
            name="Inside Slot", description="Material slot of the inside faces where the material of this skin tears", min=0
        ),
    },
    description="How a skin looks where its material tears.",
)

GROUPS = (TORN_GROUP, MADE_GROUP, SKIN_GROUP, VOLUME_GROUP, SHOWN_GROUP, SHOWN_VOLUME_GROUP)
OF_SCENE: dict[str, Any] = {
    "surface": PointerProperty(type=MADE_GROUP),
    "skin": PointerProperty(type=SKIN_GROUP),
    "volume": PointerProperty(type=VOLUME_GROUP),
}
OF_OBJECT: dict[str, Any] = {
    "surface": PointerProperty(type=SHOWN_GROUP),
    "volume": PointerProperty(type=SHOWN_VOLUME_GROUP),
    "torn": PointerProperty(type=TORN_GROUP),
}
_DECLARED: dict[str, Any] = {SURFACE: SurfaceSettings, VOLUME: VolumeSettings}


def settings_of(scene: BlenderScene, kind: str = SURFACE, folder: Path | None = None) -> SurfaceSettings | SkinSettings | VolumeSettings:
    """How the derived data of a scene is made. Raises MpmError if a value is out of range, or no emitter is displayed as a mesh.

    Args:
        scene: the scene.
        kind: what is made.
        folder: the cache whose emitters count for skins; None for any.
    """
    if kind in _DECLARED:
        return _DECLARED[kind](**values_of(getattr(scene.mpm, kind), _DECLARED[kind], scale_length=scene.unit_settings.scale_length))
    names = displayed_as_mesh(scene, folder)
    if not names:
        raise MpmError("no emitter is displayed as a mesh", "set Render to Mesh in the Display panel")
    return SkinSettings(emitters=", ".join(names))


def displayed_as_mesh(scene: BlenderScene, folder: Path | None) -> list[str]:
    """The emitters that are displayed as meshes, where a cache is shown (None: any)."""
    shown = [item for item in scene.objects if item.mpm.cache and folder in (None, paths.absolute(item.mpm.cache))]
    parts = [part for item in shown for part in item.mpm.display.parts]
    return list(dict.fromkeys(part.name for part in parts if any(shows_mesh(part, is_render=side) for side in (True, False))))
