"""Surfaces and skins that meet colliders: without a gap, and without reaching through.

A surface around particles alone is rounded off along edges and ends anywhere within a spacing of a wall, which shows in a glass. So
particles that touch walls have images behind them (ghost particles, as at the boundaries of smoothed particles), and the part of the
mesh that lies inside a collider afterward is moved to just below the collider's surface. So are vertices of skins, unless they were there
at rest: where material is squeezed, its outermost particles do not tell exactly where it ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..storage.surface_file import POSITION, SurfacePiece
from .boundaries import Boundary
from .particles import Cloud

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

# Particles nearer to a wall than this touch it [spacings]. At rest on a wall they are half a spacing away.
_TOUCHING = 0.8
# The least distance between a particle and its image [spacings].
_LEAST_APART = 1.0
# The mesh reaches so far beyond an image [spacings]; if the other side of a wall is nearer than this, there is no image.
_MARGIN = 0.7
# How deep in the collider the mesh ends [spacings]: enough that renderers see no gap.
_DEPTH = 0.04
# As many surfaces form a corner.
_CORNER = 3
# Two surfaces of a particle form an edge if the cosine between their normals is less.
_EDGE = 0.7


class _Touched(NamedTuple):
    """Surfaces that particles touch.

    Attributes:
        particles: numbers of the particles, (k,).
        place: a point of each surface [m], (k, 3).
        normal: its unit normal, (k, 3).
    """

    particles: Numbers
    place: Floats
    normal: Floats


def extended(cloud: Cloud, boundaries: Sequence[Boundary]) -> Cloud:
    """The particles, and the images of those that touch boundaries."""
    position = cloud.position.astype(np.float64)
    source, image = np.zeros(0, np.intp), np.zeros((0, 3))
    for touched in _touched(position, boundaries, cloud.spacing):
        # at an edge, the images behind one surface have images behind the other
        both, whole = np.concatenate([touched.particles, source]), np.concatenate([position[touched.particles], image])
        row = np.full(len(position), -1)
        row[touched.particles] = np.arange(len(touched.particles))
        both, whole = both[row[both] >= 0], whole[row[both] >= 0]
        place, normal = touched.place[row[both]], touched.normal[row[both]]
        height = np.einsum("nd,nd->n", whole - place, normal)
        source = np.concatenate([source, both])
        image = np.concatenate([image, whole - np.maximum(2.0 * height, _LEAST_APART * cloud.spacing)[:, None] * normal])
    kept = _are_behind(boundaries, image, position[source], cloud.spacing)
    source, image = source[kept], image[kept]
    return replace(
        cloud,
        position=np.concatenate([cloud.position, image]).astype(np.float32),
        values=_repeated(cloud.values, source),
        numbers=_repeated(cloud.numbers, source),
    )


def _repeated(arrays: Mapping[str, NDArray[Any]], source: Numbers) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([array, array[source]]) for name, array in arrays.items()}


def _touched(position: Floats, boundaries: Sequence[Boundary], spacing: float) -> list[_Touched]:
    """The surfaces that particles touch: of each boundary the nearest, then those next to it in edges and corners."""
    reach = _TOUCHING * spacing
    found: list[_Touched] = []
    for boundary in boundaries:
        which, moved, normals = np.arange(len(position)), position, np.zeros((len(position), 0, 3))
        for _surface in range(_CORNER):
            near, distance, normal = boundary.near(moved, reach)
            is_other = (np.einsum("nkd,nd->nk", normals[near], normal) < _EDGE).all(axis=1)
            near, distance, normal = near[is_other], distance[is_other], normal[is_other]
            if not len(near):
                break
            which, moved = which[near], moved[near]
            found.append(_Touched(which, moved - distance[:, None] * normal, normal))
            # away from this surface, another one is nearest
            moved = moved + reach * normal
            normals = np.concatenate([normals[near], normal[:, None]], axis=1)
    return found


def _are_behind(boundaries: Sequence[Boundary], images: Floats, sources: Floats, spacing: float) -> NDArray[np.bool_]:
    """Whether images lie in colliders, below the surfaces of their sources rather than outside or nearer to another side."""
    inward = images - sources
    inward /= np.maximum(np.linalg.norm(inward, axis=1), 1e-30)[:, None]
    deepest = images + _MARGIN * spacing * inward
    are_behind = np.zeros(len(images), np.bool_)
    for boundary in boundaries:
        inside, _distance, normal = boundary.near(deepest, 0.0)
        are_behind[inside] |= np.einsum("nd,nd->n", normal, inward[inside]) < 0.0
    return are_behind


def fitted(piece: SurfacePiece, boundaries: Sequence[Boundary], spacing: float) -> SurfacePiece:
    """The mesh, with what reaches deep into boundaries moved to just below their surfaces; `spacing` is that of the particles [m]."""
    position = piece.position.astype(np.float64)
    depth, waiting = _DEPTH * spacing, np.arange(len(position))
    # the boundary that has moved each last, which would only find it where it put it
    mover = np.full(len(position), -1)
    for _surface in range(_CORNER):
        moved = np.zeros(len(position), np.bool_)
        for number, boundary in enumerate(boundaries):
            its = waiting[mover[waiting] != number]
            if not len(its):
                continue
            inside, distance, normal = boundary.near(position[its], -depth)
            inside = its[inside]
            position[inside] -= (distance + depth)[:, None] * normal
            moved[inside], mover[inside] = True, number
        # only what one boundary has moved can have come to lie in another
        waiting = np.flatnonzero(moved)
        if not len(waiting):
            break
    return SurfacePiece(piece.name, piece.triangles, {**piece.arrays, POSITION: position.astype(np.float32)})


def allowed_depths(points: Floats, boundaries: Sequence[Boundary], spacing: float) -> Floats:
    """How deep vertices of a skin may lie in boundaries [m], (n,): where they are at rest, or just below the surface.

    Args:
        points: the vertices at rest [m], (n, 3).
        boundaries: the colliders and walls then.
        spacing: the distance between particles [m].
    """
    found = np.full(len(points), _DEPTH * spacing)
    for boundary in boundaries:
        inside, distance, _normal = boundary.near(points, 0.0)
        found[inside] = np.maximum(found[inside], -distance)
    return found


def kept_out(points: Floats, allowed: Floats, boundaries: Sequence[Boundary], cell: float) -> Floats:
    """Points with those that lie too deep in boundaries moved to where they may be.

    Args:
        points: [m], (n, 3).
        allowed: how deep each may lie [m], (n,).
        boundaries: the colliders and walls.
        cell: the grid spacing [m]; what is deeper by that is there for another reason, such as pinning.
    """
    points, waiting = points.copy(), np.arange(len(points))
    for _surface in range(_CORNER):
        moved = np.zeros(len(points), np.bool_)
        for boundary in boundaries:
            inside, distance, normal = boundary.near(points[waiting], 0.0)
            excess = -distance - allowed[waiting[inside]]
            is_moved = (excess > 0.0) & (excess < cell)
            numbers = waiting[inside[is_moved]]
            points[numbers] += excess[is_moved, None] * normal[is_moved]
            moved[numbers] = True
        waiting = np.flatnonzero(moved)
        if not len(waiting):
            break
    return points
