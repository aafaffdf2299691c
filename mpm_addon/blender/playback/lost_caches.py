"""Objects whose cache is not there: on a drive that is not connected, or in a folder that was moved.

Nothing of them is deleted, so that everything is shown as before once the folder is there again. Skins cannot be emptied without losing
their meshes: they are hidden, with a mark that is saved in the file.
"""

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core.messages import NOTHING, Message
from ..host.blender_types import BlenderObject
from ..host.registrar import Registrar
from ..host.wording import in_blender
from ..settings import paths
from . import skin_objects


def lost(item: BlenderObject) -> Message:
    """Which cache folder of an object is missing, and what to do; `NOTHING` if it is there, or its bake was freed."""
    folder = paths.shown_folder(item)
    if item.mpm.is_freed or _is_there(folder):
        return NOTHING
    remedy = "connect its drive, set Cache to where the folder is now and press Show Frames, or bake again"
    return Message(f"its cache folder {folder} is missing, so it shows nothing", (remedy,), f'"{item.name}"')


def _is_there(folder: object) -> bool:
    try:
        return paths.absolute(str(folder)).is_dir()
    except (OSError, ValueError):
        return False


def hide_skins(item: BlenderObject) -> Message:
    """Hide the skins of an object if it has no cache; returns as `lost`."""
    if paths.holds_cache(paths.shown_folder(item)):
        return NOTHING
    for _number, _part, skin in skin_objects.skins_of(item, is_any=True):
        if skin_objects.WITHOUT_CACHE not in skin and _is_local(skin):
            skin[skin_objects.WITHOUT_CACHE] = [skin.hide_viewport, skin.hide_render]
            skin.hide_viewport = skin.hide_render = True
    return lost(item)


def show_skins(item: BlenderObject) -> None:
    """Show the skins of an object again as they were before its cache was missing."""
    for _number, _part, skin in skin_objects.skins_of(item, is_any=True):
        if skin_objects.WITHOUT_CACHE in skin and _is_local(skin):
            skin.hide_viewport, skin.hide_render = map(bool, skin[skin_objects.WITHOUT_CACHE])
            del skin[skin_objects.WITHOUT_CACHE]


@persistent
def _on_load(_path: str = "", _unused: Any = None) -> None:
    objects: Any = bpy.data.objects
    for message in dict.fromkeys(lost(item) for item in objects if item.mpm.cache and item.users_collection):
        if message:
            print(f"MPM: {in_blender(message)}", flush=True)


def register(registrar: Registrar) -> None:
    registrar.member(bpy.app.handlers.load_post, _on_load)


def _is_local(item: BlenderObject) -> bool:
    return item.library is None and item.override_library is None
