"""Rigid pieces of a mesh whose material came apart: which part of it each has, and how it moves."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

from mpm_addon.derived.fragments import BrokenMesh, broken_mesh, nearest_pose
from mpm_addon.storage.cache import Cache
from tests.derived.skins import SIDE, cube, particles, same, scene_of, together, write_moves

CUBE = cube(SIDE)
REST = particles(20)


def whole(x: np.ndarray) -> np.ndarray:
    return np.zeros(len(x), np.int64)


def halves(x: np.ndarray) -> np.ndarray:
    return (x[:, 2] > 0.13).astype(np.int64)


def turned(x: np.ndarray, angle: float) -> np.ndarray:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([cos * x[:, 0] - sin * x[:, 2], x[:, 1], sin * x[:, 0] + cos * x[:, 2]], axis=1)


def apart(x: np.ndarray, angle: float = 0.4) -> np.ndarray:
    """The upper half turns, and rises."""
    return np.where(halves(x)[:, None] > 0, turned(x, angle) + np.array([0.0, 0.0, 0.5]), x)


def broken(cache: Cache, **options: float) -> BrokenMesh:
    read: list[int] = []
    found = broken_mesh(cache, 0, cache.frames, look=read.append, **options)
    assert read == list(range(len(cache.frames)))
    return found


def piece_of(found: BrokenMesh, place: int, triangles: np.ndarray) -> trimesh.Trimesh:
    faces = triangles if found.subdivision is None else found.subdivision.applied(triangles, len(CUBE[0])).triangles
    faces = faces if found.cut is None else found.cut.applied(faces.astype(np.int32))
    owns = found.fragments[place].owns[faces]
    assert (owns.all(axis=1) == owns.any(axis=1)).all()
    return trimesh.Trimesh(found.rest, faces[owns.all(axis=1)], process=False)


def test_the_halves_of_a_cube_are_closed_and_fill_it(tmp_path: Path) -> None:
    moves = (same, same, lambda x: apart(x, 0.1), apart)
    found = broken(write_moves(tmp_path, scene_of(CUBE), REST, *moves, pieces=(whole, whole, halves, halves)))
    assert found.parts_at == 3
    lower, upper = (piece_of(found, place, CUBE[1]) for place in (0, 1))
    assert lower.is_watertight and upper.is_watertight
    assert lower.volume + upper.volume == pytest.approx(SIDE**3, rel=1e-9)
    assert lower.volume == pytest.approx(0.63, abs=0.02)
    assert [each.particle_count for each in found.fragments] == [int((halves(REST) == side).sum()) for side in (0, 1)]


def test_poses_move_particles_where_they_are(tmp_path: Path) -> None:
    moves = (same, lambda x: turned(x, -0.7), lambda x: apart(x, 0.1), apart)
    cache = write_moves(tmp_path, scene_of(CUBE), REST, *moves, pieces=(whole, whole, halves, halves))
    found = broken(cache)
    for each, side in zip(found.fragments, (0, 1), strict=True):
        its = halves(REST) == side
        assert list(each.poses) == [1, 2, 3, 4]
        assert each.middle == pytest.approx(REST[its].mean(axis=0), abs=1e-6)
        assert each.bending < 1e-6
        for number, pose in each.poses.items():
            there = REST[its] @ pose[:3, :3].T + pose[:3, 3]
            assert np.abs(there - cache.frame(number).position[its]).max() < 1e-6
    # they are not one piece: a pose of all particles misses them
    assert nearest_pose(REST, apart(REST))[1] > 0.2


def test_what_bends_says_by_how_much(tmp_path: Path) -> None:
    def stretched(x: np.ndarray) -> np.ndarray:
        return apart(x) * np.where(halves(x) == 0, 1.1, 1.0)[:, None]

    moves = (same, stretched, apart)
    found = broken(write_moves(tmp_path, scene_of(CUBE), REST, *moves, pieces=(whole, halves, halves)))
    assert [each.bending for each in found.fragments] == pytest.approx([0.1, 0.0], abs=1e-3)


def test_small_fragments_can_be_left_out_and_material_that_leaves_has_no_pose(tmp_path: Path) -> None:
    def leaving(x: np.ndarray) -> np.ndarray:
        return np.where(halves(x)[:, None] > 0, np.nan, x)

    moves = (same, apart, leaving)
    cache = write_moves(tmp_path, scene_of(CUBE), REST, *moves, pieces=(whole, halves, halves))
    assert [list(each.poses) for each in broken(cache).fragments] == [[1, 2, 3], [1, 2]]
    assert len(broken(cache, smallest=0.5).fragments) == 1
    # what left before the frames that are asked for is no piece
    assert [list(each.poses) for each in broken_mesh(cache, 0, [3], look=lambda read: None).fragments] == [[3]]


def test_loose_parts_of_a_whole_mesh_are_pieces_and_it_never_parts(tmp_path: Path) -> None:
    far = (3.0, 0.0, 0.0)
    mesh, rest = together(cube(SIDE), cube(SIDE, far)), np.concatenate([REST, particles(20, far)])

    def lifted(x: np.ndarray) -> np.ndarray:
        return x + (x[:, :1] > 1.5) * [0.0, 0.0, 2.0]

    found = broken(write_moves(tmp_path, scene_of(mesh), rest, same, lifted, pieces=(whole, whole)))
    assert found.parts_at is None and found.cut is None
    assert [each.poses[2][2, 3] for each in found.fragments] == pytest.approx([0.0, 2.0], abs=1e-6)
    assert [int(each.owns.sum()) for each in found.fragments] == [len(CUBE[0])] * 2


def test_a_pose_never_mirrors() -> None:
    flat = REST * [1.0, 1.0, -1.0]
    pose, missed = nearest_pose(REST, flat)
    assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0)
    assert missed > 0.5
