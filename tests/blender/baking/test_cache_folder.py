"""The folder of a bake's files, and what freeing a bake deletes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.settings import paths
from tests.blender.scenes import error_of, write_cache


def test_freeing_deletes_the_bakes_files_and_no_others(bpy: Any, tmp_path: Path) -> None:
    folder = write_cache(tmp_path / "cache", {1: 3, 2: 3})
    (folder / "notes.txt").write_text("mine")
    (folder / "takes" / "0001" / "scene" / "texture.npz").write_text("mine")
    item = particle_objects.result_object(bpy.context.scene, str(folder))
    bpy.context.scene.frame_set(1)
    assert len(item.data.vertices) == 3
    assert bpy.ops.mpm.bake_free(cache=str(folder)) == {"FINISHED"}
    left = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert left == ["notes.txt", "takes/0001/scene/texture.npz"]
    assert len(item.data.vertices) == 0


def test_freeing_leaves_no_empty_folder(bpy: Any, tmp_path: Path) -> None:
    folder = write_cache(tmp_path / "cache", {1: 3})
    bpy.context.scene.mpm.cache = str(folder)
    bpy.ops.mpm.bake_free()
    assert not folder.exists()


def test_a_folder_that_is_no_cache_is_not_touched(bpy: Any, tmp_path: Path) -> None:
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / "frame_000001.npz").write_text("mine")
    assert "contains no cache" in error_of(lambda: bpy.ops.mpm.bake_free(cache=str(tmp_path)))
    assert (tmp_path / "frames" / "frame_000001.npz").exists()


def test_caches_are_beside_the_file(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    assert paths.cache_path(scene).startswith(str(paths.unsaved_folder()))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    assert paths.cache_path(scene) == "//cache_mpm"
    assert paths.absolute(paths.cache_path(scene)) == tmp_path / "cache_mpm"
    assert paths.cache_path(scene, object_name="Ball/1") == "//cache_Ball_1"
    assert paths.cache_path(scene, object_name="Ball", cache="//mine") == "//mine"
    scene.mpm.cache = ""
    assert paths.cache_path(scene) == "//cache_mpm"
