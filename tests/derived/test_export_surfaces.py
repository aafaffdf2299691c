"""Surfaces for other programs, read back by independent code."""

from pathlib import Path

import numpy as np
import plyfile
import pytest
import trimesh

from mpm_addon.command_line.main import main
from mpm_addon.core.particles import Moment
from mpm_addon.storage import open_cache
from mpm_addon.storage.surface_file import surface_at
from tests.derived.caches import arrays, block, write_cache


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with surfaces of frames 1 and 2: water and sand apart. Frame 3 has none."""
    path = tmp_path_factory.mktemp("cache")
    position = np.concatenate([block(4, (x, 0.0, 0.0)) for x in (-1.0, 1.0)])
    write_cache(path, *[arrays(position, np.repeat([0, 2], 64))] * 3)
    assert main(["derive", str(path), "--quality", "draft", "--include", "all", "--frames", "1-2", "--json"]) == 0
    return path


def export(folder: Path, output: Path, format_name: str, *more: str) -> int:
    return main(["export", str(folder), "--surface", "--format", format_name, "--output", str(output), *more])


@pytest.mark.parametrize("format_name", ["ply", "obj"])
def test_a_sequence_is_read_back_by_others(folder: Path, tmp_path: Path, format_name: str) -> None:
    assert export(folder, tmp_path, format_name, "--frames", "1-2") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"frame_00000{number}.{format_name}" for number in (1, 2)]
    pieces = surface_at(open_cache(folder), Moment(1)).pieces
    mesh = trimesh.load(tmp_path / f"frame_000001.{format_name}", force="mesh", process=True)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(sum(trimesh.Trimesh(each.position, each.triangles).volume for each in pieces), rel=1e-4)
    assert len(mesh.faces) == sum(len(each.triangles) for each in pieces)


def test_ply_has_the_attributes(folder: Path, tmp_path: Path) -> None:
    assert export(folder, tmp_path / "a.ply", "ply", "--frames", "2") == 0
    vertices = plyfile.PlyData.read(tmp_path / "a.ply")["vertex"]
    np.testing.assert_allclose(vertices["velocity_z"], 3.0, rtol=1e-3)
    np.testing.assert_array_equal(vertices["emitter_index"], np.where(vertices["x"] > 0, 2, 0))


def test_each_mesh_can_have_a_file(folder: Path, tmp_path: Path) -> None:
    assert export(folder, tmp_path, "obj", "--frames", "1", "--split", "material") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["frame_000001_sand.obj", "frame_000001_water.obj"]
    assert trimesh.load(tmp_path / "frame_000001_sand.obj", force="mesh").bounds[0][0] > 0.0


@pytest.mark.parametrize(
    ("format_name", "output", "more", "words"),
    [
        ("obj", "out", ("--frames", "3"), "frame 3 has no surface; derive it first."),
        ("vtk", "out", ("--frames", "1"), "surfaces cannot be written as vtk; use obj or ply."),
        ("obj", "a.obj", ("--frames", "1-2"), "one file cannot hold several"),
    ],
)
def test_wrong_requests_are_answered_in_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], format_name: str, output: str, more: tuple[str, ...], words: str
) -> None:
    assert export(folder, tmp_path / output, format_name, *more) == 1
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


def test_an_empty_surface_is_an_empty_mesh(tmp_path: Path) -> None:
    write_cache(tmp_path / "cache", arrays(block(0)))
    assert main(["derive", str(tmp_path / "cache"), "--json"]) == 0
    for name in ("ply", "obj"):
        assert export(tmp_path / "cache", tmp_path / f"a.{name}", name, "--frames", "1") == 0
    assert len(plyfile.PlyData.read(tmp_path / "a.ply")["vertex"].data) == 0
