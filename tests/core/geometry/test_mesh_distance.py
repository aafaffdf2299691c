"""Signed distances and winding numbers of meshes, against closed forms and two independent programs."""

import igl
import numpy as np
import pytest
import trimesh

from mpm_addon.core import signed_distance
from mpm_addon.core.geometry import winding_number
from mpm_addon.core.geometry.shapes import Box, Mesh

CORNER_VERTICES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
CORNER_TRIANGLES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def random_points(mesh, count, seed=3):
    low, high = mesh.bounds()
    return np.random.default_rng(seed).uniform(low - 0.4, high + 0.4, (count, 3))


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int64, np.uint64])
def test_corner_tetrahedron_has_its_closed_form_for_any_integer_type(dtype):
    points = np.array([[0.5, 0.5, 0.5], [0.1, 0.1, 0.1], [-1.0, -2.0, -2.0]])
    distance = signed_distance(CORNER_VERTICES, CORNER_TRIANGLES.astype(dtype), points)
    assert distance == pytest.approx([np.sqrt(1 / 12), -0.1, 3.0], abs=1e-14)
    assert distance.dtype == np.float64


def test_every_feature_of_a_triangle_is_reached(cube):
    # Points before faces, edges and corners of the cube: the box has a closed form.
    points = random_points(cube, 20_000)
    box = Box(size=(1.0, 1.0, 1.0))
    assert np.abs(cube.signed_distance(points) - box.signed_distance(points)).max() < 1e-13


def test_distance_agrees_with_libigl_and_its_sign_with_the_winding_number(torus):
    points = random_points(torus, 20_000)
    squared = igl.point_mesh_squared_distance(points, torus.vertices, torus.triangles)[0]
    inside = igl.winding_number(torus.vertices, torus.triangles, points) > 0.5
    assert 0.05 < inside.mean() < 0.95
    distance = signed_distance(torus.vertices, torus.triangles, points)
    assert np.abs(np.abs(distance) - np.sqrt(squared)).max() < 1e-12
    assert np.array_equal(distance < 0, inside)


def test_distance_agrees_with_trimesh_of_the_other_sign(torus):
    points = random_points(torus, 300)
    model = trimesh.Trimesh(torus.vertices, torus.triangles, process=False)
    assert torus.signed_distance(points) == pytest.approx(-trimesh.proximity.signed_distance(model, points), abs=1e-9)


def test_winding_number_in_a_cube_without_top_is_five_sixths(open_cube):
    winding = winding_number(open_cube.vertices, open_cube.triangles, [[0, 0, 0], [0, 0, 0.5], [0, 0, 50.0]])
    assert winding[0] == pytest.approx(5 / 6, abs=1e-12)
    assert winding[1] == pytest.approx(1 / 2, abs=1e-12)
    assert winding[2] == pytest.approx(0, abs=1e-3)
    assert (signed_distance(open_cube.vertices, open_cube.triangles, [[0, 0, 0], [0, 0, 0.6]]) < 0).tolist() == [True, False]


def test_winding_number_of_many_triangles_agrees_with_libigl(torus):
    # A torus with a tenth of its triangles missing: neither 0 nor 1, and far groups count approximately.
    keep = np.arange(len(torus.triangles)) % 64 > 6
    points = random_points(torus, 4000)
    exact = igl.winding_number(torus.vertices, torus.triangles[keep], points)
    assert np.abs(winding_number(torus.vertices, torus.triangles[keep], points) - exact).max() < 1.2e-3
    assert np.ptp(exact) > 0.8


def test_inverted_mesh_is_flipped(torus):
    points = random_points(torus, 2000)
    inverted = signed_distance(torus.vertices, torus.triangles[:, ::-1], points)
    assert np.abs(inverted - torus.signed_distance(points)).max() < 1e-14


def test_mirrored_and_unevenly_scaled_mesh_keeps_its_inside(torus):
    # A negative scale turns the triangles round; what is inside does not change.
    scale = np.array([-0.5, 1.0, 3.0])
    points = random_points(torus, 2000) * scale
    inside = igl.winding_number(torus.vertices, torus.triangles, points / scale) > 0.5
    assert np.array_equal(signed_distance(torus.vertices * scale, torus.triangles, points) < 0, inside)


def test_mesh_far_from_the_origin_keeps_its_accuracy(torus):
    points = random_points(torus, 2000)
    far = np.array([1e6, -1e6, 1e6])
    distance = signed_distance(torus.vertices + far, torus.triangles, points + far)
    # Coordinates of 1e6 m are themselves rounded to 1e-10 m.
    assert np.abs(distance - torus.signed_distance(points)).max() < 1e-9


def test_split_edges_and_slivers_change_nothing(torus):
    # Every triangle with its own vertices, and one without area: an exporter's usual harvest.
    vertices = torus.vertices[torus.triangles].reshape(-1, 3)
    triangles = np.arange(len(vertices)).reshape(-1, 3)
    points = random_points(torus, 1000)
    split = Mesh(vertices, np.concatenate([triangles, [[0, 0, 1], [5, 5, 5]]]))
    assert np.abs(split.signed_distance(points) - torus.signed_distance(points)).max() < 1e-14
    assert split.volume() == pytest.approx(torus.volume(), rel=1e-12)


def test_volume_is_exact_for_closed_and_capped_meshes(cube, open_cube, torus):
    assert cube.volume() == pytest.approx(1.0, abs=1e-14)
    assert open_cube.volume() == pytest.approx(1.0, abs=1e-14)
    assert open_cube.opening() == pytest.approx(0.2, abs=1e-14)
    model = trimesh.Trimesh(torus.vertices, torus.triangles, process=False)
    assert torus.volume() == pytest.approx(model.volume, rel=1e-12)
    far = Mesh(cube.vertices + 1e6, cube.triangles)
    assert far.volume() == pytest.approx(1.0, abs=1e-8)


def test_single_flipped_face_is_turned_round(cube):
    triangles = cube.triangles.copy()
    triangles[3] = triangles[3, ::-1]
    assert Mesh(cube.vertices, triangles).volume() == pytest.approx(1.0, abs=1e-14)


def test_wall_inside_a_mesh_encloses_nothing_more(cube):
    # A dividing wall: its four edges are shared by three faces each (non-manifold).
    vertices = np.concatenate([cube.vertices, [[0, -0.5, -0.5], [0, 0.5, -0.5], [0, 0.5, 0.5], [0, -0.5, 0.5]]])
    walled = Mesh(vertices, np.concatenate([cube.triangles, [[8, 9, 10], [8, 10, 11]]]))
    assert walled.volume() == pytest.approx(1.0, abs=1e-14)
    assert (walled.closed.signed_distance(np.array([[0.2, 0, 0], [-0.2, 0, 0], [0.7, 0, 0]])) < 0).tolist() == [
        True,
        True,
        False,
    ]


def test_meshes_compare_by_value(cube):
    same = Mesh(cube.vertices.copy(), cube.triangles.astype(np.uint16), source="elsewhere")
    assert cube == same
    assert cube != Mesh(cube.vertices, cube.triangles[:-1])
    with pytest.raises(ValueError, match="read-only"):
        cube.vertices[0, 0] = 1.0
