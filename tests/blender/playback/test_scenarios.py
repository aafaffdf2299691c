"""Playback in many settings: rendered animations, several caches, scenes, layers, duplicates, undo, drivers, fractional frames."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.host.runtime import runtime
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.settings import paths
from mpm_addon.core.messages import NOTHING
from mpm_addon.core.scene.settings import CacheSettings
from tests.blender.scenes import frame_arrays, write_cache

blender = pytest.mark.blender
ROOT = Path(__file__).parents[3]
LOOK = [display.Look("white", (1.0, 1.0, 1.0, 1.0)), display.Look("also white", (1.0, 1.0, 1.0, 1.0))]
WIDTH = 16


def shown(item: Any) -> int:
    return len(item.data.vertices)


def add_result(bpy: Any, folder: Path, counts: dict[int, int], scene: Any = None) -> Any:
    scene = scene or bpy.context.scene
    return particle_objects.result_object(scene, str(write_cache(folder, counts)))


def make_studio(bpy: Any, scene: Any) -> None:
    """A camera from above that sees x from 0 to 16, one unit per pixel, and a fast renderer."""
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 4
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y = WIDTH, 4
    scene.render.image_settings.file_format = "PNG"
    scene.view_settings.view_transform = "Standard"
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", WIDTH
    camera.location = (WIDTH / 2, 0.0, 20.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    world = scene.world or bpy.data.worlds.new("World")
    scene.world = world
    if bpy.app.version < (5, 0, 0):
        world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.0
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "SUN"))
    light.data.energy = 10.0
    scene.collection.objects.link(light)


def write_lane(folder: Path, frames: range) -> Path:
    """A cache in which one large particle is at x = frame + 0.5, so that a picture identifies its frame."""
    from mpm_addon.core.particles import Frame, FrameStatistics
    from mpm_addon.storage.cache_writer import CacheWriter
    from tests.blender.scenes import description

    described = description(cache=CacheSettings(precision="exact"))
    writer = CacheWriter(folder, described)
    writer.prepare(described, restart=True)
    for number in frames:
        arrays = frame_arrays(number, 1)
        arrays["position"][0] = (number + 0.5, 0.0, 0.0)
        arrays["velocity"][:] = 0.0
        arrays["scale"][:] = 1.2
        writer.write_frame(Frame(number, (number - 1) / 24.0, arrays, FrameStatistics(1, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)))
    return folder


def seen_frames(bpy: Any, folder: Path, numbers: range) -> list[int]:
    """The frame that each picture shows: its brightest column; -1 if it is black."""
    found = []
    for number in numbers:
        image = bpy.data.images.load(str(folder / f"picture_{number:04d}.png"))
        pixels = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(pixels)
        columns = pixels.reshape(4, WIDTH, 4)[..., :3].sum(axis=(0, 2))
        found.append(int(columns.argmax()) if columns.max() > 0.1 else -1)
        bpy.data.images.remove(image)
    return found


@blender
@pytest.mark.parametrize(("is_locked", "is_persistent"), [(True, False), (False, False), (True, True), (False, True)])
def test_every_picture_of_an_animation_shows_its_frame(bpy: Any, tmp_path: Path, is_locked: bool, is_persistent: bool) -> None:
    scene = bpy.context.scene
    item = particle_objects.result_object(scene, str(write_lane(tmp_path / "cache", range(2, 6))))
    display.dress(item, LOOK)
    make_studio(bpy, scene)
    scene.render.use_lock_interface, scene.render.use_persistent_data = is_locked, is_persistent
    scene.render.filepath = str(tmp_path / "picture_")
    scene.frame_start, scene.frame_end = 2, 6
    scene.frame_set(4)
    bpy.ops.render.render(animation=True)
    assert seen_frames(bpy, tmp_path, range(2, 7)) == [2, 3, 4, 5, -1]
    # with every second frame, as on farms
    scene.frame_step = 2
    bpy.ops.render.render(animation=True)
    assert seen_frames(bpy, tmp_path, range(2, 7, 2)) == [2, 4, -1]


@blender
def test_two_view_layers_and_single_pictures_show_the_frame(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    item = particle_objects.result_object(scene, str(write_lane(tmp_path / "cache", range(2, 6))))
    display.dress(item, LOOK)
    make_studio(bpy, scene)
    scene.view_layers.new("Second")
    for layer in scene.view_layers:
        for number in (5, 3):
            scene.frame_set(number)
            scene.render.filepath = str(tmp_path / f"picture_{number:04d}.png")
            bpy.ops.render.render(write_still=True, layer=layer.name)
        assert seen_frames(bpy, tmp_path, range(3, 7, 2)) == [3, 5]


@blender
def test_two_processes_render_one_file_from_a_cache_that_nobody_may_write(bpy: Any, tmp_path: Path) -> None:
    """As on a farm: the file and its cache are in one folder, are copied to another path, and opened in background mode."""
    project = tmp_path / "project"
    project.mkdir()
    scene = bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(project / "file.blend"))
    write_lane(project / "cache_mpm", range(2, 6))
    item = particle_objects.result_object(scene, "//cache_mpm")
    display.dress(item, LOOK)
    make_studio(bpy, scene)
    scene.frame_start, scene.frame_end = 2, 6
    bpy.ops.wm.save_mainfile()
    project.rename(tmp_path / "elsewhere")
    project = tmp_path / "elsewhere"
    times = {path: path.stat().st_mtime_ns for path in project.rglob("*")}
    for path in [project, *project.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    script = """
import os, sys
import bpy
sys.modules["numba"] = None  # importing it fails
import mpm_addon
mpm_addon.register()
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
scene = bpy.context.scene
scene.render.filepath = sys.argv[2]
bpy.ops.render.render(animation=True)
mpm_addon.unregister()
sys.stdout.flush()
os._exit(0)
"""
    processes = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        command = [sys.executable, "-c", script, str(project / "file.blend"), str(tmp_path / name / "picture_")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    for process in processes:
        output, _ = process.communicate(timeout=200)
        assert process.returncode == 0, output
    for name in ("a", "b"):
        assert seen_frames(bpy, tmp_path / name, range(2, 7)) == [2, 3, 4, 5, -1]
    for path in [project, *project.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert {path: path.stat().st_mtime_ns for path in project.rglob("*")} == times


def test_twenty_caches_show_their_frames(bpy: Any, tmp_path: Path) -> None:
    items = [add_result(bpy, tmp_path / f"cache_{number}", {1: number + 1, 2: number + 2}) for number in range(20)]
    for frame in (1, 2, 1):
        bpy.context.scene.frame_set(frame)
        assert [shown(item) for item in items] == [number + frame for number in range(20)]
    assert len({item.data.session_uid for item in items}) == 20


def test_scenes_have_their_own_frames(bpy: Any, tmp_path: Path) -> None:
    first, second = bpy.context.scene, bpy.data.scenes.new("Second")
    one = add_result(bpy, tmp_path / "one", {1: 5, 2: 6}, first)
    two = add_result(bpy, tmp_path / "two", {1: 7, 2: 8}, second)
    first.frame_set(1)
    second.frame_set(2)
    assert (shown(one), shown(two)) == (5, 8)
    first.frame_set(2)
    second.frame_set(1)
    assert (shown(one), shown(two)) == (6, 7)


@blender
def test_duplicated_scenes_show_frames_and_do_not_fight(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    item = add_result(bpy, tmp_path / "cache", {1: 5, 2: 6})
    scene.frame_set(1)
    bpy.ops.scene.new(type="FULL_COPY")
    full = next(each for each in bpy.data.scenes if each != scene)
    (copied,) = particle_objects.result_objects(full)
    assert copied.data != item.data
    full.frame_set(2)
    assert (shown(item), shown(copied)) == (5, 6)
    full.frame_set(1)
    scene.frame_set(2)
    assert (shown(item), shown(copied)) == (6, 5)
    linked = bpy.data.scenes.new("Linked")
    linked.collection.objects.link(item)
    linked.frame_set(1)
    assert (shown(item), shown(copied)) == (5, 5)  # an object shows one frame: that of the scene whose frame changed last
    scene.frame_set(2)
    assert (shown(item), particle_objects.status(item)) == (6, NOTHING)


@blender
def test_duplicates_that_share_a_mesh_show_the_same_or_say_so(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    item = add_result(bpy, tmp_path / "cache", {1: 5, 2: 6})
    copy = item.copy()  # Alt D
    scene.collection.objects.link(copy)
    scene.frame_set(2)
    assert (shown(item), shown(copy)) == (6, 6)
    assert (particle_objects.status(item), particle_objects.status(copy)) == (NOTHING, NOTHING)
    copy.mpm.use_retime, copy.mpm.playback_offset = True, 1.0
    scene.frame_set(2)
    assert shown(item) == 6
    assert {particle_objects.status(item), particle_objects.status(copy)} != {NOTHING}
    copy.data = copy.data.copy()
    scene.frame_set(2)
    assert (shown(item), shown(copy)) == (6, 5)
    assert (particle_objects.status(item), particle_objects.status(copy)) == (NOTHING, NOTHING)


def test_frames_before_the_first_in_gaps_and_after_the_last_show_nothing_and_say_so(bpy: Any, tmp_path: Path) -> None:
    item = add_result(bpy, tmp_path / "cache", {-3: 4, -2: 5, 0: 6, 7: 8})
    expected = {-4: 0, -3: 4, -2: 5, -1: 0, 0: 6, 1: 0, 7: 8, 8: 0}
    for number in (7, -4, 8, 0, -1, -3, 1, -2):
        bpy.context.scene.frame_set(number)
        assert shown(item) == expected[number]
        assert in_blender(particle_objects.status(item)) == ("" if expected[number] else f"Frame {number} is not baked")


def test_a_renamed_object_keeps_its_frames_and_its_status(bpy: Any, tmp_path: Path) -> None:
    item = add_result(bpy, tmp_path / "cache", {1: 5, 2: 6})
    bpy.context.scene.frame_set(9)
    item.name = "Snow"
    assert in_blender(particle_objects.status(item)) == "Frame 9 is not baked"
    bpy.context.scene.frame_set(2)
    assert (shown(item), particle_objects.status(item), len(runtime.of(particle_objects.Shown).readers)) == (6, NOTHING, 1)


@blender
def test_undo_and_redo_show_the_frame_that_the_scene_is_at(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    item = add_result(bpy, tmp_path / "cache", {1: 5, 2: 6, 3: 7})
    name = item.name
    scene.frame_set(1)
    bpy.ops.ed.undo_push(message="first")
    scene.frame_set(3)
    bpy.ops.ed.undo_push(message="second")
    # meanwhile, the cache was baked again
    write_cache(tmp_path / "cache", {1: 15, 2: 16, 3: 17})
    for step, frames in ((bpy.ops.ed.undo, {1: 15}), (bpy.ops.ed.redo, {3: 17})):
        assert step() == {"FINISHED"}
        assert {bpy.context.scene.frame_current: shown(bpy.data.objects[name])} == frames
    bpy.context.scene.frame_set(2)
    assert shown(bpy.data.objects[name]) == 16


@blender
def test_a_driven_frame_and_sub_frames_are_followed(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    item = add_result(bpy, tmp_path / "cache", {1: 5, 2: 6, 3: 7})
    item.mpm.use_retime, item.mpm.retime_mode = True, "frame"
    item.driver_add("mpm.playback_frame").driver.expression = "frame - 10"
    for number, count in ((11, 5), (13, 7), (12, 6)):
        scene.frame_set(number)
        assert (shown(item), particle_objects.status(item)) == (count, NOTHING)
    item.driver_remove("mpm.playback_frame")
    item.mpm.use_retime = False
    scene.frame_set(1, subframe=0.25)
    middle = np.empty(3 * shown(item), np.float32)
    item.data.attributes["position"].data.foreach_get("vector", middle)
    # y is the frame number in these caches, and every particle moves
    assert (shown(item), particle_objects.status(item)) == (5, NOTHING)
    assert 1.0 < middle[1] < 2.0


def test_a_bake_of_a_temporary_folder_is_named_by_the_process(bpy: Any) -> None:
    assert str(os.getpid()) in paths.unsaved_folder().name
