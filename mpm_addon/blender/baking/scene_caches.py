"""Gives each scene of a file its own cache folder: if several scenes name the same one, as after copying a scene, all but one get another.

The oldest scene keeps the folder. Particles in the other scenes keep showing its frames until those scenes are baked.
"""

from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..host.blender_types import BlenderScene
from ..host.registrar import Registrar
from ..playback import particle_objects
from ..settings import paths


def separate() -> None:
    """Give each scene whose cache folder belongs to an earlier scene its own folder."""
    scenes: list[BlenderScene] = list(bpy.data.scenes)
    own = [scene for scene in scenes if scene.library is None and scene.override_library is None]
    taken = {_folder(scene): scene for scene in scenes if scene not in own}
    for scene in sorted(own, key=_precedence):
        folder = _folder(scene)
        if folder in taken:
            scene.mpm.cache = _free_path(scene, taken)
            _keep_showing(scene, folder)
        taken[_folder(scene)] = scene


def _precedence(scene: BlenderScene) -> tuple[bool, int]:
    """Sorts scenes that show their frames first, then older ones."""
    return not any(paths.absolute(item.mpm.cache) == _folder(scene) for item in particle_objects.result_objects(scene)), scene.session_uid


def _folder(scene: BlenderScene) -> Path:
    return paths.absolute(paths.cache_path(scene))


def _free_path(scene: BlenderScene, taken: dict[Path, BlenderScene]) -> str:
    """The scene's path with the scene's name, and a number if the folder exists or another scene uses it."""
    shared = (scene.mpm.cache or paths.DEFAULT_CACHE).rstrip("/\\")
    path = f"{shared}_{bpy.path.clean_name(scene.name)}"
    number = 1
    while True:
        wanted = path if number == 1 else f"{path}_{number}"
        folder = paths.absolute(paths.placed(wanted))
        if folder not in taken and not folder.exists():
            return wanted
        number += 1


def _keep_showing(scene: BlenderScene, folder: Path) -> None:
    """Particles that only this scene contains keep showing their frames until the scene is baked."""
    others: Any = [other for other in bpy.data.scenes if other != scene]
    for item in particle_objects.result_objects(scene):
        is_shared = any(other.objects.get(item.name) == item for other in others)
        if paths.absolute(item.mpm.cache) == folder and item.library is None and not is_shared:
            item.mpm.home = scene.mpm.cache


def _is_plain() -> bool:
    """Quick check that no two scenes name the same folder."""
    scenes: list[BlenderScene] = list(bpy.data.scenes)
    named = [scene.mpm.cache for scene in scenes if scene.library is None]
    return len(set(named)) == len(named)


@persistent
def _on_update(_scene: Any = None, _depsgraph: Any = None) -> None:
    if len(bpy.data.scenes) > 1 and not _is_plain():
        separate()


@persistent
def _on_file(_path: str = "", _unused: Any = None) -> None:
    _on_update()


def register(registrar: Registrar) -> None:
    lists = bpy.app.handlers
    registrar.member(lists.depsgraph_update_post, _on_update)
    registrar.member(lists.load_post, _on_file)
    registrar.member(lists.save_pre, _on_file)
