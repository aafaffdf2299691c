"""Skins of material that has torn: the mesh is cut between fragments, and every piece is closed."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from mpm_addon.command_line.main import main
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.particles import Moment
from mpm_addon.derived.settings import SkinSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.cache import Cache
from mpm_addon.storage.derived import State, derived_path, state_of
from mpm_addon.storage.skin_file import SkinPiece, skin_at
from mpm_addon.storage.take import SKIN
from tests.derived.caches import SPACING, killed_run
from tests.derived.skins import cube, particles, scene_of, together, write_moves

SIDE = 1.0
SEEDS = np.random.default_rng(3).uniform(-0.5, 0.5, (8, 3))
LIFT = np.array([0.0, 0.0, 3.0])


def derive(cache: Path, *more: str) -> int:
    return main(["derive", str(cache), "skin", *more])


def whole(x: np.ndarray) -> np.ndarray:
    return np.zeros(len(x), np.int64)


def halves(x: np.ndarray) -> np.ndarray:
    """A wavy tear above the middle."""
    return (x[:, 2] + 0.05 * np.sin(9.0 * x[:, 0]) > 0.13).astype(np.int64)


def quarters(x: np.ndarray) -> np.ndarray:
    return 2 * halves(x) + (x[:, 0] > 0.03)


def shattered(x: np.ndarray) -> np.ndarray:
    found: np.ndarray = ((x[:, None] - SEEDS) ** 2).sum(axis=2).argmin(axis=1)
    return found


def crumbled(x: np.ndarray) -> np.ndarray:
    """Four particles of a corner are loose."""
    return (np.abs(x - 0.475).max(axis=1) < 0.06).astype(np.int64)


def same(x: np.ndarray) -> np.ndarray:
    return x


def apart(x: np.ndarray) -> np.ndarray:
    """The upper half is lifted."""
    return x + halves(x)[:, None] * LIFT


def piece(cache: Path, number: int, place: int = 0) -> SkinPiece:
    return skin_at(open_cache(cache), Moment(number)).pieces[place]


def bodies(mesh: tuple[np.ndarray, np.ndarray], found: SkinPiece) -> list[trimesh.Trimesh]:
    """The connected pieces of a cut mesh."""
    together_ = trimesh.Trimesh(found.position, found.triangles(mesh[1]), process=False)
    return list(together_.split(only_watertight=False, repair=False))


@pytest.mark.parametrize(
    ("cuts", "parting", "count"),
    [(1, halves, 2), (12, halves, 2), (40, halves, 2), (1, quarters, 4), (12, shattered, 8), (40, shattered, 8)],
    ids=["a box in two", "as fine as particles in two", "finer in two", "a box in four", "as fine as particles in eight", "finer in eight"],
)
def test_every_piece_is_closed_and_keeps_its_volume(tmp_path: Path, cuts: int, parting: Any, count: int) -> None:
    mesh, rest = cube(SIDE, cuts=cuts), particles(20)
    write_moves(tmp_path, scene_of(mesh, tear_stretch=1.5), rest, same, same, pieces=(whole, parting))
    assert derive(tmp_path) == 0
    assert piece(tmp_path, 1).cut is None
    found = bodies(mesh, piece(tmp_path, 2))
    # a mesh as fine as particles may have a few islands beside a tear
    large = sorted((body for body in found if body.volume > 0.002), key=lambda body: body.volume)
    assert len(large) == count
    assert all(body.is_watertight and body.is_winding_consistent for body in found)
    assert sum(body.volume for body in found) == pytest.approx(SIDE**3, rel=0.02)
    shares = np.sort(np.bincount(parting(rest)) / len(rest))
    np.testing.assert_allclose([body.volume for body in large], shares, atol=0.02)


def test_a_chip_that_comes_off_a_face_is_as_thick_as_its_particles_were(tmp_path: Path) -> None:
    """The tear meets the surface along one line, which a flat face would close."""

    def chip(x: np.ndarray) -> np.ndarray:
        return ((np.abs(x[:, :2]).max(axis=1) < 0.1) & (x[:, 2] > 0.3)).astype(np.int64)

    mesh, rest = cube(SIDE), particles(20)
    write_moves(tmp_path, scene_of(mesh, tear_stretch=1.5), rest, same, pieces=(chip,))
    assert derive(tmp_path) == 0
    smaller, larger = sorted(bodies(mesh, piece(tmp_path, 1)), key=lambda body: body.volume)
    assert smaller.is_watertight
    assert larger.is_watertight
    assert smaller.volume == pytest.approx(chip(rest).mean() * SIDE**3, rel=0.02)
    assert smaller.volume + larger.volume == pytest.approx(SIDE**3, rel=1e-3)


def test_pieces_follow_their_own_particles_only(tmp_path: Path) -> None:
    mesh, rest = cube(SIDE), particles(20)
    write_moves(tmp_path, scene_of(mesh, tear_stretch=1.5), rest, same, apart, pieces=(halves, halves))
    assert derive(tmp_path) == 0
    first, second = piece(tmp_path, 1), piece(tmp_path, 2)
    moved = second.position - first.position
    # a vertex bound to particles of both sides would be in between
    is_up = moved[:, 2] > 1.5
    np.testing.assert_allclose(moved, is_up[:, None] * LIFT, atol=1e-4)
    assert first.cut is not None
    corners = is_up[first.cut.applied(mesh[1].astype(np.int32))]
    assert (corners.all(axis=1) == corners.any(axis=1)).all()
    np.testing.assert_allclose(second.arrays["velocity"], 2.0 * second.position, atol=0.01)


def test_faces_change_only_when_bonds_part(tmp_path: Path) -> None:
    mesh, rest = cube(SIDE), particles(20)
    write_moves(tmp_path, scene_of(mesh, tear_stretch=1.5), rest, same, apart, same, pieces=(halves, halves, quarters))
    assert derive(tmp_path) == 0
    cuts = [piece(tmp_path, number).cut for number in (1, 2, 3)]
    assert all(cut is not None for cut in cuts)
    for one, other in zip(*cuts[:2], strict=True):  # type: ignore[misc]
        np.testing.assert_array_equal(one, other)
    assert len(cuts[2].triangles) > len(cuts[0].triangles)  # type: ignore[union-attr]


def test_faces_that_are_not_cut_are_those_of_the_mesh_and_parts_lie_in_theirs(tmp_path: Path) -> None:
    mesh, rest = cube(SIDE), particles(20)
    write_moves(tmp_path, scene_of(mesh, tear_stretch=1.5), rest, same, pieces=(halves,))
    assert derive(tmp_path) == 0
    found = piece(tmp_path, 1)
    cut = found.cut
    assert cut is not None
    np.testing.assert_allclose(cut.weights.sum(axis=1), 1.0, atol=1e-6)
    replaced = np.unique(cut.source[cut.source >= 0])
    # only where it tears
    heights = mesh[0][mesh[1][replaced]][:, :, 2]
    assert 0 < len(replaced) < len(mesh[1]) / 3
    assert np.abs(heights - 0.13).max() < 0.05 + 4 * SPACING
    everything = np.concatenate([mesh[0], (mesh[0][cut.parents] * cut.weights[:, :, None]).sum(axis=1)])
    is_part = cut.source >= 0
    corners, sources = everything[cut.triangles[is_part]], mesh[0][mesh[1][cut.source[is_part]]]
    # parts have the area and the direction of their triangle
    areas = np.zeros((len(mesh[1]), 3))
    np.add.at(areas, cut.source[is_part], np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    whole_areas = np.cross(sources[:, 1] - sources[:, 0], sources[:, 2] - sources[:, 0])
    np.testing.assert_allclose(areas[cut.source[is_part]], whole_areas, atol=1e-6)


def test_crumbs_carry_no_part_of_the_mesh(tmp_path: Path) -> None:
    """They fly away, and the corner that they were in stays."""
    mesh, rest = cube(SIDE), particles(20)

    def flown(x: np.ndarray) -> np.ndarray:
        return x + crumbled(x)[:, None] * LIFT

    assert 0 < crumbled(rest).sum() < 24
    write_moves(tmp_path, scene_of(mesh, tear_stretch=1.5), rest, flown, pieces=(crumbled,))
    assert derive(tmp_path) == 0
    found = piece(tmp_path, 1)
    assert found.cut is None
    np.testing.assert_allclose(found.position, mesh[0], atol=1e-4)


def test_other_emitters_and_loose_parts_stay_whole(tmp_path: Path) -> None:
    """Of two cubes of one mesh, and a third one of another emitter, the first tears."""
    away = np.array([3.0, 0.0, 0.0])
    mesh, other = together(cube(SIDE), cube(SIDE, tuple(away))), cube(SIDE, tuple(2 * away))
    rest = np.concatenate([particles(20) + away * number for number in range(3)])

    def first_torn(x: np.ndarray) -> np.ndarray:
        return np.where(x[:, 0] < 1.0, halves(x), 0)

    scene = scene_of(mesh, other, tear_stretch=1.5)
    write_moves(tmp_path, scene, rest, same, emitter=np.repeat([0, 0, 1], 8000), pieces=(first_torn,))
    assert derive(tmp_path) == 0
    found = piece(tmp_path, 1)
    assert len(bodies(mesh, found)) == 3
    assert found.cut is not None
    assert (mesh[0][found.cut.parents][..., 0] < 1.0).all()
    np.testing.assert_allclose(found.position[: len(mesh[0])], mesh[0], atol=1e-4)
    assert piece(tmp_path, 1, 1).cut is None


def test_an_open_mesh_is_cut_and_stays_open_where_it_was(tmp_path: Path) -> None:
    vertices, triangles = cube(SIDE)
    mesh = vertices, triangles[(vertices[triangles][:, :, 2] < 0.5 * SIDE - 1e-9).any(axis=1)]
    write_moves(tmp_path, scene_of(mesh, tear_stretch=1.5), particles(20), same, pieces=(halves,))
    assert derive(tmp_path) == 0
    upper, lower = sorted(bodies(mesh, piece(tmp_path, 1)), key=lambda body: -body.bounds[1][2])
    assert lower.is_watertight
    edges = trimesh.grouping.group_rows(upper.edges_sorted, require_count=1)
    np.testing.assert_allclose(upper.vertices[upper.edges_sorted[edges]][..., 2], 0.5 * SIDE, atol=1e-4)


def test_vertices_that_share_a_place_are_cut_together(tmp_path: Path) -> None:
    """Every triangle has corners of its own, as in meshes that were split along their edges."""
    vertices, triangles = cube(SIDE)
    mesh = vertices[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)
    write_moves(tmp_path, scene_of(mesh, tear_stretch=1.5), particles(20), apart, pieces=(halves,))
    assert derive(tmp_path) == 0
    found = piece(tmp_path, 1)
    assert found.cut is not None
    joined = trimesh.Trimesh(found.position, found.cut.applied(mesh[1].astype(np.int32)), process=True)
    assert sum(body.volume for body in joined.split(only_watertight=True)) == pytest.approx(SIDE**3, rel=0.02)


def test_material_that_could_tear_and_does_not_gives_the_same_bytes(tmp_path: Path) -> None:
    mesh, rest = cube(SIDE), particles(20)
    for name, scene, pieces in (("plain", scene_of(mesh), ()), ("strong", scene_of(mesh, tear_stretch=1.5), (whole, whole))):
        write_moves(tmp_path / name, scene, rest, same, apart, pieces=pieces)
        assert derive(tmp_path / name) == 0
    for number in (1, 2):
        plain, strong = (skin_at(open_cache(tmp_path / name), Moment(number)) for name in ("plain", "strong"))
        assert strong.pieces[0].cut is None
        for name, array in plain.pieces[0].arrays.items():
            assert strong.pieces[0].arrays[name].tobytes() == array.tobytes()


def stretched(folder: Path) -> Cache:
    """Thirty frames, in which the halves part and later the quarters."""
    moves = [lambda x, height=height: x + halves(x)[:, None] * height for height in np.linspace(0.0, 1.0, 30)]
    pieces = [whole] * 5 + [halves] * 15 + [quarters] * 10
    return write_moves(folder, scene_of(cube(SIDE), tear_stretch=1.5), particles(12), *moves, pieces=pieces)


@pytest.mark.long  # of a smaller skin: tests/faults
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_run_resumes_to_the_bytes_of_one_that_was_not(tmp_path: Path) -> None:
    cache, other = stretched(tmp_path / "killed"), stretched(tmp_path / "other")
    killed_run(cache, SKIN, 8)
    assert derive(cache.folder) == 0
    # in other runs, from another frame on
    for frames in ("25-30", "1-24"):
        assert derive(other.folder, "--frames", frames) == 0
    for number in range(1, 31):
        assert state_of(cache, Moment(number), SKIN, SkinSettings().hash) is State.MADE
        assert derived_path(cache, Moment(number), SKIN).read_bytes() == derived_path(other, Moment(number), SKIN).read_bytes()


@pytest.mark.parametrize("format_name", ["ply", "obj"])
def test_cut_meshes_are_exported_with_their_faces(tmp_path: Path, format_name: str) -> None:
    mesh = cube(SIDE)
    assert isinstance(scene_of(mesh).emitters[0].shape, Mesh)
    write_moves(tmp_path / "cache", scene_of(mesh, tear_stretch=1.5), particles(20), apart, pieces=(halves,))
    assert derive(tmp_path / "cache") == 0
    assert main(["export", str(tmp_path / "cache"), "--skin", "--format", format_name, "--output", str(tmp_path / "out")]) == 0
    found = trimesh.load(tmp_path / "out" / f"frame_000001.{format_name}", force="mesh", process=False)
    assert found.is_watertight
    assert found.volume == pytest.approx(SIDE**3, rel=0.01)
    assert len(found.split()) == 2
