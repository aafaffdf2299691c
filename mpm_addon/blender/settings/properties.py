"""What Blender stores: `Object.mpm` and `Scene.mpm`, made from the parameters that the core declares.

Lengths, velocities, accelerations and masses are in Blender units, as everywhere in Blender. Knows neither meshes nor simulations.
"""

from collections.abc import Mapping
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from ...core.laws import LAWS
from ...core.laws.law import Law
from ...core.parameters import parameters_of
from ...core.scene.description import Collider, Emitter, Outflow
from ...core.scene.fracture import Fracture
from ...core.scene.randomness import RANDOM_FACTORS, Randomness
from ...core.scene.settings import SIDES, CacheSettings, Domain, Side, Solver, Time
from ...core.scene.thermal import Thermal
from ...storage.presets import material_presets
from ..host.active_row import PROPERTIES as ACTIVE_ROW
from ..host.registrar import Registrar
from ..host.wording import title
from .declarations import STILL, annotations_of, enum_items, property_group, values_of
from .derived_settings import GROUPS as DERIVED_GROUPS
from .derived_settings import OF_OBJECT as SHOWN_DERIVED
from .derived_settings import OF_SCENE as MADE_DERIVED
from .display_settings import GROUPS as DISPLAY_GROUPS
from .display_settings import PROPERTIES as DISPLAY
from .effectors import EFFECTOR_COLLECTION, FIELD_GROUP, WEIGHTS
from .emitter_look import role_changed
from .live_properties import PROPERTIES as LIVE
from .painted_control import PAINTED_CONTROL
from .paths import DEFAULT_CACHE
from .remembered import REMEMBERED, VERSION
from .retime import PROPERTIES as RETIMING
from .roles import NO_ROLE, ROLES, Role
from .thumbnails import icon

DEFAULT_MATERIAL = "water"  # the preset and the law

# Blender 4.5 and later need an option for folders that may begin with //.
PATH_OPTIONS: set[Any] = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()

# Shared by all operators that accept a cache other than the scene's.
OTHER_CACHE = StringProperty(
    name="Cache", description="Cache folder to use instead of the scene's", subtype="DIR_PATH", options=PATH_OPTIONS
)


def role_items(roles: Mapping[str, Role]) -> list[tuple[str, str, str, Any, int]]:
    """Enum items of the types of simulated objects, with icons."""
    items = enum_items({word: (role.label, role.help) for word, role in roles.items()})
    return [(word, label, help, roles[word].icon, number) for word, label, help, number in items]


def _law_group(name: str, law: type[Law]) -> type:
    numbers = [declared.name for declared in parameters_of(law) if declared.kind == "number" and declared.name != "density"]
    annotations = annotations_of(law, **{number: {"is_animatable": True} for number in numbers})
    return property_group(f"MPM_PG_law_{name}", annotations, description=f"Parameters of {law.label}.")


LAW_GROUPS = {name: _law_group(name, law) for name, law in LAWS.items()}

SIDE_GROUP = property_group("MPM_PG_side", annotations_of(Side), description="One side of the domain's box.")


_PRESETS = {preset.name: preset for preset in material_presets()}
# Label and description of each built-in preset.
PRESET_WORDS = {name: (preset.label, preset.description.removesuffix(".")) for name, preset in _PRESETS.items()}
PRESET_LABELS = {name: label for name, (label, _description) in PRESET_WORDS.items()}


def preset_property() -> Any:
    """The built-in presets with the currently loaded pictures, sorted by family."""
    items = enum_items(PRESET_WORDS)
    # an icon is a number, which the stubs do not know
    pictured: Any = [(name, label, help, icon(name), number) for name, label, help, number in items]
    return EnumProperty(
        name="Preset",
        description="Material preset with tested values",
        items=pictured,
        default=DEFAULT_MATERIAL,
        options=STILL,
        override={"LIBRARY_OVERRIDABLE"},  # not left to the group, since it is made anew for its class
    )


def _idle_of_material(material: Any) -> set[str]:
    """With a preset, all laws; otherwise the preset and the laws that are not chosen."""
    if material.source == "preset":
        return {"law", "use_thermal", "thermal", *LAW_GROUPS}
    return {"preset", *LAW_GROUPS} - {material.law}


THERMAL_GROUP = property_group("MPM_PG_thermal", annotations_of(Thermal), description="How a custom material takes up heat and melts.")


MATERIAL_GROUP = property_group(
    "MPM_PG_material",
    {
        "source": EnumProperty(
            name="Material",
            description="Source of the material's values",
            items=enum_items(
                {
                    "preset": ("Preset", "A named material with tested values"),
                    "custom": ("Custom", "Edit every value"),
                }
            ),
            default="preset",
            options=STILL,
        ),
        "preset": preset_property(),
        "law": EnumProperty(
            name="Law",
            description="How the material responds to forces: it flows, bounces, crumbles or keeps dents",
            items=enum_items({name: (law.label, law.help) for name, law in LAWS.items()}),
            default=DEFAULT_MATERIAL,
            options=STILL,
        ),
        **{name: PointerProperty(type=group) for name, group in LAW_GROUPS.items()},
        "use_thermal": BoolProperty(
            name="Use Thermal", description="Use these values in scenes with temperatures, in place of those of the preset", options=STILL
        ),
        "thermal": PointerProperty(type=THERMAL_GROUP),
    },
    aside={"origin": StringProperty(name="Origin", description="Preset on which the custom values are based")},
    idle=_idle_of_material,
    description="Material of an emitter's particles.",
)

RANDOMNESS_GROUP = property_group(
    "MPM_PG_randomness", annotations_of(Randomness), description="Noise on the parameters of an emitter's material."
)


def own_randomness(settings: Any, law: Law, *, scale_length: float) -> Randomness:
    """An emitter's own randomness, of what a law has: the rest is not shown. `scale_length` is that of `values_of`."""
    values = values_of(settings.randomness, Randomness, scale_length=scale_length)
    return Randomness(**{**values, **{name: 0.0 for name in RANDOM_FACTORS if name not in law.scalable}})


EMITTER_GROUP = property_group(
    "MPM_PG_emitter",
    {
        **annotations_of(Emitter, particles_per_cell={"optional": False}),
        "use_color": BoolProperty(name="Use Color", description="Override the material's color"),
        **PAINTED_CONTROL,
        "use_randomness": BoolProperty(name="Use Randomness", description="Override the randomness of the preset", options=STILL),
        "randomness": PointerProperty(type=RANDOMNESS_GROUP),
    },
    description="How an object emits particles.",
)

FRACTURE_GROUP = property_group("MPM_PG_fracture", annotations_of(Fracture), description="How a rigid body breaks at an impact.")

COLLIDER_GROUP = property_group(
    "MPM_PG_collider",
    {
        **annotations_of(Collider),
        "use_fracture": BoolProperty(name="Fracture", description="Let impacts break this collider into pieces", options=STILL),
        "fracture": PointerProperty(type=FRACTURE_GROUP),
        "inside": IntProperty(
            name="Inside Slot",
            description="Material slot of the faces inside the pieces of this collider (0 is the first slot)",
            min=0,
            default=1,
            options=STILL,
        ),
    },
    set_by_keys={"friction": "mpm.collider.friction"},
    description="How an object collides with particles.",
)

OUTFLOW_GROUP = property_group("MPM_PG_outflow", annotations_of(Outflow), description="How an object removes particles.")

FORCES_GROUP = property_group("MPM_PG_forces", WEIGHTS, description="How strongly force fields act.")

SOLVER_GROUP = property_group(
    "MPM_PG_solver",
    {
        **annotations_of(Solver),
        "spacing": EnumProperty(
            name="Grid",
            description="How the level of detail is set",
            items=enum_items(
                {
                    "spacing": ("Cell Size", "Set the cell size directly"),
                    "resolution": ("Resolution", "Set the number of cells along the longest side"),
                }
            ),
            default="spacing",
            options=STILL,
        ),
        "resolution": IntProperty(
            name="Resolution",
            description="Cells along the longest side of the domain, or of all emitters if it is unbounded; doubling it makes the "
            "bake about 16 times longer (draft 32, good 64, fine 128)",
            default=64,
            min=4,
            max=4096,
            soft_max=512,
        ),
        "use_scene_gravity": BoolProperty(name="Scene Gravity", description="Use the gravity of the scene properties", default=True),
    },
    description="Solver settings.",
)


CACHE_GROUP = property_group("MPM_PG_cache", annotations_of(CacheSettings), description="What a bake stores.")


def _is_solid(_group: Any, candidate: Any) -> bool:
    return candidate.type in {"MESH", "EMPTY", "CURVE", "SURFACE", "META", "FONT"}


DOMAIN_GROUP = property_group(
    "MPM_PG_domain",
    {
        **annotations_of(Domain, min={"optional": False}, max={"optional": False}),
        "object": PointerProperty(
            type=bpy.types.Object,
            name="Object",
            description="Object whose bounding box at the first frame is the domain; the corners below are used if empty",
            poll=_is_solid,
        ),
        **{side: PointerProperty(type=SIDE_GROUP, name=title(side)) for side in SIDES},
    },
    description="The extent of the simulation.",
)


def _idle_of_object(settings: Any) -> set[str]:
    """The groups that the object's type does not use, and that of its force field, which counts as a part of the field."""
    return {"field", "material", *ROLES} - ({"emitter", "material"} if settings.type == "emitter" else {settings.type})


OBJECT_GROUP = property_group(
    "MPM_PG_object",
    {
        "type": EnumProperty(
            name="Type",
            description="Role of the object in the simulation",
            items=role_items({"none": NO_ROLE, **ROLES}),
            default="none",
            options=STILL,
            update=role_changed,
        ),
        "material": PointerProperty(type=MATERIAL_GROUP),
        "emitter": PointerProperty(type=EMITTER_GROUP),
        "collider": PointerProperty(type=COLLIDER_GROUP),
        "outflow": PointerProperty(type=OUTFLOW_GROUP),
        "field": PointerProperty(type=FIELD_GROUP),
    },
    aside={
        "cache": StringProperty(name="Cache", description="Cache folder that this object shows", subtype="DIR_PATH", options=PATH_OPTIONS),
        "keeps_cache": BoolProperty(
            name="Keep Cache",
            description="Keep showing this folder when the scene is baked into another one, to compare the results",
            options=STILL,
        ),
        "emitter_name": StringProperty(name="Emitter", description="Emitter that the displayed cache was baked from; all if empty"),
        "fingerprint": StringProperty(name="Fingerprint", description="Settings that the displayed cache was baked with"),
        "is_freed": BoolProperty(
            name="Freed", description="The bake that this object showed was freed, so its cache is not missing", options={"HIDDEN"}
        ),
        **RETIMING,
        **DISPLAY,
        **SHOWN_DERIVED,
        **REMEMBERED,
        **VERSION,
    },
    idle=_idle_of_object,
    description="The role of an object in the simulation.",
)

SCENE_GROUP = property_group(
    "MPM_PG_scene",
    {
        "solver": PointerProperty(type=SOLVER_GROUP),
        "domain": PointerProperty(type=DOMAIN_GROUP),
        "forces": PointerProperty(type=FORCES_GROUP),
        "effector_collection": EFFECTOR_COLLECTION,
        "motion_samples": IntProperty(
            name="Motion Samples",
            description="Samples per frame of moving objects (usually 1; 4 for fast spins and swings)",
            default=1,
            min=1,
            max=64,
            soft_max=8,
            options=STILL,
        ),
        "use_render_modifiers": BoolProperty(
            name="Render Modifiers",
            description="Bake what renders show: use render settings for modifiers, subdivision levels and resolutions",
            default=True,
            options=STILL,
        ),
        "use_frame_range": BoolProperty(name="Custom Frame Range", description="Bake a frame range other than the scene's"),
        "frame_start": IntProperty(name="Start", description="First frame of the bake, which shows the initial state", default=1),
        **{name: made for name, made in annotations_of(Time).items() if name in ("time_scale", "subframes")},
    },
    aside={
        # existing frames stay unchanged when more are baked
        "frame_end": IntProperty(name="End", description="Last frame of the bake", default=48),
        "cache_settings": PointerProperty(type=CACHE_GROUP),
        **MADE_DERIVED,
        **LIVE,
        "when_closing": EnumProperty(
            name="When Quitting Blender",
            description="What happens to a running bake when Blender quits or opens another file",
            items=enum_items(
                {
                    "stop": ("Stop the Bake", "Stop the bake and keep its frames; baking again resumes it"),
                    "keep_baking": ("Keep Baking", "Keep baking without Blender; reopening the file shows the progress"),
                }
            ),
            default="stop",
            options=STILL,
        ),
        **ACTIVE_ROW,
        "preflight": StringProperty(name="Pre-flight", description="The last answer of the pre-flight, as JSON", options={"HIDDEN"}),
        "cache": StringProperty(
            name="Cache",
            description="Folder for the baked frames; // is the folder of the .blend file",
            default=DEFAULT_CACHE,
            subtype="DIR_PATH",
            options=PATH_OPTIONS,
        ),
        **VERSION,
    },
    description="The simulation of a scene.",
)

# In the order of registration: a group before those that point to it.
GROUPS: tuple[type, ...] = (
    *LAW_GROUPS.values(),
    SIDE_GROUP,
    THERMAL_GROUP,
    MATERIAL_GROUP,
    RANDOMNESS_GROUP,
    EMITTER_GROUP,
    FRACTURE_GROUP,
    COLLIDER_GROUP,
    OUTFLOW_GROUP,
    FORCES_GROUP,
    FIELD_GROUP,
    SOLVER_GROUP,
    CACHE_GROUP,
    DOMAIN_GROUP,
    *DISPLAY_GROUPS,
    *DERIVED_GROUPS,
    OBJECT_GROUP,
    SCENE_GROUP,
)


_OWNERS: tuple[tuple[Any, type], ...] = ((bpy.types.Object, OBJECT_GROUP), (bpy.types.Scene, SCENE_GROUP))


def register(registrar: Registrar) -> None:
    MATERIAL_GROUP.__annotations__["preset"] = preset_property()
    registrar.classes(GROUPS)
    for owner, group in _OWNERS:
        registrar.settings(owner, "mpm", PointerProperty(type=group, override={"LIBRARY_OVERRIDABLE"}))
