"""Elements of a shape's surface, for integrals over it. Plain numpy.

A lattice covers the shape. Wherever one of its lines crosses the surface there is an element, with the area of a cell's face and the
direction of the line. So the integral of a smooth pressure comes out as a sum over columns, and that of a constant one is exactly zero.
A lattice misses walls thinner than its cells. Where the volume that its elements enclose is wrong, the triangles of a mesh, or the
segments of its section, are the elements, divided where they are large.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..scene.shape import Floats, Shape
from .outline import Outline
from .shapes import Mesh

Distance = Callable[[Floats], tuple[Floats, Floats]]

# cells of the lattice along an axis
_LEAST, _MOST = 6, 64
# how far in front of its element a normal is measured, which at an edge is between two faces [cells of the lattice]
_IN_FRONT = 1e-3
# greatest error of the volume that the elements of a lattice enclose
_WRONG = 0.05


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


def surface_elements(shape: Shape, distance: Distance, spacing: float, *, is_section: bool) -> SurfaceElements:
    """The elements of a bounded shape's surface.

    Args:
        shape: the shape, or in 2D its section.
        distance: its signed distance and the gradient at points (n, 3).
        spacing: the edge of a cell; smaller for a shape of less than six cells, larger for one of more than 64 [m].
        is_section: whether only the plane y = 0 counts.
    """
    found = _of_lattice(shape, distance, spacing, [0, 2] if is_section else [0, 1, 2])
    if abs(_volume(found, 2 if is_section else 3) - shape.volume()) <= _WRONG * shape.volume():
        return found
    if isinstance(shape, Outline):
        return _of_segments(shape.segments, spacing)
    return _of_triangles(shape.closed, spacing) if isinstance(shape, Mesh) else found


def _volume(elements: SurfaceElements, dimension: int) -> float:
    """What the elements enclose [m^3, in 2D m^2]."""
    if not len(elements.points):
        return 0.0
    return float(((elements.points - elements.points.mean(axis=0)) * elements.areas).sum()) / dimension


def _of_segments(segments: Floats, spacing: float) -> SurfaceElements:
    """The segments (n, 4) of an outline, in equal parts that are no longer than the spacing."""
    start, way = segments[:, :2], segments[:, 2:] - segments[:, :2]
    counts = np.maximum(1, np.ceil(np.linalg.norm(way, axis=1) / spacing)).astype(np.int64)
    number = np.repeat(np.arange(len(segments)), counts)
    share = (np.arange(len(number)) - np.repeat(np.cumsum(counts) - counts, counts) + 0.5) / counts[number]
    flat, part = start[number] + share[:, None] * way[number], way[number] / counts[number, None]
    nothing = np.zeros(len(number))
    # an outline runs with its inside on the left
    areas = np.column_stack([part[:, 1], nothing, -part[:, 0]])
    return _outward(np.column_stack([flat[:, 0], nothing, flat[:, 1]]), areas, spacing, 2)


def _of_triangles(mesh: Mesh, spacing: float) -> SurfaceElements:
    """The triangles of a mesh, halved along all edges until these are no longer than the spacing."""
    corners, parts = mesh.vertices[mesh.triangles].astype(np.float64), []
    area = float(np.linalg.norm(_areas(corners), axis=1).sum())
    longest = max(spacing, math.sqrt(area / _MOST**2))
    while len(corners):
        is_small = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1) <= longest
        parts.append(corners[is_small])
        first, second, third = np.moveaxis(corners[~is_small], 1, 0)
        between = 0.5 * (first + second), 0.5 * (second + third), 0.5 * (third + first)
        children = (first, between[0], between[2]), (second, between[1], between[0]), (third, between[2], between[1]), between
        corners = np.concatenate([np.stack(child, axis=1) for child in children])
    corners = np.concatenate(parts)
    return _outward(corners.mean(axis=1), _areas(corners), longest, 3)


def _areas(corners: Floats) -> Floats:
    return 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _outward(points: Floats, areas: Floats, spacing: float, dimension: int) -> SurfaceElements:
    """Flat elements, all turned around if they enclose a negative volume; those without an area are left out."""
    lengths = np.linalg.norm(areas, axis=1)
    points, areas, lengths = points[lengths > 0.0], areas[lengths > 0.0], lengths[lengths > 0.0]
    found = SurfaceElements(points, areas, areas / lengths[:, None], spacing)
    return found if _volume(found, dimension) >= 0.0 else found._replace(areas=-areas, normals=-found.normals)


def _of_lattice(shape: Shape, distance: Distance, spacing: float, axes: list[int]) -> SurfaceElements:
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
