"""Emitters that are drawn as wires are hidden in viewports while their particles are shown, with the eye of the Outliner.

Only wires that are not rendered, as quick effects draw emitters: whatever looks different, the artist chose. What was hidden is
marked, in the file, so that it is shown again after undo and reopening, too; and if the artist shows a marked object, it stays visible.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..host.blender_types import BlenderObject, BlenderScene
from ..host.eye import MARK
from ..host.runtime import OfFile, runtime
from ..playback import particle_objects
from ..settings import paths


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
        if item.name in names and _is_plain_wire(item) and MARK not in item:
            if item.mode != "OBJECT":
                edited.setdefault(scene.session_uid, set()).add(item.name)
                continue
            visible = [layer for layer in _layers(scene, item) if not item.hide_get(view_layer=layer)]
            for layer in visible:
                item.hide_set(state=True, view_layer=layer)
            if visible:
                item[MARK] = True


def show_again(scene: BlenderScene) -> None:
    """Show the hidden emitters whose particles are not shown any longer."""
    hidden = [item for item in scene.objects if MARK in item and item.library is None]
    if not hidden:
        return
    names = _emitters(_showing(scene))
    for item in hidden:
        if item.name not in names:
            del item[MARK]
            for layer in _layers(scene, item):
                item.hide_set(state=False, view_layer=layer)


def look(scene: BlenderScene) -> None:
    """Show emitters again if an object that showed particles was deleted, or its cache, since the last call or before the first."""
    looks, number, showing = runtime.of(Looks), scene.session_uid, _showing(scene)
    numbers = {item.session_uid for item in showing}
    if number not in looks.showing or looks.showing[number] - numbers:
        show_again(scene)
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
    is_wire = item.display_type == "WIRE" and item.hide_render and item.mpm.type == "emitter"
    # Blender makes no instances of an object that is hidden with the eye, and they would be missing in the next bake
    has_instances = item.instance_type != "NONE" or any(each.type == "NODES" for each in item.modifiers)
    return is_own and is_wire and not has_instances


def _layers(scene: BlenderScene, item: BlenderObject) -> Iterator[Any]:
    """The view layers that contain an object."""
    layers: Any = scene.view_layers
    return (layer for layer in layers if layer.objects.get(item.name) == item)
