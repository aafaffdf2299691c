"""The operators: each hands over to one function and turns an MpmError into a report."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ..core.errors import Cancelled, MpmError, SceneError, Stopped
from ..storage.status import ask_to_cancel, ask_to_pause, is_asked_to_pause
from ..storage.takes import show_take
from . import observation, paths, playback, preflight, removal, session, unstable
from .blender_types import BlenderEvent, BlenderScene, Context
from .drawing import redraw
from .properties import OTHER_CACHE
from .results import show_motion

# The frame after which no bake goes on.
NO_FRAME = -(2**31)

_TIMER_SECONDS = 0.1


class _Following:
    """An operator that follows a process from the interface, by a timer."""

    _timer: Any = None

    def _follow(self, context: Context) -> Any:
        manager = context.window_manager
        self._timer = manager.event_timer_add(_TIMER_SECONDS, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def _stop(self, context: Context) -> None:
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        redraw(context.window_manager)


class MPM_OT_bake(_Following, bpy.types.Operator):
    """Simulate the scene into the cache folder, going on after the frames that are there"""

    bl_idname = "mpm.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER"}

    object: StringProperty(name="Object", description="Bake this emitter alone, with all colliders")
    cache: OTHER_CACHE
    restart: BoolProperty(name="Restart", description="Replace the frames that are there, of all takes", options={"SKIP_SAVE"})
    from_frame: IntProperty(
        name="From Frame",
        description="Go on after this frame, such as 24, with the scene as it is now; what was baked after it stays as an earlier take",
        default=NO_FRAME,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def execute(self, context: Context) -> Any:
        """Bake and wait for the end: what scripts and Blender in background mean."""
        self._warn_of_temporary_folder(context)
        return _reported(self, lambda: self._bake(context))

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Start the bake and follow it from the interface."""
        outcome = _reported(self, lambda: session.start(context, **self._options()))
        if outcome == {"FINISHED"}:
            self._warn_of_temporary_folder(context)
            return self._follow(context)
        return outcome

    def modal(self, context: Context, event: BlenderEvent) -> Any:
        running = session.current()
        if running is None:
            self._stop(context)
            return {"CANCELLED"}
        if event.type == "ESC" and running.is_preparing:
            running.cancel()
        elif event.type != "TIMER":
            return {"PASS_THROUGH"}
        if running.poll() or running.is_finished or running.is_preparing:
            redraw(context.window_manager)
        if not running.is_finished:
            return {"PASS_THROUGH"}
        self._stop(context)
        session.end()
        for note in running.notes:
            self.report({"WARNING"}, note)
        return _reported(self, running.raise_outcome)

    def cancel(self, context: Context) -> None:
        """Blender ends the operator itself, for a new file or at its exit."""
        self._stop(context)
        session.leave()

    def _bake(self, context: Context) -> None:
        for note in session.bake(context, **self._options()):
            self.report({"WARNING"}, note)

    def _options(self) -> dict[str, Any]:
        from_frame = None if self.from_frame == NO_FRAME else self.from_frame
        if from_frame is not None and self.restart:
            raise SceneError("from_frame and restart: one keeps frames that are there, the other replaces them; give one of them.")
        return {"object_name": self.object, "cache": self.cache, "restart": self.restart, "from_frame": from_frame}

    def _warn_of_temporary_folder(self, context: Context) -> None:
        if paths.is_temporary(self.cache or context.scene.mpm.cache):
            folder = paths.cache_path(context.scene, object_name=self.object, cache=self.cache)
            self.report({"WARNING"}, f"The file is not saved: the frames go to {folder}; save it to keep them beside it.")


class MPM_OT_preflight(_Following, bpy.types.Operator):
    """Tell what a bake will cost and what is worth a second look, without baking"""

    bl_idname = "mpm.preflight"
    bl_label = "Pre-flight"
    bl_options = {"REGISTER"}

    object: StringProperty(name="Object", description="Look at the bake of this emitter alone, with all colliders")
    probe: BoolProperty(name="Probe", description="Simulate a few seconds to measure how long a bake takes", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def execute(self, context: Context) -> Any:
        """Look and wait for the answer: what scripts and Blender in background mean."""
        return _reported(self, lambda: self._tell(preflight.check(context, object_name=self.object, probe=self.probe)))

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Start to look and follow it from the interface."""
        outcome = _reported(self, lambda: preflight.start(context, object_name=self.object, probe=self.probe))
        return self._follow(context) if outcome == {"FINISHED"} else outcome

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
        return _reported(self, lambda: self._tell(running.result()))

    def cancel(self, context: Context) -> None:
        """Blender ends the operator itself, for a new file or at its exit."""
        self._stop(context)
        preflight.end()

    def _tell(self, report: preflight.Report) -> None:
        for warning in report["warnings"]:
            self.report({"WARNING"}, f"{warning['subject']}: {warning['message']}")


class MPM_OT_preflight_cancel(bpy.types.Operator):
    """Stop the pre-flight that is running"""

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


class _OfRunningBake:
    """An operator on the bake that runs: this Blender's, or somebody else's into the scene's cache."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("No bake is running")  # type: ignore[attr-defined]
        return session.current() is not None or (context.scene is not None and observation.observed(context.scene) is not None)

    def execute(self, context: Context) -> Any:
        running = session.current() or observation.observed(context.scene)
        if running is None:
            return {"CANCELLED"}
        outcome = _reported(self, lambda: self._ask(running.folder))
        redraw(context.window_manager)
        return outcome

    def _ask(self, folder: Path) -> None:
        raise NotImplementedError


class MPM_OT_bake_cancel(_OfRunningBake, bpy.types.Operator):
    """Stop the running bake after its current substep; the frames that are there stay"""

    bl_idname = "mpm.bake_cancel"
    bl_label = "Cancel"

    def _ask(self, folder: Path) -> None:
        if session.current() is None:
            ask_to_cancel(folder)
        else:
            session.cancel()


class MPM_OT_bake_pause(_OfRunningBake, bpy.types.Operator):
    """Let the running bake wait after its current substep, or go on"""

    bl_idname = "mpm.bake_pause"
    bl_label = "Pause"

    def _ask(self, folder: Path) -> None:
        ask_to_pause(folder, is_paused=not is_asked_to_pause(folder))


class MPM_OT_bake_free(bpy.types.Operator):
    """Delete the baked frames from the cache folder; files that are not the bake's stay"""

    bl_idname = "mpm.bake_free"
    bl_label = "Free Bake"
    bl_options = {"REGISTER"}

    object: StringProperty(name="Object", description="Free the bake of this emitter alone")
    cache: OTHER_CACHE

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("A bake is running; cancel it first")
        return context.scene is not None and session.current() is None and observation.observed(context.scene) is None

    def execute(self, context: Context) -> Any:
        outcome = _reported(self, lambda: removal.free(context.scene, object_name=self.object, cache=self.cache))
        redraw(context.window_manager)
        return outcome


class MPM_OT_select_unstable(bpy.types.Operator):
    """Select the particles that made the bake stop, at the last frame before"""

    bl_idname = "mpm.select_unstable"
    bl_label = "Select Unstable Particles"
    bl_options = {"REGISTER", "UNDO"}

    cache: OTHER_CACHE

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("No bake of this scene became unstable")
        return context.scene is not None and bool(unstable.objects(context.scene))

    def execute(self, context: Context) -> Any:
        cache = paths.cache_path(context.scene, cache=self.cache)
        return _reported(self, lambda: unstable.select(context.scene, context.view_layer, cache))


def _reported(operator: Any, action: Any) -> Any:
    """Do it; an error becomes a report, which a script gets as a RuntimeError."""
    try:
        action()
    except (Cancelled, Stopped) as error:
        operator.report({"WARNING"}, str(error))
        return {"CANCELLED"}
    except MpmError as error:
        operator.report({"ERROR"}, str(error))
        return {"CANCELLED"}
    return {"FINISHED"}


class MPM_OT_take_show(bpy.types.Operator):
    """Show another take of the cache"""

    bl_idname = "mpm.take_show"
    bl_label = "Show Take"
    bl_options = {"REGISTER"}

    cache: OTHER_CACHE
    take: IntProperty(name="Take", description="Number of the take that is shown, from 1 on", default=1, min=1)

    def execute(self, context: Context) -> Any:
        return _reported(self, lambda: self._show(context.scene))

    def _show(self, scene: BlenderScene) -> None:
        cache = paths.cache_path(scene, cache=self.cache)
        show_take(paths.absolute(cache), self.take)
        playback.show(scene)
        for note in show_motion(scene, cache):
            self.report({"WARNING"}, note)


CLASSES = (
    MPM_OT_bake,
    MPM_OT_bake_cancel,
    MPM_OT_bake_pause,
    MPM_OT_bake_free,
    MPM_OT_take_show,
    MPM_OT_preflight,
    MPM_OT_preflight_cancel,
    MPM_OT_select_unstable,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    session.leave()
    preflight.end()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
