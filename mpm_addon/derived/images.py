"""Images of particles behind the walls that they touch (ghost particles, as at the boundaries of smoothed particles).

A surface around particles alone is rounded off along edges and ends anywhere within a spacing of a wall, which shows in a glass. Where a
wall is so thin that a surface around the images comes out on its other side, it is known for each image how far it may reach.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .boundaries import Boundary
from .neighbors import nearest_within
from .particles import Cloud

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

# Particles nearer to a wall than this touch it [spacings]. At rest on a wall they are half a spacing away.
_TOUCHING = 0.8
# The least distance between a particle and its image [spacings].
_LEAST_APART = 1.0
# What is nearer to the other side of a wall this far below the surface may come out there [spacings].
_DEEP = 2.0
# The mesh reaches so far beyond an image [spacings].
_MARGIN = 0.7
# How deep in a collider the mesh ends [spacings]: enough that renderers see no gap.
DEPTH = 0.04
# As many surfaces form a corner.
CORNER = 3
# Two surfaces of a particle form an edge if the cosine between their normals is less.
_EDGE = 0.7
# The other side of a thin wall faces away: the cosine between its normal and the way through the wall is more.
_OPPOSITE = 0.9
# Behind a thin wall are no images if a particle is nearer than this to the place half a spacing away from its other side [spacings].
_BEYOND = 1.2


class Images(NamedTuple):
    """Particles and the images of some.

    Attributes:
        cloud: the particles, followed by the images.
        at_thin: which of the cloud are particles that touch thin walls and their images, (k,).
        planes: unit normals of walls, toward the particles, and heights along them [m] at which the mesh around each ends, (k, w, 4). Zeros
            where there are fewer.
    """

    cloud: Cloud
    at_thin: Numbers
    planes: Floats


class _Touched(NamedTuple):
    """A surface that particles touch.

    Attributes:
        particles: numbers of the particles, (k,).
        place: the point of the surface nearest to each [m], (k, 3).
        normal: its unit normal there, (k, 3).
        goal: how far below it the mesh ends [m].
        is_thin: whether the mesh around their images may come out on the other side of the wall, (k,).
    """

    particles: Numbers
    place: Floats
    normal: Floats
    goal: float
    is_thin: NDArray[np.bool_]

    def mirrored(self, points: Floats, rows: Numbers, spacing: float) -> Floats:
        """The images of points (n, 3) in front of some of the places."""
        height = np.einsum("nd,nd->n", points - self.place[rows], self.normal[rows])
        return points - np.maximum(2.0 * height, _LEAST_APART * spacing)[:, None] * self.normal[rows]

    def planes(self) -> Floats:
        """Unit normals and heights at which the mesh ends, (k, 4)."""
        return np.column_stack([self.normal, np.einsum("nd,nd->n", self.place, self.normal) - self.goal])


def extended(cloud: Cloud, boundaries: Sequence[Boundary]) -> Images:
    """The particles, and the images of those that touch boundaries."""
    position = cloud.position.astype(np.float64)
    every = [_backed(touched, position, boundaries, cloud.spacing) for touched in _touched(position, boundaries, cloud.spacing)]
    source, image, is_thin = np.zeros(0, np.intp), np.zeros((0, 3)), np.zeros(0, np.bool_)
    planes = np.zeros((0, len(every), 4))
    for number, touched in enumerate(every):
        # at an edge, the images behind one surface have images behind the other
        both, whole = np.concatenate([touched.particles, source]), np.concatenate([position[touched.particles], image])
        ends = np.concatenate([np.zeros((len(touched.particles), len(every), 4)), planes])
        thin = np.concatenate([np.zeros(len(touched.particles), np.bool_), is_thin])
        row = np.full(len(position), -1)
        row[touched.particles] = np.arange(len(touched.particles))
        own = np.flatnonzero(row[both] >= 0)
        row, ends = row[both[own]], ends[own]
        ends[:, number] = touched.planes()[row]
        thin = thin[own] | touched.is_thin[row]
        behind = touched.mirrored(whole[own], row, cloud.spacing)
        # a mesh that ends half a spacing farther would be rounded off there without a second layer
        farther = np.flatnonzero(touched.is_thin[row] & (touched.goal > 0.3 * cloud.spacing))
        second = behind[farther] - cloud.spacing * touched.normal[row[farther]]
        source = np.concatenate([source, both[own], both[own][farther]])
        planes = np.concatenate([planes, ends, ends[farther]])
        is_thin = np.concatenate([is_thin, thin, thin[farther]])
        image = np.concatenate([image, behind, second])
    whole_cloud = replace(
        cloud,
        position=np.concatenate([cloud.position, image]).astype(np.float32),
        values=_repeated(cloud.values, source),
        numbers=_repeated(cloud.numbers, source),
    )
    particles, own_planes = _at_thin_walls(every, len(position))
    planes = np.concatenate([own_planes, planes[is_thin]])
    beside = np.concatenate([particles, len(position) + np.flatnonzero(is_thin)])
    return Images(whole_cloud, beside, planes[:, planes.any(axis=(0, 2))])


def _at_thin_walls(every: Sequence[_Touched], count: int) -> tuple[Numbers, Floats]:
    """Those of `count` particles that touch thin walls, and the planes of all that they touch, as in `Images`."""
    row = np.full(count, -1)
    for touched in every:
        row[touched.particles[touched.is_thin]] = 0
    particles = np.flatnonzero(row == 0)
    row[particles] = np.arange(len(particles))
    planes = np.zeros((len(particles), len(every), 4))
    for number, touched in enumerate(every):
        its = row[touched.particles]
        planes[its[its >= 0], number] = touched.planes()[its >= 0]
    return particles, planes


def _repeated(arrays: Mapping[str, NDArray[Any]], source: Numbers) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([array, array[source]]) for name, array in arrays.items()}


def _touched(position: Floats, boundaries: Sequence[Boundary], spacing: float) -> list[_Touched]:
    """The surfaces that particles touch: of each boundary the nearest, then those next to it in edges and corners."""
    reach = _TOUCHING * spacing
    found: list[_Touched] = []
    for boundary in boundaries:
        which, moved, normals = np.arange(len(position)), position, np.zeros((len(position), 0, 3))
        for _surface in range(CORNER):
            near, distance, normal = boundary.near(moved, reach)
            is_other = (np.einsum("nkd,nd->nk", normals[near], normal) < _EDGE).all(axis=1)
            near, distance, normal = near[is_other], distance[is_other], normal[is_other]
            if not len(near):
                break
            which, moved = which[near], moved[near]
            found.append(
                _Touched(which, moved - distance[:, None] * normal, normal, boundary.goal(DEPTH * spacing), np.zeros(len(which), np.bool_))
            )
            # away from this surface, another one is nearest
            moved = moved + reach * normal
            normals = np.concatenate([normals[near], normal[:, None]], axis=1)
    return found


def _backed(touched: _Touched, position: Floats, boundaries: Sequence[Boundary], spacing: float) -> _Touched:
    """Those whose images lie in colliders, below the surface rather than outside or nearer to another side, or behind a thin wall."""
    normal = touched.normal
    images = touched.mirrored(position[touched.particles], np.arange(len(normal)), spacing)
    deepest = images - _MARGIN * spacing * normal
    is_behind, is_thin = np.zeros(len(images), np.bool_), np.zeros(len(images), np.bool_)
    beyond = np.zeros((len(images), 3))
    for boundary in boundaries:
        found, distance, outward = boundary.near(deepest, _MARGIN * spacing)
        facing = np.einsum("nd,nd->n", outward, normal[found])
        is_behind[found] |= (distance < 0.0) & (facing > 0.0)
        comes_out = facing < -_OPPOSITE
        is_thin[found] |= comes_out
        beyond[found[comes_out]] = (deepest[found] + (0.5 * spacing - distance)[:, None] * outward)[comes_out]
    thin = np.flatnonzero(is_thin)
    if len(thin):
        # water on both sides of a thin wall would become one
        is_thin[thin] = np.isinf(nearest_within(position, beyond[thin], _BEYOND * spacing)[1])
    kept = is_behind | is_thin
    for boundary in boundaries:
        found, _distance, outward = boundary.near(touched.place - _DEEP * spacing * normal, _MARGIN * spacing)
        is_thin[found] |= np.einsum("nd,nd->n", outward, normal[found]) < -_OPPOSITE
    return touched._replace(particles=touched.particles[kept], place=touched.place[kept], normal=normal[kept], is_thin=is_thin[kept])
