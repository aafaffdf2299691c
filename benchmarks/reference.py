"""A lean MPM step, to be compared with: what is fast when nothing else is asked for. A program that is measured:

`python -m benchmarks.reference '{"law": "water", "particles": 100000}' THREADS`

One dense grid, one material, a fixed step, particles sorted once and for all, no obstacles but the floor of a box: quadratic
MLS-MPM in float32, gathered, advanced and scattered in one pass over chunks of particles. Threads take slabs across x, of which
every second one is done at a time, so that no two write to a node.
"""

import json
import sys
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpm_addon.cli import prepare_numba

from .scenes import SPACING, Block
from .worker import Round, results_stream, serve

CHUNK = 64
# cells around the block, and of a slab
MARGIN = 6
SLAB = 4
DENSITY = 1000.0
TIME_STEP = 1e-4
GRAVITY = -9.81
LEAST_STEPS = 4


class Particles(NamedTuple):
    """Particles sorted by slabs and cells.

    Attributes:
        position: (3, n) [cells]; state: (numbers of the law, n).
        first: first particle of each slab, whole vectors apart; filled: particles of each.
        cells: along the edge of the grid.
    """

    position: NDArray[np.float32]
    state: NDArray[np.float32]
    first: NDArray[np.int64]
    filled: NDArray[np.int64]
    cells: int


def block(law: str, particles: int) -> Particles:
    """A cube of particles at rest on the floor (z is up), 8 in a cell."""
    from .reference_laws import STATES, WIDTH

    edge = Block(law, particles).edge
    cells = edge + 2 * MARGIN
    corner = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    inside = np.stack(np.meshgrid(*[(0.25, 0.75)] * 3, indexing="ij"), axis=-1).reshape(1, 8, 3)
    positions = (corner + inside).reshape(-1, 3) + MARGIN
    slab = corner[:, 0, 0].repeat(8) // SLAB
    count = np.bincount(slab)
    first = np.concatenate([[0], np.cumsum(-(-count // WIDTH) * WIDTH)])
    slots = first[slab] + np.arange(len(slab)) - np.concatenate([[0], np.cumsum(count)])[slab]
    size, ones = STATES[law]
    position = np.full((3, first[-1]), MARGIN + 0.5, np.float32)
    position[:, slots] = positions.T
    state = np.zeros((size, first[-1]), np.float32)
    state[list(ones)] = 1.0
    return Particles(position, state, first[:-1], count, cells)


def stepper(law: str) -> Any:
    """The compiled step: steps(count, position, state, first, particle counts, cells, grid, spare grid, scratch, index)."""
    from numba import njit, prange

    from mpm_addon.core.arithmetic.vector import flush_tiny, restore_tiny
    from mpm_addon.core.compilation.kernel import teach_generic_functions

    from . import reference_laws, reference_transfer

    teach_generic_functions()
    advance = reference_laws.LAWS[law]
    prepare, gather, scatter = reference_transfer.prepare, reference_transfer.gather, reference_transfer.scatter
    moved, move_plane = reference_transfer.moved, reference_transfer.move_plane
    width, mass = reference_laws.WIDTH, DENSITY / 8.0
    # in cells and seconds, for a cell of matter that weighs its density
    force = 4.0 * TIME_STEP / (8.0 * SPACING * SPACING)

    @njit(error_model="numpy", boundscheck=False)
    def pass_slab(position, state, first, count, cells, source, target, scratch, index):
        for begin in range(first, first + count, CHUNK):
            size = min(first + count - begin, CHUNK)
            for at in range(0, size, width):
                prepare(position, begin + at, cells, scratch, index, at)
            for lane in range(size):
                gather(source, cells, scratch, index, lane)
            for at in range(0, size, width):
                moved(advance, position, state, begin + at, cells, scratch, index, at, np.float32(TIME_STEP), mass, force)
            for lane in range(size):
                scatter(target, cells, scratch, index, lane)

    @njit(parallel=True, error_model="numpy", boundscheck=False)
    def steps(number, position, state, first, count, cells, grid, spare, scratch, index):
        for _ in range(number):
            for colour in range(2):
                for half in prange((first.size + 1 - colour) // 2):
                    slab = 2 * half + colour
                    before = flush_tiny()
                    pass_slab(position, state, first[slab], count[slab], cells, grid, spare, scratch[slab], index[slab])
                    restore_tiny(before)
            for x in prange(cells):
                move_plane(spare, grid, x, cells, np.float32(TIME_STEP * GRAVITY / SPACING), MARGIN)
            grid, spare = spare, grid

    return steps


def main(description: dict[str, Any], threads: int) -> None:
    stream = results_stream()
    prepare_numba(threads)
    from .reference_transfer import SCRATCH_SIZE

    particles = block(description["law"], description["particles"])
    total = int(particles.filled.sum())
    steps = stepper(description["law"])
    slabs = len(particles.first)
    grid, spare = np.zeros((2, 4 * particles.cells**3 + 64), np.float32)
    scratch, index = np.zeros((slabs, SCRATCH_SIZE), np.float32), np.zeros((slabs, CHUNK), np.int32)

    def run(count: int) -> Round:
        began_wall, began_cpu = time.perf_counter(), time.process_time()
        # an even number of steps leaves the velocities where they were
        steps(2 * count, *particles, grid, spare, scratch, index)
        wall, cpu = time.perf_counter() - began_wall, time.process_time() - began_cpu
        return {"particle_steps": 2.0 * count * total, "wall": wall, "cpu": cpu}

    run(1)
    each = run(LEAST_STEPS)["wall"] / LEAST_STEPS
    if not np.isfinite(particles.position).all():
        raise SystemExit("the reference became unstable")
    serve(stream, {"particles": total, "time_step": TIME_STEP}, lambda seconds: run(max(LEAST_STEPS, round(seconds / each))))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), int(sys.argv[2]))
