"""Blender's force fields as the solver's forces.

A strength is an acceleration in Blender units, as for Blender's particles of 1 kg; lengths are in Blender units too.
"""

from typing import Any

import numpy as np

from ...core.errors import SceneError
from ...core.scene.animation import Animation, Motion
from ...core.scene.force import Force
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.meshes import Floats
from ..settings.declarations import decimal, values_of
from ..settings.effectors import FORCE_WEIGHTS, HEAT
from .sampling import Values

# Blender's field type -> the solver's kind of force; the weight of each has Blender's name in lowercase.
KINDS = {
    "FORCE": "point",
    "WIND": "wind",
    "VORTEX": "vortex",
    "TURBULENCE": "turbulence",
    "DRAG": "drag",
    "HARMONIC": "harmonic",
}
_SHAPES = ("POINT", "LINE", "PLANE")
_WEIGHTED = ("strength", "noise", "flow", "linear_drag", "quadratic_drag", "heating")


def has_field(item: BlenderObject) -> bool:
    """Whether an object has a force field that acts on particles."""
    return item.field is not None and item.field.type != "NONE" and item.field.apply_to_location


def acts(scene: BlenderScene, item: BlenderObject) -> bool:
    """Whether an object has a field that acts on the particles of a scene."""
    return has_field(item) and item in _able(scene)


def field_objects(scene: BlenderScene) -> list[BlenderObject]:
    """The objects with active fields."""
    return [item for item in _able(scene) if has_field(item)]


def _able(scene: BlenderScene) -> list[BlenderObject]:
    """The objects whose fields act: those in the effector collection, or in the whole scene if none is chosen."""
    chosen = scene.mpm.effector_collection
    return list(scene.objects if chosen is None else chosen.all_objects)


def weights_of(scene: BlenderScene) -> dict[str, float]:
    """Factors on fields and gravity: 0 disables, 1 is full strength."""
    return {name: decimal(getattr(scene.mpm.forces, name)) for name in FORCE_WEIGHTS}


def force_values(item: BlenderObject, weights: dict[str, float], scale_length: float, subject: str) -> Values:
    """The parameters of a `Force` that an object's field and its heat determine, in SI; its position comes from the object.

    Args:
        item: the object.
        weights: see `weights_of`.
        scale_length: meters per Blender unit.
        subject: the name of the field in messages.

    Raises:
        SceneError: the solver does not support a setting of the field.
    """
    field: Any = item.field
    _refuse(field, subject)
    kind = KINDS[field.type]
    is_cone = field.falloff_type == "CONE"
    radial = 1.0 if is_cone else scale_length
    values: Values = {
        "kind": kind,
        "strength": decimal(field.strength) * (1.0 if kind == "harmonic" else scale_length),
        "shape": field.shape.lower(),
        "falloff": decimal(field.falloff_power),
        "falloff_shape": field.falloff_type.lower(),
        "min_distance": decimal(field.distance_min) * scale_length if field.use_min_distance else 0.0,
        "radius": decimal(field.distance_max) * scale_length if field.use_max_distance else None,
        "side": field.z_direction.lower(),
        "flow": decimal(field.flow),
        "noise": decimal(field.noise) * scale_length,
        "seed": field.seed,
        "enabled": True,
        **values_of(item.mpm.field, Force, names=HEAT),
    }
    if field.falloff_type != "SPHERE":
        values["radial_falloff"] = decimal(field.radial_falloff)
        values["radial_min"] = decimal(field.radial_min) * radial if field.use_radial_min else 0.0
        values["radial_max"] = decimal(field.radial_max) * radial if field.use_radial_max else None
    if kind == "turbulence":
        values["size"] = decimal(field.size) * scale_length
    if kind == "drag":
        values["strength"] = 0.0
        # Blender applies linear drag to the square of the velocity, and quadratic drag to the velocity
        values["linear_drag"] = decimal(field.quadratic_drag)
        values["quadratic_drag"] = decimal(field.linear_drag) / scale_length
    if kind == "harmonic":
        values["rest_length"] = decimal(field.rest_length) * scale_length
        values["damping"] = decimal(field.harmonic_damping)
    weight = weights["all"] * weights[field.type.lower()]
    return {name: value * weight if name in _WEIGHTED and value is not None else value for name, value in values.items()}


def _refuse(field: Any, subject: str) -> None:
    remedy = "remove it, or exclude its object from the effector collection"
    if field.type not in KINDS:
        word = field.type.replace("_", " ").lower()
        known = ", ".join(word.lower() for word in KINDS)
        raise SceneError(f"fields of the type {word} are not supported", f"use one of {known}, {remedy}", subject=subject)
    if field.shape not in _SHAPES:
        word = {"SURFACE": "surface", "POINTS": "every point"}[field.shape]
        raise SceneError(
            f"fields of the shape {word} are not supported", f"use the shape point, line or plane, or {remedy}", subject=subject
        )
    if field.use_gravity_falloff and field.type == "FORCE":
        raise SceneError("gravitation is not supported", f"turn it off and use a falloff power of 2, or {remedy}", subject=subject)
    if field.use_absorption:
        raise SceneError("absorption by colliders is not supported", f"turn it off, or {remedy}", subject=subject)


def force_of(name: str, values: Values, matrices: Floats, frames: Floats, animation: Animation | None) -> Force | None:
    """The force of a field; None if it has no effect at any frame.

    Args:
        values: at the first sample, see `force_values`.
        matrices: world from object at every sample (k, 4, 4) [m]; the object's scale does not count.
        frames: the frame numbers of the samples (k,).
    """
    is_idle = not any(values.get(each) for each in _WEIGHTED)
    if is_idle and (animation is None or not set(_WEIGHTED) & animation.values.keys()):
        return None
    poses = matrices.copy()
    lengths = np.linalg.norm(poses[:, :3, :3], axis=1, keepdims=True)
    left, _, right = np.linalg.svd(poses[:, :3, :3] / np.where(lengths > 0.0, lengths, 1.0))
    poses[:, :3, :3] = left @ right
    if np.all(poses == poses[0]):
        return Force(name, center=_vector(poses[0, :3, 3]), direction=_vector(poses[0, :3, 2]), animation=animation, **values)
    return Force(name, motion=Motion(frames, matrices=poses), animation=animation, **values)


def _vector(values: Floats) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
