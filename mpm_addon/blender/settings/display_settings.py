"""What an artist chooses about the display of an object's particles: `Object.mpm.display`. A change is shown at once."""

from collections.abc import Callable
from typing import Any, NamedTuple

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

from ..host.blender_types import BlenderObject, Context
from ..host.file_record import is_silent
from .declarations import STILL, enum_items, property_group
from .matter import GRAINS, HIDDEN, POINTS, SPHERES, SURFACE

MATERIALS = "materials"
CARRIED = "attribute"


class Coloring(NamedTuple):
    """What a choice in the interface stands for: the attribute, and whether it counts things."""

    label: str
    help: str
    attribute: str = ""
    is_number: bool = False


COLORINGS = {
    MATERIALS: Coloring("Materials", "Each emitter has a material of its own"),
    "speed": Coloring("Speed", "How fast particles move, in Blender units per second", "velocity"),
    "density": Coloring("Volume Ratio", "Volume over rest volume: below 1 matter is compressed, above 1 stretched", "density_ratio"),
    "stress": Coloring("Stress", "Von Mises stress, in pascal", "stress"),
    "age": Coloring("Age", "Seconds since particles were emitted", "age"),
    "emitter": Coloring("Emitter", "A colour for each emitter", "emitter_index", is_number=True),
    "material": Coloring("Material", "A colour for each simulated material", "material_index", is_number=True),
    "color": Coloring("Carried Color", "The attribute color that emitters carry along", "color"),
    CARRIED: Coloring("Attribute", "Any other attribute of one number, such as a painted one that is carried along"),
}

AUTOMATIC = "automatic"
# Called when a setting is changed: with the object, and whether the range of colours has to be found anew.
listeners: list[Callable[[BlenderObject, bool], None]] = []

_MODES = {
    POINTS: ("Points", "A point cloud: the cheapest, for millions of particles; renders show spheres"),
    SPHERES: ("Spheres", "A sphere on each particle"),
    GRAINS: ("Grains", "Stones or flakes that turn with their matter: sand, gravel, snow"),
    SURFACE: ("Surface", "A smooth mesh around the particles: liquids, jelly, dough"),
    HIDDEN: ("Hidden", "Nothing is shown"),
}
_VIEWPORT = {AUTOMATIC: ("Automatic", "Points, the fastest to play"), **_MODES}
_RENDER = {AUTOMATIC: ("Automatic", "What suits the matter: a surface for liquids and jelly, grains for sand and snow"), **_MODES}


def has_range(coloring: str) -> bool:
    """Whether colours stand for values between two limits."""
    return coloring not in (MATERIALS, "color") and not COLORINGS[coloring].is_number


def _changed(settings: Any, _context: Context) -> None:
    _tell(settings)


def _changed_coloring(settings: Any, _context: Context) -> None:
    _tell(settings, is_other_range=True)


def _tell(settings: Any, *, is_other_range: bool = False) -> None:
    if not is_silent() and isinstance(settings.id_data, bpy.types.Object):
        for listener in listeners:
            listener(settings.id_data, is_other_range)


PART_GROUP = property_group(
    "MPM_PG_display_part",
    {
        "name": StringProperty(name="Emitter", description="The emitter whose particles these are"),
        "law": StringProperty(name="Law", description="What its matter is, which chooses how it is shown"),
        "matter": StringProperty(name="Matter", description="The material that was simulated"),
        "viewport": EnumProperty(name="Viewport", description="How the viewport shows these particles", items=enum_items(_VIEWPORT),
                                 default=AUTOMATIC, options=STILL, update=_changed),
        "render": EnumProperty(name="Render", description="How renders show these particles", items=enum_items(_RENDER),
                               default=AUTOMATIC, options=STILL, update=_changed),
        "material": PointerProperty(type=bpy.types.Material, name="Material", description="Material of these particles", update=_changed),
    },
    description="How the particles of one emitter are shown.",
)  # fmt: skip

DISPLAY_GROUP = property_group(
    "MPM_PG_display",
    {
        "parts": CollectionProperty(type=PART_GROUP, description="How the matter of each emitter is shown"),
        "color_by": EnumProperty(name="Color by", description="What the colours of particles stand for",
                                 items=enum_items({word: (each.label, each.help) for word, each in COLORINGS.items()}),
                                 default=MATERIALS, options=STILL, update=_changed_coloring),
        "attribute": StringProperty(name="Attribute", description="Name of the attribute that gives the colours", update=_changed_coloring),
        "use_fitted_range": BoolProperty(name="Automatic Range", description="Find the range in five frames of the cache",
                                         default=True, options=STILL, update=_changed_coloring),
        "range_min": FloatProperty(name="Range Min", description="Value that has the darkest colour, in the attribute's unit; 0 for speeds",
                                   default=0.0, options=STILL, precision=3, update=_changed),
        "range_max": FloatProperty(name="Range Max", description="Value that has the lightest colour, in its unit; 5 for speeds in m/s",
                                   default=1.0, options=STILL, precision=3, update=_changed),
    },
    description="How particles are shown.",
)  # fmt: skip

GROUPS = (PART_GROUP, DISPLAY_GROUP)
PROPERTIES: dict[str, Any] = {"display": PointerProperty(type=DISPLAY_GROUP)}
