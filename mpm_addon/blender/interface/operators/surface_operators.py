"""The operators of surfaces: make, stop, delete. Each calls one function."""

from typing import Any

import bpy

from ...baking import surface_facts, surfacing
from ...host.blender_types import BlenderEvent, Context
from ...host.operation import Operation
from ...host.redrawing import redraw
from ...host.registrar import Registrar
from ...host.wording import counted, size
from ...settings.properties import OTHER_CACHE
from .following import Following


class _WhileNoneIsMade:
    """An operator on the surfaces of a scene's cache, unavailable while a surface is being made."""

    cache: OTHER_CACHE

    @classmethod
    def poll(cls: Any, context: Context) -> bool:
        cls.poll_message_set("A surface is being made; stop it first")
        return context.scene is not None and surfacing.current() is None


class MPM_OT_surface_make(_WhileNoneIsMade, Following, bpy.types.Operator):
    """Make a smooth mesh from the particles of each cached frame, in the background; frames that already have one are skipped"""

    bl_idname = "mpm.surface_make"
    bl_label = "Make Surface"
    bl_options = {"REGISTER"}

    def execute(self, context: Context) -> Any:
        """Make it and wait, for scripts and background mode."""
        surfacing.make(context.scene, cache=self.cache)
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Start it and follow it from the interface."""
        surfacing.start(context.scene, cache=self.cache)
        return self._follow(context)

    def modal(self, context: Context, event: BlenderEvent) -> Any:
        running = surfacing.current()
        if running is None:
            self._stop(context)
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        self._draw_progress(context, has_news=bool(running.poll()) or running.is_finished)
        if not running.is_finished:
            return {"PASS_THROUGH"}
        self._stop(context)
        surfacing.end()
        running.raise_outcome()
        return {"FINISHED"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator itself, to open another file or to quit."""
        self._stop(context)
        surfacing.end()


class MPM_OT_surface_stop(Operation, bpy.types.Operator):
    """Stop making the surface and keep the finished frames"""

    bl_idname = "mpm.surface_stop"
    bl_label = "Stop"

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("No surface is being made")
        return surfacing.current() is not None

    def execute(self, context: Context) -> Any:
        surfacing.cancel()
        redraw(context.window_manager)
        return {"FINISHED"}


class MPM_OT_surface_delete(_WhileNoneIsMade, Operation, bpy.types.Operator):
    """Delete the surface of all frames and takes, but keep the particles"""

    bl_idname = "mpm.surface_delete"
    bl_label = "Delete Surface"
    bl_options = {"REGISTER"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        facts = surface_facts.facts_of(context.scene)
        count = facts.made + facts.outdated
        if not count or self.cache:
            return self.execute(context)
        lost = f"The surface of {counted(count, 'frame')} ({size(facts.size)}) will be deleted"
        return context.window_manager.invoke_confirm(
            self, event, title="Delete Surface", message=lost, confirm_text="Delete", icon="WARNING"
        )

    def execute(self, context: Context) -> Any:
        redraw(context.window_manager)
        surfacing.delete(context.scene, cache=self.cache)
        return {"FINISHED"}


CLASSES = (MPM_OT_surface_make, MPM_OT_surface_stop, MPM_OT_surface_delete)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
    registrar.on_removal(surfacing.end)
