"""Point clouds for emitters: exports of a frame can be read back, and so can files of other programs."""

from pathlib import Path

import numpy as np
import plyfile
import pytest
import trimesh

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import Points
from mpm_addon.core.particles import ATTRIBUTES, Frame, FrameStatistics
from mpm_addon.storage import read_scene
from mpm_addon.storage.exporters import EXPORTERS

SCENE = """
schema = 1
[time]
frame_end = 2
[solver]
grid_spacing = 0.05
[materials.snow]
preset = "snow"
[[emitters]]
material = "snow"
shape = {{ kind = "points", file = "{file}" }}
"""
# sixteenths, which text holds exactly too
POSITION = np.random.default_rng(0).integers(-99, 99, (5, 3)).astype(np.float32) / 16
VELOCITY = np.random.default_rng(1).integers(-99, 99, (5, 3)).astype(np.float32) / 16


def shape_of(folder: Path, file: str) -> Points:
    (folder / "scene.toml").write_text(SCENE.format(file=file))
    shape = read_scene(folder).emitters[0].shape
    assert isinstance(shape, Points)
    return shape


@pytest.mark.parametrize(("suffix", "has_velocity"), [("npz", True), ("ply", True), ("obj", False)])
def test_an_exported_frame_is_a_cloud_of_points(tmp_path: Path, suffix: str, has_velocity: bool) -> None:
    arrays = {name: np.zeros((5, kind.components) if kind.components > 1 else 5, kind.dtype) for name, kind in ATTRIBUTES.items()}
    arrays |= {"position": POSITION, "velocity": VELOCITY, "my paint": np.arange(5, dtype=np.float32)}
    with open(tmp_path / f"frame.{suffix}", "wb") as file:
        EXPORTERS[suffix](Frame(1, 0.5, arrays, FrameStatistics(5, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)), file)
    assert shape_of(tmp_path, f"frame.{suffix}") == Points(POSITION, VELOCITY if has_velocity else None)


def test_a_ply_of_another_program_brings_velocity_and_volume(tmp_path: Path) -> None:
    names = ("x", "y", "z", "vx", "vy", "vz", "volume", "red")
    vertices = np.array([(1, 2, 3, 4, 5, 6, 7, 8), (9, 8, 7, 6, 5, 4, 3, 2)], dtype=[(name, "f8") for name in names]).view(np.recarray)
    plyfile.PlyData([plyfile.PlyElement.describe(np.asarray(vertices), "vertex")], text=True).write(str(tmp_path / "a.ply"))
    assert shape_of(tmp_path, "a.ply") == Points([[1, 2, 3], [9, 8, 7]], [[4, 5, 6], [6, 5, 4]], [7, 3])
    trimesh.PointCloud(POSITION).export(tmp_path / "b.ply")
    assert shape_of(tmp_path, "b.ply") == Points(POSITION)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.vtu", b"", r"is not a file of points; use one of \.npz, \.ply, \.obj"),
        ("a.ply", b"ply\nnonsense", "is damaged or not a suitable PLY file"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", "not a suitable PLY file"),
        (
            "a.ply",
            b"ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\nend_header\n",
            "contains no points",
        ),
        ("a.obj", b"v 1 2 nonsense\n", "is damaged or not an OBJ mesh"),
        ("a.obj", b"v 1 2 nan\n", "not a finite number"),
    ],
)
def test_a_file_that_is_not_a_cloud_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SceneError, match=message):
        shape_of(tmp_path, name)


def test_an_array_of_an_unknown_name_is_refused_but_in_an_exported_frame(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", position=POSITION, velocities=VELOCITY)
    with pytest.raises(SceneError, match='has an unknown array "velocities"; use position, velocity, volume'):
        shape_of(tmp_path, "a.npz")
    np.savez(tmp_path / "b.npz", velocity=VELOCITY, frame=np.array(1), time=np.array(0.5))
    with pytest.raises(SceneError, match='has no array "position"'):
        shape_of(tmp_path, "b.npz")
