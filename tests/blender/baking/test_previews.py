"""Previews and other features: moved frames, the motion of dynamic colliders, unstable particles, publications."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender import display
from mpm_addon.blender.baking import derived_processes, previews, session, unstable
from mpm_addon.blender.playback import keyframes, particle_objects, surface_objects
from mpm_addon.blender.settings import paths
from mpm_addon.core.errors import Cancelled
from mpm_addon.storage.failure import write_failure
from tests.blender.playback.test_keyframes import poses
from tests.blender.scenes import add_collider, add_mesh, failure, write_cache

blender = pytest.mark.blender


def shown_cache(scene: Any, cache: str) -> Any:
    """An object that shows a new cache of three frames."""
    write_cache(paths.absolute(cache), {1: 4, 2: 4, 3: 4})
    item = particle_objects.result_object(scene, cache)
    particle_objects.show(scene)
    return item


def baked_and_preview(scene: Any) -> tuple[Any, Any]:
    baked = shown_cache(scene, paths.cache_path(scene))
    made = shown_cache(scene, previews.cache_path(scene))
    assert previews.label(scene) == made
    return baked, made


def test_a_preview_stays_one_when_the_scene_gets_another_cache(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "mine")
    baked, made = baked_and_preview(scene)
    scene.mpm.cache = str(tmp_path / "other")
    assert previews.shown(scene) == made
    previews.begin(scene)
    assert made.mpm.cache == str(tmp_path / "other_preview")
    previews.remove(scene)
    assert particle_objects.result_objects(scene) == [baked]
    assert not baked.hide_viewport


def test_a_preview_hides_the_surface_of_the_bake_too(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "mine")
    baked = shown_cache(scene, paths.cache_path(scene))
    surface = surface_objects.add(baked)
    shown_cache(scene, previews.cache_path(scene))
    previews.label(scene)
    assert (baked.hide_viewport, surface.hide_viewport) == (True, True)
    previews.remove(scene)
    assert (baked.hide_viewport, surface.hide_viewport) == (False, False)


@blender
def test_a_surface_that_is_made_beside_a_preview_is_shown_after_it(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "mine")
    baked, _ = baked_and_preview(scene)
    assert derived_processes.show_in(scene, paths.absolute(baked.mpm.cache), kind="surface")
    surface = baked.mpm.surface.object
    assert surface.hide_viewport
    previews.remove(scene)
    assert not surface.hide_viewport


@blender
def test_a_skin_whose_display_is_built_again_beside_a_preview_is_shown_after_it(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "mine")
    baked, _ = baked_and_preview(scene)
    part = baked.mpm.display.parts.add()
    part.name, part.viewport, part.skin = "first", "mesh", add_mesh(bpy, "first Skin")
    part.skin.parent = baked
    display.rebuild(baked)
    assert part.skin.hide_viewport
    part.viewport = "points"
    display.rebuild(baked)
    previews.remove(scene)
    assert part.skin.hide_viewport
    part.viewport = "mesh"
    display.rebuild(baked)
    assert not part.skin.hide_viewport


@blender
@pytest.mark.parametrize("has_frames", [True, False])
def test_a_preview_without_frames_is_not_there_when_its_file_is_opened(bpy: Any, tmp_path: Path, has_frames: bool) -> None:
    """Live holds its frames in memory."""
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "mine")
    baked, made = baked_and_preview(scene)
    names = baked.name, made.name
    if not has_frames:
        (previews.folder(scene) / "cache.json").unlink()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    scene = bpy.context.scene
    assert [item.name for item in particle_objects.result_objects(scene)] == list(names[: 1 + has_frames])
    assert scene.objects[names[0]].hide_viewport is has_frames


@blender
def test_opening_a_file_deletes_no_frames_of_another_preview(bpy: Any, tmp_path: Path) -> None:
    """The scene's cache has another name than when its preview was shown."""
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "before")
    baked_and_preview(scene)
    (previews.folder(scene) / "cache.json").unlink()
    scene.mpm.cache = str(tmp_path / "mine")
    write_cache(previews.folder(scene), {1: 3})
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert (previews.folder(bpy.context.scene) / "cache.json").is_file()


@blender
def test_a_preview_stays_one_when_the_file_is_saved_first(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = "//sim/cache"
    baked, made = baked_and_preview(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    assert previews.shown(scene) == made
    previews.remove(scene)
    assert particle_objects.result_objects(scene) == [baked]
    assert len(baked.data.vertices) == 4


@blender
def test_the_motion_of_the_bake_returns_when_its_preview_is_removed(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "mine")
    baked_and_preview(scene)
    ball = add_collider(bpy, "Ball", dynamic=True)
    keyframes.write_keys(scene, poses("Ball"), previews.cache_path(scene))
    mine = tmp_path / "mine"
    monkeypatch.setattr("mpm_addon.blender.baking.shown_caches.baked_poses", lambda folder: poses("Ball") if folder == mine else {})
    assert bpy.ops.mpm.preview_free() == {"FINISHED"}
    assert ball.animation_data.action[keyframes.CACHE] == str(tmp_path / "mine")


@blender
def test_unstable_particles_of_a_preview_go_with_it(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "mine")
    baked_and_preview(scene)
    write_failure(previews.folder(scene), failure(2))
    unstable.refresh(scene, previews.cache_path(scene))
    assert unstable.objects(scene)
    previews.remove(scene)
    assert unstable.objects(scene) == []


def test_a_preview_that_is_cancelled_is_known_as_one(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "mine")

    def bake(_context: Any, **_options: Any) -> None:
        shown_cache(scene, previews.cache_path(scene))
        raise Cancelled("canceled")

    monkeypatch.setattr(session, "bake", bake)
    assert bpy.ops.mpm.preview() == {"CANCELLED"}
    item = previews.shown(scene)
    assert item is not None
    assert (item.name, item.hide_render) == (previews.OBJECT_NAME, True)


def test_the_bake_of_another_scene_is_no_preview(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "shot")
    other = bpy.data.scenes.new("Other")
    other.mpm.cache = str(tmp_path / "shot_preview") + "/"
    write_cache(tmp_path / "shot_preview", {1: 4})
    assert previews.folder(scene) == tmp_path / "shot_preview_preview"
    previews.remove(scene)
    assert paths.holds_cache(tmp_path / "shot_preview")
