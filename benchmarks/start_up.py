"""How long a bake takes to start: seconds until `python -m mpm_addon bake` reports its first step and writes its first frame.

Two scenes are measured, once without compiled kernels and several times with them, and a larger one, whose bake is then resumed.
"""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from mpm_addon.core.geometry.shapes import Mesh
from mpm_addon.core.laws import LAWS
from mpm_addon.core.processor import LEVEL_VARIABLE
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.scene.settings import CacheSettings, Solver, Time
from mpm_addon.storage.scene_writer import write_scene

from .geometry import spacing_of, torus
from .programs import OURS, ROOT, BenchmarkError
from .scenes import all_laws

SCENES = ("four_materials", "all_laws")
# The timed marks: the first reported step, and the first frame after the initial one.
MARKS = ("first_progress", "first_frame")
# The resumed scene: triangles and tube radii of the collider and of the emitter above it, and the gap between them [m].
COLLIDER, EMITTER, HEIGHT = (50_000, 0.4), (20_000, 0.25), 0.75


def measure(scene: str, level: str, threads: int, tries: int) -> dict[str, Any]:
    """Seconds to each mark at a processor level, once without compiled kernels and several times with them."""
    with tempfile.TemporaryDirectory(prefix="mpm_bench_") as name:
        folder = Path(name)
        source = write_scene(all_laws(), folder / scene) if scene == "all_laws" else ROOT / "presets" / "scenes" / scene
        variables = {"NUMBA_CACHE_DIR": str(folder / "kernels"), LEVEL_VARIABLE: level}
        runs = [begin(source, folder / f"cache_{number}", threads, variables) for number in range(1 + tries)]
        size = sum(path.stat().st_size for path in (folder / "kernels").rglob("*") if path.is_file())
    return {"scene": scene, "level": level, "threads": threads, "cold": runs[0], "warm": runs[1:], "kernel_bytes": size}


def measure_resume(threads: int, tries: int) -> dict[str, Any]:
    """Seconds to each mark of a solid of a million particles above a mesh, from the beginning and resumed, with compiled kernels."""
    with tempfile.TemporaryDirectory(prefix="mpm_bench_") as name:
        source = write_scene(rings(), Path(name) / "rings")
        # the first run compiles missing kernels, and leaves two frames
        caches = [Path(name) / f"cache_{number}" for number in range(1 + tries)]
        first = [begin(source, cache, threads) for cache in caches]
        resumed = [begin(source, cache, threads) for cache in caches]
    return {"threads": threads, "first": first[1:], "resumed": resumed[1:]}


def rings() -> Scene:
    """A torus of jelly falls onto another torus."""
    vertices, triangles = torus(*COLLIDER)
    above, above_triangles = torus(*EMITTER)
    return Scene(
        name="rings",
        time=Time(fps=200, frame_end=10),
        solver=Solver(grid_spacing=spacing_of(vertices)),
        materials={"jelly": Material("jelly", LAWS["corotated"]())},
        emitters=(Emitter("Ring", Mesh(above + np.array([0.0, 0.0, HEIGHT]), above_triangles), "jelly"),),
        colliders=(Collider("Tire", Mesh(vertices, triangles)),),
        cache=CacheSettings(checkpoint_interval=1),
    )


def begin(source: Path, cache: Path, threads: int, variables: dict[str, str] | None = None) -> dict[str, float]:
    """Start or resume a bake and stop it at the last mark.

    Returns:
        The seconds to each mark, and "cpu", the CPU seconds of all processes until the first step is reported.

    Raises:
        BenchmarkError: the bake ended earlier.
    """
    command = [str(OURS), "-m", "mpm_addon", "bake", str(source), "--cache", str(cache), "--threads", str(threads), "--json"]
    environment, pipe = os.environ | (variables or {}), subprocess.PIPE
    is_resumed = cache.exists()
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    frames = int(is_resumed)
    for line in process.stdout:
        now, kind = time.perf_counter() - began, json.loads(line)["event"]
        frames += kind == "frame"
        if kind == "progress" and "first_progress" not in seconds:
            seconds |= {"first_progress": now, "cpu": cpu_seconds(process.pid)}
        # the initial state is a frame too
        if frames == 2:
            seconds["first_frame"] = now
            process.terminate()
            break
    process.communicate()
    if set(seconds) != {*MARKS, "cpu"}:
        raise BenchmarkError(f"the bake of {source.name} ended before its second frame")
    return seconds


def cpu_seconds(process: int) -> float:
    """The CPU seconds of a process so far, including children that have ended. Raises BenchmarkError without /proc."""
    try:
        words = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError as error:
        raise BenchmarkError(f"the CPU seconds of a process are read from /proc, which this system lacks ({error.strerror})") from error
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
