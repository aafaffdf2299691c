"""What shows surfaces, skins and volumes is empty once its particle object is deleted, and is adopted by the next one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import derived_processes, shown_caches
from mpm_addon.blender.playback import orphans, particle_objects, surface_objects, volume_objects
from mpm_addon.storage.take import SKIN, SURFACE
from tests.blender.baking.test_skin_meshes import baked, by_default
from tests.blender.playback import test_surface_files, test_volumes
from tests.blender.skin_objects import vertices

blender = pytest.mark.blender


@pytest.fixture
def particles(bpy: Any, particles: Any) -> Any:
    """The object that shows the scene's cache, with a surface and a volume at frames 1 to 3."""
    for number in (1, 2, 3):
        test_surface_files.write(particles, number)
        test_volumes.write(particles, number)
    surface_objects.add(particles)
    volume_objects.add(particles)
    bpy.context.scene.frame_set(2)
    return particles


def again(bpy: Any, tmp_path: Path) -> Any:
    """A new object for the same cache, as the next bake adds it."""
    item = particle_objects.result_object(bpy.context.scene, str(tmp_path / "cache"))
    surface_objects.add(item)
    volume_objects.add(item)
    return item


def test_orphans_are_empty_and_are_adopted_with_their_materials(bpy: Any, particles: Any, tmp_path: Path) -> None:
    surface, volume = particles.mpm.surface.object, particles.mpm.volume.object
    glass = bpy.data.materials.new("Glass")
    surface.data.materials.append(glass)
    surface.name = "My Water"
    assert len(surface.data.vertices) == 4 and volume.data.filepath
    bpy.data.objects.remove(particles)
    bpy.context.scene.frame_set(3)
    assert (len(surface.data.vertices), volume.data.filepath) == (0, "")
    item = again(bpy, tmp_path)
    bpy.context.scene.frame_set(2)
    assert (item.mpm.surface.object, item.mpm.volume.object) == (surface, volume)
    assert (surface.parent, volume.parent, surface.data.materials[0]) == (item, item, glass)
    assert len(surface.data.vertices) == 4 and volume.data.filepath
    assert len(bpy.data.objects) == 3


@blender
def test_a_copy_of_a_surface_is_the_artists_own(bpy: Any, particles: Any, tmp_path: Path) -> None:
    surface = particles.mpm.surface.object
    copy = surface.copy()
    copy.data = surface.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.data.objects.remove(particles)
    bpy.data.objects.remove(surface)
    bpy.context.scene.frame_set(1)
    assert len(copy.data.vertices) == 4
    assert again(bpy, tmp_path).mpm.surface.object != copy


@blender
def test_an_owner_that_is_renamed_or_copied_keeps_what_it_shows(bpy: Any, particles: Any) -> None:
    surface = particles.mpm.surface.object
    particles.name = "Sea"
    bpy.context.scene.frame_set(1)
    assert len(surface.data.vertices) == 4
    copy = particles.copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.data.objects.remove(particles)
    bpy.context.scene.frame_set(3)
    # the copy shows the same surface
    assert len(surface.data.vertices) == 4


def test_results_of_other_emitters_are_not_adopted(bpy: Any, particles: Any, tmp_path: Path) -> None:
    surface = particles.mpm.surface.object
    bpy.data.objects.remove(particles)
    bpy.context.scene.frame_set(1)
    item = particle_objects.result_object(bpy.context.scene, str(tmp_path / "cache"))
    item.mpm.emitter_name = "Ball"
    surface_objects.add(item)
    assert item.mpm.surface.object != surface


def test_a_deleted_volume_comes_back_as_it_was(bpy: Any, particles: Any) -> None:
    volume = particles.mpm.volume.object
    for collection in volume.users_collection:
        collection.objects.unlink(volume)
    assert volume_objects.volume_of(particles) is None
    volume_objects.add(particles)
    assert volume_objects.volume_of(particles) == volume
    assert len([item for item in bpy.data.objects if item.type == "VOLUME"]) == 1


@blender
def test_deleting_in_the_viewport_empties_at_once_and_undo_brings_everything_back(bpy: Any, particles: Any) -> None:
    name = particles.name
    bpy.ops.ed.undo_push(message="Baked")
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = particles
    particles.select_set(True)
    assert bpy.ops.object.delete() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Delete")
    bpy.context.view_layer.update()
    surface, volume = bpy.data.objects[surface_objects.OBJECT_NAME], bpy.data.objects[volume_objects.OBJECT_NAME]
    assert (len(surface.data.vertices), volume.data.filepath) == (0, "")
    bpy.ops.ed.undo()
    item = bpy.data.objects[name]
    assert len(item.mpm.surface.object.data.vertices) == 4 and item.mpm.volume.object.data.filepath
    assert item.mpm.surface.object.parent == item
    bpy.ops.ed.redo()
    assert len(bpy.data.objects[surface_objects.OBJECT_NAME].data.vertices) == 0


@blender
def test_orphans_of_a_saved_file_are_adopted_after_reopening(bpy: Any, particles: Any, tmp_path: Path) -> None:
    bpy.data.objects.remove(particles)
    orphans.empty_new()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    item = again(bpy, tmp_path)
    assert item.mpm.surface.object.name == surface_objects.OBJECT_NAME
    assert len(bpy.data.objects) == 3


@blender
def test_show_frames_brings_back_everything_that_the_cache_contains(bpy: Any, tmp_path: Path) -> None:
    _emitter, item = by_default(bpy, tmp_path / "cache")
    scene = bpy.context.scene
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    skin = item.mpm.display.parts[0].skin
    glass = bpy.data.materials.new("Glass")
    skin.material_slots[0].material = glass
    bpy.data.objects.remove(item)
    scene.frame_set(2)
    assert not np.ptp(_positions(skin), axis=0).any()
    names = {each.name for each in scene.objects}
    assert bpy.ops.mpm.show() == {"FINISHED"}
    (item,) = particle_objects.result_objects(scene)
    item.mpm.display.parts[0].render = "mesh"
    assert item.mpm.display.parts[0].skin == skin
    assert {each.name for each in scene.objects} == names | {item.name}
    assert (skin.parent, skin.material_slots[0].material, skin.hide_render) == (item, glass, False)
    scene.frame_set(3)
    assert np.ptp(vertices(item), axis=0).all()


def _positions(skin: Any) -> np.ndarray:
    flat = np.empty(3 * len(skin.data.vertices), np.float32)
    skin.data.attributes["position"].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)


@blender
def test_a_deleted_skin_comes_back_as_it_was(bpy: Any, tmp_path: Path) -> None:
    _emitter, item = baked(bpy, tmp_path / "cache")
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    skin = item.mpm.display.parts[0].skin
    for collection in skin.users_collection:
        collection.objects.unlink(skin)
    bpy.context.scene.frame_set(2)
    assert len(item.data.vertices) == 16**3
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    bpy.context.scene.frame_set(3)
    assert item.mpm.display.parts[0].skin == skin
    assert (skin.name, len(item.data.vertices)) == ("Jelly, red Skin", 0)


@blender
def test_the_next_bake_copies_a_mesh_that_has_changed(bpy: Any, tmp_path: Path) -> None:
    emitter, item = by_default(bpy, tmp_path / "cache")
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    emitter.modifiers["Subdivision"].levels = 1
    scene, skin = bpy.context.scene, item.mpm.display.parts[0].skin
    (part,) = item.mpm.display.parts
    assert (part.vertices, len(skin.data.vertices)) == (98, 98)
    part.vertices = 26
    assert derived_processes.follow(scene, str(tmp_path / "cache"), SKIN)
    derived_processes.finish(tmp_path / "cache")
    assert (part.skin, len(skin.data.vertices)) == (skin, 26)


@blender
def test_a_cache_that_is_shown_in_another_file_shows_its_surface(bpy: Any, particles: Any, tmp_path: Path) -> None:
    bpy.ops.wm.read_homefile(use_empty=True)
    item = shown_caches.show_cache(bpy.context.scene, str(tmp_path / "cache"))
    bpy.context.scene.frame_set(2)
    assert len(item.mpm.surface.object.data.vertices) == 4
    assert item.mpm.volume.object.data.filepath
    assert derived_processes.current(SURFACE) is None
