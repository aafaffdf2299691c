"""Cuts a mesh where fragments of its material have parted, and closes every piece with inside faces.

Everything happens at rest and depends only on which particles bonds still join, so a mesh is cut anew only when bonds part.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.geometry.mesh_topology import first_at_same_place
from ..storage.skin_file import Cut
from .inside_faces import closed
from .neighbors import Floats, Integers
from .parting import Votes, elected
from .pieces import divided
from .refinement import faces_of

_NOTHING = Cut(np.zeros((0, 3), np.int32), np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32), np.zeros(0, np.int32))


class Cutting(NamedTuple):
    """A mesh that was cut.

    Attributes:
        cut: the additional vertices, and the triangles that take the place of others.
        rest: the additional vertices at rest [m], (k, 3).
        fragment: of each vertex of the mesh, then of each additional one, (n + k,).
    """

    cut: Cut
    rest: Floats
    fragment: Integers


class Part(NamedTuple):
    """A part of a mesh that is cut: numbers of its vertices (p,), and the votes of the fragments of its material."""

    vertices: Integers
    votes: Votes


def cut_mesh(vertices: Floats, triangles: Integers, parts: Sequence[Part]) -> Cutting:
    """Cut a mesh between fragments.

    Args:
        vertices: at rest [m], (n, 3).
        triangles: (m, 3).
        parts: disjoint parts of the mesh; the others stay as they are, and belong to fragment 0.
    """
    count, first = len(vertices), first_at_same_place(vertices)
    welded = first[triangles]
    # triangles without an area have no inside
    is_sound = (welded != np.roll(welded, 1, axis=1)).all(axis=1)
    cuts, rest, own, added = [_NOTHING], [np.zeros((0, 3))], np.zeros(count, np.int64), [np.zeros(0, np.int64)]
    for part in parts:
        own[part.vertices] = elected(part.votes.around(vertices[part.vertices]))
        source = np.flatnonzero(is_sound & np.isin(triangles[:, 0], part.vertices))
        made = _cut_part(vertices, welded[source], source, part.votes)
        # a vertex of the mesh that shares its place with another one is that of the triangle
        corners = _shifted(made.cut.triangles, count, sum(map(len, rest)))
        is_surface = made.cut.source >= 0
        of_source = made.cut.source[is_surface]
        corners[is_surface] = _unwelded(corners[is_surface], welded[of_source], triangles[of_source])
        cuts.append(made.cut._replace(triangles=corners.astype(np.int32)))
        rest.append(made.rest)
        added.append(made.fragment)
    cut = Cut(*(np.concatenate(arrays) for arrays in zip(*cuts, strict=True)))
    return Cutting(cut, np.concatenate(rest), np.concatenate([own, *added]))


def _shifted(numbers: NDArray[np.int32], count: int, by: int) -> Integers:
    """The numbers of vertices, those of additional ones increased."""
    return np.where(numbers < count, 0, by) + numbers.astype(np.int64)


def _unwelded(corners: Integers, welded: Integers, actual: Integers) -> Integers:
    """The corners of triangles (k, 3), those that are among the welded vertices of their sources (k, 3) replaced by the actual ones."""
    for welded_corner, actual_corner in zip(welded.T, actual.T, strict=True):
        corners = np.where(corners == welded_corner[:, None], actual_corner[:, None], corners)
    return corners


def _cut_part(vertices: Floats, triangles: Integers, source: Integers, votes: Votes) -> Cutting:
    """Cut some triangles of a mesh; the fragments are those of the additional vertices only."""
    used, local = np.unique(triangles, return_inverse=True)
    pieces = divided(faces_of(vertices[used], local.reshape(-1, 3), source), votes)
    faces, first = pieces.faces, len(used)
    inside = closed(pieces, votes)
    changed = np.flatnonzero(~faces.is_whole)
    numbers = np.concatenate([used, len(vertices) + np.arange(len(faces.points) - first + len(inside.points))])
    # inside faces have vertices of the rims, then their own
    like = np.concatenate([np.arange(first, len(faces.points)), inside.like])
    cut = Cut(
        used[faces.parents[like]].astype(np.int32),
        faces.weights[like].astype(np.float32),
        numbers[np.concatenate([faces.triangles[changed], inside.triangles])].astype(np.int32),
        np.concatenate([faces.source[changed], np.full(len(inside.triangles), -1)]).astype(np.int32),
    )
    rest = np.concatenate([faces.points[first:], inside.points])
    return Cutting(cut, rest, pieces.fragment[like])
