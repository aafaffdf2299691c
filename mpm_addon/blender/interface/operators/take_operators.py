"""The operators of takes: show one, name one, delete one. Baking from a frame adds one."""

from typing import Any

import bpy
from bpy.props import IntProperty, StringProperty

from ....storage.take import LONGEST_NAME
from ....storage.takes import remove_take, rename_take, show_take
from ...baking import cache_watch, observation, removal, session, troubles, unstable
from ...baking.shown_caches import show_motion
from ...host.blender_types import BlenderEvent, BlenderScene, Context, Layout
from ...host.operation import Operation
from ...host.redrawing import redraw
from ...playback import particle_objects
from ...settings import paths
from ...settings.properties import OTHER_CACHE


class _OfTake(Operation):
    """An operator on a take of a cache."""

    cache: OTHER_CACHE
    take: IntProperty(name="Take", description="Number of the take, starting at 1", default=1, min=1)


class _Changing(_OfTake):
    """An operator that changes a take, while nothing is baked."""

    @classmethod
    def poll(cls: Any, context: Context) -> bool:
        cls.poll_message_set("A bake is running; cancel it first")
        return context.scene is not None and session.current() is None and observation.observed(context.scene) is None


class MPM_OT_take_show(_OfTake, bpy.types.Operator):
    """Show another take of the cache"""

    bl_idname = "mpm.take_show"
    bl_label = "Show Take"
    bl_options = {"REGISTER"}

    def execute(self, context: Context) -> Any:
        self._show(context.scene)
        return {"FINISHED"}

    def _show(self, scene: BlenderScene) -> None:
        cache = paths.cache_path(scene, cache=self.cache)
        folder = paths.absolute(cache)
        show_take(folder, self.take)
        troubles.forget_trouble(folder)
        particle_objects.show(scene)
        unstable.refresh(scene, cache)
        self.notes(show_motion(scene, cache))


class MPM_OT_take_rename(_Changing, bpy.types.Operator):
    """Give a take a name, which the list of takes and exported files show"""

    bl_idname = "mpm.take_rename"
    bl_label = "Rename Take"
    bl_options = {"REGISTER"}

    name: StringProperty(name="Name", description="Name of the take; its number is shown if empty", maxlen=LONGEST_NAME)

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Ask for the name, beginning with the current one."""
        found = cache_watch.overview(paths.absolute(paths.cache_path(context.scene, cache=self.cache)))
        names = {} if found is None else {each.take: each.name for each in found.takes}
        self.name = names.get(self.take, "")
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: Context) -> Any:
        rename_take(paths.absolute(paths.cache_path(context.scene, cache=self.cache)), self.take, self.name)
        redraw(context.window_manager)
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        # the name can be typed at once
        layout.activate_init = True
        layout.prop(self, "name", text="")


class MPM_OT_take_remove(_Changing, bpy.types.Operator):
    """Delete the frames of a take, unless another take continues from it"""

    bl_idname = "mpm.take_remove"
    bl_label = "Delete Take"
    bl_options = {"REGISTER"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        lost = removal.losses(paths.absolute(paths.cache_path(context.scene, cache=self.cache)), take=self.take)
        return context.window_manager.invoke_confirm(
            self, event, title=f"Delete Take {self.take}", message=f"{lost or 'It'} will be deleted", confirm_text="Delete", icon="WARNING"
        )

    def execute(self, context: Context) -> Any:
        redraw(context.window_manager)
        self._remove(context.scene)
        return {"FINISHED"}

    def _remove(self, scene: BlenderScene) -> None:
        cache = paths.cache_path(scene, cache=self.cache)
        remove_take(paths.absolute(cache), self.take)
        particle_objects.show(scene)
        unstable.refresh(scene, cache)
        self.notes(show_motion(scene, cache))


CLASSES = (MPM_OT_take_show, MPM_OT_take_rename, MPM_OT_take_remove)
