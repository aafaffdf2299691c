"""The operators of the pre-flight. Each calls one function."""

from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ....core.messages import message_of
from ...baking import preflight
from ...host.blender_types import BlenderEvent, Context
from ...host.operation import Operation
from ...host.redrawing import redraw
from .following import Following


class MPM_OT_preflight(Following, bpy.types.Operator):
    """Estimate the particles, memory, disk space and substeps of a bake, and check the scene for problems"""

    bl_idname = "mpm.preflight"
    bl_label = "Pre-flight"
    bl_options = {"REGISTER"}

    object: StringProperty(name="Object", description="Check only the bake of this emitter, with all colliders")
    probe: BoolProperty(name="Probe", description="Simulate for a few seconds to measure how long a bake takes", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def execute(self, context: Context) -> Any:
        """Check and wait, for scripts and background mode."""
        self._tell(preflight.check(context, object_name=self.object, probe=self.probe))
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Start the check and follow it from the interface."""
        preflight.start(context, object_name=self.object, probe=self.probe)
        return self._follow(context)

    def modal(self, context: Context, event: BlenderEvent) -> Any:
        running = preflight.current()
        if running is None:
            self._stop(context)
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        running.poll()
        if not running.is_finished:
            return {"PASS_THROUGH"}
        self._stop(context)
        preflight.end()
        self._tell(running.result())
        return {"FINISHED"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator itself, to open another file or to quit."""
        self._stop(context)
        preflight.end()

    def _tell(self, report: preflight.Report) -> None:
        self.notes(message_of(warning) for warning in report["warnings"])


class MPM_OT_preflight_cancel(Operation, bpy.types.Operator):
    """Stop the running pre-flight"""

    bl_idname = "mpm.preflight_cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("No pre-flight is running")
        return preflight.current() is not None

    def execute(self, context: Context) -> Any:
        preflight.end()
        redraw(context.window_manager)
        return {"FINISHED"}


CLASSES = (MPM_OT_preflight, MPM_OT_preflight_cancel)
