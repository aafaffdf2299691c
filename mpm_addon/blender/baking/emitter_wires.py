"""Emitters that are drawn as wires are hidden in viewports while their particles are shown, with the eye of the Outliner.

Only wires that are not rendered, as quick effects draw emitters: whatever looks different, the artist chose. What was hidden is
marked, in the file, so that it is shown again after undo and reopening, too; and if the artist shows a marked object, it stays visible.
While a cache is missing, its emitters are shown, with another mark, and hidden again once it is there.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..host.blender_types import BlenderObject, BlenderScene
from ..host.eye import MARK
from ..host.registrar import Registrar
from ..host.runtime import OfFile, runtime
from ..playback import particle_objects
from ..settings import emitter_look, paths

# Marks an emitter that is shown because the cache of its particles is missing.
AWAY = "mpm_shown_without_cache"


@dataclass
class Looks(OfFile):
    """The last look at each scene, by the session UID of the scene.

    Attributes:
        showing: the session UIDs of the objects that showed particles.
        edited: the names of emitters that were not hidden, because they were being edited.
    """

    showing: dict[int, set[int]] = field(default_factory=dict)
    edited: dict[int, set[str]] = field(default_factory=dict)


def hide(scene: BlenderScene, names: Collection[str]) -> None:
    """Hide the emitters with these names, whose particles are shown now; those that are being edited at a later look."""
    edited = runtime.of(Looks).edited
    for item in scene.objects:
        if MARK in item and item.name in names and item.library is None:
            # perhaps under a new name
            item[MARK] = item.name
        elif item.name in names and _is_plain_wire(item):
            if item.mode != "OBJECT":
                edited.setdefault(scene.session_uid, set()).add(item.name)
                continue
            visible = [layer for layer in _layers(scene, item) if not item.hide_get(view_layer=layer)]
            for layer in visible:
                item.hide_set(state=True, view_layer=layer)
            if visible:
                item[MARK] = item.name
            if AWAY in item:
                del item[AWAY]


def show_again(scene: BlenderScene, *, is_over: bool = False) -> None:
    """Show the hidden emitters whose particles are not shown any longer; `is_over` if none of them will be when a cache is found again."""
    hidden = [item for item in scene.objects if (MARK in item or AWAY in item) and item.library is None]
    if not hidden:
        return
    names, away = _emitters(_showing(scene)), set() if is_over else _emitters(particle_objects.result_objects(scene))
    for item in hidden:
        if MARK in item and not _names_of(item, MARK) & names:
            is_hidden = any(item.hide_get(view_layer=layer) for layer in _layers(scene, item))
            if is_hidden and _names_of(item, MARK) & away:
                item[AWAY] = item[MARK]
            del item[MARK]
            for layer in _layers(scene, item):
                item.hide_set(state=False, view_layer=layer)
        elif AWAY in item and not _names_of(item, AWAY) & away:
            del item[AWAY]


def _hide_returned(scene: BlenderScene) -> None:
    """Hide the emitters that were shown while their cache was missing, if it is there again."""
    waiting = [item for item in scene.objects if AWAY in item and item.library is None]
    names = _emitters(_showing(scene)) if waiting else set()
    hide(scene, {item.name for item in waiting if _names_of(item, AWAY) & names})


def _names_of(item: BlenderObject, mark: str) -> set[str]:
    """The name of a marked emitter, and that with which it was marked, if it was renamed since."""
    return {item.name, str(item[mark])}


def look(scene: BlenderScene) -> None:
    """Show emitters again if an object that showed particles was deleted, or its cache, since the last call or before the first.

    Those that were shown because a cache was missing are hidden again if it is there.
    """
    looks, number, showing = runtime.of(Looks), scene.session_uid, _showing(scene)
    numbers = {item.session_uid for item in showing}
    known = looks.showing.get(number)
    if known is None or known - numbers:
        show_again(scene)
    if known is None or numbers - known:
        _hide_returned(scene)
    looks.showing[number] = numbers
    hide(scene, looks.edited.pop(number, set()) & _emitters(showing))


def _showing(scene: BlenderScene) -> list[BlenderObject]:
    """The objects whose cache is there."""
    return [item for item in particle_objects.result_objects(scene) if paths.holds_cache(paths.shown_folder(item))]


def _emitters(showing: Iterable[BlenderObject]) -> set[str]:
    """The names of the emitters whose particles these objects show."""
    return {part.name for item in showing for part in item.mpm.display.parts}


def _is_plain_wire(item: BlenderObject) -> bool:
    is_own = item.library is None and item.override_library is None
    is_wire = emitter_look.is_wire(item) and item.mpm.type == "emitter"
    # Blender makes no instances of an object that is hidden with the eye, and they would be missing in the next bake
    has_instances = item.instance_type != "NONE" or any(each.type == "NODES" for each in item.modifiers)
    return is_own and is_wire and not has_instances


@persistent
def _on_load(_path: str = "", _unused: Any = None) -> None:
    for scene in bpy.data.scenes:
        look(scene)


def register(registrar: Registrar) -> None:
    registrar.member(bpy.app.handlers.load_post, _on_load)


def _layers(scene: BlenderScene, item: BlenderObject) -> Iterator[Any]:
    """The view layers that contain an object."""
    layers: Any = scene.view_layers
    return (layer for layer in layers if layer.objects.get(item.name) == item)
