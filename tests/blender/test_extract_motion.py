"""How colliders move, as the solver is told of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.extract import extract_scene
from mpm_addon.core.geometry.motion import pose_at
from mpm_addon.storage import read_scene, write_scene

from .scenes import add_collider, add_emitter

pytestmark = pytest.mark.blender


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
    # its own space is about its origin
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


def test_motion_is_in_metres(bpy: Any) -> None:
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
