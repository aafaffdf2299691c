"""The motion of dynamic colliders as keyframes on their objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import shown_caches
from mpm_addon.blender.host.actions import animated_paths
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import keyframes
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.blender.reading.fingerprint import fingerprint
from mpm_addon.core.geometry.rotation import rotation_matrix
from mpm_addon.core.particles import Frame, FrameStatistics
from mpm_addon.storage.cache_writer import CacheWriter
from tests.blender.scenes import add_collider, add_emitter, description, frame_arrays, write_cache

pytestmark = pytest.mark.blender

FRAMES = range(1, 9)


def poses(name: str, frames: range = FRAMES) -> dict[int, dict[str, np.ndarray]]:
    """A ball that rotates by 0.9 rad per frame about a tilted axis while it flies; its local space is arbitrary."""
    own = np.eye(4)
    own[:3, :3], own[:3, 3] = rotation_matrix(np.array([0.4, -0.2, 0.1])), (0.3, 0.2, 0.1)
    found = {}
    for frame in frames:
        move = np.eye(4)
        move[:3, :3] = rotation_matrix(0.9 * (frame - frames[0]) * np.array([0.48, 0.6, 0.64]))
        move[:3, 3] = np.array([0.5, 0.0, -0.1]) * (frame - frames[0])
        found[frame] = {name: move @ own}
    return found


def add_ball(bpy: Any, mode: str = "XYZ") -> Any:
    """A dynamic collider with a parent, delta transforms and a scale."""
    item = add_collider(bpy, "Ball", dynamic=True)
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler, parent.scale = (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), (2.0, 2.0, 2.0)
    item.parent = parent
    item.rotation_mode = mode
    item.location, item.scale = (0.5, 0.0, 0.25), (0.5, 1.0, 0.75)
    item.delta_location, item.delta_rotation_euler = (0.1, 0.2, 0.3), (0.2, 0.0, 0.0)
    item.delta_rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    if mode == "QUATERNION":
        item.rotation_quaternion = (0.6, 0.0, 0.8, 0.0)
    elif mode == "AXIS_ANGLE":
        item.rotation_axis_angle = (0.5, 0.0, 0.6, 0.8)
    else:
        item.rotation_euler = (0.1, 0.7, -0.4)
    bpy.context.view_layer.update()
    return item


def world(bpy: Any, item: Any, frame: float) -> np.ndarray:
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
    return np.array(item.matrix_world)


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "YXZ", "QUATERNION", "AXIS_ANGLE"])
def test_the_object_follows_its_poses_in_its_own_rotation_mode(bpy: Any, mode: str) -> None:
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    item = add_ball(bpy, mode)
    before = np.array(item.matrix_world)
    given = poses("Ball")
    assert keyframes.write_keys(scene, given, "//cache_mpm") == []
    assert item.rotation_mode == mode
    back = np.linalg.inv(given[1]["Ball"])
    for frame in FRAMES:
        move = given[frame]["Ball"] @ back
        move[:3, 3] /= 0.5
        assert world(bpy, item, frame) == pytest.approx(move @ before, abs=2e-5)
    # no jump of the angles: halfway between two frames it has rotated half as far
    for frame in FRAMES[:-1]:
        between, start, end = (world(bpy, item, frame + share)[:3, :3] for share in (0.5, 0.0, 1.0))
        assert np.abs(between - 0.5 * (start + end)).max() < 0.6


def test_the_first_key_is_exactly_where_the_object_was(bpy: Any) -> None:
    item = add_ball(bpy)
    before = np.array(item.matrix_world)
    keyframes.write_keys(bpy.context.scene, poses("Ball"), "//cache_mpm")
    assert (world(bpy, item, 1) == before).all()


def test_a_bake_with_keyframes_is_the_same_scene_and_not_out_of_date(bpy: Any) -> None:
    add_emitter(bpy).location.x = 9.0
    add_ball(bpy)
    scene = bpy.context.scene
    before, digest = extract_scene(bpy.context), fingerprint(scene)
    keyframes.write_keys(scene, poses("Ball"), "//cache_mpm")
    scene.frame_set(5)
    assert extract_scene(bpy.context) == before
    assert fingerprint(scene) == digest


def test_writing_again_replaces_the_keys_and_removing_puts_the_object_back(bpy: Any) -> None:
    scene = bpy.context.scene
    item = add_ball(bpy, "QUATERNION")
    before = np.array(item.matrix_world)
    keyframes.write_keys(scene, poses("Ball"), "//cache_mpm")
    keyframes.write_keys(scene, poses("Ball", range(1, 4)), "//cache_mpm")
    assert len(bpy.data.actions) == 1
    assert (item.animation_data.action.frame_range[0], item.animation_data.action.frame_range[1]) == (1.0, 3.0)
    keyframes.remove_keys(item)
    assert item.animation_data is None
    assert len(bpy.data.actions) == 0
    bpy.context.view_layer.update()
    assert (np.array(item.matrix_world) == before).all()


@pytest.mark.parametrize("is_moved", [False, True])
def test_writing_again_at_another_frame_starts_where_the_object_was(bpy: Any, is_moved: bool) -> None:
    """Blender updates an object whose keys were removed only later; its parent may have been moved since the bake before."""
    scene = bpy.context.scene
    item = add_ball(bpy)
    given = poses("Ball")
    keyframes.write_keys(scene, given, "//cache_mpm")
    if is_moved:
        item.parent.location.x += 0.5
    digest, start = fingerprint(scene), world(bpy, item, 1)
    scene.frame_set(5)
    keyframes.write_keys(scene, given, "//cache_mpm")
    assert is_moved or fingerprint(scene) == digest
    for frame in FRAMES:
        move = given[frame]["Ball"] @ np.linalg.inv(given[1]["Ball"])
        assert world(bpy, item, frame) == pytest.approx(move @ start, abs=2e-5)


def test_keys_that_the_user_added_stay(bpy: Any) -> None:
    item = add_ball(bpy)
    keyframes.write_keys(bpy.context.scene, poses("Ball"), "//cache_mpm")
    item.keyframe_insert("scale", frame=3)
    # baked again
    keyframes.write_keys(bpy.context.scene, poses("Ball"), "//cache_mpm")
    assert "scale" in animated_paths(item) and keyframes.has_baked_keys(item)
    keyframes.remove_keys(item)
    assert animated_paths(item) == {"scale"}
    assert not keyframes.has_baked_keys(item)


def test_an_action_of_the_user_is_left_alone(bpy: Any) -> None:
    item = add_ball(bpy)
    item.keyframe_insert("scale", frame=3)
    action = item.animation_data.action
    (complaint,) = keyframes.write_keys(bpy.context.scene, poses("Ball"), "//cache_mpm")
    assert in_blender(complaint).startswith(
        f'Object "Ball": its action "{action.name}" was kept, so the motion of the bake was not written'
    )
    assert item.animation_data.action == action
    assert animated_paths(item) == {"scale"}
    keyframes.remove_keys(item)
    assert item.animation_data.action == action


def test_a_linked_object_is_left_alone(bpy: Any, tmp_path: Path) -> None:
    item = add_collider(bpy, "Ball", dynamic=True)
    bpy.data.libraries.write(str(tmp_path / "ball.blend"), {item})
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "ball.blend"), link=True) as (_, wanted):
        wanted.objects = ["Ball"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    (complaint,) = keyframes.write_keys(bpy.context.scene, poses("Ball"), "//cache_mpm")
    assert in_blender(complaint) == 'Object "Ball" is linked, so its motion was not written as keyframes; make a library override.'


def test_freeing_a_bake_removes_its_keys_and_no_others(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 3}))
    item = add_ball(bpy)
    other = add_collider(bpy, "Other", dynamic=True)
    keyframes.write_keys(scene, poses("Ball"), scene.mpm.cache)
    keyframes.write_keys(scene, poses("Other"), str(tmp_path / "elsewhere"))
    bpy.ops.mpm.bake_free()
    assert not keyframes.has_baked_keys(item)
    assert keyframes.has_baked_keys(other)


def test_the_poses_of_a_cache_are_found_without_reading_its_frames(tmp_path: Path) -> None:
    described = description()
    writer = CacheWriter(tmp_path, described)
    writer.prepare(described, restart=False)
    for number in (1, 2):
        statistics = FrameStatistics(3, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
        writer.write_frame(Frame(number, 0.0, frame_arrays(number, 3), statistics, poses=poses("Ball")[number]))
        writer.cache.frame_path(number).write_bytes(b"damaged")
    found = shown_caches.baked_poses(tmp_path)
    assert list(found) == [1, 2]
    assert (found[2]["Ball"] == poses("Ball")[2]["Ball"]).all()
