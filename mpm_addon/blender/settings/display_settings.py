"""The display settings of an object's particles: `Object.mpm.display`. Changes apply at once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import bpy
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ...core.laws.finish import GRAINS, HIDDEN, MESH, POINTS, SPHERES, SURFACE
from ...storage.finishes import finish_of
from ..host.blender_types import BlenderObject, Context
from ..host.file_record import is_silent
from ..host.runtime import OfSession, runtime
from .declarations import STILL, enum_items, property_group, toggle

MATERIALS, SPEED = "materials", "speed"
CARRIED = "attribute"


class Coloring(NamedTuple):
    """The attribute that a choice in the interface stands for, and whether it contains indices."""

    label: str
    help: str
    attribute: str = ""
    is_number: bool = False


COLORINGS = {
    MATERIALS: Coloring("Materials", "The material of each emitter"),
    SPEED: Coloring("Speed", "Speed of the particles, in Blender units per second", "velocity"),
    "density": Coloring("Volume Ratio", "Volume relative to the rest volume: below 1 is compressed, above 1 expanded", "volume_ratio"),
    "stress": Coloring("Stress", "Von Mises stress in Pa", "stress"),
    "temperature": Coloring("Temperature", "Temperature in °C, in scenes with heat", "temperature"),
    "age": Coloring("Age", "Seconds since the particle was emitted", "age"),
    "emitter": Coloring("Emitter", "One color per emitter", "emitter_index", is_number=True),
    "material": Coloring("Material", "One color per simulated material", "material_index", is_number=True),
    "color": Coloring("Carried Color", "Color attribute carried from the emitter's mesh", "color"),
    CARRIED: Coloring("Attribute", "Any other single-value attribute, such as a painted one carried by the particles"),
}

AUTOMATIC = "automatic"


@dataclass
class DisplayListeners(OfSession):
    """Called when a setting changes, with the object and whether the color range must be fitted again."""

    functions: list[Callable[[BlenderObject, bool], None]] = field(default_factory=list)


_MODES = {
    POINTS: ("Points", "A point cloud, fastest for millions of particles; renders as spheres"),
    SPHERES: ("Spheres", "A sphere on each particle"),
    GRAINS: ("Grains", "Stones or flakes that rotate with the material (sand, gravel, snow)"),
    SURFACE: ("Surface", "A smooth mesh around the particles (liquids, jelly, dough)"),
    MESH: ("Mesh", "The emitter's own mesh, with its UVs and materials, follows the particles (jelly, rubber, clay); see the Skin panel"),
    HIDDEN: ("Hidden", "Not shown"),
}
_VIEWPORT = {AUTOMATIC: ("Automatic", "Points, fastest to play back, or the mesh if renders show it"), **_MODES}
_RENDER = {
    AUTOMATIC: ("Automatic", "Choose by material: a surface for liquids, the emitter's mesh for jelly and clay, grains for sand and snow"),
    **_MODES,
}


def shows_mesh(part: Any, *, is_render: bool) -> bool:
    """Whether the emitter's own mesh is shown instead of its particles: only where it was asked for if colors show a quantity."""
    is_colored = part.id_data.mpm.display.color_by != MATERIALS
    return wants_mesh(part, is_render=is_render) and (is_asked_for(part) or not is_colored)


def wants_mesh(part: Any, *, is_render: bool) -> bool:
    """Whether the emitter's own mesh is the display of its particles, whatever their colors show."""
    in_renders = part.render == MESH or (part.render == AUTOMATIC and part.follows)
    return in_renders if is_render else part.viewport == MESH or (part.viewport == AUTOMATIC and in_renders)


def is_asked_for(part: Any) -> bool:
    """Whether the artist chose the emitter's own mesh, rather than *Automatic*."""
    return MESH in (part.viewport, part.render)


def mode_of(part: Any, *, is_render: bool) -> str:
    """The display mode of an emitter's particles, with Automatic resolved."""
    if shows_mesh(part, is_render=is_render):
        return MESH
    chosen = part.render if is_render else part.viewport
    if chosen != AUTOMATIC:
        return chosen
    return finish_of(part.law, part.simulated_material).mode if is_render else POINTS


def particle_mode(part: Any, *, is_render: bool) -> str:
    """How particles are shown that the mesh of their emitter does not replace: if both sides show it, those of frames without a skin."""
    mode = mode_of(part, is_render=is_render)
    if mode != MESH:
        return mode
    if not shows_mesh(part, is_render=not is_render) and (part.skin is not None or is_asked_for(part)):
        return HIDDEN
    return finish_of(part.law, part.simulated_material).mode if is_render else POINTS


def has_range(coloring: str) -> bool:
    """Whether colors map values between two limits."""
    return coloring not in (MATERIALS, "color") and not COLORINGS[coloring].is_number


def _changed(settings: Any, _context: Context) -> None:
    _tell(settings)


def _changed_coloring(settings: Any, _context: Context) -> None:
    _tell(settings, is_other_range=True)


def _mode(name: str, description: str, modes: dict[str, tuple[str, str]]) -> Any:
    """A choice of display modes."""
    items = enum_items(modes)
    return EnumProperty(name=name, description=description, items=items, default=AUTOMATIC, options=STILL, update=_changed)


def _limit(name: str, description: str, default: float) -> Any:
    """A limit of the color range."""
    return FloatProperty(name=name, description=description, default=default, options=STILL, precision=3, update=_changed)


def _tell(settings: Any, *, is_other_range: bool = False) -> None:
    if not is_silent() and isinstance(settings.id_data, bpy.types.Object):
        for listener in runtime.of(DisplayListeners).functions:
            listener(settings.id_data, is_other_range)


PART_GROUP = property_group(
    "MPM_PG_display_part",
    {
        "name": StringProperty(name="Emitter", description="Emitter of these particles"),
        "law": StringProperty(name="Law", description="Law of the material, which determines the automatic display"),
        "simulated_material": StringProperty(name="Material", description="Simulated material"),
        "viewport": _mode("Viewport", "Display of these particles in the viewport", _VIEWPORT),
        "render": _mode("Render", "Display of these particles in renders", _RENDER),
        "material": PointerProperty(type=bpy.types.Material, name="Material", description="Material of these particles", update=_changed),
        "follows": toggle("Own Mesh", "Show the emitter's own mesh where Automatic chooses"),
        "vertices": IntProperty(
            name="Vertices", description="Vertices of the emitter's mesh in the bake; 0 if unknown", options={"HIDDEN"}
        ),
        "skin": PointerProperty(type=bpy.types.Object, name="Skin", description="Copy of the emitter's mesh that follows these particles"),
    },
    description="How the particles of one emitter are shown.",
)

DISPLAY_GROUP = property_group(
    "MPM_PG_display",
    {
        "parts": CollectionProperty(type=PART_GROUP, name="Emitters", description="Display of each emitter's particles"),
        "color_by": EnumProperty(
            name="Color by",
            description="Quantity shown by the particle colors",
            items=enum_items({word: (each.label, each.help) for word, each in COLORINGS.items()}),
            default=MATERIALS,
            options=STILL,
            update=_changed_coloring,
        ),
        "attribute": StringProperty(name="Attribute", description="Name of the attribute to color by", update=_changed_coloring),
        "use_fitted_range": toggle(
            "Automatic Range", "Fit the color range to five frames of the cache", default=True, update=_changed_coloring
        ),
        "range_min": _limit("Range Min", "Value of the darkest color, in the attribute's unit", 0.0),
        "range_max": _limit("Range Max", "Value of the lightest color, in the attribute's unit", 1.0),
    },
    description="How particles are shown.",
)

GROUPS = (PART_GROUP, DISPLAY_GROUP)
PROPERTIES: dict[str, Any] = {"display": PointerProperty(type=DISPLAY_GROUP)}
