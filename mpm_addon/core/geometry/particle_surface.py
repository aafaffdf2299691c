"""The surface of a cluster of particles, as a closed mesh. Plain numpy.

The fullness of space is spread from the particles to nodes, and the surface is where it is one half: at a flat face of a filled space,
that is exactly the face. Cells are divided into six tetrahedra around a diagonal (Freudenthal 1942), each of which the surface cuts in a
triangle or a quadrilateral (Doi and Koide 1991), so that the mesh is always closed and never meets itself.
"""

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# the distance of nodes, in edges of a particle's cube: particles that are not quite regular leave no holes
NODE_SPACING = 1.5
# an edge is cut no nearer to its ends than this share of it, so that no triangle degenerates
LEAST_SHARE = 0.1
LEVEL = 0.5
# the corners of a cell's six tetrahedra, as steps along the axes, (6, 4, 3)
_PATHS = np.array(
    [np.cumsum([[0, 0, 0], *(np.eye(3, dtype=np.int64)[axis] for axis in axes)], axis=0) for axes in itertools.permutations(range(3))]
)
# the edges that the surface cuts, by the number of corners inside, which come first
_CASES = ((1, ((0, 1), (0, 2), (0, 3))), (3, ((0, 3), (1, 3), (2, 3))), (2, ((0, 2), (0, 3), (1, 3), (1, 2))))


class ParticleSurface(NamedTuple):
    """A closed mesh: vertices [m], (n, 3), and triangles, (m, 3), counterclockwise seen from outside."""

    vertices: Floats
    triangles: Ints

    @property
    def volume(self) -> float:
        """The volume that it encloses [m^3]."""
        a, b, c = np.moveaxis(self.vertices[self.triangles], 1, 0)
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def particle_surface(position: Floats, volume: Floats, level: float = LEVEL) -> ParticleSurface:
    """The surface of particles.

    Args:
        position: [m], shape (n, 3).
        volume: of each [m^3], shape (n,).
        level: the fullness at the surface; a lower one takes in what is thin.
    """
    spacing = NODE_SPACING * float(volume.mean()) ** (1.0 / 3.0)
    cells = position / spacing
    low = np.floor(cells.min(axis=0)).astype(np.int64) - 2
    size = tuple(np.floor(cells.max(axis=0)).astype(np.int64) + 4 - low)
    fullness = _fullness(cells - low, volume / spacing**3, size)
    cut, points = _cuts(fullness - level)
    # the two nodes of the edge that each vertex lies on
    edges, places = np.unique(cut.reshape(-1, 2), axis=0, return_inverse=True)
    nodes = np.stack(np.unravel_index(edges, size), axis=-1).astype(np.float64)
    excess = (fullness - level).ravel()[edges]
    share = np.clip(excess[:, 0] / (excess[:, 0] - excess[:, 1]), LEAST_SHARE, 1.0 - LEAST_SHARE)
    vertices = nodes[:, 0] + share[:, None] * (nodes[:, 1] - nodes[:, 0])
    triangles = places.reshape(-1, 3)
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    is_inverted = (normals * points).sum(axis=1) < 0.0
    triangles[is_inverted] = triangles[is_inverted][:, ::-1]
    return ParticleSurface((vertices + low) * spacing, triangles)


def _fullness(cells: Floats, share: Floats, size: tuple[int, ...]) -> Floats:
    """The share of the space around nodes that is occupied, by quadratic splines, from positions and volumes in cells."""
    base = np.floor(cells - 0.5).astype(np.int64)
    away = cells - base
    weights = np.stack([0.5 * (1.5 - away) ** 2, 0.75 - (away - 1.0) ** 2, 0.5 * (away - 0.5) ** 2], axis=1)
    result = np.zeros(int(np.prod(size)))
    for steps in itertools.product(range(3), repeat=3):
        its = share * weights[:, steps[0], 0] * weights[:, steps[1], 1] * weights[:, steps[2], 2]
        result += np.bincount(np.ravel_multi_index(tuple((base + steps).T), size), its, len(result))
    return result.reshape(size)


def _cuts(excess: Floats) -> tuple[Ints, Floats]:
    """The triangles in which a surface cuts the tetrahedra of cells, whose nodes inside have a positive excess.

    Returns:
        (m, 3, 2): the nodes inside and outside of the edge on which each corner lies, and (m, 3): the way out.
    """
    size = np.array(excess.shape)
    cells = np.stack(np.meshgrid(*(np.arange(count - 1) for count in size), indexing="ij"), axis=-1).reshape(-1, 3)
    inside = excess > 0.0
    corners = np.stack([inside[tuple((cells + step).T)] for step in itertools.product((0, 1), repeat=3)], axis=1)
    cells = cells[corners.any(axis=1) & ~corners.all(axis=1)]
    places = (cells[:, None, None, :] + _PATHS[None]).reshape(-1, 4, 3)
    nodes = np.asarray(np.ravel_multi_index(tuple(np.moveaxis(places, -1, 0)), excess.shape))
    is_in = inside.ravel()[nodes]
    found, ways = [], []
    for count, chosen in _CASES:
        its = np.flatnonzero(is_in.sum(axis=1) == count)
        # those inside first
        order = np.argsort(~is_in[its], axis=1, kind="stable")
        tetrahedra, where = np.take_along_axis(nodes[its], order, 1), np.take_along_axis(places[its], order[..., None], 1)
        way = where[:, count:].mean(axis=1) - where[:, :count].mean(axis=1)
        edges = np.stack([tetrahedra[:, list(pair)] for pair in chosen], axis=1)
        for triangle in ([0, 1, 2],) if len(chosen) == 3 else ([0, 1, 2], [0, 2, 3]):
            found.append(edges[:, triangle])
            ways.append(way)
    return np.concatenate(found), np.concatenate(ways)
