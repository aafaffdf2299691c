"""The fragments of a skin whose material came apart, as objects with keyframes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import broken_skins, shown_caches
from mpm_addon.blender.interface.operators import piece_operators
from mpm_addon.blender.playback.keyed_objects import OF_SKINS
from tests.blender.playback.test_piece_objects import corners
from tests.blender.playback.test_torn_skins import LIFT, positions, skin_of, torn_cube, values
from tests.blender.skin_objects import edge_uses

blender = pytest.mark.blender
# where their shapes count
BOTH = pytest.mark.parametrize("torn", [2, pytest.param(0, marks=pytest.mark.slow)], ids=["fine", "coarse"], indirect=True)


@pytest.fixture(params=[2, pytest.param(0, marks=pytest.mark.long)], ids=["fine", "coarse"])
def torn(bpy: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    """A cube of four frames whose halves part at the third, where the upper one is lifted; the coarse one has a subdivided skin."""
    return torn_cube(bpy, tmp_path, levels=request.param)


def result(bpy: Any, torn: Any) -> Any:
    assert bpy.ops.mpm.pieces_make() == {"FINISHED"}
    return sorted(broken_skins.pieces(bpy.context.scene, torn), key=lambda each: each.name)


def volume(mesh: Any) -> float:
    mesh.calc_loop_triangles()
    place = positions(mesh).astype(np.float64)
    triangles = place[np.array([each.vertices[:] for each in mesh.loop_triangles])]
    return float(np.einsum("ni,ni->", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])) / 6.0)


@blender
@BOTH
def test_pieces_are_closed_and_fill_the_mesh_and_have_its_materials(bpy: Any, torn: Any) -> None:
    lower, upper = result(bpy, torn)
    skin = skin_of(torn)
    for each in (lower, upper):
        assert (edge_uses(each.data) == 2).all()
        assert not each.data.validate(verbose=True)
        assert [slot.material for slot in each.material_slots] == [slot.material for slot in skin.material_slots]
        assert {"velocity", "mpm_rest_position", "mpm_rest_normal"}.isdisjoint(each.data.attributes.keys())
    assert (lower.name, upper.name) == ("Jelly 1", "Jelly 2")
    assert volume(lower.data) + volume(upper.data) == pytest.approx(1.0, rel=1e-5)
    assert volume(lower.data) == pytest.approx(0.63, abs=0.02)


@blender
@BOTH
def test_a_piece_keeps_uvs_groups_and_the_inside_material_where_they_were(bpy: Any, torn: Any) -> None:
    for each in result(bpy, torn):
        place = positions(each.data) + np.array(each.location)
        uv, inside = values(each.data, "Mine", "loops", "vector", 2), 0
        for polygon in each.data.polygons:
            around = place[list(polygon.vertices)]
            if polygon.material_index == skin_of(torn).mpm.torn.inside:
                inside += 1
                assert np.abs(around[:, 2] - 0.13).max() < 0.1
                continue
            np.testing.assert_allclose(uv[list(polygon.loop_indices)], around @ [[1.0, 0.0], [0.5, 0.25], [0.0, 1.0]], atol=2e-4)
        assert inside > 100
        assert [group.name for group in each.vertex_groups] == ["Top"]


@blender
@BOTH
def test_pieces_take_the_place_of_the_skin_where_it_parts(bpy: Any, torn: Any) -> None:
    scene, skin = bpy.context.scene, skin_of(torn)
    scene.frame_set(4)
    shown = corners(skin)
    lower, upper = result(bpy, torn)
    scene.frame_set(1)
    start = np.array(upper.location)
    for number, is_apart in ((1, False), (2, False), (3, True), (4, True)):
        scene.frame_set(number)
        hidden = [(each.hide_viewport, each.hide_render) for each in (skin, lower, upper)]
        assert hidden == [(is_apart,) * 2, *[(not is_apart,) * 2] * 2]
        # what is hidden is not evaluated
        place = np.array(upper.matrix_world)[:3, 3] if is_apart else np.array(upper.location)
        np.testing.assert_allclose(place, start + LIFT * is_apart, atol=1e-5)
    assert farthest(np.concatenate([corners(lower), corners(upper)]), shown) < 1e-4


def farthest(first: np.ndarray, second: np.ndarray) -> float:
    """How far a point of either is from all of the other."""
    from mathutils.kdtree import KDTree

    distances = [0.0]
    for points, others in ((first, second), (second, first)):
        tree = KDTree(len(others))
        for place, other in enumerate(others):
            tree.insert(other, place)
        tree.balance()
        distances += [tree.find(point)[2] for point in points]
    return max(distances)


@blender
@pytest.mark.parametrize("suffix", ["abc", "usdc"])
def test_exported_pieces_are_where_they_were(bpy: Any, tmp_path: Path, suffix: str) -> None:
    torn = torn_cube(bpy, tmp_path, levels=2)
    names = [each.name for each in result(bpy, torn)]
    scene, path = bpy.context.scene, str(tmp_path / f"pieces.{suffix}")
    before = {}
    for number in (3, 4):
        scene.frame_set(number)
        before[number] = {name: corners(scene.objects[name]) for name in names}
    if suffix == "abc":
        bpy.ops.wm.alembic_export(filepath=path, start=1, end=4, as_background_job=False)
    else:
        bpy.ops.wm.usd_export(filepath=path, export_animation=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    (bpy.ops.wm.alembic_import if suffix == "abc" else bpy.ops.wm.usd_import)(filepath=path)
    scene = bpy.context.scene
    for number, expected in before.items():
        scene.frame_set(number)
        for name, places in expected.items():
            read = scene.objects[name if name in scene.objects else name.replace(" ", "_")]
            assert farthest(corners(read), places) < 1e-4


@blender
def test_made_again_they_are_the_same_and_deleted_the_skin_is_shown(bpy: Any, torn: Any) -> None:
    scene, skin = bpy.context.scene, skin_of(torn)
    counts = len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.actions)
    first = [corners(each) for each in result(bpy, torn)]
    again = result(bpy, torn)
    for places, each in zip(first, again, strict=True):
        np.testing.assert_array_equal(places, corners(each))
    assert [each.name for each in again] == ["Jelly 1", "Jelly 2"]
    assert bpy.ops.mpm.pieces_delete() == {"FINISHED"}
    assert not piece_operators.MPM_OT_pieces_delete.poll(bpy.context)
    assert (len(bpy.data.objects), len(bpy.data.meshes)) == counts[:2]
    scene.frame_set(4)
    assert (skin.hide_viewport, skin.hide_render) == (False, False)


@blender
def test_frames_of_another_bake_or_take_remove_the_pieces(bpy: Any, torn: Any) -> None:
    scene = bpy.context.scene
    kept, _ = result(bpy, torn)
    del kept[OF_SKINS.piece]
    shown = shown_caches.Result(scene, scene.mpm.cache)
    # a bake that found all frames cached
    assert shown.write_keys() == []
    assert len(broken_skins.pieces(scene, torn)) == 1
    shown.newest = 4
    assert shown.write_keys() == []
    assert not broken_skins.pieces(scene, torn)
    assert len(result(bpy, torn)) == 2
    assert shown_caches.show_motion(scene, scene.mpm.cache) == []
    assert not broken_skins.pieces(scene, torn)
    scene.frame_set(4)
    assert not skin_of(torn).hide_render
    assert kept.name in scene.objects


@blender
def test_before_anything_parts_there_are_no_pieces(bpy: Any, torn: Any) -> None:
    scene = bpy.context.scene
    scene.frame_end = 2
    with pytest.raises(RuntimeError, match="Nothing has come apart up to frame 2"):
        bpy.ops.mpm.pieces_make()
    assert not broken_skins.pieces(scene, torn)
    scene.frame_start, scene.frame_end = 50, 60
    with pytest.raises(RuntimeError, match="none of the scene's frames were baked"):
        bpy.ops.mpm.pieces_make()


@blender
def test_small_pieces_are_left_out(bpy: Any, torn: Any) -> None:
    assert bpy.ops.mpm.pieces_make(smallest=0.5) == {"FINISHED"}
    assert [each.name for each in broken_skins.pieces(bpy.context.scene, torn)] == ["Jelly 1"]


def test_without_a_skin_there_is_nothing_to_make(bpy: Any) -> None:
    for operator in (piece_operators.MPM_OT_pieces_make, piece_operators.MPM_OT_pieces_delete):
        assert not operator.poll(bpy.context)


@blender
def test_keyframes_that_hide_the_skin_are_kept(bpy: Any, torn: Any) -> None:
    scene, skin = bpy.context.scene, skin_of(torn)
    for number, is_hidden in ((1, True), (2, False), (4, True)):
        skin.hide_render = is_hidden
        assert skin.keyframe_insert("hide_render", frame=number)

    def shown() -> list[tuple[bool, bool]]:
        states = []
        for number in range(1, 5):
            scene.frame_set(number)
            states.append((skin.hide_viewport, skin.hide_render))
        return states

    before = shown()
    assert [render for _, render in before] == [True, False, False, True]
    result(bpy, torn)
    # from the third frame on, the pieces are there instead
    assert shown() == [(False, True), (False, False), (True, True), (True, True)]
    assert bpy.ops.mpm.pieces_delete() == {"FINISHED"}
    assert shown() == before


@blender
def test_other_objects_with_the_same_action_stay_visible(bpy: Any, torn: Any) -> None:
    skin, other = skin_of(torn), bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    skin.hide_viewport = False
    assert skin.keyframe_insert("hide_viewport", frame=1)
    other.animation_data_create().action = shared = skin.animation_data.action
    if hasattr(shared, "slots"):
        other.animation_data.action_slot = shared.slots[0]
    result(bpy, torn)
    bpy.context.scene.frame_set(4)
    assert skin.hide_viewport and not other.hide_viewport
    assert bpy.ops.mpm.pieces_delete() == {"FINISHED"}
    bpy.context.scene.frame_set(3)
    assert not skin.hide_viewport


@blender
def test_the_skin_is_shown_again_after_pieces_were_deleted_by_hand(bpy: Any, torn: Any) -> None:
    for each in result(bpy, torn):
        bpy.data.objects.remove(each)
    bpy.context.scene.frame_set(4)
    assert skin_of(torn).hide_viewport
    assert bpy.ops.mpm.pieces_delete() == {"FINISHED"}
    assert not skin_of(torn).hide_viewport
