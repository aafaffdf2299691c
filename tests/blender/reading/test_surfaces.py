"""The surfaces of all kinds of objects, compared with the same vertices collected by hand."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.core.errors import SceneError
from tests.blender.scenes import CORNERS, add_collider, add_emitter, add_mesh


def linked(bpy: Any, name: str, data: Any, kind: str = "collider") -> Any:
    item = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(item)
    item.mpm.type = kind
    return item


def collider(bpy: Any) -> Any:
    """The only collider of the scene, next to an emitter."""
    if not any(item.mpm.type == "emitter" for item in bpy.context.scene.objects):
        add_emitter(bpy, "Source").location = (50.0, 0.0, 0.0)
    (found,) = extract_scene(bpy.context).colliders
    return found


def by_hand(bpy: Any, item: Any) -> np.ndarray:
    """The evaluated vertices in world space, one by one, in double precision."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    found = np.array([tuple(vertex.co) for vertex in evaluated.to_mesh().vertices], dtype=np.float64)
    evaluated.to_mesh_clear()
    return found @ matrix[:3, :3].T + matrix[:3, 3]


def in_order(points: Any) -> np.ndarray:
    rounded = np.round(np.asarray(points, dtype=np.float64), 4) + 0.0
    return rounded[np.lexsort(rounded.T)]


@pytest.mark.blender
def test_a_modifiers_mesh_is_the_evaluated_one(bpy: Any) -> None:
    item = add_collider(bpy)
    item.modifiers.new("Subdivision", "SUBSURF").levels = 2
    item.modifiers.new("Thickness", "SOLIDIFY").thickness = 0.1
    item.location, item.rotation_euler, item.scale = (1.0, 2.0, 3.0), (0.3, 0.2, 0.1), (1.0, 2.0, 0.5)
    bpy.context.view_layer.update()
    assert collider(bpy).shape.vertices == pytest.approx(by_hand(bpy, item), abs=1e-9)


@pytest.mark.blender
@pytest.mark.parametrize("kind", ["curve", "surface", "text", "metaball"])
def test_everything_with_a_surface_collides(bpy: Any, kind: str) -> None:
    bpy.context.scene.mpm.use_render_modifiers = False
    if kind == "curve":
        data = bpy.data.curves.new("Curve", "CURVE")
        data.dimensions, data.bevel_depth = "3D", 0.1
        spline = data.splines.new("POLY")
        spline.points.add(1)
        spline.points[1].co = (1.0, 0.0, 0.0, 1.0)
    elif kind == "surface":
        bpy.ops.surface.primitive_nurbs_surface_sphere_add()
        data = bpy.context.object.data
        bpy.data.objects.remove(bpy.context.object)
    elif kind == "text":
        data = bpy.data.curves.new("Text", "FONT")
        data.body, data.extrude = "MPM", 0.1
    else:
        data = bpy.data.metaballs.new("Ball")
        data.elements.new()
    item = linked(bpy, "Thing", data)
    item.location = (0.0, 0.0, 2.0)
    bpy.context.view_layer.update()
    found = collider(bpy).shape
    assert len(found.triangles) > 3
    assert found.vertices == pytest.approx(by_hand(bpy, item), abs=1e-9)


@pytest.mark.blender
def test_a_family_of_metaballs_is_the_surface_of_its_first(bpy: Any) -> None:
    for name, place in (("Ball", 0.0), ("Ball.001", 1.5)):
        data = bpy.data.metaballs.new(name)
        data.elements.new()
        linked(bpy, name, data, "none").location = (place, 0.0, 0.0)
    bpy.data.objects["Ball"].mpm.type = "collider"
    low, high = collider(bpy).shape.bounds()
    assert high[0] - low[0] > 2.0  # both balls
    bpy.data.objects["Ball"].mpm.type = "none"
    bpy.data.objects["Ball.001"].mpm.type = "collider"
    with pytest.raises(
        SceneError, match=r'^Collider "Ball\.001": its surface is that of the metaball family "Ball"; use the object "Ball"\.$'
    ):
        extract_scene(bpy.context)


def instanced_collection(bpy: Any) -> tuple[Any, Any]:
    """A collection with a moved cube and a light, and an empty that instances it."""
    collection = bpy.data.collections.new("Bricks")
    brick = bpy.data.objects.new("Brick", add_mesh(bpy, "Brick data").data)
    bpy.data.objects.remove(bpy.data.objects["Brick data"])
    brick.location = (1.0, 0.0, 0.0)
    collection.objects.link(brick)
    collection.objects.link(bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT")))
    empty = linked(bpy, "Wall", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    return brick, empty


def test_an_empty_with_a_collection_is_all_that_is_in_it(bpy: Any) -> None:
    brick, empty = instanced_collection(bpy)
    other = bpy.data.objects.new("Mirrored", brick.data)
    other.location, other.scale = (0.0, 3.0, 0.0), (-1.0, 1.0, 2.0)
    empty.instance_collection.objects.link(other)
    empty.location, empty.rotation_euler = (0.0, 0.0, 5.0), (0.0, 0.0, np.pi / 2.0)
    bpy.context.view_layer.update()
    found = collider(bpy)
    turn = np.array(empty.matrix_world, dtype=np.float64)
    corners = np.array(CORNERS)
    expected = [np.add(corners, (1.0, 0.0, 0.0)), np.add(corners * (-1.0, 1.0, 2.0), (0.0, 3.0, 0.0))]
    expected = np.concatenate(expected) @ turn[:3, :3].T + turn[:3, 3]
    assert in_order(found.shape.vertices) == pytest.approx(in_order(expected), abs=1e-4)
    # the outside of each part faces outward
    assert found.shape.signed_distance(np.array([[0.0, 1.0, 5.0], [-3.0, 0.0, 5.9], [-3.0, 0.0, 6.1]])) == pytest.approx(
        [-0.5, -0.1, 0.1], abs=1e-3
    )


def test_a_moving_instancer_moves_rigidly(bpy: Any) -> None:
    _, empty = instanced_collection(bpy)
    bpy.context.scene.frame_end = 4
    for frame, place in ((1, 0.0), (4, 300.0)):
        empty.location.x, empty.rotation_euler.z = place, place / 300.0
        empty.keyframe_insert("location", frame=frame)
        empty.keyframe_insert("rotation_euler", frame=frame)
    motion = collider(bpy).motion
    assert motion.vertices is None
    assert motion.matrices[:, 0, 3] == pytest.approx([0.0, *motion.matrices[1:3, 0, 3], 300.0])


def test_an_instanced_object_that_moves_makes_its_instancer_deform(bpy: Any) -> None:
    brick, _ = instanced_collection(bpy)
    bpy.context.scene.frame_end = 2
    for frame, place in ((1, 1.0), (2, 4.0)):
        brick.location.x = place
        brick.keyframe_insert("location", frame=frame)
    motion = collider(bpy).motion
    assert motion.vertices[:, :, 0].mean(axis=1) == pytest.approx([1.0, 4.0], abs=1e-5)


def test_an_empty_without_anything_is_refused(bpy: Any) -> None:
    linked(bpy, "Nothing", None)
    with pytest.raises(SceneError, match=r'^Collider "Nothing": an empty has no mesh; use a mesh, or let the empty instance'):
        collider(bpy)


@pytest.mark.blender
def test_a_hidden_instancer_says_what_to_do(bpy: Any) -> None:
    _, empty = instanced_collection(bpy)
    empty.hide_set(True)
    with pytest.raises(SceneError, match=r'^Collider "Wall": nothing that it instances is visible; .* show the object'):
        collider(bpy)


def instancing_nodes(bpy: Any, *, keeps_mesh: bool) -> Any:
    """A node group that instances a cube on every vertex."""
    group = bpy.data.node_groups.new("Cubes", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    names = ("NodeGroupInput", "NodeGroupOutput", "GeometryNodeInstanceOnPoints", "GeometryNodeMeshCube", "GeometryNodeJoinGeometry")
    given, result, instance, cube, join = (group.nodes.new(name) for name in names)
    cube.inputs["Size"].default_value = (0.2, 0.2, 0.2)
    group.links.new(given.outputs[0], instance.inputs["Points"])
    group.links.new(cube.outputs[0], instance.inputs["Instance"])
    group.links.new(instance.outputs[0], join.inputs[0])
    if keeps_mesh:
        group.links.new(given.outputs[0], join.inputs[0])
    group.links.new(join.outputs[0], result.inputs[0])
    return group


@pytest.mark.blender
@pytest.mark.parametrize("keeps_mesh", [False, True])
def test_instances_of_geometry_nodes_count_without_being_realised(bpy: Any, keeps_mesh: bool) -> None:
    item = add_collider(bpy)
    item.modifiers.new("Nodes", "NODES").node_group = instancing_nodes(bpy, keeps_mesh=keeps_mesh)
    item.location = (0.0, 0.0, 3.0)
    expected = [np.array(CORNERS) * 0.2 + place for place in CORNERS]
    if keeps_mesh:
        expected.append(np.array(CORNERS))
    found = collider(bpy).shape.vertices
    assert in_order(found) == pytest.approx(in_order(np.add(np.concatenate(expected), (0.0, 0.0, 3.0))), abs=1e-4)


@pytest.mark.blender
def test_realised_geometry_nodes_are_a_mesh(bpy: Any) -> None:
    item = add_collider(bpy)
    group = instancing_nodes(bpy, keeps_mesh=False)
    realise = group.nodes.new("GeometryNodeRealizeInstances")
    (output,) = [node for node in group.nodes if node.bl_idname == "NodeGroupOutput"]
    group.links.new(output.inputs[0].links[0].from_socket, realise.inputs[0])
    group.links.new(realise.outputs[0], output.inputs[0])
    item.modifiers.new("Nodes", "NODES").node_group = group
    assert len(collider(bpy).shape.vertices) == 64


@pytest.mark.blender
def test_children_on_vertices_are_instances(bpy: Any) -> None:
    item = add_collider(bpy, "Frame")
    child = add_mesh(bpy, "Child", np.array(CORNERS) * 0.1)
    child.parent, item.instance_type = item, "VERTS"
    item.show_instancer_for_viewport = False
    assert len(collider(bpy).shape.vertices) == 64
    item.show_instancer_for_viewport = True
    assert len(collider(bpy).shape.vertices) == 72


@pytest.mark.blender
def test_what_particle_systems_instance_does_not_count(bpy: Any) -> None:
    item = add_collider(bpy)
    blade = add_mesh(bpy, "Blade", np.array(CORNERS) * 0.1)
    settings = item.modifiers.new("Grass", "PARTICLE_SYSTEM").particle_system.settings
    settings.type, settings.count, settings.render_type, settings.instance_object = "HAIR", 20, "OBJECT", blade
    item.instance_type = "FACES"  # anything that makes its instances count
    bpy.context.view_layer.update()
    instances = [each for each in bpy.context.evaluated_depsgraph_get().object_instances if each.is_instance]
    assert len(instances) == 20
    assert len(collider(bpy).shape.vertices) == 8


def test_far_from_the_origin_nothing_is_lost(bpy: Any) -> None:
    item = add_collider(bpy)
    item.location = (1e6, -1e6, 0.0)
    corners = np.array(CORNERS) * 1e-3
    item.data.vertices.foreach_set("co", corners.astype(np.float32).ravel())
    item.data.update()
    found = collider(bpy).shape.vertices - (1e6, -1e6, 0.0)
    assert found == pytest.approx(corners.astype(np.float32), abs=1e-9)


@pytest.mark.blender
def test_a_surface_of_linked_data_and_of_an_override_is_read_and_left_alone(bpy: Any, tmp_path: Path) -> None:
    item = add_collider(bpy, "Anvil")
    item.modifiers.new("Subdivision", "SUBSURF").render_levels = 3
    bpy.data.libraries.write(str(tmp_path / "anvil.blend"), {item})
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "anvil.blend"), link=True) as (_, wanted):
        wanted.objects = ["Anvil"]
    library_object = wanted.objects[0]
    override = library_object.override_create()
    for each in (library_object, override):
        bpy.context.scene.collection.objects.link(each)
    override.location = (5.0, 0.0, 0.0)
    add_emitter(bpy, "Source").location = (50.0, 0.0, 0.0)
    found = {each.name: each for each in extract_scene(bpy.context).colliders}
    assert set(found) == {"Anvil", f"{library_object.name_full}"}
    assert all(len(each.shape.vertices) == 386 for each in found.values())
    assert found["Anvil"].shape.bounds().mean(axis=0) == pytest.approx([5.0, 0.0, 0.0], abs=1e-6)
    for each in (library_object, override):
        modifier = each.modifiers[0]
        assert (modifier.levels, modifier.show_viewport) == (1, True)
    assert [each.rna_path for each in override.override_library.properties if "modifiers" in each.rna_path] == []


@pytest.mark.blender
def test_objects_are_read_as_they_are_rendered_unless_the_scene_says_otherwise(bpy: Any) -> None:
    item = add_collider(bpy)
    subdivision = item.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels, subdivision.render_levels = 1, 3
    array = item.modifiers.new("Array", "ARRAY")
    array.show_viewport, array.show_render = True, False
    mirror = item.modifiers.new("Hidden", "ARRAY")
    mirror.show_viewport, mirror.show_render, mirror.count = False, True, 3
    assert len(collider(bpy).shape.vertices) == 3 * 386
    bpy.context.scene.mpm.use_render_modifiers = False
    assert len(collider(bpy).shape.vertices) == 2 * 26
    bpy.context.scene.mpm.use_render_modifiers = True
    assert (subdivision.levels, array.show_viewport, mirror.show_viewport) == (1, True, False)
    add_mesh(bpy, "Nothing", [], []).mpm.type = "emitter"
    with pytest.raises(SceneError, match="no vertices"):
        extract_scene(bpy.context)
    assert (subdivision.levels, array.show_viewport, mirror.show_viewport) == (1, True, False)


def test_outflows_are_shapes_of_their_own(bpy: Any) -> None:
    add_emitter(bpy)
    add_mesh(bpy, "Drain").mpm.type = "outflow"
    bpy.data.objects["Drain"].location.z = -4.0
    scene = extract_scene(bpy.context)
    (outflow,) = scene.outflows
    assert (outflow.name, outflow.enabled, outflow.motion) == ("Drain", True, None)
    assert outflow.shape.bounds().mean(axis=0).tolist() == [0.0, 0.0, -4.0]
    assert scene.colliders == ()


@pytest.mark.parametrize("scale", list(itertools.product((-1.0, 2.0), repeat=3)))
def test_the_outside_is_outside_for_every_scale(bpy: Any, scale: tuple[float, float, float]) -> None:
    add_collider(bpy).scale = scale
    shape = collider(bpy).shape
    corners = shape.vertices[shape.triangles]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
    assert volume == pytest.approx(abs(np.prod(scale)))
