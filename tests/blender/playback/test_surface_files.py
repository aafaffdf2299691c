"""Surfaces from files: made by the operator, shown beside the particles, stopped and deleted."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import derived_facts, derived_kinds, derived_processes, worker
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects, surface_objects
from mpm_addon.blender.settings import derived_settings
from mpm_addon.core.errors import MpmError
from mpm_addon.core.messages import NOTHING
from mpm_addon.core.particles import Moment
from mpm_addon.derived.settings import SurfaceSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import Origin, derived_path, read_origin, source_of
from mpm_addon.storage.mesh_encoding import in_order_of_use
from mpm_addon.storage.surface_file import Surface, SurfacePiece, write_surface
from mpm_addon.storage.take import SURFACE
from tests.blender.scenes import error_of

blender = pytest.mark.blender
VERTICES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
TRIANGLES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def write(item: Any, number: int, *, emitters: tuple[int, ...] = (0,), settings: str = "") -> None:
    """The surface of a frame: a tetrahedron that moves."""
    cache = open_cache(item.mpm.cache)
    triangles, used = in_order_of_use(TRIANGLES)
    values = {
        "position": VERTICES,
        "velocity": np.tile(np.array([24.0, 0.0, 0.0], np.float32), (4, 1)),
        "age": np.full(4, 0.5, np.float32),
        "emitter_index": np.full(4, emitters[-1], np.int32),
        "material_index": np.zeros(4, np.int32),
        "color": np.tile(np.array([0.5, 0.25, 1.0, 1.0], np.float32), (4, 1)),
    }
    piece = SurfacePiece("water", triangles.astype(np.int32), {name: array[used] for name, array in values.items()})
    path = derived_path(cache, Moment(number), SURFACE)
    path.parent.mkdir(parents=True, exist_ok=True)
    wanted = settings or SurfaceSettings().hash
    write_surface(path, Surface(Origin(Moment(number), wanted, source_of(cache, Moment(number)), emitters), (piece,)), 0.01)


def shown(item: Any) -> np.ndarray:
    """The vertices of the surface (n, 3), sorted."""
    mesh = item.mpm.surface.object.data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", flat)
    return np.array(sorted(flat.reshape(-1, 3).round(3).tolist()))


def test_a_surface_takes_the_place_of_the_particles_that_it_covers(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    surface_objects.add(particles)
    for number, points, vertices in ((1, 6, 0), (2, 3, 4), (3, 6, 0), (2, 3, 4)):
        bpy.context.scene.frame_set(number)
        mesh = particles.mpm.surface.object.data
        assert (len(particles.data.vertices), len(mesh.vertices), len(mesh.polygons)) == (points, vertices, vertices)
        assert (particle_objects.status(particles), surface_objects.status(particles)) == (NOTHING, NOTHING)
        emitters = np.empty(points, np.int32)
        particles.data.attributes["emitter_index"].data.foreach_get("value", emitters)
        assert set(emitters) == ({1} if vertices else {0, 1})
    assert shown(particles).tolist() == sorted(VERTICES.tolist())
    corners = {frozenset(mesh.loops[3 * face + corner].vertex_index for corner in range(3)) for face in range(4)}
    assert corners == {frozenset(each) for each in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))}


def test_no_particles_are_left_if_all_are_covered(bpy: Any, particles: Any) -> None:
    write(particles, 2, emitters=(0, 1))
    surface_objects.add(particles)
    bpy.context.scene.frame_set(2)
    assert len(particles.data.vertices) == 0
    assert [polygon.material_index for polygon in particles.mpm.surface.object.data.polygons] == [1, 1, 1, 1]


def test_attributes_of_the_surface_have_blenders_types(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    surface_objects.add(particles)
    bpy.context.scene.frame_set(2)
    attributes = particles.mpm.surface.object.data.attributes
    kinds = {"velocity": "FLOAT_VECTOR", "age": "FLOAT", "mpm_color": "FLOAT_COLOR", "emitter_index": "INT"}
    assert {name: attributes[name].data_type for name in kinds} == kinds
    assert attributes[particle_objects.MATERIAL_INDEX].data_type == "INT"
    flat = np.empty(12, np.float32)
    attributes["velocity"].data.foreach_get("vector", flat)
    np.testing.assert_allclose(flat.reshape(4, 3), [[24.0, 0.0, 0.0]] * 4, rtol=1e-3)


@blender
def test_colors_by_speed_have_an_attribute_that_cycles_reads(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    surface_objects.add(particles)
    bpy.context.scene.frame_set(2)
    meshes = (particles.data, particles.mpm.surface.object.data)
    assert not any("mpm_speed" in mesh.attributes for mesh in meshes)
    particles.mpm.display.color_by = "speed"
    for mesh in meshes:
        count = len(mesh.vertices)
        speeds, velocities = np.empty(count, np.float32), np.empty((count, 3), np.float32)
        mesh.attributes["mpm_speed"].data.foreach_get("value", speeds)
        mesh.attributes["velocity"].data.foreach_get("vector", velocities.ravel())
        np.testing.assert_allclose(speeds, np.linalg.norm(velocities, axis=1), rtol=1e-6)
        if mesh != particles.data:
            assert speeds.tolist() == pytest.approx([24.0] * 4, rel=1e-3)


def test_a_surface_can_be_hidden_and_particles_kept(bpy: Any, particles: Any) -> None:
    write(particles, 1)
    surface_objects.add(particles)
    bpy.context.scene.frame_set(1)
    particles.mpm.surface.has_points = True
    assert (len(particles.data.vertices), len(particles.mpm.surface.object.data.vertices)) == (6, 4)
    particles.mpm.surface.is_shown = False
    assert (len(particles.data.vertices), len(particles.mpm.surface.object.data.vertices)) == (6, 0)
    particles.mpm.surface.has_points, particles.mpm.surface.is_shown = False, True
    assert (len(particles.data.vertices), len(particles.mpm.surface.object.data.vertices)) == (3, 4)


def test_between_frames_the_nearest_surface_moves_with_its_velocity(bpy: Any, particles: Any) -> None:
    """At 24 m/s and 24 frames per second: a meter in a frame. The mesh stays the same, as a shutter needs."""
    write(particles, 2)
    surface_objects.add(particles)
    for number, subframe, moved in ((2, 0.0, 0.0), (2, 0.25, 0.25), (1, 0.75, -0.25), (2, 0.0, 0.0)):
        bpy.context.scene.frame_set(number, subframe=subframe)
        np.testing.assert_allclose(shown(particles)[:, 0].sum(), 1.0 + 4.0 * moved, atol=1e-2)
        assert len(particles.mpm.surface.object.data.polygons) == 4


def test_lengths_are_in_the_units_of_the_scene(bpy: Any, particles: Any) -> None:
    bpy.context.scene.unit_settings.scale_length = 0.5
    write(particles, 2)
    surface_objects.add(particles)
    bpy.context.scene.frame_set(2)
    assert shown(particles).max() == pytest.approx(2.0)
    settings = bpy.context.scene.mpm.surface
    settings.use_voxel_size, settings.voxel_size = True, 0.3
    assert derived_settings.settings_of(bpy.context.scene, SURFACE).voxel_size == pytest.approx(0.15)


def test_a_damaged_surface_says_so_and_the_particles_are_shown(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    path = derived_path(open_cache(particles.mpm.cache), Moment(2), SURFACE)
    path.write_bytes(path.read_bytes()[:-3])
    surface_objects.add(particles)
    bpy.context.scene.frame_set(2)
    assert (len(particles.data.vertices), len(particles.mpm.surface.object.data.vertices)) == (6, 0)
    assert "is damaged" in in_blender(surface_objects.status(particles))
    assert "delete this file, then make the surface again" in in_blender(surface_objects.status(particles))
    bpy.context.scene.frame_set(3)
    assert not surface_objects.status(particles)


def test_a_missing_cache_shows_no_surface_either(bpy: Any, particles: Any, tmp_path: Path) -> None:
    write(particles, 1)
    surface_objects.add(particles)
    bpy.context.scene.frame_set(1)
    particles.mpm.cache = str(tmp_path / "elsewhere")
    bpy.context.scene.frame_set(2)
    assert (len(particles.data.vertices), len(particles.mpm.surface.object.data.vertices)) == (0, 0)


def test_the_surface_is_a_child_beside_the_particles_and_there_is_one(bpy: Any, particles: Any) -> None:
    surface = surface_objects.add(particles)
    assert surface_objects.add(particles) == surface
    assert surface.parent == particles
    assert list(surface.users_collection) == list(particles.users_collection)
    surface_objects.remove(particles)
    assert particles.mpm.surface.object is None
    assert surface_objects.OBJECT_NAME not in bpy.data.objects


def test_particles_come_back_if_the_surface_is_deleted(bpy: Any, particles: Any) -> None:
    write(particles, 2, emitters=(0, 1))
    surface = surface_objects.add(particles)
    bpy.context.scene.frame_set(2)
    assert len(particles.data.vertices) == 0
    for collection in list(surface.users_collection):
        collection.objects.unlink(surface)
    bpy.context.scene.frame_set(3)
    bpy.context.scene.frame_set(2)
    assert len(particles.data.vertices) == 6


@blender
def test_a_copy_of_the_particles_alone_has_a_surface_of_its_own(bpy: Any, particles: Any) -> None:
    write(particles, 2, emitters=(0, 1))
    surface = surface_objects.add(particles)
    copied = particles.copy()
    copied.data = particles.data.copy()
    bpy.context.scene.collection.objects.link(copied)
    assert (surface_objects.surface_of(particles), surface_objects.surface_of(copied)) == (surface, None)
    bpy.context.scene.frame_set(2)
    assert (len(particles.data.vertices), len(copied.data.vertices)) == (0, 6)
    own = surface_objects.add(copied)
    assert own != surface
    assert (surface_objects.surface_of(particles), surface_objects.surface_of(copied)) == (surface, own)


def test_facts_tell_made_from_outdated(bpy: Any, particles: Any) -> None:
    scene = bpy.context.scene
    assert derived_facts.facts_of(scene, SURFACE) == (3, 0, 0, 0)
    write(particles, 1)
    write(particles, 3, settings="others")
    facts = derived_facts.facts_of(scene, SURFACE)
    assert facts[:3] == (3, 1, 1)
    assert facts.size > 0
    scene.mpm.surface.quality = "film"
    assert derived_facts.facts_of(scene, SURFACE)[:3] == (3, 0, 2)
    scene.mpm.cache = str(Path(scene.mpm.cache) / "missing")
    assert derived_facts.facts_of(scene, SURFACE) == derived_facts.NOTHING


def test_facts_read_a_file_once_and_the_cache_after_a_change(bpy: Any, particles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    read: list[str] = []
    monkeypatch.setattr(derived_facts, "open_cache", lambda folder: opened.append(folder) or open_cache(folder))
    monkeypatch.setattr(derived_facts, "read_origin", lambda path, kind: read.append(path.name) or read_origin(path, kind))
    scene = bpy.context.scene
    assert derived_facts.facts_of(scene, SURFACE) == (3, 0, 0, 0)
    assert opened == []
    for number, settings in ((1, ""), (3, "others")):
        write(particles, number, settings=settings)
    for _redraw in range(3):
        assert derived_facts.facts_of(scene, SURFACE)[:3] == (3, 1, 1)
    assert (len(opened), read) == (1, ["frame_000001.mpm", "frame_000003.mpm"])
    scene.mpm.surface.quality = "film"
    assert derived_facts.facts_of(scene, SURFACE)[:3] == (3, 0, 2)
    assert (len(opened), len(read)) == (2, 2)
    time.sleep(0.02)  # a folder's time is only so precise
    write(particles, 2)
    assert derived_facts.facts_of(scene, SURFACE)[:3] == (3, 0, 3)
    assert read[2:] == ["frame_000002.mpm"]
    time.sleep(0.02)
    derived_path(open_cache(particles.mpm.cache), Moment(2), SURFACE).unlink()
    assert derived_facts.facts_of(scene, SURFACE)[:3] == (3, 0, 2)


def test_the_command_says_every_setting(bpy: Any, tmp_path: Path) -> None:
    from mpm_addon.command_line.derive import add_command, settings_of

    settings = SurfaceSettings(
        quality="film",
        voxel_size=0.125,
        smoothing=3,
        threshold=0.25,
        meshes="emitter",
        include="all",
        attributes="age, stress",
        close_sheets=True,
    )
    import argparse

    parser = argparse.ArgumentParser()
    add_command(parser.add_subparsers())
    command = worker.derive_command(tmp_path, settings)
    assert settings_of(parser.parse_args(command[command.index("derive") :])) == settings
    plain = worker.derive_command(tmp_path, SurfaceSettings())
    assert settings_of(parser.parse_args(plain[plain.index("derive") :])) == SurfaceSettings()


def test_the_operators_make_and_delete_the_surface_of_every_frame(bpy: Any, particles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Any] = []
    monkeypatch.setattr(derived_kinds.display, "rebuild", built.append)
    scene = bpy.context.scene
    scene.mpm.surface.quality = "draft"
    assert bpy.ops.mpm.surface_make() == {"FINISHED"}
    assert derived_facts.facts_of(scene, SURFACE)[:3] == (3, 3, 0)
    mesh = particles.mpm.surface.object.data
    assert len(mesh.polygons) > 0
    assert len(particles.data.vertices) == 3  # snow has no surface
    assert built == [particles]
    assert derived_processes.current(SURFACE) is None
    assert bpy.ops.mpm.surface_delete() == {"FINISHED"}
    assert derived_facts.facts_of(scene, SURFACE)[:3] == (3, 0, 0)
    assert len(particles.data.vertices) == 6
    assert particles.mpm.surface.object is None


def test_what_the_process_says_is_reported(bpy: Any, particles: Any) -> None:
    bpy.context.scene.mpm.surface.attributes = "stres"
    words = error_of(bpy.ops.mpm.surface_make)
    assert 'frame 1 has no attribute "stres" for a surface (did you mean "stress"?)' in words
    assert derived_processes.trouble(Path(bpy.context.scene.mpm.cache), SURFACE).problem in words
    bpy.context.scene.mpm.cache += "_missing"
    assert "contains no cache" in error_of(bpy.ops.mpm.surface_make)


def test_a_running_process_is_followed_and_stopped(bpy: Any, particles: Any) -> None:
    session = derived_processes.start(bpy.context.scene, kind=SURFACE)
    with pytest.raises(MpmError, match="A surface is being made"):
        derived_processes.start(bpy.context.scene, kind=SURFACE)
    session.cancel()
    while not session.is_finished:
        session.poll()
        time.sleep(0.01)
    with pytest.raises(MpmError, match="cancel"):
        session.raise_outcome()
    assert not derived_path(open_cache(particles.mpm.cache), Moment(1), SURFACE).parent.joinpath("cancel").exists()
    derived_processes.end(SURFACE)


@blender
def test_a_surface_is_smooth_valid_and_has_a_material_for_each_emitter(bpy: Any, particles: Any) -> None:
    from mpm_addon.blender import display

    write(particles, 2, emitters=(0, 1))
    surface = surface_objects.add(particles)
    display.dress(particles, [display.Look(name, (1.0, 0.0, 0.0, 1.0), law="water") for name in ("water ball", "snow ball")])
    bpy.context.scene.frame_set(2)
    assert [slot.material for slot in surface.material_slots] == [part.material for part in particles.mpm.display.parts]
    assert all(polygon.use_smooth for polygon in surface.data.polygons)
    assert len(surface.data.edges) == 6
    assert not surface.data.validate()
    # outward normals
    center = VERTICES.mean(axis=0)
    assert all(np.dot(polygon.normal, np.array(polygon.center) - center) > 0 for polygon in surface.data.polygons)


@blender
@pytest.mark.parametrize("are_stored", [True, False])
def test_edges_are_those_that_blender_finds(bpy: Any, particles: Any, monkeypatch: pytest.MonkeyPatch, are_stored: bool) -> None:
    """Of two pieces, as they are in the file, or as in a file of an earlier version."""
    write(particles, 2)
    read = surface_objects.surface_at

    def pieces(*arguments: Any) -> Surface:
        origin, (piece,) = read(*arguments)
        return Surface(origin, (piece if are_stored else dataclasses.replace(piece, edges=None),) * 2)

    monkeypatch.setattr(surface_objects, "surface_at", pieces)
    mesh = surface_objects.add(particles).data
    bpy.context.scene.frame_set(2)
    found = {tuple(sorted(edge.vertices)) for edge in mesh.edges}
    assert found == {(first + one, first + other) for first in (0, 4) for one in range(4) for other in range(one + 1, 4)}
    for polygon in mesh.polygons:
        corners = [mesh.loops[index] for index in polygon.loop_indices]
        for corner, following in zip(corners, corners[1:] + corners[:1], strict=True):
            assert set(mesh.edges[corner.edge_index].vertices) == {corner.vertex_index, following.vertex_index}
    assert not mesh.validate()


@blender
def test_applying_the_display_keeps_the_materials_of_faces(bpy: Any, particles: Any) -> None:
    from mpm_addon.blender import display

    write(particles, 2, emitters=(0, 1))
    surface = surface_objects.add(particles)
    display.dress(particles, [display.Look(name, (1.0, 0.0, 0.0, 1.0), law="water") for name in ("water ball", "snow ball")])
    bpy.context.scene.frame_set(2)
    glass = bpy.data.materials.new("Glass")
    particles.mpm.display.parts[1].material = glass
    surface.data.materials.append(glass)
    display.rebuild(particles)
    assert [polygon.material_index for polygon in surface.data.polygons] == [1, 1, 1, 1]
    assert list(surface.data.materials) == [part.material for part in particles.mpm.display.parts]
    assert surface.data.materials[1] == glass


@blender
def test_exports_have_all_particles_and_publications_what_is_shown(bpy: Any, particles: Any, tmp_path: Path) -> None:
    from mpm_addon.blender.exporting import particle_files, publishing
    from mpm_addon.blender.exporting.published_objects import POINTS

    for number in (1, 2, 3):
        write(particles, number, emitters=(0, 1))
    surface = surface_objects.add(particles)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 3
    group = particle_files.pass_through()
    with particle_files.stand_in(bpy.context.scene, particles, group) as alone, particle_files.alone_in(bpy.context, alone.scene):
        assert not alone.go_to(2)
        assert len(alone.item.data.vertices) == 6
    bpy.context.scene.frame_set(2)
    assert (len(particles.data.vertices), len(surface.data.vertices)) == (0, 4)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    publishing.publish(bpy.context, tmp_path / "published")
    for kind in (POINTS, SURFACE):
        assert len(list((tmp_path / "published" / kind).rglob("*.usdc"))) == 3
    with bpy.data.libraries.load(str(tmp_path / "published" / "file.blend")) as (found, _wanted):
        assert {particles.name, surface.name} <= set(found.objects)
