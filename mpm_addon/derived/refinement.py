"""Smaller triangles where a mesh is cut, or too coarse to show how its material bends.

Edges are bisected, longest first, in all triangles that share them, so that no gaps open.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.geometry.subdivision import Subdivision, edge_keys
from .neighbors import Floats, Integers

# Whether triangles with these corners (m, 3, 3) have to be small.
IsNear = Callable[[Floats], NDArray[np.bool_]]
_MOST_ROUNDS = 200
# No mesh gets more vertices than this for being too coarse: 90 along each edge of a box, which play back in real time.
MOST_VERTICES = 50_000


@dataclass(frozen=True)
class Faces:
    """A mesh that was refined.

    Attributes:
        points: those of the mesh, then the added ones [m], (n, 3).
        parents: vertices of the mesh that each point lies between, (n, 3).
        weights: how much of each, with a sum of 1, (n, 3).
        triangles: (m, 3).
        source: the number of the triangle that each is part of, (m,).
        is_whole: which are not a part but the whole of it, (m,).
        rounds: the ends of the edges that each round bisected, (k, 2) each.
    """

    points: Floats
    parents: Integers
    weights: Floats
    triangles: Integers
    source: Integers
    is_whole: NDArray[np.bool_]
    rounds: tuple[Integers, ...] = ()


def faces_of(points: Floats, triangles: Integers, source: Integers) -> Faces:
    """A mesh as it is."""
    weights = np.zeros((len(points), 3))
    weights[:, 0] = 1.0
    parents = np.repeat(np.arange(len(points))[:, None], 3, axis=1)
    return Faces(points, parents, weights, triangles, source, np.ones(len(triangles), np.bool_))


def refined(faces: Faces, longest: float, is_near: IsNear, locked: Integers | None = None) -> Faces:
    """Bisect edges until those of near triangles are short.

    Args:
        faces: the mesh.
        longest: the longest edges of near triangles [m].
        is_near: tells which triangles these are.
        locked: edges that stay whole, (k, 2).
    """
    done = np.zeros(0, np.int64) if locked is None else edge_keys(locked[:, 0], locked[:, 1])
    for _round in range(_MOST_ROUNDS):
        chosen, side = _longest_of(faces, longest, is_near, done)
        if not len(chosen):
            break
        faces = _bisected(faces, chosen, side)
    return faces


def subdivision_of(points: Floats, triangles: Integers, longest: float, most: int = MOST_VERTICES) -> Subdivision | None:
    """What makes a mesh fine enough to bend.

    Whether an edge is bisected depends on nothing but its length, so edges at the same place with vertices of their own stay together.

    Args:
        points: the vertices [m], (n, 3).
        triangles: (m, 3).
        longest: the longest edges that it may have [m].
        most: the most vertices that it may get; where they do not suffice, all edges stay longer.

    Returns:
        The edges to bisect; None if the mesh is fine as it is, or has so many vertices already.
    """
    sound = triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]
    edges = points[sound] - points[np.roll(sound, 1, axis=1)]
    far = float(np.sqrt((edges**2).sum(axis=2).max(initial=0.0)))
    if far <= longest or len(points) >= most:
        return None
    faces = faces_of(points, sound, np.arange(len(sound)))
    # as far as vertices suffice, everywhere alike
    for step in range(int(np.ceil(2.0 * np.log2(far / longest))) - 1, -1, -1):
        finer = refined(faces, longest * 2.0 ** (0.5 * step), lambda corners: np.ones(len(corners), np.bool_))
        if len(finer.points) > most:
            break
        faces = finer
    if not faces.rounds:
        return None
    return Subdivision(np.concatenate(faces.rounds).astype(np.int32), np.array([len(ends) for ends in faces.rounds], np.int32))


def _longest_of(faces: Faces, longest: float, is_near: IsNear, locked: Integers) -> tuple[Integers, Integers]:
    """The edges to bisect, as rows of triangles and the side of each; a triangle has at most one, and each edge has all its triangles."""
    starts, ends = faces.triangles, np.roll(faces.triangles, -1, axis=1)
    length = np.linalg.norm(faces.points[starts] - faces.points[ends], axis=2)
    keys = edge_keys(starts, ends)
    if len(locked):
        length[np.isin(keys, locked)] = 0.0
    long = np.flatnonzero(length.max(axis=1, initial=0.0) > longest)
    near = long[is_near(faces.points[faces.triangles[long]])] if len(long) else long
    if not len(near):
        return near, near
    wanted = np.unique(keys[near, length[near].argmax(axis=1)])
    is_wanted = np.isin(keys, wanted)
    rows = np.flatnonzero(is_wanted.any(axis=1))
    # equally long edges are told apart by their numbers, alike in all their triangles
    rank = np.lexsort((keys[rows].ravel(), np.where(is_wanted[rows], length[rows], -1.0).ravel()))
    place = np.empty(len(rank), np.int64)
    place[rank] = np.arange(len(rank))
    side = place.reshape(-1, 3).argmax(axis=1)
    own = keys[rows, side]
    # an edge that is not the choice of all its triangles waits
    uses = np.unique(keys[rows][is_wanted[rows]], return_counts=True)
    choices = np.unique(own, return_counts=True)
    agreed = choices[0][choices[1] == uses[1][np.searchsorted(uses[0], choices[0])]]
    is_agreed = np.isin(own, agreed)
    return rows[is_agreed], side[is_agreed]


def _bisected(faces: Faces, rows: Integers, side: Integers) -> Faces:
    turned = faces.triangles[rows[:, None], (side[:, None] + np.arange(3)) % 3]
    start, end, apex = turned.T
    keys, place = np.unique(edge_keys(start, end), return_inverse=True)
    ends = np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1)
    middle = len(faces.points) + place.reshape(-1)
    parents, weights = between(faces, ends, np.full(len(ends), 0.5))
    triangles, is_whole = faces.triangles.copy(), faces.is_whole.copy()
    triangles[rows] = np.stack([start, middle, apex], axis=1)
    is_whole[rows] = False
    return replace(
        faces,
        points=np.concatenate([faces.points, faces.points[ends].mean(axis=1)]),
        parents=np.concatenate([faces.parents, parents]),
        weights=np.concatenate([faces.weights, weights]),
        triangles=np.concatenate([triangles, np.stack([middle, end, apex], axis=1)]),
        source=np.concatenate([faces.source, faces.source[rows]]),
        is_whole=np.concatenate([is_whole, np.zeros(len(rows), np.bool_)]),
        rounds=(*faces.rounds, ends),
    )


def between(faces: Faces, ends: Integers, share: Floats) -> tuple[Integers, Floats]:
    """Parents and weights (k, 3) of points between two points (k, 2) of the same triangle, `share` (k,) of the way to the second."""
    parents = faces.parents[ends].reshape(-1, 6)
    weights = (faces.weights[ends] * np.stack([1.0 - share, share], axis=1)[:, :, None]).reshape(-1, 6)
    return condensed(parents, weights)


def condensed(parents: Integers, weights: Floats) -> tuple[Integers, Floats]:
    """Sums of vertices (k, j), at most three different ones of them with a weight, as three each (k, 3)."""
    order = np.argsort(parents, axis=1, kind="stable")
    parents, weights = np.take_along_axis(parents, order, axis=1), np.take_along_axis(weights, order, axis=1)
    weights = weights.copy()
    for column in range(parents.shape[1] - 1, 0, -1):
        is_same = parents[:, column] == parents[:, column - 1]
        weights[is_same, column - 1] += weights[is_same, column]
        weights[is_same, column] = 0.0
    best = np.argsort(-weights, axis=1, kind="stable")[:, :3]
    return np.take_along_axis(parents, best, axis=1), np.take_along_axis(weights, best, axis=1)
