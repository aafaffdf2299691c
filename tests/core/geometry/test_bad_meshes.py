"""Meshes with typical mistakes: each leads to an error with a name, or to a documented repair."""

import subprocess
import sys

import numpy as np
import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry import sample_shape, signed_distance
from mpm_addon.core.geometry.deforming import DeformingMesh
from mpm_addon.core.geometry.distance import distance_query
from mpm_addon.core.geometry.shapes import Mesh
from mpm_addon.core.messages import Action, Message
from mpm_addon.core.scene.description import Collider, Emitter
from tests.core.scenes import BOX_CORNERS, BOX_TRIANGLES

VERTICES, TRIANGLES = BOX_CORNERS + 0.5, BOX_TRIANGLES


def with_vertex(value):
    vertices = VERTICES.copy()
    vertices[5] = value
    return Mesh(vertices, TRIANGLES)


def test_the_reference_cube_is_good():
    mesh = Mesh(VERTICES, TRIANGLES)
    Emitter("Cube", mesh, "water")
    Collider("Cube", mesh)
    assert mesh.volume() == pytest.approx(1.0) and not mesh.is_inverted


MALFORMED = [
    (Mesh(np.empty((0, 3)), np.empty((0, 3), int)), "the mesh has no vertices; "),
    (Mesh(VERTICES, np.empty((0, 3), int)), "the mesh has no faces; "),
    (Mesh(VERTICES, np.empty((0, 3), int), source="wall.npz"), 'the mesh "wall.npz" has no faces; '),
    (with_vertex([0.0, np.nan, 0.0]), "the mesh has vertex 5 at .*nan.*; move it to finite coordinates"),
    (with_vertex([0.0, np.inf, 0.0]), "the mesh has vertex 5 at .*inf.*; move it"),
    (Mesh(VERTICES, TRIANGLES + 1), "the mesh has triangle 2 with vertices .*8.*; use indices from 0 to 7"),
    (Mesh(VERTICES, TRIANGLES - 1), "the mesh has triangle 0 with vertices .*-1.*; use indices from 0 to 7"),
    (Mesh(VERTICES[:, :2], TRIANGLES), r"vertices of shape \(8, 2\).*; use numbers of shape"),
    (Mesh(VERTICES, TRIANGLES[:, :2]), r"triangles of shape \(12, 2\).*; use whole numbers of shape"),
    (Mesh(VERTICES, TRIANGLES.astype(float)), "triangles of .* type float64; use whole numbers"),
    (Mesh(VERTICES * [1, 0, 0], TRIANGLES), "zero area"),
    (Mesh(VERTICES * 0, TRIANGLES), "zero area"),
]


@pytest.mark.parametrize(("mesh", "words"), MALFORMED)
def test_malformed_mesh_is_named_for_colliders_and_emitters(mesh, words):
    with pytest.raises(SceneError, match=f'^Collider "Wall": .*{words}'):
        Collider("Wall", mesh)
    with pytest.raises(SceneError, match=f'^Emitter "Cube": .*{words}'):
        Emitter("Cube", mesh, "water")


def test_collider_without_faces_has_this_message():
    with pytest.raises(SceneError) as raised:
        Collider("Wall", Mesh(VERTICES, np.empty((0, 3), int)))
    assert str(raised.value) == ('Collider "Wall": the mesh has no faces; add faces, or remove the object from the simulation.')


NOTHING_INSIDE = [
    Mesh(VERTICES * [1, 1, 0], TRIANGLES),
    Mesh(VERTICES, TRIANGLES[:2]),
    Mesh(VERTICES, np.concatenate([TRIANGLES, TRIANGLES[:, ::-1]])),
    Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]),
]


@pytest.mark.parametrize("mesh", NOTHING_INSIDE)
def test_emitter_that_encloses_nothing_is_named_but_may_collide(mesh):
    with pytest.raises(SceneError, match=r'^Emitter "Cube": the mesh (has no volume: .*; close it|is flat, so it has no volume; give it)'):
        Emitter("Cube", mesh, "water")
    with pytest.raises(SceneError, match="no volume"):
        sample_shape(mesh, grid_spacing=0.1)
    Collider("Sheet", mesh)
    on_sheet = mesh.vertices[mesh.triangles[0]].mean(axis=0)
    distance, normal = distance_query(mesh, 0.1)(np.array([on_sheet, on_sheet + np.array([3.0, 0.0, 3.0])]))
    assert distance[0] < 0 < distance[1]
    assert np.isfinite(normal).all()


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_a_flat_mesh_is_called_flat_however_it_is_turned(angle):
    """Such as a text: faces on both sides, without a thickness."""
    turn = np.array([[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]])
    flat = np.array([[0, 0, 0], [5, 0, 0], [5, 1, 0], [0, 1, 0], [2, 0.5, 0]]) @ turn.T + [0.0, 0.0, 1000.0]
    text = Mesh(flat, np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]))
    with pytest.raises(SceneError) as raised:
        Emitter("Cube", text, "water")
    assert raised.value.message == Message("the mesh is flat, so it has no volume", (Action.THICKEN,), 'Emitter "Cube"')
    Emitter("Cube", text, "water", source="surface")


def test_sheet_that_waves_is_no_emitter(sheet):
    waves = sheet.vertices + [0, 0, 0.1] * np.cos(7 * sheet.vertices[:, :1])
    with pytest.raises(SceneError, match=r"no volume: its openings have .*% of the area of its faces, and at most 80% can be closed"):
        Emitter("Sea", Mesh(waves, sheet.triangles), "water")


def test_loose_and_doubled_vertices_change_nothing():
    loose = Mesh(np.concatenate([VERTICES, [[50.0, 50.0, 50.0]]]), TRIANGLES)
    assert loose.bounds() == pytest.approx(np.array([[0, 0, 0], [1, 1, 1]]))
    assert loose.signed_distance(np.array([[0.5, 0.5, 0.4]]))[0] == pytest.approx(-0.4)
    assert np.abs(sample_shape(loose, grid_spacing=0.2) - 0.5).max() < 0.5


def test_negative_and_uneven_scale_keeps_the_inside():
    scaled = Mesh(VERTICES * [-2.0, 0.5, 1.0], TRIANGLES)
    assert scaled.is_inverted
    assert scaled.volume() == pytest.approx(1.0)
    positions = sample_shape(scaled, grid_spacing=0.1)
    assert len(positions) == pytest.approx(8000, rel=0.03)
    assert (positions[:, 0] < 0).all()
    distance, normal = distance_query(scaled, 0.1)(np.array([[-1.0, 0.41, 0.5]]))
    assert distance[0] == pytest.approx(-0.09, abs=0.01)
    assert normal[0] == pytest.approx([0, 1, 0], abs=1e-4)


def test_three_faces_on_an_edge_keep_the_inside():
    fin = Mesh(np.concatenate([VERTICES, [[2.0, 2.0, 2.0]]]), np.concatenate([TRIANGLES, [[6, 7, 8]]]))
    assert fin.volume() == pytest.approx(1.0)
    assert len(sample_shape(fin, grid_spacing=0.1)) == pytest.approx(8000, rel=0.03)
    points = np.random.default_rng(0).uniform(-0.4, 1.4, (2000, 3))
    inside = ((points > 0) & (points < 1)).all(axis=1)
    assert np.array_equal(fin.closed.signed_distance(points) < 0, inside)


def test_holes_are_counted_and_measured_and_nothing_else_is_one():
    lid = Mesh(VERTICES, TRIANGLES[:10])
    area, edge_count = 1.0, 4
    (hole,) = lid.holes()
    assert (hole.edge_count, hole.area) == (edge_count, pytest.approx(area))
    small = Mesh(np.concatenate([VERTICES, VERTICES * 0.5 + 3.0]), np.concatenate([TRIANGLES[:10], TRIANGLES[:11] + 8]))
    assert [(hole.edge_count, hole.area) for hole in small.holes()] == [(4, pytest.approx(1.0)), (3, pytest.approx(0.125))]
    # split edges, fins, dividing walls, repeated and flipped faces
    split = Mesh(VERTICES[TRIANGLES].reshape(-1, 3), np.arange(3 * len(TRIANGLES)).reshape(-1, 3))
    fin = Mesh(np.concatenate([VERTICES, [[2.0, 2.0, 2.0]]]), np.concatenate([TRIANGLES, [[6, 7, 8]]]))
    twice = Mesh(VERTICES, np.concatenate([TRIANGLES, TRIANGLES]))
    flipped = Mesh(VERTICES, np.concatenate([TRIANGLES[:1, ::-1], TRIANGLES[1:]]))
    for mesh in (Mesh(VERTICES, TRIANGLES), split, fin, twice, flipped):
        assert mesh.holes() == []


def test_self_intersecting_parts_are_one_inside():
    double = Mesh(np.concatenate([VERTICES, VERTICES + 0.5]), np.concatenate([TRIANGLES, TRIANGLES + 8]))
    distance = signed_distance(double.vertices, double.triangles, [[0.75, 0.75, 0.75], [1.2, 0.2, 0.2], [1.2, 1.2, 1.2]])
    assert (distance < 0).tolist() == [True, False, True]


@pytest.mark.parametrize("repeated", [slice(None), slice(3, 5), slice(0, 1)])
def test_faces_that_are_there_twice_count_once(repeated):
    """A mesh joined with its own copy would have twice the volume, and its particles twice the mass."""
    triangles = np.concatenate([TRIANGLES, np.roll(TRIANGLES[repeated], 1, axis=1)])
    copied = np.concatenate([TRIANGLES, TRIANGLES[repeated] + 8])
    for mesh in (Mesh(VERTICES, triangles), Mesh(np.concatenate([VERTICES, VERTICES]), copied)):
        assert mesh.volume() == pytest.approx(1.0) and mesh.area() == pytest.approx(6.0) and mesh.opening() == 0.0
        assert len(sample_shape(mesh, grid_spacing=0.1)) == pytest.approx(8000, rel=0.03)
        distance, _ = distance_query(mesh, 0.1)(np.array([[0.5, 0.5, 0.45], [0.5, 0.5, 0.55], [0.5, 0.5, 1.05]]))
        assert (distance < 0).tolist() == [True, True, False]


def test_loose_parts_are_each_solid():
    parts = Mesh(np.concatenate([VERTICES, VERTICES * 0.5 + 3.0]), np.concatenate([TRIANGLES, TRIANGLES + 8]))
    assert parts.volume() == pytest.approx(1.125)
    distance, _ = distance_query(parts, 0.1)(np.array([[0.5, 0.5, 0.95], [3.2, 3.2, 3.05], [2.0, 2.0, 2.0]]))
    assert (distance < 0).tolist() == [True, True, False]


def test_part_that_is_inside_out_within_another_is_a_cavity():
    hollow = Mesh(np.concatenate([VERTICES, VERTICES * 0.5 + 0.25]), np.concatenate([TRIANGLES, TRIANGLES[:, ::-1] + 8]))
    assert hollow.volume() == pytest.approx(0.875)
    distance, _ = distance_query(hollow, 0.1)(np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.2], [0.5, 0.5, 0.3]]))
    assert (distance < 0).tolist() == [False, True, False]


def test_deforming_meshes_are_repaired_alike():
    """What a collider that stands still blocks, one that deforms does too, whatever is wrong with its mesh."""
    fin = (np.concatenate([VERTICES, [[2.0, 2.0, 2.0]]]), np.concatenate([TRIANGLES, [[6, 7, 8]]]))
    bad = {
        "inverted": (VERTICES, TRIANGLES[:, ::-1]),
        "three faces on an edge": fin,
        "overlapping": (np.concatenate([VERTICES, VERTICES + 0.5]), np.concatenate([TRIANGLES, TRIANGLES + 8])),
        "loose parts": (np.concatenate([VERTICES, VERTICES * 0.5 + 3.0]), np.concatenate([TRIANGLES, TRIANGLES + 8])),
        "repeated": (VERTICES, np.concatenate([TRIANGLES, TRIANGLES])),
        "degenerate": (VERTICES, np.concatenate([TRIANGLES, [[0, 0, 1], [5, 5, 5]]])),
        "one face flipped": (VERTICES, np.concatenate([TRIANGLES[:1, ::-1], TRIANGLES[1:]])),
        "open": (VERTICES, TRIANGLES[:10]),
    }
    points = np.random.default_rng(8).uniform(-0.5, 1.7, (4000, 3))
    for words, (vertices, triangles) in bad.items():
        resting, deforming = distance_query(Mesh(vertices, triangles), 0.06), DeformingMesh(vertices[None], triangles, 0.06)
        assert deforming.is_solid == resting.is_solid and deforming.offset == pytest.approx(resting.offset), words
        exact = deforming(points)[0]
        clear = np.abs(exact) > 0.02
        assert np.array_equal(resting(points)[0][clear] < 0, exact[clear] < 0), words
        assert np.abs(resting(points)[0] - exact)[np.abs(exact) < 0.05].mean() < 0.003, words


def test_shapes_are_declared_without_loading_numba():
    # The interface describes scenes in Blender's own process, which must never load numba.
    script = (
        "import sys, numpy as np\n"
        "from mpm_addon.core.scene.description import Emitter, Collider\n"
        "from mpm_addon.core.geometry.shapes import SHAPES, Mesh\n"
        "from mpm_addon.core.geometry.motion import pose_at\n"
        "from mpm_addon.core.geometry.thickness import thickening\n"
        "v = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])\n"
        "mesh = Mesh(v, [[0, 2, 1], [0, 1, 3], [0, 3, 2]])\n"
        "Emitter('A', mesh, 'water'); Collider('B', mesh); mesh.volume(); mesh.bounds(); thickening(mesh, 0.1)\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
