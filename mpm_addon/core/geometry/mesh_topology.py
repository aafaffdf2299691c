"""Area, volume, holes and orientation of triangle meshes. Plain numpy, because the interface uses it, too.

A mesh is closed if its directed edges cancel: its boundary is then zero, winding numbers are integers and the divergence theorem gives its
volume. An open mesh is repaired by a cone from the center of each rim over the rim's edges, which cancels the boundary whatever the rim
looks like. This closes holes, cancels faces that stick out or divide the inside, and reverses single flipped faces (by a cone over twice
their edges).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..components import components

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def corners(vertices: Floats, triangles: Integers) -> Floats:
    """The corners of all triangles relative to the middle of the bounds, shape (m, 3, 3), so that distant objects remain accurate."""
    return vertices[triangles] - center(vertices, triangles)


def center(vertices: Floats, triangles: Integers) -> Floats:
    """The middle of the bounding box of the vertices that triangles use, shape (3,)."""
    low, high = bounds(vertices, triangles)
    return (low + high) / 2


def bounds(vertices: Floats, triangles: Integers) -> Floats:
    """The bounding box of the vertices that triangles use, shape (2, 3)."""
    is_used = np.zeros(len(vertices), np.bool_)
    is_used[triangles.ravel()] = True
    used = vertices if is_used.all() else vertices[is_used]
    # numpy is slow along the long axis
    return np.array([[column.min(), column.max()] for column in used.T]).T


def area(vertices: Floats, triangles: Integers) -> float:
    """The area of all triangles [m^2]."""
    if len(triangles) == 0:
        return 0.0
    a, b, c = np.moveaxis(corners(vertices, triangles), 1, 0)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def volume(vertices: Floats, triangles: Integers) -> float:
    """The volume of a closed mesh [m^3]: sum of a . (b x c) / 6; negative for an inverted mesh."""
    a, b, c = np.moveaxis(corners(vertices, triangles), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


class Closing(NamedTuple):
    """The caps of a mesh whose vertices may move: the apex of each cap is the mean of its rim's edges.

    Attributes:
        triangles: those of the mesh, then those of the caps, shape (m + c, 3); the apexes follow the mesh's vertices.
        starts, ends: vertices of the rims' edges, shape (e,).
        apexes: the cap of each edge, shape (e,).
        shares: one over the number of ends averaged by each cap's apex, shape (k,).
    """

    triangles: Integers
    starts: Integers
    ends: Integers
    apexes: Integers
    shares: Floats

    def extended(self, values: Floats) -> Floats:
        """Values of the vertices (n, 3), such as positions or velocities, followed by those of the apexes: (n + k, 3)."""
        if len(self.shares) == 0:
            return values
        sums = np.zeros((len(self.shares), 3))
        np.add.at(sums, self.apexes, values[self.starts] + values[self.ends])
        return np.concatenate([values, sums * self.shares[:, None]])


def without_repeats(vertices: Floats, triangles: Integers) -> Integers:
    """The triangles, with repeated ones (the same positions in the same orientation) collapsed to one of their corners.

    The same object if there are none; rows keep their order.
    """
    starts, ends = _directed_edges(triangles)
    edges = np.sort(starts * len(vertices) + ends)
    welded = triangles
    if not (edges[1:] == edges[:-1]).any():
        # without coincident vertices, no two triangles can coincide
        first = first_at_same_place(vertices)
        welded = first[triangles]
        if np.array_equal(welded, triangles):
            return triangles
    turned = np.take_along_axis(welded, (welded.argmin(axis=1)[:, None] + np.arange(3)) % 3, axis=1)
    order = np.lexsort(turned.T)
    is_repeat = np.zeros(len(triangles), np.bool_)
    is_repeat[order[1:]] = (turned[order[1:]] == turned[order[:-1]]).all(axis=1)
    if not is_repeat.any():
        return triangles
    return np.where(is_repeat[:, None], triangles[:, :1], triangles)


def closing(vertices: Floats, triangles: Integers) -> Closing:
    """The caps of a mesh: a cone over the rim of each hole. The triangles are the same object if the mesh is closed.

    Coincident vertices count as one, so that split edges do not count as holes.
    """
    triangles = without_repeats(vertices, triangles)
    nothing = np.zeros(0, np.int64)
    is_closed = Closing(triangles, nothing, nothing, nothing, np.zeros(0))
    if _is_balanced(triangles, len(vertices)):
        return is_closed
    welded = first_at_same_place(vertices)[triangles]
    if _is_balanced(welded, len(vertices)):
        return is_closed
    starts, ends, counts = _rim(welded, len(vertices))
    rims, apexes = np.unique(components(starts, ends, len(vertices)), return_inverse=True)
    apexes = apexes.ravel()
    caps = np.column_stack([ends, starts, len(vertices) + apexes])
    shares = 0.5 / np.bincount(apexes, minlength=len(rims))
    return Closing(np.concatenate([triangles, np.repeat(caps, counts, axis=0)]), starts, ends, apexes, shares)


class Hole(NamedTuple):
    """A hole in a mesh: the number of edges around it, and the area of the cone that closes it [m^2]."""

    edge_count: int
    area: float


def holes(vertices: Floats, triangles: Integers) -> list[Hole]:
    """The holes of a mesh, the largest first: rims of edges with one face each. Fins, inner walls and flipped faces do not count."""
    cover = closing(vertices, triangles)
    if len(cover.shares) == 0:
        return []
    welded = first_at_same_place(vertices)[cover.triangles[: len(triangles)]]
    # triangles collapsed to lines or points do not count as faces
    welded = welded[(welded != np.roll(welded, 1, axis=1)).all(axis=1)]
    ends = np.sort(np.stack(_directed_edges(welded)), axis=0)
    keys, face_counts = np.unique(ends[0] * len(vertices) + ends[1], return_counts=True)
    rim = np.minimum(cover.starts, cover.ends) * len(vertices) + np.maximum(cover.starts, cover.ends)
    is_single = face_counts[np.searchsorted(keys, rim)] == 1
    places = cover.extended(vertices) - center(vertices, triangles)
    a, b, c = places[cover.starts], places[cover.ends], places[len(vertices) + cover.apexes]
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    counts, sums = np.bincount(cover.apexes), np.bincount(cover.apexes, areas)
    is_hole = np.bincount(cover.apexes, is_single) == counts
    found = [Hole(int(count), float(area)) for count, area in zip(counts[is_hole], sums[is_hole], strict=True)]
    return sorted(found, key=lambda hole: -hole.area)


def closed_mesh(vertices: Floats, triangles: Integers) -> tuple[Floats, Integers]:
    """The mesh, facing outward, with its holes capped; the same objects if no change was needed."""
    vertices, capped_triangles = capped(vertices, triangles)
    if volume(vertices, capped_triangles) < 0.0:
        return vertices, capped_triangles[:, ::-1]
    return vertices, capped_triangles


def capped(vertices: Floats, triangles: Integers) -> tuple[Floats, Integers]:
    """The mesh with each hole capped by a cone; the caps follow the mesh's own triangles."""
    cover = closing(vertices, triangles)
    return cover.extended(vertices), cover.triangles


def _directed_edges(triangles: Integers) -> tuple[Integers, Integers]:
    return triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()


def _is_balanced(triangles: Integers, vertex_count: int) -> bool:
    """Whether every directed edge has an opposite one."""
    starts, ends = _directed_edges(triangles)
    return np.array_equal(np.sort(starts * vertex_count + ends), np.sort(ends * vertex_count + starts))


def first_at_same_place(vertices: Floats) -> Integers:
    """For each vertex, the index of one vertex at exactly the same position, common to all vertices there; shape (n,)."""
    order = np.lexsort((vertices + 0.0).T)
    is_new = np.ones(len(vertices), dtype=bool)
    is_new[1:] = (vertices[order[1:]] != vertices[order[:-1]]).any(axis=1)
    first = np.empty(len(vertices), dtype=np.int64)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    return first


def _rim(triangles: Integers, vertex_count: int) -> tuple[Integers, Integers, Integers]:
    """The directed edges that are not canceled: starts, ends, and how often each remains."""
    starts, ends = _directed_edges(triangles)
    keys, edge = np.unique(np.minimum(starts, ends) * vertex_count + np.maximum(starts, ends), return_inverse=True)
    surplus = np.bincount(edge.ravel(), weights=np.sign(ends - starts), minlength=len(keys)).astype(np.int64)
    low, high = np.divmod(keys[surplus != 0], vertex_count)
    surplus = surplus[surplus != 0]
    return np.where(surplus > 0, low, high), np.where(surplus > 0, high, low), np.abs(surplus)


def loose_parts(vertices: Floats, triangles: Integers) -> Integers:
    """For each vertex, a number common to all vertices connected to it by triangles or at the same position, shape (n,)."""
    welded = first_at_same_place(vertices)
    starts, ends = _directed_edges(welded[triangles])
    label = np.arange(len(vertices))
    label[starts] = components(starts, ends, len(vertices))
    return label[welded]
