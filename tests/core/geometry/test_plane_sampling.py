"""Points that fill the sections of shapes, in two dimensions, and beams that repeat."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.poisson import periodic_poisson_disk, poisson_disk
from mpm_addon.core.geometry.sampling import sample_shape
from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shapes import Box, Capsule, Cylinder, Sphere

SHAPES = [
    Sphere(center=(0.1, 5.0, 0.3), radius=0.8),
    Box(size=(1.6, 0.01, 1.1), rotation=(0, 40, 0)),
    Box(size=(1.0, 1.2, 0.9), rotation=(20, 40, 60)),
    Cylinder(radius=0.5, height=1.5, rotation=(0, 60, 10)),
    Capsule(start=(-1, -1, -1), end=(1, 1, 1), radius=0.3),
]
SAMPLINGS = ["poisson", "lattice", "random"]


def inside_points(section, count=100_000):
    low, high = section.bounds()
    points = np.random.default_rng(9).uniform(low, high, (count, 3)) * [1.0, 0.0, 1.0]
    return points[section.signed_distance(points) < 0]


def check_poisson(section, points, distance):
    tree = cKDTree(points)
    assert (points[:, 1] == 0.0).all() and (section.signed_distance(points) < 0).all()
    assert tree.query(points, k=2)[0][:, 1].min() >= distance
    assert len(points) * distance**2 / section.volume() >= 0.58
    assert tree.query(inside_points(section))[0].max() < 1.3 * distance


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_poisson_disk_points_keep_apart_and_leave_no_gap(shape):
    section = section_of(shape)
    check_poisson(section, poisson_disk(section, 0.03, 4, dimension=2), 0.03)


def test_poisson_disk_fills_the_section_of_a_mesh(torus, open_cube):
    for mesh in (torus, open_cube):
        section = section_of(mesh)
        check_poisson(section, poisson_disk(section, 0.02, 4, dimension=2), 0.02)


def test_points_in_space_are_not_dense_enough_in_the_plane():
    """The negative control: the slice of a three-dimensional arrangement leaves gaps."""
    points = poisson_disk(Box(size=(1.0, 0.06, 1.0)), 0.03, 4) * [1.0, 0.0, 1.0]
    assert cKDTree(points).query(points, k=2)[0][:, 1].min() < 0.03


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_density_count_and_seed(shape, sampling):
    section, h = section_of(shape), 0.05
    points = sample_shape(shape, grid_spacing=h, particles_per_cell=4, sampling=sampling, dimension=2, seed=5)
    again = sample_shape(section, grid_spacing=h, particles_per_cell=4, sampling=sampling, dimension=2, seed=5)
    assert np.array_equal(points, again)
    assert (points[:, 1] == 0.0).all() and (section.signed_distance(points) < 0).all()
    tolerance = {"poisson": 0.03, "lattice": 0.05, "random": 1e-3}[sampling]
    assert len(points) == pytest.approx(4.0 * section.volume() / h**2, rel=tolerance)
    for count in (1, 777):
        exact = sample_shape(shape, grid_spacing=h, particle_count=count, sampling=sampling, dimension=2)
        assert len(exact) == count and (section.signed_distance(exact) < 0).all()


def test_lattice_is_centered_at_the_documented_spacing():
    points = sample_shape(Box(center=(1, 9, 3), size=(1, 7, 0.3)), grid_spacing=0.1, particles_per_cell=4, sampling="lattice", dimension=2)
    assert points.shape == (120, 3)
    assert np.unique(points[:, 0].round(9)) == pytest.approx(np.arange(20) * 0.05 + 0.525)
    assert np.unique(points[:, 2].round(9)) == pytest.approx(np.arange(6) * 0.05 + 2.875)


def test_section_thinner_than_a_cell_is_named():
    with pytest.raises(SceneError) as raised:
        sample_shape(Box(size=(1, 3, 0.2)), grid_spacing=0.5, subject='Emitter "Cube"', dimension=2)
    assert str(raised.value) == 'Emitter "Cube": grid_spacing 0.5 m is larger than the object (0.2 m); use at most 0.1 m.'
    # what is thin along y does not matter
    assert len(sample_shape(Box(size=(1, 0.01, 1)), grid_spacing=0.1, dimension=2)) > 700


@settings(max_examples=15, deadline=None)
@given(st.floats(0.3, 2.0), st.floats(0.2, 0.8), st.floats(0.2, 0.8), st.integers(0, 2**31), st.sampled_from([2, 3]))
@example(1.5080892458222912, 0.5, 0.5, 0, 2)
def test_a_beam_repeats_without_seam(length, width, height, seed, dimension):
    r = 0.06
    points, period = periodic_poisson_disk(length, (width, height), r, seed, dimension=dimension)
    assert length <= period < length + 8 * r and (points[:, 0] >= 0).all() and (points[:, 0] <= period).all()
    endless = np.concatenate([points + np.array([turn * period, 0.0, 0.0]) for turn in (-1, 0, 1)])
    tree = cKDTree(endless)
    assert tree.query(points, k=2)[0][:, 1].min() >= r
    depth = width / 2 if dimension == 3 else 0.0
    probes = np.random.default_rng(0).uniform([0, -depth, -height / 2], [period, depth, height / 2], (20_000, 3))
    assert tree.query(probes)[0].max() < 1.3 * r
    again, _ = periodic_poisson_disk(length, (width, height), r, seed, dimension=dimension)
    assert np.array_equal(points, again)


def test_a_beam_that_does_not_repeat_has_a_seam():
    """The negative control: repeated end to end, ordinary samples come too near."""
    points = poisson_disk(Box(center=(0.5, 0, 0), size=(1.0, 0.5, 0.5)), 0.06, 1)
    assert cKDTree(points + np.array([1.0, 0, 0])).query(points)[0].min() < 0.06
