"""Exports, read back by independent code or by hand from the format's specification."""

import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import trimesh

from mpm_addon.core.errors import CacheError
from mpm_addon.core.particles import ATTRIBUTES, Frame, FrameStatistics
from mpm_addon.storage import open_cache
from mpm_addon.storage.cache import Cache
from mpm_addon.storage.exporters import EXPORTERS, export_frames, vtu
from tests.storage.stand_in import PARTICLES, bake_here, write_small_scene

pytestmark = pytest.mark.usefixtures("stand_in_simulation")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """Of frames with every attribute."""
    scene = write_small_scene(tmp_path / "scene", frame_end=3)
    file = scene / "scene.toml"
    file.write_text(file.read_text().replace("[cache]\n", "[cache]\nstretch = true\ndensity_ratio = true\n"))
    bake_here(scene, tmp_path / "cache")
    return open_cache(tmp_path / "cache")


def export_one(cache: Cache, format_name: str, output: Path) -> Path:
    (path,) = export_frames(cache, [2], format_name, output)
    return path


@pytest.mark.parametrize("format_name", sorted(EXPORTERS))
def test_a_folder_gets_one_file_per_frame(cache: Cache, tmp_path: Path, format_name: str) -> None:
    paths = list(export_frames(cache, cache.frames, format_name, tmp_path / "out"))
    series = ["frames.pvd"] if format_name == "vtu" else []
    assert [path.name for path in paths] == [*(f"frame_00000{n}.{format_name}" for n in (1, 2, 3)), *series]
    assert sorted((tmp_path / "out").iterdir()) == paths


def test_a_file_takes_one_frame_only(cache: Cache, tmp_path: Path) -> None:
    assert export_one(cache, "ply", tmp_path / "a" / "snow.ply").is_file()
    with pytest.raises(CacheError, match="one file cannot hold 3 frames"):
        list(export_frames(cache, cache.frames, "ply", tmp_path / "snow.ply"))


def test_an_output_that_cannot_be_written_is_named(cache: Cache, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(CacheError, match=r"out/frame_000002\.ply cannot be written"):
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
    # Blender warns of anything but vertices
    assert [line[0] for line in lines] == ["#", *["v"] * PARTICLES]


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


def read_vtu(path: Path) -> tuple[dict[str, np.ndarray], ElementTree.Element]:
    """The arrays of a .vtu file and its XML, read as the format's description says."""
    head, _, rest = path.read_bytes().partition(b'<AppendedData encoding="raw">\n_')
    data, _, tail = rest.rpartition(b"\n</AppendedData>")
    root = ElementTree.fromstring(head + b"<AppendedData>" + b"</AppendedData>" + tail)
    assert root.attrib | {"version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64"} == root.attrib
    arrays, end = {}, 0
    for element in root.iter("DataArray"):
        if element.get("format") != "appended":
            continue
        start = int(element.get("offset"))
        assert start == end
        count, size, last = np.frombuffer(data, "<u8", 3, start)
        sizes = np.frombuffer(data, "<u8", int(count), start + 24)
        start += 24 + 8 * int(count)
        blocks = []
        for block in sizes.tolist():
            blocks.append(zlib.decompress(data[start : start + block]))
            start += block
        end = start
        assert [len(block) for block in blocks] == [int(size)] * (int(count) - bool(last)) + [int(last)] * bool(last)
        dtype = {"Float32": "<f4", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1"}[element.get("type")]
        components = int(element.get("NumberOfComponents"))
        values = np.frombuffer(b"".join(blocks), dtype)
        arrays[element.get("Name")] = values.reshape(-1, components) if components > 1 else values
    assert end == len(data)
    return arrays, root


def test_vtu_has_points_cells_time_and_every_attribute(cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vtu, "_BLOCK", 512)  # several blocks in an array, the last one smaller
    frame = cache.frame(2)
    arrays, root = read_vtu(export_one(cache, "vtu", tmp_path / "snow.vtu"))
    np.testing.assert_array_equal(arrays.pop("Points"), frame.position)
    assert arrays.pop("connectivity").tolist() == list(range(PARTICLES))
    assert arrays.pop("offsets").tolist() == list(range(1, PARTICLES + 1))
    assert set(arrays.pop("types").tolist()) == {1}
    assert set(arrays) == set(ATTRIBUTES) - {"position"}
    for name, values in arrays.items():
        np.testing.assert_array_equal(values, frame.attribute(name))
        assert values.dtype == frame.attribute(name).dtype
    piece = root.find(".//Piece")
    assert piece is not None and piece.attrib == {"NumberOfPoints": str(PARTICLES), "NumberOfCells": str(PARTICLES)}
    assert float(root.find(".//FieldData/DataArray").text) == frame.time


def test_a_series_lists_every_vtu_at_its_time(cache: Cache, tmp_path: Path) -> None:
    *files, series = export_frames(cache, [1, 3], "vtu", tmp_path)
    entries = [element.attrib for element in ElementTree.parse(series).getroot().iter("DataSet")]
    assert [entry["file"] for entry in entries] == [path.name for path in files] == ["frame_000001.vtu", "frame_000003.vtu"]
    assert [float(entry["timestep"]) for entry in entries] == [cache.frame(1).time, cache.frame(3).time]


class OneFrame(Cache):
    """One frame with particles of the materials 0, 2 and 0, of three, and of two emitters."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, [])
        self.names = {"materials": ["snow", "mud", "wet snow (custom)"], "emitters": ["a/b", "a:b"]}
        self.arrays: dict[str, Any] = {
            "position": np.arange(9.0, dtype=np.float32).reshape(3, 3),
            "id": np.arange(3, dtype=np.int32),
            "material_index": np.array([0, 2, 0], np.int32),
            "emitter_index": np.array([1, 1, 0], np.int32),
        }

    @property
    def manifest(self) -> dict[str, Any]:
        return self.names

    def frame(self, number: int) -> Frame:
        return Frame(number, 0.5, self.arrays, FrameStatistics(3, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0))


@pytest.fixture
def mixed(tmp_path: Path) -> OneFrame:
    return OneFrame(tmp_path / "mixed")


@pytest.mark.parametrize("format_name", sorted(EXPORTERS))
def test_a_split_writes_one_file_for_each_material(mixed: OneFrame, tmp_path: Path, format_name: str) -> None:
    paths = list(export_frames(mixed, [7], format_name, tmp_path / "out", split="material"))
    names = ["frame_000007_snow", "frame_000007_mud", "frame_000007_wet_snow__custom_"]
    assert [path.stem for path in paths][:3] == names and all(path.stat().st_size for path in paths)
    if format_name == "npz":
        assert [np.load(path)["id"].tolist() for path in paths] == [[0, 2], [], [1]]
    if format_name == "vtu":
        assert [read_vtu(path)[0]["id"].tolist() for path in paths[:3]] == [[0, 2], [], [1]]
        entries = [element.attrib for element in ElementTree.parse(paths[3]).getroot().iter("DataSet")]
        assert [(entry["part"], entry["name"]) for entry in entries] == [("0", "snow"), ("1", "mud"), ("2", "wet_snow__custom_")]


def test_emitters_whose_names_are_alike_in_a_file_name_get_numbers(mixed: OneFrame, tmp_path: Path) -> None:
    paths = list(export_frames(mixed, [7], "npz", tmp_path, split="emitter"))
    assert [path.name for path in paths] == ["frame_000007_a_b.npz", "frame_000007_a_b_2.npz"]
    assert [np.load(path)["id"].tolist() for path in paths] == [[2], [0, 1]]


def test_a_split_that_cannot_be_made_is_refused(mixed: OneFrame, tmp_path: Path) -> None:
    with pytest.raises(CacheError, match=r"one file cannot hold a frame that is split by emitter; use a folder"):
        list(export_frames(mixed, [7], "ply", tmp_path / "a.ply", split="emitter"))
    mixed.names["emitters"].pop()
    with pytest.raises(CacheError, match=r"particles of emitter 1, but only 1 are known"):
        list(export_frames(mixed, [7], "ply", tmp_path, split="emitter"))
    del mixed.arrays["material_index"]
    with pytest.raises(CacheError, match=r"frame 7 has no material_index; cache it, or do not split by material"):
        list(export_frames(mixed, [7], "ply", tmp_path, split="material"))
