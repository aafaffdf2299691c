"""Operators around a cache: show its frames, open its folder, copy commands and messages, select unstable particles."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ....core.errors import CacheError, MpmError, SceneError
from ....storage import open_cache
from ....storage.installation import PACKAGE
from ....storage.take import SCENE
from ...baking import one_result, unstable, worker
from ...baking.bake_facts import facts_of
from ...baking.bake_view import view_of
from ...baking.shown_caches import show_cache
from ...host.blender_types import BlenderObject, BlenderScene, Context
from ...host.operation import Operation
from ...playback import particle_objects
from ...settings import paths
from ...settings.properties import OTHER_CACHE
from .commands import NAME

_OBJECT = StringProperty(name="Object", description="Bake only this emitter", options={"SKIP_SAVE"})


class MPM_OT_open_cache_folder(Operation, bpy.types.Operator):
    """Open the cache folder in the file manager"""

    bl_idname = "mpm.open_cache_folder"
    bl_label = "Open Cache Folder"

    object: _OBJECT

    def execute(self, context: Context) -> Any:
        self._open(context.scene)
        return {"FINISHED"}

    def _open(self, scene: BlenderScene) -> None:
        folder = paths.absolute(paths.cache_path(scene, object_name=self.object))
        if not folder.is_dir():
            raise CacheError("it does not exist yet", "bake, or choose the folder of a bake", subject=str(folder))
        # Blender prints a traceback but reports success if the file manager is missing
        if sys.platform.startswith("linux") and shutil.which("xdg-open") is None:
            raise CacheError("it cannot be opened (xdg-open is missing)", "open it in the file manager", subject=str(folder))
        try:
            bpy.ops.wm.path_open(filepath=str(folder))
        except RuntimeError as error:
            raise CacheError(f"it cannot be opened ({str(error).strip()})", "open it in the file manager", subject=str(folder)) from error


class MPM_OT_copy_command(Operation, bpy.types.Operator):
    """Copy the command that bakes this scene without Blender's window, for a terminal or a render farm"""

    bl_idname = "mpm.copy_command"
    bl_label = "Copy Command Line"

    object: _OBJECT
    kind: EnumProperty(
        name="Program",
        description="Program that runs the bake",
        items=[
            ("blender", "Blender", "Blender opens the file, reads the scene and bakes it"),
            ("python", "Python", "Python bakes the scene as it was last read, without Blender"),
        ],
        options={"SKIP_SAVE"},
    )

    def execute(self, context: Context) -> Any:
        self._copy(context)
        return {"FINISHED"}

    def _copy(self, context: Context) -> None:
        if self.kind == "python":
            command = python_command(context.scene, self.object)
        else:
            command = blender_command(context.scene, self.object)
            if bpy.data.is_dirty:
                self.report({"WARNING"}, "The file has unsaved changes; the command bakes the saved version")
        context.window_manager.clipboard = command
        self.report({"INFO"}, f"Copied: {command}")


class MPM_OT_copy_message(Operation, bpy.types.Operator):
    """Copy the messages of the panel to the clipboard"""

    bl_idname = "mpm.copy_message"
    bl_label = "Copy Message"

    object: _OBJECT

    def execute(self, context: Context) -> Any:
        context.window_manager.clipboard = view_of(facts_of(context.scene, self.object)).text
        self.report({"INFO"}, "Copied")
        return {"FINISHED"}


class MPM_OT_select_unstable(Operation, bpy.types.Operator):
    """Select the particles that made the bake unstable, at the last good frame"""

    bl_idname = "mpm.select_unstable"
    bl_label = "Select Unstable Particles"
    bl_options = {"REGISTER", "UNDO"}

    cache: OTHER_CACHE

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("No bake of this scene is unstable")
        return context.scene is not None and bool(unstable.objects(context.scene))

    def execute(self, context: Context) -> Any:
        cache = paths.cache_path(context.scene, cache=self.cache)
        unstable.select(context.scene, context.view_layer, cache)
        return {"FINISHED"}


def blender_command(scene: BlenderScene, object_name: str = "") -> str:
    """The command that bakes a scene of the saved file in Blender without a window. Raises SceneError if the file is not saved."""
    if not bpy.data.filepath:
        raise SceneError("The file is not saved, so no command can bake it", "save it first")
    which = ["--scene", scene.name] if len(bpy.data.scenes) > 1 else []
    command = [bpy.app.binary_path or "blender", "-b", bpy.data.filepath, *which, "--command", NAME, "bake"]
    return quoted([*command, *(["--object", object_name] if object_name else [])])


def python_command(scene: BlenderScene, object_name: str = "") -> str:
    """The command that bakes a scene as last read, without Blender. Raises MpmError if it was never read."""
    folder = paths.absolute(paths.cache_path(scene, object_name=object_name))
    try:
        package = open_cache(folder).takes[-1].folder / SCENE
    except CacheError as error:
        raise MpmError("no scene was read for it yet", "bake once, then cancel", subject=str(folder)) from error
    arguments = [worker.python_executable(), "-m", PACKAGE.name, "bake", str(package), "--cache", str(folder)]
    search_path = os.pathsep.join(worker.search_path())
    if sys.platform == "win32":
        return f'set "PYTHONPATH={search_path}" && {quoted(arguments)}'
    return f"PYTHONPATH={shlex.quote(search_path)} {quoted(arguments)}"


def quoted(command: Sequence[str]) -> str:
    """A command as typed into a terminal of this system."""
    return subprocess.list2cmdline(command) if sys.platform == "win32" else shlex.join(command)


class MPM_OT_show(Operation, bpy.types.Operator):
    """Show the baked frames, including those baked elsewhere, in a new object if necessary"""

    bl_idname = "mpm.show"
    bl_label = "Show Frames"
    bl_options = {"REGISTER", "UNDO"}

    cache: OTHER_CACHE
    object: StringProperty(name="Object", description="Emitter that was baked; all if empty")

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def execute(self, context: Context) -> Any:
        item = show_cache(context.scene, self.cache, object_name=self.object)
        self.notes(one_result.overlaps(context.scene, paths.own_folder(item)))
        return {"FINISHED"}

    def touched(self, context: Context) -> list[BlenderObject]:
        return particle_objects.result_objects(context.scene)


CLASSES = (MPM_OT_show, MPM_OT_open_cache_folder, MPM_OT_copy_command, MPM_OT_copy_message, MPM_OT_select_unstable)
