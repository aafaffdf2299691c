"""Which particles of an emitter a vertex of its mesh may follow: those of the material around the vertex's own loose part."""

import numpy as np
from numpy.typing import NDArray

from ..core.components import components
from ..core.geometry import mesh_topology
from .neighbors import Floats, Integers, nearest

# Cells of the plane in which triangles are sorted, along its longer side, at most.
_MOST_CELLS = 1024
# Pairs of a particle and a triangle that are tested at once.
_PIECE = 2_000_000
# Rays do not go through edges and corners of regular meshes.
_ASIDE = np.array([0.38196601e-6, 0.61803399e-6])
NOWHERE = -1


def matter_of(vertices: Floats, triangles: Integers, particles: Floats, reach: float) -> tuple[Integers, Integers]:
    """The connected material that each vertex and each particle belongs to, numbered.

    Loose parts of the mesh that overlap, so that a particle is inside both, are one material. Particles inside none belong to the
    nearest vertex.

    Args:
        vertices: [m], shape (n, 3).
        triangles: shape (m, 3).
        particles: [m], shape (p, 3), at least one.
        reach: about the distance between particles [m].

    Returns:
        The numbers of the vertices (n,), NOWHERE for those whose part has no particles, and of the particles (p,).
    """
    part = mesh_topology.loose_parts(vertices, triangles)
    used = np.unique(triangles)
    known = np.unique(part[used])
    if len(known) <= 1:
        return np.zeros(len(vertices), np.int64), np.zeros(len(particles), np.int64)
    particle, inside = _insides(*_capped(vertices, triangles, part), particles)
    label = np.arange(len(vertices) + len(particles))
    # a particle inside two parts connects them
    own = components(len(vertices) + particle, inside, len(label))
    label[len(vertices) + particle], label[inside] = own, own
    of_particle = label[len(vertices) :]
    lost = np.setdiff1d(np.arange(len(particles)), particle)
    if len(lost):
        of_particle[lost] = label[part[used[nearest(vertices[used], particles[lost], 1, reach).number[:, 0]]]]
    of_vertex = label[part]
    of_vertex[~np.isin(of_vertex, of_particle)] = NOWHERE
    return of_vertex, of_particle


def _capped(vertices: Floats, triangles: Integers, part: Integers) -> tuple[Floats, Integers, Integers]:
    """The mesh with its holes closed, and the part of each triangle."""
    vertices, triangles = mesh_topology.capped(vertices, triangles)
    # every triangle of a cap has an edge of the mesh
    return vertices, triangles, part[triangles[:, 0]]


def _insides(vertices: Floats, triangles: Integers, part: Integers, points: Floats) -> tuple[Integers, Integers]:
    """Points and the parts that they are inside of, in pairs: a ray upward from the point crosses the part an odd number of times.

    Args:
        vertices, triangles: a closed mesh.
        part: the part of each triangle (m,).
        points: shape (p, 3).
    """
    corners = vertices[triangles]
    low, high = corners.min(axis=1), corners.max(axis=1)
    start = low[:, :2].min(axis=0)
    size = float(np.median((high - low)[:, :2].max(axis=1)))
    edge = max(size, float((high[:, :2].max(axis=0) - start).max()) / _MOST_CELLS)
    position = points + np.append(_ASIDE * edge, 0.0)
    first, last = (np.floor((each[:, :2] - start) / edge).astype(np.int64) for each in (low, high))
    width = int(last[:, 1].max()) + 1
    key_of_triangle, triangle = _covered(first, last, width)
    order = np.argsort(key_of_triangle, kind="stable")
    keys, triangle = key_of_triangle[order], triangle[order]
    cells = np.floor((position[:, :2] - start) / edge).astype(np.int64)
    is_over = ((cells >= 0) & (cells <= last.max(axis=0))).all(axis=1)
    key = np.where(is_over, cells[:, 0] * width + cells[:, 1], -1)
    begins, ends = np.searchsorted(keys, key, "left"), np.searchsorted(keys, key, "right")
    crossed: list[NDArray[np.int64]] = []
    total = np.cumsum(ends - begins)
    begin = 0
    while begin < len(points):
        done = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, done + _PIECE, "right")))
        counts = (ends - begins)[begin:end]
        point = np.repeat(np.arange(begin, end), counts)
        place = np.arange(len(point)) + np.repeat(begins[begin:end] - np.cumsum(counts) + counts, counts)
        is_hit = _is_above(corners[triangle[place]], position[point])
        crossed.append(np.column_stack([point[is_hit], part[triangle[place[is_hit]]]]))
        begin = end
    pairs, counts = np.unique(np.concatenate(crossed), axis=0, return_counts=True)
    odd = pairs[counts % 2 == 1]
    return odd[:, 0], odd[:, 1]


def _covered(first: Integers, last: Integers, width: int) -> tuple[Integers, Integers]:
    """The keys of the cells that each triangle's bounds cover, and the triangles."""
    extent = last - first + 1
    counts = extent.prod(axis=1)
    triangle = np.repeat(np.arange(len(first)), counts)
    place = np.arange(len(triangle)) - np.repeat(np.cumsum(counts) - counts, counts)
    row, column = np.divmod(place, extent[triangle, 1])
    return (first[triangle, 0] + row) * width + first[triangle, 1] + column, triangle


def _is_above(corners: Floats, points: Floats) -> NDArray[np.bool_]:
    """Whether a vertical ray upward from each point (k, 3) meets its triangle (k, 3, 3)."""
    arms = corners - points[:, None]
    x, y = arms[..., 0], arms[..., 1]
    areas = [x[:, i] * y[:, j] - x[:, j] * y[:, i] for i, j in ((1, 2), (2, 0), (0, 1))]
    whole = areas[0] + areas[1] + areas[2]
    signs = [area > 0.0 for area in areas]
    is_within = (signs[0] == signs[1]) & (signs[1] == signs[2]) & (whole != 0.0)
    height = sum(area * arms[:, number, 2] for number, area in enumerate(areas))
    return is_within & (height * np.sign(whole) > 0.0)
