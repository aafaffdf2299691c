"""Moves inside faces outward to where their fragment ends, like balloons, where fragments meet that no plane could part."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .neighbors import Floats, Integers
from .parting import End, Votes
from .pieces import LONGEST
from .refinement import faces_of, refined

_STEPS = 60
# Swelling ends when the lack of volume has become so many times the least one.
_LOST = 4.0
# Edges become this much longer than those of other inside faces before they are bisected, every so many steps.
_LONGER, _EVERY = 1.5, 3


class Swelling(NamedTuple):
    """How far inside faces of a piece swell.

    Attributes:
        wanted: what they add to the volume of the piece, as seen from `middle` [m^3].
        fragment: the fragment of the piece.
        middle: a point [m], (3,).
        votes: knows where the fragment ends.
    """

    wanted: float
    fragment: int
    middle: Floats
    votes: Votes

    def swollen(self, points: Floats, triangles: Integers, fixed: int) -> tuple[Floats, Integers]:
        """Own points (k, 3) and triangles (m, 3) of faces that have swollen until the piece has its volume.

        Args:
            points: those of rims, which stay, then own ones [m], (n, 3).
            triangles: (m, 3), facing out of the piece.
            fixed: the number of points of rims.
        """
        faces, rims = faces_of(points, triangles, np.zeros(len(triangles), np.int64)), _rims(triangles)
        best, end = (abs(self._lack(points, triangles)), faces), self.votes.end_of(self.fragment)
        for step in range(_STEPS):
            if step % _EVERY == 0:
                faces = refined(faces, _LONGER * LONGEST * self.votes.spacing, _all, rims)
            lack, start = self._lack(faces.points, faces.triangles), faces.points
            faces = replace(faces, points=self._moved(start, faces.triangles, fixed, end))
            after = self._lack(faces.points, faces.triangles)
            if lack * after <= 0.0:
                # only as far as the piece gets its volume
                share = lack / (lack - after) if lack != after else 0.0
                best = 0.0, replace(faces, points=start + share * (faces.points - start))
                break
            if abs(after) > _LOST * best[0]:
                # faces that cross each other have no outside, and move away for ever
                break
            best = min(best, (abs(after), faces), key=lambda found: found[0])
        return best[1].points[fixed:], best[1].triangles

    def _lack(self, points: Floats, triangles: Integers) -> float:
        """The volume that is missing [m^3]."""
        return self.wanted - volume_from(self.middle, points, triangles)

    def _moved(self, points: Floats, triangles: Integers, fixed: int, end: End) -> Floats:
        own = 0.5 * (points + means(points, triangles))[fixed:]
        way, is_inside = end.way(own)
        # a point inside moves outward, not back to the nearest end, which is often at the rim
        reach = np.minimum(np.linalg.norm(way, axis=1), 0.5 * LONGEST * self.votes.spacing)
        outward = reach[:, None] * _normals(points, triangles)[fixed:]
        return np.concatenate([points[:fixed], own + np.where(is_inside[:, None], outward, way)])


def _all(corners: Floats) -> NDArray[np.bool_]:
    return np.ones(len(corners), np.bool_)


def _rims(triangles: Integers) -> Integers:
    """The edges of only one triangle, (k, 2)."""
    edges = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
    unique, counts = np.unique(edges, axis=0, return_counts=True)
    return unique[counts == 1]


def _normals(points: Floats, triangles: Integers) -> Floats:
    """The unit normals of points (n, 3), means over their triangles by area."""
    a, b, c = points[triangles].transpose(1, 0, 2)
    area = np.cross(b - a, c - a)
    total = np.stack([np.bincount(triangles.ravel(), np.repeat(column, 3), len(points)) for column in area.T], axis=1)
    unit: Floats = total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)
    return unit


def means(points: Floats, triangles: Integers) -> Floats:
    """The means of the neighbors of points (n, 3)."""
    one, other = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    starts, ends = np.concatenate([one, other]), np.concatenate([other, one])
    counts = np.maximum(np.bincount(starts, minlength=len(points)), 1)
    return np.stack([np.bincount(starts, column[ends], len(points)) / counts for column in points.T], axis=1)


def volume_from(middle: Floats, points: Floats, triangles: Integers) -> float:
    """The volume between triangles and a point [m^3]; of the parts of a closed surface, it adds up to what they enclose."""
    a, b, c = (points - middle)[triangles].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)
