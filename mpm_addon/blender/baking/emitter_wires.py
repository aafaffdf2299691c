"""Emitters that are drawn as wires are hidden in viewports while their particles are shown, with the eye of the Outliner.

Only wires that are not rendered, as quick effects draw emitters: whatever looks different, the artist chose. What was hidden is
marked, in the file, so that it is shown again after undo and reopening, too; and if the artist shows a marked object, it stays visible.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..host.blender_types import BlenderObject, BlenderScene
from ..host.runtime import OfFile, runtime
from ..playback import particle_objects
from ..settings import paths

MARK = "mpm_hidden_by_bake"


@dataclass
class Results(OfFile):
    """The objects that showed particles at the last look: session UID of a scene -> those of its objects."""

    numbers: dict[int, set[int]] = field(default_factory=dict)


def hide(scene: BlenderScene, names: Collection[str]) -> None:
    """Hide the emitters with these names, whose particles are shown now."""
    for item in scene.objects:
        if item.name in names and _is_plain_wire(item) and MARK not in item:
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
    shown = [item for item in particle_objects.result_objects(scene) if paths.holds_cache(paths.shown_folder(item))]
    names = {part.name for item in shown for part in item.mpm.display.parts}
    for item in hidden:
        if item.name not in names:
            del item[MARK]
            for layer in _layers(scene, item):
                item.hide_set(state=False, view_layer=layer)


def look(scene: BlenderScene) -> None:
    """Show emitters again if an object that showed particles was deleted since the last call."""
    known, numbers = runtime.of(Results).numbers, {item.session_uid for item in particle_objects.result_objects(scene)}
    if known.get(scene.session_uid, set()) - numbers:
        show_again(scene)
    known[scene.session_uid] = numbers


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
