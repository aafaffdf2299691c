"""Copied and new scenes bake into their own folders, and replace no frames of other scenes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import scene_caches, session, troubles
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.settings import paths
from mpm_addon.core.errors import MpmError
from tests.blender.scenes import add_emitter, write_cache

blender = pytest.mark.blender


def notify(bpy: Any) -> None:
    """Does what a window does after every operator; without a window, Blender does not call these functions."""
    for function in list(bpy.app.handlers.depsgraph_update_post):
        function(bpy.context.scene, None)


def folders(bpy: Any) -> dict[str, Path]:
    return {scene.name: paths.absolute(paths.cache_path(scene)) for scene in bpy.data.scenes}


def baked(bpy: Any, folder: Path) -> Any:
    """The object that shows the frames of the open scene, in a saved file."""
    add_emitter(bpy)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "file.blend"))
    write_cache(folder / "cache_mpm", {1: 5, 2: 5})
    item = particle_objects.result_object(bpy.context.scene, "//cache_mpm")
    particle_objects.show(bpy.context.scene)
    return item


def test_the_scene_that_was_there_first_keeps_the_folder(bpy: Any, tmp_path: Path) -> None:
    first, second = bpy.context.scene, bpy.data.scenes.new("A")
    third = bpy.data.scenes.new("B/C")
    first.name = "Z"
    for scene in (first, second, third):
        scene.mpm.cache = str(tmp_path / "frames")
    write_cache(tmp_path / "frames_A", {1: 1})
    scene_caches.separate()
    assert (first.mpm.cache, second.mpm.cache, third.mpm.cache) == tuple(
        str(tmp_path / name) for name in ("frames", "frames_A_2", "frames_B_C")
    )
    before = folders(bpy)
    scene_caches.separate()
    assert folders(bpy) == before


def test_the_scene_that_shows_the_frames_keeps_them(bpy: Any, tmp_path: Path) -> None:
    """A file of an earlier version may contain two scenes that share a folder, in any order."""
    first, second = bpy.context.scene, bpy.data.scenes.new("Shown")
    first.mpm.cache = second.mpm.cache = str(write_cache(tmp_path / "frames", {1: 1}))
    particle_objects.result_object(second, second.mpm.cache)
    scene_caches.separate()
    assert second.mpm.cache == str(tmp_path / "frames")
    assert first.mpm.cache != second.mpm.cache


def test_folders_that_are_spelled_otherwise_are_the_same(bpy: Any, tmp_path: Path) -> None:
    other = bpy.data.scenes.new("Other")
    bpy.context.scene.mpm.cache, other.mpm.cache = str(tmp_path / "frames"), str(tmp_path / "frames") + "/"
    scene_caches.separate()
    assert other.mpm.cache == str(tmp_path / "frames_Other")


@blender
@pytest.mark.parametrize("kind", ["FULL_COPY", "LINK_COPY", "NEW"])
def test_a_copied_scene_has_a_folder_of_its_own_at_once(bpy: Any, tmp_path: Path, kind: str) -> None:
    item = baked(bpy, tmp_path)
    first = bpy.context.scene
    bpy.ops.scene.new(type=kind)
    copy = bpy.context.scene if bpy.context.scene != first else bpy.data.scenes[-1]
    notify(bpy)
    assert copy != first
    assert (first.mpm.cache, copy.mpm.cache) == ("//cache_mpm", f"//cache_mpm_{bpy.path.clean_name(copy.name)}")
    assert (item.mpm.cache, item.mpm.home) == ("//cache_mpm", "")
    own = [each for each in particle_objects.result_objects(copy) if each != item]
    assert len(own) == (kind == "FULL_COPY")
    for each in own:
        # it keeps showing its frames until the copy is baked
        assert len(each.data.vertices) == 5
        assert particle_objects.result_object(copy, paths.cache_path(copy)) == each
        assert (each.mpm.cache, each.mpm.home) == (copy.mpm.cache, "")


@blender
def test_a_copy_in_a_file_without_a_name_keeps_its_folder_when_it_is_saved(bpy: Any, tmp_path: Path) -> None:
    add_emitter(bpy)
    scene = bpy.context.scene
    write_cache(Path(paths.cache_path(scene)), {1: 5})
    particle_objects.result_object(scene, paths.cache_path(scene))
    bpy.ops.scene.new(type="FULL_COPY")
    copy = next(each for each in bpy.data.scenes if each != scene)
    notify(bpy)
    assert len(set(folders(bpy).values())) == 2
    write_cache(Path(paths.cache_path(copy)), {1: 7})
    item = particle_objects.result_object(copy, paths.cache_path(copy))
    assert item in particle_objects.result_objects(copy)
    assert len(particle_objects.result_objects(copy)) == 1
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    assert folders(bpy) == {scene.name: tmp_path / "cache_mpm", copy.name: tmp_path / f"cache_mpm_{bpy.path.clean_name(copy.name)}"}
    assert all(paths.holds_cache(folder) for folder in folders(bpy).values())


def test_a_bake_separates_scenes_first(bpy: Any, tmp_path: Path) -> None:
    scene, copy = bpy.context.scene, bpy.data.scenes.new("Copy")
    scene.mpm.cache = copy.mpm.cache = str(tmp_path / "frames")
    with pytest.raises(MpmError, match="has no emitter"):
        session.start(bpy.context, scene=copy)
    session.end()
    assert not troubles.trouble(tmp_path / "frames")
    assert "has no emitter" in troubles.trouble(tmp_path / "frames_Copy").problem
