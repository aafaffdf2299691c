"""Motion, deformation, appearance and disappearance of objects in the solver's description."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.motion import pose_at
from mpm_addon.storage import read_scene, write_scene
from tests.blender.scenes import CORNERS, add_collider, add_emitter, add_mesh


def keyed(item: Any, path: str, values: dict[int, Any]) -> None:
    for frame, value in values.items():
        setattr(item, path, value)
        item.keyframe_insert(path, frame=frame)


def test_a_moving_collider_has_a_pose_at_every_frame(bpy: Any) -> None:
    scene = bpy.context.scene
    scene.frame_end = 4
    add_emitter(bpy)
    item = add_collider(bpy, "Bat")
    item.scale = (2.0, 1.0, -1.0)
    keyed(item, "location", {1: (3.0, 0.0, 0.0), 4: (3.0, 6.0, 0.0)})
    keyed(item, "rotation_euler", {1: (0.0, 0.0, 0.0), 4: (0.0, 0.0, 1.5)})
    collider = extract_scene(bpy.context).colliders[0]
    assert collider.motion is not None
    assert collider.motion.frames.tolist() == [1.0, 2.0, 3.0, 4.0]
    for number in range(1, 5):
        scene.frame_set(number)
        world = np.array([item.matrix_world @ vertex.co for vertex in item.data.vertices])
        pose = pose_at(collider.motion, number)
        moved = collider.shape.vertices @ pose[:3, :3].T + pose[:3, 3]
        assert moved == pytest.approx(world, abs=1e-5)
        assert pose[:3, :3] @ pose[:3, :3].T == pytest.approx(np.eye(3), abs=1e-12)
    # local space is centered on its origin
    assert np.round(collider.shape.bounds(), 5).tolist() == [[-1.0, -0.5, -0.5], [1.0, 0.5, 0.5]]


def test_a_parents_motion_counts(bpy: Any) -> None:
    bpy.context.scene.frame_end = 2
    add_emitter(bpy)
    item = add_collider(bpy)
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    item.parent = parent
    keyed(parent, "location", {1: (0.0, 0.0, 0.0), 2: (0.0, 0.0, 1.0)})
    motion = extract_scene(bpy.context).colliders[0].motion
    assert motion is not None and motion.matrices is not None
    assert motion.matrices[:, 2, 3].tolist() == [0.0, 1.0]


def test_motion_is_in_meters(bpy: Any) -> None:
    bpy.context.scene.frame_end = 2
    bpy.context.scene.unit_settings.scale_length = 0.5
    add_emitter(bpy)
    keyed(add_collider(bpy), "location", {1: (0.0, 0.0, 0.0), 2: (0.0, 0.0, 1.0)})
    collider = extract_scene(bpy.context).colliders[0]
    assert collider.motion is not None and collider.motion.matrices is not None
    assert collider.motion.matrices[1, 2, 3] == 0.5
    assert np.round(collider.shape.bounds(), 5).tolist()[1] == [0.25, 0.25, 0.25]


def test_a_collider_with_keys_that_stands_still_has_no_motion(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    add_emitter(bpy)
    keyed(add_collider(bpy), "location", {1: (0.0, 0.0, 2.0), 3: (0.0, 0.0, 2.0)})
    collider = extract_scene(bpy.context).colliders[0]
    assert collider.motion is None
    assert np.round(collider.shape.bounds(), 5).tolist()[0] == [-0.5, -0.5, 1.5]


def test_the_package_of_an_extracted_scene_reads_back_equal(bpy: Any, tmp_path: Any) -> None:
    bpy.context.scene.frame_end = 3
    add_emitter(bpy, "Würfel Ⅰ")
    keyed(add_collider(bpy), "location", {1: (0.0, 0.0, 0.0), 3: (0.0, 0.0, 1.0)})
    scene = extract_scene(bpy.context)
    assert read_scene(write_scene(scene, tmp_path)) == scene


def world_vertices(bpy: Any, item: Any, frame: float) -> np.ndarray:
    """The evaluated vertices of an object in world space at a (fractional) frame, one by one."""
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = np.array([evaluated.matrix_world @ vertex.co for vertex in evaluated.to_mesh().vertices])
    evaluated.to_mesh_clear()
    return found


def assert_follows(bpy: Any, thing: Any, item: Any) -> None:
    """Assert that the given vertices match Blender's evaluated ones at every sample."""
    assert thing.motion is not None
    for frame, vertices in zip(thing.motion.frames, thing.motion.vertices, strict=True):
        assert vertices == pytest.approx(world_vertices(bpy, item, float(frame)), abs=1e-5)
    assert (thing.shape.vertices == thing.motion.vertices[0]).all()
    assert np.ptp(thing.motion.vertices, axis=0).max() > 0.1


def test_emitters_and_outflows_move_as_colliders_do(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    items = [add_emitter(bpy, "Tap"), add_collider(bpy, "Bat"), add_mesh(bpy, "Drain")]
    items[2].mpm.type = "outflow"
    for item in items:
        keyed(item, "location", {1: (0.0, 0.0, 1.0), 3: (2.0, 0.0, 1.0)})
    scene = extract_scene(bpy.context)
    motions = [scene.emitters[0].motion, scene.colliders[0].motion, scene.outflows[0].motion]
    assert all(motion is not None and motion == motions[0] for motion in motions)
    assert motions[0].matrices[:, :3, 3].tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [2.0, 0.0, 1.0]]


def test_samples_between_frames_follow_a_fast_turn(bpy: Any) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 2, 3
    scene.mpm.motion_samples = 4
    add_emitter(bpy)
    item = add_collider(bpy)
    # three quarters of a turn in a frame: with only two poses it would turn back by a quarter
    keyed(item, "rotation_euler", {2: (0.0, 0.0, 0.0), 3: (0.0, 0.0, 1.5 * np.pi)})
    for curve in item.animation_data.action.fcurves if hasattr(item.animation_data.action, "fcurves") else ():
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    motion = extract_scene(bpy.context).colliders[0].motion
    assert motion.frames.tolist() == [2.0, 2.25, 2.5, 2.75, 3.0]
    for frame, matrix in zip(motion.frames, motion.matrices, strict=True):
        scene.frame_set(int(frame), subframe=frame % 1.0)
        assert matrix == pytest.approx(np.array(item.matrix_world), abs=1e-6)
    assert (scene.frame_current, scene.frame_subframe) == (3, 0.0)


def test_a_changing_scale_becomes_motion_by_vertices(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    add_emitter(bpy)
    item = add_collider(bpy, "Balloon")
    item.location = (1.0, 2.0, 3.0)
    keyed(item, "scale", {1: (1.0, 1.0, 1.0), 3: (2.0, 1.0, 3.0)})
    collider = extract_scene(bpy.context).colliders[0]
    assert_follows(bpy, collider, item)
    assert collider.motion.vertices.dtype == np.float32


def test_an_object_without_size_at_the_start_is_refused(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    add_emitter(bpy)
    keyed(add_collider(bpy, "Balloon"), "scale", {1: (0.0, 1.0, 1.0), 3: (1.0, 1.0, 1.0)})
    with pytest.raises(SceneError, match=r'^Collider "Balloon": its scale along X is zero at frame 1; set the scale there'):
        extract_scene(bpy.context)


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
@pytest.mark.parametrize("add", [add_emitter, add_collider])
def test_an_object_whose_place_is_not_finite_is_refused(bpy: Any, add: Any, value: float) -> None:
    add_emitter(bpy)
    add(bpy, "Fan").rotation_euler.z = value
    bpy.context.view_layer.update()
    with pytest.raises(
        SceneError, match=r'^\w+ "Fan": its location, rotation or scale, or that of a parent, is not a finite number at frame 1; '
    ):
        extract_scene(bpy.context)


def bent_arm(bpy: Any, kind: str) -> Any:
    """A collider that a second bone bends over frames 1 to 5."""
    z = np.linspace(0.0, 2.0, 9)
    vertices = [(x, y, height) for height in z for x, y in ((-0.2, -0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, 0.2))]
    faces = [(4 * k + a, 4 * k + b, 4 * k + 4 + b, 4 * k + 4 + a) for k in range(8) for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))]
    item = add_mesh(bpy, "Arm", vertices, [*faces, (3, 2, 1, 0), (32, 33, 34, 35)])
    item.mpm.type = kind
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    lower, upper = rig.data.edit_bones.new("lower"), rig.data.edit_bones.new("upper")
    lower.head, lower.tail, upper.head, upper.tail = (0, 0, 0), (0, 0, 1), (0, 0, 1), (0, 0, 2)
    upper.parent = lower
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone, indices in (("lower", range(16)), ("upper", range(16, 36))):
        item.vertex_groups.new(name=bone).add(list(indices), 1.0, "REPLACE")
    item.modifiers.new("Rig", "ARMATURE").object = rig
    pose = rig.pose.bones["upper"]
    pose.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (5, 1.2)):
        pose.rotation_euler.x = angle
        pose.keyframe_insert("rotation_euler", frame=frame)
    return item


@pytest.mark.blender
@pytest.mark.parametrize("kind", ["emitter", "collider"])
def test_an_arm_that_bends_gives_its_vertices(bpy: Any, kind: str) -> None:
    bpy.context.scene.frame_end = 5
    item = bent_arm(bpy, kind)
    if kind != "emitter":
        add_emitter(bpy).location.x = 9.0
    scene = extract_scene(bpy.context)
    (thing,) = getattr(scene, kind + "s")
    assert_follows(bpy, thing, item)
    assert thing.motion.matrices is None


@pytest.mark.blender
def test_an_outflow_that_deforms_is_refused(bpy: Any) -> None:
    bpy.context.scene.frame_end = 5
    bent_arm(bpy, "outflow")
    add_emitter(bpy)
    with pytest.raises(SceneError, match=r'^Outflow "Arm": motion by vertices cannot move an outflow; use "matrix"'):
        extract_scene(bpy.context)


@pytest.mark.blender
def test_shape_keys_deform(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    add_emitter(bpy)
    item = add_collider(bpy)
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Tall")
    for point in key.data:
        point.co.z *= 3.0
    for frame, value in ((1, 0.0), (3, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    assert_follows(bpy, extract_scene(bpy.context).colliders[0], item)


@pytest.mark.blender
def test_a_lattice_deforms_and_a_constant_modifier_does_not(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    add_emitter(bpy)
    item = add_collider(bpy)
    lattice = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    bpy.context.scene.collection.objects.link(lattice)
    item.modifiers.new("Lattice", "LATTICE").object = lattice
    subdivision = item.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels = subdivision.render_levels = 1
    assert extract_scene(bpy.context).colliders[0].motion is None
    lattice.data.points[0].co_deform = (-3.0, -3.0, -3.0)
    keyed(lattice, "location", {1: (0.0, 0.0, 0.0), 3: (0.0, 0.0, 1.0)})
    assert_follows(bpy, extract_scene(bpy.context).colliders[0], item)


@pytest.mark.blender
def test_a_mesh_whose_vertices_come_and_go_is_refused_with_the_frame(bpy: Any) -> None:
    bpy.context.scene.frame_end = 6
    add_emitter(bpy)
    modifier = add_collider(bpy, "Wall").modifiers.new("Array", "ARRAY")
    for frame, count in ((1, 2), (4, 3)):
        modifier.count = count
        modifier.keyframe_insert("count", frame=frame)
    with pytest.raises(
        SceneError, match=r'^Collider "Wall": its mesh has 24 vertices and 18 faces at frame 3, but 16 and 12 at frame 1; keep'
    ):
        extract_scene(bpy.context)
    assert bpy.context.scene.frame_current == 1


def test_vertices_far_away_keep_double_precision(bpy: Any) -> None:
    bpy.context.scene.frame_end = 2
    add_emitter(bpy)
    item = add_collider(bpy)
    item.location.x = 1e5
    keyed(item, "scale", {1: (1.0, 1.0, 1.0), 2: (1.3, 1.0, 1.0)})
    vertices = extract_scene(bpy.context).colliders[0].motion.vertices
    assert vertices[1] == pytest.approx(np.array(CORNERS) * (1.3, 1.0, 1.0) + (1e5, 0.0, 0.0), abs=1e-6)


@pytest.mark.parametrize("switch", ["hide_viewport", "hide_render"])
def test_colliders_that_are_disabled_for_a_while_are_off_meanwhile(bpy: Any, switch: str) -> None:
    bpy.context.scene.frame_end = 6
    add_emitter(bpy)
    item = add_collider(bpy)
    keyed(item, switch, {1: True, 3: False, 5: True})
    keyed(item, "location", {1: (0.0, 0.0, 0.0), 6: (5.0, 0.0, 0.0)})
    collider = extract_scene(bpy.context).colliders[0]
    assert collider.enabled is False
    assert collider.animation.values["enabled"].tolist() == [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    for index in (2, 3):
        bpy.context.scene.frame_set(index + 1)
        assert collider.motion.matrices[index, 0, 3] == pytest.approx(item.matrix_world.translation.x)


def test_an_emitter_that_is_not_rendered_emits(bpy: Any) -> None:
    bpy.context.scene.frame_end = 4
    keyed(add_emitter(bpy), "hide_render", {1: False, 3: True})
    add_collider(bpy).hide_render = True
    scene = extract_scene(bpy.context)
    assert (scene.emitters[0].enabled, scene.emitters[0].animation) == (True, None)
    assert (scene.colliders[0].enabled, scene.colliders[0].animation) == (True, None)


def test_an_emitter_that_is_never_there_is_refused(bpy: Any) -> None:
    bpy.context.scene.frame_end = 4
    keyed(add_emitter(bpy), "hide_viewport", {1: True, 4: True})
    with pytest.raises(SceneError, match=r'^Emitter "Cube" is disabled in viewports at every frame'):
        extract_scene(bpy.context)


@pytest.mark.blender
def test_the_package_of_a_deforming_scene_reads_back_equal(bpy: Any, tmp_path: Any) -> None:
    bpy.context.scene.frame_end = 5
    add_emitter(bpy).location.x = 9.0
    bent_arm(bpy, "collider")
    scene = extract_scene(bpy.context)
    assert read_scene(write_scene(scene, tmp_path)) == scene


def test_nothing_is_played_where_nothing_changes(bpy: Any) -> None:
    frames: list[int] = []

    def follow(scene: Any, _depsgraph: Any) -> None:
        frames.append(scene.frame_current)

    add_emitter(bpy)
    add_collider(bpy).modifiers.clear()
    bpy.app.handlers.frame_change_post.append(follow)
    extract_scene(bpy.context)
    assert set(frames) == {1}


def test_dynamic_colliders_stay_where_they_start(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    add_emitter(bpy)
    item = add_collider(bpy, "Ball", dynamic=True, velocity=(0.0, 0.0, 2.0))
    item.location = (1.0, 0.0, 0.0)
    collider = extract_scene(bpy.context).colliders[0]
    assert (collider.dynamic, collider.velocity, collider.motion) == (True, (0.0, 0.0, 2.0), None)
    assert collider.shape.bounds().mean(axis=0).tolist() == [1.0, 0.0, 0.0]
    keyed(item, "location", {1: (0.0, 0.0, 0.0), 3: (1.0, 0.0, 0.0)})
    with pytest.raises(SceneError, match=r'^Collider "Ball" is dynamic, so the simulation moves it, but it is animated too; remove that'):
        extract_scene(bpy.context)


@pytest.mark.blender
def test_cloth_is_simulated_and_followed(bpy: Any) -> None:
    bpy.context.scene.frame_end = 4
    add_emitter(bpy).location.x = 9.0
    steps = np.linspace(-1.0, 1.0, 5)
    vertices = [(x, y, 0.0) for x in steps for y in steps]
    faces = [(5 * i + j, 5 * i + j + 5, 5 * i + j + 6, 5 * i + j + 1) for i in range(4) for j in range(4)]
    item = add_mesh(bpy, "Sheet", vertices, faces)
    item.mpm.type = "collider"
    item.modifiers.new("Cloth", "CLOTH")
    bpy.context.scene.frame_set(3)
    (collider,) = extract_scene(bpy.context).colliders
    heights = collider.motion.vertices[:, :, 2].mean(axis=1)
    assert (np.diff(heights) < 0.0).all()  # it falls
    for frame in range(1, 5):
        assert collider.motion.vertices[frame - 1] == pytest.approx(world_vertices(bpy, item, frame), abs=1e-5)


@pytest.mark.blender
def test_a_mesh_cache_is_followed(bpy: Any, tmp_path: Any) -> None:
    bpy.context.scene.frame_end = 3
    add_emitter(bpy).location.x = 9.0
    item = add_collider(bpy)
    shapes = np.array([np.multiply(CORNERS, (1.0, 1.0, 1.0 + frame)) for frame in range(4)], dtype=np.float32)
    header = struct.pack("<12siiffi", b"POINTCACHE2\0", 1, 8, 1.0, 1.0, 4)
    (tmp_path / "shape.pc2").write_bytes(header + shapes.tobytes())
    modifier = item.modifiers.new("Cache", "MESH_CACHE")
    modifier.cache_format, modifier.filepath, modifier.frame_start = "PC2", str(tmp_path / "shape.pc2"), 1.0
    collider = extract_scene(bpy.context).colliders[0]
    assert_follows(bpy, collider, item)
    assert np.ptp(collider.motion.vertices[2][:, 2]) == pytest.approx(3.0, abs=1e-5)
