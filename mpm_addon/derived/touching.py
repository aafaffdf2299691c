"""Which surfaces of colliders and walls particles touch, and whether there is room behind these for images of the particles."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .boundaries import Boundary
from .neighbors import Neighborhood

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]
Mask = NDArray[np.bool_]

# Particles nearer to a wall than this touch it [spacings]. At rest on a wall they are half a spacing away.
_TOUCHING = 0.8
# The least distance between a particle and its image [spacings].
_LEAST_APART = 1.0
# The mesh reaches so far beyond an image [spacings].
_MARGIN = 0.7
# What is nearer to the other side of a wall this far below the surface may come out there [spacings].
_DEEP = 2.0
# How deep in a collider the mesh ends [spacings]: enough that renderers see no gap.
DEPTH = 0.04
# As many surfaces form a corner.
CORNER = 3
# Two surfaces of a particle form an edge if the cosine between their normals is less.
_EDGE = 0.7
# The other side of a thin wall faces away: the cosine between its normal and the way through the wall is more.
_OPPOSITE = 0.9
# Where the mesh ends farther below what blocks than this, images need a second layer [spacings].
_FAR = 0.3
# Particles beyond a thin wall are looked for so far from its other side, and around there [spacings]. Those at the first distances keep
# images away, others the second layer: meshes of water in two vessels side by side would become one.
_BEYOND, _AROUND, _KEEP_AWAY = (0.5, 1.5, 2.5, 3.5, 4.5, 5.5), 1.2, 2


class Touched(NamedTuple):
    """Surfaces that particles touch, a row for each particle and surface.

    Attributes:
        particles: their numbers, (k,).
        surface: the number of the surface, ascending: of each boundary the nearest, then those next to it in edges and corners, (k,).
        boundary: the number of its boundary, (k,).
        place: the point of the surface nearest to the particle [m], (k, 3).
        normal: its unit normal there, (k, 3).
        goal: how far below it the mesh ends [m], (k,).
        is_thin: whether the mesh around images may come out on the other side of the wall, (k,).
        is_deep: whether a second layer of images is needed, and has room, (k,).
    """

    particles: Numbers
    surface: Numbers
    boundary: Numbers
    place: Floats
    normal: Floats
    goal: Floats
    is_thin: Mask
    is_deep: Mask

    def only(self, kept: Mask) -> "Touched":
        """Some of the rows."""
        particles, surface, boundary = self.particles[kept], self.surface[kept], self.boundary[kept]
        place, normal, goal = self.place[kept], self.normal[kept], self.goal[kept]
        return Touched(particles, surface, boundary, place, normal, goal, self.is_thin[kept], self.is_deep[kept])

    def mirrored(self, points: Floats, rows: Numbers, spacing: float) -> Floats:
        """The images of points (n, 3) behind the surfaces of some rows (n,)."""
        height = np.einsum("nd,nd->n", points - self.place[rows], self.normal[rows])
        return points - np.maximum(2.0 * height, _LEAST_APART * spacing)[:, None] * self.normal[rows]


def touched(position: Floats, boundaries: Sequence[Boundary], spacing: float) -> Touched:
    """The surfaces that particles touch and that have room for their images.

    Args:
        position: of the particles [m], (n, 3).
        boundaries: colliders and walls.
        spacing: the distance between particles [m].
    """
    found = _touched(position, boundaries, spacing)
    images = found.mirrored(position[found.particles], np.arange(len(found.particles)), spacing)
    is_behind, is_thin, is_deep = _room(found, images, position, boundaries, spacing)
    for boundary in boundaries:
        near, _distance, outward = boundary.near(found.place - _DEEP * spacing * found.normal, _MARGIN * spacing)
        is_behind_too = is_behind[near] & (np.einsum("nd,nd->n", outward, found.normal[near]) < -_OPPOSITE)
        is_thin[near[is_behind_too]] = True
    kept = is_behind | is_thin
    return found._replace(is_thin=is_thin, is_deep=is_deep).only(kept)


def _touched(position: Floats, boundaries: Sequence[Boundary], spacing: float) -> Touched:
    reach = _TOUCHING * spacing
    found: list[tuple[Numbers, ...]] = [(np.zeros(0, np.intp),) * 3]
    places, goals = [np.zeros((0, 2, 3))], [np.zeros(0)]
    for number, boundary in enumerate(boundaries):
        which, moved, normals = np.arange(len(position)), position, np.zeros((len(position), 0, 3))
        for _surface in range(CORNER):
            near, distance, normal = boundary.near(moved, reach)
            is_other = (np.einsum("nkd,nd->nk", normals[near], normal) < _EDGE).all(axis=1)
            near, distance, normal = near[is_other], distance[is_other], normal[is_other]
            if not len(near):
                break
            which, moved = which[near], moved[near]
            found.append((which, np.full(len(which), len(found)), np.full(len(which), number)))
            places.append(np.stack([moved - distance[:, None] * normal, normal], axis=1))
            goals.append(np.full(len(which), boundary.goal(DEPTH * spacing)))
            # away from this surface, another one is nearest
            moved = moved + reach * normal
            normals = np.concatenate([normals[near], normal[:, None]], axis=1)
    particles, surface, boundary_number = (np.concatenate(each) for each in zip(*found, strict=True))
    place, normal = np.moveaxis(np.concatenate(places), 1, 0)
    unknown = np.zeros(len(particles), np.bool_)
    return Touched(particles, surface, boundary_number, place, normal, np.concatenate(goals), unknown, unknown)


def _room(found: Touched, images: Floats, position: Floats, boundaries: Sequence[Boundary], spacing: float) -> tuple[Mask, Mask, Mask]:
    """Whether images lie in colliders, below their surfaces; or else behind a thin wall; and whether there is room for a second layer."""
    deepest = images - _MARGIN * spacing * found.normal
    is_behind, is_thin, is_deep = np.zeros((3, len(images)), np.bool_)
    # where the mesh would come out of a thin wall, and the normal there
    leaves, outside = np.zeros((2, len(images), 3))
    for boundary in boundaries:
        near, distance, outward = boundary.near(deepest, _MARGIN * spacing)
        facing = np.einsum("nd,nd->n", outward, found.normal[near])
        is_behind[near] |= (distance < 0.0) & (facing > 0.0)
        comes_out = facing < -_OPPOSITE
        is_thin[near[comes_out]] = True
        leaves[near[comes_out]] = (deepest[near] - distance[:, None] * outward)[comes_out]
        outside[near[comes_out]] = outward[comes_out]
    thin = np.flatnonzero(is_thin)
    if len(thin):
        beyond = Neighborhood(position, _AROUND * spacing)
        is_free = [beyond.are_none_within(leaves[thin] + far * spacing * outside[thin]) for far in _BEYOND]
        is_thin[thin] = np.all(is_free[:_KEEP_AWAY], axis=0)
        # even if there is another wall behind
        is_behind[thin[~is_thin[thin]]] = False
        is_deep[thin] = np.all(is_free, axis=0) & (found.goal[thin] > _FAR * spacing)
    return is_behind, is_thin, is_deep
