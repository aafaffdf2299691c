"""A solid body as tetrahedra: the particles of Chen 2013, their links, and the faces between them."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..geometry.mass import MassProperties
from ..geometry.mesh_topology import Floats, Integers
from .delaunay import FACES, volumes

Flags = NDArray[np.bool_]
# the tetrahedron beyond a face of the surface
NOTHING = -1


class SurfaceMesh(NamedTuple):
    """The surface of a piece.

    Attributes:
        vertices: [m], shape (n, 3).
        triangles: vertex indices, counterclockwise seen from outside, shape (m, 3).
        is_inside: whether a triangle was inside the unbroken body, shape (m,).
    """

    vertices: Floats
    triangles: Integers
    is_inside: Flags


@dataclass(frozen=True)
class Tetrahedra:
    """Tetrahedra and the faces between them. A face between two is a link until a crack cuts it.

    Where a tetrahedron was split and its neighbor was not, four small faces lie between the pieces and the neighbor.

    Attributes:
        vertices: [m], shape (n, 3).
        corners: the vertices of each tetrahedron, in positive order, shape (t, 4).
        faces: the vertices of each face, counterclockwise seen from outside its first tetrahedron, shape (f, 3).
        sides: the tetrahedra on both sides of each face, shape (f, 2); the second is `NOTHING` at the surface.
        is_linked: whether a face holds its tetrahedra together, shape (f,).
        is_inside: whether a face of the surface was inside the unbroken body, shape (f,).
        middles: the two ends and the middle of each edge that was halved, shape (k, 3), the lower vertex first.
    """

    vertices: Floats
    corners: Integers
    faces: Integers
    sides: Integers
    is_linked: Flags
    is_inside: Flags
    middles: Integers

    @cached_property
    def centroids(self) -> Floats:
        """The centroids of the tetrahedra [m], shape (t, 3)."""
        return self.vertices[self.corners].mean(axis=1)

    @cached_property
    def volumes(self) -> Floats:
        """[m^3], shape (t,)."""
        return volumes(self.vertices, self.corners)

    @cached_property
    def radii(self) -> Floats:
        """The radii of balls with the volumes of the tetrahedra [m], shape (t,)."""
        return np.cbrt(0.75 * self.volumes / np.pi)

    @property
    def links(self) -> Integers:
        """The pairs of linked tetrahedra, shape (l, 2); a pair that shares several small faces appears several times."""
        return self.sides[self.is_linked]

    @cached_property
    def is_exposed(self) -> Flags:
        """Whether a tetrahedron has a face without a link, shape (t,): those that can touch something."""
        found = np.zeros(len(self.corners), np.bool_)
        bare = self.sides[~self.is_linked]
        found[bare[bare != NOTHING]] = True
        return found

    def mass_properties(self) -> MassProperties:
        """Volume, center of mass, and inertia about it at a density of 1 kg/m^3 (Tonon 2004, eq. 7 and 11)."""
        weights, total = self.volumes, float(self.volumes.sum())
        corners = self.vertices[self.corners]
        sums = corners.sum(axis=1)
        center = weights @ sums / (4.0 * total)
        relative, sums = corners - center, sums - 4.0 * center
        second = np.einsum("t,tki,tkj->ij", weights, relative, relative) + np.einsum("t,ti,tj->ij", weights, sums, sums)
        spread = second / 20.0
        inertia = np.trace(spread) * np.eye(3) - spread
        return MassProperties(total, center, 0.5 * (inertia + inertia.T))

    def surface(self) -> SurfaceMesh:
        """The closed surface around all tetrahedra. Cracks inside, which have no width, are not part of it."""
        is_outer = self.sides[:, 1] == NOTHING
        triangles, owners = conforming(self.faces[is_outer], self.middles)
        used, numbers = np.unique(triangles, return_inverse=True)
        return SurfaceMesh(self.vertices[used], numbers.reshape(-1, 3), self.is_inside[is_outer][owners])


def from_corners(vertices: Floats, corners: Integers) -> Tetrahedra:
    """The tetrahedra with these vertices (n, 3) and corners (t, 4), in positive order, linked where they share a face."""
    faces = corners[:, FACES].reshape(-1, 3)
    owners = np.repeat(np.arange(len(corners)), 4)
    _, first, where = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_inverse=True)
    where = where.ravel()
    other = np.full(len(first), NOTHING)
    is_second = np.ones(len(faces), np.bool_)
    is_second[first] = False
    other[where[is_second]] = owners[is_second]
    sides = np.column_stack([owners[first], other])
    none = np.zeros(len(first), np.bool_)
    return Tetrahedra(vertices, corners, faces[first], sides, other != NOTHING, none, np.zeros((0, 3), np.int64))


def conforming(triangles: Integers, middles: Integers) -> tuple[Integers, Integers]:
    """Triangles (m, 3) divided where their edges were halved, so that no vertex lies on the edge of a neighbor, and their origins.

    Args:
        middles: the ends and the middle of halved edges, see `Tetrahedra.middles`.

    Returns:
        The triangles (k, 3), and the row that each comes from, shape (k,).
    """
    known = {(low, high): middle for low, high, middle in middles.tolist()}
    divided, owners = [], []
    waiting = [(row, *triangle) for row, triangle in enumerate(triangles.tolist())][::-1]
    while waiting:
        row, a, b, c = waiting.pop()
        halves = [known.get((min(p, q), max(p, q))) for p, q in ((a, b), (b, c), (c, a))]
        edge = next((number for number, middle in enumerate(halves) if middle is not None), None)
        if edge is None:
            divided.append((a, b, c))
            owners.append(row)
            continue
        p, q, r = ((a, b, c), (b, c, a), (c, a, b))[edge]
        middle = halves[edge]
        waiting += [(row, middle, q, r), (row, p, middle, r)]
    return np.array(divided, np.int64).reshape(-1, 3), np.array(owners, np.int64)
