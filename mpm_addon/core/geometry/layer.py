"""The layer at a shape's surface, and the normals of the nearest surface points.

The layer of a closed shape lies just below its surface. A mesh or outline with openings too large to be a solid collider (a plane, a
bowl) is a sheet, with half of its layer on either side.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..scene.shape import Floats, Shape
from .outline import Outline
from .region import region_of
from .shapes import ClosedForm, Mesh
from .thickness import is_solid

# approximate number of points that measure a layer's volume
VOLUME_POINTS = 2e5


def is_sheet(shape: Shape) -> bool:
    """Whether a shape is a surface without an inside."""
    return isinstance(shape, Mesh | Outline) and not is_solid(shape)


@dataclass(frozen=True, eq=False)
class Layer(ClosedForm):
    """The layer at the surface of a closed form, a mesh or an outline.

    Attributes:
        body: the shape; a mesh that is not a sheet must be closed.
        thickness: [m].
        dimension: 3, or 2 for the layer of a section.
    """

    kind: ClassVar[str] = "layer"

    body: Shape
    thickness: float
    dimension: int = 3

    def bounds(self) -> Floats:
        return self.body.bounds() + np.array([[-0.5], [0.5]]) * self.thickness * is_sheet(self.body)

    def signed_distance(self, points: Floats) -> Floats:
        """The signed distance [m] (n,); in the middle of the shape, near two sides, a bound with the right sign."""
        if not is_sheet(self.body):
            distance = self.body.signed_distance(points)
            return np.maximum(distance, -distance - self.thickness)
        if isinstance(self.body, Outline):
            return self.body.distance_from_sheet(points)[0] - 0.5 * self.thickness
        return self.body.surface.distance(points) - 0.5 * self.thickness  # type: ignore[attr-defined]

    def distance_and_normal(self, points: Floats) -> tuple[Floats, Floats]:
        return self.signed_distance(points), outward_normals(self.body, points)

    def volume(self) -> float:
        """The layer's volume [m^3], in 2D its area [m^2]: to about 0.2 %, from points spread evenly over the blocks that it touches."""
        return self._volume

    @cached_property
    def _volume(self) -> float:
        region = region_of(self, self.thickness, self.dimension)
        blocks = region.blocks[~region.is_inside]
        share = 1.0
        if len(blocks):
            parts = int(np.clip(round((VOLUME_POINTS / len(blocks)) ** (1.0 / self.dimension)), 2, 32))
            axes = [np.arange(parts) if axis != 1 or self.dimension == 3 else [0] for axis in range(3)]
            corners = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
            places = (blocks[:, None] * parts + corners).reshape(-1, 3)
            points = region.low + (places + np.random.default_rng(0).random(places.shape)) * (region.edge / parts)
            points[:, 1] *= self.dimension - 2
            share = float((self.signed_distance(points) < 0.0).mean())
        return float((np.count_nonzero(region.is_inside) + share * len(blocks)) * region.edge**self.dimension)


def outward_normals(shape: Shape, points: Floats) -> Floats:
    """The unit normals, outward, of the surface points that are nearest to points (n, 3); shape (n, 3).

    Those of a mesh are the normals of its triangles; those of a sheet point to the side from which the triangles run counterclockwise.
    """
    if isinstance(shape, Layer):
        return outward_normals(shape.body, points)
    if isinstance(shape, ClosedForm):
        return shape.distance_and_normal(points)[1]
    if not isinstance(shape, Mesh):
        raise TypeError(f"no normals for a shape of kind {shape.kind!r}")
    triangles, _ = shape.surface.closest(points)
    first, second, third = np.moveaxis(shape.vertices[shape.triangles[triangles]], 1, 0)
    normals = np.cross(second - first, third - first)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return -normals if not is_sheet(shape) and shape.is_inverted else normals
