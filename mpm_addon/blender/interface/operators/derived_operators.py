"""The operators of surfaces, skins and volumes: make, stop, delete. Each calls one function."""

from typing import Any

import bpy

from ....storage.take import SKIN, SURFACE, VOLUME
from ...baking import derived_facts, derived_processes
from ...host.blender_types import BlenderEvent, Context
from ...host.operation import Operation
from ...host.redrawing import redraw
from ...host.registrar import Registrar
from ...host.wording import counted, size
from ...settings.properties import OTHER_CACHE
from .following import Following


class _OfKind:
    """An operator on one kind of derived data."""

    kind: str
    bl_label: str


class _WhileNoneIsMade(_OfKind):
    """An operator on the derived data of a scene's cache, unavailable while some of this kind is being made."""

    cache: OTHER_CACHE

    @classmethod
    def poll(cls: Any, context: Context) -> bool:
        if cls.kind == SURFACE:
            cls.poll_message_set("A surface is being made; stop it first")
        else:
            cls.poll_message_set("A volume is being made; stop it first" if cls.kind == VOLUME else "A skin is being made; stop it first")
        return context.scene is not None and derived_processes.current(cls.kind) is None


class _Making(_WhileNoneIsMade, Following):
    """Makes it in the background."""

    def execute(self, context: Context) -> Any:
        """Make it and wait, for scripts and background mode."""
        derived_processes.make(context.scene, kind=self.kind, cache=self.cache)
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Start it and follow it from the interface."""
        derived_processes.start(context.scene, kind=self.kind, cache=self.cache)
        return self._follow(context)

    def modal(self, context: Context, event: BlenderEvent) -> Any:
        running = derived_processes.current(self.kind)
        if running is None:
            self._stop(context)
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        self._draw_progress(context, has_news=bool(running.poll()) or running.is_finished)
        if not running.is_finished:
            return {"PASS_THROUGH"}
        self._stop(context)
        derived_processes.end(self.kind)
        running.raise_outcome()
        return {"FINISHED"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator itself, to open another file or to quit."""
        self._stop(context)
        derived_processes.end(self.kind)


class _Stopping(_OfKind, Operation):
    """Stops making it."""

    @classmethod
    def poll(cls: Any, context: Context) -> bool:
        if cls.kind == SURFACE:
            cls.poll_message_set("No surface is being made")
        else:
            cls.poll_message_set("No volume is being made" if cls.kind == VOLUME else "No skin is being made")
        return derived_processes.current(cls.kind) is not None

    def execute(self, context: Context) -> Any:
        derived_processes.cancel(self.kind)
        redraw(context.window_manager)
        return {"FINISHED"}


class _Deleting(_WhileNoneIsMade, Operation):
    """Deletes it."""

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        facts = derived_facts.facts_of(context.scene, self.kind)
        count = facts.made + facts.outdated
        if not count or self.cache:
            return self.execute(context)
        meshes = " and the meshes that show it" if self.kind == SKIN else ""
        lost = f"The {self.kind} of {counted(count, 'frame')} ({size(facts.size)}){meshes} will be deleted"
        return context.window_manager.invoke_confirm(self, event, title=self.bl_label, message=lost, confirm_text="Delete", icon="WARNING")

    def execute(self, context: Context) -> Any:
        redraw(context.window_manager)
        derived_processes.delete(context.scene, kind=self.kind, cache=self.cache)
        return {"FINISHED"}


class MPM_OT_surface_make(_Making, bpy.types.Operator):
    """Make a smooth mesh from the particles of each cached frame, in the background; frames that already have one are skipped"""

    bl_idname = "mpm.surface_make"
    bl_label = "Make Surface"
    bl_options = {"REGISTER"}
    kind = SURFACE


class MPM_OT_surface_stop(_Stopping, bpy.types.Operator):
    """Stop making the surface and keep the finished frames"""

    bl_idname = "mpm.surface_stop"
    bl_label = "Stop"
    kind = SURFACE


class MPM_OT_surface_delete(_Deleting, bpy.types.Operator):
    """Delete the surface of all frames and takes, but keep the particles"""

    bl_idname = "mpm.surface_delete"
    bl_label = "Delete Surface"
    bl_options = {"REGISTER"}
    kind = SURFACE


class MPM_OT_skin_make(_Making, bpy.types.Operator):
    """Make the meshes of emitters displayed as Mesh follow their particles, in the background; frames that have a skin are skipped"""

    bl_idname = "mpm.skin_make"
    bl_label = "Make Skin"
    bl_options = {"REGISTER"}
    kind = SKIN


class MPM_OT_skin_stop(_Stopping, bpy.types.Operator):
    """Stop making the skin and keep the finished frames"""

    bl_idname = "mpm.skin_stop"
    bl_label = "Stop"
    kind = SKIN


class MPM_OT_skin_delete(_Deleting, bpy.types.Operator):
    """Delete the skin of all frames and takes and the meshes that show it, but keep the particles and emitters"""

    bl_idname = "mpm.skin_delete"
    bl_label = "Delete Skin"
    # the meshes hold an artist's materials and modifiers
    bl_options = {"REGISTER", "UNDO"}
    kind = SKIN


class MPM_OT_volume_make(_Making, bpy.types.Operator):
    """Make a volume of the powder in each cached frame, in the background; frames that already have one are skipped"""

    bl_idname = "mpm.volume_make"
    bl_label = "Make Volume"
    bl_options = {"REGISTER"}
    kind = VOLUME


class MPM_OT_volume_stop(_Stopping, bpy.types.Operator):
    """Stop making the volume and keep the finished frames"""

    bl_idname = "mpm.volume_stop"
    bl_label = "Stop"
    kind = VOLUME


class MPM_OT_volume_delete(_Deleting, bpy.types.Operator):
    """Delete the volume of all frames and takes, but keep the particles"""

    bl_idname = "mpm.volume_delete"
    bl_label = "Delete Volume"
    bl_options = {"REGISTER"}
    kind = VOLUME


CLASSES = (
    MPM_OT_surface_make,
    MPM_OT_surface_stop,
    MPM_OT_surface_delete,
    MPM_OT_skin_make,
    MPM_OT_skin_stop,
    MPM_OT_skin_delete,
    MPM_OT_volume_make,
    MPM_OT_volume_stop,
    MPM_OT_volume_delete,
)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
    registrar.on_removal(derived_processes.end_all)
