"""The preview in the file: its cache beside the final's, and the object that shows it, which never renders and goes before a final."""

import contextlib
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import MpmError
from ...storage.cache_writer import remove_cache
from ..host.blender_types import BlenderObject, BlenderScene
from ..playback import keyframes, playback
from ..settings import paths
from ..settings.properties import DEFAULT_CACHE
from . import unstable

OBJECT_NAME = "MPM Preview"
# On the object that shows a preview, wherever its frames are: the first save, or another cache of the scene, gives them another place.
MARK = "mpm_preview"
# On particles of a final that were hidden because a preview is shown.
HIDDEN = "mpm_hidden_by_preview"


def cache_path(scene: BlenderScene) -> str:
    """The cache folder of the scene's preview, as Blender writes it: that of the final with "_preview" behind it.

    Twice where it is that of another scene's final, which a preview must not replace.
    """
    scenes: Any = bpy.data.scenes
    finals = {paths.absolute(_final(each)) for each in scenes}
    wanted = f"{_final(scene)}_preview"
    while paths.absolute(wanted) in finals:
        wanted += "_preview"
    return paths.cache_path(scene, cache=wanted)


def _final(scene: BlenderScene) -> str:
    return (scene.mpm.cache or DEFAULT_CACHE).rstrip("/\\")


def folder(scene: BlenderScene) -> Path:
    """The cache folder of the scene's preview."""
    return paths.absolute(cache_path(scene))


def is_preview(item: BlenderObject) -> bool:
    """Whether an object shows a preview."""
    return MARK in item


def shown(scene: BlenderScene) -> BlenderObject | None:
    """The object that shows the preview; None where there is none."""
    wanted = folder(scene)
    items = playback.result_objects(scene)
    there = [item for item in items if paths.absolute(item.mpm.cache) == wanted] or [item for item in items if is_preview(item)]
    return there[0] if there else None


def begin(scene: BlenderScene) -> None:
    """A preview is about to be made: the object of an earlier one, whose frames are elsewhere, is to show it."""
    item = shown(scene)
    if item is not None and item.library is None and paths.absolute(item.mpm.cache) != folder(scene):
        item.mpm.cache, item.mpm.home, item.mpm.folder = cache_path(scene), "", ""


def label(scene: BlenderScene) -> BlenderObject | None:
    """Let the object that shows the preview be known as one, and hide the final's particles meanwhile. Cheap where nothing is to do."""
    item = shown(scene)
    if item is None:
        return None
    if item.library is None and not is_preview(item):
        item[MARK] = True
    if not item.name.startswith(OBJECT_NAME):
        item.name = OBJECT_NAME
        item.hide_render = True
    for other in playback.result_objects(scene):
        if other is not item and other.session_uid != item.session_uid and not other.hide_viewport and other.library is None:
            other.hide_viewport = True
            other[HIDDEN] = True
    return item


def remove(scene: BlenderScene) -> bool:
    """Take the preview out of the file and its frames off the disk; the final's particles are shown again.

    Returns whether dynamic colliders moved as in the preview.
    """
    item = shown(scene)
    own = folder(scene) if item is None else paths.absolute(item.mpm.cache)
    if item is not None and item.library is None:
        mesh = item.data
        playback.forget(item)
        bpy.data.objects.remove(item)
        if mesh is not None and not mesh.users:
            bpy.data.meshes.remove(mesh)
    for other in playback.result_objects(scene):
        if other.get(HIDDEN):
            other.hide_viewport = False
            del other[HIDDEN]
    had_keys = keyframes.remove_all_keys(scene, own)
    unstable.remove(scene, str(own))
    # what is in use or cannot be deleted is replaced by the next preview
    with contextlib.suppress(MpmError, OSError):
        remove_cache(folder(scene))
    return had_keys
