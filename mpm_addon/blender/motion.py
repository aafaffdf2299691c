"""How Blender objects move: their poses at every frame, as rigid motions."""

from typing import Any

import numpy as np

from ..core.animation import Motion
from ..core.errors import SceneError
from .blender_types import BlenderObject, Context
from .meshes import Floats, matrix_array

# Blender's matrices are single precision: a rotation is not one exactly.
RIGID_TOLERANCE = 1e-3


def may_move(item: BlenderObject) -> bool:
    """Whether anything could change the object's transform over time: animation, constraints, physics, odd parents."""
    while item is not None:
        if item.constraints or item.rigid_body or (item.parent is not None and item.parent_type != "OBJECT"):
            return True
        animation = item.animation_data
        if animation is not None and (animation.action or animation.drivers or animation.nla_tracks):
            return True
        item = item.parent
    return False


def sampled_poses(context: Context, items: list[BlenderObject], frames: range) -> dict[str, Floats]:
    """The world matrices of objects at every frame: name -> (frames, 4, 4). Leaves the scene at the last frame."""
    poses: dict[str, list[Floats]] = {item.name: [] for item in items}
    for frame in frames if items else ():
        context.scene.frame_set(frame)
        depsgraph = context.evaluated_depsgraph_get()
        for item in items:
            poses[item.name].append(matrix_array(item.evaluated_get(depsgraph).matrix_world))
    return {name: np.array(matrices) for name, matrices in poses.items()}


def rigid_motion(matrices: Floats, frames: range, subject: str) -> Motion | None:
    """The motion of something whose space is the world's, moved to the object's origin at the first frame.

    Args:
        matrices: world from object at every frame (k, 4, 4); lengths in metres.
        frames: their numbers.
        subject: how messages name the object.

    Returns:
        The motion, with rotations and translations alone; None where the object stands still.

    Raises:
        SceneError: the object changes its scale.
    """
    if np.all(matrices == matrices[0]):
        return None
    start = matrices[0, :3, :3]
    if abs(np.linalg.det(start)) < 1e-12:
        raise SceneError(f"{subject}: its scale is zero at frame {frames[0]}; use a scale above 0 on every axis.")
    turns = matrices[:, :3, :3] @ np.linalg.inv(start)
    left, sizes, right = np.linalg.svd(turns)
    change = np.abs(sizes - 1.0).max(axis=1)
    if change.max() > RIGID_TOLERANCE:
        index = int(np.argmax(change))
        raise SceneError(
            f"{subject}: its scale at frame {frames[index]} differs by {change[index]:.1%} from that at frame {frames[0]}; "
            "keep the scale constant while it moves."
        )
    poses = np.tile(np.eye(4), (len(frames), 1, 1))
    poses[:, :3, :3] = left @ right
    poses[:, :3, 3] = matrices[:, :3, 3]
    return Motion(frames=np.array(frames, dtype=np.float64), matrices=poses)


def metric(matrices: Any, scale_length: float) -> Floats:
    """Matrices in Blender units as matrices in metres, for vertices in metres."""
    scaled = np.array(matrices, dtype=np.float64)
    scaled[..., :3, 3] *= scale_length
    return scaled
