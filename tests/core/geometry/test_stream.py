"""Patterns that flow through shapes: what enters, when, where, and how much."""

import math

import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shadow import shadow
from mpm_addon.core.geometry.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from mpm_addon.core.geometry.stream import Stream

SAMPLINGS = ["poisson", "lattice", "random"]
SPACING = 0.03
DOWN, SLANTED = np.array([0.0, 0.0, -1.0]), np.array([0.48, 0.6, -0.64])
# box, direction, area of its shadow
SPACE = [
    pytest.param(Box(size=(0.4, 0.3, 0.2)), DOWN, 0.12, id="box"),
    pytest.param(Box(size=(0.4, 0.3, 0.25), rotation=(0, 30, 0)), np.array([0.5, 0.0, math.sqrt(0.75)]), 0.12, id="turned box"),
    pytest.param(Box(size=(0.4, 0.4, 0.4)), SLANTED, 0.16 * 1.72, id="slanted box"),
    pytest.param(Sphere(center=(0.1, 0.2, 0.3), radius=0.2), SLANTED, math.pi * 0.04, id="sphere"),
    pytest.param(Cylinder(radius=0.2, height=0.1), DOWN, math.pi * 0.04, id="cylinder"),
    pytest.param(Capsule(start=(0, 0, 0), end=(0.3, 0, 0), radius=0.1), DOWN, math.pi * 0.01 + 0.06, id="capsule"),
]
FLAT = np.array([0.6, 0.0, -0.8])
PLANE = [
    pytest.param(section_of(Box(size=(0.4, 0.3, 0.2))), DOWN, 0.4, id="rectangle"),
    pytest.param(section_of(Box(size=(0.4, 0.3, 0.2))), FLAT, 0.8 * 0.4 + 0.6 * 0.2, id="slanted rectangle"),
    pytest.param(section_of(Sphere(center=(0.1, 0.2, 0.3), radius=0.2)), FLAT, 0.4, id="disk"),
    pytest.param(section_of(Capsule(start=(0, 0, 0), end=(0.3, 0, 0), radius=0.1)), FLAT, 0.2 + 0.3 * 0.8, id="stadium"),
]


def flow(stream, direction, length, steps=100):
    """Everything that came in while the flow advanced, where the flow has carried it by then."""
    points, count = stream.filling, 0
    for step in range(steps):
        new = stream.entering(step * length / steps, (step + 1) * length / steps)
        points = np.concatenate([points + direction * (length / steps), new])
        count += len(new)
    return points, count


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(
    ("shape", "direction", "area", "dimension"), [(*each.values, 3) for each in SPACE] + [(*each.values, 2) for each in PLANE]
)
def test_the_flow_carries_its_cross_section_times_its_way(shape, direction, area, dimension, sampling):
    spacing = SPACING if dimension == 3 else SPACING / 2
    stream = Stream(shape, direction, spacing, sampling=sampling, seed=1, dimension=dimension)
    assert stream.cross_section == pytest.approx(area, rel=1e-9)
    points, count = flow(stream, direction, 2.0)
    # within a layer of the pattern, and where it does not repeat within two meters by its scatter
    assert count * stream.particle_volume == pytest.approx(area * 2.0, rel=0.015)
    # no point comes twice
    if sampling != "random":
        assert cKDTree(points).query(points, k=2)[0][:, 1].min() > 0.6 * spacing
    if dimension == 2:
        assert (points[:, 1] == 0.0).all()


@pytest.mark.parametrize(("shape", "direction", "area"), SPACE)
def test_points_appear_at_the_inlet_and_only_there(shape, direction, area):
    stream = Stream(shape, direction, SPACING, sampling="poisson", seed=1, dimension=3)
    assert (shape.signed_distance(stream.filling) < 0.0).all()
    advance = 0.4 * SPACING
    new = np.concatenate([stream.entering(step * advance, (step + 1) * advance) for step in range(200)])
    before = new - direction * advance
    # an entry is found to a thirty-second of a spacing
    assert (shape.signed_distance(before) > -0.04 * SPACING).all()
    # at the rim the flow may already have left a round shape again
    assert shape.signed_distance(new).max() < advance


@pytest.mark.parametrize("sampling", ["poisson", "lattice"])
def test_the_stream_is_as_dense_as_matter(sampling):
    """Mass at the nodes of a grid, away from the stream's sides and ends, by quadratic weights, is that of the rest density."""
    h = 0.05
    shape = Box(size=(0.4, 0.4, 0.4))
    stream = Stream(shape, DOWN, h / 2, sampling=sampling, seed=3, dimension=3)
    points, _ = flow(stream, DOWN, 1.6)
    volumes = np.full(len(points), stream.particle_volume)
    volumes[: len(stream.filling)] = shape.volume() / len(stream.filling)
    base = np.floor(points / h - 0.5).astype(int)
    offset = points / h - base - 1.0
    weights = np.stack([0.5 * (0.5 - offset) ** 2, 0.75 - offset**2, 0.5 * (0.5 + offset) ** 2], axis=1)
    density = np.zeros((60, 60, 60))
    for i, j, k in np.ndindex(3, 3, 3):
        node = base + np.array([i + 20, j + 20, k + 45])
        np.add.at(density, tuple(node.T), volumes / h**3 * weights[:, i, 0] * weights[:, j, 1] * weights[:, k, 2])
    # nodes two cells inside the sides, over the stream's length from 0.1 to -1.7 m, past the seam at -1.4 m
    inner = density[18:23, 18:23, 45 - 34 : 45 + 2]
    assert inner.mean() == pytest.approx(1.0, abs=0.02)
    layers = inner.mean(axis=(0, 1))
    assert np.abs(layers - 1.0).max() < (0.05 if sampling == "poisson" else 1e-6)
    assert inner.std() < (0.08 if sampling == "poisson" else 1e-6)


def test_filling_anew_instead_of_flowing_overlaps():
    """The negative control: an arrangement of its own at every moment, cut to the new layer, has the mass but not the distances."""
    shape, advance = Box(size=(0.4, 0.4, 0.4)), 0.5 * SPACING
    layers = []
    for step in range(20):
        other = Stream(shape, DOWN, SPACING, sampling="poisson", seed=step, dimension=3)
        layers.append(other.filling[other.filling[:, 2] > 0.2 - advance] + DOWN * (step * advance))
    points = np.concatenate(layers)
    assert cKDTree(points).query(points, k=2)[0][:, 1].min() < 0.4 * SPACING


def ring() -> Mesh:
    model = trimesh.creation.torus(0.3, 0.1, major_sections=48, minor_sections=24)
    return Mesh(np.asarray(model.vertices), np.asarray(model.faces))


@pytest.mark.parametrize("dimension", [2, 3])
def test_what_lies_between_two_parts_comes_in_once(dimension):
    """Through a ring from its side: behind the first part there is nothing at the start, so the second part takes that in."""
    mesh = ring()
    shape, direction = (mesh, np.array([1.0, 0.0, 0.0])) if dimension == 3 else (section_of(mesh), np.array([1.0, 0.0, 0.0]))
    stream = Stream(shape, direction, SPACING, sampling="lattice", seed=0, dimension=dimension)
    points, count = flow(stream, direction, 1.0)
    late = count - round(stream.cross_section * 1.0 / stream.particle_volume)
    # the hole of the ring as the flow sees it, in the plane 0.4 m long and 0.2 m high
    assert late > 0
    if dimension == 2:
        assert stream.cross_section == pytest.approx(0.2, rel=0.01)
        assert late * stream.particle_volume == pytest.approx(0.2 * (0.6 - math.pi * 0.1 / 2), rel=0.1)
    assert cKDTree(points).query(points, k=2)[0][:, 1].min() > 0.9 * SPACING


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_flow_through_a_mesh_is_that_through_the_solid(sampling):
    model = trimesh.creation.icosphere(3, 0.2)
    ball = Mesh(np.asarray(model.vertices), np.asarray(model.faces))
    stream = Stream(ball, SLANTED, SPACING, sampling=sampling, seed=1, dimension=3)
    assert stream.cross_section == pytest.approx(math.pi * 0.04, rel=0.015)
    _, count = flow(stream, SLANTED, 2.0)
    assert count * stream.particle_volume == pytest.approx(math.pi * 0.08, rel=0.025)
    assert (ball.signed_distance(stream.filling) < 0.0).all()


def test_the_pattern_can_be_asked_from_any_moment():
    stream = Stream(Sphere(radius=0.2), SLANTED, SPACING, sampling="poisson", seed=1, dimension=3)
    whole = stream.entering(0.7, 1.9)
    parts = [stream.entering(0.7 + 0.1 * step, 0.8 + 0.1 * step) + SLANTED * (1.1 - 0.1 * step) for step in range(12)]
    assert len(whole) == sum(len(part) for part in parts)
    assert cKDTree(whole).query(np.concatenate(parts))[0].max() < 1e-9


def test_shadows_are_what_lines_meet():
    rng = np.random.default_rng(4)
    for shape in (each.values[0] for each in SPACE):
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        across = np.linalg.svd(direction[None])[2][1:]
        middle = shape.bounds().mean(axis=0)
        offsets = rng.uniform(-0.4, 0.4, (20_000, 2))
        is_hit = np.zeros(len(offsets), bool)
        for place in np.linspace(-0.4, 0.4, 81):
            is_hit |= shape.signed_distance(middle + offsets @ across + place * direction) < 0.001
        assert shadow(shape, direction) == pytest.approx(0.64 * is_hit.mean(), rel=0.05)
    ball = trimesh.creation.icosphere(4, 0.3)
    assert shadow(Mesh(np.asarray(ball.vertices), np.asarray(ball.faces)), SLANTED) == pytest.approx(math.pi * 0.09, rel=0.01)
