"""The time and memory of a large scene, a box of sand on a floor: `python -m benchmarks.large PARTICLES THREADS`."""

import resource
from typing import Any

from mpm_addon.core.processor import prepare_numba

from .measuring import answer, timed

FRAMES = 2
FPS = 24.0
# the box's edge [m]
EDGE = 10.0


def measure(particles: int, threads: int) -> dict[str, Any]:
    """The time and memory of a large scene."""
    prepare_numba(threads)
    from mpm_addon.core.geometry.shapes.box import Box
    from mpm_addon.core.laws import LAWS
    from mpm_addon.core.scene.description import Emitter, Material, Scene
    from mpm_addon.core.scene.settings import Domain, Solver, Time

    from .timed_simulation import TimedSimulation, total

    box = Emitter("sand", Box(center=(0.0, 0.0, 0.5 * EDGE), size=(EDGE, EDGE, EDGE)), "sand")
    solver = Solver(grid_spacing=EDGE * (8.0 / particles) ** (1.0 / 3.0))
    floor = Domain(kind="box", min=(-EDGE, -EDGE, 0.0), max=(EDGE, EDGE, 2.0 * EDGE))
    time = Time(fps=FPS, frame_start=1, frame_end=1 + FRAMES)
    scene = Scene("large", solver, {"sand": Material("sand", LAWS["sand"]())}, (box,), domain=floor, time=time)
    made: list[TimedSimulation] = []
    sampled = timed(lambda: made.append(TimedSimulation(scene)))
    frames = [made[0].next_frame() for _ in range(FRAMES)]
    return {
        "particles": made[0].simulation.store.particle_count,
        "threads": threads,
        "sampled": sampled,
        "substeps": sum(frame.statistics.substeps for frame, _ in frames),
        "steps": total([each for _, each in frames]),
        # Linux counts kilobytes
        "peak_bytes": 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


if __name__ == "__main__":
    answer(measure)
