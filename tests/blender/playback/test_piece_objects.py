"""The pieces of a collider that broke, as objects; on the real Blender, whose search trees find the original faces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.playback import keyed_objects, keyframes, piece_objects
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.core.particles import Piece
from mpm_addon.core.scene.fracture import Fracture
from tests.blender.scenes import CORNERS, add_collider

pytestmark = pytest.mark.blender

UNITS = 0.5
# the halves of a cube of half a meter, an edge of 1 in Blender units: outside -x or +x, inside x = 0
TRIANGLES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


def half(sign: float) -> Piece:
    corners = np.array(CORNERS) * UNITS
    corners[:, 0] = np.where(corners[:, 0] * sign > 0.0, corners[:, 0], 0.0)
    is_inside = (corners[TRIANGLES][:, :, 0] == 0.0).all(axis=1)
    return Piece("Wall", corners, TRIANGLES, is_inside)


def broken() -> dict[int, dict[str, np.ndarray]]:
    """The wall stands for two frames; then its halves fly apart, one of them breaks again after frame 4."""
    poses: dict[int, dict[str, np.ndarray]] = {1: {"Wall": np.eye(4)}, 2: {"Wall": np.eye(4)}}
    for frame in (3, 4, 5):
        right, left = np.eye(4), np.eye(4)
        right[0, 3], left[0, 3] = 0.1 * (frame - 2), -0.2 * (frame - 2)
        poses[frame] = {"Wall/1": left, "Wall/2": right} if frame < 5 else {"Wall/1": left}
    return poses


blender = pytest.mark.blender


@pytest.fixture
def wall(bpy: Any, host: str) -> Any:
    return broken_wall(bpy, host, "Plaster", "Brick")


def broken_wall(bpy: Any, host: str, *materials: str) -> Any:
    if host == "fake":
        pytest.skip("the stand-in has no search trees")
    bpy.context.scene.unit_settings.scale_length = UNITS
    item = add_collider(bpy, "Wall", dynamic=True)
    for name in materials:
        item.data.materials.append(bpy.data.materials.new(name))
    layer = item.data.uv_layers.new(name="Map")
    for loop, corner in zip(item.data.loops, layer.data, strict=True):
        x, y, z = item.data.vertices[loop.vertex_index].co
        corner.uv = (x + 2.0 * y, z)
    break_wall(bpy, item)
    return item


def break_wall(bpy: Any, item: Any) -> None:
    """The pieces of a wall, as after a bake."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length = UNITS
    bpy.context.view_layer.update()
    keyframes.write_keys(scene, broken(), "//cache_mpm")
    pieces = {"Wall/1": half(-1.0), "Wall/2": half(1.0)}
    piece_objects.write_pieces(scene, pieces, broken(), {"Wall": item}, "//cache_mpm", display.inside_of_pieces)


def test_a_piece_is_where_its_pose_says_and_hidden_before_and_after(bpy: Any, wall: Any) -> None:
    scene = bpy.context.scene
    left, right = scene.objects["Wall 1"], scene.objects["Wall 2"]
    hidden = {}
    for frame in range(1, 6):
        scene.frame_set(frame)
        hidden[frame] = [(item.hide_viewport, item.hide_render) for item in (wall, left, right)]
        if frame >= 3:
            # the middle of the left half, in Blender units: a quarter, and what it has moved
            assert np.array(left.matrix_world)[:3, 3] == pytest.approx([-0.25 - 0.2 * (frame - 2) / UNITS, 0.0, 0.0], abs=1e-6)
    shown, not_shown = (False, False), (True, True)
    assert hidden[2] == [shown, not_shown, not_shown]
    assert hidden[4] == [not_shown, shown, shown]
    assert hidden[5] == [not_shown, shown, not_shown]


def test_a_piece_has_the_uvs_outside_and_another_material_inside(bpy: Any, wall: Any) -> None:
    mesh = bpy.context.scene.objects["Wall 1"].data
    assert [material.name for material in mesh.materials] == ["Plaster", "Brick"]
    outside = 0
    for polygon, is_inside in zip(mesh.polygons, half(-1.0).is_inside, strict=True):
        assert polygon.material_index == (1 if is_inside else 0)
        if is_inside or abs(polygon.normal[0]) > 0.5:
            continue
        for loop in polygon.loop_indices:
            x, y, z = np.add(mesh.vertices[mesh.loops[loop].vertex_index].co[:], (-0.25, 0.0, 0.0))
            outside += 1
            assert tuple(mesh.uv_layers["Map"].data[loop].uv) == pytest.approx((x + 2.0 * y, z), abs=1e-5)
    assert outside > 0


@pytest.mark.parametrize("suffix", ["abc", "usdc"])
def test_exported_pieces_are_read_back_where_they_were_at_every_frame(bpy: Any, wall: Any, tmp_path: Path, suffix: str) -> None:
    """Each is there, and visible, at the frames that the simulation has it."""
    scene, path = bpy.context.scene, str(tmp_path / f"wall.{suffix}")
    scene.frame_start, scene.frame_end = 1, 5
    names = ("Wall", "Wall 1", "Wall 2")
    before = {}
    for frame in range(1, 6):
        scene.frame_set(frame)
        before[frame] = {name: corners(scene.objects[name]) for name in names if not scene.objects[name].hide_render}
    if suffix == "abc":
        bpy.ops.wm.alembic_export(filepath=path, start=1, end=5, as_background_job=False)
    else:
        bpy.ops.wm.usd_export(filepath=path, export_animation=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    (bpy.ops.wm.alembic_import if suffix == "abc" else bpy.ops.wm.usd_import)(filepath=path)
    scene = bpy.context.scene
    read = {name: scene.objects[name if name in scene.objects else name.replace(" ", "_")] for name in names}
    for frame, expected in before.items():
        scene.frame_set(frame)
        for name, places in expected.items():
            assert corners(read[name]) == pytest.approx(places, abs=1e-5), (frame, name)
    assert [sorted(each) for each in before.values()] == [["Wall"]] * 2 + [["Wall 1", "Wall 2"]] * 2 + [["Wall 1"]]


def corners(item: Any) -> np.ndarray:
    """The vertices of an object as it is evaluated, in world space and sorted, (n, 3)."""
    matrix = np.array(item.matrix_world)
    places = np.array([vertex.co for vertex in item.data.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]
    return places[np.lexsort(places.round(4).T)]


@pytest.mark.parametrize("materials", [("Plaster",), ()])
def test_without_a_slot_for_the_inside_it_is_rougher_and_darker_than_the_outside(bpy: Any, host: str, materials: tuple[str, ...]) -> None:
    wall = broken_wall(bpy, host, *materials)
    left, right = (bpy.context.scene.objects[name].data for name in ("Wall 1", "Wall 2"))
    assert [each and each.name for each in left.materials] == [*(materials or [None]), "Wall Inside"]
    assert right.materials[1] == left.materials[1]
    assert [polygon.material_index for polygon in left.polygons] == half(-1.0).is_inside.astype(int).tolist()
    assert left.materials[1].roughness > (bpy.data.materials["Plaster"].roughness if materials else 0.8)
    # it is made once, so what an artist changes in it stays
    assert len(wall.material_slots) == len(materials)
    assert display.inside_of_pieces(wall) == left.materials[1]


@blender
def test_the_outside_has_the_materials_of_modifiers(bpy: Any, host: str) -> None:
    """Its slot is not that of the inside, which comes after it."""
    item = add_collider(bpy, "Wall", dynamic=True)
    item.data.materials.append(bpy.data.materials.new("Plaster"))
    group = bpy.data.node_groups.new("Paint", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    begin, paint, end = (group.nodes.new(kind) for kind in ("NodeGroupInput", "GeometryNodeSetMaterial", "NodeGroupOutput"))
    paint.inputs["Material"].default_value = bpy.data.materials.new("Paint")
    group.links.new(begin.outputs[0], paint.inputs[0])
    group.links.new(paint.outputs[0], end.inputs[0])
    item.modifiers.new("Paint", "NODES").node_group = group
    break_wall(bpy, item)
    mesh = bpy.context.scene.objects["Wall 1"].data
    seen = [mesh.materials[polygon.material_index].name for polygon in mesh.polygons]
    assert seen == ["Wall Inside" if is_inside else "Paint" for is_inside in half(-1.0).is_inside]


def test_freeing_removes_the_pieces_and_shows_the_collider(bpy: Any, wall: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    counts = len(bpy.data.meshes), len(bpy.data.actions)
    keyed_objects.remove(scene, tmp_path)
    assert "Wall 1" in scene.objects
    keyed_objects.remove(scene)
    keyframes.remove_keys(wall)
    assert [item.name for item in scene.objects] == ["Wall"]
    assert (len(bpy.data.meshes), len(bpy.data.actions)) == (counts[0] - 2, 0)
    scene.frame_set(5)
    assert not wall.hide_viewport
    assert not wall.hide_render


def test_the_settings_are_read_with_the_scene_in_meters(bpy: Any) -> None:
    """A scene of rigid bodies needs no emitter. A length is in Blender units."""
    bpy.context.scene.unit_settings.scale_length = UNITS
    item = add_collider(bpy, "Wall", dynamic=True, use_fracture=True)
    item.mpm.collider.fracture.strength = 2e6
    item.mpm.collider.fracture.use_crack_radius = True
    item.mpm.collider.fracture.crack_radius = 0.5
    found = extract_scene(bpy.context)
    assert found.emitters == ()
    assert found.colliders[0].fracture == Fracture(strength=2e6, crack_radius=0.25)
    item.mpm.collider.use_fracture = False
    assert extract_scene(bpy.context).colliders[0].fracture is None
    item.mpm.collider.use_fracture, item.mpm.collider.dynamic = True, False
    add_collider(bpy, "Other", dynamic=True)
    assert all(collider.fracture is None for collider in extract_scene(bpy.context).colliders)
