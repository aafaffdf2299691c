"""Object > Quick Effects > MPM: an entry for each material, and those for colliders."""

from collections.abc import Iterable
from typing import Any

import bpy

from ..host.blender_types import Context, Layout
from ..host.registrar import Registrar
from ..settings.properties import PRESET_LABELS
from .add_menu import FAVORITES


class MPM_MT_quick_material(bpy.types.Menu):
    bl_idname = "MPM_MT_quick_material"
    bl_label = "More Materials"

    def draw(self, context: Context) -> None:
        _entries(self.layout, sorted((name for name in PRESET_LABELS if name not in FAVORITES), key=PRESET_LABELS.__getitem__))


class MPM_MT_quick(bpy.types.Menu):
    bl_idname = "MPM_MT_quick"
    bl_label = "MPM"

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        _entries(layout, FAVORITES)
        layout.menu("MPM_MT_quick_material")
        layout.separator()
        layout.operator("mpm.quick_collider").breaks = False
        layout.operator("mpm.quick_collider", text="Quick Break on Impact").breaks = True


def _entries(layout: Layout, names: Iterable[str]) -> None:
    for name in names:
        layout.operator("mpm.quick", text=f"Quick {PRESET_LABELS[name]}").material = name


def draw_entry(self: Any, context: Context) -> None:
    """The entry at the end of Quick Effects."""
    self.layout.separator()
    self.layout.menu("MPM_MT_quick", icon="PHYSICS")


CLASSES = (MPM_MT_quick_material, MPM_MT_quick)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
    registrar.entry(bpy.types.VIEW3D_MT_object_quick_effects, draw_entry)
