"""Stress in a rigid body at an impact, from a virtual displacement of the tetrahedra in contact (Chen 2013)."""

import numpy as np

from ..geometry.mesh_topology import Floats, Integers
from .tetrahedra import Tetrahedra

# the reach of the kernel [mean spacings of the tetrahedra]
REACH = 2.0
# the least determinant of the moments of the neighbors, relative to that of neighbors on all sides
_FLATTEST = 1e-3
_POINTS_AT_ONCE = 256


def kernel_reach(body: Tetrahedra) -> float:
    """The distance at which the kernel vanishes [m]."""
    return REACH * float(np.cbrt(body.volumes.mean()))


def displacement_gradients(points: Floats, centers: Floats, volumes: Floats, displacements: Floats, reach: float) -> Floats:
    """The gradient of displacements at points, by smoothed particle hydrodynamics; shape (n, 3, 3).

    grad u = sum_j V_j (u_j - u) grad W^T (sum_j V_j (x_j - x) grad W^T)^-1, with the cubic spline W and the mean displacement at the point,
    u = sum_j V_j u_j W / sum_j V_j W (Bonet and Lok 1999). It is exact for an affine field where the mean position of the neighbors is the
    point, so inside but not at the surface; a translation has none anywhere. It is zero where the neighbors of a point lie in a plane.

    Args:
        points: [m], shape (n, 3).
        centers, volumes, displacements: of the particles [m], [m^3], [m], shapes (m, 3), (m,), (m, 3).
        reach: the distance at which the kernel vanishes [m].
    """
    parts = [
        _gradients(points[start : start + _POINTS_AT_ONCE], centers, volumes, displacements, reach)
        for start in range(0, len(points), _POINTS_AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, 3, 3))


def _gradients(points: Floats, centers: Floats, volumes: Floats, displacements: Floats, reach: float) -> Floats:
    away = centers[None] - points[:, None]
    q = 2.0 * np.linalg.norm(away, axis=2) / reach
    weight = volumes * np.where(q < 1.0, 1.0 - 1.5 * q**2 + 0.75 * q**3, 0.25 * np.maximum(2.0 - q, 0.0) ** 3)
    # the slope of the kernel over the distance: grad W = slope * away
    slope = volumes * np.where(q < 1.0, 3.0 - 2.25 * q, 0.75 * np.maximum(2.0 - q, 0.0) ** 2 / np.maximum(q, 1.0))
    total = np.maximum(weight.sum(axis=1), 1e-300)[:, None]
    mean = weight @ displacements / total
    pull = slope[..., None] * away
    moments = np.einsum("nmi,nmj->nij", away, pull)
    change = np.einsum("nmi,nmj->nij", displacements[None] - mean[:, None], pull)
    size = np.trace(moments, axis1=1, axis2=2) / 3.0
    is_solid = np.linalg.det(moments) > _FLATTEST * np.maximum(size, 0.0) ** 3
    is_solid &= size > 0.0
    found = np.zeros_like(change)
    found[is_solid] = np.swapaxes(np.linalg.solve(np.swapaxes(moments[is_solid], 1, 2), np.swapaxes(change[is_solid], 1, 2)), 1, 2)
    return found


def stresses(gradients: Floats, young_modulus: float, poisson_ratio: float) -> Floats:
    """The stress of Hooke's law [Pa], shape (n, 3, 3): lambda tr(eps) I + 2 mu eps, with eps = (grad u + grad u^T) / 2."""
    mu = young_modulus / (2.0 * (1.0 + poisson_ratio))
    lame = young_modulus * poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio))
    strain = 0.5 * (gradients + np.swapaxes(gradients, 1, 2))
    return lame * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3) + 2.0 * mu * strain


def crack_planes(points: Floats, stress: Floats, strength: float) -> tuple[Floats, Floats]:
    """The points and unit normals (k, 3) of cracks: where the greatest principal stress exceeds the strength [Pa] (Rankine 1857).

    The normal is the direction of that stress. The plane under the greatest stress comes first.
    """
    values, directions = np.linalg.eigh(stress)
    greatest = values[:, 2]
    found = np.flatnonzero(greatest > strength)
    found = found[np.argsort(-greatest[found], kind="stable")]
    return points[found], directions[found, :, 2]


def impact_planes(body: Tetrahedra, displacements: Floats, elasticity: tuple[float, float], strength: float) -> tuple[Floats, Floats]:
    """The crack planes that virtual displacements (t, 3) [m] of a body's tetrahedra cause at its vertices; see `crack_planes`.

    Args:
        elasticity: Young's modulus [Pa] and Poisson's ratio.
    """
    used: Integers = np.unique(body.corners)
    points, reach = body.vertices[used], kernel_reach(body)
    # elsewhere nothing moves
    moved = body.centroids[displacements.any(axis=1)]
    is_near = np.zeros(len(points), np.bool_)
    for center in moved:
        is_near |= ((points - center) ** 2).sum(axis=1) < reach**2
    points = points[is_near]
    gradients = displacement_gradients(points, body.centroids, body.volumes, displacements, reach)
    return crack_planes(points, stresses(gradients, *elasticity), strength)
