"""Unstable particles, shown in the scene until a bake succeeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import unstable
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.settings import paths
from mpm_addon.core.errors import CacheError
from mpm_addon.storage.failure import FAILURE, remove_failure, write_failure
from tests.blender.scenes import add_emitter, error_of, failure, write_cache


@pytest.fixture
def folder(bpy: Any, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A cache of the scene that became unstable at frame 2."""
    if host == "fake":
        # the fake has no node trees
        monkeypatch.setattr(unstable.display, "dress", lambda *_arguments, **_options: None)
    bpy.context.scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 4}))
    write_failure(tmp_path / "cache", failure(2))
    return str(tmp_path / "cache")


def co_of(item: Any) -> list[tuple[float, ...]]:
    return [tuple(vertex.co) for vertex in item.data.vertices]


def test_they_are_points_at_their_last_good_places(bpy: Any, folder: str) -> None:
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    unstable.refresh(scene, folder)
    (item,) = unstable.objects(scene)
    assert np.allclose(co_of(item), 2.0 * failure(2).position)
    assert [each.value for each in item.data.attributes["id"].data] == [1, 3]
    assert item.show_in_front and item.hide_render
    unstable.refresh(scene, folder)
    assert len(unstable.objects(scene)) == 1
    # they are no result of a bake
    assert particle_objects.result_objects(scene) == []


def test_they_go_when_a_bake_succeeds(bpy: Any, folder: str) -> None:
    scene = bpy.context.scene
    unstable.refresh(scene, folder)
    remove_failure(paths.absolute(folder))
    unstable.refresh(scene, folder)
    assert unstable.objects(scene) == []
    assert "MPM Unstable" not in [mesh.name for mesh in bpy.data.meshes]


def test_freeing_the_bake_takes_them_away(bpy: Any, folder: str) -> None:
    unstable.refresh(bpy.context.scene, folder)
    assert bpy.ops.mpm.bake_free() == {"FINISHED"}
    assert unstable.objects(bpy.context.scene) == []
    assert not Path(folder).exists()


def test_the_button_selects_them_at_the_last_good_frame(bpy: Any, folder: str) -> None:
    scene = bpy.context.scene
    other = add_emitter(bpy)
    other.select_set(True)
    scene.frame_set(17)
    unstable.refresh(scene, folder)
    assert bpy.ops.mpm.select_unstable() == {"FINISHED"}
    (item,) = unstable.objects(scene)
    assert bpy.context.view_layer.objects.active == item
    assert (item.select_get(), other.select_get()) == (True, False)
    assert scene.frame_current == 1


def test_the_button_says_where_there_is_nothing_to_select(bpy: Any, folder: str, tmp_path: Path) -> None:
    unstable.refresh(bpy.context.scene, folder)
    assert "its last bake is stable" in error_of(lambda: bpy.ops.mpm.select_unstable(cache=str(tmp_path)))


def test_a_damaged_file_is_said(bpy: Any, folder: str) -> None:
    (Path(folder) / FAILURE).write_bytes(b"PK")
    with pytest.raises(CacheError, match="bake again"):
        unstable.refresh(bpy.context.scene, folder)
