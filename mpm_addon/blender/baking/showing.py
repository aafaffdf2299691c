"""Shows a cache that was baked elsewhere: by a farm, from a terminal, or before the file was moved."""

from typing import Any

import bpy
from bpy.props import StringProperty

from ...core.errors import CacheError
from ...storage import open_cache, read_scene
from ...storage.take import SCENE
from .. import display
from ..host.blender_types import BlenderObject, BlenderScene, Context
from ..host.operation import Operation
from ..host.registrar import Registrar
from ..playback import playback
from ..reading import freshness
from ..settings import paths
from ..settings.properties import OTHER_CACHE
from . import previews
from .results import looks_of


def show_cache(scene: BlenderScene, cache: str = "", *, object_name: str = "") -> BlenderObject:
    """Let a scene show the frames in a cache folder, and return the object that does.

    An object that shows this folder is taken, else one whose own cache is not there, with all that an artist made of it;
    else a new one is made.

    Args:
        cache: the folder, as Blender writes it; the scene's where it is not given.
        object_name: the one emitter that was baked; all where it is empty.

    Raises:
        CacheError: the folder holds no cache.
    """
    chosen = paths.cache_path(scene, object_name=object_name, cache=cache)
    folder = paths.absolute(chosen)
    baked = open_cache(folder)
    shown = playback.result_objects(scene)
    if all(paths.absolute(item.mpm.cache) != folder for item in shown):
        for item in shown:
            if item.mpm.emitter_name == object_name and not previews.is_preview(item) and not _has_cache(item):
                item.mpm.cache = chosen
                break
    count = len(shown)
    item = playback.result_object(scene, chosen, object_name=object_name)
    freshness.note_known(item, baked.manifest.get("scene_hash", ""))
    if len(playback.result_objects(scene)) > count:
        item.mpm.emitter_name = object_name
        display.dress(item, looks_of(read_scene(baked.takes[-1].folder / SCENE)))
    playback.show(scene)
    return item


def _has_cache(item: BlenderObject) -> bool:
    try:
        open_cache(paths.absolute(item.mpm.cache))
    except CacheError:
        return False
    return True


class MPM_OT_show(Operation, bpy.types.Operator):
    """Show the baked frames: in a new object if the particles were deleted, or from a cache folder that was baked elsewhere"""

    bl_idname = "mpm.show"
    bl_label = "Show Frames"
    bl_options = {"REGISTER", "UNDO"}

    cache: OTHER_CACHE
    object: StringProperty(name="Object", description="Emitter that was baked; all if empty")

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def execute(self, context: Context) -> Any:
        show_cache(context.scene, self.cache, object_name=self.object)
        return {"FINISHED"}

    def touched(self, context: Context) -> list[BlenderObject]:
        return playback.result_objects(context.scene)


def register(registrar: Registrar) -> None:
    registrar.classes((MPM_OT_show,))
