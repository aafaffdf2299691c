"""Shapes with a formula: distances, normals, bounds and volumes."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import SHAPES, Box, Capsule, Cylinder, Plane, Points, Sphere
from mpm_addon.core.scene.description import Collider, Emitter

TURNED = (25.0, -40.0, 110.0)
SOLIDS = [
    Sphere(center=(0.1, -0.2, 0.3), radius=0.7),
    Box(center=(0.2, 0.1, -0.1), size=(1.0, 0.6, 1.4), rotation=TURNED),
    Cylinder(center=(0.0, 0.2, 0.1), radius=0.5, height=1.2, rotation=TURNED),
    Capsule(start=(-0.4, 0.1, -0.3), end=(0.5, -0.2, 0.4), radius=0.3),
]
CLOSED_FORMS = [*SOLIDS, Plane(point=(0.1, 0.2, 0.3), normal=(1.0, -2.0, 0.5))]
by_kind = pytest.mark.parametrize("shape", CLOSED_FORMS, ids=lambda shape: shape.kind)
by_solid = pytest.mark.parametrize("shape", SOLIDS, ids=lambda shape: shape.kind)

coordinates = st.floats(-3.0, 3.0)
places = st.lists(st.tuples(coordinates, coordinates, coordinates), min_size=2, max_size=2)
numbers = np.random.default_rng(7)


def test_each_shape_is_registered_under_its_word():
    assert set(SHAPES) == {"plane", "sphere", "box", "capsule", "cylinder", "mesh", "points"}
    assert all(SHAPES[kind].kind == kind for kind in SHAPES)
    assert [kind for kind in SHAPES if not SHAPES[kind].can_emit] == ["plane"]
    assert [kind for kind in SHAPES if not SHAPES[kind].can_collide] == ["points"]


@pytest.mark.parametrize(
    ("shape", "point", "distance"),
    [
        (Sphere(radius=2.0), (3.0, 4.0, 0.0), 3.0),
        (Sphere(radius=2.0), (0.0, 0.0, 0.0), -2.0),
        (Box(size=(2.0, 4.0, 6.0)), (2.0, 4.0, 3.0), math.sqrt(1 + 4)),
        (Box(size=(2.0, 4.0, 6.0)), (0.0, 0.0, 0.0), -1.0),
        (Cylinder(radius=1.0, height=2.0), (4.0, 0.0, 5.0), 5.0),
        (Cylinder(radius=1.0, height=4.0), (0.25, 0.0, 0.0), -0.75),
        (Capsule(start=(0, 0, 0), end=(0, 0, 2), radius=0.5), (0.0, 3.0, 6.0), 4.5),
        (Capsule(start=(1, 1, 1), end=(1, 1, 1), radius=0.5), (1.0, 1.0, 2.0), 0.5),
        (Plane(point=(0, 0, 1), normal=(0, 0, 7)), (5.0, 5.0, -1.0), -2.0),
    ],
)
def test_distance_is_the_closed_form(shape, point, distance):
    assert shape.signed_distance(np.array([point]))[0] == pytest.approx(distance, abs=1e-12)


@by_kind
@settings(max_examples=200, deadline=None)
@given(places=places)
def test_distance_changes_no_faster_than_the_point_moves(shape, places):
    points = np.array(places)
    distance = shape.signed_distance(points)
    assert abs(distance[0] - distance[1]) <= np.linalg.norm(points[0] - points[1]) + 1e-12


@by_kind
def test_point_moved_by_its_distance_against_the_normal_lies_on_the_surface(shape):
    # Exactness: x - d n is a point of the surface. (A bound of the distance would stop short of it.)
    points = numbers.uniform(-2, 2, (2000, 3))
    distance, normal = shape.distance_and_normal(points)
    assert np.abs(np.linalg.norm(normal, axis=1) - 1).max() < 1e-12
    assert np.abs(shape.signed_distance(points - distance[:, None] * normal)).max() < 1e-12


@by_kind
def test_normal_is_the_gradient_of_the_distance(shape):
    points, step = numbers.uniform(-2, 2, (2000, 3)), 1e-6
    _, normal = shape.distance_and_normal(points)
    slopes = [shape.signed_distance(points + o) - shape.signed_distance(points - o) for o in step * np.eye(3)]
    error = np.linalg.norm(np.stack(slopes, axis=1) / (2 * step) - normal, axis=1)
    # The gradient jumps on the medial axis; a step straddles it rarely.
    assert np.mean(error > 1e-6) < 2e-3


@by_solid
def test_bounds_touch_the_shape_on_all_sides(shape):
    low, high = shape.bounds()
    points = numbers.uniform(low, high, (400_000, 3))
    points = points[shape.signed_distance(points) <= 0]
    assert (points.min(axis=0) - low < 0.15).all() and (high - points.max(axis=0) < 0.15).all()
    for axis in range(3):
        beyond = numbers.uniform(low - 1, high + 1, (20_000, 3))
        beyond[:, axis] = np.where(beyond[:, axis] > low[axis], high[axis], low[axis] - 1) + 1e-9
        assert (shape.signed_distance(beyond) > 0).all()


@by_solid
def test_volume_is_the_share_of_the_bounds_that_is_inside(shape):
    low, high = shape.bounds()
    points = numbers.uniform(low, high, (400_000, 3))
    share = np.mean(shape.signed_distance(points) < 0)
    # Monte Carlo: 3 standard deviations of sqrt(p (1 - p) / n) are below 0.3 %.
    assert shape.volume() == pytest.approx(share * np.prod(high - low), rel=1e-2)


def test_euler_angles_turn_about_x_then_y_then_z_as_in_blender():
    # A long box along x, turned 90 degrees about y (x -> -z) and then 90 about z (z stays): along z.
    assert np.diff(Box(size=(4, 1, 2), rotation=(0, 90, 90)).bounds(), axis=0) == pytest.approx(np.array([[1, 2, 4]]))
    # Turned about x first (y -> z), then about z (x -> y, y -> -x): sizes (1, 2, 4) become y = 1, z = 2, x = 4.
    assert np.diff(Box(size=(1, 2, 4), rotation=(90, 0, 90)).bounds(), axis=0) == pytest.approx(np.array([[4, 1, 2]]))


def test_plane_has_no_end():
    assert np.isinf(Plane().bounds()).all()
    with pytest.raises(SceneError, match='Emitter "Floor": a plane has no inside to fill'):
        Emitter("Floor", Plane(), "water")


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Sphere(radius=0.0), "radius 0 m is not allowed; use a finite number above 0 m."),
        (Sphere(radius=math.nan), "radius nan m is not allowed"),
        (Box(size=(1.0, -1.0, 1.0)), "size .* is not allowed; use 3 finite numbers above 0 m."),
        (Cylinder(radius=1.0, height=-2.0), "height -2 m is not allowed"),
        (Capsule(start=(0, 0, math.inf), end=(0, 0, 0), radius=1.0), "start .* is not allowed"),
        (Plane(normal=(0, 0, 0)), "normal .* has length 0; use a direction"),
    ],
)
def test_impossible_shape_is_named(shape, words):
    with pytest.raises(SceneError, match=f'^Collider "Wall": .*{words}'):
        Collider("Wall", shape)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (Points(np.empty((0, 3))), "has no points"),
        (Points([[0, 0, 0], [0, math.nan, 0]]), "position .* at point 1; use finite numbers"),
        (Points([[0.0, 0.0]]), "position of shape \\(1, 2\\)"),
        (Points([[0, 0, 0]], velocity=[[1, 2]]), "velocity of shape"),
        (Points([[0, 0, 0]], volume=[-1.0]), "volume -1 m\\^3 at point 0; use volumes above 0"),
    ],
)
def test_malformed_points_are_named(points, words):
    with pytest.raises(SceneError, match=f'^Emitter "Dust":? .*{words}'):
        Emitter("Dust", points, "water")


def test_points_compare_by_value_and_cannot_be_changed():
    first, second = Points([[0, 1, 2]], volume=[1.0], source="a.npz"), Points([[0, 1, 2.0]], volume=[1.0])
    assert first == second
    assert first != Points([[0, 1, 2]])
    assert first != Points([[0, 1, 3]], volume=[1.0])
    with pytest.raises(ValueError, match="read-only"):
        first.position[0, 0] = 5.0


def test_parameters_are_declared_with_units():
    assert {field.name for field in dataclasses.fields(Cylinder)} == {"center", "radius", "height", "rotation"}
