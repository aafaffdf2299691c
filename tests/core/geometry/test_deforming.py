"""A mesh that deforms: distances, signs and velocities against closed forms and an independent program."""

import igl
import numpy as np
import pytest
import trimesh

from mpm_addon.core.geometry.deforming import DeformingMesh
from mpm_addon.core.geometry.rotation import euler_matrix
from mpm_addon.core.geometry.shapes import Mesh

H = 0.06


def deforming(mesh, spacing=H):
    return DeformingMesh(mesh.vertices[None], mesh.triangles, spacing)


def points_around(low, high, count=5_000, margin=0.3):
    return np.random.default_rng(7).uniform(low - margin, high + margin, (count, 3))


def bent(vertices):
    """A smooth deformation that keeps no length: bent upward, sheared, and narrower above."""
    x, y, z = vertices.T
    return np.column_stack([x * (1.2 - 0.3 * z), y + 0.2 * z, z + 0.3 * x**2]) + np.array([3.0, -2.0, 1.0])


@pytest.mark.parametrize("name", ["torus", "cube"])
def test_every_pose_is_exact_with_the_sign_of_the_winding_number(name, request):
    mesh = request.getfixturevalue(name)
    query = deforming(mesh)
    assert query.is_solid and query.offset == 0.0
    for vertices in (bent(mesh.vertices), mesh.vertices @ euler_matrix((10, 20, 30)).T, bent(bent(mesh.vertices))):
        query.move_to(vertices, np.zeros_like(vertices))
        points = points_around(vertices.min(axis=0), vertices.max(axis=0))
        distance, normal, _ = query(points)
        squared, _, nearest = igl.point_mesh_squared_distance(points, vertices, mesh.triangles)
        inside = igl.winding_number(vertices, mesh.triangles, points) > 0.5
        assert 0.02 < inside.mean() < 0.95
        assert np.abs(np.abs(distance) - np.sqrt(squared)).max() < 1e-12
        assert np.array_equal(distance < 0, inside)
        assert np.abs(points - distance[:, None] * normal - nearest)[squared < 0.01].max() < 1e-9


def test_lattices_answer_as_points_do(torus):
    query = deforming(torus)
    vertices = bent(torus.vertices)
    query.move_to(vertices, np.cross([1.0, 2.0, 3.0], vertices))
    low, high = query.bounds()
    # in the order of the solver's blocks, z fastest: neighbors pass their signs on
    blocks = np.stack(np.meshgrid(*(np.arange(a, b, 4) for a, b in zip(low // H - 6, high // H + 6, strict=True)), indexing="ij"), axis=-1)
    first = blocks.reshape(-1, 3) * H
    distance, normal, velocity = query.at_lattices(first, 4, H, 1.5 * H)
    steps = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * H
    exact, exact_normal, exact_velocity = (part.reshape(len(first), 64, -1) for part in query((first[:, None] + steps).reshape(-1, 3)))
    exact = exact[:, :, 0]
    near = np.abs(exact) < 1.5 * H
    assert 0.02 < near.mean() < 0.9
    assert np.abs(distance - exact)[near].max() < 1e-12
    assert (np.abs(distance[~near]) >= 1.5 * H * (1 - 1e-9)).all() and (np.abs(distance) <= np.abs(exact) + 1e-12).all()
    assert np.array_equal(distance < 0, exact < 0)
    # where two triangles are as near, either may be named
    assert (np.abs(normal - exact_normal)[near].max(axis=1) < 1e-6).mean() > 0.999
    assert (np.abs(velocity - exact_velocity)[near].max(axis=1) < 1e-6).mean() > 0.999


def test_surface_moves_as_its_corners_do(cube):
    query = deforming(cube)
    velocities = cube.vertices * [1.0, 2.0, 3.0] + np.array([0.0, 0.0, 5.0])
    query.move_to(cube.vertices, velocities)
    points = np.array([[0.2, 0.1, 0.7], [0.1, 0.45, 0.2], [0.9, 0.8, 0.7]])
    _, normal, velocity = query(points)
    assert velocity == pytest.approx(np.array([[0.2, 0.2, 6.5], [0.1, 1.0, 5.6], [0.5, 1.0, 6.5]]), abs=1e-12)
    assert normal[:2] == pytest.approx(np.array([[0, 0, 1], [0, 1, 0]]), abs=1e-12)


def test_overlapping_boxes_are_one_inside(cube):
    """The faces of each inside the other part nothing: signs are right on both sides of them."""
    vertices = np.concatenate([cube.vertices, cube.vertices + 0.4])
    query = DeformingMesh(vertices[None], np.concatenate([cube.triangles, cube.triangles + 8]), H)
    moved = np.concatenate([cube.vertices, cube.vertices * 0.8 + 0.45])
    query.move_to(moved, np.zeros_like(moved))
    points = points_around(moved.min(axis=0), moved.max(axis=0))
    first = (np.abs(points) < 0.5).all(axis=1)
    second = (np.abs(points - 0.45) < 0.4).all(axis=1)
    assert (first & second).sum() > 50
    assert np.array_equal(query(points)[0] < 0, first | second)
    low, _ = query.bounds()
    blocks = np.stack(np.meshgrid(*[np.arange(-1, 6)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * 4 * H + low
    distance = query.at_lattices(blocks, 4, H, H)[0].reshape(-1)
    nodes = (blocks[:, None] + np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * H).reshape(-1, 3)
    inside = (np.abs(nodes) < 0.5).all(axis=1) | (np.abs(nodes - 0.45) < 0.4).all(axis=1)
    clear = np.abs(distance) > 1e-9
    assert np.array_equal(distance[clear] < 0, inside[clear])


def test_inverted_mesh_is_flipped_and_stays_so(torus):
    query = DeformingMesh(torus.vertices[None], torus.triangles[:, ::-1], H)
    vertices = bent(torus.vertices)
    query.move_to(vertices, np.zeros_like(vertices))
    reference = deforming(torus)
    reference.move_to(vertices, np.zeros_like(vertices))
    points = points_around(vertices.min(axis=0), vertices.max(axis=0))
    assert np.abs(query(points)[0] - reference(points)[0]).max() < 1e-12


def test_caps_follow_their_rims():
    """A tube with a small opening that moves away keeps its inside, and the cap moves with the rim."""
    model = trimesh.creation.cylinder(radius=0.3, height=2.0, sections=32)
    # a vertex in the middle of the top goes, and all triangles around it
    top = int(np.flatnonzero((np.linalg.norm(model.vertices[:, :2], axis=1) < 1e-9) & (model.vertices[:, 2] > 0))[0])
    triangles = np.asarray(model.faces)[~(model.faces == top).any(axis=1)]
    query = DeformingMesh(np.asarray(model.vertices)[None], triangles, H)
    assert query.is_solid
    vertices = np.asarray(model.vertices) * [1.0, 1.0, 1.5] + np.array([5.0, 0.0, 0.0])
    query.move_to(vertices, np.tile([0.0, 0.0, 2.0], (len(vertices), 1)))
    distance, normal, velocity = query(np.array([[5.0, 0.0, 1.4], [5.0, 0.0, 1.6], [0.0, 0.0, 0.0]]))
    assert distance[:2] == pytest.approx([-0.1, 0.1], abs=1e-12) and distance[2] > 4.0
    assert normal[:2] == pytest.approx(np.array([[0, 0, 1], [0, 0, 1]]), abs=1e-9)
    assert velocity[:2] == pytest.approx(np.array([[0, 0, 2.0], [0, 0, 2.0]]), abs=1e-12)


def test_sheet_and_thin_plate_are_as_thick_as_a_cell(sheet, cube):
    waves = sheet.vertices + [0, 0, 0.2] * np.cos(2 * sheet.vertices[:, :1])
    query = deforming(sheet)
    assert not query.is_solid and query.offset == 0.5 * H
    query.move_to(waves, np.zeros_like(waves))
    above = Mesh(waves, sheet.triangles).vertices[:50] + np.array([0.0, 0.0, 0.01])
    assert (query(above)[0] < 0.0).all() and (query(above - [0.0, 0.0, 0.02])[0] < 0.0).all()
    plate = cube.vertices * [2.0, 2.0, 0.5 * H]
    # thick at first, thin later: it is thickened for the thinnest pose
    assert DeformingMesh(np.stack([cube.vertices, plate]), cube.triangles, H).offset == pytest.approx(0.25 * H, rel=0.1)
    assert DeformingMesh(np.stack([cube.vertices, cube.vertices]), cube.triangles, H).offset == 0.0


def test_faces_without_area_may_open_later(cube):
    """A pose in which faces collapse is followed by one in which they do not."""
    flat = cube.vertices * [1.0, 1.0, 0.0]
    query = DeformingMesh(np.stack([cube.vertices, flat]), cube.triangles, H)
    query.move_to(flat, np.zeros_like(flat))
    distance, normal, velocity = query(np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.0]]))
    assert distance[0] == pytest.approx(0.3 - 0.5 * H) and np.isfinite(normal).all() and np.isfinite(velocity).all()
    query.move_to(cube.vertices, np.zeros_like(flat))
    assert query(np.array([[0.1, 0.0, 0.3]]))[0] == pytest.approx([-0.2 - 0.5 * H])
