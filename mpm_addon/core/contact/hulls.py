"""Convex surfaces in the world, and the contacts that are found between them: what the kernels of contact between hulls share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import generic

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# the most contacts of a pair; between two faces, the outermost in as many directions
MOST_CONTACTS = 8


class Hulls(NamedTuple):
    """The hulls of n surfaces, in world coordinates; see `geometry.hull.Hull`. A plane has a face and no vertices.

    Attributes:
        first_vertex, first_face, first_edge: where the vertices, faces and edges of each begin, shape (n + 1,).
        first_corner, corners: where the loop of each face begins, shape (faces + 1,), and the vertices of all loops.
        edges: two vertices and two faces, shape (edges, 4).
        radius: distance of the surface outside of the vertices [m], shape (n,).
        margins: how near contacts of each are found [m], shape (n,); those of a pair are added.
        vertices: [m], shape (vertices, 3).
        normals, heights: of the faces, shapes (faces, 3) and (faces,) [m].
        middles: of the vertices of each [m], shape (n, 3).
    """

    first_vertex: Ints
    first_face: Ints
    first_edge: Ints
    first_corner: Ints
    corners: Ints
    edges: Ints
    radius: Floats
    margins: Floats
    vertices: Floats
    normals: Floats
    heights: Floats
    middles: Floats


class Found(NamedTuple):
    """Contacts that were found: results of kernels, with room for `MOST_CONTACTS` of each pair.

    Attributes:
        pairs: number of the pair, shape (n,).
        points: midway between the surfaces [m]; normals: unit, from the second surface to the first. Shape (n, 3).
        gaps: distance [m], negative where they overlap, shape (n,).
    """

    pairs: Ints
    points: Floats
    normals: Floats
    gaps: Floats


def room_for(count: int) -> Found:
    """Room for the contacts of some pairs."""
    most = MOST_CONTACTS * count
    return Found(np.empty(most, np.int64), np.empty((most, 3)), np.empty((most, 3)), np.empty(most))


@generic
def add_contact(found, count, pair, point, normal, gap):
    """Add a contact if there is room; a point, a normal and a gap as in `Found`. Returns the number of contacts."""
    at = count
    if at > 0 and at >= MOST_CONTACTS and found.pairs[at - MOST_CONTACTS] == pair:
        return count
    found.pairs[at] = pair
    found.points[at, 0], found.points[at, 1], found.points[at, 2] = point
    found.normals[at, 0], found.normals[at, 1], found.normals[at, 2] = normal
    found.gaps[at] = gap
    return count + 1


@generic
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@generic
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@generic
def minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@generic
def along(a, share, b):
    """a + share b."""
    return a[0] + share * b[0], a[1] + share * b[1], a[2] + share * b[2]


@generic
def row(values, number):
    """A row of an array (n, 3) as three numbers."""
    return values[number, 0], values[number, 1], values[number, 2]


@generic
def closest_on_lines(a, u, b, v):
    """The shares s, t of the nearest points a + s u and b + t v of two segments, each from 0 to 1 (Ericson 2005, section 5.1.9)."""
    between = minus(a, b)
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    ub, vb = dot(u, between), dot(v, between)
    if uu == 0.0 and vv == 0.0:
        return 0.0, 0.0
    if uu == 0.0:
        return 0.0, min(max(vb / vv, 0.0), 1.0)
    if vv == 0.0:
        return min(max(-ub / uu, 0.0), 1.0), 0.0
    determinant = uu * vv - uv * uv
    s = 0.0
    if determinant > 1e-12 * uu * vv:
        s = min(max((uv * vb - ub * vv) / determinant, 0.0), 1.0)
    t = (uv * s + vb) / vv
    if t < 0.0:
        return min(max(-ub / uu, 0.0), 1.0), 0.0
    if t > 1.0:
        return min(max((uv - ub) / uu, 0.0), 1.0), 1.0
    return s, t
