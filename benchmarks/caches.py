"""How small caches are, and how fast Blender plays them.

`python -m benchmarks.caches SCENE FRAMES PRECISION`, or `playback PARTICLES`, which needs bpy.
"""

import dataclasses
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from mpm_addon.bake import bake
from mpm_addon.core.geometry.shapes import Sphere
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import BIRTH, Frame, FrameStatistics
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.settings import CacheSettings, Solver, Time
from mpm_addon.storage import open_cache, presets_folder, read_scene, write_scene
from mpm_addon.storage.cache_writer import CacheWriter

from .measuring import answer, timed

PLAYED_FRAMES = 12
ROUNDS = 4
FPS = 24.0
SPACING = 0.01


def measure(what: str, count: int, precision: str = "") -> dict[str, Any]:
    """The sizes of the first frames of a preset scene; if the first argument is "playback", how fast that many particles play."""
    return measure_playback(count) if what == "playback" else measure_sizes(what, precision, count)


def measure_sizes(name: str, precision: str, frames: int) -> dict[str, Any]:
    """Bytes per particle of a preset scene: per frame, once per particle, and per checkpoint."""
    scene = read_scene(presets_folder() / "scenes" / name)
    last = min(scene.time.frame_end, scene.time.frame_start + frames - 1)
    scene = dataclasses.replace(scene, cache=CacheSettings(precision=precision), time=dataclasses.replace(scene.time, frame_end=last))
    with tempfile.TemporaryDirectory() as folder:
        write_scene(scene, Path(folder) / "scene")
        bake(Path(folder) / "scene", Path(folder) / "cache")
        cache = open_cache(Path(folder) / "cache")
        counts = [row["particles"] for row in cache.statistics()]
        births, checkpoints = (
            [path.stat().st_size / counts[-1] for path in (cache.takes[-1].folder / place).iterdir()] for place in ("births", "checkpoints")
        )
        facts = {"scene": name, "precision": precision, "particles": counts[-1], "frames": len(counts)}
        return {**facts, "frame": cache.size() / sum(counts), "births": sum(births), "state": statistics.mean(checkpoints)}


def measure_playback(particles: int) -> dict[str, Any]:
    """Seconds from one frame to the next in Blender: reading, decoding, and all attributes in the mesh."""
    import bpy

    import mpm_addon
    from mpm_addon.blender.playback import particle_objects

    with tempfile.TemporaryDirectory() as folder:
        size = write_flow(Path(folder), particles)
        mpm_addon.register()
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene: Any = bpy.context.scene
        item = particle_objects.result_object(scene, folder)
        turns = [timed(lambda frame=frame: scene.frame_set(frame)) for _ in range(ROUNDS) for frame in range(1, PLAYED_FRAMES + 1)]
        shown = len(item.data.vertices)
        mpm_addon.unregister()
    if shown != particles:
        raise SystemExit(f"caches: {shown} of {particles} particles were shown")
    # warm-up: the files are read for the first time
    walls, busy = ([turn[key] for turn in turns[PLAYED_FRAMES:]] for key in ("wall", "cpu"))
    seconds = {"wall": statistics.median(walls), "worst": max(walls), "cpu": statistics.median(busy)}
    return {"particles": particles, "frame": size, **seconds}


def write_flow(folder: Path, count: int, frames: int = PLAYED_FRAMES) -> float:
    """Write a cache of swirling particles with various rotations and stresses; returns its bytes per particle and frame."""
    random = np.random.default_rng(0)
    emitter = Emitter("flow", Sphere(radius=1.0), "jelly")
    materials = {"jelly": Material("jelly", LAWS["corotated"]())}
    scene = Scene("flow", Solver(grid_spacing=SPACING), materials, (emitter,), time=Time(fps=FPS, frame_end=frames))
    writer = CacheWriter(folder, scene)
    writer.prepare(scene, restart=False)
    extent = np.cbrt(count / 8.0) * SPACING
    rest = (extent * random.random((count, 3))).astype(np.float32)
    drift = (0.2 * random.standard_normal((count, 3))).astype(np.float32)
    start, turn = random.standard_normal((2, count, 4))
    stress = random.gamma(2.0, 500.0, count)
    indices = np.zeros(count, np.int32)
    births = {"emitter_index": indices, "material_index": indices, "rest_position": rest, BIRTH: np.zeros(count)}
    for number in range(1, frames + 1):
        seconds = (number - 1) / FPS
        rotation = start + seconds * turn
        arrays = {
            "position": rest + np.float32(seconds) * drift,
            "velocity": drift * np.float32(1.0 + 0.1 * seconds),
            "id": np.arange(count, dtype=np.int32),
            "material_index": indices,
            "emitter_index": indices,
            "volume_ratio": (1.0 + 0.02 * np.sin(stress + seconds)).astype(np.float32),
            "stress": (stress * (1.0 + seconds)).astype(np.float32),
            "age": np.full(count, seconds, np.float32),
            "rest_position": rest,
            "rotation": (rotation / np.linalg.norm(rotation, axis=1, keepdims=True)).astype(np.float32),
            "scale": np.full(count, 0.5 * SPACING, np.float32),
        }
        statistics = FrameStatistics(count, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
        writer.write_frame(Frame(number, seconds, arrays, statistics, births=births))
    return open_cache(folder).size() / (count * frames)


if __name__ == "__main__":
    answer(measure)
