"""The preview in the file: its cache beside the bake's, and the object that shows it, which never renders."""

import contextlib
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core.errors import MpmError
from ...storage.removal import remove_cache
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.registrar import Registrar
from ..playback import keyed_objects, keyframes, particle_objects
from ..playback.derived_objects import HIDDEN, children_of
from ..settings import paths
from ..settings.properties import DEFAULT_CACHE
from . import emitter_wires, unstable

OBJECT_NAME = "MPM Preview"
# Marks the object that shows a preview. Its cache folder is no mark: saving the file or choosing another cache changes the folder.
MARK = "mpm_preview"


def cache_path(scene: BlenderScene) -> str:
    """The cache folder of the scene's preview, as Blender stores it: the bake's folder with "_preview" appended.

    The suffix is repeated if another scene bakes into that folder, which a preview must not replace.
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
    """The object that shows the preview; None if there is none."""
    wanted = folder(scene)
    items = particle_objects.result_objects(scene)
    there = [item for item in items if paths.absolute(item.mpm.cache) == wanted] or [item for item in items if is_preview(item)]
    return there[0] if there else None


def begin(scene: BlenderScene) -> None:
    """Prepare for a new preview: an object that shows an earlier preview in another folder will show this one."""
    item = shown(scene)
    if item is not None and item.library is None and paths.absolute(item.mpm.cache) != folder(scene):
        item.mpm.cache, item.mpm.home, item.mpm.folder = cache_path(scene), "", ""


def label(scene: BlenderScene) -> BlenderObject | None:
    """Mark the object that shows the preview, and hide what shows the bake. Cheap if nothing changes."""
    item = shown(scene)
    if item is None:
        return None
    if item.library is None and not is_preview(item):
        item[MARK] = True
    if not item.name.startswith(OBJECT_NAME):
        item.name = OBJECT_NAME
        item.hide_render = True
    for other in particle_objects.result_objects(scene):
        if other is item or other.session_uid == item.session_uid or other.library is not None:
            continue
        for each in (other, *(child.shown for child in children_of(other))):
            if not each.hide_viewport and each.library is None:
                each.hide_viewport = True
                each[HIDDEN] = True
    return item


def remove(scene: BlenderScene) -> bool:
    """Remove the preview from the file and delete its frames; the particles of the bake are shown again.

    Returns whether dynamic colliders were keyframed by the preview.
    """
    had_keys = _take_away(scene)
    # the next preview replaces files that are in use or cannot be deleted
    with contextlib.suppress(MpmError, OSError):
        remove_cache(folder(scene))
    return had_keys


def _take_away(scene: BlenderScene) -> bool:
    """Remove the preview from the file; as `remove`, but leaves what is on the disk."""
    item = shown(scene)
    own = folder(scene) if item is None else paths.absolute(item.mpm.cache)
    if item is not None and item.library is None:
        mesh = item.data
        particle_objects.forget(item)
        bpy.data.objects.remove(item)
        if mesh is not None and not mesh.users:
            bpy.data.meshes.remove(mesh)
    for other in scene.objects:
        if other.get(HIDDEN):
            other.hide_viewport = False
            del other[HIDDEN]
    keyed_objects.remove(scene, own)
    had_keys = keyframes.remove_all_keys(scene, own)
    unstable.remove(scene, str(own))
    emitter_wires.show_again(scene)
    return had_keys


def remove_empty(scene: BlenderScene) -> None:
    """Remove a preview whose cache is gone: it would show nothing and hide the bake."""
    item = shown(scene)
    if item is None or item.library is not None or scene.library is not None or not is_preview(item):
        return
    if not paths.holds_cache(paths.shown_folder(item)) and not keyframes.keyed_by(scene, paths.absolute(item.mpm.cache)):
        _take_away(scene)


@persistent
def _on_load(_path: str = "", _unused: Any = None) -> None:
    """A bake may have deleted the frames since the file was saved."""
    for scene in bpy.data.scenes:
        remove_empty(scene)


def register(registrar: Registrar) -> None:
    registrar.member(bpy.app.handlers.load_post, _on_load)
