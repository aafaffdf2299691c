"""Particles as points, spheres, grains and surfaces; colours by attribute; and nodes that artists edit stay theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.display import assets, attribute_colors, dressing, surface
from mpm_addon.blender.interface.panels import display_panels
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.settings.matter import finish_of
from mpm_addon.core.errors import MpmError
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import Frame, FrameStatistics
from mpm_addon.storage.cache_writer import CacheWriter
from mpm_addon.storage.presets import material_preset, material_preset_names

from .scenes import add_mesh, description, frame_arrays, write_cache

blender = pytest.mark.blender
WATER = display.Look("Pool", (0.1, 0.4, 0.9, 1.0), law="water", material="water")
SAND = display.Look("Heap", (0.7, 0.5, 0.2, 1.0), law="sand", material="dry_sand")
EDGE = 0.1


@pytest.fixture
def particles(bpy: Any, tmp_path: Path) -> Any:
    """The object that shows a cache whose particles belong to two emitters in turn."""
    write_cache(tmp_path / "cache", {1: 6, 2: 6, 3: 8})
    item = particle_objects.result_object(bpy.context.scene, str(tmp_path / "cache"))
    bpy.context.scene.frame_set(1)
    return item


def block(bpy: Any, size: int) -> Any:
    """An object with particles on a lattice, as close as their volume is."""
    axis = np.arange(size, dtype=np.float32) * EDGE
    position = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    count = len(position)
    velocity = np.tile(np.array([1.0, 2.0, 3.0], np.float32), (count, 1))
    arrays = {"position": position, "velocity": velocity, "id": np.arange(count, dtype=np.int32), "scale": np.full(count, EDGE, np.float32),
              "emitter_index": np.zeros(count, np.int32)}  # fmt: skip
    item = bpy.data.objects.new("Block", bpy.data.meshes.new("Block"))
    bpy.context.scene.collection.objects.link(item)
    particle_objects.fill(item.data, arrays, 1.0)
    return item


def evaluated(bpy: Any, item: Any) -> Any:
    return item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data


def shown(bpy: Any) -> Counter[str]:
    """What there is: points by cloud, and instances by the name of their material."""
    found: Counter[str] = Counter()
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        data = instance.object.data
        if instance.object.type == "POINTCLOUD":
            found["points"] += len(data.points)
        elif instance.is_instance:
            found[data.materials[data.polygons[0].material_index].name] += 1
        elif instance.object.type == "MESH" and len(data.polygons):
            found["faces"] += len(data.polygons)
    return found


def use(item: Any, mode: str, number: int = 0) -> None:
    item.mpm.display.parts[number].viewport = mode


@pytest.mark.parametrize("name", [*LAWS, *material_preset_names()])
def test_every_matter_has_a_finish_with_a_mode(name: str) -> None:
    law = name if name in LAWS else material_preset(name).law.name
    assert finish_of(law, name).mode in ("points", "spheres", "grains", "surface")


@blender
def test_each_mode_shows_every_particle_in_its_emitters_material(bpy: Any, particles: Any) -> None:
    display.dress(particles, [WATER, SAND])
    assert shown(bpy) == {"points": 6}
    for mode in ("spheres", "grains"):
        use(particles, mode, 0)
        use(particles, mode, 1)
        assert shown(bpy) == {"MPM Pool": 3, "MPM Heap": 3}
    use(particles, "hidden", 0)
    assert shown(bpy) == {"MPM Heap": 3}
    use(particles, "surface", 0)
    assert shown(bpy)["faces"] > 100 and shown(bpy)["MPM Heap"] == 3
    use(particles, "hidden", 0)
    use(particles, "hidden", 1)
    assert not shown(bpy)


@blender
def test_a_share_of_the_particles_is_always_the_same_and_only_in_the_viewport(bpy: Any) -> None:
    item = block(bpy, 10)
    display.dress(item, [SAND])
    modifier = display.modifier_of(item)
    radii = {}
    for share in (100.0, 25.0):
        display.set_input(modifier, display.SHARE, share)
        cloud = next(each.object.data for each in bpy.context.evaluated_depsgraph_get().object_instances if each.is_instance)
        radii[share] = np.empty(len(cloud.points), np.float32)
        cloud.points.foreach_get("radius", radii[share])
    assert len(radii[100.0]) == 1000
    assert 180 < len(radii[25.0]) < 320
    assert radii[25.0][0] == pytest.approx(radii[100.0][0] * 4.0 ** (1.0 / 3.0), rel=1e-4)


@blender
def test_a_surface_is_closed_and_has_the_particles_volume_and_velocity(bpy: Any) -> None:
    item = block(bpy, 12)
    display.dress(item, [WATER])
    use(item, "surface")
    mesh = evaluated(bpy, item)
    edges = Counter(tuple(sorted(key)) for polygon in mesh.polygons for key in polygon.edge_keys)
    assert set(edges.values()) == {2}
    volume = sum(
        np.dot(mesh.vertices[a].co, np.cross(mesh.vertices[b].co, mesh.vertices[c].co)) / 6.0
        for a, b, c in (triangle.vertices for triangle in triangles(mesh))
    )
    assert volume == pytest.approx((12 * EDGE) ** 3, rel=0.12)
    places = np.array([vertex.co for vertex in mesh.vertices])
    assert places.min() == pytest.approx(-0.5 * EDGE, abs=0.5 * EDGE)
    velocity = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["velocity"].data.foreach_get("vector", velocity)
    np.testing.assert_allclose(velocity.reshape(-1, 3), np.tile([1.0, 2.0, 3.0], (len(mesh.vertices), 1)), rtol=1e-5)
    assert {mesh.materials[polygon.material_index].name for polygon in mesh.polygons} == {"MPM Pool"}
    assert set(surface.CARRIED) <= set(mesh.attributes.keys()) and "mpm_nearest" not in mesh.attributes


def triangles(mesh: Any) -> Any:
    mesh.calc_loop_triangles()
    return mesh.loop_triangles


@blender
def test_grains_turn_with_their_matter(bpy: Any, particles: Any) -> None:
    display.dress(particles, [SAND, SAND._replace(name="Other")])
    use(particles, "grains", 0)
    use(particles, "hidden", 1)

    def turns() -> list[Any]:
        return [each.matrix_world.to_quaternion() for each in bpy.context.evaluated_depsgraph_get().object_instances if each.is_instance]

    before = turns()
    rotation = np.tile(np.array([0.0, 0.0, 0.0, 1.0], np.float32), (6, 1))
    particles.data.attributes["rotation"].data.foreach_set("value", rotation.ravel())
    particles.data.update_tag()
    after = turns()
    for first, second in zip(before, after, strict=True):
        assert (second @ first.inverted()).angle == pytest.approx(np.pi, abs=1e-3)


@blender
def test_grains_are_stretched_along_the_axes_of_their_matter(bpy: Any, particles: Any) -> None:
    display.dress(particles, [SAND, SAND._replace(name="Other")])
    use(particles, "grains", 0)
    use(particles, "hidden", 1)

    def frames() -> list[Any]:
        instances = bpy.context.evaluated_depsgraph_get().object_instances
        return [np.array(each.matrix_world) for each in instances if each.is_instance]

    before = frames()
    attribute = particles.data.attributes["stretch"]
    attribute.data.foreach_set("vector", np.tile(np.array([2.0, 1.0, 0.5], np.float32), (6, 1)).ravel())
    particles.data.update_tag()
    after = frames()
    assert len(before) == len(after) == 3
    for first, second in zip(before, after, strict=True):
        assert second[:3, 3] == pytest.approx(first[:3, 3], abs=1e-5)
        # nothing has turned yet, so the matter's axes are the world's
        assert second[:3, :3] == pytest.approx(np.diag([2.0, 1.0, 0.5]) @ first[:3, :3], abs=1e-4)


@blender
def test_what_an_artist_chose_is_kept_when_the_bake_begins_again(bpy: Any, particles: Any) -> None:
    display.dress(particles, [WATER, SAND])
    part = particles.mpm.display.parts[1]
    part.viewport = part.render = "spheres"
    mine = part.material = bpy.data.materials.new("Mine")
    display.dress(particles, [SAND, WATER])
    kept = particles.mpm.display.parts[0]
    assert (kept.name, kept.viewport, kept.render, kept.material) == ("Heap", "spheres", "spheres", mine)
    assert particles.data.materials[0] == mine
    assert [(group.name, group.users > 0) for group in bpy.data.node_groups if ".0" in group.name] == []


@blender
def test_what_an_artist_chose_is_kept_for_an_emitter_with_another_name(bpy: Any, particles: Any) -> None:
    display.dress(particles, [WATER, SAND])
    part = particles.mpm.display.parts[0]
    part.viewport, part.render = "surface", "spheres"
    material = part.material
    red = (1.0, 0.0, 0.0, 1.0)
    display.dress(particles, [WATER._replace(name="Lake", color=red), SAND])
    part = particles.mpm.display.parts[0]
    assert (part.name, part.viewport, part.render, part.material) == ("Lake", "surface", "spheres", material)
    assert (material.name, tuple(material.diffuse_color)) == ("MPM Lake", red)
    display.dress(particles, [SAND._replace(name="Dune")])
    assert particles.mpm.display.parts[0].viewport == "automatic"


@blender
def test_a_material_that_was_edited_is_left_alone(bpy: Any, particles: Any) -> None:
    display.dress(particles, [WATER])
    nodes = bpy.data.materials["MPM Pool"].node_tree.nodes
    nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.77
    display.dress(particles, [WATER._replace(law="snow", material="snow", color=(1.0, 0.0, 0.0, 1.0))])
    assert nodes["Principled BSDF"].inputs["Roughness"].default_value == pytest.approx(0.77)
    assert tuple(nodes["Principled BSDF"].inputs["Base Color"].default_value) == (1.0, 0.0, 0.0, 1.0)


@blender
def test_an_older_group_is_built_anew_and_an_edited_one_is_not(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    item = block(bpy, 3)
    display.dress(item, [WATER])
    use(item, "surface")
    group = bpy.data.node_groups[surface.NAME]
    count = len(group.nodes)
    assert group.asset_data.description == surface.HELP
    assert not assets.edited()
    monkeypatch.setattr(surface, "VERSION", surface.VERSION + 1)
    monkeypatch.setattr(surface, "_THRESHOLD", 0.3)
    assets.upgrade()
    thresholds = [node.inputs["Threshold"].default_value for node in group.nodes if "Threshold" in node.inputs]
    assert thresholds == [pytest.approx(0.3)] and len(group.nodes) == count
    assert bpy.data.node_groups[surface.NAME] == group

    group.nodes.new("GeometryNodeJoinGeometry")
    assert assets.edited() == [surface.NAME]
    monkeypatch.setattr(surface, "VERSION", surface.VERSION + 2)
    assets.upgrade()
    assert len(group.nodes) == count + 1
    bpy.context.view_layer.objects.active = item
    assert bpy.ops.mpm.display_restore() == {"FINISHED"}
    assert group.name == f"{surface.NAME} (edited)"
    assert len(bpy.data.node_groups[surface.NAME].nodes) == count
    assert len(evaluated(bpy, item).polygons) > 100


@blender
def test_edited_nodes_of_an_object_are_left_alone_until_they_are_restored(bpy: Any, particles: Any) -> None:
    display.dress(particles, [WATER, SAND])
    group = display.modifier_of(particles).node_group
    group.nodes.new("GeometryNodeJoinGeometry")
    use(particles, "spheres", 1)
    assert shown(bpy) == {"points": 6}
    assert dressing.restore(particles) == ["MPM Particles (edited)"]
    assert shown(bpy) == {"points": 3, "MPM Heap": 3}
    assert display.modifier_of(particles).node_group.name == "MPM Particles"


@blender
def test_a_copy_of_the_object_is_shown_by_its_own_settings(bpy: Any, particles: Any) -> None:
    display.dress(particles, [WATER, SAND])
    copy = particles.copy()
    bpy.context.scene.collection.objects.link(copy)
    use(copy, "spheres", 0)
    assert display.modifier_of(copy).node_group != display.modifier_of(particles).node_group
    assert shown(bpy) == {"points": 6 + 3, "MPM Pool": 3}


@blender
def test_the_display_outlives_saving_and_a_blender_without_the_extension(bpy: Any, particles: Any, tmp_path: Path) -> None:
    display.dress(particles, [WATER, SAND])
    use(particles, "grains", 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    assert shown(bpy) == {"points": 3, "MPM Heap": 3}
    assert not assets.edited() and not assets.is_edited(bpy.data.objects["MPM Particles"].modifiers[0].node_group)
    (tmp_path / "other.blend").write_bytes((tmp_path / "file.blend").read_bytes())
    with bpy.data.libraries.load(str(tmp_path / "other.blend")) as (_source, target):
        target.objects = ["MPM Particles"]
    appended = target.objects[0]
    bpy.context.scene.collection.objects.link(appended)
    display.rebuild(appended)
    # what is appended brings its own material
    assert shown(bpy) == {"points": 6, "MPM Heap": 3, "MPM Heap.001": 3}


def test_the_range_of_colours_is_that_of_the_cache(bpy: Any, particles: Any) -> None:
    scene = bpy.context.scene
    low, high = attribute_colors.fitted_range(particles, scene, "velocity")
    assert (low, high) == (0.0, pytest.approx(3.0, abs=0.1))
    assert attribute_colors.fitted_range(particles, scene, "stress") == (0.0, 1.0)
    with pytest.raises(MpmError, match='no frame of its cache has the attribute "heat"; bake with it, or choose another one'):
        attribute_colors.fitted_range(particles, scene, "heat")


@blender
@pytest.mark.parametrize("coloring", ["speed", "density", "stress", "age", "emitter", "material", "color"])
def test_one_material_colours_all_by_an_attribute(bpy: Any, particles: Any, coloring: str) -> None:
    display.dress(particles, [WATER, SAND])
    settings = particles.mpm.display
    settings.color_by = coloring
    assert [material.name for material in particles.data.materials] == ["MPM Colors MPM Particles"]
    if coloring == "speed":
        assert settings.range_max == pytest.approx(3.0, abs=0.1)
        settings.use_fitted_range, settings.range_max = False, 7.0
        mapped = next(node for node in particles.data.materials[0].node_tree.nodes if node.type == "MAP_RANGE")
        assert mapped.inputs[2].default_value == 7.0
    settings.color_by = "materials"
    assert [material.name for material in particles.data.materials] == ["MPM Pool", "MPM Heap"]


@blender
def test_an_attribute_that_is_not_there_is_said(bpy: Any, particles: Any, draw: Any) -> None:
    display.dress(particles, [WATER, SAND])
    settings = particles.mpm.display
    settings.color_by, settings.attribute = "attribute", "heat"
    bpy.context.view_layer.objects.active = particles
    assert any("heat" in text for text in draw(display_panels.MPM_PT_display).texts())
    settings.attribute = "stress"
    assert not any("heat" in text for text in draw(display_panels.MPM_PT_display).texts())


@blender
def test_the_panels_show_what_the_modes_use(bpy: Any, particles: Any, draw: Any) -> None:
    display.dress(particles, [WATER, SAND])
    bpy.context.view_layer.objects.active = add_mesh(bpy, "Cube")
    assert draw(display_panels.MPM_PT_display) is None
    # the only particle object of the scene is the one that is meant
    for panel in (display_panels.MPM_PT_scene_display, display_panels.MPM_PT_display):
        texts = draw(panel).texts()
        assert {"Pool", "Heap", "Radius Scale", "Viewport Share", "Voxel Size", "Smoothing", "Variation"} <= set(texts)
        assert "Subdivisions" not in texts
        bpy.context.view_layer.objects.active = particles


@blender
def test_groups_can_be_added_by_hand(bpy: Any) -> None:
    assert bpy.ops.mpm.display_assets() == {"FINISHED"}
    assert {module.NAME for module in assets.GROUPS} <= set(bpy.data.node_groups.keys())
    assert bpy.ops.mpm.display_assets() == {"FINISHED"}
    assert len(bpy.data.node_groups) == len(assets.GROUPS)


@blender
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["points", "spheres", "grains", "surface"])
def test_a_render_blurs_every_mode_by_the_velocity(bpy: Any, tmp_path: Path, mode: str) -> None:
    """Seen from the side, 1 m in 32 pixels, a shutter of half a frame: 24 m/s at 24 frames a second make a streak of 16 pixels."""
    widths = {}
    for speed in (0.0, 24.0):
        bpy.ops.wm.read_homefile(use_empty=True)
        scene = bpy.context.scene
        item = particle_objects.result_object(scene, str(moving_cache(tmp_path / f"{speed:g}", dict.fromkeys(range(1, 5), 1), speed=speed)))
        display.dress(item, [display.Look("dot", (1.0, 1.0, 1.0, 1.0), law="stress_free", mode=mode)])
        widths[speed] = streak(bpy, tmp_path / f"{speed:g}.png")
    assert widths[24.0] - widths[0.0] == pytest.approx(16.0, abs=3.5)


def moving_cache(folder: Path, counts: dict[int, int], *, speed: float) -> Path:
    """One particle that passes the origin at frame 2."""
    described = description()
    writer = CacheWriter(folder, described)
    writer.prepare(described, restart=True)
    for number, count in counts.items():
        arrays = frame_arrays(number, count)
        arrays["position"][:] = (speed * (number - 2) / 24.0, 0.0, 0.0)
        arrays["velocity"][:] = (speed, 0.0, 0.0)
        arrays["emitter_index"][:] = 0
        arrays["scale"][:] = 0.3
        statistics = FrameStatistics(count, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
        writer.write_frame(Frame(number, (number - 1) / 24.0, arrays, statistics))
    return folder


def streak(bpy: Any, path: Path) -> int:
    """The width [pixels] of what is not black in a picture of frame 2 by Cycles."""
    scene = bpy.context.scene
    scene.frame_set(2)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", 2.0
    camera.location, camera.rotation_euler = (0.0, -5.0, 0.0), (np.pi / 2.0, 0.0, 0.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("World")
    if bpy.app.version < (5, 0, 0):
        scene.world.use_nodes = True
    background = next(node for node in scene.world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (1.0, 1.0, 1.0, 1.0)
    render = scene.render
    render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 64, False
    render.resolution_x, render.resolution_y, render.resolution_percentage = 64, 32, 100
    render.film_transparent, render.use_motion_blur, render.motion_blur_shutter = True, True, 0.5
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGBA"
    render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    picture = bpy.data.images.load(str(path))
    alpha = np.array(picture.pixels[:], np.float32).reshape(32, 64, 4)[:, :, 3]
    return int((alpha.max(axis=0) > 0.02).sum())


@blender
def test_what_shows_a_first_frame_can_be_built_piece_by_piece(bpy: Any, particles: Any) -> None:
    for group in list(bpy.data.node_groups):
        bpy.data.node_groups.remove(group)
    built = []
    while display.build_missing([WATER, SAND]):
        built.append({group.name for group in bpy.data.node_groups})
    assert [len(names) for names in built] == [1, 2, 3]
    assert built[-1] == {"MPM Points", "MPM Grains", "MPM Surface"}
    display.dress(particles, [WATER, SAND])
    assert {group.name for group in bpy.data.node_groups} == {*built[-1], display.MODIFIER_NAME}


# In a Blender that has never heard of the extension: opens a file, counts what is shown, and links and appends its node groups.
_ELSEWHERE = """
import json, os, sys
import bpy

def counted():
    found = {"points": 0, "instances": 0, "faces": 0}
    for each in bpy.context.evaluated_depsgraph_get().object_instances:
        data = each.object.data
        if each.object.type == "POINTCLOUD":
            found["points"] += len(data.points)
        elif each.is_instance:
            found["instances"] += 1
        elif each.object.type == "MESH":
            found["faces"] += len(data.polygons)
    return found

bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
assert not hasattr(bpy.types.Object, "mpm")
answer = {"opened": counted()}
for name, is_linked in (("linked", True), ("appended", False)):
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(sys.argv[1], link=is_linked) as (source, target):
        target.objects = ["MPM Particles"]
    bpy.context.scene.collection.objects.link(target.objects[0])
    answer[name] = counted()
print("ANSWER", json.dumps(answer))
sys.stdout.flush()
os._exit(0)
"""


@blender
@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "kind", "least"), [("points", "points", 6), ("spheres", "instances", 6), ("grains", "instances", 6), ("surface", "faces", 20)]
)
def test_what_is_shown_is_shown_without_the_extension(bpy: Any, particles: Any, tmp_path: Path, mode: str, kind: str, least: int) -> None:
    display.dress(particles, [WATER, SAND])
    use(particles, mode, 0)
    use(particles, mode, 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    (tmp_path / "elsewhere.py").write_text(_ELSEWHERE)
    command = [sys.executable, "-P", str(tmp_path / "elsewhere.py"), str(tmp_path / "shot.blend")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout.rpartition("ANSWER ")[2].splitlines()[0])
    assert answer["opened"][kind] >= least
    assert answer["linked"] == answer["appended"] == answer["opened"]
