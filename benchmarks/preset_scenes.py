"""A whole preset scene, frame by frame, and its steps beside bare ones: `python -m benchmarks.preset_scenes NAME THREADS [FRAMES]`.

Bare is the scene's own state at a frame, continued to the next frame without colliders and walls: the same particles at
the same places with the same velocities, so that the ratio is the price of the obstacles alone.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mpm_addon.core.processor import prepare_numba

from .worker import Round, results_stream, say

# frames from which the scene is continued with and without obstacles, and how often from each
SNAPSHOTS = 5
TURNS = 2


def main(name: str, threads: int, frame_limit: int) -> None:
    stream = results_stream()
    prepare_numba(threads)
    from mpm_addon.storage import read_scene
    from mpm_addon.storage.installation import presets_folder

    scene = read_scene(presets_folder() / "scenes" / name)
    with tempfile.TemporaryDirectory(prefix="mpm_bench_") as folder:
        whole, snapshots = run_whole(scene, min(frame_limit, len(scene.time.frames)), Path(folder))
        pairs = [run_pair(scene, snapshot, turn) for snapshot in snapshots for turn in range(TURNS)]
    say(stream, {"scene": name, "threads": threads, **whole, "pairs": pairs})


def run_whole(scene: Any, frame_count: int, folder: Path) -> tuple[dict[str, Any], list[Path]]:
    """Run the scene as a bake does, but for writing files; returns its figures, and snapshots on the way."""
    import numpy as np

    from mpm_addon.core.stepping.simulation import Simulation

    from .memory import footprint
    from .stopwatch import Stopwatch, added

    shown = {round(frame_count * (n + 1) / (SNAPSHOTS + 1)) for n in range(SNAPSHOTS)}
    began = time.perf_counter()
    stopwatch = Stopwatch()
    simulation = Simulation(scene, report=stopwatch.report)
    frames = simulation.frames()
    next(frames)
    preparing = time.perf_counter() - began
    stopwatch.watch(simulation)
    before = phases(simulation)
    rounds: list[Round] = []
    snapshots: list[Path] = []
    seconds, substeps = 0.0, 0
    for number in range(2, frame_count + 1):
        began = time.perf_counter()
        frame, its = stopwatch.next_frame(frames)
        seconds += time.perf_counter() - began
        rounds.append(its)
        substeps += frame.statistics.substeps
        if number in shown and number < len(scene.time.frames):
            snapshots.append(folder / f"{number}.npz")
            np.savez(snapshots[-1], **simulation.snapshot())
    after = phases(simulation)
    return {
        "particles": simulation.store.particle_count,
        "frames": frame_count - 1,
        "substeps": substeps,
        "sorts": stopwatch.sorts,
        "preparing_seconds": preparing,
        "frame_seconds": seconds,
        "steps": added(rounds),
        "phases": {phase: after[phase] - before.get(phase, 0.0) for phase in after},
        "peak_bytes": peak_bytes(),
        "bytes": footprint(simulation),
    }, snapshots


def phases(simulation: Any) -> dict[str, float]:
    """Seconds that a simulation has spent so far, by phase."""
    return dict(simulation.seconds)


def peak_bytes() -> float:
    """The most memory that this process has held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def run_pair(scene: Any, path: Path, turn: int) -> dict[str, Any]:
    """One frame from a snapshot on, with the obstacles and without; which comes first changes from turn to turn."""
    import numpy as np

    from mpm_addon.core.stepping.simulation import Simulation

    from .scenes import without_obstacles
    from .stopwatch import Stopwatch

    rounds: dict[str, Round] = {}
    kinds = {"scene": scene, "bare": without_obstacles(scene)}
    for kind in sorted(kinds, reverse=turn % 2 == 0):
        stopwatch = Stopwatch()
        with np.load(path) as snapshot:
            simulation = Simulation(kinds[kind], snapshot=dict(snapshot), report=stopwatch.report)
        rounds[kind] = stopwatch.next_frame(simulation.frames())[1]
    return {"frame": int(path.stem), **rounds}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else sys.maxsize)
