"""Sections of shapes with the plane y = 0: areas, distances and normals in two dimensions."""

import math

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.distance import distance_query
from mpm_addon.core.geometry.motion import pose_at
from mpm_addon.core.geometry.outline import Outline, cut_mesh
from mpm_addon.core.geometry.section import Section, section_of
from mpm_addon.core.geometry.shapes import Box, Capsule, Cylinder, Mesh, Plane, Points, Sphere
from mpm_addon.core.scene.animation import Motion

SHAPES = {
    "disk": Sphere(center=(0.1, 5.0, 0.3), radius=0.8),
    "rectangle": Box(center=(0.2, 7.0, -0.1), size=(1.0, 0.1, 0.6), rotation=(0, 30, 0)),
    "turned rectangle": Box(size=(1.0, 0.5, 0.3), rotation=(90, 0, 0)),
    "box": Box(center=(0.2, 7.0, -0.1), size=(1.0, 1.4, 0.6), rotation=(20, 40, 60)),
    "stadium": Capsule(start=(-1, 3, -1), end=(1, -2, 0.5), radius=0.3),
    "upright cylinder": Cylinder(center=(0.1, 0.3, 0.2), radius=0.5, height=1.5),
    "lying cylinder": Cylinder(center=(0.1, 0.3, 0.2), radius=0.5, height=1.5, rotation=(90, 0, 0)),
    "oblique cylinder": Cylinder(center=(0.1, 0.2, 0.3), radius=0.5, height=1.0, rotation=(50, 20, 0)),
    "long oblique cylinder": Cylinder(center=(0.1, 0.2, 0.3), radius=0.5, height=9.0, rotation=(50, 20, 0)),
}
SECTIONS = [pytest.param(section_of(shape), id=name) for name, shape in SHAPES.items()]


def points_around(section, count=20_000, margin=0.3, seed=3):
    low, high = section.bounds()
    points = np.random.default_rng(seed).uniform(low - margin, high + margin, (count, 3))
    points[:, 1] *= 10.0
    return points


def flattened(points):
    return points * [1.0, 0.0, 1.0]


def outline_points(section, step=1e-3):
    """Points on the outline of a section, found by nothing but the sign of its distance along a fine raster's lines."""
    low, high = section.bounds()
    x, z = np.arange(low[0] - 0.1, high[0] + 0.1, step), np.arange(low[2] - 0.1, high[2] + 0.1, step)
    grid = np.stack(np.meshgrid(x, [0.0], z, indexing="ij"), axis=-1)
    is_in = (section.signed_distance(grid.reshape(-1, 3)) < 0).reshape(len(x), len(z))
    along_x = np.argwhere(is_in[1:] != is_in[:-1]) + np.array([0.5, 0.0])
    along_z = np.argwhere(is_in[:, 1:] != is_in[:, :-1]) + np.array([0.0, 0.5])
    return np.concatenate([along_x, along_z]) * step + [x[0], z[0]]


@pytest.mark.parametrize("section", SECTIONS)
def test_area_is_what_is_inside(section):
    low, high = section.bounds()
    points = np.random.default_rng(1).uniform(low, high, (400_000, 3))
    share = (section.signed_distance(points) < 0).mean()
    # the standard deviation of the share is below 0.0008
    assert section.volume() == pytest.approx(share * (high - low)[0] * (high - low)[2], rel=0.005)
    assert (low[1], high[1]) == (-0.5, 0.5)


@pytest.mark.parametrize("section", SECTIONS)
def test_distance_is_the_way_to_the_outline(section):
    points = points_around(section, 2_000)
    expected = cKDTree(outline_points(section)).query(points[:, [0, 2]])[0]
    assert np.abs(np.abs(section.signed_distance(points)) - expected).max() < 1.5e-3


@pytest.mark.parametrize("section", SECTIONS)
def test_distance_ignores_y_and_the_normal_is_its_gradient(section):
    points = points_around(section)
    ask = distance_query(section, 0.05)
    distance, normal = ask(points)
    assert np.array_equal(distance, ask(flattened(points))[0])
    assert (normal[:, 1] == 0.0).all()
    assert np.linalg.norm(normal, axis=1) == pytest.approx(np.ones(len(points)), abs=1e-12)
    step = 1e-6
    gradient = np.stack([(ask(points + step * axis)[0] - ask(points - step * axis)[0]) / (2 * step) for axis in np.eye(3)], axis=1)
    # but where the nearest part of the outline changes
    assert (np.abs(gradient - normal).max(axis=1) < 1e-5).mean() > 0.999


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if isinstance(shape, Box | Cylinder)])
def test_solids_are_cut_where_they_are_and_boxes_through_their_middle(name):
    solid, section = SHAPES[name], section_of(SHAPES[name])
    points = flattened(points_around(section))
    height = solid.center[1] if isinstance(solid, Box) else 0.0
    in_solid = solid.signed_distance(points + np.array([0.0, height, 0.0])) < 0
    assert ((section.signed_distance(points) < 0) == in_solid).mean() > 0.9999


def test_closed_forms_have_exact_areas():
    assert section_of(SHAPES["disk"]).volume() == pytest.approx(math.pi * 0.64, rel=1e-14)
    assert section_of(SHAPES["rectangle"]).volume() == pytest.approx(0.6, rel=1e-14)
    assert section_of(SHAPES["upright cylinder"]).volume() == pytest.approx(0.8 * 1.5, rel=1e-14)
    assert section_of(SHAPES["stadium"]).volume() == pytest.approx(math.pi * 0.09 + 0.6 * math.hypot(2.0, 1.5), rel=1e-14)
    # an ellipse with the half axes r and r / cos of the tilt
    thin = Cylinder(radius=0.5, height=90.0, rotation=(40, 0, 0))
    assert section_of(thin).volume() == pytest.approx(math.pi * 0.25 / math.sin(math.radians(40)), rel=1e-4)


def test_a_plane_loses_its_y():
    section = section_of(Plane(point=(1.0, 9.0, 2.0), normal=(3.0, 5.0, 4.0)))
    distance, normal = distance_query(section, 0.1)(np.array([[1.0, -4.0, 2.0], [1.6, 0.0, 2.8]]))
    assert distance == pytest.approx([0.0, 1.0], abs=1e-12)
    assert normal == pytest.approx(np.tile([0.6, 0.0, 0.8], (2, 1)))
    with pytest.raises(SceneError, match=r'^Collider "wall": the plane\'s normal \(0.0, 1.0, 0.0\) has no component in the x-z plane'):
        section_of(Plane(normal=(0.0, 1.0, 0.0)), 'Collider "wall"')


def test_points_fall_into_the_plane():
    points = Points(np.ones((2, 3)), np.full((2, 3), 3.0), np.array([0.1, 0.2]))
    section = section_of(points)
    assert np.array_equal(section.position, [[1, 0, 1]] * 2) and np.array_equal(section.velocity, [[3, 0, 3]] * 2)
    assert np.array_equal(section.volume, [0.1, 0.2])


def test_a_section_of_a_section_is_itself(torus):
    for shape in (SHAPES["disk"], torus):
        section = section_of(shape)
        assert section_of(section) is section


@pytest.mark.parametrize("fixture", ["torus", "ball", "cube", "open_cube"])
def test_a_mesh_is_cut_as_an_independent_program_cuts_it(fixture, request):
    mesh = request.getfixturevalue(fixture)
    section = section_of(mesh)
    model = trimesh.Trimesh(mesh.closed.vertices, mesh.closed.triangles, process=False)
    # beside the plane itself, where vertices lie
    cut = trimesh.intersections.mesh_plane(model, [0, 1, 0], [0, 1e-9, 0])
    assert section.length() * (1.0 + section.opening()) == pytest.approx(np.linalg.norm(cut[:, 0] - cut[:, 1], axis=1).sum(), rel=1e-6)
    points = flattened(points_around(section, 100_000, 0.0))
    low, high = section.bounds()
    in_mesh = mesh.closed.signed_distance(points) < 0
    assert section.volume() == pytest.approx(in_mesh.mean() * (high - low)[0] * (high - low)[2], rel=0.02)
    assert np.array_equal(section.signed_distance(points) < 0, in_mesh)


def test_a_mesh_far_from_the_origin_is_cut_alike(torus):
    far = np.array([1e6, 0.0, -1e6])
    near, moved = section_of(torus), section_of(Mesh(torus.vertices + far, torus.triangles))
    points = points_around(near)
    assert moved.volume() == pytest.approx(near.volume(), rel=1e-9)
    assert np.abs(moved.signed_distance(points + far) - near.signed_distance(points)).max() < 1e-8


def test_an_inverted_mesh_is_cut_alike(torus):
    inverted = section_of(Mesh(torus.vertices, torus.triangles[:, ::-1]))
    assert inverted.volume() == pytest.approx(section_of(torus).volume(), rel=1e-12)
    points = points_around(inverted)
    assert np.array_equal(inverted.signed_distance(points), section_of(torus).signed_distance(points))


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_a_mesh_that_stands_on_the_plane_is_cut(low):
    model = trimesh.creation.box(extents=(1, 1, 2))
    model.apply_translation([0, low + 0.5, 0])
    assert section_of(Mesh(np.asarray(model.vertices), np.asarray(model.faces))).volume() == pytest.approx(2.0)


def test_what_the_plane_misses_is_named(cube):
    away = Mesh(cube.vertices + np.array([0, 2, 0]), cube.triangles, source="c.ply")
    with pytest.raises(SceneError) as raised:
        section_of(away, 'Emitter "Cube"')
    assert str(raised.value) == (
        'Emitter "Cube": the mesh "c.ply" reaches from y = 1.5 m to 2.5 m; in 2D it is cut by the plane y = 0, so move it there.'
    )
    with pytest.raises(SceneError, match=r"^the cylinder reaches from y = 0.5 m to 1.5 m; in 2D it is cut by the plane y = 0"):
        section_of(Cylinder(center=(0, 1, 0), radius=0.5, height=1.0))


def test_a_sheet_is_as_thick_as_a_cell_and_blocks_from_both_sides(sheet):
    # the sheet z = 0 from -1 to 1 leaves a line
    distance, normal = distance_query(section_of(sheet), 0.1)(np.array([[0.3, 4, 0.2], [0.3, 0, -0.2], [0.3, 0, 0.02], [1.5, 0, 0.0]]))
    assert distance == pytest.approx([0.15, 0.15, -0.03, 0.45])
    assert normal == pytest.approx(np.array([[0, 0, 1], [0, 0, -1], [0, 0, 1], [1, 0, 0]]), abs=1e-12)


def test_a_thin_solid_is_thickened_and_a_thick_one_is_not(cube):
    board = section_of(Mesh(cube.vertices * [2, 2, 0.01], cube.triangles))
    distance, _ = distance_query(board, 0.1)(np.array([[0.1, 0, 0.2]]))
    # thickness 2 A / L = 2 * 0.02 / 4.02
    assert distance == pytest.approx([0.2 - 0.005 - 0.5 * (0.1 - 0.04 / 4.02)])
    assert distance_query(section_of(cube), 0.1)(np.array([[0.0, 0, 0.7]]))[0] == pytest.approx([0.2])


def test_a_bowl_is_a_sheet_and_a_small_hole_is_closed(open_cube, torus):
    section = section_of(open_cube)
    assert section.opening() == pytest.approx(1.0 / 3.0)
    assert distance_query(section, 0.1)(np.zeros((1, 3)))[0] > 0.4
    assert section_of(torus).opening() == 0.0


def test_a_moving_section_ignores_the_local_y():
    """A pose moves the section in its own plane, whatever the collider's height along y is."""
    pose = np.eye(4)
    pose[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]  # a quarter turn about y
    pose[:3, 3] = [3.0, 8.0, 1.0]
    matrix = pose_at(Motion(np.array([1.0]), matrices=pose[None]), 1.0)
    section = section_of(Box(size=(2.0, 1.0, 0.5)))
    world = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, 2.5], [3.5, 0.0, 1.0]])
    local = (world - matrix[:3, 3]) @ matrix[:3, :3]
    distance, normal = distance_query(section, 0.1)(local)
    assert distance == pytest.approx([-0.25, 0.5, 0.25])
    assert (normal @ matrix[:3, :3].T)[1:] == pytest.approx(np.array([[0, 0, 1], [1, 0, 0]]), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(*[st.floats(-180, 180)] * 3),
    st.tuples(*[st.floats(-0.6, 0.6)] * 3),
    st.sampled_from([trimesh.creation.box(), trimesh.creation.icosphere(2, 0.6), trimesh.creation.torus(0.6, 0.2)]),
)
def test_the_cut_of_a_closed_mesh_is_closed(angles, offset, model):
    """Every point is left as often as it is reached, with the very same coordinates: only then is inside well defined."""
    turned = model.vertices @ trimesh.transformations.euler_matrix(*np.radians(angles))[:3, :3].T + np.round(offset, 1)
    segments, _ = cut_mesh(turned, np.asarray(model.faces))
    starts, ends = (np.unique(part, axis=0, return_counts=True) for part in (segments[:, :2], segments[:, 2:]))
    assert np.array_equal(starts[0], ends[0]) and np.array_equal(starts[1], ends[1])
    if len(segments):
        assert Outline(segments).volume() >= -1e-12


def test_without_exact_corners_the_inside_leaks(cube):
    """What the exactness is for: behind a gap between two segments the outside counts as inside, or the inside as outside."""
    section = section_of(cube)
    torn = section.segments.copy()
    torn[0, :2] += 0.01
    points = points_around(section)
    assert not np.array_equal(Outline(torn).signed_distance(points) < 0, section.signed_distance(points) < 0)


def test_nothing_inside_is_named():
    flat = Outline(np.array([[0.0, 0, 1, 0], [1, 0, 0, 0]]), words="the mesh")
    with pytest.raises(SceneError, match=r'^Emitter "a": the mesh encloses 0 m.2 in the plane y = 0; close it'):
        flat.check_inside('Emitter "a"')
    assert isinstance(section_of(Sphere(radius=1.0)), Section)
