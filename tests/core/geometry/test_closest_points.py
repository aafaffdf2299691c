"""The nearest points of a mesh and their barycentric weights, against an independent program."""

import igl
import numpy as np
import pytest

from mpm_addon.core.geometry import closest_points
from mpm_addon.core.geometry.shapes import Mesh


def points_around(mesh, count=5_000):
    low, high = mesh.bounds()
    return np.random.default_rng(5).uniform(low - 0.3, high + 0.3, (count, 3))


@pytest.mark.parametrize("name", ["torus", "open_cube", "sheet"])
def test_weights_give_the_nearest_point(name, request):
    mesh = request.getfixturevalue(name)
    points = points_around(mesh)
    triangles, barycentric = closest_points(mesh, points)
    found = np.einsum("nk,nkd->nd", barycentric, mesh.vertices[mesh.triangles[triangles]])
    squared, _, expected = igl.point_mesh_squared_distance(points, mesh.vertices, mesh.triangles)
    assert np.abs(((points - found) ** 2).sum(axis=1) - squared).max() < 1e-12
    assert np.abs(found - expected)[squared < 0.01].max() < 1e-9
    assert barycentric.min() >= 0.0
    assert np.abs(barycentric.sum(axis=1) - 1.0).max() < 1e-12


def test_values_on_corners_are_interpolated(torus):
    values = torus.vertices @ [1.0, -2.0, 0.5] + 3.0
    middles = torus.vertices[torus.triangles].mean(axis=1)
    triangles, barycentric = closest_points(torus, middles)
    assert np.array_equal(triangles, np.arange(len(middles)))
    found = (barycentric * values[torus.triangles[triangles]]).sum(axis=1)
    assert found == pytest.approx(middles @ [1.0, -2.0, 0.5] + 3.0, abs=1e-12)


def test_triangles_without_area_hold_no_point(cube):
    slivers = np.array([[0, 0, 1], [2, 2, 2]])
    mesh = Mesh(cube.vertices, np.concatenate([slivers, cube.triangles]))
    triangles, _ = closest_points(mesh, points_around(mesh))
    assert triangles.min() >= 2 and triangles.max() < 14
