"""The tetrahedra of a shape: the Delaunay tetrahedra of its samples that lie inside it."""

import numpy as np

from ..errors import SceneError
from ..geometry.shapes import Mesh
from ..scene.shape import Shape
from .delaunay import delaunay, volumes
from .samples import samples_of, triangulated
from .tetrahedra import Tetrahedra, from_corners

# the volume of a tetrahedron, in cubes of the distance of the samples, and how often that distance is corrected
_SHARE, _TRIALS = 0.16, 6
# the count is close enough within this share
_CLOSE = 0.05
# tetrahedra with less than this share of the mean volume are flat: they lie in a face of the shape
_FLAT = 1e-5


def tetrahedra_of(shape: Shape, count: int, seed: int, subject: str) -> Tetrahedra:
    """About `count` tetrahedra that fill a shape.

    A convex shape with flat faces is filled exactly; of others, details finer than a tetrahedron are lost.

    Raises:
        SceneError: with `subject`, if the shape is too thin for so few tetrahedra.
    """
    mesh = triangulated(shape)
    best: Tetrahedra | None = None
    spacing = (mesh.volume() / (_SHARE * count)) ** (1.0 / 3.0)
    for _ in range(_TRIALS):
        found = _meshed(mesh, spacing, seed)
        if found is not None and (best is None or abs(len(found.corners) - count) < abs(len(best.corners) - count)):
            best = found
        size = 1 if found is None else len(found.corners)
        if abs(size - count) <= _CLOSE * count:
            break
        spacing *= min(1.5, max(0.6, (size / count) ** (1.0 / 3.0)))
    if best is None or not 0.5 < float(best.volumes.sum()) / mesh.volume() < 2.0:
        raise SceneError(f"{count} tetrahedra do not fill it", "use more tetrahedra, or a simpler shape", subject=subject)
    return best


def _meshed(mesh: Mesh, spacing: float, seed: int) -> Tetrahedra | None:
    random = np.random.default_rng(seed)
    points = samples_of(mesh, spacing, random)
    if len(points) < 4:
        return None
    try:
        corners = delaunay(points, random)
    except ValueError:
        return None
    sizes = volumes(points, corners)
    corners = corners[sizes > _FLAT * np.abs(sizes).mean()]
    corners = corners[mesh.signed_distance(points[corners].mean(axis=1)) < 0.0]
    return from_corners(points, corners) if len(corners) else None
