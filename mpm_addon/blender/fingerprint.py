"""A digest of the settings that decide how a bake looks, cheap enough for every redraw of a panel.

It sees settings, transforms and the sizes of meshes, not every vertex; the bake itself compares the whole scene.
"""

import hashlib
import json
from typing import Any

import bpy
import numpy as np

from ..core.description import SIDES, Collider, Domain, Emitter, Side, Solver
from ..core.laws import LAWS
from .blender_types import BlenderObject, BlenderScene
from .motion import may_move
from .properties import values_of


def fingerprint(scene: BlenderScene, emitter_name: str = "") -> str:
    """The digest of a scene's settings. Does not depend on the current frame.

    Args:
        emitter_name: the one emitter that counts; all where it is empty.
    """
    settings = scene.mpm
    frames = settings if settings.use_frame_range else scene
    state: dict[str, Any] = {
        "frames": (frames.frame_start, scene.render.fps, scene.render.fps_base, settings.time_scale, settings.subframes),
        "units": scene.unit_settings.scale_length,
        "gravity": (settings.solver.use_scene_gravity, scene.use_gravity, tuple(scene.gravity)),
        "solver": values_of(settings.solver, Solver),
        "resolution": (settings.solver.spacing, settings.solver.resolution),
        "domain": values_of(settings.domain, Domain),
        "sides": [values_of(getattr(settings.domain, name), Side) for name in SIDES],
        "box": None if settings.domain.object is None else _place(settings.domain.object),
        "objects": [
            _object_state(item)
            for item in scene.objects
            if item.mpm.type == "collider" or (item.mpm.type == "emitter" and emitter_name in ("", item.name))
        ],
    }
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _object_state(item: BlenderObject) -> dict[str, Any]:
    settings = item.mpm
    state = {
        "name": item.name,
        "type": settings.type,
        "disabled": item.hide_viewport,
        "place": _place(item),
        "modifiers": [(modifier.name, modifier.type, modifier.show_viewport) for modifier in item.modifiers],
    }
    if settings.type == "collider":
        return {**state, "collider": values_of(settings.collider, Collider)}
    material = settings.material
    state["emitter"] = values_of(settings.emitter, Emitter)
    if material.source == "preset":
        return {**state, "preset": material.preset}
    law = LAWS.get(material.law)
    return {**state, "law": material.law, "values": values_of(getattr(material, material.law), law) if law else None}


def _place(item: BlenderObject) -> dict[str, Any]:
    """Where an object is and how large; only how many vertices it has, where it moves or is deformed."""
    place: dict[str, Any] = {"name": item.name}
    if not may_move(item):
        place["matrix"] = [round(value, 6) for row in item.matrix_world for value in row]
    if isinstance(item.data, bpy.types.Mesh):
        place["vertices"] = len(item.data.vertices)
        if not item.modifiers and item.data.shape_keys is None:
            place["bounds"] = np.round(np.array(item.bound_box, dtype=np.float64), 6).tolist()
    return place
