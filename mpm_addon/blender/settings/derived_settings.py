"""The settings of derived data: how each kind is made, on `Scene.mpm.surface` and so on, and how an object shows it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bpy
from bpy.props import FloatVectorProperty, IntProperty, PointerProperty, StringProperty

from ...core.errors import MpmError
from ...derived.debris_settings import DebrisSettings
from ...derived.fog import USUAL_DETAIL
from ...derived.settings import FoamSettings, SkinSettings, SurfaceSettings, VolumeSettings
from ...storage.take import DEBRIS, FOAM, SKIN, SURFACE, VOLUME
from ..host.blender_types import BlenderScene
from . import paths
from .declarations import STILL, annotations_of, property_group, toggle, values_of
from .display_settings import wants_mesh
from .listeners import fog_changed, playback_changed

# The kinds whose settings are declared; those of skins follow from what is displayed.
DECLARED: Mapping[str, type[Any]] = {SURFACE: SurfaceSettings, VOLUME: VolumeSettings, FOAM: FoamSettings, DEBRIS: DebrisSettings}


def _made_group(kind: str, help: str, tip: str, *, default: bool = True) -> type:
    """The settings of a kind on a scene."""
    declared = annotations_of(DECLARED[kind]) if kind in DECLARED else {}
    toggled = {"while_baking": toggle("Make While Baking", tip, default=default)}
    return property_group(f"MPM_PG_{kind}", {**declared, **toggled}, description=help)


_MADE = {
    SURFACE: _made_group(
        SURFACE,
        "How surfaces are made from cached frames.",
        "Make the surface of each new frame during the bake, at low priority, where renders show one",
    ),
    SKIN: _made_group(
        SKIN, "How the meshes of emitters follow their particles.", "Make the skin of each new frame during the bake, at low priority"
    ),
    VOLUME: _made_group(
        VOLUME,
        "How volumes are made from cached frames.",
        "Make the volume of each new frame during the bake, at low priority",
        default=False,
    ),
    FOAM: _made_group(
        FOAM,
        "How spray, foam and bubbles are made from cached frames.",
        "Make the foam of each new frame during the bake, at low priority",
        default=False,
    ),
    DEBRIS: _made_group(
        DEBRIS,
        "How chips and dust are made from cached frames.",
        "Make the debris of each new frame during the bake, at low priority",
        default=False,
    ),
}

_SHOWN_SURFACE = property_group(
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

_SHOWN_VOLUME = property_group(
    "MPM_PG_shown_volume",
    {
        "object": PointerProperty(type=bpy.types.Object, name="Object", description="Volume object with the loose particles"),
        "is_shown": toggle(
            "Show Volume", "Show the volume of these particles at frames that have one", default=True, update=playback_changed
        ),
    },
    description="How an object shows the volume of its particles.",
)


def _shown_swarm(kind: str, words: str, foggy: str) -> type:
    """How an object shows foam or debris: `words` name its particles, `foggy` those that can be a volume."""
    return property_group(
        f"MPM_PG_shown_{kind}",
        {
            "object": PointerProperty(type=bpy.types.Object, name="Object", description=f"Mesh object with the {words}"),
            "fog": PointerProperty(type=bpy.types.Object, name="Volume", description=f"Volume object with the {foggy}"),
            "is_shown": toggle(
                f"Show {kind.title()}",
                f"Show the {words} of these particles at frames that have them",
                default=True,
                update=playback_changed,
            ),
            "is_fog": toggle(f"{foggy.title()} as Volume", f"Show {foggy} as a volume instead of points", update=fog_changed),
            "fog_detail": IntProperty(
                name="Voxels per Cell",
                description="Voxels of this volume along the edge of a grid cell; higher values look sharper and take longer (1 to 4)",
                default=USUAL_DETAIL,
                min=1,
                max=8,
                update=playback_changed,
                options=STILL,
            ),
        },
        description=f"How an object shows the {kind} of its particles.",
    )


_SHOWN_FOAM = _shown_swarm(FOAM, "spray, foam and bubbles", "foam")
_SHOWN_DEBRIS = _shown_swarm(DEBRIS, "chips and dust", "dust")

_TORN = property_group(
    "MPM_PG_torn",
    {
        "whole": PointerProperty(type=bpy.types.Mesh, name="Whole Mesh", description="The mesh of this skin before its material tears"),
        "inside": IntProperty(
            name="Inside Slot",
            description="Material slot of the inside faces where the material of this skin tears (0 is the first slot)",
            min=0,
        ),
    },
    description="How a skin looks where its material tears.",
)

_SUBDIVIDED = property_group(
    "MPM_PG_subdivided",
    {
        "plain": PointerProperty(
            type=bpy.types.Mesh, name="Plain Mesh", description="The mesh of this skin at rest, with the vertices of the emitter only"
        ),
        "matrix": FloatVectorProperty(
            name="Matrix",
            description="Rotation and scale of the emitter at rest, row by row",
            size=9,
            default=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
            options={"HIDDEN"},
        ),
        "key": StringProperty(name="Subdivision", description="Which additional vertices this skin has", options={"HIDDEN"}),
        "added": IntProperty(name="Added", description="Number of these vertices", min=0, options={"HIDDEN"}),
    },
    description="How a coarse skin is subdivided to bend.",
)

_DERIVED = property_group(
    "MPM_PG_derived",
    {
        name: StringProperty(name=label, description=help, options={"HIDDEN"})
        for name, label, help in (
            ("kind", "Kind", "Derived data that this object shows"),
            ("bake", "Baked Emitter", "The only baked emitter; all if empty"),
            ("emitter", "Emitter", "Emitter of a skin"),
            ("cache", "Cache", "Cache folder that this object showed last"),
            ("name", "Object", "Name of this object, which a copy does not share"),
        )
    },
    description="What an object beside a particle object shows.",
)

_SHOWN = {SURFACE: _SHOWN_SURFACE, VOLUME: _SHOWN_VOLUME, FOAM: _SHOWN_FOAM, DEBRIS: _SHOWN_DEBRIS}

GROUPS = (_TORN, _SUBDIVIDED, _DERIVED, *_MADE.values(), *_SHOWN.values())
OF_SCENE: Mapping[str, Any] = {kind: PointerProperty(type=group) for kind, group in _MADE.items()}
OF_OBJECT: Mapping[str, Any] = {
    **{kind: PointerProperty(type=group) for kind, group in _SHOWN.items()},
    "torn": PointerProperty(type=_TORN),
    "subdivided": PointerProperty(type=_SUBDIVIDED),
    "derived": PointerProperty(type=_DERIVED),
}


def settings_of(
    scene: BlenderScene, kind: str, folder: Path | None = None
) -> SurfaceSettings | SkinSettings | VolumeSettings | FoamSettings | DebrisSettings:
    """How the derived data of a scene is made. Raises MpmError if a value is out of range, or no emitter is displayed as a mesh.

    Args:
        scene: the scene.
        kind: what is made.
        folder: the cache whose emitters count for skins; None for any.
    """
    if kind in DECLARED:
        return DECLARED[kind](**values_of(getattr(scene.mpm, kind), DECLARED[kind], scale_length=scene.unit_settings.scale_length))
    names = displayed_as_mesh(scene, folder)
    if not names:
        raise MpmError("no emitter is displayed as a mesh", "set Render to Mesh in the Display panel")
    return SkinSettings(emitters=", ".join(names))


def displayed_as_mesh(scene: BlenderScene, folder: Path | None) -> list[str]:
    """The emitters that are displayed as meshes, where a cache is shown (None: any)."""
    shown = [item for item in scene.objects if item.mpm.cache and folder in (None, paths.absolute(item.mpm.cache))]
    parts = [part for item in shown for part in item.mpm.display.parts]
    return list(dict.fromkeys(part.name for part in parts if any(wants_mesh(part, is_render=side) for side in (True, False))))
