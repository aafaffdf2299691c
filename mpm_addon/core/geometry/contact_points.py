"""Points that represent the surface of a rigid body in contacts. Plain numpy.

A sphere or capsule is represented by points with a radius, so that it rolls smoothly. Other shapes are represented by their corners and
by samples of their faces at a limited spacing; a cylinder adds the line on its side that faces the other body.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from ..scene.shape import Floats, Shape
from .face_points import FacePoints, thinned
from .outline import Outline
from .rotation import euler_matrix
from .section import Section
from .shapes import Box, Capsule, Cylinder, Mesh, Plane, Sphere
from .shapes.box import CUBE_TRIANGLES

# of the points of a mesh, one remains in each cube of this size, relative to the spacing
_CLOSEST = 0.5
_LEAST_RIM = 24
_NOWHERE = np.zeros((0, 3))


@dataclass(frozen=True)
class ContactPoints:
    """Points on or below the surface of a shape, in its own coordinates.

    Attributes:
        points: [m], shape (n, 3).
        faces: what makes the points where they are needed, if they are too many; there are none in `points` then.
        radius: distance of the surface outside of these points [m].
        rolls: points on the axis of a cylinder [m], from which its side is sampled, shape (k, 3).
        axis: direction of this axis, unit, shape (3,).
        roll_radius: radius of the cylinder [m].
    """

    points: Floats
    faces: FacePoints | None = None
    radius: float = 0.0
    rolls: Floats = field(default_factory=lambda: _NOWHERE)
    axis: Floats = field(default_factory=lambda: np.zeros(3))
    roll_radius: float = 0.0


def contact_points(shape: Shape, spacing: float, most: float = math.inf) -> ContactPoints:
    """The points of a shape or a section; none for a plane, which is infinite.

    Args:
        shape: any shape that can collide.
        spacing: the greatest distance between samples [m].
        most: a box or a mesh with more points has `faces` instead.
    """
    if isinstance(shape, Section):
        if isinstance(shape.solid, Box):
            return ContactPoints(_along(_rectangle(shape.solid), spacing))
        return contact_points(shape.solid, spacing)
    if isinstance(shape, Plane):
        return ContactPoints(_NOWHERE)
    if isinstance(shape, Sphere):
        return ContactPoints(np.array([shape.center], np.float64), radius=shape.radius)
    if isinstance(shape, Capsule):
        return ContactPoints(_between(shape.start, shape.end, spacing), radius=shape.radius)
    if isinstance(shape, Box):
        return _on_faces(FacePoints(shape.corners(), CUBE_TRIANGLES, spacing), most)
    if isinstance(shape, Cylinder):
        return _on_cylinder(shape, spacing)
    if isinstance(shape, Outline):
        return ContactPoints(_along(shape.segments, spacing))
    if isinstance(shape, Mesh):
        closed = shape.closed
        return _on_faces(FacePoints(closed.vertices, closed.triangles, spacing, _CLOSEST * spacing), most)
    raise TypeError(f"no contact points for a shape of kind {shape.kind!r}")


def _on_faces(faces: FacePoints, most: float) -> ContactPoints:
    return ContactPoints(_NOWHERE, faces) if faces.count > most else ContactPoints(faces.all())


def _between(start: object, end: object, spacing: float) -> Floats:
    ends = np.array([start, end], np.float64)
    count = math.ceil(float(np.linalg.norm(ends[1] - ends[0])) / spacing) + 1
    share = np.linspace(0.0, 1.0, count)[:, None]
    return (1.0 - share) * ends[0] + share * ends[1]


def _on_cylinder(cylinder: Cylinder, spacing: float) -> ContactPoints:
    turn, half = euler_matrix(cylinder.rotation), 0.5 * cylinder.height
    count = max(_LEAST_RIM, math.ceil(2.0 * math.pi * cylinder.radius / spacing))
    angles = 2.0 * math.pi * np.arange(count) / count
    rim = np.column_stack([cylinder.radius * np.cos(angles), cylinder.radius * np.sin(angles), np.zeros(count)])
    up = np.array([[0.0, 0.0, half]])
    vertices = np.concatenate([rim - up, rim + up, -up, up])
    here, following = np.arange(count), (np.arange(count) + 1) % count
    low = np.column_stack([following, here, np.full(count, 2 * count)])
    high = np.column_stack([count + here, count + following, np.full(count, 2 * count + 1)])
    triangles = np.concatenate([low, high])
    center, axis = np.asarray(cylinder.center), turn[:, 2]
    faces = FacePoints(vertices, triangles, spacing).all() @ turn.T + center
    rolls = _between(center - half * axis, center + half * axis, spacing)
    points = thinned(faces, _CLOSEST * spacing, faces.mean(axis=0))
    return ContactPoints(points, rolls=rolls, axis=axis, roll_radius=cylinder.radius)


def _rectangle(box: Box) -> Floats:
    """The edges of a section's rectangle, as segments (4, 4)."""
    corners = np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]]) * np.asarray(box.size) / 2
    corners = (corners @ euler_matrix(box.rotation).T + np.asarray(box.center))[:, [0, 2]]
    return np.hstack([corners, np.roll(corners, -1, axis=0)])


def _along(segments: Floats, spacing: float) -> Floats:
    """The starts of segments (n, 4) in the plane y = 0, and points between them at most a spacing apart."""
    start, end = segments[:, :2], segments[:, 2:]
    counts = np.maximum(1, np.ceil(np.linalg.norm(end - start, axis=1) / spacing)).astype(np.int64)
    number = np.repeat(np.arange(len(segments)), counts)
    share = (np.arange(len(number)) - np.repeat(np.cumsum(counts) - counts, counts)) / counts[number]
    flat = start[number] + share[:, None] * (end - start)[number]
    return np.column_stack([flat[:, 0], np.zeros(len(flat)), flat[:, 1]])
