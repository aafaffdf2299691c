"""Run in the isolated Blender: a user's own meshes, before, after and between ready scenes."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tests.blender_real import inside
from tests.blender_real.inside import expect, part, points, press, refusal, select, shown, state

PARTICLES = 300
# of the bake that is canceled halfway: on no computer does it finish before the button is pressed
MANY, LAST = 3000, 150
# so many frames follow those that are there then
RESUMED = 10
GRAVITY = 9.81
# materials shown by the emitter's own mesh
OWN_MESH = ("biscuit", "ceramic", "clay", "concrete", "dry_clay", "gelatin", "glass", "ice", "jelly", "metal", "rubber", "sponge", "wood")
# materials shown by a surface that the bake makes
SURFACE = (
    "butter",
    "chocolate",
    "cream",
    "dough",
    "foam",
    "fresh_concrete",
    "honey",
    "ketchup",
    "lava",
    "melting_ice",
    "mud",
    "water",
    "water_drops",
    "wax",
    "wet_sand",
)


def walked_materials() -> list[str]:
    """A material for each law and display, with and without heat, in the oldest Blender; in the others two of each display."""
    presets = part("storage.presets")
    names = sorted(presets.material_preset_names())
    assert len(names) > 15
    if bpy.app.version[:2] == (4, 2):
        kinds: dict[Any, str] = {}
        for name in names:
            preset = presets.material_preset(name)
            kinds.setdefault((type(preset.law), preset.thermal is None, name in OWN_MESH, name in SURFACE), name)
        return list(kinds.values())
    grains = [name for name in names if name not in OWN_MESH + SURFACE]
    return [*OWN_MESH[:2], *SURFACE[:2], *grains[:2]]


def fresh(folder: Path, name: str, frames: int = 3) -> Any:
    """A saved file without objects, with few frames."""
    scene = inside.new_file()
    for item in list(scene.objects):
        bpy.data.objects.remove(item)
    scene.frame_start, scene.frame_end = 1, frames
    (folder / name).mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / name / "scene.blend"))
    return scene


def two_parts() -> Any:
    """A cube and a ball in one mesh, side by side."""
    bpy.ops.mesh.primitive_cube_add(size=0.6, location=(-0.6, 0.0, 0.8))
    cube = bpy.context.object
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.35, location=(0.6, 0.0, 0.8), segments=16, ring_count=8)
    ball = bpy.context.object
    select(ball, cube)
    bpy.ops.object.join()
    return bpy.context.object


def turned() -> Any:
    """A long block with non-uniform scale and rotation."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, 1.0), rotation=(0.5, 0.3, 0.8), scale=(1.2, 0.5, 0.4))
    return bpy.context.object


def modified() -> Any:
    """A subdivided cube in three copies, with modifiers that are not applied."""
    bpy.ops.mesh.primitive_cube_add(size=0.6, location=(0.0, 0.0, 0.8))
    item = bpy.context.object
    item.modifiers.new("Subdivision", "SUBSURF").levels = 2
    array = item.modifiers.new("Array", "ARRAY")
    array.count, array.relative_offset_displace = 3, (1.6, 0.0, 0.0)
    return item


def is_inside(found: np.ndarray, item: Any) -> bool:
    low, high = inside.bounds(item)
    return bool((found >= low - 1e-3).all() and (found <= high + 1e-3).all())


def fell(first: np.ndarray, last: np.ndarray, frames: int) -> bool:
    """Whether unsupported particles fell freely: g t^2 / 2, and g t dt / 2 more for substeps of dt, which are a frame at most."""
    seconds = (frames - 1) / 24.0
    way = 0.5 * GRAVITY * seconds**2
    fallen = float(first[:, 2].mean() - last[:, 2].mean())
    return 0.97 * way < fallen < 1.03 * (way + 0.5 * GRAVITY * seconds / 24.0)


def mesh_follows(item: Any) -> None:
    """The object's own mesh is shown instead of the particles, and falls."""
    particles = shown()[0]
    display = particles.mpm.display.parts[0]
    display.viewport, skin = "automatic", display.skin
    assert len(skin.data.vertices) >= len(item.data.vertices)
    heights = []
    for frame in (1, 3):
        bpy.context.scene.frame_set(frame)
        assert len(particles.data.vertices) == 0
        flat = np.empty(3 * len(skin.data.vertices), np.float32)
        skin.data.attributes["position"].data.foreach_get("vector", flat)
        heights.append(flat.reshape(-1, 3) @ np.array(skin.matrix_world)[:3, :3].T + np.array(skin.matrix_world)[:3, 3])
    assert is_inside(heights[0], item)
    assert fell(*heights, 3)


def surface_replaces_particles(item: Any) -> None:
    """A surface, made during the bake, is shown instead of the particles, around them, and falls."""
    particles, spacing = shown()[0], (0.396 / PARTICLES) ** (1 / 3)
    heights = []
    for frame in (1, 3):
        bpy.context.scene.frame_set(frame)
        assert len(particles.data.vertices) == 0
        surface = particles.mpm.surface.object.data
        assert len(surface.polygons) > 100
        flat = np.empty(3 * len(surface.vertices), np.float32)
        surface.attributes["position"].data.foreach_get("vector", flat)
        found = flat.reshape(-1, 3)
        low, high = inside.bounds(item)
        assert np.allclose([found.min(axis=0), found.max(axis=0)], [low, high], atol=1.5 * spacing), (found.min(axis=0), found.max(axis=0))
        heights.append(found[:, 2].mean())
    assert abs(heights[0] - heights[1] - 0.5 * GRAVITY * (2 / 24.0) ** 2) < 0.015


def materials_on_two_parts(folder: Path) -> None:
    """Both parts become particles, whatever the material."""
    scene = fresh(folder, "materials")
    item = two_parts()
    for name in walked_materials():
        select(item)
        press("quick", material=name, particle_count=PARTICLES)
        assert (item.mpm.type, item.mpm.material.preset) == ("emitter", name)
        assert [each.name for each in scene.objects if each.mpm.type == "collider"] == ["Floor"]
        press("bake", restart=True)
        expect("DONE")
        if name in SURFACE:
            surface_replaces_particles(item)
        elif shown()[0].mpm.surface.object is not None:
            assert len(shown()[0].mpm.surface.object.data.polygons) == 0, name
        if name in OWN_MESH:
            mesh_follows(item)
        else:
            # a mesh from the material before may hold an artist's work
            skin = shown()[0].mpm.display.parts[0].skin
            assert skin is None or (skin.hide_viewport and skin.hide_render), name
        first = points(1)
        assert len(first) > 0.5 * PARTICLES and is_inside(first, item), name
        # the cube weighs 0.216 parts, the ball 0.18
        assert 0.4 < (first[:, 0] < 0.0).mean() < 0.7, name
        assert fell(first, points(3), 3), name


def any_shape(folder: Path) -> None:
    """Scaled, rotated, modified: the particles are where the object is, and end up on the floor."""
    for make, name in ((turned, "turned"), (modified, "modified")):
        scene = fresh(folder, name, frames=24)
        item = make()
        press("quick", material="dry_sand", particle_count=PARTICLES)
        press("bake")
        first, last = points(1), points(24)
        assert len(first) == len(last) > 0.5 * PARTICLES and is_inside(first, item)
        if make is modified:
            assert [int(((first[:, 0] > left) & (first[:, 0] < left + 0.96)).sum()) > 50 for left in (-0.48, 0.48, 1.44)] == [True] * 3
        floor = inside.bounds(scene.objects["Floor"])[1][2]
        cell = scene.mpm.solver.grid_spacing
        assert last[:, 2].min() > floor - 0.5 * cell and last[:, 2].mean() < floor + 0.35
        assert inside.drawn_points() == len(last)


def collider_and_inflow(folder: Path) -> None:
    """A jet onto a block: particles keep arriving, and none enters the block."""
    scene = fresh(folder, "inflow", frames=16)
    bpy.ops.mesh.primitive_cube_add(size=0.6, location=(0.0, 0.0, 0.3))
    block = bpy.context.object
    press("quick_collider")
    scene.cursor.location = (0.0, 0.0, -0.7)
    press("add", kind="inflow", size=0.8)
    jet = bpy.context.object
    scene.mpm.solver.grid_spacing = 0.06
    press("add", kind="floor", size=0.5)
    press("bake")
    counts = [len(points(frame)) for frame in (2, 6, 16)]
    assert 0 < counts[0] < counts[1] < counts[2]
    last = points(16)
    low, high = inside.bounds(block)
    middle = 0.5 * (low + high)
    deep = (np.abs(last - middle) < 0.5 * (high - low) - 0.08).all(axis=1)
    assert not deep.any() and jet.mpm.emitter.mode == "inflow"


def shorten(cache: Path) -> int:
    """End the scene soon after the frames that are there; returns its last frame."""
    baked = len(list(cache.glob("takes/*/frames/frame_*.mpm")))
    assert 4 <= baked < LAST - RESUMED
    bpy.context.scene.frame_end = baked + RESUMED
    return bpy.context.scene.frame_end


def change_cancel_resume(folder: Path) -> None:
    """Changed: outdated, refused, baked again. Canceled halfway: resumed to the same frames. Saved and reopened: shown."""
    fresh(folder, "changes", frames=LAST)
    item = two_parts()
    press("quick", material="jelly", particle_count=MANY)
    cache = folder / "changes" / "cache_mpm"
    with inside.running_bake() as running:
        end = time.monotonic() + 400.0
        while not list(cache.glob("takes/*/frames/frame_000004.mpm")):
            assert time.monotonic() < end and not running.is_finished, running.text
            running.poll()
            time.sleep(0.002)
        press("bake_cancel")
        while not running.is_finished:
            running.poll()
            time.sleep(0.002)
    expect("RESUMABLE")
    last = shorten(cache)
    expect("RESUMABLE")
    press("bake")
    expect("DONE")
    resumed = [points(frame) for frame in range(1, last + 1)]
    press("bake_again")
    assert all(np.array_equal(before, points(frame)) for frame, before in enumerate(resumed, start=1))
    select(item)
    press("material_choose", name="rubber")
    expect("OUTDATED")
    assert "contains frames that were baked before this scene changed" in refusal("bake")
    press("bake_again")
    expect("DONE")
    assert not np.array_equal(points(last), resumed[-1])
    kept = points(last)
    bpy.ops.wm.save_mainfile()
    inside.new_file()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "changes" / "scene.blend"))
    assert bpy.context.scene.frame_current == last and state() == "DONE"
    assert np.array_equal(points(last), kept) and inside.drawn_points() == len(kept)


def render(folder: Path) -> None:
    """The reopened file renders its particles or their mesh: the picture differs from one without them."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -5.0, 0.8), (1.5708, 0.0, 0.0)
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "SUN"))
    for each in (camera, lamp):
        scene.collection.objects.link(each)
    scene.camera = camera
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 1, False
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 64, 48, 100
    (particles,) = shown()
    pictures = []
    for is_hidden in (False, True):
        for each in (particles, *particles.children):
            each.hide_render = is_hidden
        scene.render.filepath = str(folder / f"picture_{is_hidden}.png")
        bpy.ops.render.render(write_still=True)
        image: Any = bpy.data.images.load(scene.render.filepath)
        pictures.append(np.array(image.pixels[:]))
    assert np.abs(pictures[0] - pictures[1]).max(axis=0) > 0.1
    for each in (particles, *particles.children):
        each.hide_render = False


def between_ready_scenes(folder: Path) -> None:
    """A ready scene leaves the user's work alone; then that work is baked, and the ready scene after it."""
    own = bpy.context.scene
    last = own.frame_end
    before = points(last)
    press("add_ready_scene", scene="jelly_stack")
    ready = bpy.context.scene
    assert ready != own and state() == "EMPTY"
    ready.mpm.solver.grid_spacing *= 3.0
    ready.frame_end = 3
    press("bake")
    expect("DONE")
    assert len(points(3, *shown(ready))) > 100
    bpy.context.window.scene = own
    expect("DONE")
    assert np.array_equal(points(last, shown(own)[0]), before)
    own.frame_end = last + 1
    expect("RESUMABLE")
    press("bake")
    expect("DONE")
    assert len(points(last + 1, shown(own)[0])) == len(before)


STEPS = (materials_on_two_parts, any_shape, collider_and_inflow, change_cancel_resume, render, between_ready_scenes)

inside.run(STEPS, Path(sys.argv[1]))
inside.end(steps=len(STEPS))
