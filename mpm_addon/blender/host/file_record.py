"""Records the parts of the open file that an operator may change, so that they can be restored. Needs no undo stack.

Records which data-blocks exist, the settings of the simulation, and the scene and object settings that operators change.
Data-blocks that an operator removes are not recorded.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy

from .blender_types import BlenderObject, Context
from .runtime import OfSession, runtime

# Types of data-blocks that operators add; users come before what they use.
_KINDS = (
    "scenes", "objects", "collections", "worlds", "cameras", "lights", "meshes", "volumes", "node_groups", "materials", "images", "actions",
)  # fmt: skip
_OF_OBJECTS = ("name", "hide_render", "hide_viewport", "display_type", "show_in_front", "location", "rotation_euler", "scale")
_OF_SCENES = ("frame_start", "frame_end", "camera", "world")
_OF_RENDER = ("engine", "resolution_x", "resolution_y", "resolution_percentage")
_OF_CYCLES = ("samples", "use_denoising", "max_bounces")
_SETTINGS = "mpm"


@dataclass
class Silence(OfSession):
    """Number of blocks that suppress the effects of settings."""

    depth: int = 0


@contextmanager
def silent() -> Iterator[None]:
    """Changes of settings inside the block have no effect yet."""
    silence = runtime.of(Silence)
    silence.depth += 1
    try:
        yield
    finally:
        silence.depth -= 1


def is_silent() -> bool:
    """Whether changes of settings have no effect at present."""
    return runtime.of(Silence).depth > 0


class _Setting(NamedTuple):
    """A property of a group and its value; None if it was unset."""

    group: Any
    name: str
    is_set: bool
    value: Any


class FileRecord:
    """The recorded state of the open file."""

    def __init__(self, context: Context, items: Iterable[BlenderObject]) -> None:
        """Record the file.

        Args:
            items: the objects that may be changed; others are not recorded.
        """
        scene = context.scene
        self._blocks = {kind: {block.session_uid for block in getattr(bpy.data, kind)} for kind in _KINDS}
        self._scene, self._frame = scene, scene.frame_current
        # a script may use a scene that the window does not show
        self._window, self._shown = context.window, context.window.scene if context.window is not None else None
        self._layer = context.view_layer
        self._selected = {item.session_uid for item in self._layer.objects.selected}
        self._active = self._layer.objects.active
        self._items = [item for item in dict.fromkeys(items) if item.library is None]
        owners = [(scene, _OF_SCENES), (scene.render, _OF_RENDER), *((item, _OF_OBJECTS) for item in self._items)]
        if getattr(scene, "cycles", None) is not None:
            owners.append((scene.cycles, _OF_CYCLES))
        self._values = [(owner, name, _plain(getattr(owner, name))) for owner, names in owners for name in names]
        self._settings = [setting for owner in (scene, *self._items) for setting in _settings(owner, [_SETTINGS])]
        self._modifiers = [(item, _modifiers(item)) for item in self._items]
        self._materials = [(item.data, list(item.data.materials)) for item in self._items if hasattr(item.data, "materials")]

    def put_back(self) -> None:
        """Restore the recorded state."""
        if self._window is not None and self._window.scene != self._shown:
            self._window.scene = self._shown
        with silent():
            for owner, name, value in self._values:
                if _plain(getattr(owner, name)) != value:
                    setattr(owner, name, value)
            _put_back_settings(self._settings)
        for item, modifiers in self._modifiers:
            _put_back_modifiers(item, modifiers)
        for data, materials in self._materials:
            if list(data.materials) != materials:
                data.materials.clear()
                for material in materials:
                    data.materials.append(material)
        self._remove_new()
        if self._scene.frame_current != self._frame:
            self._scene.frame_set(self._frame)
        # Blender rebuilds the layer's objects when they are next needed: until then, a loop over them meets removed ones, or crashes
        self._layer.update()
        for item in list(self._layer.objects):
            item.select_set(item.session_uid in self._selected, view_layer=self._layer)
        self._layer.objects.active = self._active

    def _remove_new(self) -> None:
        for kind in _KINDS:
            blocks: Any = getattr(bpy.data, kind)
            for block in [block for block in blocks if block.session_uid not in self._blocks[kind]]:
                blocks.remove(block)


def _plain(value: Any) -> Any:
    """A value that no longer changes; vectors become tuples."""
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str | set) else value


def _settings(owner: Any, names: Iterable[str]) -> list[_Setting]:
    """The properties of an owner, and of its groups that were ever used."""
    found = []
    for name in names:
        if not owner.is_property_set(name):
            found.append(_Setting(owner, name, is_set=False, value=None))
            continue
        value = getattr(owner, name)
        if isinstance(value, bpy.types.PropertyGroup):
            found += _settings(value, _names(value))
        elif isinstance(value, bpy.types.bpy_prop_collection):
            rows = [{each: _plain(getattr(row, each)) for each in _names(row)} for row in value]
            found.append(_Setting(owner, name, is_set=True, value=rows))
        else:
            found.append(_Setting(owner, name, is_set=True, value=_plain(value)))
    return found


def _names(group: Any) -> list[str]:
    return [name for name in group.bl_rna.properties.keys() if name != "rna_type"]  # noqa: SIM118 - no dictionary


def _put_back_settings(settings: list[_Setting]) -> None:
    for group, name, is_set, value in settings:
        if not is_set:
            continue
        now: Any = getattr(group, name)
        if isinstance(value, list):  # the rows of a collection
            now.clear()
            for values in value:
                row = now.add()
                for each, kept in values.items():
                    setattr(row, each, kept)
        elif _plain(now) != value:
            setattr(group, name, value)
    # after the other settings, because changing one may set others
    for group, name, is_set, _ in settings:
        if not is_set and group.is_property_set(name):
            group.property_unset(name)


def _modifiers(item: BlenderObject) -> list[tuple[str, Any]]:
    """The modifiers of an object, and the node groups of those that have one."""
    return [(modifier.name, getattr(modifier, "node_group", None)) for modifier in item.modifiers]


def _put_back_modifiers(item: BlenderObject, before: list[tuple[str, Any]]) -> None:
    groups = dict(before)
    for modifier in list(item.modifiers):
        if modifier.name not in groups:
            item.modifiers.remove(modifier)
        elif groups[modifier.name] is not None and modifier.node_group != groups[modifier.name]:
            modifier.node_group = groups[modifier.name]
