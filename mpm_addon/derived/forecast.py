"""The size of surfaces, estimated from a few frames before they are made."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.particles import Moment
from ..storage.cache import Cache
from .particles import Cloud, Plan
from .settings import SurfaceSettings

# Number of frames to sample.
_SAMPLES = 3
# A surface of voxels has three triangles for each of their faces in it; smoothed, it has two thirds of the area of the cubes below.
_TRIANGLES = 1.35
# Bytes in a file after compression: of a triangle with half a vertex and its edges, and of half a component of an attribute.
_BYTES, _BYTES_PER_COMPONENT = 5.7, 0.8


class Expected(NamedTuple):
    """The number of triangles in the largest sampled frame, and the mean size of a frame [bytes]."""

    triangles: int
    frame_bytes: int


def forecast(cache: Cache, plan: Plan, settings: SurfaceSettings, moments: Sequence[Moment]) -> Expected:
    """The size of the surfaces of some frames. Raises CacheError."""
    if not moments:
        return Expected(0, 0)
    places = np.unique(np.linspace(0, len(moments) - 1, min(_SAMPLES, len(moments))).round().astype(int))
    counts, sizes = [], []
    for place in places:
        each = [(_triangles(cloud, settings), _components(cloud)) for cloud in plan.clouds(cache.state(moments[place]))]
        counts.append(sum(triangles for triangles, _count in each))
        sizes.append(sum(bytes_of(triangles, components) for triangles, components in each))
    return Expected(round(max(counts)), round(float(np.mean(sizes))))


def bytes_of(triangles: float, components: int) -> float:
    """The size of triangles in a file whose vertices have attributes of so many components [bytes]."""
    return triangles * (_BYTES + _BYTES_PER_COMPONENT * components)


def triangles_of(area: float, voxel: float) -> float:
    """The number of triangles, from the area of the outer faces of the occupied cubes."""
    return _TRIANGLES * area / voxel**2


def _triangles(cloud: Cloud, settings: SurfaceSettings) -> float:
    """Approximate number of triangles of a mesh, from the outer faces of the occupied cubes, whose edges are two spacings."""
    cube = 2.0 * cloud.spacing
    voxel = settings.recipe.voxel * 0.5 * cloud.spacing if settings.voxel_size is None else settings.voxel_size
    cells = np.floor(cloud.position / cube).astype(np.int64)
    cells -= cells.min(axis=0) - 1
    # a single index per cell would overflow for distant particles
    extent = np.minimum(cells.max(axis=0) + 2, 2_000_000)
    keys = np.unique((np.minimum(cells, extent - 1) * [1, extent[0], extent[0] * extent[1]]).sum(axis=1))
    ways = (1, int(extent[0]), int(extent[0] * extent[1]))
    faces = sum(np.count_nonzero(~np.isin(keys + sign * way, keys, assume_unique=True)) for way in ways for sign in (1, -1))
    return triangles_of(faces * cube**2, voxel)


def _components(cloud: Cloud) -> int:
    return sum(1 if values.ndim == 1 else values.shape[1] for values in cloud.values.values())
