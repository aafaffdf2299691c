"""The display's operators, and the upgrade of older node groups when a file is opened."""

from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import EnumProperty

from ...core.errors import MpmError
from ..host.blender_types import Context
from ..host.file_record import silent
from ..host.operation import Operation
from ..host.registrar import Registrar
from ..host.runtime import runtime
from ..settings.declarations import enum_items
from ..settings.display_settings import DisplayListeners
from . import assets, looks, swarm_look


def _shows_particles(context: Context) -> bool:
    item = context.object
    return item is not None and bool(item.mpm.display.parts) and looks.can_build(item)


class _OfParticles(Operation):
    """An operator on the particles of the active object."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("Select an object that displays particles and is not linked")  # type: ignore[attr-defined]
        return _shows_particles(context)


class MPM_OT_display_same(_OfParticles, bpy.types.Operator):
    """Copy the display settings of the first emitter to all others"""

    bl_idname = "mpm.display_same"
    bl_label = "Copy First to All"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Context) -> Any:
        item = context.object
        display = item.mpm.display
        modes = display.parts[0].viewport, display.parts[0].render
        with silent():
            for part in display.parts:
                part.viewport, part.render = modes
        looks.rebuild(item)
        return {"FINISHED"}


class MPM_OT_display_restore(_OfParticles, bpy.types.Operator):
    """Rebuild the node groups of the particles; edited ones are kept under other names"""

    bl_idname = "mpm.display_restore"
    bl_label = "Restore Node Groups"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Context) -> Any:
        kept = looks.restore(context.object)
        if kept:
            self.report({"INFO"}, f"Edited node groups are kept as {', '.join(kept)}")
        return {"FINISHED"}


class MPM_OT_display_fit(_OfParticles, bpy.types.Operator):
    """Fit the color range to five frames of the cache"""

    bl_idname = "mpm.display_fit"
    bl_label = "Fit Range"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Context) -> Any:
        item = context.object
        item.mpm.display.use_fitted_range = True
        looks.refit(item)
        looks.rebuild(item)
        if looks.problem(item):
            raise MpmError.of(looks.problem(item))
        return {"FINISHED"}


class MPM_OT_display_assets(Operation, bpy.types.Operator):
    """Add the node groups of the display modes to the file, for use in your own node trees"""

    bl_idname = "mpm.display_assets"
    bl_label = "Add Node Groups"
    bl_options = {"REGISTER", "UNDO"}

    mode: EnumProperty(
        name="Mode",
        description="Node group to add",
        items=enum_items({"all": ("All", "All node groups"), **{each.NAME: (each.NAME, each.HELP) for each in assets.GROUPS}}),
        default="all",
    )

    def execute(self, context: Context) -> Any:
        for module in assets.GROUPS:
            if self.mode in ("all", module.NAME):
                assets.asset(module)
        return {"FINISHED"}


_CLASSES = (MPM_OT_display_same, MPM_OT_display_restore, MPM_OT_display_fit, MPM_OT_display_assets)


@persistent
def _on_load(_path: str = "", _unused: Any = None) -> None:
    assets.upgrade()


def register(registrar: Registrar) -> None:
    registrar.classes(_CLASSES)
    registrar.member(runtime.of(DisplayListeners).functions, looks.on_change)
    registrar.member(bpy.app.handlers.load_post, _on_load)
    swarm_look.register(registrar)
