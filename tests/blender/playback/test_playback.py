"""Cached frames become points; missing frames become no points and a status text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.host.runtime import runtime
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.playback.attributes import stored_name
from mpm_addon.blender.settings import paths
from mpm_addon.core.particles import ATTRIBUTES
from mpm_addon.core.scene.settings import CacheSettings
from tests.blender.scenes import add_mesh, frame_arrays, write_cache

blender = pytest.mark.blender
LOOKS = [display.Look("red", (1.0, 0.0, 0.0, 1.0), mode="spheres"), display.Look("green", (0.0, 1.0, 0.0, 1.0), mode="spheres")]


@pytest.fixture
def particles(bpy: Any, tmp_path: Path) -> Any:
    """The object that shows a cache with frames 1 to 3 of 5, 5 and 8 particles."""
    write_cache(tmp_path / "cache", {1: 5, 2: 5, 3: 8})
    item = particle_objects.result_object(bpy.context.scene, str(tmp_path / "cache"))
    bpy.context.scene.frame_set(1)
    return item


def stored(item: Any, name: str) -> np.ndarray:
    declared = ATTRIBUTES[name]
    field = "vector" if declared.components == 3 else "value"
    attribute = item.data.attributes[stored_name(name)]
    values = np.empty(len(item.data.vertices) * declared.components, declared.dtype)
    attribute.data.foreach_get(field, values)
    return values.reshape(-1, declared.components) if declared.components > 1 else values


def spheres(bpy: Any) -> list[Any]:
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return [
        (tuple(round(part, 4) for part in instance.matrix_world.translation), instance.object.data)
        for instance in depsgraph.object_instances
        if instance.is_instance
    ]


def test_a_frame_change_brings_the_particles_of_the_frame(bpy: Any, particles: Any) -> None:
    for number, count in ((1, 5), (3, 8), (2, 5)):
        bpy.context.scene.frame_set(number)
        assert len(particles.data.vertices) == count
        assert stored(particles, "position").tolist() == [[float(index), float(number), 0.0] for index in range(count)]
        assert not particle_objects.status(particles)


def test_every_attribute_is_stored_as_it_is_in_the_cache(bpy: Any, particles: Any) -> None:
    bpy.context.scene.frame_set(3)
    for name, values in frame_arrays(3, 8).items():
        assert stored(particles, name).tolist() == values.tolist(), name


def test_what_was_not_kept_of_a_frame_is_not_that_of_another(bpy: Any, particles: Any, tmp_path: Path) -> None:
    """A bake that was resumed with other cache settings has frames with and without velocities."""
    assert stored(particles, "velocity").tolist() == [[0.0, 0.0, 1.0]] * 5
    particles.mpm.cache = str(write_cache(tmp_path / "without", {2: 5, 3: 8}, CacheSettings(velocity=False)))
    bpy.context.scene.frame_set(2)
    assert "velocity" not in particles.data.attributes
    assert stored(particles, "position").tolist() == [[float(index), 2.0, 0.0] for index in range(5)]
    particles.mpm.cache = str(tmp_path / "cache")
    bpy.context.scene.frame_set(1)
    assert stored(particles, "velocity").tolist() == [[0.0, 0.0, 1.0]] * 5


def test_an_object_that_is_gone_leaves_nothing_in_memory(bpy: Any, particles: Any, tmp_path: Path) -> None:
    other = particle_objects.result_object(bpy.context.scene, str(write_cache(tmp_path / "other", {1: 4})))
    particle_objects.show(bpy.context.scene)
    kept, shown = (other.session_uid, other.data.session_uid), runtime.of(particle_objects.Shown)
    assert (len(shown.readers), len(shown.filled)) == (2, 2)
    bpy.data.objects.remove(particles)
    particle_objects.show(bpy.context.scene)
    assert (list(shown.readers), list(shown.filled)) == ([kept[0]], [kept[1]])


def test_a_missing_frame_shows_nothing_and_says_so(bpy: Any, particles: Any) -> None:
    bpy.context.scene.frame_set(4)
    assert len(particles.data.vertices) == 0
    assert in_blender(particle_objects.status(particles)) == "Frame 4 is not baked"
    bpy.context.scene.frame_set(2)
    assert len(particles.data.vertices) == 5


def test_a_missing_cache_shows_nothing_and_says_so(bpy: Any, particles: Any, tmp_path: Path) -> None:
    particles.mpm.cache = str(tmp_path / "elsewhere")
    bpy.context.scene.frame_set(2)
    assert len(particles.data.vertices) == 0
    assert "is missing, so it shows nothing; connect its drive" in in_blender(particle_objects.status(particles))


def test_a_damaged_frame_shows_nothing_and_says_so(bpy: Any, particles: Any, tmp_path: Path) -> None:
    (tmp_path / "cache" / "takes" / "0001" / "frames" / "frame_000002.mpm").write_bytes(b"no frame at all")
    bpy.context.scene.frame_set(2)
    assert len(particles.data.vertices) == 0
    assert "delete this file, then choose Resume to fill the gap" in in_blender(particle_objects.status(particles))


def test_without_a_cache_nothing_is_touched(bpy: Any) -> None:
    item = add_mesh(bpy, "Cube")
    bpy.context.scene.frame_set(2)
    assert len(item.data.vertices) == 8
    assert particle_objects.result_objects(bpy.context.scene) == []


def test_there_is_one_object_for_a_cache(bpy: Any, particles: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    assert particle_objects.result_object(scene, str(tmp_path / "cache")) == particles
    assert particle_objects.result_object(scene, str(tmp_path / "other")) != particles
    assert len(particle_objects.result_objects(scene)) == 2


def test_the_object_of_an_unsaved_file_stays_the_one_after_saving(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    item = particle_objects.result_object(scene, paths.cache_path(scene))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    assert particle_objects.result_object(scene, paths.cache_path(scene)) == item
    assert item.mpm.cache == "//cache_mpm"
    assert particle_objects.result_object(scene, paths.cache_path(scene, object_name="Ball")) != item


def test_suspended_playback_leaves_the_particles_alone(bpy: Any, particles: Any) -> None:
    with particle_objects.suspended():
        bpy.context.scene.frame_set(3)
    assert len(particles.data.vertices) == 5
    bpy.context.scene.frame_set(3)
    assert len(particles.data.vertices) == 8


def test_lengths_come_back_in_blender_units(bpy: Any, particles: Any) -> None:
    bpy.context.scene.unit_settings.scale_length = 0.5
    bpy.context.scene.frame_set(2)
    assert stored(particles, "position")[3].tolist() == [6.0, 4.0, 0.0]
    assert stored(particles, "velocity")[0].tolist() == [0.0, 0.0, 4.0]
    assert stored(particles, "scale")[0] == pytest.approx(0.2)
    assert stored(particles, "id").tolist() == [0, 1, 2, 3, 4]


@blender
def test_the_evaluated_mesh_and_its_bounds_follow(bpy: Any, particles: Any) -> None:
    for number in (1, 2, 3):
        bpy.context.scene.frame_set(number)
        evaluated = particles.evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert len(evaluated.data.vertices) == len(particles.data.vertices)
        corners = np.array([tuple(corner) for corner in evaluated.bound_box])
        assert corners.max(axis=0).tolist() == [len(particles.data.vertices) - 1, number, 0.0]


@blender
def test_each_particle_is_a_sphere_of_its_emitters_material(bpy: Any, particles: Any) -> None:
    display.dress(particles, LOOKS)
    for number, count in ((3, 8), (1, 5), (4, 0)):
        bpy.context.scene.frame_set(number)
        found = {place: mesh.materials[mesh.polygons[0].material_index].name_full if count else "" for place, mesh in spheres(bpy)}
        assert found == {(float(index), float(number), 0.0): f"MPM {LOOKS[index % 2].name}" for index in range(count)}


@blender
def test_a_sphere_has_its_particles_volume_and_the_chosen_roundness(bpy: Any, particles: Any) -> None:
    display.dress(particles, LOOKS)
    modifier = particles.modifiers[display.MODIFIER_NAME]
    for subdivisions, radius_scale in ((1, 1.0), (3, 0.5)):
        display.set_input(modifier, display.SUBDIVISIONS, subdivisions)
        display.set_input(modifier, display.RADIUS_SCALE, radius_scale)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        found = [
            (len(instance.object.data.polygons), instance.matrix_world.to_scale().x)
            for instance in depsgraph.object_instances
            if instance.is_instance
        ]
        assert len(found) == 5
        face_count, radius = found[0]
        assert face_count == 20 * 4 ** (subdivisions - 1)
        # 4/3 pi r^3 = scale^3 at a radius scale of 1
        assert radius == pytest.approx(radius_scale * 0.1 * (3.0 / (4.0 * np.pi)) ** (1.0 / 3.0), rel=1e-5)


@blender
def test_materials_that_an_artist_changed_are_kept(bpy: Any, particles: Any) -> None:
    display.dress(particles, LOOKS)
    display.set_input(particles.modifiers[0], display.RADIUS_SCALE, 2.0)
    material = bpy.data.materials["MPM red"]
    assert tuple(material.diffuse_color) == (1.0, 0.0, 0.0, 1.0)
    material.diffuse_color = (0.0, 0.0, 1.0, 1.0)
    display.dress(particles, LOOKS)
    assert tuple(material.diffuse_color) == (0.0, 0.0, 1.0, 1.0)
    assert len(bpy.data.materials) == 2
    assert len(particles.modifiers) == 1
    # a new color of the emitter is shown
    display.dress(particles, [display.Look("red", (0.5, 0.0, 0.0, 1.0), mode="spheres")])
    assert tuple(material.diffuse_color) == (0.5, 0.0, 0.0, 1.0)


@blender
def test_material_index_has_its_name_on_the_points(bpy: Any, particles: Any) -> None:
    display.dress(particles, [display.Look("red", (1.0, 0.0, 0.0, 1.0), mode="points")])
    bpy.context.scene.frame_set(3)
    cloud = next(
        instance.object.data for instance in bpy.context.evaluated_depsgraph_get().object_instances if instance.object.type == "POINTCLOUD"
    )
    values = np.empty(8, np.int32)
    cloud.attributes["material_index"].data.foreach_get("value", values)
    assert values.tolist() == [0, 1] * 4
    assert {"velocity", "id", "age", "rotation", "volume_ratio"} <= set(cloud.attributes.keys())


@blender
def test_rendered_frames_show_their_own_particles(bpy: Any, particles: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    display.dress(particles, LOOKS)
    scene.frame_start, scene.frame_end = 2, 4
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath = str(tmp_path / "render_")
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    seen: list[tuple[int, int]] = []

    def note(rendered: Any, depsgraph: Any) -> None:
        evaluated = particles.evaluated_get(depsgraph or bpy.context.evaluated_depsgraph_get())
        seen.append((rendered.frame_current, len(evaluated.original.data.vertices)))

    bpy.app.handlers.render_post.append(note)
    try:
        bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.render_post.remove(note)
    assert seen == [(2, 5), (3, 8), (4, 0)]
    assert scene.render.use_lock_interface


def test_a_plain_mesh_is_no_particle_object(bpy: Any) -> None:
    add_mesh(bpy, "Cube")
    assert particle_objects.result_objects(bpy.context.scene) == []


def test_painted_values_become_attributes_of_their_kind(bpy: Any, particles: Any) -> None:
    painted = {
        "temperature": np.arange(4, dtype=np.float32),
        "UVMap": np.linspace(0.0, 1.0, 8, dtype=np.float32).reshape(4, 2),
        "wind": np.arange(12, dtype=np.float32).reshape(4, 3),
        "color": np.linspace(0.0, 0.9, 16, dtype=np.float32).reshape(4, 4),
    }
    bpy.context.scene.unit_settings.scale_length = 0.5
    particle_objects.fill(particles.data, {**frame_arrays(1, 4), **painted}, 0.5)
    kinds = {"temperature": ("FLOAT", "value"), "UVMap": ("FLOAT2", "vector"), "wind": ("FLOAT_VECTOR", "vector")}
    for name, (kind, field) in {**kinds, "color": ("FLOAT_COLOR", "color")}.items():
        # Cycles would read 0 from a mesh attribute with a volume's name
        attribute = particles.data.attributes[f"mpm_{name}" if name in ("color", "temperature") else name]
        assert (attribute.data_type, attribute.domain) == (kind, "POINT")
        shown = np.empty(painted[name].size, np.float32)
        attribute.data.foreach_get(field, shown)
        # the unit scale does not change painted values
        assert np.array_equal(shown, painted[name].ravel())


@pytest.mark.blender
def test_a_painted_color_reaches_the_material(bpy: Any, particles: Any) -> None:
    display.dress(particles, [display.Look("brush", (1.0, 0.0, 0.0, 1.0), is_painted=True, mode="spheres"), LOOKS[1]])
    used = {
        material.name: [
            (node.attribute_type, node.attribute_name)
            for node in material.node_tree.nodes
            if node.type == "ATTRIBUTE" and node.attribute_name == "mpm_color"
        ]
        for material in particles.data.materials
    }
    assert used == {"MPM brush": [("INSTANCER", "mpm_color"), ("GEOMETRY", "mpm_color")], "MPM green": []}
    display.dress(particles, [display.Look("brush", (1.0, 0.0, 0.0, 1.0), is_painted=True, mode="spheres"), LOOKS[1]])
    assert len([node for node in particles.data.materials[0].node_tree.nodes if node.type == "ATTRIBUTE"]) == 2


def test_an_attribute_that_was_removed_comes_back(bpy: Any, particles: Any) -> None:
    particles.data.attributes.remove(particles.data.attributes["rest_position"])
    bpy.context.scene.frame_set(2)
    assert stored(particles, "rest_position").tolist() == [[0.0, 0.0, 0.0]] * 5


def test_what_undo_brought_back_is_filled_anew(bpy: Any, particles: Any) -> None:
    scale = particles.data.attributes["scale"]
    scale.data.foreach_set("value", np.full(5, 7.0, np.float32))
    bpy.context.scene.frame_set(2)
    assert stored(particles, "scale").tolist() == [7.0] * 5, "unchanged values are not written again"
    for handler in list(bpy.app.handlers.undo_post):
        handler(bpy.context.scene)
    bpy.context.scene.frame_set(1)
    assert stored(particles, "scale") == pytest.approx(np.full(5, 0.1, np.float32))


def test_settings_may_leave_attributes_out(bpy: Any, tmp_path: Path) -> None:
    settings = CacheSettings(velocity=False, stress=False)
    write_cache(tmp_path / "cache", {1: 5, 2: 5}, settings)
    item = particle_objects.result_object(bpy.context.scene, str(tmp_path / "cache"))
    for frame, subframe in ((1, 0.0), (1, 0.5)):
        bpy.context.scene.frame_set(frame, subframe=subframe)
        assert not particle_objects.status(item)
        assert stored(item, "position")[:, 1].tolist() == [frame + subframe] * 5
    assert "stress" not in item.data.attributes and "velocity" not in item.data.attributes
