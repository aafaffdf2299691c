"""Volumes: made by the operator, shown beside the particles by their file, replaced while Blender runs, and deleted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.baking import derived_facts, derived_kinds, derived_processes
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import volume_objects
from mpm_addon.blender.settings import derived_settings
from mpm_addon.core.messages import NOTHING
from mpm_addon.core.particles import Moment
from mpm_addon.derived.settings import VolumeSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import Origin, derived_path, source_of
from mpm_addon.storage.take import VOLUME
from mpm_addon.storage.vdb import Grid
from mpm_addon.storage.volume_file import write_volume
from tests.blender.scenes import error_of

blender = pytest.mark.blender
VOXEL = 0.1


def path_of(item: Any, number: int) -> Path:
    return derived_path(open_cache(item.mpm.cache), Moment(number), VOLUME)


def write(item: Any, number: int, *, leaves: int = 1, settings: str = "") -> None:
    """The volume of a frame: as many cubes of 4^3 voxels along x, 8 voxels apart."""
    cache, path = open_cache(item.mpm.cache), path_of(item, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.zeros((leaves, 8, 8, 8), np.float32)
    values[:, 2:6, 2:6, 2:6] = 1.0
    places = np.column_stack([np.arange(leaves), np.zeros((leaves, 2), int)]).astype(np.int64)
    density = Grid("density", places, values.reshape(leaves, 512))
    velocity = Grid("velocity", places, np.repeat(density.values[:, :, None], 3, axis=2))
    origin = Origin(Moment(number), settings or VolumeSettings().hash, source_of(cache, Moment(number)), (1,))
    write_volume(path, origin, [density, velocity], VOXEL)


def shown_file(item: Any) -> str:
    return str(item.mpm.volume.object.data.filepath)


def test_the_volume_of_each_frame_is_shown_and_none_where_there_is_none(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    write(particles, 3)
    volume_objects.add(particles)
    for number in (1, 2, 3, 2):
        bpy.context.scene.frame_set(number)
        path = path_of(particles, number)
        assert shown_file(particles) == (str(path) if path.exists() else "")
        # particles stay: powder is drawn around them
        assert (len(particles.data.vertices), volume_objects.status(particles)) == (6, NOTHING)


def test_a_volume_can_be_hidden(bpy: Any, particles: Any) -> None:
    write(particles, 1)
    volume_objects.add(particles)
    bpy.context.scene.frame_set(1)
    particles.mpm.volume.is_shown = False
    assert shown_file(particles) == ""
    particles.mpm.volume.is_shown = True
    assert shown_file(particles) == str(path_of(particles, 1))
    particles.mpm.cache += "_missing"
    bpy.context.scene.frame_set(2)
    assert shown_file(particles) == ""


def test_lengths_are_in_the_units_of_the_scene_and_velocities_those_of_retimed_particles(bpy: Any, particles: Any) -> None:
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    write(particles, 1)
    shown = volume_objects.add(particles)
    particles.mpm.use_retime, particles.mpm.playback_speed = True, 0.25
    scene.frame_set(1)
    assert tuple(shown.scale) == (2.0, 2.0, 2.0)
    assert shown.data.velocity_scale == pytest.approx(0.25)
    scene.mpm.volume.use_voxel_size, scene.mpm.volume.voxel_size = True, 0.3
    assert derived_settings.settings_of(scene, VOLUME) == VolumeSettings(voxel_size=0.3 * 0.5)


def test_the_volume_is_a_child_beside_the_particles_and_there_is_one(bpy: Any, particles: Any) -> None:
    shown = volume_objects.add(particles)
    assert volume_objects.add(particles) == shown
    assert (shown.parent, list(shown.users_collection)) == (particles, list(particles.users_collection))
    volume_objects.remove(particles)
    assert particles.mpm.volume.object is None
    assert volume_objects.OBJECT_NAME not in bpy.data.objects
    assert len(bpy.data.volumes) == 0


def test_a_replaced_file_is_read_at_another_path(bpy: Any, particles: Any) -> None:
    """Blender keeps what it has read of a path; it must not show what was there before."""
    write(particles, 1)
    volume_objects.add(particles)
    bpy.context.scene.frame_set(1)
    for leaves in (2, 3):
        write(particles, 1, leaves=leaves)
        os.utime(path_of(particles, 1), ns=(0, leaves))
        bpy.context.scene.frame_set(2)
        bpy.context.scene.frame_set(1)
        other = Path(shown_file(particles))
        assert other != path_of(particles, 1)
        assert other.read_bytes() == path_of(particles, 1).read_bytes()


def test_facts_tell_made_from_outdated(bpy: Any, particles: Any) -> None:
    scene = bpy.context.scene
    write(particles, 1)
    write(particles, 3, settings="others")
    assert derived_facts.facts_of(scene, VOLUME)[:3] == (3, 1, 1)
    scene.mpm.volume.powder_only = False
    assert derived_facts.facts_of(scene, VOLUME)[:3] == (3, 0, 2)


def test_the_operators_make_and_delete_the_volume_of_every_frame(bpy: Any, particles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dressed: list[Any] = []
    monkeypatch.setattr(derived_kinds.display, "dress_volume", lambda item, shown, length: dressed.append((item, shown.type, length)))
    scene = bpy.context.scene
    assert bpy.ops.mpm.volume_make() == {"FINISHED"}
    assert derived_facts.facts_of(scene, VOLUME)[:3] == (3, 3, 0)
    assert shown_file(particles) == str(path_of(particles, 1))
    assert dressed == [(particles, "VOLUME", 1.0)]
    assert derived_processes.current(VOLUME) is None
    assert bpy.ops.mpm.volume_make() == {"FINISHED"}
    assert len(dressed) == 1
    assert bpy.ops.mpm.volume_delete() == {"FINISHED"}
    assert derived_facts.facts_of(scene, VOLUME)[:3] == (3, 0, 0)
    assert particles.mpm.volume.object is None


def test_a_bake_has_its_volume_made_if_it_is_to(bpy: Any, particles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived_kinds.display, "dress_volume", lambda *_given: None)
    scene = bpy.context.scene
    assert not derived_processes.follow(scene, scene.mpm.cache, VOLUME)
    scene.mpm.volume.while_baking = True
    assert derived_processes.follow(scene, scene.mpm.cache, VOLUME)
    assert derived_processes.finish(Path(scene.mpm.cache)) == []
    assert derived_facts.facts_of(scene, VOLUME)[:3] == (3, 3, 0)
    assert shown_file(particles) == str(path_of(particles, 1))


def test_what_the_process_says_is_reported(bpy: Any, particles: Any) -> None:
    bpy.context.scene.mpm.volume.emitters = "snow bal"
    assert 'Volume: emitter "snow bal" does not exist (did you mean "snow ball"?)' in error_of(bpy.ops.mpm.volume_make)


@blender
def test_blender_reads_density_and_velocity_where_they_are(bpy: Any, particles: Any) -> None:
    write(particles, 1, leaves=3)
    shown = volume_objects.add(particles)
    bpy.context.scene.frame_set(1)
    assert shown.data.grids.load()
    grids = {grid.name: grid.data_type for grid in shown.data.grids}
    assert grids == {"density": "FLOAT", "velocity": "VECTOR_FLOAT"}
    assert (shown.data.velocity_grid, shown.data.velocity_unit) == ("velocity", "SECOND")
    assert measured(bpy, shown) == (3, pytest.approx([0.15, 2.15], abs=0.06))


@blender
def test_blender_shows_a_replaced_file(bpy: Any, particles: Any) -> None:
    """With the same path it shows the former one."""
    write(particles, 1)
    shown = volume_objects.add(particles)
    bpy.context.scene.frame_set(1)
    assert measured(bpy, shown)[0] == 1
    write(particles, 1, leaves=2)
    os.utime(path_of(particles, 1), ns=(0, 1))
    shown.data.filepath = str(path_of(particles, 1))
    assert measured(bpy, shown)[0] == 1
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(1)
    assert measured(bpy, shown)[0] == 2


def test_a_damaged_volume_says_so(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    path = path_of(particles, 2)
    path.write_bytes(path.read_bytes()[:200])
    volume_objects.add(particles)
    bpy.context.scene.frame_set(2)
    assert "is damaged" in in_blender(volume_objects.status(particles))
    assert "delete this file, then make the volume again" in in_blender(volume_objects.status(particles))
    assert shown_file(particles) == ""
    bpy.context.scene.frame_set(3)
    assert not volume_objects.status(particles)


@blender
def test_powder_has_one_material_in_the_color_of_the_grains(bpy: Any, particles: Any) -> None:
    looks = [display.Look(name, color, law=name) for name, color in (("water", (0.0, 0.0, 1.0, 1.0)), ("snow", (0.64, 0.81, 1.0, 1.0)))]
    display.dress(particles, looks)
    for _again in range(2):
        shown = volume_objects.add(particles)
        display.dress_volume(particles, shown, 0.5)
        (material,) = shown.data.materials
        node = next(node for node in material.node_tree.nodes if node.type == "PRINCIPLED_VOLUME")
        assert tuple(node.inputs["Color"].default_value) == pytest.approx((0.8, 0.9, 1.0, 1.0))
        assert node.inputs["Density Attribute"].default_value == "density"
    volume_objects.remove(particles)


def measured(bpy: Any, shown: Any) -> tuple[int, list[float]]:
    """How many cubes the evaluated volume has, and its extent along x [m], as a mesh around it tells."""
    item = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    bpy.context.scene.collection.objects.link(item)
    modifier = item.modifiers.new("Volume", "VOLUME_TO_MESH")
    modifier.object, modifier.threshold = shown, 0.5
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    x = flat.reshape(-1, 3)[:, 0]
    bpy.data.objects.remove(item)
    return len(np.unique(np.floor(x / (8 * VOXEL) - 1e-3))), [float(x.min()), float(x.max())]
