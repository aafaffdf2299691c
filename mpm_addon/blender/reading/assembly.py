"""The surface of an object from its own mesh and those that it instances, in local space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.errors import SceneError
from ..host.meshes import Counts, Floats, Geometry, Triangles, check_finite, check_scale, moved

# Largest difference between samples of the instances that counts as float32 rounding, relative to their distance from the origin.
_ROUNDING = 2e-6


class Part(NamedTuple):
    """A mesh and its transform: world from part (4, 4)."""

    geometry: Geometry
    matrix: Floats
    is_own: bool


@dataclass(frozen=True)
class Surface:
    """The constant part of a mesh whose vertices move.

    Attributes:
        triangles: (m, 3).
        counts: number of vertices, faces and corners.
        painting: name -> values of each vertex (n, components), or of each corner (m, 3, components).
        tolerance: the largest difference between equal vertices [Blender units].
        frame: the frame at which it was read.
        is_cloud, velocity: see `Geometry`; never set for instances.
    """

    triangles: Triangles
    counts: Counts
    painting: dict[str, Floats]
    tolerance: float
    frame: float
    is_cloud: bool = False
    velocity: NDArray[np.float32] | None = None


def assembled(parts: Sequence[Part], matrix: Floats, subject: str, frame: float) -> tuple[NDArray[Any], Surface]:
    """The vertices (n, 3) in local space, and the surface.

    Args:
        parts: the meshes, in Blender's order.
        matrix: world from object (4, 4).

    Raises:
        SceneError: the object's scale is zero, or something is painted on only some of the meshes.
    """
    if len(parts) == 1 and parts[0].is_own:
        geometry = parts[0].geometry
        return geometry.vertices, Surface(
            geometry.triangles, geometry.counts, geometry.painting, 0.0, frame, geometry.is_cloud, geometry.velocity
        )
    check_scale(matrix, subject, frame)
    inverse = np.linalg.inv(matrix)
    vertices, triangles, paintings = [], [], []
    start = 0
    for geometry, world, is_own in parts:
        check_finite(world, subject, frame)
        local = np.eye(4) if is_own else inverse @ world
        is_mirrored = np.linalg.det(local[:3, :3]) < 0.0
        vertices.append(moved(geometry.vertices, local))
        triangles.append((geometry.triangles[:, ::-1] if is_mirrored else geometry.triangles) + start)
        paintings.append({name: _turned(values, is_mirrored=is_mirrored) for name, values in geometry.painting.items()})
        start += len(geometry.vertices)
    together = np.concatenate(vertices)
    reach = max(float(np.abs(world[:3, 3]).max()) for _, world, _ in parts) + float(np.ptp(together, axis=0).max(initial=0.0))
    shrinkage = float(np.linalg.norm(inverse[:3, :3], ord=2))
    counts = tuple(int(sum(part.geometry.counts[index] for part in parts)) for index in range(3))
    painting = {name: _joined([painting[name] for painting in paintings], name, subject) for name in paintings[0]}
    surface = Surface(np.concatenate(triangles), (counts[0], counts[1], counts[2]), painting, _ROUNDING * reach * shrinkage, frame)
    return together, surface


def _turned(values: Floats, *, is_mirrored: bool) -> Floats:
    return values[:, ::-1] if is_mirrored and values.ndim == 3 else values


def _joined(values: list[Floats], name: str, subject: str) -> Floats:
    if len({each.shape[1:] for each in values}) > 1:
        raise SceneError(
            f'its attribute "{name}" differs between the meshes that it consists of',
            "use one domain and one type in all of them",
            subject=subject,
        )
    return np.concatenate(values)
