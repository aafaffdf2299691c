"""Queries of a mesh's surface: distance, winding number, inside or outside."""

import numpy as np
from numpy.typing import ArrayLike

from . import mesh_topology
from .mesh_distance import distances, find_closest
from .mesh_topology import Floats, Integers
from .mesh_tree import build_tree
from .shapes.mesh import Mesh
from .winding import FAR_FOR_NUMBERS, FAR_FOR_SIGNS, winding_numbers


class Surface:
    """The search tree over a mesh's triangles. Coordinates are relative to the mesh's center, so that distant objects stay accurate.

    Attributes:
        center: the middle of the mesh's bounds [m], shape (3,).
        tree: the tree, in coordinates relative to `center`.
    """

    def __init__(self, vertices: Floats, triangles: Integers) -> None:
        self.center = mesh_topology.center(vertices, triangles)
        self.tree = build_tree(vertices - self.center, triangles)

    def distance(self, points: ArrayLike) -> Floats:
        """The distance [m] of points (n, 3) from the nearest triangle, shape (n,)."""
        local = self._local(points)
        result = np.empty(len(local))
        distances(self.tree, local, result)
        return result

    def closest(self, points: ArrayLike) -> tuple[Integers, Floats]:
        """The nearest triangle of points (n, 3), shape (n,), and the weights of its corners there, shape (n, 3)."""
        local = self._local(points)
        triangles, weights = np.empty(len(local), np.int64), np.empty((len(local), 3))
        find_closest(self.tree, local, triangles, weights)
        return triangles, weights

    def winding_number(self, points: ArrayLike, *, far: float = FAR_FOR_NUMBERS) -> Floats:
        """The generalized winding number at points (n, 3), shape (n,)."""
        local = self._local(points)
        result = np.empty(len(local))
        winding_numbers(self.tree, local, far, result)
        return result

    def signed_distance(self, points: ArrayLike, *, is_inverted: bool) -> Floats:
        """The distance [m] of points (n, 3), negative if the winding number is at least one half; shape (n,)."""
        winding = self.winding_number(points, far=FAR_FOR_SIGNS)
        return np.where((-winding if is_inverted else winding) >= 0.5, -1.0, 1.0) * self.distance(points)

    def _local(self, points: ArrayLike) -> Floats:
        return np.ascontiguousarray(np.asarray(points, dtype=np.float64).reshape(-1, 3) - self.center)


def signed_distance(vertices: ArrayLike, triangles: ArrayLike, points: ArrayLike) -> Floats:
    """The signed distance of points from a triangle mesh, exact; positive outside.

    A point is inside if the generalized winding number is at least one half, so a mesh with holes has an inside, too.
    A consistently inverted mesh is flipped first.

    Args:
        vertices: [m], shape (v, 3).
        triangles: vertex indices of any integer type, shape (m, 3).
        points: [m], shape (n, 3).

    Returns:
        Distances [m], shape (n,), float64.

    Raises:
        SceneError: the mesh has no faces, no area, an index out of range, or coordinates that are not finite.
    """
    return _checked_mesh(vertices, triangles).signed_distance(np.asarray(points, dtype=np.float64))


def closest_points(mesh: Mesh, points: ArrayLike) -> tuple[Integers, Floats]:
    """The nearest point of a mesh's own surface, without caps, to each point; exact.

    Args:
        mesh: any mesh that `Mesh.check` accepts.
        points: [m], shape (n, 3).

    Returns:
        triangles: row of `mesh.triangles` with the nearest point, shape (n,); one of them if there are several, and never a triangle
            without area.
        barycentric: weights of its three corners there, not negative, with sum 1, shape (n, 3). The value of an attribute there is
            `(barycentric * values[mesh.triangles[triangles]]).sum(axis=1)`.
    """
    return mesh.surface.closest(points)


def winding_number(vertices: ArrayLike, triangles: ArrayLike, points: ArrayLike) -> Floats:
    """The generalized winding number of a triangle mesh, without any repair, around points (n, 3); shape (n,).

    It is 1 inside a closed mesh with outward normals, 0 outside, in between near holes, and negative in an inverted mesh.

    Raises:
        SceneError: as `signed_distance`.
    """
    return _checked_mesh(vertices, triangles).surface.winding_number(points)


def _checked_mesh(vertices: ArrayLike, triangles: ArrayLike) -> Mesh:
    mesh = Mesh(np.asarray(vertices), np.asarray(triangles))
    mesh.check("signed distance")
    return mesh
