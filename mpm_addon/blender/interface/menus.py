"""The menu Object > MPM: every action, so that the search of menus finds it, too."""

from typing import Any

import bpy

from ..baking.derived_kinds import DERIVED_KINDS
from ..host.blender_types import Context, Layout
from ..host.registrar import Registrar
from ..settings.roles import ROLES


class MPM_MT_object(bpy.types.Menu):
    bl_idname = "MPM_MT_object"
    bl_label = "MPM"

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.operator_context = "INVOKE_REGION_WIN"
        layout.menu("MPM_MT_quick", text="Quick Material")
        for name, role in ROLES.items():
            layout.operator("mpm.objects_add", text=f"Add as {role.label}", icon=role.icon).type = name
        layout.operator("mpm.quick_collider", text="Break on Impact", icon="MOD_EXPLODE").breaks = True
        layout.operator("mpm.object_remove", text="Remove from Simulation")
        layout.separator()
        layout.operator("mpm.bake", text="Bake or Resume", icon="PHYSICS")
        layout.operator("mpm.bake_again")
        layout.operator("mpm.bake_pause")
        layout.operator("mpm.bake_cancel")
        layout.operator("mpm.show", text="Show Cached Frames")
        layout.operator("mpm.bake_free", text="Free Cache")
        layout.operator("mpm.open_cache_folder")
        layout.separator()
        layout.operator("mpm.preview")
        layout.operator("mpm.live", text="Live Preview")
        layout.operator("mpm.preflight", text="Pre-flight Check")
        layout.separator()
        for kind in DERIVED_KINDS.values():
            layout.operator(f"mpm.{kind.name}_make", text=kind.make_label, icon=kind.icon)
        layout.separator()
        layout.operator("mpm.export_points")
        layout.operator("mpm.publish")
        layout.operator("mpm.doctor")


def draw_entry(self: Any, context: Context) -> None:
    """The entry at the end of the Object menu."""
    self.layout.separator()
    self.layout.menu("MPM_MT_object", icon="PHYSICS")


def register(registrar: Registrar) -> None:
    registrar.classes((MPM_MT_object,))
    registrar.entry(bpy.types.VIEW3D_MT_object, draw_entry)
