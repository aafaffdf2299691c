"""Playback between cached frames: subframes, slow motion, keyframed frames, and what a shutter captures."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.interface.panels import object_panels
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.settings import retime
from mpm_addon.core.particles import Frame, FrameStatistics
from mpm_addon.core.scene.settings import Time
from mpm_addon.storage.cache_writer import CacheWriter
from tests.blender.playback.test_playback import stored
from tests.blender.scenes import description, frame_arrays

blender = pytest.mark.blender


def moving_cache(folder: Path, counts: dict[int, int], *, step: float = 1.0, **time: Any) -> Path:
    """Particle `id` at (id, step * frame, 0) with the matching velocity; `counts` are the particles of each frame."""
    scene = dataclasses.replace(description(), time=Time(frame_end=max(counts), **time))
    writer = CacheWriter(folder, scene)
    writer.prepare(scene, restart=True)
    for number, count in counts.items():
        arrays = frame_arrays(number, count)
        arrays["position"][:, 1] = step * number
        arrays["velocity"][:] = 0.0, step / scene.time.frame_seconds, 0.0
        statistics = FrameStatistics(count, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
        writer.write_frame(Frame(number, scene.time.seconds_at(number), arrays, statistics))
    return folder


def shown_object(bpy: Any, folder: Path) -> Any:
    item = particle_objects.result_object(bpy.context.scene, str(folder))
    bpy.context.scene.frame_set(1)
    return item


@pytest.fixture
def particles(bpy: Any, tmp_path: Path) -> Any:
    """Frames 1 to 8 of four particles that move one unit per frame along y."""
    return shown_object(bpy, moving_cache(tmp_path / "cache", dict.fromkeys(range(1, 9), 4)))


def place(item: Any) -> float:
    """The position of the particles along y."""
    values = stored(item, "position")[:, 1]
    assert np.ptp(values) == 0.0
    return float(values[0])


def test_a_subframe_is_between_its_frames(bpy: Any, particles: Any) -> None:
    for number, fraction in ((2, 0.25), (5, 0.5), (7, 0.9), (3, 0.0)):
        bpy.context.scene.frame_set(number, subframe=fraction)
        assert place(particles) == pytest.approx(number + fraction, abs=1e-5)
        assert not particle_objects.status(particles)


def test_a_speed_begins_at_the_first_frame_of_the_cache(bpy: Any, particles: Any) -> None:
    settings = particles.mpm
    settings.use_retime, settings.playback_speed = True, 0.25
    for number, expected in ((1, 1.0), (2, 1.25), (11, 3.5), (29, 8.0)):
        bpy.context.scene.frame_set(number)
        assert place(particles) == pytest.approx(expected, abs=1e-5)
    settings.playback_offset = 10.0
    bpy.context.scene.frame_set(13)
    assert place(particles) == pytest.approx(1.5, abs=1e-5)
    settings.playback_speed = -1.0
    bpy.context.scene.frame_set(9)
    assert place(particles) == pytest.approx(3.0)


def test_a_frame_of_the_cache_may_be_chosen(bpy: Any, particles: Any) -> None:
    settings = particles.mpm
    settings.use_retime, settings.retime_mode, settings.playback_frame = True, "frame", 6.5
    for number in (1, 40):
        bpy.context.scene.frame_set(number)
        assert place(particles) == pytest.approx(6.5, abs=1e-5)
        assert stored(particles, "velocity").tolist() == [[0.0, 0.0, 0.0]] * 4, "what stands still has no motion to blur"
    settings.use_retime = False
    bpy.context.scene.frame_set(2)
    assert place(particles) == 2.0


def test_beyond_the_cache_nothing_is_shown_and_the_status_says_so(bpy: Any, particles: Any) -> None:
    particles.mpm.use_retime, particles.mpm.playback_speed = True, 3.0
    bpy.context.scene.frame_set(5)
    assert len(particles.data.vertices) == 0
    assert in_blender(particle_objects.status(particles)) == "Frame 13 is not baked"


@pytest.mark.parametrize("value", [float("nan"), 1e30])
def test_no_number_shows_nothing(bpy: Any, particles: Any, value: float) -> None:
    particles.mpm.use_retime, particles.mpm.retime_mode, particles.mpm.playback_frame = True, "frame", value
    bpy.context.scene.frame_set(5)
    assert len(particles.data.vertices) == 0
    assert particle_objects.status(particles)


@pytest.mark.parametrize(
    ("time_scale", "speed", "fps", "factor"),
    [(1.0, 1.0, 24, 1.0), (0.25, 1.0, 24, 0.25), (1.0, 0.5, 24, 0.5), (1.0, 1.0, 48, 2.0), (0.5, -2.0, 12, -0.5)],
)
def test_velocity_is_per_second_of_the_scene(bpy: Any, tmp_path: Path, time_scale: float, speed: float, fps: int, factor: float) -> None:
    """A rendered frame shows the motion during one scene frame, whatever its simulated duration: v = dy/dframe * frames per second."""
    folder = moving_cache(tmp_path / "cache", dict.fromkeys(range(-8, 9), 2), step=0.5, frame_start=-8, time_scale=time_scale)
    item = shown_object(bpy, folder)
    bpy.context.scene.render.fps = fps
    item.mpm.use_retime, item.mpm.playback_speed = True, speed
    bpy.context.scene.frame_set(-7 if speed > 0.0 else -8)
    assert stored(item, "velocity")[0] == pytest.approx([0.0, 0.5 * speed * fps, 0.0])
    assert 0.5 * speed * fps == pytest.approx(0.5 / time_scale * 24.0 * factor)


def test_the_number_of_particles_is_that_of_the_nearest_frame(bpy: Any, tmp_path: Path) -> None:
    item = shown_object(bpy, moving_cache(tmp_path / "cache", {1: 3, 2: 6, 3: 2}))
    counts = []
    for fraction in (0.5, 0.75):
        bpy.context.scene.frame_set(1, subframe=fraction)
        counts.append(len(item.data.vertices))
    for fraction in (0.0, 0.25, 0.5, 0.75):
        bpy.context.scene.frame_set(2, subframe=fraction)
        counts.append(len(item.data.vertices))
        assert place(item) == pytest.approx(2.0 + fraction, abs=1e-5)
    assert counts == [3, 6, 6, 6, 6, 2]


@blender
def test_every_setting_takes_effect_at_once(bpy: Any, particles: Any) -> None:
    bpy.context.scene.frame_set(4)
    particles.mpm.use_retime = True
    particles.mpm.playback_speed = 0.5
    assert place(particles) == pytest.approx(2.5, abs=1e-5)
    particles.mpm.retime_mode = "frame"
    particles.mpm.playback_frame = 7.0
    assert place(particles) == 7.0


def test_the_panel_shows_what_the_mode_needs(bpy: Any, draw: Any, particles: Any) -> None:
    bpy.context.view_layer.objects.active = particles
    names = lambda: {entry.arguments["property"] for entry in draw(object_panels.MPM_PT_retime).find("prop")}  # noqa: E731
    assert {"retime_mode", "playback_speed", "playback_offset"} <= names()
    particles.mpm.retime_mode = "frame"
    assert "playback_frame" in names() and "playback_speed" not in names()
    particles.mpm.cache = ""
    assert draw(object_panels.MPM_PT_retime) is None


@blender
def test_a_keyed_frame_moves_and_tells_its_speed(bpy: Any, particles: Any) -> None:
    settings = particles.mpm
    settings.use_retime, settings.retime_mode = True, "frame"
    for number, value in ((1, 2.0), (21, 7.0)):
        settings.playback_frame = value
        particles.keyframe_insert("mpm.playback_frame", frame=number)
    for curve in retime._curves(particles.animation_data):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    for number, fraction in ((1, 0.0), (5, 0.5), (13, 0.25)):
        bpy.context.scene.frame_set(number, subframe=fraction)
        assert place(particles) == pytest.approx(2.0 + 0.25 * (number + fraction - 1), abs=1e-4)
    assert stored(particles, "velocity")[0] == pytest.approx([0.0, 6.0, 0.0], rel=1e-3)


@blender
def test_a_driven_frame_moves(bpy: Any, particles: Any) -> None:
    settings = particles.mpm
    settings.use_retime, settings.retime_mode = True, "frame"
    driver = particles.driver_add("mpm.playback_frame").driver
    driver.expression = "frame * 0.5"
    bpy.context.scene.frame_set(9)
    assert place(particles) == pytest.approx(4.5, abs=1e-4)


def rendered(bpy: Any, tmp_path: Path, item: Any, **settings: Any) -> list[tuple[float, int, float]]:
    """Moment, particles and position at every frame change while Cycles renders frames 3 and 4 with motion blur."""
    scene = bpy.context.scene
    display.dress(item, [display.Look("red", (1.0, 0.0, 0.0, 1.0), mode="spheres")])
    scene.frame_start, scene.frame_end = 3, 4
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.use_motion_blur = True
    for name, value in settings.items():
        setattr(scene.render, name, value)
    scene.render.filepath = str(tmp_path / "render_")
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    seen: list[tuple[float, int, float]] = []

    def note(changed: Any, depsgraph: Any) -> None:
        seen.append((changed.frame_current + changed.frame_subframe, len(item.data.vertices), place(item)))

    bpy.app.handlers.frame_change_post.append(note)
    try:
        bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.frame_change_post.remove(note)
    return seen


@blender
@pytest.mark.parametrize(("position", "shutter"), [("CENTER", 0.5), ("START", 1.0), ("END", 1.0), ("CENTER", 2.0)])
def test_over_a_shutter_the_particles_are_the_same_and_move(bpy: Any, tmp_path: Path, position: str, shutter: float) -> None:
    item = shown_object(bpy, moving_cache(tmp_path / "cache", {1: 2, 2: 3, 3: 5, 4: 4, 5: 7, 6: 3}))
    seen = rendered(bpy, tmp_path, item, motion_blur_position=position, motion_blur_shutter=shutter)[:-1]
    begin, end = {"CENTER": (-shutter / 2, shutter / 2), "START": (0.0, shutter), "END": (-shutter, 0.0)}[position]
    half = len(seen) // 2
    for number, count, moments in ((3, 5, seen[:half]), (4, 4, seen[half:])):
        assert {shown for _, shown, _ in moments} == {count}
        times = [time for time, _, _ in moments]
        assert (min(times), max(times)) == (pytest.approx(number + begin), pytest.approx(number + end))
    assert [where for _, _, where in seen] == pytest.approx([time for time, _, _ in seen], abs=1e-4)


@blender
def test_slow_motion_with_keys_is_rendered_between_frames(bpy: Any, tmp_path: Path, particles: Any) -> None:
    """During a render, keyframed values are those of the rendered moment, not of the frame in the interface."""
    settings = particles.mpm
    settings.use_retime, settings.retime_mode = True, "frame"
    for number, value in ((1, 1.0), (9, 3.0)):
        settings.playback_frame = value
        particles.keyframe_insert("mpm.playback_frame", frame=number)
    for curve in retime._curves(particles.animation_data):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    bpy.context.scene.frame_set(1)
    seen = rendered(bpy, tmp_path, particles, motion_blur_shutter=0.5)[:-1]
    assert {time for time, _, _ in seen} == {2.75, 3.0, 3.25, 3.75, 4.0, 4.25}
    assert [where for _, _, where in seen] == pytest.approx([1.0 + 0.25 * (time - 1.0) for time, _, _ in seen], abs=1e-4)
