"""Run in the isolated Blender: every operator is pressed, in several orders, every panel is drawn, and the results are checked."""

from __future__ import annotations

import json
import os
import sys
import time
import webbrowser
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tests.blender_real import inside
from tests.blender_real.inside import part, points, press, refusal, select, shown, state
from tests.fakes import layout

FRAMES = 5
PARTICLES = 400


def short(scene: Any) -> None:
    scene.frame_start, scene.frame_end = 1, FRAMES


def save(folder: Path, name: str) -> None:
    """Save the file in its own folder."""
    (folder / name).mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / name / "scene.blend"), check_existing=False)


def quick_then_bake(folder: Path) -> None:
    """The first steps of a user after the installation."""
    scene = inside.new_file()
    inside.draw_all()
    monkey = inside.suzanne()
    low, high = inside.bounds(monkey)
    press("quick", material="jelly", particle_count=PARTICLES)
    assert (monkey.mpm.type, monkey.mpm.material.preset, monkey.display_type) == ("emitter", "jelly", "WIRE")
    assert scene.objects["Floor"].mpm.type == "collider"
    assert bpy.context.selected_objects == [monkey]
    short(scene)
    save(folder, "quick")
    assert state() == "EMPTY"
    press("preflight")
    report = json.loads(scene.mpm.preflight)["answer"]
    assert 0.5 * PARTICLES < report["particles"] < 4.0 * PARTICLES
    press("bake")
    assert state() == "DONE"
    first, last = points(1), points(FRAMES)
    assert len(first) == len(last) > 0.5 * PARTICLES
    assert (first >= low - 1e-3).all() and (first <= high + 1e-3).all()
    # free fall: g t^2 / 2 in four frames of 1/24 s
    fallen = first[:, 2].mean() - last[:, 2].mean()
    assert abs(fallen - 0.5 * 9.81 * ((FRAMES - 1) / 24.0) ** 2) < 0.02, fallen
    bpy.ops.wm.save_mainfile()
    inside.draw_all()


def ready_then_quick(folder: Path) -> None:
    """The other order: a ready scene is baked, then a new file gets a quick effect."""
    scene = inside.new_file()
    press("add_ready_scene", scene="snowball")
    assert bpy.context.scene == scene and scene.camera is not None
    emitters = [item.name for item in scene.objects if item.mpm.type == "emitter"]
    assert emitters and scene.objects["Cube"].hide_render
    scene.mpm.solver.grid_spacing *= 4.0
    short(scene)
    save(folder, "ready")
    press("bake")
    assert state() == "DONE" and len(points(FRAMES)) > 100
    inside.draw_all()
    quick_scene = inside.new_file()
    monkey = inside.suzanne()
    press("quick", material="snow", particle_count=PARTICLES)
    assert (monkey.mpm.type, monkey.mpm.material.preset) == ("emitter", "snow")
    short(quick_scene)
    save(folder, "second")
    press("bake")
    assert state() == "DONE" and len(points(1)) > 0.5 * PARTICLES
    bpy.ops.wm.save_mainfile()


def objects_and_materials(folder: Path) -> None:
    scene = inside.new_file()
    cube = scene.objects["Cube"]
    select(cube)
    press("object_add", type="emitter")
    assert cube.mpm.type == "emitter"
    press("object_remove")
    assert cube.mpm.type == "none"
    press("objects_add", type="outflow")
    assert cube.mpm.type == "outflow"
    press("quick_collider")
    assert cube.mpm.type == "collider"
    select(scene.objects["Light"])
    assert "has no surface" in refusal("quick_collider")
    assert "has no surface" in refusal("quick")
    for kind in ("inflow", "domain", "floor", "collider", "outflow", "honey"):
        count = len(scene.objects)
        press("add", kind=kind)
        assert len(scene.objects) == count + 1 and bpy.context.selected_objects == [bpy.context.object]
    assert scene.mpm.domain.object is not None
    assert "already has a domain" in refusal("add", kind="domain")
    honey = bpy.context.object
    assert (honey.mpm.type, honey.mpm.material.preset) == ("emitter", "honey")
    press("material_choose", name="snow")
    assert honey.mpm.material.preset == "snow"
    press("material_customize")
    assert (honey.mpm.material.source, honey.mpm.material.law) == ("custom", "snow")
    press("material_preset_add", name="My Snow", note="for the test")
    presets = part("blender.building.material_presets")
    assert [name for name, _ in presets.own_presets()] == ["my_snow"]
    assert "My Snow" in refusal("material_preset_add", name="My Snow")
    press("material_choose", name="water")
    press("material_choose", name="my_snow", is_own=True)
    assert (honey.mpm.material.source, honey.mpm.material.origin) == ("custom", "My Snow")
    press("material_preset_remove", name="my_snow")
    assert presets.own_presets() == []
    assert "my_snow" in refusal("material_choose", name="my_snow", is_own=True)
    inside.draw_all()


def takes_and_running(folder: Path) -> None:
    """Cancel, resume, takes, pause, free: in the file of the first order."""
    bpy.ops.wm.open_mainfile(filepath=str(folder / "quick" / "scene.blend"))
    scene = bpy.context.scene
    short(scene)
    cache = folder / "quick" / "cache_mpm"
    assert state() == "DONE"
    whole = {number: points(number) for number in range(1, FRAMES + 1)}
    press("bake", from_frame=2)
    assert sorted(path.name for path in (cache / "takes").iterdir()) == ["0001", "0002"]
    press("take_show", take=1)
    press("take_rename", take=1, name="first try")
    assert np.array_equal(points(FRAMES), whole[FRAMES])
    press("take_remove", take=2)
    assert [path.name for path in (cache / "takes").iterdir()] == ["0001"]
    assert "take 7" in refusal("take_show", take=7)
    scene.frame_end = 400
    with inside.running_bake() as running:
        wait_for(running, lambda: state() == "BAKING")
        inside.draw_all()
        press("bake_pause")
        wait_for(running, lambda: state() == "PAUSED")
        inside.draw_all()
        press("bake_pause")
        wait_for(running, lambda: state() == "BAKING")
        press("bake_cancel")
        wait_for(running, lambda: running.is_finished)
    assert state() == "RESUMABLE"
    scene.frame_end = len(list((cache / "takes" / "0001" / "frames").glob("*.mpm"))) + 1
    press("bake")
    assert state() == "DONE"
    assert all(np.array_equal(points(number), there) for number, there in whole.items())
    press("bake_again")
    assert state() == "DONE" and np.array_equal(points(FRAMES), whole[FRAMES])
    assert "No bake is running" in refusal("bake_cancel")
    look_at_particles(folder, scene)
    make_surfaces(scene)
    make_skins()
    make_volumes(scene)
    make_swarms(scene, next(each.name for each in scene.objects if each.mpm.type == "emitter"))
    hand_on(folder, scene, cache)
    press("bake_free")
    left = (state(), list(cache.rglob("*")))
    assert left == ("EMPTY", []), left
    assert all(len(item.data.vertices) == 0 for item in shown())
    inside.draw_all()


def wait_for(running: Any, condition: Any) -> None:
    end = time.monotonic() + 400.0
    while not condition():
        assert time.monotonic() < end and not (running.is_finished and not condition()), running.text
        running.poll()
        time.sleep(0.01)


def look_at_particles(folder: Path, scene: Any) -> None:
    (item,) = shown()
    select(item)
    item.mpm.display.parts[0].viewport = "spheres"
    press("display_same")
    item.mpm.display.color_by = "speed"
    press("display_fit")
    assert item.mpm.display.range_max > 1.0
    press("display_restore")
    press("display_assets", mode="all")
    assert {group.NAME for group in part("blender.display.assets").GROUPS} <= {group.name for group in bpy.data.node_groups}
    inside.draw_all()


def make_surfaces(scene: Any) -> None:
    (item,) = shown()
    scene.mpm.surface.quality = "draft"
    scene.mpm.surface.include = "all"
    press("surface_make")
    surface = item.mpm.surface.object.data
    assert len(surface.polygons) > 0 and len(item.data.vertices) == 0
    assert "No surface is being made" in refusal("surface_stop")
    inside.draw_all()
    press("surface_delete")
    assert item.mpm.surface.object is None and len(item.data.vertices) > 0


def make_skins() -> None:
    (item,) = shown()
    display = item.mpm.display.parts[0]
    modes = display.viewport, display.render
    display.viewport = display.render = "mesh"
    press("skin_make")
    # jelly neither tears nor breaks here
    assert "No skin of a material that breaks or tears" in refusal("pieces_make")
    assert "There are no pieces" in refusal("pieces_delete")
    skin = display.skin.data
    assert len(skin.polygons) > 0 and len(item.data.vertices) == 0
    assert "No skin is being made" in refusal("skin_stop")
    inside.draw_all()
    press("skin_delete")
    assert display.skin is None and len(item.data.vertices) > 0
    display.viewport, display.render = modes


def make_volumes(scene: Any) -> None:
    (item,) = shown()
    # jelly has no powder
    scene.mpm.volume.powder_only = False
    press("volume_make")
    volume = item.mpm.volume.object.data
    assert os.path.getsize(bpy.path.abspath(volume.filepath)) > 0 and len(item.data.vertices) > 0
    volume.grids.load()
    assert "density" in volume.grids.keys()  # noqa: SIM118 - a collection of Blender's
    assert "No volume is being made" in refusal("volume_stop")
    inside.draw_all()
    press("volume_delete")
    assert item.mpm.volume.object is None


def make_swarms(scene: Any, emitter: str) -> None:
    (item,) = shown()
    for kind in ("foam", "debris"):
        # jelly foams and breaks only where it is asked to
        getattr(scene.mpm, kind).emitters = emitter
        press(f"{kind}_make")
        swarm = getattr(item.mpm, kind)
        assert swarm.object is not None and len(item.data.vertices) > 0
        swarm.is_fog = True
        assert swarm.fog is not None
        assert f"No {kind} is being made" in refusal(f"{kind}_stop")
        inside.draw_all()
        press(f"{kind}_delete")
        assert (swarm.object, swarm.fog) == (None, None)


def hand_on(folder: Path, scene: Any, cache: Path) -> None:
    press("copy_command", kind="blender")
    press("copy_command", kind="python")
    press("copy_message")
    press("export_points", filepath=str(folder / "points.ply"), format="ply", use_frame_range=True, frame_start=1, frame_end=2)
    assert sorted(path.name for path in (folder / "points_ply").iterdir()) == ["frame_000001.ply", "frame_000002.ply"]
    press("publish", directory=str(folder / "published"))
    assert list((folder / "published").glob("*.blend"))
    # the other Blender does not delete this one's packages
    assert part("blender.baking.health").lines() == []
    for item in shown():
        bpy.data.objects.remove(item)
    press("show", cache=str(cache))
    assert len(points(1)) > 0.5 * PARTICLES
    assert "contains no cache" in refusal("show", cache=str(folder))


def previews_and_queue(folder: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(folder / "second" / "scene.blend"))
    scene = bpy.context.scene
    short(scene)
    cell = scene.mpm.solver.grid_spacing
    # a bake of some 3000 particles
    scene.mpm.solver.grid_spacing, scene.mpm.preview_particles = 0.5 * cell, 1000
    press("preview")
    assert [item.name for item in shown() if not item.hide_viewport] == ["MPM Preview"]
    assert 300 < len(points(2, bpy.data.objects["MPM Preview"])) < 2000
    scene.mpm.solver.grid_spacing = cell
    inside.draw_all()
    press("preview_free")
    assert "MPM Preview" not in bpy.data.objects and len(points(2)) > 0.5 * PARTICLES
    assert "needs a window" in refusal("live")
    other = bpy.data.scenes.new("Other")
    other.mpm.cache = "//cache_other"
    press("bake_all")
    assert state() == "DONE"
    part("blender.baking.preflight").start(bpy.context)
    press("preflight_cancel")
    assert part("blender.baking.preflight").current() is None


def trouble(folder: Path) -> None:
    """An unstable bake is shown; the manual, the folder and the report open."""
    bpy.ops.wm.open_mainfile(filepath=str(folder / "second" / "scene.blend"))
    scene = bpy.context.scene
    failure = part("core.failure")
    where = np.array([[0.0, 0.0, 1.0], [0.5, 0.0, 1.0]], np.float32)
    ids = np.array([1, 3], np.int32)
    lost = failure.Failure(failure.Kind.INVERTED, 'Material "snow"', 3, 0.1, 1e-6, 64, ids, where, ("Suzanne",), "wait")
    cache = folder / "second" / "cache_mpm"
    part("storage.failure").write_failure(cache, lost, take=1)
    part("blender.baking.unstable").refresh(scene, scene.mpm.cache)
    press("select_unstable")
    assert bpy.context.selected_objects == [bpy.data.objects["MPM Unstable"]] and scene.frame_current == 2
    inside.draw_all()
    opened: list[str] = []
    webbrowser.open = lambda address, *_more: opened.append(address) or True  # type: ignore[assignment]
    press("help", page="manual/baking")
    assert opened[0].endswith("manual/baking.html") and Path(opened[0].removeprefix("file://")).is_file()
    assert "no page" in refusal("help", page="nothing")
    press("doctor")
    # no program opens folders here
    os.environ["PATH"] = ""
    said = refusal("open_cache_folder")
    assert said.startswith(f"{cache} cannot be opened") and len(said) < 400, said
    scene.mpm.cache = "//nowhere"
    assert "does not exist yet" in refusal("open_cache_folder")


STEPS = (quick_then_bake, ready_then_quick, objects_and_materials, takes_and_running, previews_and_queue, trouble)

inside.run(STEPS, Path(sys.argv[1]))
every = {cls.bl_idname.partition(".")[2] for cls in layout.registered_classes(bpy, "Operator")}
inside.end(missing=sorted(every - inside.pressed.keys()), pressed=sum(inside.pressed.values()))
