"""Objects with keyframes that take the place of another one from a frame on: rigid pieces of what broke.

They are the artist's own objects: nothing but their mark says which bake they are of.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ..host.actions import make_action_single_user, new_curve, own_curves
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.meshes import Floats
from ..settings import paths

# custom property of an unbroken object: whether it was hidden in viewports and renders. Its own keyframes animate that meanwhile.
_WAS_HIDDEN = "mpm_was_hidden"
_WAS_HIDDEN_PATH = f'["{_WAS_HIDDEN}"]'
_HIDES = ("hide_viewport", "hide_render")
# the least value of an F-curve at which Blender takes a switch for on
_TRUE = 1.0 - 1e-6


class Marks(NamedTuple):
    """The custom properties that hold the cache folder: of pieces, and of the object that they are of."""

    piece: str
    whole: str


OF_COLLIDERS, OF_SKINS = Marks("mpm_piece_of", "mpm_whole_of"), Marks("mpm_fragment_of", "mpm_mesh_of")
EVERY = (OF_COLLIDERS, OF_SKINS)


def pieces_of(scene: BlenderScene, marks: Marks, folder: Path) -> list[BlenderObject]:
    """The pieces of the bake into a cache folder."""
    return [item for item in scene.objects if marks.piece in item and paths.absolute(item[marks.piece]) == folder]


def are_there(scene: BlenderScene, marks: Marks, folder: Path) -> bool:
    """Whether there are pieces of the bake into a cache folder, or an object that they hide."""
    return any(mark in item and paths.absolute(item[mark]) == folder for item in scene.objects for mark in marks)


def remove(scene: BlenderScene, folder: Path | None = None, every: Sequence[Marks] = EVERY) -> None:
    """Remove the pieces of the bake into a cache folder, or of every bake, and show the unbroken objects again."""
    for item in list(scene.objects):
        mark = next((each for marks in every for each in marks if each in item), None)
        if mark is None or folder not in (None, paths.absolute(item[mark])):
            continue
        if mark in [marks.piece for marks in every]:
            _remove(item)
        else:
            _show_whole(item, mark)


def _remove(item: BlenderObject) -> None:
    mesh, action = item.data, None if item.animation_data is None else item.animation_data.action
    bpy.data.objects.remove(item)
    if mesh is not None and not mesh.users:
        bpy.data.meshes.remove(mesh)
    if action is not None and not action.users:
        bpy.data.actions.remove(action)


def move(made: BlenderObject, frames: list[int], poses: list[Floats], start: Floats, units: float) -> None:
    """Keyframe the location and rotation of a piece.

    Args:
        made: it, where it is at the start.
        frames, poses: world from local (4, 4) [m] at each frame.
        start: world [Blender units] from local [m] at the start, (4, 4).
        units: meters per Blender unit.
    """
    back = np.linalg.inv(start)
    middle = np.append(np.array(made.location), 1.0)
    locations, rotations = [], []
    for pose in poses:
        world = pose.copy()
        world[:3] /= units
        moved = world @ back
        locations.append((moved @ middle)[:3])
        rotation = Matrix(moved[:3, :3].tolist()).to_quaternion()
        if rotations:
            rotation.make_compatible(rotations[-1])
        rotations.append(rotation)
    action = _action_of(made)
    for path, values in (("location", locations), ("rotation_quaternion", rotations)):
        for index in range(len(values[0])):
            _fill(new_curve(action, made, path, index), frames, [value[index] for value in values], "LINEAR")


def _action_of(item: BlenderObject) -> Any:
    animated = item.animation_data or item.animation_data_create()
    assert animated is not None
    if animated.action is None:
        animated.action = bpy.data.actions.new(f"MPM {item.name}")
    return animated.action


def hide(item: BlenderObject, hidden: list[bool], frames: list[int]) -> None:
    """Keyframe whether an object is hidden, where that changes."""
    for path in _HIDES:
        _hide(item, path, hidden, frames)


def _hide(item: BlenderObject, path: str, hidden: list[bool], frames: list[int]) -> None:
    changes = [place for place in range(len(frames)) if place == 0 or hidden[place] != hidden[place - 1]]
    curve = new_curve(_action_of(item), item, path, 0)
    _fill(curve, [frames[place] for place in changes], [float(hidden[place]) for place in changes], "CONSTANT")


def hide_whole(item: BlenderObject, hidden: list[bool], frames: list[int], cache: str, marks: Marks) -> None:
    """Keyframe whether an object is hidden whose pieces are shown instead; where its own keyframes hide it, it stays hidden."""
    was_hidden = [bool(getattr(item, path)) for path in _HIDES]
    item[marks.whole], item[_WAS_HIDDEN] = cache, [int(was) for was in was_hidden]
    make_action_single_user(item)
    own = {curve.data_path: curve for curves in own_curves(item) for curve in curves if curve.data_path in _HIDES}
    for index, (path, was) in enumerate(zip(_HIDES, was_hidden, strict=True)):
        decides = path in own and not own[path].mute
        at_frames = [own[path].evaluate(number) >= _TRUE if decides else was for number in frames]
        if path in own:
            own[path].data_path, own[path].array_index = _WAS_HIDDEN_PATH, index
        _hide(item, path, [was or each for was, each in zip(at_frames, hidden, strict=True)], frames)


def _show_whole(item: BlenderObject, mark: str) -> None:
    """Remove the keyframes that hide an unbroken object, and give it back its own."""
    for curves in own_curves(item):
        for curve in [curve for curve in curves if curve.data_path in _HIDES]:
            curves.remove(curve)
        for curve in [curve for curve in curves if curve.data_path == _WAS_HIDDEN_PATH]:
            curve.data_path, curve.array_index = _HIDES[curve.array_index], 0
    for path, value in zip(_HIDES, item[_WAS_HIDDEN], strict=True):
        setattr(item, path, bool(value))
    del item[mark], item[_WAS_HIDDEN]


def _fill(curve: Any, frames: list[int], values: list[float], interpolation: str) -> None:
    points = curve.keyframe_points
    points.add(len(frames))
    points.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
    for point in points:
        point.interpolation = interpolation
    curve.update()
