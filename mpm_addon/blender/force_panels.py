"""The panels of a scene's force fields, and of how its objects are read."""

import bpy

from ..core.settings import Solver
from .blender_types import Context
from .drawing import ScenePanel, draw_parameters, split_layout
from .effectors import FORCE_WEIGHTS
from .forces import KINDS, field_objects


class MPM_PT_reading(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_reading"
    bl_label = "Meshes and Motion"
    bl_parent_id = "MPM_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        layout.prop(context.scene.mpm, "motion_samples")
        layout.prop(context.scene.mpm, "use_render_modifiers")


class MPM_PT_forces(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_forces"
    help_page = "manual/forces"
    bl_label = "Forces"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        scene = context.scene
        layout.prop(scene.mpm, "effector_collection")
        weights = layout.column(align=True)
        for name in FORCE_WEIGHTS:
            weights.prop(scene.mpm.forces, name, slider=True)
        limit = tuple(name for name in Solver.__dataclass_fields__ if name != "max_speed")
        draw_parameters(layout.column(), scene.mpm.solver, Solver, without=limit)
        fields = layout.column(align=True)
        for item in field_objects(scene):
            is_known = item.field.type in KINDS
            word = item.field.type.replace("_", " ").title()
            row = fields.row(align=True)
            row.label(text=item.name, icon="FORCE_FORCE" if is_known else "ERROR")
            row.label(text=word if is_known else f"{word}: not computed")


CLASSES = (MPM_PT_reading, MPM_PT_forces)
