"""What the add-on expects of Blender's data, files and handlers, checked on the fake and on the real bpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

# Data.


def test_corners_and_slots_are_attributes_too_and_go_with_the_geometry(bpy: Any) -> None:
    mesh = bpy.data.meshes.new("Mesh")
    for _ in range(2):
        mesh.clear_geometry()
        assert [name for name in mesh.attributes.keys() if name in ("speed", "material_index")] == []  # noqa: SIM118
        mesh.vertices.add(4)
        mesh.loops.add(6)
        mesh.polygons.add(2)
        mesh.attributes[".corner_vert"].data.foreach_set("value", np.array([0, 1, 2, 2, 1, 3], np.int32))
        mesh.polygons.foreach_set("loop_start", np.array([0, 3], np.int32))
        mesh.attributes.new("material_index", "INT", "FACE").data.foreach_set("value", np.array([0, 7], np.int32))
        mesh.attributes.new("speed", "FLOAT", "POINT")
        mesh.edges.add(5)
        mesh.attributes[".edge_verts"].data.foreach_set("value", np.array([0, 1, 1, 2, 2, 0, 1, 3, 3, 2], np.int32))
        mesh.attributes[".corner_edge"].data.foreach_set("value", np.array([0, 1, 2, 1, 3, 4], np.int32))
        mesh.update()
        assert [loop.vertex_index for loop in mesh.loops] == [0, 1, 2, 2, 1, 3]
        assert [loop.edge_index for loop in mesh.loops] == [0, 1, 2, 1, 3, 4]
        assert [tuple(edge.vertices) for edge in mesh.edges] == [(0, 1), (1, 2), (2, 0), (1, 3), (3, 2)]
        assert not mesh.validate()
        assert [polygon.material_index for polygon in mesh.polygons] == [0, 7]


def test_names_are_unique_and_found(bpy: Any) -> None:
    first, second = (bpy.data.objects.new("Same", None) for _ in range(2))
    assert (first.name, second.name) == ("Same", "Same.001")
    assert bpy.data.objects["Same.001"] == second
    assert "Same" in bpy.data.objects
    assert bpy.data.objects.get("Other") is None
    with pytest.raises(KeyError, match="Other"):
        bpy.data.objects["Other"]
    bpy.data.objects.remove(first)
    assert bpy.data.objects.keys() == ["Same.001"]


def test_a_linked_object_is_in_the_scene_and_can_be_active(bpy: Any) -> None:
    block = bpy.data.objects.new("Block", bpy.data.meshes.new("Block"))
    assert block.type == "MESH"
    bpy.context.scene.collection.objects.link(block)
    bpy.context.view_layer.objects.active = block
    block.select_set(True)
    assert bpy.context.object == block
    assert list(bpy.context.selected_objects) == [block]
    assert block.name in bpy.context.scene.objects
    bpy.data.objects.remove(block)
    assert bpy.context.object is None
    assert len(bpy.context.scene.objects) == 0


def test_vectors_keep_their_size(bpy: Any) -> None:
    block = bpy.data.objects.new("Block", None)
    block.location = (1.0, 2.0, 3.0)
    assert tuple(block.location) == (1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match="3 items"):
        block.location = (1.0, 2.0)
    assert np.array(block.matrix_world).shape == (4, 4)


def test_points_are_written_as_arrays(bpy: Any) -> None:
    mesh = bpy.data.meshes.new("Points")
    mesh.vertices.add(2)
    positions = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], dtype=np.float32)
    mesh.attributes["position"].data.foreach_set("vector", positions)
    read = np.empty(6, dtype=np.float32)
    mesh.vertices.foreach_get("co", read)
    assert read.tolist() == positions.tolist()
    mesh.attributes.new("stress", "FLOAT", "POINT").data.foreach_set("value", np.array([7.0, 8.0], dtype=np.float32))
    values = np.empty(2, dtype=np.float32)
    mesh.attributes["stress"].data.foreach_get("value", values)
    assert values.tolist() == [7.0, 8.0]
    mesh.clear_geometry()
    assert len(mesh.vertices) == 0


def test_an_array_of_the_wrong_length_is_refused(bpy: Any) -> None:
    mesh = bpy.data.meshes.new("Points")
    mesh.vertices.add(2)
    with pytest.raises((RuntimeError, TypeError)):
        mesh.attributes["position"].data.foreach_set("vector", np.zeros(5, dtype=np.float32))


def test_triangles_of_a_mesh(bpy: Any) -> None:
    mesh = bpy.data.meshes.new("Square")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [], [(0, 1, 2, 3)])
    mesh.calc_loop_triangles()
    indices = np.empty(len(mesh.loop_triangles) * 3, dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", indices)
    assert len(indices) == 6
    assert set(indices.tolist()) == {0, 1, 2, 3}


def test_custom_properties_of_a_data_block(bpy: Any) -> None:
    block = bpy.data.objects.new("Block", None)
    block["cache"] = "//here"
    assert block["cache"] == "//here"
    assert "cache" in block
    assert block.get("other", 3) == 3
    with pytest.raises(KeyError):
        block["other"]


# Time, files, timers.


def test_frame_change_calls_the_handlers(bpy: Any) -> None:
    frames: list[int] = []

    def follow(scene: Any, depsgraph: Any) -> None:
        frames.append(scene.frame_current)

    bpy.app.handlers.frame_change_post.append(follow)
    bpy.context.scene.frame_set(12)
    bpy.app.handlers.frame_change_post.remove(follow)
    bpy.context.scene.frame_set(13)
    assert frames == [12]


def test_only_persistent_handlers_survive_a_new_file(bpy: Any) -> None:
    calls: list[str] = []

    @bpy.app.handlers.persistent
    def stays(_path: Any) -> None:
        calls.append("stays")

    def goes(_path: Any) -> None:
        calls.append("goes")

    handlers = bpy.app.handlers.load_post
    handlers.extend([stays, goes])
    bpy.ops.wm.read_homefile(use_empty=True)
    assert stays in handlers
    assert goes not in handlers
    handlers.remove(stays)
    assert calls == ["stays"]


def test_timers_are_registered_and_unregistered(bpy: Any) -> None:
    def tick() -> None:
        raise AssertionError("no timer runs in a test")

    bpy.app.timers.register(tick, first_interval=1000.0)
    assert bpy.app.timers.is_registered(tick)
    bpy.app.timers.unregister(tick)
    with pytest.raises(ValueError, match="not registered"):
        bpy.app.timers.unregister(tick)


def test_blend_relative_paths(bpy: Any, tmp_path: Any) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert bpy.path.abspath("//cache") == str(tmp_path / "cache")
    assert bpy.path.relpath(str(tmp_path / "cache")) == "//cache"
    assert bpy.data.is_saved
    assert bpy.path.clean_name("a b/c") == "a_b_c"


def test_the_folder_of_an_extension_needs_an_extension(bpy: Any) -> None:
    with pytest.raises(ValueError, match="package"):
        bpy.utils.extension_path_user("mpm_addon")
    folder = bpy.utils.extension_path_user("bl_ext.user_default.mpm_addon", path="presets")
    assert folder.replace("\\", "/").endswith("user_default/mpm_addon/presets")


# Translations and pictures.


def test_without_a_language_nothing_is_translated(bpy: Any) -> None:
    translations = bpy.app.translations
    translations.register("contract", {"de_DE": {("*", "Zorblax"): "Knorp"}})
    try:
        assert [function("Zorblax") for function in (translations.pgettext_iface, translations.pgettext_tip)] == ["Zorblax"] * 2
    finally:
        translations.unregister("contract")
    translations.unregister("contract")


def test_pictures_have_no_icons_without_a_window(bpy: Any, tmp_path: Any) -> None:
    import bpy.utils.previews as previews

    pictures = previews.new()
    try:
        assert pictures.load("none", str(tmp_path / "none.png"), "IMAGE").icon_id == 0
        with pytest.raises(KeyError, match="already exists"):
            pictures.load("none", str(tmp_path / "none.png"), "IMAGE")
    finally:
        previews.remove(pictures)
    with pytest.raises(KeyError):
        previews.remove(pictures)
