"""The operators that add objects to the simulation and remove them, and their button in the Physics tab."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ...host.blender_types import BlenderObject, Context, Layout
from ...host.operation import Operation
from ...host.registrar import Registrar
from ...settings.emitter_look import remember_usual
from ...settings.properties import role_items
from ...settings.roles import ROLES, has_role, locked, refusal
from ..panels.drawing import draw_lines

_TYPE: Any = EnumProperty(name="Type", description="Role of the objects in the simulation", items=role_items(ROLES), default="emitter")


def _chosen(context: Context) -> list[BlenderObject]:
    """The selected objects; the active one if none is selected."""
    layer = context.view_layer
    active = layer.objects.active
    return list(layer.objects.selected) or ([] if active is None else [active])


class MPM_OT_object_add(Operation, bpy.types.Operator):
    """Add the active object to the simulation"""

    bl_idname = "mpm.object_add"
    bl_label = "Add MPM"
    bl_options = {"REGISTER", "UNDO"}

    type: _TYPE

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set(refusal(context.object))
        return not refusal(context.object)

    def execute(self, context: Context) -> Any:
        remember_usual(context.object)
        context.object.mpm.type = self.type
        return {"FINISHED"}


class MPM_OT_object_remove(Operation, bpy.types.Operator):
    """Remove the active object from the simulation, keeping its settings"""

    bl_idname = "mpm.object_remove"
    bl_label = "Remove MPM"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        item = context.object
        is_part = item is not None and item.mpm.type in ROLES
        cls.poll_message_set(locked(item) if is_part else "The active object is not simulated")
        return is_part and not locked(item)

    def execute(self, context: Context) -> Any:
        remember_usual(context.object)
        context.object.mpm.type = "none"
        return {"FINISHED"}


class MPM_OT_objects_add(Operation, bpy.types.Operator):
    """Add all selected objects to the simulation"""

    bl_idname = "mpm.objects_add"
    bl_label = "Add Selected"
    bl_options = {"REGISTER", "UNDO"}

    type: _TYPE

    @classmethod
    def poll(cls, context: Context) -> bool:
        refusals = [refusal(item) for item in _chosen(context)] or ["Nothing is selected; select objects first"]
        cls.poll_message_set(refusals[0])
        return not all(refusals)

    def execute(self, context: Context) -> Any:
        for item in _chosen(context):
            reason = refusal(item)
            if reason:
                self.report({"WARNING"}, f"{item.name}: {reason}")
            else:
                remember_usual(item)
                item.mpm.type = self.type
        return {"FINISHED"}


def draw_button(panel: Any, context: Context) -> None:
    """The button below those of Blender's own physics; for an object that cannot be changed, the reason."""
    item, layout = context.object, panel.layout
    if item is None:
        return
    reason = refusal(item)
    if reason and not has_role(item):
        # nobody expects the button for a lamp
        if reason == locked(item):
            draw_lines(layout, reason, "LIBRARY_DATA_DIRECT")
        return
    row: Layout = layout.row(align=True)
    if not has_role(item):
        row.operator("mpm.object_add", text="MPM", icon="MOD_FLUIDSIM")
        return
    row.operator("mpm.object_remove", text="MPM", icon="X")
    settings = getattr(item.mpm, item.mpm.type)
    row.prop(settings, "enabled", text="", icon="HIDE_OFF" if settings.enabled else "HIDE_ON")


CLASSES = (MPM_OT_object_add, MPM_OT_object_remove, MPM_OT_objects_add)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
    registrar.entry(bpy.types.PHYSICS_PT_add, draw_button)
