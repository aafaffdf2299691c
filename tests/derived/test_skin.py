"""Skins made from caches: how exactly meshes follow their particles, and what `derive DIR skin` says, resumes and deletes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from mpm_addon.command_line.main import main
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.animation import Motion
from mpm_addon.derived.settings import SkinSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import State, derived_path, state_of
from mpm_addon.storage.skin_file import skin_at
from mpm_addon.storage.take import SKIN
from tests.derived.caches import SPACING, add_take, arrays, derived
from tests.derived.skins import SIDE, at_rest, cube, particles, piece, same, scene_of, together, twisted, write_moves

# Half of the last digit of positions in a file, which frames have too.
STEP = 2 * SPACING / 8192
TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
AFFINE = np.array([[1.3, 0.2, 0.0], [0.1, 0.8, 0.4], [-0.2, 0.3, 1.1]])


def derive(capsys: pytest.CaptureFixture[str], cache: Path, *more: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit status, events and stderr."""
    return derived(capsys, cache, "skin", *more)


def bent(x: np.ndarray) -> np.ndarray:
    """To a ring of a radius of 0.6 in the middle."""
    radius = 0.6
    return np.stack(
        [(radius + x[:, 2]) * np.sin(x[:, 0] / radius), x[:, 1], (radius + x[:, 2]) * np.cos(x[:, 0] / radius) - radius], axis=1
    )


def stretched(x: np.ndarray) -> np.ndarray:
    """Unevenly: to nearly twice its length at one end, a fifth at the other, thinner where it is longer."""
    return np.stack([x[:, 0] * (1.0 + 0.8 * x[:, 0]), x[:, 1] / (1.0 + 0.5 * x[:, 0]), x[:, 2]], axis=1)


def test_a_mesh_rests_in_its_place_and_follows_rigid_and_affine_motion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mesh, rest = cube(SIDE), particles(20)

    def moved(x: np.ndarray) -> np.ndarray:
        return x @ TURN.T + [3.0, -2.0, 1.0]

    def mapped(x: np.ndarray) -> np.ndarray:
        return x @ AFFINE.T + [0.0, 0.0, 0.5]

    write_moves(tmp_path, scene_of(mesh), rest, same, moved, mapped)
    assert derive(capsys, tmp_path)[0] == 0
    for number, move in enumerate((same, moved, mapped), start=1):
        found = piece(tmp_path, number)
        # well below 0.1 mm
        np.testing.assert_allclose(found.position, move(mesh[0]), atol=STEP + 2e-6)
        np.testing.assert_allclose(found.arrays["velocity"], 2.0 * move(mesh[0]), atol=2e-3 * np.abs(move(mesh[0])).max())


@pytest.mark.parametrize("move", [twisted, bent, stretched])
def test_a_mesh_follows_deformations_within_a_hundredth_and_the_nearest_particle_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], move: Any
) -> None:
    mesh, rest = cube(SIDE), particles(20)
    write_moves(tmp_path, scene_of(mesh), rest, move)
    assert derive(capsys, tmp_path)[0] == 0
    wrong = np.linalg.norm(piece(tmp_path, 1).position - move(mesh[0]), axis=1).max()
    assert wrong < 0.01 * SIDE
    near = np.argmin(((mesh[0][:, None] - rest) ** 2).sum(axis=2), axis=1)
    bound = move(rest)[near] + mesh[0] - rest[near]
    assert np.linalg.norm(bound - move(mesh[0]), axis=1).max() > 0.03 * SIDE


def test_a_mesh_that_is_crushed_onto_a_floor_does_not_reach_through_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The lower half of a cube becomes a layer a tenth as thick, with a sharp edge; the floor is half a spacing below the particles."""
    mesh, rest = cube(SIDE), particles(20)

    def crushed(x: np.ndarray) -> np.ndarray:
        height = np.where(x[:, 2] < 0.0, 0.1 * x[:, 2], x[:, 2])
        return np.column_stack([x[:, :2] * np.where(x[:, 2:] < 0.0, 1.5, 1.0), height])

    write_moves(tmp_path, scene_of(mesh), rest, crushed)
    assert derive(capsys, tmp_path)[0] == 0
    floor = crushed(rest)[:, 2].min() - 0.1 * 0.5 * SPACING
    assert piece(tmp_path, 1).position[:, 2].min() > floor - 0.1 * (2.0 * SPACING)


def test_loose_parts_follow_their_own_particles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two cubes a tenth of a spacing apart: a part without faces in common moves away, and the other stays."""
    apart = SIDE + 0.1 * SPACING
    mesh = together(cube(SIDE, cuts=1), cube(SIDE, (apart, 0.0, 0.0)))
    rest = np.concatenate([particles(20), particles(20, (apart, 0.0, 0.0), seed=2)])

    def parted(x: np.ndarray) -> np.ndarray:
        return x + np.where(x[:, :1] > 0.5 * apart, [[0.0, 0.0, 5.0]], 0.0)

    write_moves(tmp_path, scene_of(mesh), rest, parted)
    assert derive(capsys, tmp_path)[0] == 0
    found = piece(tmp_path, 1)
    np.testing.assert_allclose(found.position, parted(at_rest(found, mesh)), atol=STEP + 4e-6)


def test_overlapping_parts_are_one_material_and_parts_without_particles_follow_what_is_near(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A small cube sticks in a large one, and holds four particles; a patch floats beside it, and holds none."""
    patch = np.array([[0.6, 0.0, 0.0], [0.6, 0.1, 0.0], [0.6, 0.0, 0.1]]), np.array([[0, 1, 2]])
    mesh = together(cube(SIDE), cube(2 * SPACING, (0.5 * SIDE, 0.0, 0.0), cuts=1), patch)
    write_moves(tmp_path, scene_of(mesh), particles(20), lambda x: x @ TURN.T)
    assert derive(capsys, tmp_path)[0] == 0
    np.testing.assert_allclose(piece(tmp_path, 1).position, mesh[0] @ TURN.T, atol=STEP + 4e-6)


@pytest.mark.parametrize(
    ("flat", "tolerance"), [([1.0, 1.0, 0.0], 4e-6), ([1.0, 0.0, 0.0], None)], ids=["a sheet of particles", "a thread of particles"]
)
def test_particles_that_do_not_fill_space_turn_their_mesh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flat: list[float], tolerance: float | None
) -> None:
    mesh, rest = cube(SIDE), particles(20) * flat
    # a thread does not tell how it turns about itself; about y, the shortest turn is the right one
    turn = TURN if tolerance else np.array([[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]])
    write_moves(tmp_path, scene_of(mesh), rest, same, lambda x: x @ turn.T)
    assert derive(capsys, tmp_path)[0] == 0
    np.testing.assert_allclose(piece(tmp_path, 1).position, mesh[0], atol=STEP + 4e-6)
    np.testing.assert_allclose(piece(tmp_path, 2).position, mesh[0] @ turn.T, atol=STEP + 4e-6)


def test_one_particle_carries_its_mesh(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mesh = cube(SIDE)
    write_moves(tmp_path, scene_of(mesh), np.array([[0.1, 0.0, 0.0]]), lambda x: x + np.array([0.0, 0.0, 2.0]))
    assert derive(capsys, tmp_path)[0] == 0
    np.testing.assert_allclose(piece(tmp_path, 1).position, mesh[0] + [0.0, 0.0, 2.0], atol=STEP + 1e-6)


def test_frames_without_particles_have_an_empty_skin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mesh = cube(SIDE)
    write_moves(tmp_path, scene_of(mesh), particles(8), lambda x: x * np.nan, same)
    status, events, _ = derive(capsys, tmp_path)
    assert (status, [event.get("vertices") for event in events]) == (0, [None, 0, len(mesh[0]), None])
    assert [len(piece(tmp_path, number).position) for number in (1, 2)] == [0, len(mesh[0])]


def test_where_particles_leave_the_mesh_follows_those_that_are_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Frames give the same bytes whether the frames before them were made in the same run or not."""
    mesh, rest = cube(SIDE), particles(20)

    def cut(limit: float) -> Any:
        return lambda x: np.where(x[:, :1] > limit, np.nan, x @ TURN.T)

    write_moves(tmp_path, scene_of(mesh), rest, same, cut(0.1), cut(-0.2))
    assert derive(capsys, tmp_path)[0] == 0
    path = derived_path(open_cache(tmp_path), Moment(3), SKIN)
    once = path.read_bytes()
    path.unlink()
    assert derive(capsys, tmp_path, "--frames", "3-3")[0] == 0
    assert path.read_bytes() == once
    np.testing.assert_allclose(piece(tmp_path, 3).position, mesh[0] @ TURN.T, atol=STEP + 2e-5)


def test_a_part_whose_particles_have_all_left_has_no_faces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mesh = together(cube(0.4), cube(0.4, (2.0, 0.0, 0.0)))
    rest = np.concatenate([particles(8), particles(8, (2.0, 0.0, 0.0))])
    write_moves(tmp_path, scene_of(mesh), rest, same, lambda x: np.where(x[:, :1] > 1.0, np.nan, x))
    assert derive(capsys, tmp_path)[0] == 0
    found = piece(tmp_path, 2).position
    half = len(mesh[0]) // 2
    np.testing.assert_allclose(found[:half], mesh[0][:half], atol=STEP + 1e-6)
    assert np.ptp(found[half:], axis=0).max() == 0.0


def test_a_moving_emitter_is_bound_where_it_emits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vertices, triangles = cube(SIDE)
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[:, :3, :3], poses[:, 0, 3] = TURN, [0.0, 10.0, 20.0]
    moving = scene_of((vertices, triangles), motion=Motion(np.array([1.0, 2.0, 3.0]), matrices=poses), frame_start=2)
    there = vertices @ TURN.T + [10.0, 0.0, 0.0]
    write_moves(tmp_path / "rigid", moving, particles(20) @ TURN.T + [10.0, 0.0, 0.0], same)
    shapes = np.stack([vertices, there, vertices])
    deforming = scene_of((vertices, triangles), motion=Motion(np.array([1.0, 2.0, 3.0]), vertices=shapes), frame_start=2)
    write_moves(tmp_path / "deforming", deforming, particles(20) @ TURN.T + [10.0, 0.0, 0.0], same)
    for name in ("rigid", "deforming"):
        assert derive(capsys, tmp_path / name)[0] == 0
        np.testing.assert_allclose(piece(tmp_path / name, 1).position, there, atol=STEP + 4e-6)


def test_a_mesh_is_bound_in_the_take_that_emitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the later take the emitter is elsewhere, with other faces."""
    mesh, rest = cube(SIDE), particles(20)
    write_moves(tmp_path / "cache", scene_of(mesh), rest, same)
    add_take(tmp_path / "cache", scene_of(cube(SIDE, (5.0, 0.0, 0.0), cuts=3)), 1, arrays((rest @ TURN.T).astype(np.float32)))
    assert derive(capsys, tmp_path / "cache")[0] == 0
    np.testing.assert_allclose(piece(tmp_path / "cache", 1).position, mesh[0], atol=STEP + 1e-6)
    np.testing.assert_allclose(piece(tmp_path / "cache", 2).position, mesh[0] @ TURN.T, atol=STEP + 1e-6)
    assert main(["export", str(tmp_path / "cache"), "--skin", "--format", "obj", "--output", str(tmp_path / "out")]) == 0
    assert trimesh.load(tmp_path / "out" / "frame_000002.obj", force="mesh").volume == pytest.approx(SIDE**3, rel=1e-3)


def test_emitters_are_chosen_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    meshes = cube(0.4), cube(0.4, (2.0, 0.0, 0.0))
    rest = np.concatenate([particles(8), particles(8, (2.0, 0.0, 0.0))])
    write_moves(tmp_path, scene_of(*meshes), rest, same, emitter=np.repeat([0, 1], 512))
    assert derive(capsys, tmp_path)[0] == 0
    assert [each.name for each in skin_at(open_cache(tmp_path), Moment(1)).pieces] == ["one", "two"]
    assert state_of(open_cache(tmp_path), Moment(1), SKIN, SkinSettings().hash) is State.MADE
    assert derive(capsys, tmp_path, "--emitters", "two")[0] == 0
    skin = skin_at(open_cache(tmp_path), Moment(1))
    assert (skin.origin.emitters, [each.name for each in skin.pieces]) == ((1,), ["two"])
    np.testing.assert_allclose(skin.pieces[0].position, meshes[1][0], atol=STEP + 1e-6)
    assert state_of(open_cache(tmp_path), Moment(1), SKIN, SkinSettings().hash) is State.OUTDATED


def test_names_may_have_commas() -> None:
    from mpm_addon.derived.skin import chosen_emitters

    scene = scene_of(cube(1.0, cuts=1), cube(1.0, cuts=1), cube(1.0, cuts=1))
    emitters = [replace(each, name=name) for each, name in zip(scene.emitters, ("a", "a, b", "b"), strict=True)]
    wanted = {"a, b": (1,), "b, a": (0, 2), "a, b, b": (1, 2), "b": (2,), "": (0, 1, 2)}
    assert {text: chosen_emitters(emitters, SkinSettings(emitters=text)) for text in wanted} == wanted


@pytest.mark.parametrize("format_name", ["ply", "obj"])
def test_skins_are_exported_as_meshes(tmp_path: Path, capsys: pytest.CaptureFixture[str], format_name: str) -> None:
    meshes = cube(0.4), cube(0.4, (2.0, 0.0, 0.0))
    rest = np.concatenate([particles(8), particles(8, (2.0, 0.0, 0.0))])
    write_moves(tmp_path / "cache", scene_of(*meshes), rest, same, emitter=np.repeat([0, 1], 512))
    export = ["export", str(tmp_path / "cache"), "--skin", "--format", format_name, "--output"]
    assert main([*export, str(tmp_path / "out")]) == 1
    assert "frame 1 has no skin; derive it first" in capsys.readouterr().err
    assert derive(capsys, tmp_path / "cache")[0] == 0
    assert main([*export, str(tmp_path / "out")]) == 0
    found = trimesh.load(tmp_path / "out" / f"frame_000001.{format_name}", force="mesh", process=True)
    assert found.is_watertight
    assert found.volume == pytest.approx(2 * 0.4**3, rel=1e-3)
    assert main([*export, str(tmp_path / "split"), "--split", "emitter"]) == 0
    assert sorted(path.stem for path in (tmp_path / "split").iterdir()) == ["frame_000001_one", "frame_000001_two"]


def test_a_mesh_of_the_scene_is_checked_before_it_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_moves(tmp_path / "cache", scene_of(cube(0.4)), particles(8), same)
    assert derive(capsys, tmp_path / "cache")[0] == 0
    from mpm_addon.storage import renames

    other = scene_of(cube(0.4, cuts=2))
    assert isinstance(other.emitters[0].shape, Mesh)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(renames, "read_scene", lambda _folder: other)
        assert main(["export", str(cache.folder), "--skin", "--format", "obj", "--output", str(tmp_path / "out")]) == 1
    assert "frame 1 has a skin of another mesh; derive it again" in capsys.readouterr().err
