"""The panels of an object in the Physics tab: its type in the simulation, and playback."""

import bpy

from ....core.scene.force import Force
from ...host.blender_types import Context, Layout
from ...playback import particle_objects
from ...reading.forces import acts, has_field
from ...settings.effectors import HEAT
from ...settings.roles import ROLES, complaint, has_role, locked
from .drawing import PhysicsPanel, draw_lines, draw_missing_numba, draw_parameters, split_layout


class MPM_PT_object(PhysicsPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_object"
    help_page = "manual/objects"
    bl_label = "MPM"

    @classmethod
    def poll(cls, context: Context) -> bool:
        # the button in Blender's own panel adds an object to the simulation
        item = context.object
        return item is not None and (has_role(item) or has_field(item) or bool(item.mpm.cache))

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        draw_missing_numba(layout)
        item = context.object
        if item.mpm.cache:
            layout.prop(item.mpm, "cache")
            layout.prop(item.mpm, "keeps_cache")
            draw_lines(layout, particle_objects.status(item), "INFO")
            return
        if has_role(item):
            layout.prop(item.mpm, "type")
        if acts(context.scene, item):
            layout.label(text="Its force field acts on particles", icon="FORCE_FORCE")
        elif has_field(item):
            layout.label(text="Not in the Effector Collection", icon="INFO")
        if complaint(item):
            draw_lines(layout, complaint(item), "ERROR")
        if locked(item) and item.mpm.type in ROLES:
            draw_lines(layout, locked(item), "LIBRARY_DATA_DIRECT")


class MPM_PT_field_heat(PhysicsPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_field_heat"
    help_page = "manual/heat"
    bl_label = "Field Heat"
    bl_parent_id = "MPM_PT_object"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and acts(context.scene, context.object)

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        field = context.object.mpm.field
        idle = () if field.use_heating else ("temperature",)
        draw_parameters(layout.column(), field, Force, HEAT, idle=idle)


class MPM_PT_retime(PhysicsPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_retime"
    help_page = "manual/time"
    bl_label = "Retime"
    bl_parent_id = "MPM_PT_object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and bool(context.object.mpm.cache)

    def draw_header(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.prop(context.object.mpm, "use_retime", text="")

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        settings = context.object.mpm
        layout.active = settings.use_retime
        layout.row().prop(settings, "retime_mode", expand=True)
        if settings.retime_mode == "frame":
            layout.use_property_decorate = True
            layout.prop(settings, "playback_frame")
            return
        layout.prop(settings, "playback_speed")
        layout.prop(settings, "playback_offset")


CLASSES = (MPM_PT_object, MPM_PT_field_heat, MPM_PT_retime)
