"""Volume, center of mass and inertia of a closed mesh. Plain numpy."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import SceneError
from . import mesh_topology
from .mesh_topology import Floats
from .overlap import excess


class MassProperties(NamedTuple):
    """The mass and inertia of a body with a density of 1 kg/m^3.

    Attributes:
        volume: [m^3].
        center: center of mass [m], shape (3,).
        inertia: about the center of mass, along the world's axes [m^5: kg m^2 per kg/m^3], shape (3, 3), symmetric.
    """

    volume: float
    center: Floats
    inertia: Floats


def mass_properties(vertices: ArrayLike, triangles: ArrayLike) -> MassProperties:
    """The mass properties of the inside of a closed mesh of uniform density: integrals of 1, x and x x^T over signed tetrahedra.

    Each triangle forms a tetrahedron with the middle of the bounds. Over one with corners 0, a, b, c and volume V = a . (b x c) / 6
    the integral of x is V s / 4 and that of x x^T is V (a a^T + b b^T + c c^T + s s^T) / 20, with s = a + b + c (Tonon 2004, eq. 7
    and 11). Overlapping parts count twice.

    Args:
        vertices: [m], shape (n, 3).
        triangles: vertex indices, shape (m, 3), of a closed mesh (`Mesh.closed` makes one); either orientation.

    Raises:
        SceneError: the mesh encloses no volume.
    """
    vertices, triangles = np.asarray(vertices, np.float64), np.asarray(triangles).astype(np.int64)
    a, b, c = np.moveaxis(mesh_topology.corners(vertices, triangles), 1, 0)
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    total = float(parts.sum())
    size = float(np.ptp(vertices[triangles.ravel()], axis=0).max(initial=0.0))
    if not abs(total) > 1e-12 * size**3:
        raise SceneError(f"the mesh encloses {abs(total):g} m^3", "close it, or give it a thickness (Solidify modifier)")
    corner_sum = a + b + c
    first = parts @ corner_sum / 4.0
    second = sum((np.einsum("i,ij,ik->jk", parts, each, each) for each in (a, b, c, corner_sum)), np.zeros((3, 3))) / 20.0
    if total < 0.0:
        total, first, second, triangles = -total, -first, -second, triangles[:, ::-1]
    origin = mesh_topology.center(vertices, triangles)
    of_one, of_x, of_square = excess(vertices, triangles, total).moments(origin)
    total, first, second = total - of_one, first - of_x, second - of_square
    center = first / total
    spread = second - total * np.outer(center, center)
    inertia = np.trace(spread) * np.eye(3) - spread
    return MassProperties(total, center + origin, 0.5 * (inertia + inertia.T))
