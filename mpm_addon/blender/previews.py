"""The preview in the file: its cache beside the final's, and the object that shows it, which never renders and goes before a final."""

import contextlib
from pathlib import Path

import bpy

from ..core.errors import MpmError
from ..storage.cache_writer import remove_cache
from . import keyframes, paths, playback
from .blender_types import BlenderObject, BlenderScene
from .properties import DEFAULT_CACHE

OBJECT_NAME = "MPM Preview"
# On particles of a final that were hidden because a preview is shown.
_HIDDEN = "mpm_hidden_by_preview"


def cache_path(scene: BlenderScene) -> str:
    """The cache folder of the scene's preview, as Blender writes it: that of the final with "_preview" behind it."""
    final = (scene.mpm.cache or DEFAULT_CACHE).rstrip("/\\")
    return paths.cache_path(scene, cache=f"{final}_preview")


def folder(scene: BlenderScene) -> Path:
    """The cache folder of the scene's preview."""
    return paths.absolute(cache_path(scene))


def shown(scene: BlenderScene) -> BlenderObject | None:
    """The object that shows the preview; None where there is none."""
    wanted = folder(scene)
    return next((item for item in playback.result_objects(scene) if paths.absolute(item.mpm.cache) == wanted), None)


def label(scene: BlenderScene) -> BlenderObject | None:
    """Let the object that shows the preview be known as one, and hide the final's particles meanwhile. Cheap where nothing is to do."""
    item = shown(scene)
    if item is None:
        return None
    if not item.name.startswith(OBJECT_NAME):
        item.name = OBJECT_NAME
        item.hide_render = True
    for other in playback.result_objects(scene):
        if other is not item and other.session_uid != item.session_uid and not other.hide_viewport and other.library is None:
            other.hide_viewport = True
            other[_HIDDEN] = True
    return item


def remove(scene: BlenderScene) -> None:
    """Take the preview out of the file and its frames off the disk; the final's particles are shown again."""
    item = shown(scene)
    if item is not None and item.library is None:
        mesh = item.data
        playback.forget(item)
        bpy.data.objects.remove(item)
        if mesh is not None and not mesh.users:
            bpy.data.meshes.remove(mesh)
    for other in playback.result_objects(scene):
        if other.get(_HIDDEN):
            other.hide_viewport = False
            del other[_HIDDEN]
    keyframes.remove_all_keys(scene, folder(scene))
    # what is in use or cannot be deleted is replaced by the next preview
    with contextlib.suppress(MpmError, OSError):
        remove_cache(folder(scene))
