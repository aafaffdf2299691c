"""A lean MPM step to compare the solver with, as fast as possible because it supports nothing else. A program to be measured:

`python -m benchmarks.reference '{"law": "water", "particles": 100000}' THREADS`

One dense grid, one material, a fixed step, particles sorted only once, no colliders except the floor of a box: quadratic
MLS-MPM in float32, gathered, advanced and scattered in one pass over chunks of particles. Threads take slabs across x, every
second one at a time, so that no two write to the same node.
"""

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpm_addon.core.processor import prepare_numba

from .measuring import LEAST_CALLS, results_stream, serve_calls
from .scenes import SPACING, Block

# cells around the block, and of a slab
MARGIN = 6
SLAB = 4
DENSITY = 1000.0
TIME_STEP = 1e-4
GRAVITY = -9.81


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


def stepper(law: str, particles: Particles) -> Callable[[int], None]:
    """The compiled step, as a function that takes a number of steps. An even number leaves the velocities in the first grid."""
    from numba import njit, prange

    from mpm_addon.core.arithmetic.vector import flush_tiny, restore_tiny
    from mpm_addon.core.compilation.kernel import register_generic_functions

    from . import reference_laws
    from .reference_transfer import CHUNK, SCRATCH_SIZE, Chunk, Step, gather, move_plane, moved, prepare, scatter

    register_generic_functions()
    advance, width = reference_laws.LAWS[law], reference_laws.WIDTH
    # in cells and seconds, for a cell of material that weighs its density
    step = Step(np.float32(TIME_STEP), DENSITY / 8.0, 4.0 * TIME_STEP / (8.0 * SPACING * SPACING))

    @njit(error_model="numpy", boundscheck=False)
    def pass_slab(particles, slab, source, target, chunk):
        first, count = particles.first[slab], particles.filled[slab]
        for begin in range(first, first + count, CHUNK):
            size = min(first + count - begin, CHUNK)
            for at in range(0, size, width):
                prepare(particles, begin + at, chunk, at)
            for lane in range(size):
                gather(source, particles.cells, chunk, lane)
            for at in range(0, size, width):
                moved(advance, particles, begin + at, chunk, at, step)
            for lane in range(size):
                scatter(target, particles.cells, chunk, lane)

    @njit(parallel=True, error_model="numpy", boundscheck=False)
    def steps(number, particles, grid, spare, scratch, nodes):
        cells = particles.cells
        for _ in range(number):
            for color in range(2):
                for half in prange((particles.first.size + 1 - color) // 2):
                    slab = 2 * half + color
                    before = flush_tiny()
                    pass_slab(particles, slab, grid, spare, Chunk(scratch[slab], nodes[slab]))
                    restore_tiny(before)
            for x in prange(cells):
                move_plane(spare, grid, x, cells, np.float32(TIME_STEP * GRAVITY / SPACING), MARGIN)
            grid, spare = spare, grid

    grid, spare = np.zeros((2, 4 * particles.cells**3 + 64), np.float32)
    slabs = len(particles.first)
    scratch, nodes = np.zeros((slabs, SCRATCH_SIZE), np.float32), np.zeros((slabs, CHUNK), np.int32)
    return lambda number: steps(number, particles, grid, spare, scratch, nodes)


def main(description: dict[str, Any], threads: int) -> None:
    stream = results_stream()
    prepare_numba(threads)
    particles = block(description["law"], description["particles"])
    steps = stepper(description["law"], particles)
    steps(2 * LEAST_CALLS)
    if not np.isfinite(particles.position).all():
        raise SystemExit("the reference became unstable")
    serve_calls(stream, {}, lambda count: steps(2 * count), 2.0 * particles.filled.sum())


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), int(sys.argv[2]))
