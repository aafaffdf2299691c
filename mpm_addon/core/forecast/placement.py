"""The poses and positions of a scene's shapes at a frame. Plain numpy; mesh distances are never queried here."""

import numpy as np

from ..geometry.motion import pose_at
from ..geometry.rotation import Floats
from ..geometry.shapes import Mesh
from ..scene.description import Collider, Emitter, Outflow
from ..scene.shape import Shape


def pose_of(item: Emitter | Collider | Outflow, frame: float) -> Floats | None:
    """The pose at a frame, world from local (4, 4); None for a shape without rigid motion."""
    return None if item.motion is None or item.motion.matrices is None else pose_at(item.motion, frame)


def shape_at(item: Emitter | Collider | Outflow, frame: float) -> Shape:
    """The shape at a frame, before its pose."""
    if item.motion is None or item.motion.vertices is None or not isinstance(item.shape, Mesh):
        return item.shape
    nearest = int(np.argmin(np.abs(np.asarray(item.motion.frames) - frame)))
    return Mesh(item.motion.vertices[nearest], item.shape.triangles, item.shape.source)


def in_world(item: Emitter | Collider | Outflow, frame: float, points: Floats) -> Floats:
    """Points of a shape in world space at a frame [m], shape (n, 3)."""
    pose = pose_of(item, frame)
    return points if pose is None else points @ pose[:3, :3].T + pose[:3, 3]


def in_shape(item: Emitter | Collider | Outflow, frame: float, points: Floats) -> Floats:
    """Points in world space, in the shape's space at a frame, shape (n, 3)."""
    pose = pose_of(item, frame)
    return points if pose is None else (points - pose[:3, 3]) @ np.linalg.inv(pose[:3, :3]).T


def bounds_at(item: Emitter | Collider | Outflow, frame: float) -> Floats:
    """The bounding box of a shape in world space at a frame [m], shape (2, 3)."""
    low, high = shape_at(item, frame).bounds()
    if pose_of(item, frame) is None or not np.isfinite(high - low).all():
        return np.array([low, high])
    corner_points = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    placed = in_world(item, frame, corner_points)
    return np.array([placed.min(axis=0), placed.max(axis=0)])
