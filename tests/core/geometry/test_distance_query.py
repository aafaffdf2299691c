"""Distances of many points: a mesh's sampled field against its exact distance, and what thin colliders block."""

import igl
import numpy as np
import pytest
import trimesh

from mpm_addon.core.geometry.distance import MeshDistance, distance_query
from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shapes import Box, Mesh, Plane, Sphere
from mpm_addon.core.geometry.thickness import CELLS, thickening

H = 0.06


def points_around(mesh, count=20_000, margin=0.5):
    low, high = mesh.bounds()
    return np.random.default_rng(11).uniform(low - margin, high + margin, (count, 3))


def points_near(mesh, distance, count=4_000):
    points = points_around(mesh, 4 * count, distance)
    return points[np.abs(mesh.signed_distance(points)) < distance][:count]


def test_shape_with_a_formula_answers_exactly():
    points = np.random.default_rng(0).uniform(-2, 2, (100, 3))
    for shape in (Sphere(radius=0.5), Plane(), Box(size=(1, 2, 0.5), rotation=(10, 20, 30))):
        distance, normal = distance_query(shape, H)(points)
        assert np.array_equal(distance, shape.signed_distance(points))
        assert np.abs(np.linalg.norm(normal, axis=1) - 1).max() < 1e-12


def uneven_triangles():
    """Triangles in all directions, from a hundredth of a sample's spacing to many of them, many as thin as needles, some without area."""
    generator = np.random.default_rng(5)
    sizes = H * 10.0 ** generator.uniform(-2.0, 1.2, (400, 1, 1))
    corners = generator.uniform(-1.0, 1.0, (400, 1, 3)) + sizes * generator.uniform(-1.0, 1.0, (400, 3, 3))
    corners[::3, 2] = 0.5 * (corners[::3, 0] + corners[::3, 1]) + 1e-3 * (corners[::3, 2] - corners[::3, 0])
    corners[::20, 2] = corners[::20, 1]
    return Mesh(corners.reshape(-1, 3), np.arange(1200).reshape(-1, 3))


# a spacing for which few triangles are near a block of samples, one for which many are, and one for which all are near each sample
@pytest.mark.parametrize(("name", "spacing"), [("uneven", H), ("ball", 2 * H), ("ball", 8 * H)])
def test_samples_near_a_surface_are_exact(name, spacing, request):
    mesh = uneven_triangles() if name == "uneven" else request.getfixturevalue(name)
    field = MeshDistance(mesh, spacing).field
    places = CELLS * np.argwhere(field.rows >= 0)[:, None] + np.indices(field.samples.shape[1:]).reshape(3, -1).T
    exact = mesh.surface.distance(field.origin + places.reshape(-1, 3) * field.spacing)
    sampled = np.abs(field.samples.ravel())
    is_near = exact < field.exact
    assert np.abs(sampled - exact)[is_near].max() < 1e-6 * field.spacing + 1e-7 * field.exact
    assert 0.1 < is_near.mean() < 0.9
    far = sampled[~is_near]
    assert far.min() > field.exact * (1.0 - 1e-6)
    assert (far < exact[~is_near] * (1.0 + 1e-6)).all()


@pytest.mark.parametrize("name", ["ball", "torus"])
def test_smooth_mesh_is_right_to_a_tenth_of_a_cell_near_its_surface(name, request):
    mesh = request.getfixturevalue(name)
    points = points_near(mesh, H)
    distance, normal = distance_query(mesh, H)(points)
    exact = mesh.signed_distance(points)
    assert np.abs(distance - exact).max() < 0.1 * H
    assert np.abs(np.linalg.norm(normal, axis=1) - 1).max() < 1e-12
    # Moving along the normal by the distance reaches the surface: the normal is the direction out.
    assert np.abs(mesh.signed_distance(points - distance[:, None] * normal)).max() < 0.1 * H


@pytest.mark.parametrize("name", ["ball", "torus", "cube"])
def test_field_agrees_with_libigl_and_with_trimesh_of_the_other_sign(name, request):
    mesh = request.getfixturevalue(name)
    query, points = distance_query(mesh, H), points_around(mesh, 4_000, 0.3)
    theirs = np.asarray(igl.signed_distance(points, mesh.vertices, mesh.triangles)[0])
    near = np.abs(theirs) < H
    assert 50 < near.sum() < len(points)
    # at the edges of the cube between nodes: see the test of the box
    assert np.abs(query(points)[0] - theirs)[near].max() < (0.2 if name == "cube" else 0.1) * H
    clear = np.abs(theirs) > 0.1 * H
    assert np.array_equal(query(points)[0][clear] < 0, theirs[clear] < 0)
    few = points[clear][:200]
    model = trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False)
    assert np.array_equal(query(few)[0] < 0, trimesh.proximity.signed_distance(model, few) > 0)


def test_mesh_that_stays_the_same_is_sampled_once(torus):
    twin = Mesh(torus.vertices.copy(), torus.triangles.copy())
    first = distance_query(torus, H)
    assert distance_query(torus, H) is first and distance_query(twin, H) is first
    assert distance_query(torus, 0.5 * H) is not first
    assert distance_query(Mesh(torus.vertices * 1.001, torus.triangles), H) is not first


def test_thickening_is_told(cube, sheet, open_cube):
    plate = Mesh(cube.vertices * [2, 2, 0.1 * H], cube.triangles)
    # a plate of area A and thickness t with edges: 2 V / (2 A + 8 t), about t
    assert thickening(plate, H) == pytest.approx(0.9 * H, rel=1e-2)
    assert thickening(sheet, H) == H and thickening(open_cube, H) == H
    assert thickening(cube, H) == 0.0 and thickening(Sphere(radius=1e-3), H) == 0.0
    assert thickening(section_of(plate), H) == pytest.approx(0.9 * H, rel=1e-2)
    for shape in (plate, sheet, cube):
        assert 2.0 * distance_query(shape, H).offset == thickening(shape, H)


def test_ball_has_the_normals_of_a_sphere(ball):
    points = points_near(ball, H)
    _, normal = distance_query(ball, H)(points)
    radial = points / np.linalg.norm(points, axis=1)[:, None]
    assert np.sum(normal * radial, axis=1).min() > 0.998


def test_slope_of_the_distance_is_one_near_the_surface(ball):
    query, step = distance_query(ball, H), 0.1 * H
    points = points_near(ball, 0.5 * H)
    radial = points / np.linalg.norm(points, axis=1)[:, None]
    slope = (query(points + step * radial)[0] - query(points - step * radial)[0]) / (2 * step)
    assert np.abs(slope - 1).max() < 0.05


def test_box_mesh_is_exact_at_the_nodes_of_the_grid_and_close_between(cube):
    query, box = distance_query(cube, H), Box(size=(1.0, 1.0, 1.0))
    nodes = np.round(points_near(cube, 0.8 * H) / H) * H
    assert np.abs(query(nodes)[0] - box.signed_distance(nodes)).max() < 1e-6
    points = points_near(cube, H)
    # At a corner of three faces the interpolation of max(x, y, z) is at most 3/8 of a sample spacing off.
    assert np.abs(query(points)[0] - box.signed_distance(points)).max() < 0.2 * H
    assert np.abs(query(points)[0] - box.signed_distance(points)).mean() < 0.01 * H


@pytest.mark.parametrize("name", ["ball", "torus", "cube"])
def test_sign_is_right_everywhere_and_far_values_are_bounds(name, request):
    mesh = request.getfixturevalue(name)
    points = points_around(mesh, margin=3.0)
    distance, normal = distance_query(mesh, H)(points)
    exact = mesh.signed_distance(points)
    far = np.abs(exact) > 0.2 * H
    assert np.array_equal(distance[far] < 0, exact[far] < 0)
    assert (np.abs(distance) <= np.abs(exact) + 0.2 * H).all()
    assert np.isfinite(normal).all()
    assert (exact > 3.0 * H).any() and (distance[exact > 3.0 * H] > H).all()


def test_field_stores_samples_near_the_surface_alone(ball):
    field = distance_query(ball, 2.0 / 128).field
    dense = np.prod(field.rows.shape)
    assert field.samples.shape[0] < 0.3 * dense
    # The blocks of 8 samples an edge that a spherical shell of the band's width touches.
    assert field.samples.shape[0] < 4 * np.pi * 1.0**2 / (8 * field.spacing) ** 2 * 3


def crossing_is_blocked(query, low, high):
    """Whether every column of grid nodes between two corners meets the inside."""
    grids = [np.arange(np.ceil(low[a] / H), np.floor(high[a] / H) + 1) * H for a in range(3)]
    nodes = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1)
    inside = query(nodes.reshape(-1, 3))[0].reshape(nodes.shape[:3]) <= 0
    return inside.any(axis=2).all()


def test_flat_sheet_blocks_from_both_sides_with_one_cell_of_thickness(sheet):
    for height in (0.0, 0.013, 0.04):
        query = distance_query(Mesh(sheet.vertices + np.array([0, 0, height]), sheet.triangles), H)
        assert crossing_is_blocked(query, (-0.9, -0.9, -0.3), (0.9, 0.9, 0.3))
        above, below = np.array([[0.1, 0.2, height + 0.1]]), np.array([[0.1, 0.2, height - 0.1]])
        assert query(above)[0][0] == pytest.approx(0.1 - H / 2, abs=1e-6)
        assert query(below)[0][0] == pytest.approx(0.1 - H / 2, abs=1e-6)
        assert query(above)[1][0] == pytest.approx([0, 0, 1], abs=1e-5)
        assert query(below)[1][0] == pytest.approx([0, 0, -1], abs=1e-5)


def test_open_box_holds_what_is_poured_in(open_cube):
    query = distance_query(open_cube, H)
    assert not query.is_solid
    distance, _ = query(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.9]]))
    assert (distance > 0.3).all()
    assert crossing_is_blocked(query, (-0.4, -0.4, -0.7), (0.4, 0.4, 0.0))


def test_small_hole_is_capped(ball):
    # Without the 300 triangles around the pole: 1.5 % of the surface.
    heights = ball.vertices[ball.triangles].mean(axis=1)[:, 2]
    holed = Mesh(ball.vertices, ball.triangles[np.argsort(heights)[:-300]])
    query = distance_query(holed, H)
    assert query.is_solid
    points = np.random.default_rng(2).uniform(-1.3, 1.3, (40_000, 3))
    radius = np.linalg.norm(points, axis=1)
    capped = points[:, 2] > 0.85
    assert (query(points[(radius < 0.97) & ~capped])[0] < 0).all()
    assert (query(points[radius > 1.01])[0] > 0).all()
    assert query(np.array([[0.0, 0.0, 0.9]]))[0][0] < 0


def test_plate_thinner_than_a_cell_is_thickened_to_one(cube):
    plate = Mesh(cube.vertices * [2, 2, 0.1 * H] + [0, 0, 0.02], cube.triangles)
    query = distance_query(plate, H)
    assert crossing_is_blocked(query, (-0.9, -0.9, -0.3), (0.9, 0.9, 0.3))
    distance, _ = query(np.array([[0.1, 0.2, 0.02 + 0.1], [0.1, 0.2, 0.02 - 0.1]]))
    assert distance == pytest.approx([0.1 - H / 2] * 2, abs=0.06 * H)


def test_inverted_collider_blocks_its_inside(cube):
    distance, normal = distance_query(Mesh(cube.vertices, cube.triangles[:, ::-1]), H)(np.array([[0.1, 0, 0.45]]))
    assert distance[0] == pytest.approx(-0.05, abs=0.01)
    assert normal[0] == pytest.approx([0, 0, 1], abs=1e-5)


def test_collider_far_from_the_origin_is_as_accurate(torus):
    far = np.array([1e6, 2e6, -1e6])
    moved = Mesh(torus.vertices + far, torus.triangles)
    points = points_near(torus, H)
    distance = distance_query(moved, H)(points + far)[0]
    assert np.abs(distance - torus.signed_distance(points)).max() < 0.1 * H


def test_huge_mesh_keeps_its_field_within_memory():
    # A ground of 2 km at a grid spacing of 2 cm would take 10^11 samples: it is sampled more coarsely.
    ground = Mesh([[-1e3, -1e3, 0.3], [1e3, -1e3, 0.3], [1e3, 1e3, 0.3], [-1e3, 1e3, 0.3]], [[0, 1, 2], [0, 2, 3]])
    query = distance_query(ground, 0.02)
    assert query.field.samples.nbytes < 2**28
    points = np.column_stack([np.random.default_rng(1).uniform(-900, 900, (1000, 2)), np.zeros(1000)])
    assert (query(points)[0] < 0).all()
    distance, normal = query(points + np.array([0, 0, 4.0]))
    assert (distance > 0).all()
    assert normal == pytest.approx(np.tile([0, 0, 1], (1000, 1)), abs=1e-3)
