"""Particles as points, spheres, grains and surfaces, in the viewport, in renders and without the extension."""

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
from mpm_addon.blender.baking import derived_processes
from mpm_addon.blender.display import assets, surface
from mpm_addon.blender.playback import attributes, particle_objects
from mpm_addon.core.laws import LAWS
from mpm_addon.core.laws.finish import PLAIN
from mpm_addon.core.particles import Frame, FrameStatistics
from mpm_addon.storage.cache_writer import CacheWriter
from mpm_addon.storage.finishes import finish_of
from mpm_addon.storage.presets import material_preset, material_preset_names
from mpm_addon.storage.take import SURFACE
from tests.blender.displayed import EDGE, SAND, WATER, block, displayed_particles, evaluated, shown, torn_sheet, use
from tests.blender.scenes import description, frame_arrays

blender = pytest.mark.blender


@pytest.fixture
def particles(bpy: Any, tmp_path: Path) -> Any:
    return displayed_particles(bpy, tmp_path / "cache")


@pytest.mark.parametrize("name", material_preset_names())
def test_the_finish_of_a_preset_overrides_that_of_its_law(name: str) -> None:
    preset = material_preset(name)
    assert finish_of(preset.law.name, name) == (preset.finish or preset.law.finish)


def test_a_finish_keeps_what_its_preset_does_not_name() -> None:
    gravel, law = finish_of("sand", "gravel"), LAWS["sand"].finish
    assert (gravel.roughness, gravel.variation) == (0.8, 0.7) != (law.roughness, law.variation)
    assert (gravel.mode, gravel.coat, gravel.flatness) == (law.mode, law.coat, law.flatness)


def test_without_a_preset_the_finish_is_that_of_the_law() -> None:
    assert [finish_of(name, "Custom") for name in LAWS] == [law.finish for law in LAWS.values()]
    assert finish_of("unknown", "Custom") == PLAIN


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


@blender
def test_a_thin_surface_covers_its_particles(bpy: Any) -> None:
    """The two sides of a torn sheet would show as dark flecks where they pass through each other."""
    item = torn_sheet(bpy)
    display.dress(item, [WATER])
    use(item, "surface")
    particles = np.array([vertex.co for vertex in item.data.vertices])
    vertices = np.array([vertex.co for vertex in evaluated(bpy, item).vertices])
    nearest = np.array([np.linalg.norm(particles - vertex, axis=1).min() for vertex in vertices])
    radius = EDGE * (3.0 / (4.0 * np.pi)) ** (1.0 / 3.0)
    assert len(vertices) > 1000
    assert nearest.min() > 0.5 * radius


def triangles(mesh: Any) -> Any:
    mesh.calc_loop_triangles()
    return mesh.loop_triangles


@blender
def test_grains_rotate_with_the_material(bpy: Any, particles: Any) -> None:
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
def test_grains_are_stretched_along_the_axes_of_the_material(bpy: Any, particles: Any) -> None:
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
        # nothing has rotated yet, so the material's axes are the world's
        assert second[:3, :3] == pytest.approx(np.diag([2.0, 1.0, 0.5]) @ first[:3, :3], abs=1e-4)


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
    """Seen from the side with 32 pixels per meter and a shutter of half a frame: 24 m/s at 24 fps makes a streak of 16 pixels."""
    spread = {}
    for speed in (0.0, 24.0):
        bpy.ops.wm.read_homefile(use_empty=True)
        scene = bpy.context.scene
        item = particle_objects.result_object(scene, str(moving_cache(tmp_path / f"{speed:g}", dict.fromkeys(range(1, 5), 1), speed=speed)))
        display.dress(item, [display.Look("dot", (1.0, 1.0, 1.0, 1.0), law="stress_free", mode=mode)])
        spread[speed] = variance(bpy, tmp_path / f"{speed:g}.png")
    assert streak(spread[0.0], spread[24.0]) == pytest.approx(16.0, abs=1.5)


@blender
@pytest.mark.slow
def test_a_render_blurs_a_surface_from_files_by_its_velocity(bpy: Any, tmp_path: Path) -> None:
    """As above; the particle's surface is a little ball."""
    spread = {}
    for speed in (0.0, 24.0):
        bpy.ops.wm.read_homefile(use_empty=True)
        scene = bpy.context.scene
        cache = moving_cache(tmp_path / f"{speed:g}", dict.fromkeys(range(1, 5), 1), speed=speed)
        item = particle_objects.result_object(scene, str(cache))
        scene.mpm.surface.quality = "draft"
        derived_processes.make(scene, kind=SURFACE, cache=str(cache))
        assert (len(item.data.vertices), len(item.mpm.surface.object.data.polygons) > 0) == (0, True)
        spread[speed] = variance(bpy, tmp_path / f"{speed:g}.png")
    assert streak(spread[0.0], spread[24.0]) == pytest.approx(16.0, abs=1.5)


@blender
@pytest.mark.slow
@pytest.mark.parametrize("temperature", [None, 1150.0, 1000.0, 600.0])
def test_lava_glows_orange_between_dark_crusts(bpy: Any, tmp_path: Path, temperature: float | None) -> None:
    """In the dark, with the view transform of Blender's startup file, which turns strong light white. Cold lava is all crust."""
    item = block(bpy, 12)
    positions = np.empty(3 * len(item.data.vertices), np.float32)
    item.data.attributes["position"].data.foreach_get("vector", positions)
    item.data.attributes.new("rest_position", "FLOAT_VECTOR", "POINT").data.foreach_set("vector", positions)
    item.location = (-0.55, -0.55, -0.55)
    orange = (0.9, 0.12, 0.01, 1.0)
    if temperature is not None:
        degrees = np.full(len(item.data.vertices), temperature, np.float32)
        item.data.attributes.new("mpm_temperature", "FLOAT", "POINT").data.foreach_set("value", degrees)
    look = display.Look(
        "Flow", orange, law="viscoplastic", material="lava", spacing=2.0 * EDGE, mode="surface", is_heated=temperature is not None
    )
    display.dress(item, [look])
    bpy.context.scene.view_settings.view_transform = "AgX"
    image = rendered(bpy, tmp_path / "lava.png", brightness=0.0)
    red, _, blue = image[image[:, :, 3] > 0.99][:, :3].T
    is_dark, is_orange = red < 0.15, (red > 0.6) & (blue < 0.5 * red)
    assert len(red) > 200
    if temperature == 600.0:
        assert is_dark.all()
        return
    assert 0.2 < is_dark.mean() < 0.8
    assert is_orange.mean() > (0.15 if temperature != 1000.0 else 0.05)
    assert not ((red > 0.6) & (blue > 0.7 * red)).any()


@blender
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["points", "spheres", "surface"])
def test_a_painted_color_is_rendered_by_cycles(bpy: Any, tmp_path: Path, mode: str) -> None:
    """Light from all sides, so that the hue is that of the paint: red four times as strong as green, and no blue."""
    item = block(bpy, 8)
    item.location = (-0.35, -0.35, -0.35)
    paint = np.tile(np.array([0.6, 0.15, 0.0, 1.0], np.float32), len(item.data.vertices))
    item.data.attributes.new(attributes.stored_name("color"), "FLOAT_COLOR", "POINT").data.foreach_set("color", paint)
    look = display.Look("Paint", (0.0, 0.0, 1.0, 1.0), is_painted=True, law="viscoplastic", spacing=2.0 * EDGE, mode=mode)
    display.dress(item, [look])
    bpy.context.scene.view_settings.view_transform = "Standard"
    image = rendered(bpy, tmp_path / "paint.png")
    red, green, blue = image[image[:, :, 3] > 0.99][:, :3].T
    assert len(red) > 100
    # what a camera sees at a grazing angle is the white sky
    assert np.median(red) > 0.5 and np.median(blue) < 0.4
    assert np.median(blue) < np.median(green) < 0.75 * np.median(red)


@blender
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["points", "spheres", "surface"])
def test_a_speed_is_rendered_by_cycles(bpy: Any, tmp_path: Path, mode: str) -> None:
    """The darkest color of the map is violet, the lightest is yellow: little blue."""
    item = block(bpy, 8)
    item.location = (-0.35, -0.35, -0.35)
    moving = {"velocity": np.tile(np.array([0.0, 3.0, 4.0], np.float32), (len(item.data.vertices), 1))}
    speed = attributes.with_speed(moving, 0.5)[attributes.MESH_SPEED]
    np.testing.assert_allclose(speed, 10.0, rtol=1e-6)
    for name, values in (*moving.items(), (attributes.MESH_SPEED, speed)):
        attributes.store(item.data, name, values, values.ravel())
    display.dress(item, [display.Look("Fast", (0.0, 0.0, 1.0, 1.0), law="viscoplastic", spacing=2.0 * EDGE, mode=mode)])
    settings = item.mpm.display
    settings.use_fitted_range, settings.color_by, settings.range_max = False, "speed", 10.0
    bpy.context.scene.view_settings.view_transform = "Standard"
    image = rendered(bpy, tmp_path / "speed.png")
    red, _green, blue = image[image[:, :, 3] > 0.99][:, :3].T
    assert len(red) > 100
    assert np.median(blue) < 0.5 * np.median(red)


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


def variance(bpy: Any, path: Path) -> float:
    """The variance [pixels^2] of where along x the picture of frame 2 is covered."""
    covered = rendered(bpy, path)[:, :, 3].sum(axis=0)
    x = np.arange(len(covered))
    return float(np.average((x - np.average(x, weights=covered)) ** 2, weights=covered))


def streak(still: float, moving: float) -> float:
    """The length of a streak [pixels]: a shape that moves evenly by L while the shutter is open has a variance greater by L^2 / 12."""
    return float(np.sqrt(12.0 * max(0.0, moving - still)))


def rendered(bpy: Any, path: Path, brightness: float = 1.0) -> np.ndarray:
    """Frame 2 from the side, 2 m wide, rendered by Cycles in front of a world of this brightness: RGBA, shape (32, 64, 4)."""
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
    background.inputs["Color"].default_value = (brightness, brightness, brightness, 1.0)
    render = scene.render
    render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 64, False
    render.resolution_x, render.resolution_y, render.resolution_percentage = 64, 32, 100
    render.film_transparent, render.use_motion_blur, render.motion_blur_shutter = True, True, 0.5
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGBA"
    render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    picture = bpy.data.images.load(str(path))
    return np.array(picture.pixels[:], np.float32).reshape(32, 64, 4)


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


# In a Blender without the extension: opens a file, counts what is displayed, and links and appends its objects.
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
