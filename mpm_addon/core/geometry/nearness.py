"""Finding free places: candidates at least a radius away from existing points and from the candidates taken before."""

import math

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from .mesh_topology import Floats


def free_places(candidates: Floats, present: Floats, radius: float, *, most: int, is_mutual: bool) -> NDArray[np.bool_]:
    """Take candidates one by one if no other point is near.

    Args:
        candidates: [m], shape (n, 3).
        present: existing points [m], shape (k, 3).
        radius: the least distance from other points [m], above 0.
        most: the greatest number to take.
        is_mutual: whether candidates must also keep this distance from those taken before.

    Returns:
        Whether each candidate is taken, shape (n,).
    """
    count = len(candidates) + len(present)
    size = 1 << (2 * count + 16).bit_length()
    heads, links = np.full(size, -1, np.int32), np.empty(count, np.int32)
    points, is_taken = np.concatenate([present, candidates]), np.zeros(len(candidates), np.bool_)
    if most > 0:
        _take(points, len(present), float(radius), most, is_mutual, heads, links, is_taken)
    return is_taken


@kernel
def _bucket(i, j, k, mask):
    """The bucket of a hash table for the cell (i, j, k) (Teschner et al. 2003); cells may share one."""
    return ((i * 73856093) ^ (j * 19349663) ^ (k * 83492791)) & mask


@kernel
def _take(points, present_count, radius, most, is_mutual, heads, links, is_taken):
    """Take points after the first `present_count`; `heads` and `links` hold a linked list of points per bucket, ending with -1."""
    mask = heads.size - 1
    taken = 0
    for index in range(len(points)):
        x, y, z = points[index]
        i, j, k = math.floor(x / radius), math.floor(y / radius), math.floor(z / radius)
        if index >= present_count:
            if taken == most:
                return
            if _is_near(points, index, (i, j, k), radius, heads, links):
                continue
            is_taken[index - present_count] = True
            taken += 1
            if not is_mutual:
                continue
        bucket = _bucket(i, j, k, mask)
        links[index] = heads[bucket]
        heads[bucket] = index


@kernel
def _is_near(points, index, cell, radius, heads, links):
    """Whether a point of the hash table is nearer than the radius to the point `index`, in `cell`."""
    x, y, z = points[index]
    i, j, k = cell
    mask = heads.size - 1
    for di in range(-1, 2):
        for dj in range(-1, 2):
            for dk in range(-1, 2):
                other = heads[_bucket(i + di, j + dj, k + dk, mask)]
                while other >= 0:
                    dx, dy, dz = points[other, 0] - x, points[other, 1] - y, points[other, 2] - z
                    if dx * dx + dy * dy + dz * dz < radius * radius:
                        return True
                    other = links[other]
    return False
