"""The operators of the bake: start, bake again, bake all scenes, pause, cancel, free. Each calls one function."""

from functools import partial
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ....core.errors import MpmError, SceneError
from ....storage.status import ask_to_cancel, ask_to_pause, is_asked_to_pause
from ...baking import bake_queue, observation, removal, session
from ...host.blender_types import BlenderEvent, Context
from ...host.operation import Operation, call
from ...host.redrawing import redraw
from ...live import live_session
from ...settings import paths
from ...settings.properties import OTHER_CACHE
from .following import Following, FollowingBake, poll_bake

# No bake resumes after this frame.
NO_FRAME = -(2**31)


class MPM_OT_bake(FollowingBake, bpy.types.Operator):
    """Simulate the scene into the cache folder, resuming after the last cached frame"""

    bl_idname = "mpm.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER"}

    object: StringProperty(name="Object", description="Bake only this emitter, with all colliders", options={"SKIP_SAVE"})
    cache: OTHER_CACHE
    restart: BoolProperty(name="Restart", description="Replace the cached frames of all takes", options={"SKIP_SAVE"})
    from_frame: IntProperty(
        name="From Frame",
        description="Resume after this frame with the current scene; later frames are kept as an earlier take",
        default=NO_FRAME,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def execute(self, context: Context) -> Any:
        """Bake and wait, for scripts and background mode."""
        self._warn_of_temporary_folder(context)
        live_session.stop()
        self.notes(session.bake(context, on_news=partial(self.notes, level="INFO"), **self._options()))
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Start the bake and follow it from the interface; stops a live simulation."""
        live_session.stop()
        session.start(context, **self._options())
        self._warn_of_temporary_folder(context)
        return self._follow(context)

    def _options(self) -> dict[str, Any]:
        from_frame = None if self.from_frame == NO_FRAME else self.from_frame
        if from_frame is not None and self.restart:
            raise SceneError("from_frame and restart: one keeps existing frames, the other replaces them", "use only one of them")
        return {"object_name": self.object, "cache": self.cache, "restart": self.restart, "from_frame": from_frame}

    def _warn_of_temporary_folder(self, context: Context) -> None:
        if paths.is_temporary(self.cache or context.scene.mpm.cache):
            folder = paths.cache_path(context.scene, object_name=self.object, cache=self.cache)
            self.report({"WARNING"}, f"The file is not saved, so frames go to {folder}; save the file to keep them next to it.")


class MPM_OT_bake_again(Operation, bpy.types.Operator):
    """Bake again from the first frame, replacing all cached frames and takes"""

    bl_idname = "mpm.bake_again"
    bl_label = "Bake Again"
    bl_options = {"REGISTER"}

    object: StringProperty(name="Object", description="Bake only this emitter, with all colliders", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        lost = removal.losses(paths.absolute(paths.cache_path(context.scene, object_name=self.object)))
        if not lost:
            return self.execute(context)
        question = f"{lost} will be replaced when the first new frame is finished"
        return context.window_manager.invoke_confirm(
            self, event, title="Bake Again", message=question, confirm_text="Bake Again", icon="WARNING"
        )

    def execute(self, context: Context) -> Any:
        # Blender calls this after the confirmation; the bake is then followed by its own operator
        call("mpm.bake", "INVOKE_DEFAULT", object=self.object, restart=True)
        return {"FINISHED"}


class MPM_OT_bake_all(Following, bpy.types.Operator):
    """Bake every scene in the file that has an emitter, one after another, each into its own cache folder"""

    bl_idname = "mpm.bake_all"
    bl_label = "Bake All Scenes"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("A bake is running; cancel it first")
        return session.current() is None

    def execute(self, context: Context) -> Any:
        """Bake and wait, for scripts and background mode."""
        live_session.stop()
        self.notes(bake_queue.bake_all(context))
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Start the first bake and follow the queue from the interface; stops a live simulation."""
        live_session.stop()
        bake_queue.begin(context)
        return self._follow(context)

    def modal(self, context: Context, event: BlenderEvent) -> Any:
        queue, running = bake_queue.current(), session.current()
        if queue is None:
            self._stop(context)
            return {"CANCELLED"}
        if running is not None:
            if not poll_bake(self, context, event, running):
                return {"PASS_THROUGH"}
            session.end()
            queue.note(_outcome_of(running))
        if not queue.is_over:
            queue.start_next(context)
        return {"PASS_THROUGH"} if not queue.is_over else self._finish(context, queue)

    def _finish(self, context: Context, queue: bake_queue.Queue) -> Any:
        self._stop(context)
        bake_queue.end()
        failures = queue.failures()
        self.notes(failures)
        return {"CANCELLED"} if failures else {"FINISHED"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator itself, to open another file or to quit."""
        self._stop(context)
        bake_queue.end()
        session.leave()


def _outcome_of(running: session.BakeSession) -> MpmError | None:
    try:
        running.raise_outcome()
    except MpmError as error:
        return error
    return None


class _OfRunningBake(Operation):
    """An operator on the running bake: this Blender's, or another process's into the scene's cache."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("No bake is running")  # type: ignore[attr-defined]
        return session.current() is not None or (context.scene is not None and observation.observed(context.scene) is not None)

    def execute(self, context: Context) -> Any:
        running = session.current() or observation.observed(context.scene)
        if running is None:
            return {"CANCELLED"}
        redraw(context.window_manager)
        self._ask(running.folder)
        return {"FINISHED"}

    def _ask(self, folder: Path) -> None:
        raise NotImplementedError


class MPM_OT_bake_cancel(_OfRunningBake, bpy.types.Operator):
    """Stop the bake after the current substep and keep the finished frames"""

    bl_idname = "mpm.bake_cancel"
    bl_label = "Cancel"

    def _ask(self, folder: Path) -> None:
        if session.current() is not None:
            session.cancel()
        else:
            ask_to_cancel(folder)


class MPM_OT_bake_pause(_OfRunningBake, bpy.types.Operator):
    """Pause the bake; press again to resume"""

    bl_idname = "mpm.bake_pause"
    bl_label = "Pause"

    def _ask(self, folder: Path) -> None:
        ask_to_pause(folder, is_paused=not is_asked_to_pause(folder))


class MPM_OT_bake_free(Operation, bpy.types.Operator):
    """Delete the baked frames from the cache folder, and nothing else"""

    bl_idname = "mpm.bake_free"
    bl_label = "Free Bake"
    bl_options = {"REGISTER"}

    object: StringProperty(name="Object", description="Free only the bake of this emitter", options={"SKIP_SAVE"})
    cache: OTHER_CACHE

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("A bake is running; cancel it first")
        return context.scene is not None and session.current() is None and observation.observed(context.scene) is None

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        lost = removal.losses(paths.absolute(paths.cache_path(context.scene, object_name=self.object, cache=self.cache)))
        if not lost:
            return self.execute(context)
        return context.window_manager.invoke_confirm(
            self, event, title="Free Bake", message=f"{lost} will be deleted", confirm_text="Delete", icon="WARNING"
        )

    def execute(self, context: Context) -> Any:
        redraw(context.window_manager)
        removal.free(context.scene, object_name=self.object, cache=self.cache)
        return {"FINISHED"}


CLASSES = (
    MPM_OT_bake,
    MPM_OT_bake_again,
    MPM_OT_bake_all,
    MPM_OT_bake_cancel,
    MPM_OT_bake_pause,
    MPM_OT_bake_free,
)
