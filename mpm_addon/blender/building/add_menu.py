"""Add > MPM: materials, inflow, domain, colliders, outflow and ready scenes."""

from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty

from ...core.errors import SceneError
from ..host.blender_types import BlenderObject, Context, Layout
from ..host.operation import Operation
from ..host.registrar import Registrar
from ..settings.declarations import enum_items
from ..settings.emitter_look import show_as_wire
from ..settings.properties import PRESET_LABELS, PRESET_WORDS
from . import solids
from .placement import (
    CELLS_ACROSS,
    add_object,
    cell_size,
    fit_cells,
    from_meters,
    make_collider,
    make_emitter,
    refusal,
    select_only,
    target_collection,
)
from .ready_scenes import SCENES

# Presets in the menu itself; all others are in "More Materials".
FAVORITES = ("water", "honey", "jelly", "rubber", "snow", "powder_snow", "dry_sand", "wet_sand", "mud", "clay")

THINNEST_CELLS = 4.0
_INFLOW_CELLS, _INFLOW_DEPTH_CELLS = 10.0, 5.0  # cells across and along the nozzle
_INFLOW_SPEED = 1.0  # [m/s]

_PARTS: dict[str, tuple[str, str]] = {
    "inflow": ("Inflow", "A nozzle that pours water; choose another material in the Physics tab"),
    "domain": ("Domain", "A box that bounds the simulation"),
    "floor": ("Floor", "A plate that particles land on, with its top at the 3D cursor"),
    "collider": ("Collider", "A box that particles collide with"),
    "outflow": ("Outflow", "A box that removes particles entering it"),
}
_ICONS: dict[str, Any] = {
    "inflow": "MOD_FLUIDSIM",
    "domain": "CUBE",
    "floor": "MESH_PLANE",
    "collider": "MOD_PHYSICS",
    "outflow": "TRASH",
}


def _kinds() -> dict[str, tuple[str, str]]:
    return {**PRESET_WORDS, **_PARTS}


KINDS = _kinds()


def add(context: Context, kind: str, size: float) -> BlenderObject:
    """Add an object at the 3D cursor, select it and return it.

    A nozzle is placed at the 3D cursor, a block of material in the air above it, a floor with its top at the cursor, and everything else
    on top of the cursor. Objects that are added one after another therefore fit together.

    Args:
        kind: a material preset or a type of object.
        size: the longest side of a block of material [Blender units]; other objects are sized to match.

    Raises:
        SceneError: the scene already has a domain.
    """
    build = _BUILDERS.get(kind, _add_emitter)
    item = build(context, kind, size)
    x, y, z = context.scene.cursor.location
    item.location = (x, y, z + item.location[2])
    select_only(context, [item])
    return item


def _add_emitter(context: Context, kind: str, size: float) -> BlenderObject:
    item = _new(context, PRESET_LABELS[kind], solids.box((size, size, size)), size)
    fit_cells(context.scene, size / CELLS_ACROSS, without=[item])
    make_emitter(item, kind)
    return item


def _add_inflow(context: Context, _kind: str, size: float) -> BlenderObject:
    """Add a nozzle that points down."""
    radius = 0.25 * size
    fit_cells(context.scene, 2.0 * radius / _INFLOW_CELLS, without=[])
    depth = _thickness(context, 0.6 * radius, cells=_INFLOW_DEPTH_CELLS)
    item = _new(context, "Inflow", solids.cylinder(radius, depth), 0.0)
    speed = from_meters(context.scene, _INFLOW_SPEED)
    make_emitter(item, "water", mode="inflow", velocity=(0.0, 0.0, -speed))
    return item


def _add_domain(context: Context, _kind: str, size: float) -> BlenderObject:
    domain = context.scene.mpm.domain
    if domain.kind == "box" and domain.object is not None and domain.object.name in context.scene.objects:
        raise SceneError(f'The scene already has a domain, "{domain.object.name}"', "scale that one, or delete it first")
    edge = 4.0 * size
    item = _new(context, "Domain", solids.box((edge, edge, edge)), 0.5 * edge)
    show_as_wire(item)
    item.display_type = "BOUNDS"
    domain.kind = "box"
    domain.object = item
    return item


def _add_floor(context: Context, _kind: str, size: float) -> BlenderObject:
    depth = _thickness(context, 0.4 * size)
    item = _new(context, "Floor", solids.box((8.0 * size, 8.0 * size, depth)), -0.5 * depth)
    make_collider(item)
    return item


def _add_collider(context: Context, _kind: str, size: float) -> BlenderObject:
    edge = _thickness(context, 0.8 * size)
    item = _new(context, "Collider", solids.box((edge, edge, edge)), 0.5 * edge)
    make_collider(item)
    return item


def _add_outflow(context: Context, _kind: str, size: float) -> BlenderObject:
    item = _new(context, "Outflow", solids.box((size, size, size)), 0.5 * size)
    item.mpm.type = "outflow"
    show_as_wire(item)
    return item


_BUILDERS: dict[str, Callable[[Context, str, float], BlenderObject]] = {
    "inflow": _add_inflow,
    "domain": _add_domain,
    "floor": _add_floor,
    "collider": _add_collider,
    "outflow": _add_outflow,
}


def _new(context: Context, name: str, solid: solids.Solid, height: float) -> BlenderObject:
    """Add an object with its center above the 3D cursor."""
    return add_object(target_collection(context), name, solid, (0.0, 0.0, height))


def _thickness(context: Context, wanted: float, *, cells: float = THINNEST_CELLS) -> float:
    """The wanted thickness, or the given number of cells where the scene's are too large for it."""
    cell = cell_size(context.scene)
    return wanted if cell is None else max(wanted, cells * cell)


class MPM_OT_add(Operation, bpy.types.Operator):
    """Add an emitter, a collider or another simulation object at the 3D cursor"""

    bl_idname = "mpm.add"
    bl_label = "Add MPM Object"
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(
        name="Type",
        description="Object to add at the 3D cursor",
        items=enum_items(KINDS),
        default="water",
    )
    size: FloatProperty(
        name="Size",
        description="Edge length of a block of material; everything else is sized to fit (best from 0.2 to 2 m)",
        default=0.5,
        min=1e-4,
        soft_min=0.05,
        soft_max=5.0,
        unit="LENGTH",
    )

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        return KINDS[properties.kind][1].rstrip(".")

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set(refusal(context))
        return not refusal(context)

    def execute(self, context: Context) -> Any:
        add(context, self.kind, self.size)
        return {"FINISHED"}


class MPM_MT_add_material(bpy.types.Menu):
    bl_idname = "MPM_MT_add_material"
    bl_label = "More Materials"

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        for name, label in sorted(PRESET_LABELS.items(), key=lambda preset: preset[1]):
            if name not in FAVORITES:
                layout.operator("mpm.add", text=label).kind = name


class MPM_MT_ready_scenes(bpy.types.Menu):
    bl_idname = "MPM_MT_ready_scenes"
    bl_label = "Ready Scenes"

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        for name, made in SCENES.items():
            layout.operator("mpm.add_ready_scene", text=made.LABEL).scene = name


class MPM_MT_add(bpy.types.Menu):
    bl_idname = "MPM_MT_add"
    bl_label = "MPM"

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.operator_context = "INVOKE_REGION_WIN"
        layout.menu("MPM_MT_ready_scenes", icon="SCENE_DATA")
        layout.separator()
        for name in FAVORITES:
            layout.operator("mpm.add", text=PRESET_LABELS[name]).kind = name
        layout.menu("MPM_MT_add_material")
        layout.separator()
        for name, (label, _description) in _PARTS.items():
            layout.operator("mpm.add", text=label, icon=_ICONS[name]).kind = name


def draw_entry(self: Any, context: Context) -> None:
    """The entry at the end of the Add menu."""
    self.layout.separator()
    self.layout.menu("MPM_MT_add", icon="PHYSICS")


CLASSES = (MPM_OT_add, MPM_MT_add_material, MPM_MT_ready_scenes, MPM_MT_add)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
    registrar.entry(bpy.types.VIEW3D_MT_add, draw_entry)
