"""The meshes that follow particles are copies of the emitters' own, and are shown where they are chosen or fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import derived_facts, derived_processes, shown_caches
from mpm_addon.blender.display import looks
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects, skin_objects
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.blender.settings import derived_settings
from mpm_addon.core.particles import Moment
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import derived_path
from mpm_addon.storage.take import SKIN
from tests.blender.scenes import add_emitter, error_of
from tests.blender.skin_objects import moved, vertices
from tests.derived.skins import particles as filling
from tests.derived.skins import write_moves

blender = pytest.mark.blender


def baked(bpy: Any, folder: Path, **settings: Any) -> tuple[Any, Any]:
    """A subdivided cube with UVs, a material and a vertex group, and the object that shows its particles, which turn and move."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 3
    emitter = add_emitter(bpy, "Jelly, red", **settings)
    emitter.location = (1.0, 2.0, 3.0)
    emitter.modifiers.new("Subdivision", "SUBSURF").levels = 2
    uv = emitter.data.uv_layers.new(name="Mine")
    uv.data.foreach_set("uv", np.linspace(0.0, 1.0, 2 * len(emitter.data.loops), dtype=np.float32))
    emitter.vertex_groups.new(name="Top").add([1, 3], 0.75, "REPLACE")
    emitter.data.materials.append(bpy.data.materials.new("Red"))
    emitter.material_slots[0].link = "OBJECT"
    emitter.material_slots[0].material = bpy.data.materials.new("Blue")
    scene.mpm.use_render_modifiers = False
    # the mesh is fine enough for such cells, so nothing is added to it
    scene.mpm.solver.grid_spacing = 0.3
    described = extract_scene(bpy.context)
    rest = moved(filling(16), 1.0, 2.0, 3.0)
    write_moves(folder, described, rest, lambda x: x, lambda x: x[:, [1, 2, 0]], lambda x: x + np.array([0.0, 0.0, 9.0]))
    scene.mpm.cache = str(folder)
    shown_caches.show_cache(bpy.context.scene)
    item = particle_objects.result_objects(scene)[0]
    item.mpm.display.parts[0].render = "mesh"
    return emitter, item


def evaluated(bpy: Any, item: Any) -> np.ndarray:
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)


@blender
def test_the_mesh_keeps_its_uvs_materials_and_vertex_groups_and_follows_in_a_reopened_file(bpy: Any, tmp_path: Path) -> None:
    emitter, item = baked(bpy, tmp_path / "cache")
    own = moved(evaluated(bpy, emitter), 1.0, 2.0, 3.0)
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    assert derived_facts.facts_of(bpy.context.scene, SKIN)[:3] == (3, 3, 0)
    skin = item.mpm.display.parts[0].skin
    assert (skin.name, skin.parent, list(skin.users_collection)) == ("Jelly, red Skin", item, list(item.users_collection))
    assert (skin.hide_viewport, skin.hide_render) == (False, False)
    assert [slot.material.name for slot in skin.material_slots] == ["Blue"]
    source = emitter.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    count = len(source.loops)
    maps = np.empty((2, 2 * count), np.float32)
    for mesh, row in zip((source, skin.data), maps, strict=True):
        mesh.uv_layers["Mine"].data.foreach_get("uv", row)
    np.testing.assert_array_equal(maps[0], maps[1])
    assert [group.name for group in skin.vertex_groups] == ["Top"]
    weights = [max((each.weight for each in vertex.groups), default=0.0) for vertex in skin.data.vertices]
    assert weights == [max((each.weight for each in vertex.groups), default=0.0) for vertex in source.vertices]
    assert max(weights) > 0.5
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    item = particle_objects.result_objects(bpy.context.scene)[0]
    for number, expected in ((1, own), (2, own[:, [1, 2, 0]]), (3, moved(own, 0.0, 0.0, 9.0))):
        bpy.context.scene.frame_set(number)
        np.testing.assert_allclose(vertices(item), expected, atol=1e-4)
        np.testing.assert_allclose(evaluated(bpy, item.mpm.display.parts[0].skin), expected, atol=1e-4)
        assert len(item.data.vertices) == 0
    center = np.array(item.mpm.display.parts[0].skin.bound_box).mean(axis=0)
    np.testing.assert_allclose(center, [1.0, 2.0, 12.0], atol=0.05)


@blender
@pytest.mark.parametrize(("kind", "domain", "count"), [("FLOAT_COLOR", "POINT", 26), ("BYTE_COLOR", "CORNER", 96)])
def test_a_painted_color_is_there_under_the_name_that_materials_read(bpy: Any, tmp_path: Path, kind: str, domain: str, count: int) -> None:
    emitter, item = baked(bpy, tmp_path / "cache")
    emitter.modifiers["Subdivision"].levels = 1
    paint = emitter.data.attributes.new("color", kind, domain)
    paint.data.foreach_set("color", np.tile(np.array([1.0, 0.25, 0.0, 1.0], np.float32), len(paint.data)))
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    named = item.mpm.display.parts[0].skin.data.attributes["mpm_color"]
    values = np.empty((len(named.data), 4), np.float32)
    named.data.foreach_get("color", values.ravel())
    assert (named.domain, len(values)) == (domain, count)
    np.testing.assert_allclose(values, [[1.0, 0.25, 0.0, 1.0]] * count, atol=2e-3)


@blender
def test_a_mesh_is_copied_again_only_if_its_vertices_changed(bpy: Any, tmp_path: Path) -> None:
    emitter, item = baked(bpy, tmp_path / "cache")
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    skin = item.mpm.display.parts[0].skin
    mesh, glass = skin.data, bpy.data.materials.new("Glass")
    skin.material_slots[0].material = glass
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    assert (skin.data, skin.material_slots[0].material) == (mesh, glass)
    emitter.modifiers["Subdivision"].levels = 1
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    assert len(skin.data.vertices) == 26
    bpy.context.scene.frame_set(2)
    assert "has 26 vertices, but it was baked with 98" in in_blender(skin_objects.status(item))


@blender
@pytest.mark.parametrize("has_material", [True, False])
def test_a_mesh_that_is_copied_again_keeps_its_materials(bpy: Any, tmp_path: Path, has_material: bool) -> None:
    emitter, item = baked(bpy, tmp_path / "cache")
    if not has_material:
        emitter.data.materials.clear()
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    skin = item.mpm.display.parts[0].skin
    assert skin.material_slots[0].material.name == ("Blue" if has_material else "MPM Jelly, red")
    skin.data.materials[0] = bpy.data.materials.new("Glass")
    skin.material_slots[0].link = "DATA"
    emitter.modifiers["Subdivision"].levels = 1
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    assert (len(skin.data.vertices), [slot.material.name for slot in skin.material_slots]) == (26, ["Glass"])


@blender
def test_an_emitter_that_is_disabled_is_named_until_its_mesh_was_copied(bpy: Any, tmp_path: Path) -> None:
    emitter, item = baked(bpy, tmp_path / "cache")
    emitter.hide_viewport = True
    assert 'Emitter "Jelly, red" is disabled in viewports, so its mesh cannot be copied' in error_of(bpy.ops.mpm.skin_make)
    assert item.mpm.display.parts[0].skin is None
    emitter.hide_viewport = False
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    emitter.hide_viewport = True
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    assert len(item.mpm.display.parts[0].skin.data.vertices) == 98


@blender
def test_an_emitter_that_is_gone_is_named_until_its_mesh_was_copied(bpy: Any, tmp_path: Path) -> None:
    emitter, _item = baked(bpy, tmp_path / "cache")
    emitter.name = "Other"
    assert 'Emitter "Jelly, red" is not in the scene, so there is no mesh to show; give it its former name' in error_of(
        bpy.ops.mpm.skin_make
    )
    emitter.name = "Jelly, red"
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    bpy.data.objects.remove(emitter)
    derived_path(open_cache(tmp_path / "cache"), Moment(2), SKIN).unlink()
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    assert derived_facts.facts_of(bpy.context.scene, SKIN)[:3] == (3, 3, 0)


@blender
def test_the_mesh_of_an_emitter_that_is_no_longer_baked_is_hidden(bpy: Any, tmp_path: Path) -> None:
    _emitter, item = baked(bpy, tmp_path / "cache")
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    skin = item.mpm.display.parts[0].skin
    wanted = shown_caches.looks_of(extract_scene(bpy.context))
    looks.dress(item, wanted)
    assert (item.mpm.display.parts[0].skin, skin.hide_viewport, skin.hide_render) == (skin, False, False)
    looks.dress(item, [look._replace(name="Other", law="sand", material="dry_sand") for look in wanted])
    assert (item.mpm.display.parts[0].skin, skin.hide_viewport, skin.hide_render) == (None, True, True)


@blender
@pytest.mark.parametrize("is_empty", [True, False])
def test_an_emitter_without_a_mesh_of_its_own_is_named(bpy: Any, tmp_path: Path, is_empty: bool) -> None:
    emitter, item = baked(bpy, tmp_path / "cache")
    if is_empty:
        bpy.data.objects.remove(emitter)
        bpy.context.scene.collection.objects.link(bpy.data.objects.new("Jelly, red", None))
    else:
        emitter.data.clear_geometry()
    before = len(bpy.data.meshes)
    assert 'Emitter "Jelly, red" consists of instances and has no mesh; realize its instances' in error_of(bpy.ops.mpm.skin_make)
    assert (item.mpm.display.parts[0].skin, len(bpy.data.meshes)) == (None, before)


@blender
def test_a_mirrored_mesh_faces_outward(bpy: Any, tmp_path: Path) -> None:
    emitter, item = baked(bpy, tmp_path / "cache")
    emitter.scale = (-1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    described = extract_scene(bpy.context)
    write_moves(tmp_path / "cache", described, moved(filling(16), 1.0, 2.0, 3.0), lambda x: x)
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(1)
    skin = item.mpm.display.parts[0].skin
    assert all(np.dot(polygon.normal, np.array(polygon.center) - [1.0, 2.0, 3.0]) > 0 for polygon in skin.data.polygons)


@blender
def test_deleting_a_skin_removes_its_mesh_and_brings_the_particles_back(bpy: Any, tmp_path: Path) -> None:
    emitter, item = baked(bpy, tmp_path / "cache")
    before = set(bpy.data.meshes)
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    bpy.context.scene.frame_set(2)
    assert len(item.data.vertices) == 0
    assert bpy.ops.mpm.skin_delete() == {"FINISHED"}
    assert (item.mpm.display.parts[0].skin, len(item.data.vertices)) == (None, 16**3)
    assert set(bpy.data.meshes) == before
    assert emitter.data in before


@blender
def test_other_displays_hide_the_mesh_and_keep_it(bpy: Any, tmp_path: Path) -> None:
    _emitter, item = baked(bpy, tmp_path / "cache")
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    part = item.mpm.display.parts[0]
    bpy.context.scene.frame_set(2)
    part.viewport = "points"
    assert (part.skin.hide_viewport, part.skin.hide_render, len(item.data.vertices)) == (True, False, 16**3)
    part.render = "surface"
    assert (part.skin.hide_viewport, part.skin.hide_render) == (True, True)
    shown_caches.show_cache(bpy.context.scene)
    assert part.skin is not None
    part.viewport, part.render = "automatic", "mesh"
    assert (part.skin.hide_viewport, part.skin.hide_render, len(item.data.vertices)) == (False, False, 0)


@blender
def test_colors_show_the_particles_unless_the_mesh_was_asked_for(bpy: Any, tmp_path: Path) -> None:
    _emitter, item = by_default(bpy, tmp_path / "cache")
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    bpy.context.scene.frame_set(2)
    part = item.mpm.display.parts[0]
    assert (part.skin.hide_viewport, part.skin.hide_render, len(item.data.vertices)) == (False, False, 0)
    item.mpm.display.color_by = "speed"
    assert (part.skin.hide_viewport, part.skin.hide_render, len(item.data.vertices)) == (True, True, 16**3)
    # the next bake still makes the mesh, for when materials are shown again
    assert derived_settings.displayed_as_mesh(bpy.context.scene, None) == [part.name]
    part.render = "mesh"
    assert (part.skin.hide_viewport, part.skin.hide_render) == (False, False)
    part.render, item.mpm.display.color_by = "automatic", "materials"
    assert (part.skin.hide_viewport, part.skin.hide_render, len(item.data.vertices)) == (False, False, 0)


@blender
def test_an_inflow_is_refused_in_one_line(bpy: Any, tmp_path: Path) -> None:
    baked(bpy, tmp_path / "cache", mode="inflow", velocity=(0.0, 0.0, -1.0))
    told = error_of(bpy.ops.mpm.skin_make)
    assert 'Emitter "Jelly, red": its mesh cannot follow particles that are emitted over time (mode inflow)' in told
    assert derived_processes.trouble(tmp_path / "cache", SKIN).problem in told


def by_default(bpy: Any, folder: Path, **settings: Any) -> tuple[Any, Any]:
    """As `baked`, of jelly, with nothing chosen in the Display panel."""
    emitter, item = baked(bpy, folder, **settings)
    looks.dress(item, [look._replace(law="damped_elastic", material="jelly") for look in shown_caches.looks_of(extract_scene(bpy.context))])
    item.mpm.display.parts[0].render = "automatic"
    return emitter, item


@blender
def test_a_soft_body_is_shown_by_its_own_mesh_without_a_choice(bpy: Any, tmp_path: Path) -> None:
    emitter, item = by_default(bpy, tmp_path / "cache")
    (part,) = item.mpm.display.parts
    assert [looks.mode_of(part, is_render=side) for side in (True, False)] == ["mesh", "mesh"]
    assert derived_processes.follow(bpy.context.scene, str(tmp_path / "cache"), SKIN)
    assert derived_processes.finish(tmp_path / "cache") == []
    assert derived_facts.facts_of(bpy.context.scene, SKIN)[:3] == (3, 3, 0)
    own = evaluated(bpy, emitter)
    bpy.context.scene.frame_set(3)
    np.testing.assert_allclose(evaluated(bpy, part.skin), moved(own, 1.0, 2.0, 12.0), atol=1e-3)
    assert len(item.data.vertices) == 0
    assert (part.skin.hide_viewport, part.skin.hide_render) == (False, False)


@blender
@pytest.mark.parametrize(("law", "mode"), [("sand", "once"), ("water", "once"), ("damped_elastic", "inflow"), ("damped_elastic", "repeat")])
def test_other_matter_is_not(bpy: Any, tmp_path: Path, law: str, mode: str) -> None:
    _emitter, item = by_default(bpy, tmp_path / "cache")
    other = add_emitter(bpy, "Other", mode=mode)
    other.mpm.material.source, other.mpm.material.law = "custom", law
    (look,) = (each for each in shown_caches.looks_of(extract_scene(bpy.context)) if each.name == "Other")
    looks.dress(item, [look])
    (part,) = item.mpm.display.parts
    assert (look.law, part.follows) == (law, False)
    assert "mesh" not in [looks.mode_of(part, is_render=side) for side in (True, False)]


@blender
def test_until_a_skin_is_made_renders_show_a_surface(bpy: Any, tmp_path: Path) -> None:
    _emitter, item = by_default(bpy, tmp_path / "cache")
    (part,) = item.mpm.display.parts
    part.viewport = "points"
    shown = looks.particle_mode(part, is_render=True), looks.particle_mode(part, is_render=False)
    assert shown == ("surface", "points")
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    assert looks.particle_mode(part, is_render=True) == "hidden"


@blender
def test_a_mesh_that_cannot_be_copied_gives_a_surface_without_a_complaint(bpy: Any, tmp_path: Path) -> None:
    emitter, item = by_default(bpy, tmp_path / "cache")
    emitter.hide_viewport = True
    assert derived_processes.follow(bpy.context.scene, str(tmp_path / "cache"), SKIN)
    assert derived_processes.current(SKIN) is None
    assert not derived_processes.trouble(tmp_path / "cache", SKIN)
    (part,) = item.mpm.display.parts
    assert [looks.mode_of(part, is_render=side) for side in (True, False)] == ["surface", "points"]
    # where it is asked for, the reason is told
    part.render = "mesh"
    assert "is disabled in viewports" in error_of(bpy.ops.mpm.skin_make)


@blender
def test_a_surface_replaces_a_skin_that_nobody_chose(bpy: Any, tmp_path: Path) -> None:
    _emitter, item = by_default(bpy, tmp_path / "cache")
    scene, (part,) = bpy.context.scene, item.mpm.display.parts
    scene.mpm.surface.quality = "draft"
    assert (bpy.ops.mpm.skin_make(), bpy.ops.mpm.surface_make()) == ({"FINISHED"}, {"FINISHED"})
    sizes = []
    for chosen, is_shown in (("automatic", True), ("automatic", False), ("mesh", True)):
        part.render, item.mpm.surface.is_shown = chosen, is_shown
        scene.frame_set(2)
        scene.frame_set(3)
        surface = item.mpm.surface.object.data
        sizes.append((len(surface.vertices) > 0, np.ptp(evaluated(bpy, part.skin), axis=0).max() > 0.0))
    assert sizes == [(True, False), (False, True), (True, True)]
