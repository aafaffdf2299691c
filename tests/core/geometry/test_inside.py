"""Which points lie inside a shape, without their distance."""

import igl
import numpy as np
import pytest
import trimesh

from mpm_addon.core.geometry.inside import inside_test
from mpm_addon.core.geometry.layer import Layer
from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shapes import Box, Capsule, Cylinder, Mesh, Sphere

FORMS = [
    Sphere(center=(0.1, 0.2, 0.3), radius=0.8),
    Box(center=(1, 2, 3), size=(1.6, 0.3, 1.1), rotation=(20, 40, 60)),
    Cylinder(radius=0.5, height=1.5, rotation=(0, 60, 10)),
    Capsule(start=(-1, -1, -1), end=(1, 0.5, 1), radius=0.3),
    Capsule(start=(1, 1, 1), end=(1, 1, 1), radius=0.3),
]


def points_around(shape, count=50_000):
    low, high = shape.bounds()
    return np.random.default_rng(1).uniform(low - 0.1, high + 0.1, (count, 3))


@pytest.mark.parametrize("shape", FORMS, ids=lambda shape: shape.kind)
def test_forms_sections_and_layers_agree_with_their_distance(shape):
    for filled in (shape, Layer(shape, 0.1), section_of(shape), Layer(section_of(shape), 0.1, 2)):
        is_flat = filled.bounds()[1, 1] == 0.5 and filled.bounds()[0, 1] == -0.5
        points = points_around(filled) * ([1.0, 0.0, 1.0] if is_flat else 1.0)
        assert np.array_equal(inside_test(filled)(points), filled.signed_distance(points) < 0.0)


def test_a_mesh_agrees_with_an_independent_program(torus):
    surface = trimesh.Trimesh(torus.vertices, torus.triangles, process=False)
    near = surface.sample(20_000, seed=3) + np.random.default_rng(2).normal(scale=1e-3, size=(20_000, 3))
    points = np.concatenate([points_around(torus), near])
    assert np.array_equal(inside_test(torus)(points), igl.winding_number(torus.vertices, torus.triangles, points) > 0.5)


def test_cavities_overlaps_and_lone_parts_are_told_apart():
    ball = trimesh.creation.icosphere(3, radius=1.0)
    hole = trimesh.creation.icosphere(2, radius=0.5)
    hole.invert()
    other = trimesh.creation.icosphere(3, radius=0.6)
    other.apply_translation([0.9, 0, 0])
    lone = trimesh.creation.box((0.2, 0.2, 0.2))
    lone.apply_translation([0, 0, 4])
    model = trimesh.util.concatenate([ball, hole, other, lone])
    mesh = Mesh(np.asarray(model.vertices), np.asarray(model.faces))
    inside = inside_test(mesh)(np.array([[-0.7, 0, 0], [0, 0, 0.1], [0.8, 0, 0], [1.4, 0, 0], [0.01, 0.02, 4.03], [0, 0, 3], [0, 0, 9]]))
    assert inside.tolist() == [True, False, True, True, True, False, False]


def test_faces_along_the_axes_and_points_above_edges_and_corners_do_not_mislead(cube):
    grid = np.stack(np.meshgrid(*[np.linspace(-0.75, 0.75, 25)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    grid = grid[(np.abs(np.abs(grid) - 0.5) > 1e-9).all(axis=1)]
    assert np.array_equal(inside_test(cube)(grid), np.abs(grid).max(axis=1) < 0.5)


def test_outlines_and_the_layers_of_meshes_agree_with_their_distance(torus, sheet, open_cube):
    for mesh in (torus, open_cube):
        section = section_of(mesh)
        points = points_around(section) * [1.0, 0.0, 1.0]
        assert np.array_equal(inside_test(section)(points), section.signed_distance(points) < 0.0)
    for layer in (Layer(torus, 0.1), Layer(sheet, 0.1), Layer(section_of(torus), 0.05, 2), Layer(section_of(open_cube), 0.05, 2)):
        points = points_around(layer, 5_000) * ([1.0, 0.0, 1.0] if layer.dimension == 2 else 1.0)
        assert np.array_equal(inside_test(layer)(points), layer.signed_distance(points) < 0.0)


def test_a_mesh_far_away_is_told_alike(torus):
    far = np.array([1e6, -1e6, 2e6])
    points = points_around(torus, 5_000)
    away = np.abs(torus.signed_distance(points)) > 1e-8
    moved = Mesh(torus.vertices + far, torus.triangles)
    assert np.array_equal(inside_test(moved)(points[away] + far), inside_test(torus)(points[away]))
