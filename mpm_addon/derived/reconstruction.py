"""One mesh around particles: smoothed particles, marching cubes and weighted smoothing by splashsurf.

Source: Löschner, Böttcher, Jeske and Bender 2023, Weighted Laplacian smoothing for surface reconstruction of particle-based fluids.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..storage.installation import require
from ..storage.mesh_encoding import in_order_of_use
from ..storage.surface_file import POSITION, SurfacePiece
from . import drops
from .interior import Interior
from .particles import Cloud
from .settings import Recipe

# Weights of the smoothing, as published.
_WEIGHTS = 13.0
# With voxels larger than this [radii], removing small bumps would also remove single-particle drops, which have few faces.
_COARSE = 1.4
# Voxels along the edges of the boxes that are reconstructed one by one: of a million particles, a tenth faster than the usual 64.
_BOX = 48
# Scalars that are interpolated at once.
_GROUP = 3


def reconstruct(cloud: Cloud, recipe: Recipe, voxel: float | None) -> tuple[SurfacePiece, float]:
    """The mesh around particles, and its voxel size [m].

    Args:
        cloud: the particles.
        recipe: how to make it.
        voxel: the edge of a voxel [m], instead of that in the recipe.

    Raises:
        SceneError: pysplashsurf is missing.
    """
    splashsurf = require("pysplashsurf", "pysplashsurf", "making surfaces")
    edge = 0.5 * recipe.voxel * cloud.spacing if voxel is None else voxel
    if cloud.is_grainy:
        return _mesh(splashsurf, cloud, recipe.of_grains, edge), edge
    is_loose = drops.are_loose(cloud.position, cloud.spacing)
    if not is_loose.any():
        return _mesh(splashsurf, cloud, recipe, edge), edge
    loose = cloud.only(is_loose)
    piece = _mesh(splashsurf, loose, recipe.of_drops, edge)
    if len(piece.triangles):
        position = drops.with_volumes(piece.position, piece.triangles, loose.position, cloud.spacing)
        piece = replace(piece, arrays={**piece.arrays, POSITION: position.astype(np.float32)})
    if not is_loose.all():
        piece = _joined(_mesh(splashsurf, cloud.only(~is_loose), recipe, edge), piece)
    return piece, edge


def _mesh(splashsurf: Any, cloud: Cloud, recipe: Recipe, edge: float) -> SurfacePiece:
    """The mesh around particles with voxels of an edge [m]."""
    radius = 0.5 * cloud.spacing
    # keeps precision far from the origin
    center = 0.5 * (cloud.position.min(axis=0) + cloud.position.max(axis=0)).astype(np.float64)
    center = np.round(center / edge) * edge
    interior = Interior(cloud.position, cloud.spacing, recipe.depth + edge / cloud.spacing)
    cloud = cloud.only(~interior.is_deep)
    asked = _asked(cloud)
    made, _reconstruction = splashsurf.reconstruction_pipeline(
        (cloud.position - center).astype(np.float32),
        attributes_to_interpolate=_packed(asked),
        particle_radius=radius,
        smoothing_length=recipe.reach,
        cube_size=edge / radius,
        subdomain_num_cubes_per_dim=_BOX,
        iso_surface_threshold=recipe.threshold,
        mesh_smoothing_iters=recipe.smoothing,
        mesh_smoothing_weights_normalization=_WEIGHTS,
        mesh_cleanup=True,
        decimate_barnacles=edge <= _COARSE * radius,
    )
    triangles = _proper(np.asarray(made.mesh.triangles))
    is_of_cavity = interior.contains(np.asarray(made.mesh.vertices) + center)
    triangles, used = in_order_of_use(triangles[~is_of_cavity[triangles[:, 0]]])
    position = (np.asarray(made.mesh.vertices)[used] + center).astype(np.float32)
    told = _unpacked({name: np.asarray(values)[used] for name, values in made.point_attributes.items()}, asked)
    return SurfacePiece(cloud.name, triangles.astype(np.int32), {POSITION: position, **_answered(cloud, told, len(used))})


def _joined(body: SurfacePiece, loose: SurfacePiece) -> SurfacePiece:
    """One mesh of two, with the same attributes."""
    triangles = np.concatenate([body.triangles, loose.triangles + np.int32(len(body.position))])
    arrays = {name: np.concatenate([values, loose.arrays[name]]) for name, values in body.arrays.items()}
    return SurfacePiece(body.name, triangles, arrays)


def _proper(triangles: NDArray[Any]) -> NDArray[Any]:
    """The triangles with three distinct vertices."""
    first, second, third = triangles.T
    return triangles[(first != second) & (second != third) & (third != first)]


def _asked(cloud: Cloud) -> dict[str, NDArray[np.float32]]:
    """The values to interpolate: scalars and vectors, other values by component, and the share of each index."""
    asked: dict[str, NDArray[np.float32]] = {}
    for name, values in cloud.values.items():
        if values.ndim == 1 or values.shape[1] == 3:
            asked[name] = np.ascontiguousarray(values)
        else:
            asked |= {f"{name}[{index}]": np.ascontiguousarray(column) for index, column in enumerate(values.T)}
    for name, numbers in cloud.numbers.items():
        known = np.unique(numbers)
        if len(known) > 1:
            asked |= {f"{name}={number}": (numbers == number).astype(np.float32) for number in known}
    return asked


def _packed(asked: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
    """The values with scalars in groups of three, as vectors: each costs a search of the particles around every vertex."""
    packed = {f"vector {name}": values for name, values in asked.items() if values.ndim == 2}
    for number, names in enumerate(_groups(asked)):
        columns = [asked[name] for name in names]
        columns += (_GROUP - len(names)) * [np.zeros_like(columns[0])]
        packed[f"group {number}"] = np.ascontiguousarray(np.column_stack(columns))
    return packed


def _unpacked(told: Mapping[str, NDArray[Any]], asked: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[Any]]:
    """What `_packed` put together, by the names in `asked`."""
    unpacked = {name: told[f"vector {name}"] for name, values in asked.items() if values.ndim == 2}
    for number, names in enumerate(_groups(asked)):
        unpacked |= dict(zip(names, told[f"group {number}"].T, strict=False))
    return unpacked


def _groups(asked: Mapping[str, NDArray[np.float32]]) -> list[list[str]]:
    names = [name for name, values in asked.items() if values.ndim == 1]
    return [names[first : first + _GROUP] for first in range(0, len(names), _GROUP)]


def _answered(cloud: Cloud, told: Mapping[str, NDArray[Any]], count: int) -> dict[str, NDArray[Any]]:
    """The attributes at `count` vertices; an index is that of most particles nearby."""
    answered: dict[str, NDArray[Any]] = {}
    for name, values in cloud.values.items():
        columns = [told[f"{name}[{index}]"] for index in range(values.shape[1])] if name not in told else []
        array = np.column_stack(columns) if columns else told[name]
        answered[name] = np.nan_to_num(array, posinf=0.0, neginf=0.0).astype(np.float32)
    for name, numbers in cloud.numbers.items():
        known = np.unique(numbers)
        shares = [told[f"{name}={number}"] for number in known] if len(known) > 1 else [np.zeros(count)]
        answered[name] = known[np.argmax(shares, axis=0)].astype(np.int32)
    return answered
