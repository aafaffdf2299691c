"""The distance that sampling asks for millions of points: its sign is exact, its size need not be."""

from collections.abc import Callable

import numpy as np

from ..description import Shape
from .distance_field import build_field, query_field
from .mesh_topology import Floats
from .shapes import Mesh

DistanceTo = Callable[[Floats], Floats]


def rough_distance(shape: Shape, step: float) -> DistanceTo:
    """A function of points (n, 3) [m] that returns their distance from a shape [m], shape (n,), wrong by less than `step` [m].

    A mesh, which must be closed, is sampled into a field; other shapes are asked and exact.
    """
    if not isinstance(shape, Mesh):
        return shape.signed_distance
    field = build_field(shape.surface.tree, shape.surface.center, step, step, is_solid=True)

    def distance_to(points: Floats) -> Floats:
        points = np.ascontiguousarray(points)
        distance, normal = np.empty(len(points)), np.empty((len(points), 3))
        query_field(field, points, 0.0, distance, normal)
        return distance

    return distance_to


def interior_distance(shape: Shape, step: float, rough: DistanceTo | None = None) -> DistanceTo:
    """A function of points (n, 3) [m] that returns their distance from a shape [m] with the exact sign, shape (n,).

    For a mesh, only points within about `step` [m] of the surface are measured exactly. For the others a sampled field (`rough`,
    where it has been made already) tells the sign: distances change no faster than the point moves, so interpolation between
    samples a step apart errs by less than a step.
    """
    if not isinstance(shape, Mesh):
        return shape.signed_distance
    about = rough or rough_distance(shape, step)

    def distance_to(points: Floats) -> Floats:
        distance = about(points)
        is_near = np.abs(distance) <= step
        distance[is_near] = shape.signed_distance(points[is_near])
        return distance

    return distance_to
