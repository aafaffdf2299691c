"""The area of the shadow that a shape casts along a direction. Plain numpy."""

import math

import numpy as np

from ..scene.shape import Floats, Shape
from .outline import Outline
from .rotation import euler_matrix
from .section import Section
from .shapes import Box, Capsule, Cylinder, Mesh, Sphere


def shadow(shape: Shape, direction: Floats) -> float:
    """The area of a shape's shadow, or the width of a section's.

    Args:
        shape: any shape with an inside.
        direction: unit vector (3,), for a section with y = 0.

    Returns:
        [m^2], or [m] for a section. The result may be too large for a mesh that is not convex, or an outline in several parts.
    """
    if isinstance(shape, Section):
        return _width(shape, direction)
    if isinstance(shape, Outline):
        across = shape.segments[:, :2] @ np.array([-direction[2], direction[0]])
        return float(np.ptp(across))
    if isinstance(shape, Sphere):
        return math.pi * shape.radius**2
    if isinstance(shape, Box):
        width, depth, height = shape.size
        return float(np.abs(direction @ euler_matrix(shape.rotation)) @ [depth * height, width * height, width * depth])
    if isinstance(shape, Cylinder):
        along = abs(float(direction @ euler_matrix(shape.rotation)[:, 2]))
        return math.pi * shape.radius**2 * along + 2.0 * shape.radius * shape.height * math.sqrt(max(1.0 - along**2, 0.0))
    if isinstance(shape, Capsule):
        axis = np.subtract(shape.end, shape.start)
        return math.pi * shape.radius**2 + 2.0 * shape.radius * float(np.linalg.norm(np.cross(axis, direction)))
    if isinstance(shape, Mesh):
        # half the sum over all faces (Cauchy 1832): each ray of light crosses a convex body's surface twice
        first, second, third = np.moveaxis(shape.closed.vertices[shape.closed.triangles], 1, 0)
        return 0.25 * float(np.abs(np.cross(second - first, third - first) @ direction).sum())
    raise TypeError(f"no shadow for a shape of kind {shape.kind!r}")


def _width(section: Section, direction: Floats) -> float:
    """The width of a disk, a stadium or a rectangle across a direction [m]."""
    across = np.array([-direction[2], 0.0, direction[0]])
    solid = section.solid
    if isinstance(solid, Sphere):
        return 2.0 * solid.radius
    if isinstance(solid, Capsule):
        return 2.0 * solid.radius + abs(float(np.subtract(solid.end, solid.start) @ across))
    if isinstance(solid, Box):
        return float(np.abs(across @ euler_matrix(solid.rotation)) @ [solid.size[0], 0.0, solid.size[2]])
    raise TypeError(f"no width for a section of kind {solid.kind!r}")
