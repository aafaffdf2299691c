"""The operators of previews: bake one, run one live, remove it."""

from typing import Any

import bpy

from ....core.errors import MpmError
from ....core.messages import Message
from ...baking import previews, session
from ...baking.session import BakeSession
from ...baking.shown_caches import show_motion
from ...host.blender_types import BlenderEvent, BlenderObject, BlenderScene, Context
from ...host.operation import Operation
from ...host.redrawing import redraw
from ...host.registrar import Registrar
from ...live import live_session
from ...settings import paths
from .following import Following, FollowingBake


class MPM_OT_preview(FollowingBake, bpy.types.Operator):
    """Bake a coarse version of the scene in seconds, into its own cache; splashes and breaking snow look different in the full bake"""

    bl_idname = "mpm.preview"
    bl_label = "Preview"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("A bake or live simulation is running; wait until it finishes or stop it")
        return context.scene is not None and session.current() is None and live_session.current() is None

    def execute(self, context: Context) -> Any:
        """Bake and wait, for scripts and background mode."""
        try:
            session.bake(context, **_bake_options(context))
        finally:
            previews.label(context.scene)
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        session.start(context, **_bake_options(context))
        return self._follow(context)

    def _on_news(self, running: BakeSession) -> None:
        scene = running.result.scene  # the window may show another scene by now
        if scene is not None:
            previews.label(scene)


class MPM_OT_live(Following, bpy.types.Operator):
    """Simulate the preview while you move force fields and colliders; press Escape or this button again to stop"""

    bl_idname = "mpm.live"
    bl_label = "Live"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("A bake is running; wait until it finishes or cancel it")
        return context.scene is not None and session.current() is None

    def execute(self, context: Context) -> Any:
        """Refuse: without a window, nobody can move anything."""
        raise MpmError("Live needs a window", 'use bpy.ops.mpm.preview(), or "python -m mpm_addon live" with a steering file')

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        if live_session.current() is not None:
            live_session.stop()
            redraw(context.window_manager)
            return {"FINISHED"}
        live_session.start(context)
        return self._follow(context)

    def modal(self, context: Context, event: BlenderEvent) -> Any:
        running = live_session.current()
        if running is None:
            self._stop(context)
            return {"FINISHED"}
        if event.type == "ESC" and event.value == "PRESS":
            live_session.stop()
            self._stop(context)
            return {"FINISHED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if running.poll(context, is_playing=_is_playing(context)):
            redraw(context.window_manager)
        if not running.is_finished:
            return {"PASS_THROUGH"}
        error = live_session.stop()
        self._stop(context)
        if error:
            raise MpmError.of(error)
        return {"FINISHED"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator itself, to open another file or to quit."""
        self._stop(context)
        live_session.forget()


class MPM_OT_preview_free(Operation, bpy.types.Operator):
    """Delete the preview and its frames, and show the full bake again"""

    bl_idname = "mpm.preview_free"
    bl_label = "Remove Preview"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("There is no preview, or it is still baking")
        is_busy = session.current() is not None or live_session.current() is not None
        return context.scene is not None and not is_busy and previews.shown(context.scene) is not None

    def execute(self, context: Context) -> Any:
        if previews.remove(context.scene):
            self.notes(_baked_motion(context.scene))
        redraw(context.window_manager)
        return {"FINISHED"}

    def touched(self, context: Context) -> list[BlenderObject]:
        return list(context.scene.objects)


def _baked_motion(scene: BlenderScene) -> list[Message]:
    """Restore the keyframes of dynamic colliders from the full bake, if there is one. Returns a message for each that failed."""
    cache = paths.cache_path(scene)
    if not paths.holds_cache(paths.absolute(cache)):
        return []
    try:
        return show_motion(scene, cache)
    except MpmError as error:
        return [error.message]


def _bake_options(context: Context) -> dict[str, Any]:
    scene = context.scene
    return {"cache": previews.cache_path(scene), "restart": True, "preview": scene.mpm.preview_particles}


def _is_playing(context: Context) -> bool:
    screen = context.screen
    return screen is not None and bool(screen.is_animation_playing)


CLASSES = (MPM_OT_preview, MPM_OT_live, MPM_OT_preview_free)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
    registrar.on_removal(live_session.forget)
