"""A digest of the settings that decide how a bake looks, cheap enough for every redraw of a panel.

It sees settings, transforms and the sizes of meshes, not every vertex; the bake itself compares the whole scene.
"""

import functools
import hashlib
import json
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from ...core.laws import LAWS
from ...core.parameters import parameters_of
from ...core.scene.description import Collider, Emitter, Outflow
from ...core.scene.painting import ACTING
from ...core.scene.settings import SIDES, Domain, Side, Solver
from ..host.actions import animated_paths
from ..host.blender_types import BlenderObject, BlenderScene
from ..playback.keyframes import has_baked_keys, start_matrix
from ..settings.declarations import values_of
from ..settings.painted_control import at_zero_name, attribute_name
from .forces import field_objects, weights_of
from .motion import may_move

# To be raised where the digest is made otherwise of the same declared settings.
_REVISION = 1


def fingerprint(scene: BlenderScene, emitter_name: str = "") -> str:
    """The digest of a scene's settings. Does not depend on the current frame.

    Args:
        emitter_name: the one emitter that counts; all where it is empty.
    """
    return f"{_form()}-{_digest(settings_state(scene, emitter_name))}"


def settings_state(scene: BlenderScene, emitter_name: str = "") -> dict[str, Any]:
    """The settings of which `fingerprint` is the digest, as plain numbers and words."""
    settings = scene.mpm
    frames = settings if settings.use_frame_range else scene
    state: dict[str, Any] = {
        "frames": (frames.frame_start, scene.render.fps, scene.render.fps_base, settings.time_scale, settings.subframes),
        "units": scene.unit_settings.scale_length,
        "gravity": (settings.solver.use_scene_gravity, scene.use_gravity, _unless_keyed(scene, "gravity", lambda: tuple(scene.gravity))),
        "solver": _unless_keyed(scene, "mpm.solver", lambda: values_of(settings.solver, Solver)),
        "reading": (settings.motion_samples, settings.use_render_modifiers),
        "weights": _unless_keyed(scene, "mpm.forces", lambda: weights_of(scene)),
        "fields": [_field_state(item) for item in field_objects(scene)],
        "resolution": (settings.solver.spacing, settings.solver.resolution),
        "domain": values_of(settings.domain, Domain),
        "sides": [values_of(getattr(settings.domain, name), Side) for name in SIDES],
        "box": None if settings.domain.object is None else _place(settings.domain.object),
        "objects": [
            _object_state(item)
            for item in scene.objects
            if item.mpm.type in ("collider", "outflow") or (item.mpm.type == "emitter" and emitter_name in ("", item.name))
        ],
    }
    return state


def is_comparable(text: str) -> bool:
    """Whether a digest was made of the settings that there are today, so that another one means that the scene has changed."""
    return text.partition("-")[0] == _form()


@functools.cache
def _form() -> str:
    """A digest of what settings there are, whatever their values."""
    owners = (Solver, Domain, Side, Collider, Outflow, Emitter, *LAWS.values())
    declared = [[owner.__name__, *(declared.name for declared in parameters_of(owner))] for owner in owners]
    return _digest([declared, list(ACTING), _REVISION])[:8]


def _digest(state: Any) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _object_state(item: BlenderObject) -> dict[str, Any]:
    settings = item.mpm
    state = {
        "name": item.name,
        "type": settings.type,
        "disabled": _unless_keyed(item, "hide_viewport", lambda: item.hide_viewport),
        "place": _place(item),
        "modifiers": [(each.name, each.type, each.show_viewport, each.show_render) for each in item.modifiers],
    }
    if settings.type == "collider":
        return {**state, "collider": _unless_keyed(item, "mpm.collider", lambda: values_of(settings.collider, Collider))}
    if settings.type == "outflow":
        return {**state, "outflow": _unless_keyed(item, "mpm.outflow", lambda: values_of(settings.outflow, Outflow))}
    material = settings.material
    state["painted"] = [getattr(settings.emitter, read(name)) for name in ACTING for read in (attribute_name, at_zero_name)]
    state["carried"] = settings.emitter.carried_attributes
    state["emitter"] = _unless_keyed(item, "mpm.emitter", lambda: values_of(settings.emitter, Emitter))
    if material.source == "preset":
        return {**state, "preset": material.preset}
    law = LAWS.get(material.law)
    if law is None:
        return {**state, "law": material.law}
    values = _unless_keyed(item, "mpm.material", lambda: values_of(getattr(material, material.law), law))
    return {**state, "law": material.law, "values": values}


def _field_state(item: BlenderObject) -> dict[str, Any]:
    """The numbers and words of a force field; where it is, unless it moves."""
    values = {name: getattr(item.field, name) for name in item.field.bl_rna.properties.keys()}  # noqa: SIM118 - no dictionary
    plain = {name: value for name, value in values.items() if isinstance(value, (bool, int, float, str))}
    return {"place": _place(item), "disabled": item.hide_viewport, "field": _unless_keyed(item, "field", lambda: plain)}


def _unless_keyed(block: Any, prefix: str, read: Callable[[], Any]) -> Any:
    """Settings, unless something changes them over time: what they are would depend on the current frame."""
    return "keyed" if any(path.startswith(prefix) for path in animated_paths(block)) else read()


def _place(item: BlenderObject) -> dict[str, Any]:
    """Where an object is and how large; only how many vertices it has, where it moves or is deformed."""
    place: dict[str, Any] = {"name": item.name}
    if not may_move(item) or has_baked_keys(item):
        place["matrix"] = [round(float(value), 6) for row in start_matrix(item) for value in row]
    if isinstance(item.data, bpy.types.Mesh):
        place["vertices"] = len(item.data.vertices)
        if not item.modifiers and item.data.shape_keys is None:
            place["bounds"] = np.round(np.array(item.bound_box, dtype=np.float64), 6).tolist()
    return place
