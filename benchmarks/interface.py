"""How long the extension blocks Blender's main loop: `python -m benchmarks.interface PARTICLES FRAMES`. Needs bpy.

Every call of the extension on Blender's main thread is timed during a bake and while its result is shown, with a long journal and a scene
with many objects. The time that Blender itself takes to evaluate the points is listed in brackets.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .caches import write_flow
from .measuring import answer

OBJECTS = 100
REPEATS = 30
REAL_FRAMES = 3
# Frames of the scene that is read before a bake, and frames after which the observed bake is canceled.
READ_FRAMES = 100
BAKED_FRAMES = 2
# Colliders of the observed bake; they slow its process down, but not Blender.
COLLIDERS = 3
TIMER_SECONDS = 0.03

# For each call: wall seconds, and CPU seconds of the main thread, which do not depend on other programs.
Seconds = dict[str, list[tuple[float, float]]]


def timed(found: Seconds, name: str, action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run an action, record its duration, and return its result."""
    began, busy = time.perf_counter(), time.thread_time()
    answer = action(*arguments, **options)
    found.setdefault(name, []).append((time.perf_counter() - began, time.thread_time() - busy))
    return answer


def lengthen(folder: Path, frames: int) -> None:
    """Add frames to a cache: lines in the journal, and empty files."""
    from mpm_addon.storage import open_cache
    from mpm_addon.storage.sealed import sealed, unsealed

    take = open_cache(folder).takes[-1]
    journal = take.folder / "journal.jsonl"
    entry = unsealed(journal.read_bytes().splitlines()[0])
    with journal.open("a", encoding="utf-8") as file:
        for number in range(REAL_FRAMES + 1, frames + 1):
            file.write(sealed({**entry, "frame": number, "substeps": 40 + number % 17, "seconds": 2.0}) + "\n")
            (take.folder / "frames" / f"frame_{number:06d}.mpm").touch()


def fill_scene(bpy: Any, particles: int) -> None:
    """A scene of many objects: an emitter with this many particles, a moving object, and colliders."""
    from mpm_addon.blender.building.placement import add_object
    from mpm_addon.blender.building.solids import box

    scene = bpy.context.scene
    for number in range(OBJECTS):
        place = (3.0 * (number % 10), 3.0 * (number // 10), 5.0 if number == 0 else 0.0)
        item: Any = add_object(scene.collection, f"block {number}", box((1.0, 1.0, 1.0)), place)
        item.mpm.type = "collider" if number else "emitter"
    moving = bpy.data.objects["block 1"]
    for frame in (1, READ_FRAMES):
        moving.location.x = frame / 10.0
        moving.keyframe_insert("location", frame=frame)
    emitter = bpy.data.objects["block 0"].mpm.emitter
    emitter.use_particle_count, emitter.particle_count = True, particles
    scene.mpm.solver.grid_spacing = 2.0 * particles ** (-1.0 / 3.0)
    scene.frame_start, scene.frame_end = 1, READ_FRAMES


def look_at_cache(bpy: Any, found: Seconds, folder: Path) -> None:
    """The work of panels, the timeline and the timer on a long cache, starting with the first check."""
    from mpm_addon.blender.baking import bake_facts, cache_watch, observation, preflight, shown_caches
    from mpm_addon.blender.baking.bake_view import view_of
    from mpm_addon.blender.interface import timeline
    from mpm_addon.blender.interface.panels import graphs
    from mpm_addon.blender.playback import particle_objects
    from mpm_addon.blender.reading.fingerprint import fingerprint

    scene = bpy.context.scene
    scene.mpm.cache = str(folder)
    item = particle_objects.result_object(scene, scene.mpm.cache)
    item.mpm.fingerprint = fingerprint(scene)
    looks = 0
    while looks == 0 or cache_watch.is_reading():
        timed(found, "bake panel", lambda: view_of(bake_facts.facts_of(scene)))
        timed(found, "timer", observation.look)
        looks += 1
        time.sleep(observation.READING_INTERVAL)
    for _ in range(REPEATS):
        timed(found, "bake panel", lambda: view_of(bake_facts.facts_of(scene)))
        timed(found, "timer", observation.look)
        overview, is_outdated = timed(found, "timeline", bake_facts.shown_overview, scene)
        timed(found, "timeline", timeline.strips, overview, (1, 2000), is_outdated=is_outdated)
        timed(found, "statistics, numbers", graphs.curves, overview)
        timed(found, "statistics, picture", graphs.draw_picture, graphs.curves(overview), graphs.SIZE, graphs.SIZE)
        timed(found, "pre-flight panel", preflight.kept_report, scene)
        time.sleep(0.01)
    timed(found, "poses of dynamic colliders", lambda: shown_caches.baked_poses(folder))


def look_at_frames(bpy: Any, found: Seconds, folder: Path) -> None:
    """The work for an arriving frame and for a played frame, and Blender's own evaluation of the points."""
    from mpm_addon.blender.playback import arriving_frames, particle_objects

    scene = bpy.context.scene
    (item,) = particle_objects.result_objects(scene)
    for turn in range(2 * REAL_FRAMES):
        particle_objects.clear(item.data)
        scene.frame_current = 1 + turn % REAL_FRAMES  # without the handlers, as if it arrived while being displayed
        timed(found, "arriving frame, begun", lambda: arriving_frames.begin(scene, folder))
        while timed(found, "arriving frame, shown", arriving_frames.step) is not None:
            time.sleep(arriving_frames.INTERVAL)
        timed(found, "(Blender evaluates the points)", bpy.context.view_layer.update)
    for turn in range(2 * REAL_FRAMES):
        scene.frame_current = 1 + turn % REAL_FRAMES
        timed(found, "played frame", lambda: particle_objects.show(scene))


def watch_bake(bpy: Any, found: Seconds, folder: Path) -> None:
    """A bake from the press of its button until a few frames are finished, as its operator follows it."""
    from mpm_addon.blender.baking import bake_facts, session
    from mpm_addon.blender.baking.bake_view import State, view_of
    from mpm_addon.blender.playback import arriving_frames

    arriving_frames.show = arriving_frames.begin  # as with a window
    scene = bpy.context.scene
    scene.mpm.cache = str(folder)
    for item in scene.objects:
        if item.mpm.type == "collider" and int(item.name.split()[-1]) > COLLIDERS:
            item.mpm.type = "none"
    running = timed(found, "bake button", lambda: session.start(bpy.context))
    while not running.is_finished and running.progress.event.get("done", 0) < BAKED_FRAMES:
        name = {State.READING: "poll, the scene is read", State.BAKING: "poll, frames come"}.get(running.state, "poll, the process starts")
        timed(found, name, running.poll)
        timed(found, "arriving frame, shown", arriving_frames.step)
        timed(found, "bake panel", lambda: view_of(bake_facts.facts_of(scene)))
        time.sleep(TIMER_SECONDS)
    timed(found, "cancel button", session.cancel)
    while not running.is_finished:
        timed(found, "poll, it ends", running.poll)
        time.sleep(TIMER_SECONDS)
    session.end()
    running.raise_outcome() if running.progress.event.get("done", 0) < BAKED_FRAMES else None


def measure(particles: int, frames: int) -> list[dict[str, Any]]:
    """How long Blender's main loop is blocked: the name of each call, and its `numbers`."""
    import bpy

    import mpm_addon

    found: Seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        write_flow(cache, particles, REAL_FRAMES)
        lengthen(cache, frames)
        mpm_addon.register()
        bpy.ops.wm.read_factory_settings(use_empty=True)
        mpm_addon.register()
        fill_scene(bpy, particles)
        look_at_cache(bpy, found, cache)
        look_at_frames(bpy, found, cache)
        watch_bake(bpy, found, Path(folder) / "baked")
        mpm_addon.unregister()
    return [{"call": name, **numbers(each)} for name, each in found.items()]


def numbers(taken: list[tuple[float, float]]) -> dict[str, Any]:
    """The number of calls, the median and maximum of the wall seconds, and the maximum of the CPU seconds."""
    walls, busy = zip(*taken, strict=True)
    return {"times": len(walls), "middle": statistics.median(walls), "worst": max(walls), "cpu": max(busy)}


if __name__ == "__main__":
    answer(measure)
