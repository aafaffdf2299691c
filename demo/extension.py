"""In Blender: the installed extension, and a clean exit from Blender's Python, which may hang or crash."""

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import addon_utils
import bpy

MODULE = "bl_ext.user_default.mpm_addon"


def install(archive: str) -> None:
    """Install and enable the extension's zip, as Preferences > Get Extensions > Install from Disk does."""
    outcome = bpy.ops.extensions.package_install_files(repo="user_default", filepath=archive, enable_on_install=True)
    context: Any = bpy.context
    if outcome != {"FINISHED"} or MODULE not in context.preferences.addons:
        raise RuntimeError(f"the extension was not installed: {outcome}")
    bpy.ops.wm.save_userpref()


def module(name: str) -> ModuleType:
    """A module of the enabled extension, or of the source tree where that is enabled, by its name inside it."""
    package = MODULE if MODULE in sys.modules else "mpm_addon"
    return importlib.import_module(f"{package}.{name}")


def enable() -> None:
    """Enable the extension in this process. Raises RuntimeError."""
    if addon_utils.enable(MODULE, default_set=True) is None:
        raise RuntimeError(f"{MODULE} cannot be enabled")


def render(folder: str, frames: Iterable[int], *, is_rigid: bool = False) -> None:
    """Render frames of the open file as NUMBER.png in a folder. Raises RuntimeError where one shows no particles, unless all is rigid."""
    scene: Any = bpy.context.scene
    for frame in frames:
        scene.frame_set(frame)
        shown = [each for item in scene.objects if item.mpm.cache for each in (item, *item.children) if each.type == "MESH"]
        if not is_rigid and not any(each.data.vertices for each in shown):
            raise RuntimeError(f"frame {frame} shows no particles")
        scene.render.filepath = os.path.join(folder, f"{frame:04d}.png")
        bpy.ops.render.render(write_still=True)


def run(main: Callable[[], None]) -> None:
    """Call `main`, disable the extension and leave the process.

    bpy may hang or crash while Python shuts down with something registered.
    """
    status = 1
    try:
        main()
        status = 0
    finally:
        if status:
            traceback.print_exc()
        addon_utils.disable(MODULE)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
