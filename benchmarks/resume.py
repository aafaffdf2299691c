"""What a bake computes before its first step: `python -m benchmarks.resume THREADS [--profile FILE]`.

A solid of a million particles, sampled in a torus, falls onto another torus of 50,000 triangles, 128 cells across. The bake is
stopped after two frames and gone on with. Every start is a process of its own that has imported what it needs before it is measured;
counted are CPU seconds, of all threads, from one event of the bake to the next.
"""

import argparse
import contextlib
import cProfile
import importlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mpm_addon.core.processor import prepare_numba

from .geometry import CELLS, PARTICLES, torus
from .programs import ROOT
from .worker import results_stream, say

COLLIDER = (50_000, 0.4)
EMITTER = (20_000, 0.25)
# how far the emitter begins above the collider [m]
HEIGHT = 0.75
KEPT_FRAMES = 2
TRIES = 3
MODULES = ("numba", "mpm_addon.bake", "mpm_addon.core.stepping.simulation", "mpm_addon.core.advice.preflight")
# the events at which intervals end: what is there is read, it is looked through and kernels are loaded, (of a first start) the
# initial state is written, the first step is taken
MARKS = ("start", "preparing", "frame", "progress")


def write_scene_into(folder: Path) -> Path:
    """Write the scene package; returns its folder."""
    import numpy as np

    from mpm_addon.core.geometry.shapes import Mesh
    from mpm_addon.core.laws import LAWS
    from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
    from mpm_addon.core.scene.settings import CacheSettings, Solver, Time
    from mpm_addon.storage.scene_writer import write_scene

    vertices, triangles = torus(*COLLIDER)
    spacing = float(np.ptp(vertices, axis=0).max()) / CELLS
    above, above_triangles = torus(*EMITTER)
    scene = Scene(
        name="rings",
        time=Time(fps=200, frame_end=10),
        solver=Solver(grid_spacing=spacing),
        materials={"jelly": Material("jelly", LAWS["corotated"]())},
        emitters=(Emitter("Ring", Mesh(above + np.array([0.0, 0.0, HEIGHT]), above_triangles), "jelly"),),
        colliders=(Collider("Tyre", Mesh(vertices, triangles)),),
        cache=CacheSettings(checkpoint_interval=1),
    )
    return write_scene(scene, folder).parent


def begin(scene: Path, cache: Path, profile: str | None) -> dict[str, float]:
    """Bake until the first step is told of; CPU seconds from event to event, and of all."""
    for name in MODULES:
        importlib.import_module(name)
    from mpm_addon.bake import bake
    from mpm_addon.core.errors import Cancelled

    # numba imports it when it first loads a kernel
    importlib.import_module("numba.np.arraymath")
    marks: dict[str, float] = {}

    def note(event: dict[str, Any]) -> None:
        marks.setdefault(event["event"], time.process_time())
        if event["event"] == "progress":
            raise Cancelled("measured")

    def run() -> None:
        with contextlib.suppress(Cancelled):
            bake(scene, cache, on_event=note)

    began = time.process_time()
    if profile is None:
        run()
    else:
        cProfile.runctx("run()", {}, {"run": run}, profile)
    reached = [(name, marks[name]) for name in MARKS if name in marks]
    intervals = zip(reached, [began, *(at for _, at in reached)], strict=False)
    return {name: round(at - before, 3) for (name, at), before in intervals} | {"all": round(reached[-1][1] - began, 3)}


def measure(threads: int, profile: str | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="mpm_bench_") as name:
        folder = Path(name)
        scene, cache = write_scene_into(folder / "scene"), folder / "cache"
        first = [_start(scene, folder / f"first_{number}", threads, None) for number in range(TRIES)]
        command = [sys.executable, "-m", "mpm_addon", "bake", str(scene), "--cache", str(cache), "--frames", f"1-{KEPT_FRAMES}"]
        subprocess.run([*command, "--threads", str(threads)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        again = [_start(scene, cache, threads, None) for _ in range(TRIES)]
        if profile is not None:
            _start(scene, cache, threads, profile)
    return {"threads": threads, "particles": PARTICLES, "first": first, "again": again}


def _start(scene: Path, cache: Path, threads: int, profile: str | None) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.resume", str(threads), "--of", str(scene), str(cache)]
    command += [] if profile is None else ["--profile", profile]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("threads", type=int)
    parser.add_argument("--profile", metavar="FILE", help="also write a profile of one start that goes on")
    parser.add_argument("--of", nargs=2, type=Path, metavar=("SCENE", "CACHE"), help="one start, in this process")
    options = parser.parse_args()
    stream = results_stream()
    prepare_numba(options.threads)
    say(stream, begin(options.of[0], options.of[1], options.profile) if options.of else measure(options.threads, options.profile))


if __name__ == "__main__":
    main()
