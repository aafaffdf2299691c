"""Skins of meshes that are too coarse to show how their material bends: they get vertices between those that they have."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from mpm_addon.command_line.main import main
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.description import Collider
from mpm_addon.derived.refinement import subdivision_of
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import derived_path
from mpm_addon.storage.skin_file import SkinPiece
from mpm_addon.storage.take import SKIN
from tests.derived.caches import SPACING
from tests.derived.skins import SIDE, at_rest, cube, particles, piece, same, scene_of, together, twisted, write_moves

CELL = 2 * SPACING
LONGEST = 1.5 * CELL
# Half of the last digit of positions in a file, which frames have too.
STEP = CELL / 8192
TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
BOX = cube(SIDE, cuts=1)
UP = np.array([0.0, 0.0, 0.02])
Mesh = tuple[np.ndarray, np.ndarray]


def bent(x: np.ndarray) -> np.ndarray:
    """To a ring of a radius of 0.6 in the middle."""
    angle, radius = x[:, 0] / 0.6, 0.6 + x[:, 2]
    return np.stack([radius * np.sin(angle), x[:, 1], radius * np.cos(angle) - 0.6], axis=1)


def bulged(x: np.ndarray) -> np.ndarray:
    """Each side by a seventh of the size in its middle."""
    return x * (1.0 + 0.3 * np.cos(np.pi * x[:, [1, 2, 0]]) * np.cos(np.pi * x[:, [2, 0, 1]]))


def derived(folder: Path, mesh: Mesh, *moves: Any, **scene: Any) -> list[SkinPiece]:
    """The pieces of a skin whose particles fill a cube and are moved."""
    write_moves(folder, replace(scene_of(mesh), **scene), particles(20), *moves)
    assert main(["derive", str(folder), "skin"]) == 0
    return [piece(folder, number) for number in range(1, len(moves) + 1)]


def edges_of(triangles: np.ndarray) -> np.ndarray:
    return np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)


def rim(points: np.ndarray, triangles: np.ndarray) -> float:
    """The length of the edges that an odd number of triangles have: it grows where a vertex lies on an edge that is not bisected."""
    edges, uses = np.unique(edges_of(triangles), axis=0, return_counts=True)
    odd = edges[uses % 2 == 1]
    return float(np.linalg.norm(points[odd[:, 0]] - points[odd[:, 1]], axis=1).sum())


def area(points: np.ndarray, triangles: np.ndarray) -> float:
    corners = points[triangles]
    return float(np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2)


def test_a_box_rests_in_its_place_and_moves_with_its_material(tmp_path: Path) -> None:
    def moved(x: np.ndarray) -> np.ndarray:
        return x @ TURN.T + [3.0, -2.0, 1.0]

    still, turned = derived(tmp_path, BOX, same, moved)
    rest = at_rest(still, BOX)
    np.testing.assert_allclose(still.position, rest, atol=STEP + 2e-6)
    # on the faces of the box, far within a tenth of a millimeter
    np.testing.assert_allclose(np.abs(still.position).max(axis=1), 0.5 * SIDE, atol=STEP + 2e-6)
    np.testing.assert_allclose(turned.position, moved(rest), atol=STEP + 4e-6)
    body = trimesh.Trimesh(still.position, still.triangles(BOX[1]), process=False)
    assert body.is_watertight
    assert body.is_winding_consistent
    assert body.volume == pytest.approx(SIDE**3, rel=1e-3)
    assert body.edges_unique_length.max() < LONGEST + 1e-3
    assert len(still.position) > 20 * len(BOX[0])


@pytest.mark.parametrize("move", [bent, twisted, bulged])
def test_its_edges_and_faces_follow_a_bend(tmp_path: Path, move: Any) -> None:
    (found,) = derived(tmp_path, BOX, move)
    rest = at_rest(found, BOX)
    assert np.linalg.norm(found.position - move(rest), axis=1).max() < 0.01 * SIDE
    # edges and faces between eight vertices do not
    assert found.subdivision is not None
    straight = found.subdivision.between(move(BOX[0]))
    assert np.linalg.norm(straight - move(rest), axis=1).max() > 0.1 * SIDE
    # nor does the surface between the vertices leave the true one
    corners = rest[found.triangles(BOX[1])].mean(axis=1)
    middle = found.position[found.triangles(BOX[1])].mean(axis=1)
    assert np.linalg.norm(middle - move(corners), axis=1).max() < 0.015 * SIDE


def crushed(x: np.ndarray) -> np.ndarray:
    """The lower half becomes a layer a tenth as thick, with a sharp edge."""
    height = np.where(x[:, 2] < 0.0, 0.1 * x[:, 2], x[:, 2])
    return np.column_stack([x[:, :2] * np.where(x[:, 2:] < 0.0, 1.5, 1.0), height])


def floor(height: float) -> Collider:
    return Collider("floor", SHAPES["box"](size=(9.0, 9.0, 9.0), center=(0.0, 0.0, height - 4.5)))


def drop(x: np.ndarray) -> np.ndarray:
    return x - np.array([0.0, 0.0, 2.0])


def test_nothing_reaches_through_a_floor(tmp_path: Path) -> None:
    """The floor is as far below the outermost particles as there is squeezed material."""

    def move(x: np.ndarray) -> np.ndarray:
        return drop(bent(x) * [1.0, 1.0, 0.6])

    height = float(move(particles(20))[:, 2].min() - 0.1 * 0.5 * SPACING)
    (found,) = derived(tmp_path / "floor", BOX, move, colliders=(floor(height),))
    assert found.position[:, 2].min() > height - 0.05 * SPACING
    (through,) = derived(tmp_path / "none", BOX, move)
    assert through.position[:, 2].min() < height - 0.08 * SPACING
    is_above = through.position[:, 2] > height
    np.testing.assert_array_equal(found.position[is_above], through.position[is_above])


def test_what_was_in_a_collider_at_rest_stays(tmp_path: Path) -> None:
    """A box that sinks a third of a cell into the floor, and one of which a half is in a block, by which it may be held."""
    for name, height in (("sunk", -0.5 * SIDE + 0.3 * CELL), ("held", 0.0)):
        found, lifted, lowered = derived(tmp_path / name, BOX, same, lambda x: x + UP, lambda x: x - UP, colliders=(floor(height),))
        rest = at_rest(found, BOX)
        np.testing.assert_allclose(found.position, rest, atol=STEP + 2e-6)
        np.testing.assert_allclose(lifted.position, rest + UP, atol=STEP + 2e-6)
        is_inside = rest[:, 2] < height
        np.testing.assert_allclose(lowered.position[is_inside], rest[is_inside], atol=STEP + 2e-6)


def test_faces_are_the_same_at_every_frame_and_in_every_run(tmp_path: Path) -> None:
    pieces = derived(tmp_path, BOX, same, bent, twisted)
    assert len({found.subdivision.key for found in pieces if found.subdivision is not None}) == 1
    path = derived_path(open_cache(tmp_path), Moment(3), SKIN)
    once = path.read_bytes()
    path.unlink()
    assert main(["derive", str(tmp_path), "skin", "--frames", "3-3"]) == 0
    assert path.read_bytes() == once


def test_a_mesh_that_is_fine_enough_keeps_its_faces(tmp_path: Path) -> None:
    mesh = cube(SIDE)
    (found,) = derived(tmp_path, mesh, bent)
    assert found.subdivision is None
    assert found.triangles(mesh[1]).tolist() == mesh[1].tolist()


def test_only_long_edges_are_bisected() -> None:
    """A box beside a fine sphere, in one mesh: the sphere keeps its vertices."""
    ball = trimesh.creation.icosphere(subdivisions=4, radius=0.3)
    mesh = together((np.asarray(ball.vertices), np.asarray(ball.faces)), cube(SIDE, (3.0, 0.0, 0.0), cuts=1))
    found = subdivision_of(*mesh, LONGEST)
    assert found is not None
    assert found.ends[: found.rounds[0]].min() >= len(ball.vertices)
    triangles, source = found.applied(mesh[1], len(mesh[0]))
    assert (triangles[source < len(ball.faces)] == ball.faces).all()


@pytest.mark.parametrize("most", [9, 100, 1000, 5000])
def test_where_vertices_do_not_suffice_all_edges_stay_longer(most: int) -> None:
    found = subdivision_of(*BOX, SIDE / 1000.0, most)
    count = len(BOX[0]) + (0 if found is None else len(found.ends))
    assert count <= most
    if found is None:
        return
    assert count > most / 4
    points, edges = found.between(BOX[0]), edges_of(found.applied(BOX[1], len(BOX[0])).triangles)
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    assert length.max() < 3.0 * length.min()


def test_a_mesh_with_as_many_vertices_as_allowed_is_left_alone() -> None:
    grid = cube(SIDE, cuts=30)
    assert subdivision_of(*grid, SIDE / 1000.0, len(grid[0])) is None


def _prism(sides: int) -> Mesh:
    """A prism whose ends are fans, as Blender triangulates a face with many corners."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([0.5 * np.cos(angle), 0.5 * np.sin(angle)], axis=1)
    vertices = np.concatenate([np.column_stack([ring, np.full(sides, height)]) for height in (-0.5, 0.5)])
    number = np.arange(sides)
    after = (number + 1) % sides
    walls = [np.stack([number, after, after + sides], axis=1), np.stack([number, after + sides, number + sides], axis=1)]
    fan = np.stack([np.zeros(sides - 2, np.int64), number[1:-1], number[2:]], axis=1)
    return vertices, np.concatenate([*walls, fan[:, ::-1], fan + sides])


def _with(vertices: list[list[float]], triangles: list[list[int]]) -> Mesh:
    return np.concatenate([BOX[0], np.array(vertices).reshape(-1, 3)]), np.concatenate([BOX[1], np.array(triangles)])


_EDGE = BOX[1][0, :2].tolist()
_SPLIT = BOX[0][BOX[1]].reshape(-1, 3), np.arange(3 * len(BOX[1])).reshape(-1, 3)


@pytest.mark.parametrize(
    "mesh",
    [
        _prism(60),
        _with([[2.0, 0.0, 0.0]], [[*_EDGE, 8]]),
        (np.concatenate([BOX[0], [[9.0, 9.0, 9.0]]]), BOX[1]),
        _with([[0.0, 0.0, 0.0]], [[*_EDGE, _EDGE[0]]]),
        _with([BOX[0][_EDGE].mean(axis=0).tolist()], [[*_EDGE, 8]]),
        (BOX[0], np.concatenate([BOX[1], BOX[1][:3]])),
        (BOX[0], BOX[1][2:]),
        _SPLIT,
    ],
    ids=["a fan", "a fin", "a loose vertex", "a vertex twice", "no area", "duplicate faces", "a hole", "separate corners"],
)
def test_any_mesh_is_bisected_without_gaps(mesh: Mesh) -> None:
    vertices, triangles = mesh
    found = subdivision_of(vertices, triangles, LONGEST)
    assert found is not None
    points, parts = found.between(vertices), found.applied(triangles, len(vertices)).triangles
    is_sound = (parts != np.roll(parts, 1, axis=1)).all(axis=1)
    edges = edges_of(parts[is_sound])
    assert np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1).max() <= LONGEST
    assert area(points, parts) == pytest.approx(area(vertices, triangles))
    assert rim(points, parts[is_sound]) == pytest.approx(rim(vertices, triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]))


def test_edges_at_the_same_place_are_bisected_alike() -> None:
    """Every triangle has corners of its own; merged by distance, the parts are closed."""
    found = subdivision_of(*_SPLIT, LONGEST)
    assert found is not None
    merged = trimesh.Trimesh(found.between(_SPLIT[0]), found.applied(_SPLIT[1], len(_SPLIT[0])).triangles, process=True)
    assert merged.is_watertight
    assert merged.volume == pytest.approx(SIDE**3)


@pytest.mark.parametrize("format_name", ["ply", "obj"])
def test_the_additional_vertices_are_exported(tmp_path: Path, format_name: str) -> None:
    (found,) = derived(tmp_path / "cache", BOX, bulged)
    assert main(["export", str(tmp_path / "cache"), "--skin", "--format", format_name, "--output", str(tmp_path / "out")]) == 0
    mesh = trimesh.load(tmp_path / "out" / f"frame_000001.{format_name}", force="mesh", process=False)
    assert mesh.is_watertight
    np.testing.assert_allclose(mesh.vertices, found.position, atol=1e-6)
