"""A whole preset scene, frame by frame, and its steps compared with bare ones: `python -m benchmarks.preset_scenes NAME THREADS FRAMES`.

Or a box of sand with this many particles, without bare steps: `python -m benchmarks.preset_scenes sand THREADS FRAMES PARTICLES`.

Bare means the scene's own state at a frame, continued to the next frame without colliders and walls. The particles start with the same
positions and velocities, so that the ratio is the cost of the colliders alone.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mpm_addon.core.processor import prepare_numba

from .measuring import answer, timed

# frames from which the scene continues with and without colliders, and the number of repetitions
SNAPSHOTS = 5
TURNS = 2


def measure(name: str, threads: int, frame_limit: int, particles: int = 0) -> dict[str, Any]:
    """A whole preset scene, and pairs of frames with colliders and without; or a box of sand with this many particles."""
    prepare_numba(threads)
    from mpm_addon.storage import presets_folder, read_scene

    from .scenes import box_of_sand

    scene = box_of_sand(particles) if particles else read_scene(presets_folder() / "scenes" / name)
    snapshot_count = 0 if particles else SNAPSHOTS
    with tempfile.TemporaryDirectory(prefix="mpm_bench_") as folder:
        whole, snapshots = run_whole(scene, min(frame_limit, len(scene.time.frames)), snapshot_count, Path(folder))
        pairs = [run_pair(scene, snapshot, turn) for snapshot in snapshots for turn in range(TURNS)]
    return {"scene": name, "threads": threads, **whole, "pairs": pairs}


def run_whole(scene: Any, frame_count: int, snapshot_count: int, folder: Path) -> tuple[dict[str, Any], list[Path]]:
    """Run the scene like a bake that writes no files; returns its figures, and snapshots taken along the way."""
    import numpy as np

    from .memory import footprint
    from .timed_simulation import TimedSimulation, total

    made: list[TimedSimulation] = []
    sampled = timed(lambda: made.append(TimedSimulation(scene)))
    (running,) = made
    simulation, before = running.simulation, dict(running.simulation.seconds)
    snapshot_frames = {round(frame_count * (n + 1) / (snapshot_count + 1)) for n in range(snapshot_count)}
    rounds, snapshots, substeps, seconds = [], [], 0, 0.0
    for number in range(2, frame_count + 1):
        began = time.perf_counter()
        frame, steps = running.next_frame()
        seconds += time.perf_counter() - began
        rounds.append(steps)
        substeps += frame.statistics.substeps
        if number in snapshot_frames and number < len(scene.time.frames):
            snapshots.append(folder / f"{number}.npz")
            np.savez(snapshots[-1], **simulation.snapshot())
    return {
        "particles": simulation.store.particle_count,
        "frames": frame_count - 1,
        "substeps": substeps,
        "sorts": running.sorts,
        "sampled": sampled,
        "frame_seconds": seconds,
        "steps": total(rounds),
        "phases": {phase: seconds - before.get(phase, 0.0) for phase, seconds in simulation.seconds.items()},
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "bytes": footprint(simulation),
    }, snapshots


def run_pair(scene: Any, path: Path, turn: int) -> dict[str, Any]:
    """One frame after a snapshot, with colliders and without; the order alternates."""
    import numpy as np

    from .scenes import without_obstacles
    from .timed_simulation import TimedSimulation

    kinds = {"scene": scene, "bare": without_obstacles(scene)}
    rounds = {}
    for kind in sorted(kinds, reverse=turn % 2 == 0):
        with np.load(path) as snapshot:
            rounds[kind] = TimedSimulation(kinds[kind], dict(snapshot)).next_frame()[1]
    return {"frame": int(path.stem), **rounds}


if __name__ == "__main__":
    answer(measure)
