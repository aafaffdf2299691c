"""The panels of a scene's force fields, and of how its objects are read."""

import bpy

from ....core.scene.settings import Solver
from ...host.blender_types import Context
from ...settings.effectors import FORCE_WEIGHTS
from .drawing import ScenePanel, draw_lines, draw_parameters, split_layout
from .object_lists import MPM_UL_forces, draw_list
from .property_rows import draw_property


class MPM_PT_reading(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_reading"
    bl_label = "Meshes and Motion"
    bl_parent_id = "MPM_PT_advanced"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        layout.prop(context.scene.mpm, "motion_samples")
        layout.prop(context.scene.mpm, "use_render_modifiers")


class MPM_PT_forces(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_forces"
    help_page = "manual/forces"
    bl_label = "Forces"
    bl_parent_id = "MPM_PT_advanced"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        scene = context.scene
        draw_property(layout, scene.mpm, "effector_collection")
        draw_parameters(layout.column(), scene.mpm.solver, Solver, ("max_speed",))
        if MPM_UL_forces.listed(scene):
            draw_list(layout, MPM_UL_forces, scene)
        else:
            draw_lines(layout, "Force fields from Add > Force Field act on particles", "INFO")


class MPM_PT_force_weights(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_force_weights"
    bl_label = "Field Weights"
    bl_parent_id = "MPM_PT_forces"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = split_layout(self, has_keys=True).column(align=True)
        for name in FORCE_WEIGHTS:
            column.prop(context.scene.mpm.forces, name, slider=True)


CLASSES = (MPM_PT_forces, MPM_PT_force_weights, MPM_PT_reading)
