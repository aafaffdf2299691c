"""Caches that were baked elsewhere are shown, by an existing object or by a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import cache_watch, shown_caches
from mpm_addon.blender.interface.panels import bake_panels
from mpm_addon.blender.playback import particle_objects
from tests.blender.scenes import error_of, write_cache


@pytest.fixture(autouse=True)
def plain_nodes(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if host == "fake":
        # the fake has no node trees
        monkeypatch.setattr(shown_caches.display, "dress", lambda _item, _looks: None)


def test_a_file_that_was_never_baked_shows_the_frames(bpy: Any, host: str, tmp_path: Path) -> None:
    folder = write_cache(tmp_path / "cache", {1: 3, 2: 5})
    bpy.context.scene.frame_set(2)
    assert bpy.ops.mpm.show(cache=str(folder)) == {"FINISHED"}
    (item,) = particle_objects.result_objects(bpy.context.scene)
    assert len(item.data.vertices) == 5
    if host == "bpy":
        assert len(item.modifiers) == 1
        assert item.data.materials


def test_the_object_of_a_file_that_was_moved_finds_its_frames_again(bpy: Any, tmp_path: Path) -> None:
    lost = particle_objects.result_object(bpy.context.scene, str(tmp_path / "gone"))
    other = particle_objects.result_object(bpy.context.scene, str(tmp_path / "gone too"))
    other.mpm.emitter_name = "Ball"
    folder = write_cache(tmp_path / "cache", {1: 3})
    bpy.context.scene.frame_set(1)
    assert shown_caches.show_cache(bpy.context.scene, str(folder)) == lost
    assert len(lost.data.vertices) == 3
    assert shown_caches.show_cache(bpy.context.scene, str(folder)) == lost
    assert len(particle_objects.result_objects(bpy.context.scene)) == 2


def test_an_object_with_frames_of_its_own_keeps_them(bpy: Any, tmp_path: Path) -> None:
    first, second = (write_cache(tmp_path / name, {1: 3}) for name in ("first", "second"))
    item = shown_caches.show_cache(bpy.context.scene, str(first))
    assert shown_caches.show_cache(bpy.context.scene, str(second)) != item
    assert item.mpm.cache == str(first)


def test_a_folder_without_frames_is_refused(bpy: Any, tmp_path: Path) -> None:
    assert "contains no cache" in error_of(lambda: bpy.ops.mpm.show(cache=str(tmp_path)))
    assert not particle_objects.result_objects(bpy.context.scene)


def test_particles_that_were_deleted_come_back_with_the_first_button(
    bpy: Any, draw: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_watch, "SLICE", 60.0)
    scene = bpy.context.scene
    scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 3, 2: 5}))
    scene.frame_end = 2
    assert bpy.ops.mpm.show() == {"FINISHED"}
    assert draw(bake_panels.MPM_PT_bake).find("operator", "mpm.show") == []
    bpy.data.objects.remove(particle_objects.result_objects(scene)[0])
    layout = draw(bake_panels.MPM_PT_bake)
    assert "2 frames baked, not shown" in layout.texts()
    (button,) = layout.find("operator", "mpm.show")
    names = [call.arguments["operator"] for call in layout.find("operator")]
    assert button.arguments["text"] == "Show Frames"
    assert next(name for name in names if name != "mpm.help") == "mpm.show"
    assert bpy.ops.mpm.show(**button.arguments["settings"]) == {"FINISHED"}
    assert len(particle_objects.result_objects(scene)) == 1
    assert "2 frames baked, not shown" not in draw(bake_panels.MPM_PT_bake).texts()
