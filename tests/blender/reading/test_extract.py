"""The solver's description of a Blender scene."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.reading.extract import extract_scene, scene_time
from mpm_addon.blender.reading.fingerprint import fingerprint
from mpm_addon.core.errors import MpmError, SceneError
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.scene.settings import Time
from mpm_addon.storage import load_material_preset
from tests.blender.scenes import CORNERS, FACES, add_collider, add_emitter, add_mesh


def extracted(bpy: Any, **options: Any) -> Scene:
    return extract_scene(bpy.context, **options)


def bounds(shape: Any) -> list[list[float]]:
    return np.round(shape.bounds(), 5).tolist()


# Errors: one line with object, reason and remedy.


def test_a_scene_without_emitter_is_refused(bpy: Any) -> None:
    add_collider(bpy)
    with pytest.raises(SceneError, match=r'^Scene "Scene" has no emitter; select an object and press MPM in its Physics tab'):
        extracted(bpy)


def test_an_unknown_object_is_refused_with_the_nearest_name(bpy: Any) -> None:
    add_emitter(bpy, "Snowball")
    with pytest.raises(SceneError, match=r'Object "Snowbal" does not exist .* \(did you mean "Snowball"\?\)'):
        extracted(bpy, object_name="Snowbal")


def test_an_object_that_is_no_emitter_is_refused(bpy: Any) -> None:
    add_emitter(bpy)
    add_collider(bpy, "Floor")
    with pytest.raises(SceneError, match='Object "Floor" is not an emitter; name an emitter'):
        extracted(bpy, object_name="Floor")


def test_an_empty_mesh_is_refused(bpy: Any) -> None:
    add_mesh(bpy, "Nothing", [], []).mpm.type = "emitter"
    with pytest.raises(SceneError, match=r'^Emitter "Nothing": the mesh has no vertices; add faces to it\.$'):
        extracted(bpy)


def test_a_collider_without_faces_is_refused(bpy: Any) -> None:
    add_emitter(bpy)
    add_mesh(bpy, "Wire", CORNERS, []).mpm.type = "collider"
    with pytest.raises(SceneError, match=r'^Collider "Wire": the mesh has no faces; add faces'):
        extracted(bpy)


def test_an_emitter_without_volume_is_refused(bpy: Any) -> None:
    add_mesh(bpy, "Sheet", CORNERS[:4], [(0, 1, 3, 2)]).mpm.type = "emitter"
    with pytest.raises(SceneError, match=r'^Emitter "Sheet": the mesh is flat, so it has no volume'):
        extracted(bpy)


def test_a_lamp_is_refused(bpy: Any) -> None:
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    bpy.context.scene.collection.objects.link(lamp)
    lamp.mpm.type = "emitter"
    with pytest.raises(SceneError, match=r'^Emitter "Lamp": a light object has no mesh; use a mesh'):
        extracted(bpy)


def test_a_value_out_of_range_is_refused_with_the_words_of_the_core(bpy: Any) -> None:
    item = add_emitter(bpy, "Jelly")
    item.mpm.material.source, item.mpm.material.law = "custom", "neo_hookean"
    item.mpm.material.neo_hookean.poisson_ratio = 0.5
    with pytest.raises(SceneError, match=r'^Material "Jelly \(custom\)": poisson_ratio 0\.5 is not allowed; use'):
        extracted(bpy)


def test_not_a_number_is_refused(bpy: Any) -> None:
    item = add_emitter(bpy)
    item.mpm.material.source = "custom"
    item.mpm.material.water.density = math.nan
    with pytest.raises(SceneError, match="density nan kg/m"):
        extracted(bpy)


def test_a_last_frame_before_the_first_is_refused(bpy: Any) -> None:
    add_emitter(bpy)
    bpy.context.scene.mpm.use_frame_range = True
    bpy.context.scene.mpm.frame_start = 10
    bpy.context.scene.mpm.frame_end = 3
    with pytest.raises(SceneError, match="frame_end 3 is before frame_start 10"):
        extracted(bpy)


def test_a_scene_whose_emitters_are_all_disabled_is_refused(bpy: Any) -> None:
    add_emitter(bpy).hide_viewport = True
    with pytest.raises(SceneError, match='Emitter "Cube" is disabled in viewports'):
        extracted(bpy)


# Meshes.


def test_a_cube_comes_with_its_transform_in_world_space(bpy: Any) -> None:
    item = add_emitter(bpy)
    item.location, item.rotation_euler = (1.0, 2.0, 3.0), (0.0, 0.0, math.pi / 4.0)
    shape = extracted(bpy).emitters[0].shape
    half = math.sqrt(0.5)
    assert shape.bounds() == pytest.approx(np.array([[1 - half, 2 - half, 2.5], [1 + half, 2 + half, 3.5]]), abs=1e-6)
    assert shape.volume() == pytest.approx(1.0, rel=1e-6)


def test_parents_move_their_children(bpy: Any) -> None:
    item = add_emitter(bpy)
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    item.parent = parent
    parent.location, parent.scale = (0.0, 0.0, 5.0), (2.0, 2.0, 2.0)
    assert bounds(extracted(bpy).emitters[0].shape) == [[-1.0, -1.0, 4.0], [1.0, 1.0, 6.0]]


@pytest.mark.blender
def test_modifiers_are_applied(bpy: Any) -> None:
    item = add_emitter(bpy)
    item.modifiers.new("Array", "ARRAY").count = 3
    assert bounds(extracted(bpy).emitters[0].shape) == [[-0.5, -0.5, -0.5], [2.5, 0.5, 0.5]]


def test_negative_scale_keeps_the_outside_outside(bpy: Any) -> None:
    item = add_emitter(bpy)
    item.scale = (-2.0, 1.0, 1.0)
    collider = add_collider(bpy)
    collider.scale = (1.0, -1.0, 3.0)
    scene = extracted(bpy)
    for shape, volume in ((scene.emitters[0].shape, 2.0), (scene.colliders[0].shape, 3.0)):
        corners = shape.vertices[shape.triangles]
        signed = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
        assert signed == pytest.approx(volume)
        assert shape.signed_distance(np.zeros((1, 3)))[0] < 0.0


@pytest.mark.blender
def test_a_curve_with_thickness_can_emit(bpy: Any) -> None:
    bpy.ops.curve.primitive_bezier_circle_add(radius=1.0)
    item = bpy.context.object
    item.data.bevel_depth = 0.2
    item.mpm.type = "emitter"
    # a torus: 2 pi R pi r^2
    assert extracted(bpy).emitters[0].shape.volume() == pytest.approx(2.0 * math.pi * math.pi * 0.04, rel=0.1)


def test_unit_scale_turns_everything_into_meters(bpy: Any) -> None:
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01
    item = add_emitter(bpy, velocity=(0.0, 0.0, -100.0))
    item.location.z = 10.0
    scene.mpm.solver.grid_spacing = 0.25
    scene.mpm.domain.kind = "box"
    found = extracted(bpy)
    assert found.emitters[0].shape.bounds() == pytest.approx(np.array([[-0.005, -0.005, 0.095], [0.005, 0.005, 0.105]]))
    assert found.emitters[0].velocity == pytest.approx((0.0, 0.0, -1.0))
    assert found.solver.grid_spacing == pytest.approx(0.0025)
    assert found.solver.gravity == pytest.approx((0.0, 0.0, -0.0981))
    assert (found.domain.min, found.domain.max) == (pytest.approx((-0.01, -0.01, 0.0)), pytest.approx((0.01, 0.01, 0.02)))
    assert found.emitters[0].particles_per_cell == 8.0


def test_the_name_of_a_body_reaches_its_emitters(bpy: Any) -> None:
    for name in ("Trunk", "Tip"):
        add_emitter(bpy, name).mpm.emitter.body = "beam"
    add_emitter(bpy, "Ball")
    assert {emitter.name: emitter.body for emitter in extracted(bpy).emitters} == {"Trunk": "beam", "Tip": "beam", "Ball": ""}


def test_contact_with_solids_reaches_the_law(bpy: Any) -> None:
    settings = add_emitter(bpy).mpm.material
    settings.source, settings.law = "custom", "snow"
    settings.snow.contact_friction, settings.snow.adhesion = 0.1, 2000.0
    (found,) = extracted(bpy).materials.values()
    assert (found.law.contact_friction, found.law.adhesion) == (0.1, 2000.0)  # type: ignore[attr-defined]


def test_meshes_are_those_of_the_first_frame_and_the_frame_is_restored(bpy: Any) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 5, 8
    item = add_emitter(bpy)
    for frame, height in ((5, 1.0), (20, 9.0)):
        item.location.z = height
        item.keyframe_insert("location", frame=frame)
    scene.frame_set(20, subframe=0.25)
    emitter = extracted(bpy).emitters[0]
    assert emitter.motion.matrices[0, 2, 3] == pytest.approx(1.0)
    assert emitter.shape.bounds().mean(axis=0)[2] == pytest.approx(0.0)
    assert (scene.frame_current, scene.frame_subframe) == (20, 0.25)


@pytest.mark.blender
def test_disabled_and_excluded_objects_are_not_simulated_but_hidden_ones_are(bpy: Any) -> None:
    add_emitter(bpy, "Shown")
    add_emitter(bpy, "Disabled").hide_viewport = True
    hidden = add_emitter(bpy, "Hidden")
    hidden.hide_set(True)
    excluded = add_emitter(bpy, "Excluded")
    collection = bpy.data.collections.new("Aside")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(excluded)
    collection.objects.link(excluded)
    bpy.context.view_layer.layer_collection.children["Aside"].exclude = True
    assert sorted(emitter.name for emitter in extracted(bpy).emitters) == ["Hidden", "Shown"]


# Settings.


def test_materials_are_presets_or_custom_laws(bpy: Any) -> None:
    first = add_emitter(bpy, "First")
    second = add_emitter(bpy, "Second")
    third = add_emitter(bpy, "Third")
    first.mpm.material.preset = third.mpm.material.preset = "dry_sand"
    second.mpm.material.source, second.mpm.material.law = "custom", "snow"
    second.mpm.material.snow.hardening = 7.0
    scene = extracted(bpy)
    assert [emitter.material for emitter in scene.emitters] == ["dry_sand", "Second (custom)", "dry_sand"]
    assert scene.materials["dry_sand"].law == load_material_preset("dry_sand")
    assert getattr(scene.materials["Second (custom)"].law, "hardening") == 7.0  # noqa: B009 - the law is not typed


def test_the_color_is_the_materials_until_one_is_chosen(bpy: Any) -> None:
    item = add_emitter(bpy)
    by_material = extracted(bpy).emitters[0].color
    assert by_material[2] > by_material[0]  # water is blue
    item.mpm.emitter.use_color, item.mpm.emitter.color = True, (1.0, 0.5, 0.25, 1.0)
    assert extracted(bpy).emitters[0].color == (1.0, 0.5, 0.25, 1.0)


def test_a_particle_count_replaces_the_particles_per_cell(bpy: Any) -> None:
    add_emitter(bpy, use_particle_count=True, particle_count=777)
    emitter = extracted(bpy).emitters[0]
    assert (emitter.particle_count, emitter.particles_per_cell) == (777, None)


def test_frames_fps_and_gravity_are_the_scenes(bpy: Any) -> None:
    scene = bpy.context.scene
    add_emitter(bpy)
    scene.render.fps, scene.render.fps_base = 30, 1.001
    scene.frame_start, scene.frame_end = 3, 9
    scene.gravity = (0.0, 1.0, -5.0)
    found = extracted(bpy)
    assert found.time.fps == pytest.approx(30 / 1.001)
    assert (found.time.frame_start, found.time.frame_end) == (3, 9)
    assert (found.time.time_scale, found.time.subframes) == (1.0, 0)
    assert found.solver.gravity == (0.0, 1.0, -5.0)
    scene.use_gravity = False
    assert extracted(bpy).solver.gravity == (0.0, 0.0, 0.0)
    scene.mpm.solver.use_scene_gravity = False
    assert extracted(bpy).solver.gravity == (0.0, 0.0, -9.81)


def test_the_simulation_has_frames_and_a_time_scale_of_its_own(bpy: Any) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 9
    scene.mpm.frame_start, scene.mpm.frame_end = 20, 30
    scene.mpm.time_scale, scene.mpm.subframes = 0.3, 4
    assert scene_time(scene) == Time(frame_start=3, frame_end=9, time_scale=0.3, subframes=4)
    scene.mpm.use_frame_range = True
    assert scene_time(scene) == Time(frame_start=20, frame_end=30, time_scale=0.3, subframes=4)
    before = fingerprint(scene)
    scene.mpm.frame_end = 40
    assert fingerprint(scene) == before
    for name, value in (("time_scale", 0.5), ("subframes", 2), ("frame_start", 21)):
        setattr(scene.mpm, name, value)
        assert fingerprint(scene) != before
        before = fingerprint(scene)


@pytest.mark.blender
def test_the_domain_is_the_box_around_an_object(bpy: Any) -> None:
    add_emitter(bpy)
    box = add_mesh(bpy, "Box")
    box.scale, box.location = (4.0, 2.0, 2.0), (0.0, 0.0, 1.0)
    domain = bpy.context.scene.mpm.domain
    domain.kind, domain.object = "box", box
    domain.z_max.surface = "open"
    domain.z_min.surface, domain.z_min.use_friction, domain.z_min.friction = "separate", True, 0.3
    domain.z_max.friction = 0.3
    found = extracted(bpy).domain
    assert (found.min, found.max) == ((-2.0, -1.0, 0.0), (2.0, 1.0, 2.0))
    assert found.sides["z_max"].surface == "open"
    assert (found.sides["z_min"].surface, found.sides["z_min"].friction) == ("separate", 0.3)
    assert found.sides["z_max"].friction is None
    assert found.sides["x_min"].surface == "slip"


def test_a_flat_domain_is_named_with_its_axes(bpy: Any) -> None:
    add_emitter(bpy, "Cube")
    domain = bpy.context.scene.mpm.domain
    domain.kind = "box"
    domain.object = add_mesh(bpy, "Tray", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)])
    expected = 'Domain "Tray" has no extent along Z; use an object that has one along every axis, such as a cube.'
    with pytest.raises(SceneError) as caught:
        extracted(bpy)
    assert str(caught.value) == expected


def test_a_resolution_is_cells_along_the_longest_side(bpy: Any) -> None:
    add_emitter(bpy).scale = (2.0, 1.0, 1.0)
    solver = bpy.context.scene.mpm.solver
    solver.spacing, solver.resolution = "resolution", 40
    assert extracted(bpy).solver.grid_spacing == pytest.approx(0.05)
    domain = bpy.context.scene.mpm.domain
    domain.kind, domain.min, domain.max = "box", (-4.0, -1.0, -1.0), (4.0, 1.0, 1.0)
    assert extracted(bpy).solver.grid_spacing == pytest.approx(0.2)


def test_one_emitter_alone_keeps_all_colliders(bpy: Any) -> None:
    add_emitter(bpy, "First")
    add_emitter(bpy, "Second")
    add_collider(bpy, "Floor")
    scene = extracted(bpy, object_name="Second")
    assert [emitter.name for emitter in scene.emitters] == ["Second"]
    assert [collider.name for collider in scene.colliders] == ["Floor"]


def test_errors_leave_the_frame_where_it_was(bpy: Any) -> None:
    bpy.context.scene.frame_set(7)
    add_mesh(bpy, "Nothing", [], []).mpm.type = "emitter"
    with pytest.raises(MpmError):
        extracted(bpy)
    assert bpy.context.scene.frame_current == 7


@pytest.mark.blender
def test_large_meshes_are_read_in_bulk(bpy: Any) -> None:
    side = 300
    steps = np.linspace(-1.0, 1.0, side)
    x, y = np.meshgrid(steps, steps)
    vertices = np.stack([x, y, 0.1 * np.sin(5.0 * x)], axis=-1).reshape(-1, 3)
    corner = np.arange(side * side).reshape(side, side)
    faces = np.stack([corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]], axis=-1).reshape(-1, 4)
    add_emitter(bpy)
    add_mesh(bpy, "Hills", vertices.tolist(), faces.tolist()).mpm.type = "collider"
    shape: Any = extracted(bpy).colliders[0].shape
    assert shape.vertices == pytest.approx(vertices, abs=1e-6)
    assert len(shape.triangles) == 2 * len(faces)
    assert len(FACES) == 6
