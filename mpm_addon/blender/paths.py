"""Where a bake's files are. A .blend that was never saved has no folder of its own: a named temporary one serves."""

import os
import tempfile
from pathlib import Path

import bpy

from .blender_types import BlenderScene

DEFAULT_CACHE = "//cache_mpm"


def cache_path(scene: BlenderScene, *, object_name: str = "", cache: str = "") -> str:
    """The cache folder as Blender writes it, relative to the .blend file where it begins with //.

    Args:
        object_name: the one emitter that is baked; its cache is apart from that of the whole scene.
        cache: a folder that overrides the scene's.
    """
    chosen = cache or (f"//cache_{bpy.path.clean_name(object_name)}" if object_name else scene.mpm.cache) or DEFAULT_CACHE
    if is_temporary(chosen):
        return str(unsaved_folder() / bpy.path.clean_name(chosen[2:].strip("/\\") or "cache_mpm"))
    return chosen


def absolute(path: str) -> Path:
    """The folder that a path of Blender's means."""
    return Path(bpy.path.abspath(path)).absolute()


def is_temporary(path: str) -> bool:
    """Whether a path is relative to a .blend file that is not there."""
    return path.startswith("//") and not bpy.data.filepath


def unsaved_folder() -> Path:
    """The folder for the caches of files that were never saved, one for each Blender that runs."""
    return Path(tempfile.gettempdir()) / f"mpm_unsaved_{os.getpid()}"
