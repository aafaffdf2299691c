"""Shows what stopped an unstable bake: the particles concerned, as large red points at their last valid positions."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.errors import CacheError
from ...core.failure import Failure
from ...core.laws.finish import SPHERES
from ...core.messages import Message
from ...storage import open_cache
from ...storage.cache import current_take
from ...storage.failure import read_failure
from .. import display
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.wording import problem_and_remedy
from ..playback import particle_objects
from ..settings import paths

OBJECT_NAME = "MPM Unstable"
# The object stores whose particles it shows and the panel's message, so that drawing reads no files.
CACHE, _FRAME = "mpm_unstable_cache", "mpm_unstable_frame"
_PROBLEM, _REMEDY = "mpm_unstable_problem", "mpm_unstable_remedy"
_LOOK = display.Look("Unstable", (1.0, 0.02, 0.02, 1.0), mode=SPHERES)


def objects(scene: BlenderScene) -> list[BlenderObject]:
    """The objects of a scene that show unstable particles."""
    return [item for item in scene.objects if CACHE in item]


def shown(scene: BlenderScene, cache: str) -> BlenderObject | None:
    """The object that shows why the bake into a cache folder stopped, if any."""
    folder = paths.absolute(cache)
    return next((item for item in objects(scene) if paths.absolute(item[CACHE]) == folder), None)


def message(item: BlenderObject) -> Message:
    """The panel's message for such an object."""
    return Message(str(item[_PROBLEM]), (str(item[_REMEDY]),))


def refresh(scene: BlenderScene, cache: str) -> None:
    """Show why the last bake of a cache folder's displayed take stopped, if it became unstable.

    Raises:
        CacheError: what the bake saved about it is damaged.
    """
    folder = paths.absolute(cache)
    failure = read_failure(folder, shown=_shown_take(folder))
    if failure is None:
        remove(scene, cache)
    else:
        _fill(shown(scene, cache) or _new_object(scene), failure, scene, cache)


def _shown_take(folder: Path) -> int | None:
    try:
        return current_take(folder)
    except CacheError:
        return None


def remove(scene: BlenderScene, cache: str) -> None:
    """Remove the object that shows unstable particles, if any."""
    item = shown(scene, cache)
    if item is not None:
        mesh = item.data
        bpy.data.objects.remove(item)
        bpy.data.meshes.remove(mesh)


def select(scene: BlenderScene, view_layer: Any, cache: str) -> None:
    """Select only the unstable particles, and go to the last valid frame.

    Raises:
        CacheError: there are none.
    """
    item = shown(scene, cache)
    if item is None:
        raise CacheError("its last bake is stable", "there is nothing to select", subject=str(paths.absolute(cache)))
    for other in view_layer.objects:
        other.select_set(other == item)
    view_layer.objects.active = item
    scene.frame_set(max(scene.frame_start, int(item[_FRAME]) - 1))


def _new_object(scene: BlenderScene) -> BlenderObject:
    item: BlenderObject = bpy.data.objects.new(OBJECT_NAME, bpy.data.meshes.new(OBJECT_NAME))
    scene.collection.objects.link(item)
    # visible through other particles, and never rendered
    item.show_in_front = True
    item.hide_render = True
    return item


def _fill(item: BlenderObject, failure: Failure, scene: BlenderScene, cache: str) -> None:
    item[CACHE], item[_FRAME] = cache, failure.frame
    item[_PROBLEM], item[_REMEDY] = problem_and_remedy(failure.message)
    count = len(failure.id)
    # the size of a cell: larger than all particles, and visible at any resolution
    size = float(open_cache(paths.absolute(cache)).manifest["grid_spacing"])
    arrays = {
        "position": failure.position,
        "id": failure.id,
        "emitter_index": np.zeros(count, np.int32),
        "scale": np.full(count, size, np.float32),
    }
    particle_objects.fill(item.data, arrays, scene.unit_settings.scale_length)
    display.dress(item, [_LOOK])
