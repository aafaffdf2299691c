"""How Blender objects move: whether something can animate them, and their `Motion` from poses and vertices at every sample."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.geometry.shapes.mesh import Mesh
from ...core.scene.animation import Motion
from ..host.actions import is_animated
from ..host.blender_types import BlenderObject
from ..host.meshes import Floats, Triangles, check_scale, moved

# Blender's matrices are float32, so a rotation is never exact.
RIGID_TOLERANCE = 1e-3
# float32 positions have 24 bits: a shape this many times its own size from the origin keeps 18 of them for itself.
_FARTHEST_IN_SINGLE = 64.0


def may_move(item: BlenderObject) -> bool:
    """Whether anything could change the object's transform over time: animation, constraints, physics, special parenting."""
    while item is not None:
        if item.constraints or item.rigid_body or (item.parent is not None and item.parent_type != "OBJECT") or is_animated(item):
            return True
        item = item.parent
    return False


def may_deform(item: BlenderObject) -> bool:
    """Whether anything could change the object's own shape over time. Comparing vertices tells whether it does."""
    if item.type != "MESH" or item.modifiers or item.instance_type != "NONE":
        return True
    return item.data.shape_keys is not None or is_animated(item.data)


def rigid_poses(matrices: Floats) -> Floats | None:
    """The poses (k, 4, 4) of an object in world space, relative to its origin at the first sample.

    Args:
        matrices: world from object at every sample (k, 4, 4); lengths in meters.

    Returns:
        Rotations and translations; None if the object's scale changes.
    """
    start = matrices[0, :3, :3]
    if abs(np.linalg.det(start)) < 1e-12:
        return None
    left, sizes, right = np.linalg.svd(matrices[:, :3, :3] @ np.linalg.inv(start))
    if np.abs(sizes - 1.0).max() > RIGID_TOLERANCE or (np.linalg.det(left @ right) < 0.0).any():
        return None
    poses = np.tile(np.eye(4), (len(matrices), 1, 1))
    poses[:, :3, :3] = left @ right
    poses[:, :3, 3] = matrices[:, :3, 3]
    return poses


def placed(
    shapes: Sequence[NDArray[Any]], triangles: Triangles, matrices: Floats, frames: Floats, subject: str, *, scale_length: float
) -> tuple[Mesh, Motion | None]:
    """The mesh of an object in meters, and its motion.

    A static mesh is in world space; a rigidly moving one is centered on its origin, oriented as at the first sample;
    any other has its vertices at every sample.

    Args:
        shapes: vertices (n, 3) in local space at every sample; the same array if they are equal.
        triangles: (m, 3).
        matrices: world from object at every sample (k, 4, 4).
        frames: the frame numbers of the samples (k,).
        subject: the name of the object in messages.
        scale_length: meters per Blender unit, for shapes and matrices.

    Raises:
        SceneError: the object's scale is zero at the first sample.
    """
    check_scale(matrices[0], subject, float(frames[0]))
    if np.linalg.det(matrices[0, :3, :3]) < 0.0:
        triangles = triangles[:, ::-1]
    world = moved(shapes[0], matrices[0]) * scale_length
    if all(shape is shapes[0] for shape in shapes):
        if np.all(matrices == matrices[0]):
            return Mesh(world, triangles), None
        poses = rigid_poses(metric(matrices, scale_length))
        if poses is not None:
            return Mesh(world - poses[0, :3, 3], triangles), Motion(frames, matrices=poses)
    vertices = np.empty((len(frames), *world.shape), _precision(world))
    for index, (shape, matrix) in enumerate(zip(shapes, matrices, strict=True)):
        vertices[index] = moved(shape, matrix) * scale_length
    return Mesh(vertices[0], triangles), Motion(frames, vertices=vertices)


def _precision(world: Floats) -> type:
    extent = float(np.ptp(world, axis=0).max()) if len(world) else 0.0
    reach = float(np.abs(world).max()) if len(world) else 0.0
    return np.float32 if reach <= _FARTHEST_IN_SINGLE * extent else np.float64


def metric(matrices: Any, scale_length: float) -> Floats:
    """Convert matrices from Blender units to meters, for vertices in meters."""
    scaled = np.array(matrices, dtype=np.float64)
    scaled[..., :3, 3] *= scale_length
    return scaled
