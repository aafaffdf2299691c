"""Triangles of evaluated Blender objects as arrays. Knows nothing of emitters and colliders."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import SceneError
from .blender_types import BlenderMesh, BlenderObject

Floats = NDArray[np.float64]
Triangles = NDArray[np.int64]


def evaluated_triangles(evaluated: BlenderObject, subject: str) -> tuple[Floats, Triangles]:
    """The mesh of an evaluated object (modifiers applied) in its own space.

    Returns:
        vertices [Blender units] (n, 3) and triangles (m, 3), counter-clockwise seen from outside.

    Raises:
        SceneError: the object is of a type that has no mesh.
    """
    try:
        mesh = evaluated.to_mesh()
    except RuntimeError:
        kind = evaluated.type.replace("_", " ").lower()
        raise SceneError(f"{subject}: a {kind} object has no mesh; use a mesh, a curve, a text or a metaball.") from None
    try:
        return _arrays(mesh)
    finally:
        evaluated.to_mesh_clear()


def _arrays(mesh: BlenderMesh) -> tuple[Floats, Triangles]:
    vertices = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", vertices)
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return vertices.reshape(-1, 3).astype(np.float64), triangles.reshape(-1, 3).astype(np.int64)


def matrix_array(matrix: Any) -> Floats:
    """A Blender 4x4 matrix as an array."""
    return np.array(matrix, dtype=np.float64)


def transformed(vertices: Floats, triangles: Triangles, matrix: Floats) -> tuple[Floats, Triangles]:
    """The mesh moved by a 4x4 matrix; where it mirrors, the triangles are turned round to keep their outside."""
    moved = vertices @ matrix[:3, :3].T + matrix[:3, 3]
    return moved, triangles[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0.0 else triangles


def world_bounds(evaluated: BlenderObject) -> Floats:
    """The axis-aligned bounding box [Blender units] of an evaluated object in world space, shape (2, 3)."""
    corners = np.array([tuple(corner) for corner in evaluated.bound_box])
    moved, _ = transformed(corners, np.empty((0, 3), np.int64), matrix_array(evaluated.matrix_world))
    return np.array([moved.min(axis=0), moved.max(axis=0)])
