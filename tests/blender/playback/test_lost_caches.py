"""A cache folder that is missing when a file is opened, as on a drive that is not connected, and that is there again later."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import bake_facts, bake_view, emitter_wires, observation, removal, shown_caches
from mpm_addon.blender.building.placement import show_as_wire
from mpm_addon.blender.playback import lost_caches, particle_objects, skin_objects
from tests.blender.scenes import add_emitter, add_mesh, write_cache
from tests.blender.stand_ins import add_parts

BALL = "water ball"


@pytest.fixture
def shown(bpy: Any, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The particles of an emitter that is drawn as wires, with a skin."""
    if host == "fake":
        # the fake has no node trees
        monkeypatch.setattr(shown_caches.display, "dress", add_parts)
    show_as_wire(add_emitter(bpy, BALL))
    bpy.context.scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 3, 2: 4}))
    item = shown_caches.show_cache(bpy.context.scene)
    skin = item.mpm.display.parts[0].skin = add_mesh(bpy, "Skin")
    skin.parent = item
    return item


def lose(tmp_path: Path) -> None:
    (tmp_path / "cache").rename(tmp_path / "elsewhere")


def find_again(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").rename(tmp_path / "cache")


def test_the_panel_says_which_folder_is_missing_and_what_to_do(bpy: Any, shown: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    lose(tmp_path)
    scene.frame_set(2)
    assert len(shown.data.vertices) == 0
    status = particle_objects.status(shown)
    assert status.problem == f"its cache folder {tmp_path / 'cache'} is missing, so it shows nothing"
    view = bake_view.view_of(bake_facts.facts_of(scene))
    assert view.headline == "The cache is missing"
    assert str(tmp_path / "cache") in view.message and "Connect its drive" in view.remedy and "Show Frames" in view.remedy
    assert [button.operator for row in view.buttons for button in row] == ["mpm.bake"]
    find_again(tmp_path)
    scene.frame_set(1)
    assert (len(shown.data.vertices), lost_caches.lost(shown)) == (3, lost_caches.NOTHING)


def test_skins_are_hidden_meanwhile_and_come_back_as_they_were(bpy: Any, shown: Any, tmp_path: Path) -> None:
    scene, skin = bpy.context.scene, shown.mpm.display.parts[0].skin
    skin.hide_viewport, skin.hide_render = False, True
    scene.frame_set(2)
    assert (skin.hide_viewport, skin.hide_render) == (False, True)
    lose(tmp_path)
    for frame in (1, 2):
        scene.frame_set(frame)
        assert (skin.hide_viewport, skin.hide_render) == (True, True)
    find_again(tmp_path)
    scene.frame_set(1)
    assert (skin.hide_viewport, skin.hide_render) == (False, True)
    assert skin_objects.WITHOUT_CACHE not in skin


def test_emitters_are_shown_meanwhile_and_hidden_again(bpy: Any, shown: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    emitter, other = scene.objects[BALL], add_emitter(bpy, "snow ball")
    observation.look()
    assert emitter.hide_get()
    lose(tmp_path)
    for _ in range(2):
        observation.look()
        assert not emitter.hide_get()
    find_again(tmp_path)
    observation.look()
    assert emitter.hide_get() and not other.hide_get()
    # what the artist shows beside its particles stays visible, then, too
    emitter.hide_set(False)
    for change in (lose, find_again):
        change(tmp_path)
        observation.look()
        assert not emitter.hide_get()


def test_a_bake_that_was_freed_is_not_missing(bpy: Any, shown: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    removal.free(scene)
    assert lost_caches.lost(shown) == lost_caches.NOTHING
    assert bake_view.view_of(bake_facts.facts_of(scene)).headline == "Nothing baked yet"
    observation.look()
    assert emitter_wires.AWAY not in scene.objects[BALL]
    # until it was baked again
    write_cache(tmp_path / "cache", {1: 3})
    shown_caches.show_cache(scene)
    shutil.rmtree(tmp_path / "cache")
    assert lost_caches.lost(shown)


@pytest.mark.blender
def test_a_file_that_is_opened_and_saved_without_its_cache_loses_nothing(
    bpy: Any, shown: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    observation.look()
    name, file = shown.name, str(tmp_path / "file.blend")
    bpy.context.scene.frame_set(2)
    bpy.ops.wm.save_as_mainfile(filepath=file)
    lose(tmp_path)
    for _ in range(2):
        capfd.readouterr()
        bpy.ops.wm.open_mainfile(filepath=file)
        told = [line for line in capfd.readouterr().out.splitlines() if line.startswith("MPM: ")]
        assert len(told) == 1 and str(tmp_path / "cache") in told[0] and "bake again" in told[0]
        item = bpy.data.objects[name]
        skin, emitter = item.mpm.display.parts[0].skin, bpy.data.objects[BALL]
        assert (len(item.data.vertices), skin.hide_viewport, emitter.hide_get()) == (0, True, False)
        bpy.ops.wm.save_mainfile()
    find_again(tmp_path)
    bpy.ops.wm.open_mainfile(filepath=file)
    item = bpy.data.objects[name]
    skin, emitter = item.mpm.display.parts[0].skin, bpy.data.objects[BALL]
    assert (len(item.data.vertices), skin.hide_viewport, emitter.hide_get()) == (4, False, True)
    assert item.mpm.display.parts[0].name == BALL


@pytest.mark.blender
def test_an_emitter_that_was_renamed_stays_hidden_when_its_file_is_opened(bpy: Any, shown: Any, tmp_path: Path) -> None:
    bpy.context.scene.objects[BALL].name = "Hero"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    observation.look()
    assert bpy.context.scene.objects["Hero"].hide_get()
    removal.free(bpy.context.scene)
    assert not bpy.context.scene.objects["Hero"].hide_get()
