"""The signed distance of points from a collider, and its gradient.

A shape with a closed form is evaluated directly. A mesh is sampled once into a sparse field (see `distance_field`), which exists as long as
the mesh: colliders that move query it in every substep. Samples are half a grid spacing apart, and their interpolation is accurate to a
tenth of a cell near the surface (a fifth at sharp edges between grid nodes). `exact_query` searches a mesh's triangles instead.

What a collider mesh blocks:
    - A closed mesh, or one whose holes are less than a tenth of its surface: its inside. Holes are capped.
    - A mesh with larger openings (a plain grid as a floor, a bowl or a box without a lid): the sheet itself, from both
      sides, one grid spacing thick.
    - A closed mesh thinner than a grid spacing (its mean thickness is 2 volume / area) is thickened to one, evenly on
      both sides, since the grid could not resolve it otherwise.
A mesh too large for this spacing (a terrain of kilometers in a simulation of centimeters) is sampled as finely as memory allows, and a
sheet is then two samples thick.

A section (see `section`) is exact everywhere. What the outline of a mesh blocks follows the same three rules, with lengths in place of
areas.
"""

from collections.abc import Callable
from weakref import WeakValueDictionary

import numpy as np

from ..scene.shape import Shape
from .deforming import DeformingMesh
from .distance_field import build_field, query_field
from .mesh_topology import Floats
from .outline import Outline
from .shapes import ClosedForm, Mesh
from .thickness import SAMPLES_PER_CELL, is_solid, sample_spacing, thickening

DistanceQuery = Callable[[Floats], tuple[Floats, Floats]]


def distance_query(shape: Shape, spacing: float) -> DistanceQuery:
    """The distance of points from a collider's shape, as a function.

    Args:
        shape: any shape that can collide.
        spacing: the simulation's grid spacing [m].

    Returns:
        A function of points (n, 3) [m] that returns the signed distance [m], shape (n,), positive outside, and its unit gradient,
        shape (n, 3). Within one grid spacing of a mesh's surface the distance is accurate; farther away it is a bound with the right
        sign.
    """
    if isinstance(shape, Mesh):
        return _mesh_distance(shape, spacing)
    if isinstance(shape, Outline):
        return outline_distance(shape, spacing)
    if isinstance(shape, ClosedForm):
        return shape.distance_and_normal
    raise TypeError(f"no distance for a shape of kind {shape.kind!r}")


def exact_query(shape: Shape, spacing: float) -> DistanceQuery:
    """As `distance_query`, but exact at any distance: a mesh's triangles are searched instead of samples."""
    if not isinstance(shape, Mesh):
        return distance_query(shape, spacing)
    mesh = DeformingMesh(shape.vertices[None], shape.triangles, spacing)
    return lambda points: mesh(points)[:2]


def outline_distance(outline: Outline, spacing: float) -> DistanceQuery:
    """The exact distance from an outline, which is moved outward if it is thinner than the grid spacing [m]."""
    offset = 0.5 * thickening(outline, spacing)
    ask = outline.distance_and_normal if is_solid(outline) else outline.distance_from_sheet

    def distance_to(points: Floats) -> tuple[Floats, Floats]:
        distance, normal = ask(points)
        return distance - offset, normal

    return distance_to


class MeshDistance:
    """The distance from a mesh, sampled in a sparse field.

    Attributes:
        offset: distance of the blocking surface outside the mesh's own [m].
        is_solid: whether the mesh blocks its inside, or is a sheet.
        field: the samples.
    """

    def __init__(self, mesh: Mesh, spacing: float) -> None:
        self.is_solid = is_solid(mesh)
        solid = mesh.closed if self.is_solid else mesh
        step = sample_spacing(mesh, spacing)
        self.offset = 0.5 * thickening(mesh, spacing)
        reach = self.offset + SAMPLES_PER_CELL * step
        self.field = build_field(solid.surface.tree, solid.cells if self.is_solid else None, solid.surface.center, step, reach)

    def __call__(self, points: Floats) -> tuple[Floats, Floats]:
        points = np.ascontiguousarray(points, dtype=np.float64)
        distance, normal = np.empty(len(points)), np.empty((len(points), 3))
        query_field(self.field, points, self.offset, distance, normal)
        # rounding must not decide whether a node on the surface is inside: a wall would block or leak by chance
        distance[np.abs(distance) < ON_SURFACE * self.field.spacing] = 0.0
        return distance, normal


# a point nearer to the surface than this lies on it, relative to the sample spacing: samples are float32
ON_SURFACE = 1e-6
# sampled distances, cached as long as a mesh that they were sampled for exists
_sampled: WeakValueDictionary[tuple[bytes, float], MeshDistance] = WeakValueDictionary()


def _mesh_distance(mesh: Mesh, spacing: float) -> MeshDistance:
    """The sampled distance of a mesh, shared by equal meshes as long as they exist."""
    key = (mesh.digest, spacing)
    found = _sampled.get(key)
    if found is None:
        found = _sampled[key] = MeshDistance(mesh, spacing)
    mesh.prepared[spacing] = found
    return found
