"""Surfaces and skins that meet colliders: without a gap, and without reaching through.

The part of the mesh around images (see `images`) that lies inside a collider is moved to just below the collider's own surface, even where
the simulation blocks a layer outside of it, as at thin walls. So are vertices of skins, unless they were there at rest: where material is
squeezed, its outermost particles do not tell exactly where it ends.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..storage.surface_file import POSITION, SurfacePiece
from .boundaries import Boundary
from .images import Images
from .neighbors import nearest
from .touching import CORNER, DEPTH, Floats, Numbers, Touched

# The cosine between normals of the same side of a wall is more.
_SAME_SIDE = 0.7


def fitted(piece: SurfacePiece, boundaries: Sequence[Boundary], spacing: float, images: Images | None = None) -> SurfacePiece:
    """The mesh, with what reaches deep into boundaries moved to just below their surfaces.

    Args:
        piece: the mesh.
        boundaries: colliders and walls.
        spacing: that of the particles [m].
        images: those that the mesh was made with, if any.
    """
    position = piece.position.astype(np.float64)
    if images is not None and len(images.at_thin):
        _flatten(position, boundaries, spacing, images)
    waiting = np.arange(len(position))
    # the boundary that has moved each last, which would only find it where it put it
    mover = np.full(len(position), -1)
    for _surface in range(CORNER):
        moved = np.zeros(len(position), np.bool_)
        for number, boundary in enumerate(boundaries):
            its = waiting[mover[waiting] != number]
            if not len(its):
                continue
            goal = boundary.goal(DEPTH * spacing)
            inside, distance, normal = boundary.near(position[its], -goal)
            inside = its[inside]
            position[inside] -= (distance + goal)[:, None] * normal
            moved[inside], mover[inside] = True, number
        # only what one boundary has moved can have come to lie in another
        waiting = np.flatnonzero(moved)
        if not len(waiting):
            break
    return SurfacePiece(piece.name, piece.triangles, {**piece.arrays, POSITION: position.astype(np.float32)})


def _flatten(position: Floats, boundaries: Sequence[Boundary], spacing: float, images: Images) -> None:
    """Move the vertices around particles at thin walls and their images, which may lie on the other side, back to the particles' side."""
    own = images.cloud.position.astype(np.float64)
    near, beside = _near(boundaries, position, 2.0 * spacing), _near(boundaries, own, 3.0 * spacing)
    beside[images.at_thin] = True
    low, high = own[images.at_thin].min(axis=0), own[images.at_thin].max(axis=0)
    near = np.flatnonzero(near & _within(position, low - 2.0 * spacing, high + 2.0 * spacing))
    beside = np.flatnonzero(beside & _within(own, low - 4.0 * spacing, high + 4.0 * spacing))
    closest = beside[nearest(own[beside], position[near], 1, spacing).number[:, 0]]
    row = np.full(len(own), -1)
    row[images.at_thin] = np.arange(len(images.at_thin))
    near, row = near[row[closest] >= 0], row[closest][row[closest] >= 0]
    walls = images.walls
    for held_by in images.held_by[row].T:
        its = np.flatnonzero(held_by >= 0)
        _hold_back(position, near[its], walls, held_by[its], boundaries, spacing)


def _hold_back(position: Floats, vertices: Numbers, walls: Touched, rows: Numbers, boundaries: Sequence[Boundary], spacing: float) -> None:
    """Move vertices that are behind walls, (k,) rows of those, to where the mesh ends there, seen from the particles' side."""
    height = np.einsum("nd,nd->n", position[vertices] - walls.place[rows], walls.normal[rows]) + walls.goal[rows]
    position[vertices] += np.maximum(-height, 0.0)[:, None] * walls.normal[rows]
    # walls may be curved
    for number in np.unique(walls.boundary[rows]):
        its = np.flatnonzero((walls.boundary[rows] == number) & (height < 0.5 * spacing))
        toward = walls.normal[rows[its]]
        before = position[vertices[its]] + 0.5 * spacing * toward
        near, distance, normal = boundaries[number].near(before, spacing)
        facing = np.einsum("nd,nd->n", normal, toward[near])
        goal = boundaries[number].goal(DEPTH * spacing)
        is_its = (facing > _SAME_SIDE) & ((height[its[near]] < 0.0) | (distance + goal < 0.5 * spacing * facing))
        position[vertices[its[near[is_its]]]] = (before[near] - (distance + goal)[:, None] * normal)[is_its]


def _near(boundaries: Sequence[Boundary], points: Floats, reach: float) -> NDArray[np.bool_]:
    found = np.zeros(len(points), np.bool_)
    for boundary in boundaries:
        found[boundary.roughly_near(points, reach)] = True
    return found


def _within(points: Floats, low: Floats, high: Floats) -> NDArray[np.bool_]:
    return ((points > low) & (points < high)).all(axis=1)


def allowed_depths(points: Floats, boundaries: Sequence[Boundary], spacing: float) -> Floats:
    """How deep vertices of a skin may lie in boundaries [m], (n,): where they are at rest, or just below the surface.

    Args:
        points: the vertices at rest [m], (n, 3).
        boundaries: the colliders and walls then.
        spacing: the distance between particles [m].
    """
    found = np.full(len(points), DEPTH * spacing)
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
    for _surface in range(CORNER):
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
