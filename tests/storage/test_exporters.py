"""Exports, read back by other people's code or by hand from the format's description."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

from mpm_addon.core.errors import CacheError
from mpm_addon.core.particles import ATTRIBUTES
from mpm_addon.storage import open_cache
from mpm_addon.storage.cache import Cache
from mpm_addon.storage.exporters import EXPORTERS, export_frames
from tests.storage.stand_in import PARTICLES, bake_here, write_small_scene

pytestmark = pytest.mark.usefixtures("stand_in_simulation")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    bake_here(write_small_scene(tmp_path / "scene", frame_end=3), tmp_path / "cache")
    return open_cache(tmp_path / "cache")


def export_one(cache: Cache, format_name: str, output: Path) -> Path:
    (path,) = export_frames(cache, [2], format_name, output)
    return path


@pytest.mark.parametrize("format_name", sorted(EXPORTERS))
def test_a_folder_takes_one_file_a_frame(cache: Cache, tmp_path: Path, format_name: str) -> None:
    paths = list(export_frames(cache, cache.frames, format_name, tmp_path / "out"))
    assert [path.name for path in paths] == [f"frame_00000{n}.{format_name}" for n in (1, 2, 3)]
    assert sorted((tmp_path / "out").iterdir()) == paths


def test_a_file_takes_one_frame_only(cache: Cache, tmp_path: Path) -> None:
    assert export_one(cache, "ply", tmp_path / "a" / "snow.ply").is_file()
    with pytest.raises(CacheError, match="one file cannot hold 3 frames"):
        list(export_frames(cache, cache.frames, "ply", tmp_path / "snow.ply"))


def test_an_output_that_cannot_be_written_is_named(cache: Cache, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(CacheError, match=r"out/frame_000002\.ply: cannot be written"):
        export_one(cache, "ply", tmp_path / "out")


def test_ply_has_every_attribute(cache: Cache, tmp_path: Path) -> None:
    path = export_one(cache, "ply", tmp_path)
    frame = cache.frame(2)
    np.testing.assert_array_equal(trimesh.load(path).vertices.astype(np.float32), frame.position)
    raw = trimesh.load(path).metadata["_ply_raw"]["vertex"]["data"]
    np.testing.assert_array_equal(raw["velocity_z"].ravel(), frame.velocity[:, 2])
    np.testing.assert_array_equal(raw["id"].ravel(), frame.id)
    for name, kind in ATTRIBUTES.items():
        columns = [column for column in raw.dtype.names if column == name or column.startswith(f"{name}_")]
        assert len(columns) == (0 if name == "position" else kind.components), name


def test_obj_has_the_positions(cache: Cache, tmp_path: Path) -> None:
    lines = export_one(cache, "obj", tmp_path).read_text().splitlines()
    vertices = np.array([line.split()[1:] for line in lines if line.startswith("v ")], dtype=np.float32)
    np.testing.assert_array_equal(vertices, cache.frame(2).position)
    assert sum(line.startswith("p ") for line in lines) == PARTICLES


def test_npz_has_every_attribute_with_its_type(cache: Cache, tmp_path: Path) -> None:
    with np.load(export_one(cache, "npz", tmp_path), allow_pickle=False) as file:
        assert set(file.files) == {*ATTRIBUTES, "frame", "time"}
        for name, array in cache.frame(2).arrays.items():
            assert file[name].dtype == array.dtype
            np.testing.assert_array_equal(file[name], array)


def test_vtk_has_points_cells_and_every_attribute(cache: Cache, tmp_path: Path) -> None:
    """Walks the legacy format: every header line must stand where the binary block before it ends."""
    data = export_one(cache, "vtk", tmp_path).read_bytes()
    position = 0

    def line() -> str:
        nonlocal position
        end = data.index(b"\n", position)
        text, position = data[position:end].decode(), end + 1
        return text

    def block(dtype: str, count: int) -> np.ndarray:
        nonlocal position
        values = np.frombuffer(data, dtype, count, position)
        position += values.nbytes + 1
        return values

    assert line() == "# vtk DataFile Version 3.0"
    assert line().startswith("frame 2")
    assert [line(), line(), line()] == ["BINARY", "DATASET UNSTRUCTURED_GRID", f"POINTS {PARTICLES} float"]
    frame = cache.frame(2)
    np.testing.assert_array_equal(block(">f4", 3 * PARTICLES).reshape(-1, 3), frame.position)
    assert line() == f"CELLS {PARTICLES} {2 * PARTICLES}"
    np.testing.assert_array_equal(block(">i4", 2 * PARTICLES).reshape(-1, 2)[:, 1], np.arange(PARTICLES))
    assert line() == f"CELL_TYPES {PARTICLES}"
    assert set(block(">i4", PARTICLES)) == {1}
    assert line() == f"POINT_DATA {PARTICLES}"
    for name, kind in ATTRIBUTES.items():
        if name == "position":
            continue
        words = line().split()
        assert words[1] == name
        if words[0] == "SCALARS":
            assert line() == "LOOKUP_TABLE default"
        dtype = ">f4" if kind.dtype == "float32" else ">i4"
        values = block(dtype, PARTICLES * kind.components)
        np.testing.assert_array_equal(values, frame.attribute(name).ravel())
    assert position == len(data)
