"""One result of an emitter at a time: particle objects follow a bake into another folder, and results in the same place are pointed out.

An object keeps its folder if the artist asked for that (*Keep Cache*), or showed another folder beside the scene's own (`mpm.show`).
"""

from pathlib import Path
from typing import Any

import bpy

from ...core.messages import NOTHING, Message
from ..host.blender_types import BlenderObject, BlenderScene
from ..playback import particle_objects
from ..settings import paths
from . import previews


def follow(scene: BlenderScene, cache: str, *, object_name: str = "") -> Message:
    """Make the objects that show an earlier bake of the same emitters show another folder; earlier frames stay on the disk.

    Nothing happens if an object shows the folder already, or will do so as its next bake.

    Args:
        scene: the scene.
        cache: the folder, as Blender stores it.
        object_name: the only baked emitter; all emitters if empty.

    Returns:
        What was done; `NOTHING` if nothing.
    """
    folder = paths.absolute(cache)
    if folder == previews.folder(scene) or particle_objects.known_object(scene, cache) is not None:
        return NOTHING
    items = [item for item in particle_objects.result_objects(scene) if _can_follow(item, object_name) and not _is_shared(item, scene)]
    if not items:
        return NOTHING
    # of several folders, the one that was shown last
    last = max(items, key=lambda item: item.session_uid)
    before = paths.own_folder(last)
    for item in items:
        if paths.own_folder(item) == before:
            item.mpm.cache, item.mpm.home, item.mpm.folder = cache, "", ""
    kept = f", and the frames in {before} are kept" if paths.holds_cache(before) else ""
    return Message(f"it now shows {folder}{kept}", (), f'"{last.name}"')


def _can_follow(item: BlenderObject, object_name: str) -> bool:
    is_own = item.library is None and item.override_library is None
    return is_own and item.mpm.emitter_name == object_name and not item.mpm.keeps_cache and not previews.is_preview(item)


def _is_shared(item: BlenderObject, scene: BlenderScene) -> bool:
    """Whether another scene contains an object too, and shows its own bake with it."""
    scenes: Any = bpy.data.scenes
    return any(other != scene and other.objects.get(item.name) == item for other in scenes)


def overlaps(scene: BlenderScene, folder: Path) -> list[Message]:
    """A message for each object that renders emitters of a cache a second time, from another folder, without being asked to."""
    shown = [item for item in particle_objects.result_objects(scene) if not item.hide_render and not previews.is_preview(item)]
    own = [item for item in shown if paths.own_folder(item) == folder]
    others = [item for item in shown if item not in own and not item.mpm.keeps_cache]
    names = {part.name for item in own for part in item.mpm.display.parts}
    found = []
    for item in others:
        twice = [part.name for part in item.mpm.display.parts if part.name in names]
        if twice and paths.holds_cache(paths.shown_folder(item)):
            emitters = ", ".join(f'"{name}"' for name in twice)
            problem = f"it shows {emitters} a second time, from {paths.shown_folder(item)}"
            found.append(Message(problem, ("hide or delete it, or turn on its Keep Cache to compare both",), f'"{item.name}"'))
    return found
