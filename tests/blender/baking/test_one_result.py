"""A bake into another folder does not add a second result on top of the first, unless the artist wants to compare both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import one_result, session, shown_caches
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects
from mpm_addon.core.messages import NOTHING, Message
from tests.blender.scenes import write_cache
from tests.blender.stand_ins import add_parts, stand_in

__all__ = ["stand_in"]


@pytest.fixture(autouse=True)
def plain_nodes(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if host == "fake":
        # the fake has no node trees
        monkeypatch.setattr(shown_caches.display, "dress", add_parts)


def bake_into(bpy: Any, folder: Path) -> tuple[list[str], list[str]]:
    """Bake into another folder; returns the news and the warnings."""
    bpy.context.scene.mpm.cache = str(folder)
    news: list[Message] = []
    warnings = session.bake(bpy.context, on_news=news.extend)
    return list(map(in_blender, news)), list(map(in_blender, warnings))


def test_the_particle_object_follows_the_bake_into_another_folder(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    stand_in("good")
    first, second = tmp_path / "cache", tmp_path / "second"
    assert bake_into(bpy, first) == ([], [])
    (item,) = particle_objects.result_objects(bpy.context.scene)
    item.mpm.use_retime = True
    news, warnings = bake_into(bpy, second)
    assert particle_objects.result_objects(bpy.context.scene) == [item]
    assert (item.mpm.cache, item.mpm.use_retime) == (str(second), True)
    assert news == [f'"MPM Particles" now shows {second}, and the frames in {first} are kept']
    assert warnings == []
    assert (first / "takes").is_dir()
    # and back, where frames are cached already
    assert bake_into(bpy, first)[0] == [f'"MPM Particles" now shows {first}, and the frames in {second} are kept']


def test_copies_of_the_particle_object_follow_too(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    stand_in("good")
    bake_into(bpy, tmp_path / "cache")
    (item,) = particle_objects.result_objects(bpy.context.scene)
    copy = bpy.data.objects.new("Copy", item.data)
    copy.mpm.cache = item.mpm.cache
    bpy.context.scene.collection.objects.link(copy)
    bake_into(bpy, tmp_path / "second")
    assert {each.mpm.cache for each in (item, copy)} == {str(tmp_path / "second")}


def test_an_object_that_keeps_its_cache_is_compared_with_the_new_one(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    stand_in("good")
    bake_into(bpy, tmp_path / "cache")
    (item,) = particle_objects.result_objects(bpy.context.scene)
    item.mpm.keeps_cache = True
    assert bake_into(bpy, tmp_path / "second") == ([], [])
    assert sorted(each.mpm.cache for each in particle_objects.result_objects(bpy.context.scene)) == [
        str(tmp_path / "cache"),
        str(tmp_path / "second"),
    ]
    assert item.mpm.cache == str(tmp_path / "cache")


def test_a_cache_that_was_shown_beside_the_scenes_own_stays(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    stand_in("good")
    shown = shown_caches.show_cache(bpy.context.scene, str(write_cache(tmp_path / "reference", {1: 3})))
    assert shown.mpm.keeps_cache
    bake_into(bpy, tmp_path / "cache")
    bake_into(bpy, tmp_path / "second")
    assert shown.mpm.cache == str(tmp_path / "reference")
    assert len(particle_objects.result_objects(bpy.context.scene)) == 2


def test_show_frames_follows_the_scenes_folder(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    stand_in("good")
    bake_into(bpy, tmp_path / "cache")
    (item,) = particle_objects.result_objects(bpy.context.scene)
    bpy.context.scene.mpm.cache = str(write_cache(tmp_path / "second", {1: 3}))
    assert bpy.ops.mpm.show() == {"FINISHED"}
    assert particle_objects.result_objects(bpy.context.scene) == [item]
    assert item.mpm.cache == str(tmp_path / "second")


def test_a_preview_does_not_take_the_particles_of_the_bake(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    stand_in("good")
    bake_into(bpy, tmp_path / "cache")
    assert one_result.follow(bpy.context.scene, str(tmp_path / "cache_preview")) == NOTHING


@pytest.mark.blender
def test_a_scene_with_the_same_objects_leaves_those_of_the_other_alone(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    """Both scenes show them, so the second bake says that its emitters are rendered twice."""
    stand_in("good")
    bake_into(bpy, tmp_path / "cache")
    (item,) = particle_objects.result_objects(bpy.context.scene)
    bpy.ops.scene.new(type="LINK_COPY")
    news, warnings = bake_into(bpy, tmp_path / "second")
    assert (item.mpm.cache, news) == (str(tmp_path / "cache"), [])
    assert ['"MPM Particles" shows' in line and "a second time" in line for line in warnings] == [True]


def test_emitters_that_are_rendered_twice_are_pointed_out(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    """All emitters, then one of them alone into its own folder."""
    stand_in("good")
    scene = bpy.context.scene
    bake_into(bpy, tmp_path / "cache")
    (item,) = particle_objects.result_objects(scene)
    own = shown_caches.show_cache(scene, str(write_cache(tmp_path / "own", {1: 3})), object_name="Cube")
    own.mpm.keeps_cache = False
    (line,) = map(in_blender, one_result.overlaps(scene, tmp_path / "own"))
    names = ", ".join(f'"{part.name}"' for part in own.mpm.display.parts)
    assert line.startswith(f'"MPM Particles" shows {names} a second time, from {tmp_path / "cache"}; hide or delete it')
    item.hide_render = True
    assert one_result.overlaps(scene, tmp_path / "own") == []
