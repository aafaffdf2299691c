"""Convex shapes as corners, flat faces and edges, for contact between rigid bodies. Plain numpy.

A sphere is a point with a radius, and a capsule a line with one. Boxes and convex meshes have faces; the triangles of a mesh that lie in
one plane are one face, so that what lies on it touches it at its corners and not at a diagonal.
"""

from typing import NamedTuple

import numpy as np

from ..scene.shape import Floats, Shape
from .mesh_topology import Integers
from .shapes import Box, Capsule, Mesh, Sphere

# a mesh with more faces is not treated as a hull: pairs of edges would take too long
MOST_FACES = 48
# corners of a face are this close to its plane, relative to the size of the mesh
FLAT = 1e-6


class Hull(NamedTuple):
    """A convex shape, in its own coordinates.

    Attributes:
        vertices: [m], shape (v, 3).
        normals: outward normals of the faces, shape (f, 3); none for a sphere and a capsule.
        loops: the vertices of each face, counterclockwise seen from outside.
        edges: the two vertices and the two faces of each edge, shape (e, 4); the first face has the edge in this direction.
        radius: distance of the surface outside of all this [m].
    """

    vertices: Floats
    normals: Floats
    loops: tuple[tuple[int, ...], ...]
    edges: Integers
    radius: float = 0.0


def hull_of(shape: Shape) -> Hull | None:
    """A shape as a hull; None if it is not convex, is round in another way, or has too many faces."""
    nothing, edges = np.zeros((0, 3)), np.zeros((0, 4), np.int64)
    if isinstance(shape, Sphere):
        return Hull(np.array([shape.center], np.float64), nothing, (), edges, shape.radius)
    if isinstance(shape, Capsule):
        return Hull(np.array([shape.start, shape.end], np.float64), nothing, (), edges, shape.radius)
    if isinstance(shape, Box):
        return _polyhedron(shape.corners())
    # caps of a mesh with holes may be anything, and one with few triangles is closed anyway
    if isinstance(shape, Mesh) and shape.closed is shape and len(shape.triangles) <= 8 * MOST_FACES:
        return _convex_mesh(shape)
    return None


def _convex_mesh(mesh: Mesh) -> Hull | None:
    vertices = mesh.vertices[np.unique(mesh.triangles)]
    # vertices in one place are one
    size = float(np.ptp(vertices, axis=0).max())
    _, first = np.unique(np.round(vertices / (FLAT * size)).astype(np.int64), axis=0, return_index=True)
    corners = mesh.vertices[mesh.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    solid = lengths > FLAT**2 * size * size
    normals, corners = normals[solid] / lengths[solid, None], corners[solid]
    heights = normals @ vertices.T - (normals * corners[:, 0]).sum(axis=1)[:, None]
    if heights.max(initial=np.inf if not len(normals) else -np.inf) > FLAT * size:
        return None
    hull = _polyhedron(vertices[np.sort(first)], normals)
    # several shells in one place, or a shell within another, enclose something else
    return hull if hull is not None and np.isclose(_volume(hull), mesh.volume(), rtol=1e-4) else None


def _polyhedron(vertices: Floats, normals: Floats | None = None) -> Hull | None:
    """The hull of a convex polyhedron with these corners and, among others, these face normals; those of a box if None."""
    size = float(np.ptp(vertices, axis=0).max())
    if normals is None:
        # corners in the order of `CUBE`
        axes = vertices[[4, 2, 1]] - vertices[0]
        axes /= np.linalg.norm(axes, axis=1)[:, None]
        normals = np.concatenate([axes, -axes])
    heights = normals @ vertices.T
    on_face = heights > heights.max(axis=1, keepdims=True) - 2.0 * FLAT * size
    on_face, first = np.unique(on_face, axis=0, return_index=True)
    faces, loops = [], []
    for is_on, normal in zip(on_face[np.argsort(first)], normals[np.sort(first)], strict=True):
        its = np.flatnonzero(is_on)
        if len(its) >= 3:
            loop = _around(vertices[its], normal)
            faces.append(normal)
            loops.append(tuple(int(vertex) for vertex in its[loop]))
    if not 4 <= len(faces) <= MOST_FACES:
        return None
    sides = {}
    for face, loop in enumerate(loops):
        for vertex, following in zip(loop, (*loop[1:], loop[0]), strict=True):
            sides[vertex, following] = face
    edges = [(*ends, face, sides.get(ends[::-1], -1)) for ends, face in sides.items() if ends[0] < ends[1]]
    if 2 * len(edges) != len(sides) or any(edge[3] < 0 for edge in edges):
        return None
    return Hull(vertices, np.array(faces), tuple(loops), np.array(edges, np.int64))


def _around(points: Floats, normal: Floats) -> Integers:
    """The order of points of a convex polygon, counterclockwise about a normal."""
    from_middle = points - points.mean(axis=0)
    first = from_middle[0] - (from_middle[0] @ normal) * normal
    return np.argsort(np.arctan2(from_middle @ np.cross(normal, first), from_middle @ first), kind="stable")


def _volume(hull: Hull) -> float:
    """[m^3], by the divergence theorem."""
    middle = hull.vertices.mean(axis=0)
    total = 0.0
    for loop in hull.loops:
        corners = hull.vertices[list(loop)] - middle
        total += float(np.cross(corners[1:-1], corners[2:]).sum(axis=0) @ corners[0])
    return total / 6.0
