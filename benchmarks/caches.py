"""How small caches are, and how fast Blender plays them: `python -m benchmarks.caches sizes SCENE PRECISION FRAMES` and
`python -m benchmarks.caches playback PARTICLES`. The second wants bpy.
"""

import dataclasses
import functools
import operator
import os
import sys
import tempfile
import time
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

from .worker import results_stream, say

PLAYED_FRAMES = 12
ROUNDS = 4
FPS = 24.0
SPACING = 0.01


def measure_sizes(name: str, precision: str, frames: int) -> dict[str, Any]:
    """Bytes a particle-frame of a preset scene, and of what stands beside the frames a particle."""
    scene = read_scene(presets_folder() / "scenes" / name)
    last = min(scene.time.frame_end, scene.time.frame_start + frames - 1)
    scene = dataclasses.replace(scene, cache=CacheSettings(precision=precision), time=dataclasses.replace(scene.time, frame_end=last))
    with tempfile.TemporaryDirectory() as folder:
        write_scene(scene, Path(folder) / "scene")
        bake(Path(folder) / "scene", Path(folder) / "cache")
        cache = open_cache(Path(folder) / "cache")
        take = cache.takes[-1].folder
        counts = [row["particles"] for row in cache.statistics()]
        sizes = {place: sum(path.stat().st_size for path in (take / place).iterdir()) for place in ("births", "checkpoints")}
        states = len(list((take / "checkpoints").iterdir()))
        return {
            "scene": name,
            "precision": precision,
            "particles": counts[-1],
            "frames": len(counts),
            "frame": cache.size() / sum(counts),
            "births": sizes["births"] / counts[-1],
            "state": sizes["checkpoints"] / counts[-1] / states,
        }


def measure_playback(particles: int) -> dict[str, Any]:
    """Seconds from one frame to the next in Blender: reading, decoding, and all attributes in the mesh."""
    import bpy

    import mpm_addon
    from mpm_addon.blender.playback import playback

    with tempfile.TemporaryDirectory() as folder:
        size = write_flow(Path(folder), particles)
        mpm_addon.register()
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene = bpy.context.scene
        item = playback.result_object(scene, folder)
        tries = [played(scene) for _ in range(ROUNDS)]
        shown = len(item.data.vertices)
        mpm_addon.unregister()
    if shown != particles:
        raise SystemExit(f"caches: {shown} of {particles} particles were shown")
    # the first round reads the files for the first time
    walls = sorted(wall for wall, _ in functools.reduce(operator.iadd, tries[1:], []))
    busy = sorted(cpu for _, cpu in functools.reduce(operator.iadd, tries[1:], []))
    middle = len(walls) // 2
    return {"particles": particles, "frame": size, "wall": walls[middle], "worst": walls[-1], "cpu": busy[middle]}


def played(scene: Any) -> list[tuple[float, float]]:
    """Wall and CPU seconds of each frame change."""
    seconds = []
    for frame in range(1, PLAYED_FRAMES + 1):
        wall, busy = time.perf_counter(), time.process_time()
        scene.frame_set(frame)
        seconds.append((time.perf_counter() - wall, time.process_time() - busy))
    return seconds


def write_flow(folder: Path, count: int, frames: int = PLAYED_FRAMES) -> float:
    """A cache of particles that swirl, with rotations and stresses of their own; returns its bytes a particle-frame."""
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
            "density_ratio": (1.0 + 0.02 * np.sin(stress + seconds)).astype(np.float32),
            "stress": (stress * (1.0 + seconds)).astype(np.float32),
            "age": np.full(count, seconds, np.float32),
            "rest_position": rest,
            "rotation": (rotation / np.linalg.norm(rotation, axis=1, keepdims=True)).astype(np.float32),
            "scale": np.full(count, 0.5 * SPACING, np.float32),
        }
        statistics = FrameStatistics(count, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
        writer.write_frame(Frame(number, seconds, arrays, statistics, births=births))
    return open_cache(folder).size() / (count * frames)


def main(task: str, *arguments: str) -> None:
    stream = results_stream()
    if task == "sizes":
        name, precision, frames = arguments
        say(stream, measure_sizes(name, precision, int(frames)))
    else:
        say(stream, measure_playback(int(arguments[0])))
        # some releases of bpy do not come to their end by themselves
        stream.flush()
        os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
