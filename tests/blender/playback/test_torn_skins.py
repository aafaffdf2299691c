"""Skins of material that has torn: their meshes are cut during playback, and whole again before."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import derived_processes, shown_caches
from mpm_addon.blender.baking.derived_kinds import DERIVED_KINDS
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects, skin_objects
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.description import Material, Scene
from tests.blender.scenes import add_emitter
from tests.blender.skin_objects import edge_uses
from tests.derived.skins import particles as filling
from tests.derived.skins import write_moves

blender = pytest.mark.blender
LIFT = np.array([0.0, 0.0, 3.0])


def whole(x: np.ndarray) -> np.ndarray:
    return np.zeros(len(x), np.int64)


def halves(x: np.ndarray) -> np.ndarray:
    return (x[:, 2] > 0.13).astype(np.int64)


def apart(x: np.ndarray) -> np.ndarray:
    return x + halves(x)[:, None] * LIFT


@pytest.fixture
def torn(bpy: Any, tmp_path: Path) -> Any:
    """The object that shows a subdivided cube of four frames, whose halves part at the third, where the upper one is lifted."""
    return torn_cube(bpy, tmp_path, levels=2)


def torn_cube(bpy: Any, tmp_path: Path, *, levels: int, materials: tuple[str, ...] = ("Red", "Blue")) -> Any:
    """The same with another number of subdivisions; without any, it is smooth, and its skin is subdivided instead.

    The process makes the skin of each once: the next test finds a copy of what it made.
    """
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 4
    emitter = add_emitter(bpy, "Jelly")
    for cut in ("SIMPLE", "SIMPLE"):
        emitter.modifiers.new(cut, "SUBSURF").subdivision_type = cut
    for modifier in emitter.modifiers:
        modifier.levels = levels
    if not levels:
        emitter.data.shade_smooth()
    uv = emitter.data.uv_layers.new(name="Mine")
    # where a corner is, as a texture coordinate: linear over each face
    places = np.array([tuple(emitter.data.vertices[loop.vertex_index].co) for loop in emitter.data.loops])
    uv.data.foreach_set("uv", (places @ [[1.0, 0.0], [0.5, 0.25], [0.0, 1.0]]).astype(np.float32).ravel())
    emitter.vertex_groups.new(name="Top").add([vertex.index for vertex in emitter.data.vertices if vertex.co.z > 0.0], 0.75, "REPLACE")
    for name in materials:
        emitter.data.materials.append(bpy.data.materials.new(name))
    for polygon in emitter.data.polygons:
        polygon.material_index = int(len(materials) > 1 and polygon.center.x > 0.1)
    scene.mpm.use_render_modifiers = False
    folder, made = tmp_path / "cache", tmp_path.parent / f"torn cube {levels} {len(materials)}"
    is_made = made.is_dir()
    if is_made:
        shutil.copytree(made, folder)
    else:
        write_torn(folder, extract_scene(bpy.context))
    scene.mpm.cache = str(folder)
    shown_caches.show_cache(scene)
    item = particle_objects.result_objects(scene)[0]
    item.mpm.display.parts[0].render = "mesh"
    if is_made:
        DERIVED_KINDS["skin"].prepare(scene, folder, is_fresh=True)
        derived_processes.show_in(scene, folder, kind="skin")
    else:
        assert bpy.ops.mpm.skin_make() == {"FINISHED"}
        shutil.copytree(folder, made)
    scene.frame_set(1)
    return item


def write_torn(folder: Path, described: Scene) -> None:
    """A cache of a scene whose only body tears."""
    name = next(iter(described.materials))
    jelly = Material(name, LAWS["corotated"](young_modulus=1e4, tear_stretch=1.5))
    described = replace(described, materials={**described.materials, name: jelly})
    write_moves(folder, described, filling(20), *(lambda x: x,) * 2, *(apart,) * 2, pieces=(whole, whole, halves, halves))


def skin_of(item: Any) -> Any:
    return item.mpm.display.parts[0].skin


def values(mesh: Any, name: str, domain: str, kind: str, width: int) -> np.ndarray:
    found = np.empty(width * len(getattr(mesh, domain)), np.float32)
    mesh.attributes[name].data.foreach_get(kind, found)
    return found.reshape(-1, width)


def positions(mesh: Any) -> np.ndarray:
    return values(mesh, "position", "vertices", "vector", 3)


def faces(mesh: Any) -> dict[tuple[tuple[float, ...], ...], tuple[Any, ...]]:
    """What each face of a whole mesh has, by where its corners are: its material, its corners' texture coordinates, and its shading."""
    place, uv = positions(mesh), values(mesh, "Mine", "loops", "vector", 2)
    return {
        tuple(tuple(np.round(place[vertex], 4).tolist()) for vertex in polygon.vertices): (
            polygon.material_index, polygon.use_smooth, uv[list(polygon.loop_indices)].tobytes()
        )
        for polygon in mesh.polygons
    }  # fmt: skip


@blender
def test_a_mesh_is_cut_where_it_tears_and_whole_before(bpy: Any, torn: Any) -> None:
    skin, scene = skin_of(torn), bpy.context.scene
    before, own = len(skin.data.vertices), faces(skin.data)
    assert skin.mpm.torn.whole.name == "Jelly Skin Whole"
    assert [slot.material.name for slot in skin.material_slots] == ["Red", "Blue", "Jelly Skin Inside"]
    for number, is_cut in ((3, True), (4, True), (2, False), (3, True), (1, False)):
        scene.frame_set(number)
        assert not skin_objects.status(torn)
        assert (len(skin.data.vertices) > before) == is_cut
        assert not skin.data.validate(verbose=True)
        assert len(torn.data.vertices) == 0
        assert (edge_uses(skin.data) == 2).all()
        if not is_cut:
            assert faces(skin.data) == own
    scene.frame_set(3)
    place = positions(skin.data)
    is_up = place[:, 2] > 1.5
    assert all(len({bool(is_up[vertex]) for vertex in polygon.vertices}) == 1 for polygon in skin.data.polygons)


@blender
def test_faces_keep_what_they_had_and_their_parts_have_it_where_they_are(bpy: Any, torn: Any) -> None:
    skin = skin_of(torn)
    own = faces(skin.data)
    bpy.context.scene.frame_set(3)
    mesh = skin.data
    rest = positions(mesh) - (positions(mesh)[:, 2:] > 1.5) * LIFT
    uv = values(mesh, "Mine", "loops", "vector", 2)
    kept = inside = 0
    for polygon in mesh.polygons:
        corners = rest[list(polygon.vertices)]
        if polygon.material_index == skin.mpm.torn.inside:
            inside += 1
            assert np.abs(corners[:, 2] - 0.13).max() < 0.1
            continue
        found = own.get(tuple(tuple(np.round(corner, 4).tolist()) for corner in corners))
        texture = uv[list(polygon.loop_indices)]
        if found is not None:
            kept += 1
            assert found == (polygon.material_index, polygon.use_smooth, texture.tobytes())
        assert polygon.material_index == int(corners[:, 0].mean() > 0.1 and corners[:, 0].min() > 0.499)
        np.testing.assert_allclose(texture, corners @ [[1.0, 0.0], [0.5, 0.25], [0.0, 1.0]], atol=2e-4)
    assert kept > 0.7 * len(own)
    assert inside > 100
    weights = np.array([max((each.weight for each in vertex.groups), default=0.0) for vertex in mesh.vertices])
    assert (weights[rest[:, 2] > 0.49] > 0.74).all()
    assert (weights[rest[:, 2] < -0.49] == 0.0).all()


@blender
def test_a_box_of_eight_vertices_is_cut_too(bpy: Any, tmp_path: Path) -> None:
    item = torn_cube(bpy, tmp_path, levels=0)
    skin, scene = skin_of(item), bpy.context.scene
    own, count = faces(skin.data), len(skin.data.vertices)
    assert count > 8
    for number, is_cut in ((3, True), (4, True), (2, False), (3, True)):
        scene.frame_set(number)
        assert not skin_objects.status(item)
        assert (len(skin.data.vertices) > count) == is_cut
        assert (edge_uses(skin.data) == 2).all()
        assert is_cut or faces(skin.data) == own
    mesh = skin.data
    rest = positions(mesh) - (positions(mesh)[:, 2:] > 1.5) * LIFT
    uv = values(mesh, "Mine", "loops", "vector", 2)
    surface = [polygon for polygon in mesh.polygons if polygon.material_index != skin.mpm.torn.inside]
    assert len(mesh.polygons) > len(surface) > 1000
    for polygon in surface:
        corners = rest[list(polygon.vertices)]
        np.testing.assert_allclose(uv[list(polygon.loop_indices)], corners @ [[1.0, 0.0], [0.5, 0.25], [0.0, 1.0]], atol=2e-3)
        assert polygon.material_index == int(corners[:, 0].min() > 0.499)
    # Normals are those of the box, and inside those of the faces. Before Blender 4.5, a normal is relative to all faces at its vertex, some
    # of which were cut.
    near = 0.2 if bpy.app.version >= (4, 5, 0) else 0.4
    normal = np.empty(3 * len(mesh.loops), np.float32)
    mesh.corner_normals.foreach_get("vector", normal)
    for polygon in mesh.polygons:
        corners, found = rest[list(polygon.vertices)], normal.reshape(-1, 3)[list(polygon.loop_indices)]
        is_inside = polygon.material_index == skin.mpm.torn.inside
        if is_inside or np.abs(corners[:, 2] - 0.13).min() > near:
            wanted = np.array(polygon.normal) if is_inside else corners / np.linalg.norm(corners, axis=1, keepdims=True)
            assert np.abs(found - wanted).max() < 0.02


@blender
def test_what_an_artist_changes_in_the_whole_mesh_stays_when_it_is_cut(bpy: Any, torn: Any) -> None:
    skin, scene = skin_of(torn), bpy.context.scene
    painted = skin.data.color_attributes.new("Painted", "FLOAT_COLOR", "CORNER")
    painted.data.foreach_set("color", np.full(4 * len(skin.data.loops), 0.25, np.float32))
    skin.data.materials[2] = bpy.data.materials.new("Flesh")
    scene.frame_set(3)
    assert [slot.material.name for slot in skin.material_slots] == ["Red", "Blue", "Flesh"]
    found = np.empty(4 * len(skin.data.loops), np.float32)
    skin.data.color_attributes["Painted"].data.foreach_get("color", found)
    surface = np.repeat(
        [polygon.material_index != 2 for polygon in skin.data.polygons], [polygon.loop_total for polygon in skin.data.polygons]
    )
    np.testing.assert_allclose(found.reshape(-1, 4)[surface], 0.25, atol=1e-6)
    scene.frame_set(1)
    assert "Painted" in skin.data.color_attributes


@blender
def test_between_frames_of_different_faces_vertices_move_with_their_velocity(bpy: Any, torn: Any) -> None:
    skin, scene = skin_of(torn), bpy.context.scene
    scene.frame_set(3, subframe=0.25)
    cut = positions(skin.data)
    scene.frame_set(2, subframe=0.25)
    whole = positions(skin.data)
    assert len(cut) > len(whole)
    # `write_moves` writes twice the position as the velocity
    np.testing.assert_allclose(np.abs(whole).max(axis=0), 0.5 * (1.0 + 2.0 * 0.25 / 24.0), atol=0.01)


@blender
def test_a_file_that_is_reopened_at_a_cut_frame_goes_back_to_the_whole_mesh(bpy: Any, torn: Any, tmp_path: Path) -> None:
    own = faces(skin_of(torn).data)
    bpy.context.scene.frame_set(3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    item = particle_objects.result_objects(bpy.context.scene)[0]
    assert (edge_uses(skin_of(item).data) == 2).all()
    bpy.context.scene.frame_set(2)
    assert faces(skin_of(item).data) == own


@blender
def test_making_a_skin_again_at_a_cut_frame_keeps_its_mesh_and_materials(bpy: Any, torn: Any) -> None:
    skin = skin_of(torn)
    bpy.context.scene.frame_set(3)
    mesh, count = skin.data, len(bpy.data.meshes)
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    assert (skin.data, len(bpy.data.meshes), len(skin.material_slots)) == (mesh, count, 3)
    before = set(bpy.data.meshes) - {skin.data, skin.mpm.torn.whole, skin.mpm.subdivided.plain}
    assert bpy.ops.mpm.skin_delete() == {"FINISHED"}
    assert set(bpy.data.meshes) == before


@blender
def test_a_mesh_without_a_whole_one_is_named(bpy: Any, torn: Any) -> None:
    skin = skin_of(torn)
    skin.mpm.torn.whole = None
    bpy.context.scene.frame_set(3)
    assert in_blender(skin_objects.status(torn)) == 'The mesh of "Jelly" has torn, but no whole one was kept; make the skin again.'
    assert len(torn.data.vertices) == 8000
