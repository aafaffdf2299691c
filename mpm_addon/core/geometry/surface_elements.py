"""Elements of a shape's surface, for integrals over it. Plain numpy.

A lattice covers the shape. Wherever one of its lines crosses the surface there is an element, with the area of a cell's face and the
direction of the line. So the integral of a smooth pressure comes out as a sum over columns, whatever the shape, and that of a constant
one is exactly zero.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..scene.shape import Floats, Shape

# cells of the lattice along an axis
_LEAST, _MOST = 6, 64
# how far in front of its element a normal is measured, which at an edge is between two faces [cells of the lattice]
_IN_FRONT = 1e-3


class SurfaceElements(NamedTuple):
    """n elements, in the shape's own coordinates.

    Attributes:
        points: on the surface [m], shape (n, 3).
        areas: vectors out of the shape, as long as the area [m^2, in 2D m], shape (n, 3).
        normals: of the surface, unit, shape (n, 3).
        spacing: the longest edge of a cell [m].
    """

    points: Floats
    areas: Floats
    normals: Floats
    spacing: float


def surface_elements(
    shape: Shape, distance: Callable[[Floats], tuple[Floats, Floats]], spacing: float, *, is_section: bool
) -> SurfaceElements:
    """The elements of a bounded shape's surface.

    Args:
        shape: the shape, or in 2D its section.
        distance: its signed distance and the gradient at points (n, 3).
        spacing: the edge of a cell; smaller for a shape of less than six cells, larger for one of more than 64 [m].
        is_section: whether only the plane y = 0 counts.
    """
    axes = [0, 2] if is_section else [0, 1, 2]
    low, high = shape.bounds()
    counts = np.clip(np.ceil((high - low) / spacing), _LEAST, _MOST).astype(np.int64)
    steps = (high - low) / counts
    lines = [low[axis] + steps[axis] * (np.arange(-1, counts[axis] + 1) + 0.5) if axis in axes else np.zeros(1) for axis in range(3)]
    lattice = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)
    values = distance(lattice.reshape(-1, 3))[0].reshape(lattice.shape[:3])
    points, areas = [], []
    for axis in axes:
        along, places = np.moveaxis(values, axis, 0), np.moveaxis(lattice, axis, 0)
        crossed = np.nonzero((along[:-1] < 0.0) != (along[1:] < 0.0))
        before, after = along[:-1][crossed], along[1:][crossed]
        share = before / (before - after)
        points.append(places[:-1][crossed] + share[:, None] * (places[1:][crossed] - places[:-1][crossed]))
        area = np.zeros((len(share), 3))
        area[:, axis] = np.where(before < 0.0, 1.0, -1.0) * np.prod([steps[other] for other in axes if other != axis])
        areas.append(area)
    found, vectors = np.concatenate(points), np.concatenate(areas)
    out = np.sign(vectors) * (_IN_FRONT * steps[axes].min())
    return SurfaceElements(found, vectors, distance(found + out)[1], float(steps[axes].max()))
