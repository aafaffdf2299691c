"""Emitters that are drawn as wires make room for their particles, and come back when these are gone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import emitter_wires, observation, previews, removal, shown_caches
from mpm_addon.blender.host.runtime import runtime
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.settings.emitter_look import show_as_wire
from mpm_addon.core.errors import CacheError
from tests.blender.scenes import add_emitter, write_cache
from tests.blender.stand_ins import Modal, add_parts, stand_in

__all__ = ["stand_in"]

# an emitter of the caches that the tests write
BALL = "water ball"


def quick_emitter(bpy: Any, name: str) -> Any:
    """An emitter that looks as a quick effect leaves it."""
    item = add_emitter(bpy, name)
    show_as_wire(item)
    return item


@pytest.fixture
def baked(bpy: Any, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An emitter in a scene whose cache has frames, which nothing shows yet."""
    if host == "fake":
        # the fake has no node trees
        monkeypatch.setattr(shown_caches.display, "dress", add_parts)
    item = quick_emitter(bpy, BALL)
    bpy.context.scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 3}))
    return item


def test_a_bake_hides_the_wires_with_its_first_frame(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    item = quick_emitter(bpy, BALL)
    modal = Modal(bpy)
    modal.invoke()
    assert not item.hide_get()
    modal.to_the_end()
    assert item.hide_get()
    assert not item.hide_viewport, "a disabled object would not be simulated"


def test_freeing_the_bake_shows_them_again(bpy: Any, baked: Any) -> None:
    shown_caches.show_cache(bpy.context.scene)
    assert baked.hide_get()
    removal.free(bpy.context.scene)
    assert not baked.hide_get()
    assert emitter_wires.MARK not in baked


def test_deleting_the_particles_shows_them_again(bpy: Any, baked: Any) -> None:
    item = shown_caches.show_cache(bpy.context.scene)
    observation.look()
    assert baked.hide_get()
    bpy.data.objects.remove(item)
    observation.look()
    assert not baked.hide_get()


@pytest.mark.parametrize("is_known", [False, True])
def test_a_cache_that_is_gone_shows_them_again(bpy: Any, baked: Any, *, is_known: bool) -> None:
    """Before the file was opened, or while it is open."""
    shown_caches.show_cache(bpy.context.scene)
    if is_known:
        observation.look()
        assert baked.hide_get()
    shutil.rmtree(bpy.context.scene.mpm.cache)
    if not is_known:
        runtime.forget_file()
    observation.look()
    assert not baked.hide_get()
    assert emitter_wires.MARK not in baked


def test_freeing_what_is_gone_already_shows_them_again(bpy: Any, baked: Any) -> None:
    shown_caches.show_cache(bpy.context.scene)
    shutil.rmtree(bpy.context.scene.mpm.cache)
    with pytest.raises(CacheError):
        removal.free(bpy.context.scene)
    assert not baked.hide_get()


@pytest.mark.blender
def test_a_mesh_that_is_being_edited_is_hidden_afterwards(bpy: Any, baked: Any) -> None:
    bpy.context.view_layer.objects.active = baked
    bpy.ops.object.mode_set(mode="EDIT")
    shown_caches.show_cache(bpy.context.scene)
    for _ in range(2):
        observation.look()
        assert not baked.hide_get()
    bpy.ops.object.mode_set(mode="OBJECT")
    observation.look()
    assert baked.hide_get()


@pytest.mark.blender
def test_a_mesh_that_is_edited_until_its_particles_are_gone_stays_visible(bpy: Any, baked: Any) -> None:
    bpy.context.view_layer.objects.active = baked
    bpy.ops.object.mode_set(mode="EDIT")
    shown_caches.show_cache(bpy.context.scene)
    bpy.ops.object.mode_set(mode="OBJECT")
    removal.free(bpy.context.scene)
    observation.look()
    assert not baked.hide_get()


def test_a_click_on_its_row_selects_and_shows_it(bpy: Any, baked: Any) -> None:
    scene = bpy.context.scene
    shown_caches.show_cache(scene)
    assert baked.hide_get()
    scene.mpm.active_row = list(scene.objects).index(baked)
    assert not baked.hide_get()
    assert list(bpy.context.selected_objects) == [baked]
    observation.look()
    emitter_wires.hide(scene, {BALL})
    assert not baked.hide_get(), "as after Alt H"


def test_a_preview_that_is_removed_shows_them_again(bpy: Any, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if host == "fake":
        monkeypatch.setattr(shown_caches.display, "dress", add_parts)
    item = quick_emitter(bpy, BALL)
    bpy.context.scene.mpm.cache = str(tmp_path / "cache")
    write_cache(tmp_path / "cache_preview", {1: 3})
    shown_caches.show_cache(bpy.context.scene, str(tmp_path / "cache_preview"))
    assert item.hide_get()
    previews.remove(bpy.context.scene)
    assert not item.hide_get()


def test_what_the_artist_hid_or_shows_stays_so(bpy: Any, baked: Any) -> None:
    scene = bpy.context.scene
    baked.hide_set(True)
    shown = shown_caches.show_cache(scene)
    removal.free(scene)
    assert baked.hide_get(), "the artist hid it"
    baked.hide_set(False)
    bpy.data.objects.remove(shown)
    write_cache(Path(scene.mpm.cache), {1: 3})
    shown_caches.show_cache(scene)
    baked.hide_set(False)
    emitter_wires.hide(scene, {BALL})
    assert not baked.hide_get(), "the artist showed it beside its particles"


@pytest.mark.parametrize("look", ["solid", "rendered", "instances"])
def test_an_emitter_that_looks_as_the_artist_chose_stays_visible(bpy: Any, baked: Any, look: str) -> None:
    if look == "solid":
        baked.display_type = "TEXTURED"
    elif look == "rendered":
        baked.hide_render = False
    else:
        # Blender makes no instances of a hidden object
        baked.instance_type = "FACES"
    shown_caches.show_cache(bpy.context.scene)
    assert not baked.hide_get()


@pytest.mark.blender
def test_they_stay_hidden_after_undo_and_reopening_and_come_back_after_free(bpy: Any, baked: Any, tmp_path: Path) -> None:
    scene, name = bpy.context.scene, baked.name
    shown_caches.show_cache(scene)
    bpy.ops.ed.undo_push(message="Show")
    baked.location.x = 3.0
    bpy.ops.ed.undo_push(message="Move")
    bpy.ops.ed.undo()
    assert bpy.context.scene.objects[name].hide_get()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    observation.look()
    assert bpy.context.scene.objects[name].hide_get()
    removal.free(bpy.context.scene)
    assert not bpy.context.scene.objects[name].hide_get()


@pytest.mark.blender
def test_deleting_the_particles_and_undoing_that_brings_both_states_back(bpy: Any, baked: Any) -> None:
    scene, name = bpy.context.scene, baked.name
    shown = shown_caches.show_cache(scene)
    bpy.ops.ed.undo_push(message="Show")
    observation.look()
    bpy.data.objects.remove(shown)
    bpy.ops.ed.undo_push(message="Delete")
    observation.look()
    assert not scene.objects[name].hide_get()
    bpy.ops.ed.undo()
    scene = bpy.context.scene
    observation.look()
    assert scene.objects[name].hide_get()
    assert len(particle_objects.result_objects(scene)) == 1
