"""The solver on a block, as a program that is measured.

`python -m benchmarks.our_block '{"law": "water", "particles": 100000}' THREADS`
"""

import json
import sys

from mpm_addon.core.processor import prepare_numba

from .worker import Round, results_stream, serve

WARM_UP_FRAMES = 1


def main(description: str, threads: int) -> None:
    stream = results_stream()
    prepare_numba(threads)
    from mpm_addon.core.stepping.simulation import Simulation

    from .memory import footprint
    from .scenes import STEPS_PER_FRAME, Block
    from .stopwatch import Stopwatch, added

    scene = Block(**json.loads(description)).scene()
    stopwatch = Stopwatch()
    simulation = Simulation(scene, report=stopwatch.report)
    frames = simulation.frames()
    next(frames)
    stopwatch.watch(simulation)
    for _ in range(WARM_UP_FRAMES):
        stopwatch.next_frame(frames)
    facts = {
        "particles": simulation.store.particle_count,
        "time_step": scene.solver.time_step,
        "steps_per_sort": WARM_UP_FRAMES * STEPS_PER_FRAME / max(stopwatch.sorts, 1),
        "bytes": footprint(simulation),
    }

    def run_round(seconds: float) -> Round:
        rounds: list[Round] = []
        while sum(each["wall"] for each in rounds) < seconds:
            rounds.append(stopwatch.next_frame(frames)[1])
        return added(rounds)

    serve(stream, facts, run_round)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
