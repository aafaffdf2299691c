"""Loose drops of few particles, which a surface must not lose: weighted smoothing shrinks what is small, and in the end to nothing.

Source of the problem and of smoothing by the number of neighbors: Löschner, Böttcher, Jeske and Bender 2023, section 4.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.components import components
from ..core.geometry.mesh_topology import loose_parts
from .neighbors import Floats, nearest

# Particles in neighboring cells of this edge [spacings] are not loose from one another.
_CELL = 3.0
# A drop has fewer particles; more lose a tenth of their volume at most.
_FEWEST_OF_A_BODY = 1000
# How far its farthest particle is from its middle at most, relative to a ball: threads and sheets are not scaled.
_LONGEST = 2.0
# How much a drop is scaled at least and at most.
_LEAST, _MOST = 0.5, 2.0
# Half of the 26 cells around one: each pair of neighbors is found once.
_AROUND = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) > (0, 0, 0)]


def are_loose(position: NDArray[Any], spacing: float) -> NDArray[np.bool_]:
    """Which particles belong to a drop, (n,).

    Args:
        position: [m], (n, 3).
        spacing: the typical distance between particles [m].
    """
    cells = np.floor((position - position.min(axis=0)) / (_CELL * spacing))
    # a particle that flew far away shares a cell with others like it
    cells = np.minimum(cells, (1 << 20) - 3).astype(np.int64) + 1
    keys, place, count = np.unique((cells[:, 0] << 42) | (cells[:, 1] << 21) | cells[:, 2], return_inverse=True, return_counts=True)
    starts, ends = [np.arange(len(keys))], [np.arange(len(keys))]
    for x, y, z in _AROUND:
        other = keys + (x << 42) + (y << 21) + z
        at = np.minimum(np.searchsorted(keys, other), len(keys) - 1)
        found = np.flatnonzero(keys[at] == other)
        starts.append(found)
        ends.append(at[found])
    label = components(np.concatenate(starts), np.concatenate(ends), len(keys))[: len(keys)]
    total = np.bincount(label, weights=count, minlength=len(keys))
    owner = label[place.ravel()]
    is_small = total[owner] < _FEWEST_OF_A_BODY
    some, of_some = position[is_small].astype(np.float64), owner[is_small]
    distance = np.linalg.norm(some - _middles(some, of_some, len(keys))[of_some], axis=1)
    farthest = np.zeros(len(keys))
    np.maximum.at(farthest, of_some, distance)
    # of a ball with the volume of that many particles
    radius = spacing * np.cbrt(0.75 / np.pi * total)
    is_small[is_small] = (farthest <= _LONGEST * radius)[of_some]
    return is_small


def _middles(points: Floats, part: NDArray[np.int64], count: int) -> Floats:
    """The mean of the points (n, 3) of each part (count, 3); zero for a part without points."""
    total = np.column_stack([np.bincount(part, weights=column, minlength=count) for column in points.T])
    return total / np.maximum(np.bincount(part, minlength=count), 1)[:, None]


def with_volumes(vertices: NDArray[Any], triangles: NDArray[Any], position: NDArray[Any], spacing: float) -> Floats:
    """The vertices (k, 3) of drops, each scaled about its middle until it has the volume of its particles.

    Args:
        vertices: [m], (k, 3).
        triangles: of a closed mesh, (m, 3).
        position: the particles [m], (n, 3).
        spacing: the edge of a particle's share of the volume [m].
    """
    vertices, position = vertices.astype(np.float64), position.astype(np.float64)
    _, part = np.unique(loose_parts(vertices, triangles), return_inverse=True)
    part = _with_cavities(vertices, triangles, part, spacing)
    count = int(part.max()) + 1
    middle, volume = _middles(vertices, part, count), _volumes(vertices, triangles, part, count)
    owner = part[nearest(vertices, position, 1, spacing).number[:, 0]]
    wanted = np.bincount(owner, minlength=count) * spacing**3
    ratio = np.divide(wanted, volume, out=np.ones(count), where=(volume > 0.0) & (wanted > 0.0))
    scale = np.clip(np.cbrt(ratio), _LEAST, _MOST)
    return middle[part] + scale[part, None] * (vertices - middle[part])


def _with_cavities(vertices: Floats, triangles: NDArray[Any], part: NDArray[np.int64], spacing: float) -> NDArray[np.int64]:
    """The part of each vertex (k,), where the surface of a bubble inside a drop, which is turned inward, belongs to the drop."""
    is_cavity = _volumes(vertices, triangles, part, int(part.max()) + 1) < 0.0
    if is_cavity.all() or not is_cavity.any():
        return part
    outer = np.flatnonzero(~is_cavity[part])
    _, first = np.unique(part, return_index=True)
    drop = np.arange(len(is_cavity))
    drop[is_cavity] = part[outer[nearest(vertices[outer], vertices[first[is_cavity]], 1, spacing).number[:, 0]]]
    return np.unique(drop[part], return_inverse=True)[1].ravel()


def _volumes(vertices: Floats, triangles: NDArray[Any], part: NDArray[np.int64], count: int) -> Floats:
    """The volume within the triangles of each part [m^3], (count,), negative if they are turned inward."""
    corners = (vertices - _middles(vertices, part, count)[part])[triangles]
    sixths = np.einsum("nd,nd->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    return np.bincount(part[triangles[:, 0]], weights=sixths, minlength=count) / 6.0
