"""The particles are in the collection of their emitter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import shown_caches
from mpm_addon.blender.host.homes import home_of
from mpm_addon.blender.playback import particle_objects
from tests.blender.scenes import add_emitter, write_cache

blender = pytest.mark.blender


def collection(bpy: Any, name: str, *items: Any, parent: Any = None) -> Any:
    """A new collection with these objects, which leave the scene's collection."""
    made = bpy.data.collections.new(name)
    (parent or bpy.context.scene.collection).children.link(made)
    for item in items:
        made.objects.link(item)
        if item.name in bpy.context.scene.collection.objects:
            bpy.context.scene.collection.objects.unlink(item)
    return made


def test_the_collection_of_an_emitter_or_the_one_that_all_share(bpy: Any) -> None:
    scene = bpy.context.scene
    assert home_of(scene) == scene.collection
    first, second, third = (add_emitter(bpy, name) for name in ("A", "B", "C"))
    assert home_of(scene) == scene.collection
    outer = collection(bpy, "Outer", first)
    inner = collection(bpy, "Inner", second, third, parent=outer)
    assert (home_of(scene, "A"), home_of(scene, "B")) == (outer, inner)
    # no shared collection: that of the first emitter
    assert home_of(scene) == outer
    both = collection(bpy, "Both", first, second, third)
    assert home_of(scene) == both


def test_particles_are_never_made_where_nobody_sees_them(bpy: Any) -> None:
    scene = bpy.context.scene
    hidden = collection(bpy, "Hidden", add_emitter(bpy))
    assert home_of(scene) == hidden
    for name in ("hide_viewport", "hide_render"):
        setattr(hidden, name, True)
        assert home_of(scene) == scene.collection
        setattr(hidden, name, False)


@blender
def test_nor_in_an_excluded_collection(bpy: Any) -> None:
    scene = bpy.context.scene
    collection(bpy, "Excluded", add_emitter(bpy))
    layer = bpy.context.view_layer.layer_collection.children["Excluded"]
    for name in ("exclude", "hide_viewport"):
        setattr(layer, name, True)
        assert home_of(scene) == scene.collection
        setattr(layer, name, False)


def test_an_object_that_is_there_stays_where_it_is(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    item = particle_objects.result_object(scene, str(tmp_path))
    collection(bpy, "Snow", add_emitter(bpy))
    assert particle_objects.result_object(scene, str(tmp_path)) == item
    assert item.name in scene.collection.objects


@blender
def test_an_appended_collection_brings_its_particles(bpy: Any, tmp_path: Path) -> None:
    collection(bpy, "Snow", add_emitter(bpy))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "snow.blend"))
    write_cache(tmp_path / "cache_mpm", {1: 5})
    shown_caches.show_cache(bpy.context.scene)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "snow.blend")) as (_, into):
        into.collections = ["Snow"]
    scene = bpy.context.scene
    scene.collection.children.link(bpy.data.collections["Snow"])
    particle_objects.show(scene)
    (item,) = particle_objects.result_objects(scene)
    assert len(item.data.vertices) == 5
