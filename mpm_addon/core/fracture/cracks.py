"""Cracks cut links between tetrahedra, and the pieces that nothing links any more separate (Chen 2013)."""

from dataclasses import replace

import numpy as np

from ..components import components
from ..geometry.mesh_topology import Floats, Integers
from .refinement import refined
from .tetrahedra import NOTHING, Flags, Tetrahedra


def crossed(body: Tetrahedra, points: Floats, normals: Floats, radius: float) -> Flags:
    """Which faces (f,) are links that a crack crosses: a disk about one of the points (k, 3), with its normal and a radius [m]."""
    links = np.flatnonzero(body.is_linked)
    first, second = np.moveaxis(body.centroids[body.sides[links]], 1, 0)
    is_cut = np.zeros(len(links), np.bool_)
    for point, normal in zip(points, normals, strict=True):
        before, after = (first - point) @ normal, (second - point) @ normal
        near = np.flatnonzero(before * after < 0.0)
        share = (before[near] / (before[near] - after[near]))[:, None]
        place = (1.0 - share) * first[near] + share * second[near] - point
        is_cut[near[(place**2).sum(axis=1) < radius**2]] = True
    found = np.zeros(len(body.faces), np.bool_)
    found[links[is_cut]] = True
    return found


def cracked(body: Tetrahedra, points: Floats, normals: Floats, radius: float, *, finest: float) -> Tetrahedra:
    """The body after cracks: the links that they cross are cut.

    Args:
        points, normals: of the planes of the cracks, shape (k, 3).
        radius: of the cracks [m].
        finest: the tetrahedra at the cracks are first split into twelve, except those that are smaller than this [m^3]. So a body that is
            hit again and again does not become ever finer.
    """
    cut = crossed(body, points, normals, radius)
    marked = np.unique(body.sides[cut])
    marked = marked[body.volumes[marked] >= finest]
    if len(marked):
        body = refined(body, marked)
        cut = crossed(body, points, normals, radius)
    return replace(body, is_linked=body.is_linked & ~cut)


def pieces_of(body: Tetrahedra, least_volume: float) -> list[Tetrahedra]:
    """The pieces of a body that links hold together, the piece of the first tetrahedron first.

    A piece with less than `least_volume` [m^3] stays with the neighbor with which it shares the largest face.
    """
    cut_apart, count = _numbered(body)
    joined = _without_small(body, cut_apart, count, least_volume)
    # a small piece is held again where it was cut off
    first, second = body.sides.T
    is_healed = (second != NOTHING) & (cut_apart[first] != cut_apart[second]) & (joined[first] == joined[second])
    body = replace(body, is_linked=body.is_linked | is_healed)
    numbers, piece_of = np.unique(joined, return_inverse=True)
    if len(numbers) == 1:
        return [body]
    return [_piece(body, piece_of.ravel(), number) for number in range(len(numbers))]


def _numbered(body: Tetrahedra) -> tuple[Integers, int]:
    """The number of each tetrahedron's piece, and how many there are."""
    links, every = body.links, np.arange(len(body.corners))
    # every tetrahedron is linked with itself
    label = components(np.append(every, links[:, 0]), np.append(every, links[:, 1]), len(every))[: len(every)]
    numbers, piece_of = np.unique(label, return_inverse=True)
    return piece_of.ravel(), len(numbers)


def _without_small(body: Tetrahedra, piece_of: Integers, count: int, least_volume: float) -> Integers:
    """The pieces after small ones have joined a neighbor, the smallest first."""
    sizes = np.bincount(piece_of, body.volumes, count)
    between = np.flatnonzero(body.sides[:, 1] != NOTHING)
    a, b, c = np.moveaxis(body.vertices[body.faces[between]], 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    for _ in range(count):
        small = np.flatnonzero((sizes > 0.0) & (sizes < least_volume))
        first, second = piece_of[body.sides[between]].T
        joined = False
        for number in small[np.argsort(sizes[small], kind="stable")].tolist():
            borders = (first == number) != (second == number)
            others = np.where(first[borders] == number, second[borders], first[borders])
            if not len(others):
                continue
            shared = np.bincount(others, areas[borders], count)
            host = int(shared.argmax())
            piece_of = np.where(piece_of == number, host, piece_of)
            sizes[host], sizes[number] = sizes[host] + sizes[number], 0.0
            joined = True
            break
        if not joined:
            break
    return piece_of


def _piece(body: Tetrahedra, piece_of: Integers, number: int) -> Tetrahedra:
    """One piece, with its own numbers of vertices and tetrahedra."""
    is_ours = np.append(piece_of == number, False)
    sides = is_ours[body.sides]
    kept = np.flatnonzero(sides.any(axis=1))
    faces, owners, ours = body.faces[kept].copy(), body.sides[kept].copy(), sides[kept]
    is_border = ours.sum(axis=1) == 1
    # the piece comes first, and a face between two pieces becomes a face of the surface of both
    turned = is_border & ours[:, 1]
    owners[turned], faces[turned] = owners[turned, ::-1], faces[turned, ::-1]
    was_between = is_border & (owners[:, 1] != NOTHING)
    owners[is_border, 1] = NOTHING
    is_linked = body.is_linked[kept] & ~is_border
    corners = body.corners[is_ours[:-1]]
    used = np.unique(corners)
    vertex = np.full(len(body.vertices), -1)
    vertex[used] = np.arange(len(used))
    tetrahedron = np.append(np.cumsum(is_ours[:-1]) - 1, NOTHING)
    # small faces of a split neighbor have vertices of their own
    extra = np.setdiff1d(np.unique(faces), used)
    vertex[extra] = len(used) + np.arange(len(extra))
    middles = vertex[body.middles]
    middles = middles[(middles >= 0).all(axis=1)]
    middles[:, :2].sort(axis=1)
    vertices = body.vertices[np.append(used, extra)]
    is_inside = body.is_inside[kept] | was_between
    return Tetrahedra(vertices, vertex[corners], vertex[faces], tetrahedron[owners], is_linked, is_inside, middles)
