"""The motion of dynamic colliders as keyframes on their objects: written after a bake, removed when it is freed.

The keyframes are in a separate action, which stores the object's original transform; the user's actions are left unchanged.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from ...core.messages import NOTHING, Message
from ..host.actions import curve_collections, new_curve
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.meshes import Floats, matrix_array
from ..settings import paths

# Custom properties of a bake's action.
CACHE, _MODE, _LOCATION, _ROTATION, _MATRIX = "mpm_cache", "mpm_rotation_mode", "mpm_location", "mpm_rotation", "mpm_matrix"
_REMEMBERED = (CACHE, _MODE, _LOCATION, _ROTATION, _MATRIX)
_ROTATION_PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
_WRITTEN = {"location", "rotation_euler", *_ROTATION_PATHS.values()}


def has_baked_keys(item: BlenderObject) -> bool:
    """Whether an object has keyframes of a bake."""
    return _baked_action(item) is not None


def start_matrix(item: BlenderObject) -> Floats:
    """World from object [Blender units] (4, 4) at the start of a bake; the current transform if there are no baked keyframes."""
    action = _baked_action(item)
    return matrix_array(item.matrix_world) if action is None else np.array(action[_MATRIX]).reshape(4, 4)


def write_keys(scene: BlenderScene, poses: Mapping[int, Mapping[str, Floats]], cache: str) -> list[Message]:
    """Keyframe location and rotation of objects at every baked frame, replacing keyframes of an earlier bake.

    Args:
        poses: frame number -> name of a collider -> world from local (4, 4) [m]. The choice of the local space is free: only the
            difference from the pose of the first frame counts.
        cache: the cache folder as Blender stores it.

    Returns:
        A message for each object that could not be keyframed.
    """
    numbers = sorted(poses)
    refusals = []
    for name in poses[numbers[0]] if numbers else ():
        item = next((each for each in scene.objects if name in (each.name, each.name_full) and each.mpm.type == "collider"), None)
        if item is None:
            continue
        frames = [number for number in numbers if name in poses[number]]
        refusal = _refusal(item)
        if refusal:
            refusals.append(refusal)
            continue
        start = _freed(item)
        moves = relative_moves([poses[number][name] for number in frames], scene.unit_settings.scale_length)
        _write(item, frames, moves, start, cache)
    return refusals


def relative_moves(poses: Sequence[Floats], scale_length: float) -> list[Floats]:
    """The world-space transforms from the first pose to each pose [Blender units]: 4x4 matrices, the first the identity."""
    back = np.linalg.inv(poses[0])
    moves = [np.asarray(pose, np.float64) @ back for pose in poses]
    for move in moves:
        move[:3, 3] /= scale_length
    return moves


def remove_keys(item: BlenderObject) -> None:
    """Remove the keyframes of a bake and restore the object's transform; the user's keyframes in the same action are kept."""
    action = _baked_action(item)
    if action is None:
        return
    item.rotation_mode = action[_MODE]
    item.location = tuple(action[_LOCATION])
    setattr(item, _rotation_path(item), tuple(action[_ROTATION]))
    for name in _REMEMBERED:
        del action[name]
    for curves in curve_collections(action):
        for curve in [curve for curve in curves if curve.data_path in _WRITTEN]:
            curves.remove(curve)
    if not any(len(curves) for curves in curve_collections(action)):
        item.animation_data.action = None
        bpy.data.actions.remove(action)
        if not item.animation_data.drivers and not item.animation_data.nla_tracks:
            item.animation_data_clear()


def keyed_by(scene: BlenderScene, folder: Path) -> list[BlenderObject]:
    """The objects with keyframes made by the bake into a cache folder."""
    actions = [(item, _baked_action(item)) for item in scene.objects]
    return [item for item, action in actions if action is not None and paths.absolute(action[CACHE]) == folder]


def remove_all_keys(scene: BlenderScene, folder: Path) -> bool:
    """Remove the keyframes made by the bake into a cache folder. Returns whether there were any."""
    keyed = keyed_by(scene, folder)
    for item in keyed:
        remove_keys(item)
    return bool(keyed)


def _baked_action(item: BlenderObject) -> Any:
    action = None if item.animation_data is None else item.animation_data.action
    return action if action is not None and all(name in action for name in _REMEMBERED) else None


def _refusal(item: BlenderObject) -> Message:
    subject = f'Object "{item.name}"'
    if item.library is not None:
        return Message("it is linked, so its motion was not written as keyframes", ("make a library override",), subject)
    if item.animation_data is not None and item.animation_data.action is not None and not has_baked_keys(item):
        problem = f'its action "{item.animation_data.action.name}" was kept, so the motion of the bake was not written'
        return Message(problem, ("unlink the action and bake again",), subject)
    return NOTHING


def _rotation_path(item: BlenderObject) -> str:
    return _ROTATION_PATHS.get(item.rotation_mode, "rotation_euler")


def _freed(item: BlenderObject) -> Matrix:
    """Remove the keyframes of a bake; returns world from object at its start, which Blender itself would update only later."""
    start = Matrix(start_matrix(item).tolist())
    around = Matrix(item.matrix_world) @ Matrix(item.matrix_basis).inverted_safe()
    remove_keys(item)
    # a parent may have been moved since that bake
    moved = around @ Matrix(item.matrix_basis)
    return start if item.parent is None or np.allclose(matrix_array(moved), matrix_array(start), atol=1e-5) else moved


def _write(item: BlenderObject, frames: Sequence[int], moves: Sequence[Floats], start: Matrix, cache: str) -> None:
    path = _rotation_path(item)
    location, rotation = tuple(item.location), tuple(getattr(item, path))
    from_world = Matrix(item.matrix_basis) @ start.inverted_safe()
    locations, rotations = [location], [rotation]
    for move in moves[1:]:
        basis = from_world @ Matrix(move.tolist()) @ start
        locations.append((basis.to_translation() - Vector(item.delta_location)).to_tuple())
        rotations.append(_channels(item, _without_delta(item, basis.to_quaternion()), rotations[-1]))
    animated = item.animation_data or item.animation_data_create()
    assert animated is not None
    # of an earlier bake, with other keyframes that were added since
    action = animated.action or bpy.data.actions.new(f"MPM {item.name}")
    animated.action = action
    for data_path, values in (("location", locations), (path, rotations)):
        for index in range(len(values[0])):
            _fill(new_curve(action, item, data_path, index), frames, [value[index] for value in values])
    action[CACHE], action[_MODE] = cache, item.rotation_mode
    action[_LOCATION], action[_ROTATION] = list(location), list(rotation)
    action[_MATRIX] = [float(value) for row in start for value in row]


def _without_delta(item: BlenderObject, rotation: Quaternion) -> Quaternion:
    if item.rotation_mode == "AXIS_ANGLE":  # Blender shows its delta rotation nowhere
        return rotation
    is_quaternion = item.rotation_mode == "QUATERNION"
    delta = item.delta_rotation_quaternion if is_quaternion else item.delta_rotation_euler.to_quaternion()
    return delta.inverted() @ rotation


def _channels(item: BlenderObject, rotation: Quaternion, before: Sequence[float]) -> tuple[float, ...]:
    """The channels of a rotation in the object's rotation mode, without a jump from the previous values."""
    if item.rotation_mode == "QUATERNION":
        rotation.make_compatible(Quaternion(before))
        return rotation.w, rotation.x, rotation.y, rotation.z
    if item.rotation_mode == "AXIS_ANGLE":
        return _axis_angle(rotation, before)
    angles = rotation.to_euler(item.rotation_mode, Euler(before, item.rotation_mode))
    return angles.x, angles.y, angles.z


def _axis_angle(rotation: Quaternion, before: Sequence[float]) -> tuple[float, ...]:
    axis, angle = rotation.to_axis_angle()
    if axis.dot(Vector(before[1:])) < 0.0:
        axis, angle = -axis, -angle
    angle += 2.0 * np.pi * round((before[0] - angle) / (2.0 * np.pi))
    return angle, *axis


def _fill(curve: Any, frames: Sequence[int], values: Sequence[float]) -> None:
    points = curve.keyframe_points
    points.add(len(frames))
    points.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
    for point in points:
        point.interpolation = "LINEAR"
    curve.update()
