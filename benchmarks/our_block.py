"""The solver on a block, as a program to be measured.

`python -m benchmarks.our_block '{"law": "water", "particles": 100000}' THREADS`
"""

import json
import sys

from mpm_addon.core.processor import prepare_numba

from .measuring import Round, results_stream, serve


def main(description: str, threads: int) -> None:
    stream = results_stream()
    prepare_numba(threads)
    from .memory import footprint
    from .scenes import STEPS_PER_FRAME, Block
    from .timed_simulation import TimedSimulation, total

    timed = TimedSimulation(Block(**json.loads(description)).scene())
    # one frame to warm up
    timed.next_frame()
    facts = {
        "particles": timed.simulation.store.particle_count,
        "steps_per_sort": STEPS_PER_FRAME / max(timed.sorts, 1),
        "bytes": footprint(timed.simulation),
    }

    def run_round(seconds: float) -> Round:
        rounds: list[Round] = []
        while sum(each["wall"] for each in rounds) < seconds:
            rounds.append(timed.next_frame()[1])
        return total(rounds)

    serve(stream, facts, run_round)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
