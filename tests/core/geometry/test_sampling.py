"""Points that fill shapes: Poisson-disk, lattice and random."""

import igl
import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

from mpm_addon.core import sample_mesh
from mpm_addon.core.compilation.team import set_team_size, team_size
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.poisson import poisson_disk
from mpm_addon.core.geometry.sampling import sample_shape, sampled_volumes
from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shapes import Box, Capsule, Cylinder, Mesh, Plane, Points, Sphere

SHAPES = [
    Sphere(center=(0.1, 0.2, 0.3), radius=0.8),
    Box(size=(1.0, 1.2, 0.9)),
    Box(size=(1.6, 0.3, 1.1), rotation=(20, 40, 60)),
    Cylinder(radius=0.5, height=1.5, rotation=(0, 60, 10)),
    Capsule(start=(-1, -1, -1), end=(1, 1, 1), radius=0.3),
]
SAMPLINGS = ["poisson", "lattice", "random"]


def inside_points(shape, count=100_000):
    low, high = shape.bounds()
    points = np.random.default_rng(9).uniform(low, high, (count, 3))
    return points[shape.signed_distance(points) < 0]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_poisson_disk_points_keep_apart_and_leave_no_gap(shape):
    distance = 0.07
    points = poisson_disk(shape, distance, 4)
    tree = cKDTree(points)
    assert (shape.signed_distance(points) < 0).all()
    assert tree.query(points, k=2)[0][:, 1].min() >= distance
    assert len(points) * distance**3 / shape.volume() >= 0.55
    assert tree.query(inside_points(shape))[0].max() < 1.3 * distance


def test_poisson_disk_reaches_every_part_of_a_mesh():
    # Two balls far apart in one mesh, one of them smaller than a block of the sampler.
    parts = [trimesh.creation.icosphere(3, radius=0.5), trimesh.creation.icosphere(2, radius=0.1)]
    parts[1].apply_translation([5.0, 1.0, -2.0])
    model = trimesh.util.concatenate(parts)
    points = sample_mesh(model.vertices, model.faces, 0.06, 1)
    assert model.contains(points).all()
    for part in parts:
        samples = part.sample(2000, seed=1) * 0.999 + 0.001 * part.centroid
        assert cKDTree(points).query(samples)[0].max() < 1.3 * 0.06


def test_mesh_samples_are_inside_for_an_independent_program(torus):
    points = sample_mesh(torus.vertices, torus.triangles.astype(np.uint32), 0.05, 3)
    model = trimesh.Trimesh(torus.vertices, torus.triangles, process=False)
    assert igl.winding_number(torus.vertices, torus.triangles, points).min() > 0.5
    assert cKDTree(points).query(points, k=2)[0][:, 1].min() >= 0.05
    assert len(points) * 0.05**3 / model.volume >= 0.55


def test_mesh_with_a_hole_is_filled_to_its_rim(open_cube):
    points = sample_mesh(open_cube.vertices, open_cube.triangles, 0.05, 0)
    assert np.abs(points).max() < 0.5
    assert len(points) * 0.05**3 >= 0.55
    assert cKDTree(points).query(inside_points(Box(size=(1, 1, 1))))[0].max() < 1.3 * 0.05


def test_mesh_far_from_the_origin_is_sampled_alike(torus):
    far = np.array([1e6, -1e6, 2e6])
    points = sample_mesh(torus.vertices + far, torus.triangles, 0.06, 3)
    assert (torus.signed_distance(points - far) < 1e-9).all()
    assert cKDTree(points - far).query(points - far, k=2)[0][:, 1].min() >= 0.06
    assert len(points) * 0.06**3 / torus.volume() >= 0.55


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_same_seed_gives_the_same_points(sampling):
    shape = SHAPES[2]
    first, again, other = (sample_shape(shape, grid_spacing=0.1, sampling=sampling, seed=seed) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert (sampling == "lattice") == np.array_equal(first, other)


def test_number_of_threads_changes_nothing(torus):
    size, results = team_size(), []
    try:
        for count in (1, 2, 4):
            set_team_size(count)
            results.append(sample_mesh(torus.vertices, torus.triangles, 0.06, 3))
    finally:
        set_team_size(size)
    assert all(np.array_equal(result, results[0]) for result in results)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_particles_per_cell_gives_the_density(shape):
    h = 0.1
    for per_cell in (None, 4, 20):
        wanted = shape.volume() / h**3 * (per_cell or 8)
        random = sample_shape(shape, grid_spacing=h, particles_per_cell=per_cell, sampling="random")
        poisson = sample_shape(shape, grid_spacing=h, particles_per_cell=per_cell)
        lattice = sample_shape(shape, grid_spacing=h, particles_per_cell=per_cell, sampling="lattice")
        assert len(random) == round(wanted)
        assert len(poisson) == pytest.approx(wanted, rel=0.03)
        # A lattice errs by what it meets at the surface.
        assert len(lattice) == pytest.approx(wanted, rel=0.25)
        for points in (random, poisson, lattice):
            assert (shape.signed_distance(points) < 0).all()


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("count", [1, 7, 1000, 2345])
def test_particle_count_is_exact(sampling, count):
    for shape in (SHAPES[0], SHAPES[2]):
        points = sample_shape(shape, grid_spacing=0.1, particle_count=count, sampling=sampling)
        assert len(points) == count
        assert (shape.signed_distance(points) < 0).all()


def test_exact_count_leaves_no_gap_either():
    shape = SHAPES[0]
    points = sample_shape(shape, grid_spacing=0.1, particle_count=5000)
    tree = cKDTree(points)
    distance = tree.query(points, k=2)[0][:, 1].min()
    assert len(points) * distance**3 / shape.volume() >= 0.55
    assert tree.query(inside_points(shape))[0].max() < 1.3 * distance


def test_lattice_is_centered_in_the_bounds_at_the_documented_spacing():
    # h / 8^(1/3) = 0.05: 20 x 10 x 6 points, half a spacing inside the faces.
    points = sample_shape(Box(center=(1, 2, 3), size=(1, 0.5, 0.3)), grid_spacing=0.1, sampling="lattice")
    assert points.shape == (1200, 3)
    assert np.unique(points[:, 0].round(9)) == pytest.approx(np.arange(20) * 0.05 + 0.525)
    assert np.unique(points[:, 2].round(9)) == pytest.approx(np.arange(6) * 0.05 + 2.875)
    ball = sample_shape(Sphere(center=(1, 1, 1), radius=0.5), grid_spacing=0.1, sampling="lattice")
    assert ball.mean(axis=0) == pytest.approx([1, 1, 1], abs=1e-12)


def test_random_points_are_uniform():
    points = sample_shape(Box(size=(1, 1, 1)), grid_spacing=0.1, particle_count=64_000, sampling="random")
    counts = np.histogramdd(points, bins=4, range=[(-0.5, 0.5)] * 3)[0]
    # Each of 64 cells expects 1000 with a standard deviation of 31.4.
    assert np.abs(counts - 1000).max() < 5 * 31.4
    assert np.mean((counts - 1000) ** 2) == pytest.approx(1000, rel=0.6)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_grid_spacing_larger_than_the_object_is_named(sampling):
    with pytest.raises(SceneError) as raised:
        sample_shape(Box(size=(1, 0.2, 1)), grid_spacing=0.5, sampling=sampling, subject='Emitter "Cube"')
    assert str(raised.value) == ('Emitter "Cube": grid_spacing 0.5 m is larger than the object (0.2 m); use at most 0.1 m.')


def test_no_particle_at_all_is_named():
    with pytest.raises(SceneError, match=r"particles_per_cell 0\.0001 gives no particle .* use at least"):
        sample_shape(Sphere(radius=0.1), grid_spacing=0.1, particles_per_cell=1e-4)


@pytest.mark.parametrize("shape", [Plane(), Points([[0, 0, 0]])])
def test_shape_without_inside_is_named(shape):
    with pytest.raises(SceneError, match=f'Emitter "A": a {shape.kind} has no inside to fill'):
        sample_shape(shape, grid_spacing=0.1, subject='Emitter "A"')


def test_spacing_of_a_mesh_sample_is_checked(cube):
    for spacing in (0.0, -1.0, np.nan):
        with pytest.raises(SceneError, match=r"spacing .* is not allowed; use a finite number above 0 m"):
            sample_mesh(cube.vertices, cube.triangles, spacing, 0)


def test_empty_mesh_is_named():
    with pytest.raises(SceneError, match="no faces"):
        sample_mesh(np.zeros((3, 3)), Mesh(np.zeros((3, 3)), np.zeros((0, 3), int)).triangles, 0.1, 0)


def test_points_are_as_dense_everywhere() -> None:
    """No half of a ball and no layer of a box has more than its share, wherever the blocks lie that are filled one after another."""
    ball = [poisson_disk(Sphere(radius=0.2), 0.0245, seed) for seed in range(8)]
    for axis in range(3):
        assert np.mean([(points[:, axis] > 0.0).mean() for points in ball]) == pytest.approx(0.5, abs=0.01)
    distance = 0.0233
    points = poisson_disk(Box(size=(1.0, 1.0, 1.0)), distance, 1)
    for axis in range(3):
        # layers of two distances, which is about a cell
        layers, _ = np.histogram(points[:, axis], bins=19, range=(-0.46, 0.46))
        assert layers.std() < 0.04 * layers.mean()


@pytest.mark.parametrize("shape", [SHAPES[0], SHAPES[1], Box(size=(1.0, 1.0, 1.0), rotation=(20, 40, 60))], ids=["ball", "box", "tilted"])
def test_material_is_as_dense_at_the_surface_as_inside(shape):
    """In a layer of one cell, within 1.5 % of its volume; with equal volumes there would be over 6 % too much."""
    h = 0.04
    points = sample_shape(shape, grid_spacing=h)
    volumes = sampled_volumes(shape, points, sampling="poisson")
    assert volumes.sum() == pytest.approx(shape.volume(), rel=1e-9)
    inside = inside_points(shape, 400_000)
    layer = (shape.signed_distance(inside) > -h).mean() * shape.volume()
    is_in_layer = shape.signed_distance(points) > -h
    assert volumes[is_in_layer].sum() == pytest.approx(layer, rel=0.015)
    assert is_in_layer.mean() * shape.volume() > 1.06 * layer


def test_volumes_of_a_mesh_are_those_of_the_same_closed_form(cube):
    """A mesh is measured near its surface alone."""
    box = Box(size=(1, 1, 1))
    points = sample_shape(box, grid_spacing=0.05)
    mesh = Mesh(cube.vertices, cube.triangles).closed
    expected = sampled_volumes(box, points, sampling="poisson")
    assert sampled_volumes(mesh, points, sampling="poisson") == pytest.approx(expected, rel=1e-9)
    assert len(np.unique(expected.round(15))) == 2


def test_evenly_spread_points_stand_for_equal_volumes():
    for dimension, shape in ((3, SHAPES[0]), (2, section_of(SHAPES[0], ""))):
        for sampling in ("lattice", "random"):
            points = sample_shape(SHAPES[0], grid_spacing=0.1, sampling=sampling, dimension=dimension)
            volumes = sampled_volumes(shape, points, sampling=sampling, dimension=dimension)
            assert volumes == pytest.approx(shape.volume() / len(points), rel=1e-12)
