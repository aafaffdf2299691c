"""Emitters without a surface: vertices and point clouds become particles with their velocities and attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import Points
from mpm_addon.storage import read_scene, write_scene
from tests.blender.scenes import add_mesh

PLACES = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]], np.float32)
VELOCITIES = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]], np.float32)


def give_attributes(data: Any) -> None:
    data.attributes.new("velocity", "FLOAT_VECTOR", "POINT").data.foreach_set("vector", VELOCITIES.ravel())
    data.attributes.new("hard", "FLOAT", "POINT").data.foreach_set("value", np.array([1.0, 2.0, 3.0], np.float32))
    data.attributes.new("tint", "FLOAT_COLOR", "POINT").data.foreach_set("color", np.arange(12, dtype=np.float32))


def add_cloud(bpy: Any) -> Any:
    """An emitter mesh of three vertices with velocity, stiffness and color."""
    item = add_mesh(bpy, "Cloud", PLACES, ())
    item.mpm.type = "emitter"
    item.mpm.emitter.stiffness_attribute, item.mpm.emitter.carried_attributes = "hard", "tint"
    give_attributes(item.data)
    return item


def check(bpy: Any) -> None:
    (emitter,) = extract_scene(bpy.context).emitters
    assert isinstance(emitter.shape, Points)
    # rotated by 90° about z, scaled by 2, at (5, 0, 0); a Blender unit is 10 m
    turned = PLACES[:, [1, 0, 2]] * [-2.0, 2.0, 2.0] + [5.0, 0.0, 0.0]
    np.testing.assert_allclose(emitter.shape.position, 10.0 * turned, atol=1e-5)
    np.testing.assert_allclose(emitter.shape.velocity, 20.0 * VELOCITIES[:, [1, 0, 2]] * [-1.0, 1.0, 1.0], atol=1e-5)
    assert emitter.shape.volume is None and emitter.painting is not None
    assert emitter.painting.values["stiffness"].tolist() == [1.0, 2.0, 3.0]
    assert emitter.painting.values["tint"].tolist() == np.arange(12.0).reshape(3, 4).tolist()


def place(bpy: Any, item: Any) -> None:
    item.location, item.rotation_euler, item.scale = (5.0, 0.0, 0.0), (0.0, 0.0, np.pi / 2), (2.0, 2.0, 2.0)
    bpy.context.scene.unit_settings.scale_length = 10.0


def test_vertices_alone_emit_as_points(bpy: Any, tmp_path: Any) -> None:
    place(bpy, add_cloud(bpy))
    check(bpy)
    scene = extract_scene(bpy.context)
    assert read_scene(write_scene(scene, tmp_path)).emitters == scene.emitters


@pytest.mark.blender
def test_a_point_cloud_emits(bpy: Any) -> None:
    if bpy.app.version < (4, 5):
        pytest.skip("only geometry nodes and imports make point clouds with points in 4.2")
    source = add_cloud(bpy)
    bpy.context.view_layer.update()
    source.select_set(True)
    bpy.ops.object.convert(target="POINTCLOUD")
    cloud = bpy.context.object
    assert cloud.type == "POINTCLOUD"
    for name in [each.name for each in cloud.data.attributes if each.name in ("velocity", "hard", "tint")]:
        cloud.data.attributes.remove(cloud.data.attributes[name])
    give_attributes(cloud.data)
    place(bpy, cloud)
    check(bpy)


def test_points_without_a_velocity_have_none(bpy: Any) -> None:
    add_mesh(bpy, "Cloud", PLACES, ()).mpm.type = "emitter"
    assert extract_scene(bpy.context).emitters[0].shape.velocity is None


def test_points_move_with_their_object(bpy: Any) -> None:
    item = add_cloud(bpy)
    for frame, place in ((1, (0.0, 0.0, 0.0)), (11, (1.0, 0.0, 0.0))):
        item.location = place
        item.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 11
    (emitter,) = extract_scene(bpy.context).emitters
    assert isinstance(emitter.shape, Points) and emitter.motion is not None
    assert emitter.motion.matrices[-1][:3, 3].tolist() == [1.0, 0.0, 0.0]


def test_points_that_change_their_scale_are_refused(bpy: Any) -> None:
    item = add_cloud(bpy)
    for frame, size in ((1, 1.0), (11, 2.0)):
        item.scale = (size, size, size)
        item.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_end = 11
    with pytest.raises(SceneError, match=r'^Emitter "Cloud": its points move relative to each other'):
        extract_scene(bpy.context)


def test_only_emitters_may_be_points(bpy: Any) -> None:
    add_cloud(bpy)
    add_mesh(bpy, "Wall", PLACES, ()).mpm.type = "collider"
    with pytest.raises(SceneError, match=r'^Collider "Wall": the mesh has no faces'):
        extract_scene(bpy.context)


def test_a_wire_is_no_cloud(bpy: Any) -> None:
    item = add_mesh(bpy, "Wire", PLACES, ())
    item.data.edges.add(2)
    item.data.edges.foreach_set("vertices", [0, 1, 1, 2])
    item.mpm.type = "emitter"
    with pytest.raises(SceneError, match=r'^Emitter "Wire": the mesh has no faces'):
        extract_scene(bpy.context)
