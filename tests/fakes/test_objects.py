"""What the add-on expects of objects, checked on the fake and on the real bpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest


def linked(bpy: Any, name: str, data: Any = None) -> Any:
    item = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(item)
    return item


def triangle(bpy: Any) -> Any:
    mesh = bpy.data.meshes.new("Triangle")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    return mesh


def evaluated(bpy: Any, item: Any) -> Any:
    return item.evaluated_get(bpy.context.evaluated_depsgraph_get())


def test_a_transform_is_location_rotation_scale_and_parent(bpy: Any) -> None:
    parent, child = linked(bpy, "Parent"), linked(bpy, "Child")
    child.parent = parent
    parent.location, parent.rotation_euler = (0.0, 0.0, 1.0), (0.0, 0.0, math.pi / 2.0)
    child.location, child.rotation_euler, child.scale = (1.0, 0.0, 0.0), (0.1, 0.2, 0.3), (1.0, -2.0, 3.0)
    bpy.context.view_layer.update()
    matrix = np.array(child.matrix_world)
    assert matrix[:3, 3] == pytest.approx([0.0, 1.0, 1.0], abs=1e-6)
    assert np.linalg.norm(matrix[:3, :3], axis=0) == pytest.approx([1.0, 2.0, 3.0], abs=1e-6)
    assert np.linalg.det(matrix) == pytest.approx(-6.0, abs=1e-5)
    # the last row of Rz(0.3) Ry(0.2) Rx(0.1), times the scale
    row = [-math.sin(0.2), math.sin(0.1) * math.cos(0.2) * -2.0, math.cos(0.1) * math.cos(0.2) * 3.0]
    assert np.array(child.matrix_basis)[2, :3] == pytest.approx(row, abs=1e-6)


def test_an_evaluated_object_knows_its_original_and_whether_it_is_evaluated(bpy: Any) -> None:
    item, disabled = linked(bpy, "Item", triangle(bpy)), linked(bpy, "Disabled", triangle(bpy))
    disabled.hide_viewport = True
    assert not item.is_evaluated
    assert evaluated(bpy, item).is_evaluated
    assert evaluated(bpy, item).original == item
    assert not evaluated(bpy, disabled).is_evaluated
    assert len(evaluated(bpy, item).to_mesh().vertices) == 3


def test_an_object_has_no_field_until_it_is_given_one(bpy: Any) -> None:
    item = linked(bpy, "Fan")
    assert item.field is None
    with bpy.context.temp_override(object=item, active_object=item):
        bpy.ops.object.forcefield_toggle()
    assert (item.field.type, item.field.shape, item.field.falloff_type, item.field.z_direction) == ("FORCE", "POINT", "SPHERE", "BOTH")
    assert item.field.apply_to_location
    with pytest.raises(TypeError):
        item.field.type = "NOPE"
    with pytest.raises(AttributeError):
        item.field.gravity = 1.0


def test_vertices_know_the_weights_of_groups(bpy: Any) -> None:
    item = linked(bpy, "Item", triangle(bpy))
    item.vertex_groups.new(name="first")
    group = item.vertex_groups.new(name="second")
    group.add([1, 2], 0.25, "REPLACE")
    group.add([2], 0.5, "REPLACE")
    assert item.vertex_groups.keys() == ["first", "second"]
    assert [[(each.group, each.weight) for each in vertex.groups] for vertex in item.data.vertices] == [[], [(1, 0.25)], [(1, 0.5)]]


def test_keyframes_give_values_at_frames_and_the_object_its_animation_data(bpy: Any) -> None:
    item = linked(bpy, "Item")
    assert item.animation_data is None
    for frame, place, is_hidden in ((1, 0.0, False), (5, 4.0, True)):
        item.location.x, item.hide_render = place, is_hidden
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("hide_render", frame=frame)
    assert item.animation_data.action is not None
    found = []
    for frame in (1, 3, 4, 5, 9):
        bpy.context.scene.frame_set(frame)
        found.append((item.matrix_world.translation.x, item.hide_render))
    assert [place for place, _ in found] == pytest.approx([0.0, 2.0, found[2][0], 4.0, 4.0])
    assert [is_hidden for _, is_hidden in found] == [False, False, False, True, True]


def test_what_is_declared_still_takes_no_keyframe(bpy: Any) -> None:
    bpy.types.Object.moving = bpy.props.FloatProperty()
    bpy.types.Object.still = bpy.props.FloatProperty(options=set())
    item = linked(bpy, "Item")
    assert item.keyframe_insert("moving", frame=1)
    with pytest.raises(TypeError, match="not animatable"):
        item.keyframe_insert("still", frame=1)
    del bpy.types.Object.moving, bpy.types.Object.still


def test_an_empty_instances_the_objects_of_a_collection(bpy: Any) -> None:
    collection = bpy.data.collections.new("Bricks")
    brick = bpy.data.objects.new("Brick", triangle(bpy))
    brick.location = (1.0, 0.0, 0.0)
    collection.objects.link(brick)
    empty = linked(bpy, "Wall")
    assert empty.instance_type == "NONE"
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    empty.location = (0.0, 0.0, 5.0)
    bpy.context.view_layer.update()
    (found,) = [
        (each.object.name, each.parent.original == empty, each.particle_system, tuple(each.matrix_world.translation))
        for each in bpy.context.evaluated_depsgraph_get().object_instances
        if each.is_instance
    ]
    assert found == ("Brick", True, None, (1.0, 0.0, 5.0))


def test_corners_of_triangles_are_numbers_of_loops(bpy: Any) -> None:
    mesh = bpy.data.meshes.new("Squares")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 1, 4), (0, 1, 2, 3)])
    mesh.calc_loop_triangles()
    for each in mesh.loop_triangles:
        assert [mesh.loops[corner].vertex_index for corner in each.loops] == list(each.vertices)
    assert [each.polygon_index for each in mesh.loop_triangles] == [0, 1, 1]
