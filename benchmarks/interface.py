"""How long Blender's main loop waits for us: `python -m benchmarks.interface PARTICLES FRAMES`. Wants bpy.

Every call of ours on Blender's main thread is timed while a bake runs and while what it left is looked at: a cache with a long
journal, a scene with many objects. What Blender itself takes to evaluate and draw the points is timed beside it, and is not ours.
"""

import sys
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
# Frames of the scene that is read before a bake, and frames after which the bake that is watched is cancelled.
READ_FRAMES = 100
BAKED_FRAMES = 2
# Colliders of the bake that is watched; each costs its process a while, and Blender nothing.
COLLIDERS = 3
TIMER_SECONDS = 0.03

# Of each call: wall seconds, and CPU seconds of the main thread: what they would be if nothing else ran.
Seconds = dict[str, list[tuple[float, float]]]


def timed(found: Seconds, name: str, action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What an action returns; how long it took is noted."""
    began, busy = time.perf_counter(), time.thread_time()
    answer = action(*arguments, **options)
    found.setdefault(name, []).append((time.perf_counter() - began, time.thread_time() - busy))
    return answer


def lengthen(folder: Path, frames: int) -> None:
    """Let a cache have more frames: lines in the journal, and files that nobody reads."""
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
    """A scene of many participants, one of them an emitter of so many particles, one that moves."""
    scene = bpy.context.scene
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    for number in range(OBJECTS):
        mesh = bpy.data.meshes.new("block")
        mesh.from_pydata(corners, [], faces)
        item = bpy.data.objects.new(f"block {number}", mesh)
        scene.collection.objects.link(item)
        item.location = (3.0 * (number % 10), 3.0 * (number // 10), 5.0 if number == 0 else 0.0)
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
    """What panels, the timeline and the timer do with a long cache, from the first look on."""
    from mpm_addon.blender.baking import bake_facts, observation, preflight, showing, watching
    from mpm_addon.blender.baking.bake_view import view_of
    from mpm_addon.blender.interface import timeline
    from mpm_addon.blender.interface.panels import graphs
    from mpm_addon.blender.playback import playback
    from mpm_addon.blender.reading.fingerprint import fingerprint

    scene = bpy.context.scene
    scene.mpm.cache = str(folder)
    item = playback.result_object(scene, scene.mpm.cache)
    item.mpm.fingerprint = fingerprint(scene)
    looks = 0
    while looks == 0 or watching.is_reading():
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
    timed(found, "poses of dynamic colliders", lambda: showing.baked_poses(folder))


def look_at_frames(bpy: Any, found: Seconds, folder: Path) -> None:
    """A frame that arrives, one that is played, and what Blender makes of the points."""
    from mpm_addon.blender.playback import arriving, playback

    scene = bpy.context.scene
    (item,) = playback.result_objects(scene)
    for turn in range(2 * REAL_FRAMES):
        playback.clear(item.data)
        scene.frame_current = 1 + turn % REAL_FRAMES  # without the handlers: as if it came while it is looked at
        timed(found, "arriving frame, begun", lambda: arriving.begin(scene, folder))
        while timed(found, "arriving frame, shown", arriving.step) is not None:
            time.sleep(arriving.INTERVAL)
        timed(found, "(Blender evaluates the points)", bpy.context.view_layer.update)
    for turn in range(2 * REAL_FRAMES):
        scene.frame_current = 1 + turn % REAL_FRAMES
        timed(found, "played frame", lambda: playback.show(scene))


def watch_bake(bpy: Any, found: Seconds, folder: Path) -> None:
    """A bake from its button on, as the operator follows it, until a few frames are there."""
    from mpm_addon.blender.baking import bake_facts, session
    from mpm_addon.blender.baking.bake_view import State, view_of
    from mpm_addon.blender.playback import arriving

    arriving.show = arriving.begin  # as with a window
    scene = bpy.context.scene
    scene.mpm.cache = str(folder)
    for item in scene.objects:
        if item.mpm.type == "collider" and int(item.name.split()[-1]) > COLLIDERS:
            item.mpm.type = "none"
    running = timed(found, "bake button", lambda: session.start(bpy.context))
    while not running.is_finished and running.progress.event.get("done", 0) < BAKED_FRAMES:
        name = {State.READING: "poll, the scene is read", State.BAKING: "poll, frames come"}.get(running.state, "poll, the process starts")
        timed(found, name, running.poll)
        timed(found, "arriving frame, shown", arriving.step)
        timed(found, "bake panel", lambda: view_of(bake_facts.facts_of(scene)))
        time.sleep(TIMER_SECONDS)
    timed(found, "cancel button", session.cancel)
    while not running.is_finished:
        timed(found, "poll, it ends", running.poll)
        time.sleep(TIMER_SECONDS)
    session.end()
    running.raise_outcome() if running.progress.event.get("done", 0) < BAKED_FRAMES else None


def measure(particles: str, frames: str) -> list[dict[str, Any]]:
    """The name of each call, and its `numbers`."""
    import bpy

    import mpm_addon

    found: Seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        write_flow(cache, int(particles), REAL_FRAMES)
        lengthen(cache, int(frames))
        mpm_addon.register()
        bpy.ops.wm.read_factory_settings(use_empty=True)
        mpm_addon.register()
        fill_scene(bpy, int(particles))
        look_at_cache(bpy, found, cache)
        look_at_frames(bpy, found, cache)
        show(found)
        watch_bake(bpy, found, Path(folder) / "baked")
        mpm_addon.unregister()
    show(found)
    return [{"call": name, **numbers(each)} for name, each in found.items()]


def numbers(taken: list[tuple[float, float]]) -> dict[str, Any]:
    """How often, the middle and the worst in wall seconds, and the worst in CPU seconds."""
    walls = sorted(wall for wall, _ in taken)
    return {"times": len(walls), "middle": walls[len(walls) // 2], "worst": walls[-1], "cpu": max(busy for _, busy in taken)}


def show(found: Seconds) -> None:
    """Print what was measured so far, the worst first."""
    for name, each in found.items():
        told = numbers(each)
        words = ", ".join(f"{key} {1e3 * told[key]:7.2f} ms" for key in ("middle", "worst", "cpu"))
        print(f"{name:<34} {told['times']:>5} times, {words}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    answer(measure)
