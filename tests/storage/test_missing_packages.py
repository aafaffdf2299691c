"""Optional packages are required only for the files that need them; without them, one line names the remedy."""

import subprocess
import sys
from pathlib import Path

import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.storage import read_scene, write_scene
from mpm_addon.storage.exporters import ply
from mpm_addon.storage.meshes import read_mesh
from tests.storage import stand_in
from tests.storage.stand_in import write_small_scene


def test_without_them_everything_imports_and_scenes_are_read(tmp_path: Path) -> None:
    scene = write_small_scene(tmp_path)
    program = (
        "import sys; sys.modules['tomli_w'] = sys.modules['plyfile'] = None\n"
        "import mpm_addon.bake, mpm_addon.command_line.main, mpm_addon.storage.exporters\n"
        "from mpm_addon.storage.cache_writer import manifest_of\n"
        f"manifest_of(mpm_addon.storage.read_scene({str(scene)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_writing_a_scene_names_the_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = read_scene(write_small_scene(tmp_path / "scene"))
    monkeypatch.setitem(sys.modules, "tomli_w", None)
    with pytest.raises(SceneError, match=r"^writing scenes needs the package tomli_w, .*; pip install tomli-w\.$"):
        write_scene(scene, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_reading_a_ply_names_the_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plyfile", None)
    with pytest.raises(SceneError, match=r'^reading "mesh\.ply" needs the package plyfile, .*; pip install plyfile\.$'):
        read_mesh(tmp_path / "mesh.ply")


def test_exporting_ply_names_the_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = next(stand_in.Simulation(read_scene(write_small_scene(tmp_path))).frames())
    monkeypatch.setitem(sys.modules, "plyfile", None)
    with open(tmp_path / "out.ply", "wb") as file, pytest.raises(SceneError, match=r"the ply format .*; pip install plyfile\.$"):
        ply.write(frame, file)
