"""Divides the surface of a mesh between fragments of its material.

Each vertex belongs to the fragment whose particles are around it. Edges between two fragments are cut where neither has more votes, and the
cut vertices are doubled. Triangles near a cut are made small first, because a box has no vertex where it tears.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .neighbors import Floats, Integers, nearest
from .parting import Votes, elected, votes_for
from .refinement import Faces, between, condensed, refined

# The longest edges near a cut, and how far that is [distances between particles].
LONGEST, _NEAR = 1.5, 1.5
# Cuts keep this part of an edge away from its ends, so that no piece is a needle.
_ASIDE = 0.1


@dataclass(frozen=True)
class Pieces:
    """The triangles of a mesh whose corners all belong to one fragment.

    Attributes:
        faces: the points, and the triangles on the surface.
        fragment: of each point, (n,).
        rims: directed edges that an inside face still has to close, (e, 2).
        place: a number of each point that copies of a point for several fragments share, (n,).
    """

    faces: Faces
    fragment: Integers
    rims: Integers
    place: Integers


def _is_near(corners: Floats, votes: Votes) -> NDArray[np.bool_]:
    """Whether particles that parted are around triangles (m, 3, 3)."""
    if not len(votes.middles):
        return np.zeros(len(corners), np.bool_)
    center = corners.mean(axis=1)
    radius = np.linalg.norm(corners - center[:, None], axis=2).max(axis=1)
    squared = nearest(votes.middles, center, 1, 2.0 * votes.spacing).squared[:, 0]
    return np.sqrt(squared) < radius + _NEAR * votes.spacing


def divided(faces: Faces, votes: Votes) -> Pieces:
    """Divide a mesh between fragments."""
    faces = refined(faces, LONGEST * votes.spacing, lambda corners: _is_near(corners, votes))
    cast = votes.around(faces.points)
    fragment = elected(cast)
    own = fragment[faces.triangles]
    is_mixed = (own != own[:, :1]).any(axis=1)
    mixed, whose = faces.triangles[is_mixed], own[is_mixed]
    is_three = (whose[:, 0] != whose[:, 1]) & (whose[:, 1] != whose[:, 2]) & (whose[:, 2] != whose[:, 0])
    # the corner of its own of two fragments first
    alone = np.where(
        is_three, 0, np.argmax(np.stack([whose[:, 1] == whose[:, 2], whose[:, 2] == whose[:, 0], whose[:, 0] == whose[:, 1]]), axis=0)
    )
    turned = np.take_along_axis(mixed, (alone[:, None] + np.arange(3)) % 3, axis=1)
    made = _Copies(faces, fragment, cast)
    source = faces.source[is_mixed]
    kinds = (_cut_in_two(turned[~is_three], source[~is_three], made), _cut_in_three(turned[is_three], source[is_three], made))
    new, sources, rims = (np.concatenate(parts) for parts in zip(*kinds, strict=True))
    grown = made.grown()
    kept = ~is_mixed
    whole = replace(
        grown,
        triangles=np.concatenate([faces.triangles[kept], new]),
        source=np.concatenate([faces.source[kept], sources]),
        is_whole=np.concatenate([faces.is_whole[kept], np.zeros(len(new), np.bool_)]),
    )
    return Pieces(whole, made.fragment, rims, made.place)


def _cut_in_two(turned: Integers, source: Integers, made: "_Copies") -> tuple[Integers, Integers, Integers]:
    """Triangles whose first corner is alone: what it becomes, their sources, and the rims."""
    a, b, c = turned.T
    near_b, near_c = made.on_edge(a, b, a), made.on_edge(a, c, a)
    far_b, far_c = made.on_edge(a, b, b), made.on_edge(a, c, c)
    new = [(a, near_b, near_c), (far_b, b, c), (far_b, c, far_c)]
    rims = [(near_c, near_b), (far_b, far_c)]
    return _stacked(new), np.tile(source, 3), _stacked(rims)


def _cut_in_three(turned: Integers, source: Integers, made: "_Copies") -> tuple[Integers, Integers, Integers]:
    new, rims = [], []
    for corner in range(3):
        own, after, before = (turned[:, (corner + step) % 3] for step in range(3))
        first, last, middle = made.on_edge(own, after, own), made.on_edge(before, own, own), made.in_middle(turned, own)
        new += [(own, first, middle), (own, middle, last)]
        rims += [(middle, first), (last, middle)]
    return _stacked(new), np.tile(source, 6), _stacked(rims)


def _stacked(rows: Sequence[Sequence[Integers]]) -> Integers:
    return np.concatenate([np.stack(row, axis=1) for row in rows])


class _Copies:
    """Points on cut edges and in cut triangles, one for each fragment that meets there.

    Attributes:
        fragment, place: see `Pieces`.
    """

    def __init__(self, faces: Faces, fragment: Integers, cast: tuple[Integers, Floats]) -> None:
        self._faces, self._cast = faces, cast
        self.fragment, self.place = fragment, np.arange(len(faces.points))
        self._points, self._parents, self._weights = [faces.points], [faces.parents], [faces.weights]
        self._known: dict[tuple[int, int, int], int] = {}
        self._places: dict[tuple[int, ...], int] = {}

    def grown(self) -> Faces:
        """The mesh with the new points."""
        joined = [np.concatenate(parts) for parts in (self._points, self._parents, self._weights)]
        return replace(self._faces, points=joined[0], parents=joined[1], weights=joined[2])

    def on_edge(self, starts: Integers, ends: Integers, whose: Integers) -> Integers:
        """The points (k,) on edges between two fragments, in the copy of the fragment of the points `whose`."""
        low, high, fragment = np.minimum(starts, ends), np.maximum(starts, ends), self.fragment[whose]
        rows = np.stack([low, high, fragment], axis=1)
        unique, place = np.unique(rows, axis=0, return_inverse=True)
        is_new = np.array([tuple(row) not in self._known for row in unique.tolist()], np.bool_)
        fresh = unique[is_new]
        if len(fresh):
            share = self._share(fresh[:, 0], fresh[:, 1])
            points = self._faces.points
            mixed = points[fresh[:, 0]] * (1.0 - share)[:, None] + points[fresh[:, 1]] * share[:, None]
            parents, weights = between(self._faces, fresh[:, :2], share)
            names = [tuple(row) for row in fresh[:, :2].tolist()]
            for row, number in zip(fresh.tolist(), self._add(mixed, parents, weights, fresh[:, 2], names), strict=True):
                self._known[tuple(row)] = number
        numbers = np.array([self._known[tuple(row)] for row in unique.tolist()], np.int64)
        return numbers[place.reshape(-1)]

    def in_middle(self, corners: Integers, whose: Integers) -> Integers:
        """The points (k,) in the middle of triangles (k, 3) of three fragments, in the copy of that of the points `whose`."""
        parents, weights = condensed(self._faces.parents[corners].reshape(-1, 9), (self._faces.weights[corners] / 3.0).reshape(-1, 9))
        names = [tuple(row) for row in np.sort(corners, axis=1).tolist()]
        return np.array(self._add(self._faces.points[corners].mean(axis=1), parents, weights, self.fragment[whose], names), np.int64)

    def _share(self, starts: Integers, ends: Integers) -> Floats:
        """How far along edges the votes for the fragments of both ends are equal, (k,)."""
        lead = []
        for points in (starts, ends):
            cast = self._cast[0][points], self._cast[1][points]
            lead.append(votes_for(self.fragment[starts], cast) - votes_for(self.fragment[ends], cast))
        span = lead[0] - lead[1]
        share = np.where(span > 0.0, lead[0] / np.where(span > 0.0, span, 1.0), 0.5)
        clipped: Floats = np.clip(share, _ASIDE, 1.0 - _ASIDE)
        return clipped

    def _add(self, points: Floats, parents: Integers, weights: Floats, fragment: Integers, names: Sequence[tuple[int, ...]]) -> list[int]:
        first = len(self.fragment)
        numbers = list(range(first, first + len(points)))
        self._points.append(points)
        self._parents.append(parents)
        self._weights.append(weights)
        self.fragment = np.concatenate([self.fragment, fragment])
        # the copies of a point have the number of the first one
        places = [self._places.setdefault(name, number) for name, number in zip(names, numbers, strict=True)]
        self.place = np.concatenate([self.place, np.array(places, np.int64)])
        return numbers
