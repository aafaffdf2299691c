"""A digest of the settings that affect a bake, cheap enough for every redraw of a panel.

It covers settings, transforms and the sizes of meshes, but not every vertex; the bake itself compares the whole scene. The declarations
of settings tell which of them affect a bake, and whether they are in use.
"""

import functools
import hashlib
import json
from collections.abc import Callable, Collection
from typing import Any

import bpy
import numpy as np

from ..host.actions import animated_paths
from ..host.blender_types import BlenderObject, BlenderScene
from ..playback.keyframes import has_baked_keys, start_matrix
from ..settings.declarations import deciding_names, is_set
from ..settings.properties import OBJECT_GROUP, SCENE_GROUP
from ..settings.roles import ROLES
from .forces import field_objects
from .motion import may_move

# Increase this if the digest of the same declared settings changes.
_REVISION = 3
# Replaces animated values, which would depend on the current frame.
_KEYED = "keyed"


def fingerprint(scene: BlenderScene, emitter_name: str = "") -> str:
    """The digest of a scene's settings. Independent of the current frame and of names.

    Args:
        emitter_name: the only emitter that counts; all emitters if empty.
    """
    return f"{_form()}-{_digest(_without_names(settings_state(scene, emitter_name)))}"


def settings_state(scene: BlenderScene, emitter_name: str = "") -> dict[str, Any]:
    """The settings that `fingerprint` digests, as plain numbers and strings."""
    settings = _settings(scene.mpm, animated_paths(scene))
    # the effective first frame counts, whichever setting it comes from
    own_start = settings.pop("frame_start")
    start = own_start if settings.pop("use_frame_range") else scene.frame_start
    state: dict[str, Any] = {
        "frames": (start, scene.render.fps, scene.render.fps_base),
        "units": scene.unit_settings.scale_length,
        "gravity": (scene.use_gravity, _unless_keyed(scene, "gravity", lambda: tuple(scene.gravity))),
        "settings": settings,
        "fields": [_field_state(item) for item in field_objects(scene)],
        "objects": [
            _object_state(item)
            for item in scene.objects
            if item.mpm.type in ROLES and (item.mpm.type != "emitter" or emitter_name in ("", item.name))
        ],
    }
    return state


def _without_names(state: Any) -> Any:
    """A state without the names of objects, which nothing that is simulated depends on."""
    if isinstance(state, dict):
        return {key: _without_names(value) for key, value in state.items() if key != "name"}
    return [_without_names(value) for value in state] if isinstance(state, (list, tuple)) else state


def is_comparable(text: str) -> bool:
    """Whether a digest was made of the current set of settings, so that a different digest means that the scene has changed."""
    return text.partition("-")[0] == _form()


@functools.cache
def _form() -> str:
    """A digest of the set of settings, regardless of their values."""
    return _digest([deciding_names(SCENE_GROUP), deciding_names(OBJECT_GROUP), _REVISION])[:8]


def _digest(state: Any) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _settings(group: Any, keyed: Collection[str], path: str = "mpm") -> dict[str, Any]:
    """The settings of a group that affect a bake, including nested groups, as plain numbers and strings.

    Args:
        keyed: the animated data paths of the group's owner.
        path: the data path of the group.
    """
    idle = type(group).idle(group)
    found: dict[str, Any] = {}
    for name in type(group).deciding:
        place = f"{path}.{name}"
        is_given = is_set(group, name) or f"{path}.use_{name}" in keyed
        if name in idle or not is_given:
            continue
        value = getattr(group, name)
        if place in keyed:
            found[name] = _KEYED
        elif isinstance(value, bpy.types.PropertyGroup):
            found[name] = _settings(value, keyed, place)
        else:
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    """The value of a setting as plain numbers and strings."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bpy.types.Object):
        return _place(value)
    if isinstance(value, bpy.types.Collection):
        # the force fields in it are digested separately, and nothing else in it has an effect
        return None
    return tuple(value)


def _object_state(item: BlenderObject) -> dict[str, Any]:
    return {
        "name": item.name,
        "disabled": _unless_keyed(item, "hide_viewport", lambda: item.hide_viewport),
        "place": _place(item),
        "modifiers": [(each.type, each.show_viewport, each.show_render) for each in item.modifiers],
        "settings": _settings(item.mpm, animated_paths(item)),
    }


def _field_state(item: BlenderObject) -> dict[str, Any]:
    """The values of a force field, how it heats, and its transform unless it moves."""
    values = {name: getattr(item.field, name) for name in item.field.bl_rna.properties.keys()}  # noqa: SIM118 - no dictionary
    plain = {name: value for name, value in values.items() if isinstance(value, (bool, int, float, str))}
    heat = _settings(item.mpm.field, animated_paths(item), "mpm.field")
    return {"place": _place(item), "disabled": item.hide_viewport, "field": _unless_keyed(item, "field", lambda: plain), "heat": heat}


def _unless_keyed(block: Any, prefix: str, read: Callable[[], Any]) -> Any:
    """The settings, except animated ones."""
    return _KEYED if any(path.startswith(prefix) for path in animated_paths(block)) else read()


def _place(item: BlenderObject) -> dict[str, Any]:
    """The transform and dimensions of an object; only its vertex count if it moves or deforms."""
    place: dict[str, Any] = {"name": item.name}
    if not may_move(item) or has_baked_keys(item):
        place["matrix"] = [round(float(value), 6) for row in start_matrix(item) for value in row]
    if isinstance(item.data, bpy.types.Mesh):
        place["vertices"] = len(item.data.vertices)
        if not item.modifiers and item.data.shape_keys is None:
            place["bounds"] = np.round(np.array(item.bound_box, dtype=np.float64), 6).tolist()
    return place
