"""The pressure in narrow gaps: its parts, and the balance of two bodies."""

from dataclasses import replace

import numpy as np
import pytest

from mpm_addon.core.contact.coupling import RigidBodies
from mpm_addon.core.contact.gap_kernels import fill_gaps, find_rim, mean_heads, spread_heads
from mpm_addon.core.contact.obstacles import Fields
from mpm_addon.core.contact.uplift import Uplift
from mpm_addon.core.transfer.particle_store import ParticleStore

from ...everyday.cases.setting import everyday_scene
from ...verification.cases.setting import Floats

ONE_FLUID = Fields(np.array([True]), np.array([False]), np.array([1.0]), np.array([0]))


def gaps_at(points: Floats, width: float = 0.1) -> Floats:
    """Below a body, at points (n, 3)."""
    count = len(points)
    return np.column_stack([points, np.zeros((count, 2)), np.full(count, -1.0), np.full(count, width), np.zeros(count)])


def test_between_two_ends_the_pressure_falls_evenly() -> None:
    """The solution of Laplace's equation in a line, as below a dam with water on one side."""
    x = np.linspace(0.05, 0.95, 10)
    gaps, found = gaps_at(np.column_stack([x, np.zeros((10, 2))])), np.empty((10, 2))
    spread_heads(gaps, np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.array([5000.0, 0.0]), 1.0, found)
    np.testing.assert_allclose(found, np.column_stack([5000.0 * (1.0 - x), np.minimum(x, 1.0 - x)]))


def test_a_gap_at_a_point_of_the_rim_has_its_pressure() -> None:
    rim, found = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.empty((1, 2))
    spread_heads(gaps_at(rim[:1]), rim, np.array([5000.0, 0.0]), 2.0, found)
    np.testing.assert_allclose(found[:, 0], 5000.0)


def test_below_a_disk_the_pressure_is_harmonic() -> None:
    """Poisson's formula: what is a + b x at the rim is that inside."""
    angle = 2.0 * np.pi * np.arange(256) / 256
    rim = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(256)])
    inside = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [-0.3, 0.6, 0.0], [0.0, -0.8, 0.0]])
    found = np.empty((len(inside), 2))
    spread_heads(gaps_at(inside), rim, 3.0 + 2.0 * rim[:, 0], 2.0, found)
    np.testing.assert_allclose(found[:, 0], 3.0 + 2.0 * inside[:, 0], rtol=1e-6)


def test_a_rim_without_particles_in_front_of_it_is_dry() -> None:
    rim = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [3.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    positions, found = np.array([[0.5, 0.0, 0.1], [0.0, 0.5, 0.1], [9.0, 0.0, 0.1], [0.0, 0.0, -0.1], [3.0, 0.0, -0.1]]), np.empty(2)
    mean_heads(rim, positions, np.array([100.0, 200.0, 900.0, 500.0, 500.0]), np.array([1.0, 3.0, 1.0, 1.0, 1.0]), 1.0, 4.0, found)
    assert found[0] == 175.0
    assert np.isnan(found[1])


def test_only_what_is_in_front_of_an_element_fills_its_gap() -> None:
    gaps, found = gaps_at(np.zeros((1, 3)), 1.0), np.empty(1)
    positions = np.array([[0.0, 0.0, -0.5], [0.2, 0.0, 0.5], [0.9, 0.0, -0.5], [0.0, 0.0, -1.5]])
    fill_gaps(gaps, positions, np.full(4, 0.25), 1.0, 2, found)
    assert found[0] == 0.25


def test_the_nearest_closed_element_within_reach_is_found() -> None:
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij"))
    points, found = np.column_stack([x, y, np.zeros(25)]), np.empty(25, np.int64)
    find_rim(points, np.arange(25), np.array([12, 13]), 1.5, found)
    np.testing.assert_array_equal(np.flatnonzero(found == 12), [6, 7, 11, 12, 16, 17])
    np.testing.assert_array_equal(np.flatnonzero(found == 13), [8, 9, 13, 14, 18, 19])


@pytest.mark.parametrize("is_large_first", [False, True])
def test_two_bodies_push_each_other_apart_equally(monkeypatch: pytest.MonkeyPatch, *, is_large_first: bool) -> None:
    """A pressure of 1 kPa in the gap of .2 cells between a crate and a wider one below it: once, by the area of the smaller."""
    monkeypatch.setattr(Uplift, "_pressure", lambda self, surface, gaps, *others: np.full(len(gaps), 1000.0))
    scene = everyday_scene("floating")
    (crate,), spacing = scene.colliders, scene.solver.grid_spacing
    edge = crate.shape.size[0]
    wide = replace(crate.shape, center=(0.3 * edge, 0.0, -0.5 * edge - 0.2 * spacing), size=(2.0 * edge, 2.0 * edge, edge))
    both = replace(crate, shape=replace(crate.shape, center=(0.0, 0.0, 0.5 * edge))), replace(crate, name="wide", shape=wide)
    rigid = RigidBodies(replace(scene, colliders=both[::-1] if is_large_first else both), [], ONE_FLUID)
    rigid.place()
    uplift, store = Uplift(spacing, 3, ONE_FLUID.fluids), ParticleStore(1, np.float64)
    for number, surface in enumerate(rigid.surfaces):
        uplift.push(rigid.bodies, surface, [rigid.surfaces[1 - number]], store, np.zeros(3), 0.01)
    small, large = rigid.bodies[::-1] if is_large_first else rigid.bodies
    np.testing.assert_allclose(small.mass * small.velocity, [0.0, 0.0, 1000.0 * edge**2 * 0.01], atol=1e-9)
    np.testing.assert_allclose(large.mass * large.velocity, -small.mass * small.velocity, atol=1e-9)
    spin = sum(body.spin + np.cross(body.center, body.mass * body.velocity) for body in rigid.bodies)
    np.testing.assert_allclose(spin, 0.0, atol=1e-9)
