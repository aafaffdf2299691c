"""Sorting particles into blocks: counting, placing and copying in parallel, with the same result for any number of threads.

Between two sorts a particle stays in its block or moves to one around it. Each block counts the particles that go to each of these; the
arrivals of each block are summed in order of the blocks' keys, which gives every particle a slot. Within a run, particles keep their
previous order, block by block, and new particles come last.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .blocks import BLOCK
from .rows import MASS, POSITION, VOLUME

COPY = -1
BEYOND = -2
STRAY = -3


class Origins(NamedTuple):
    """The particle that fills each slot of a sorted table. Each run holds particles from the old table, then new ones.

    Attributes:
        sources: (slots,) old slot or number of the new particle.
        old_counts: (runs,) number of particles from the old table.
        counts: (runs,) number of all particles; massless copies of the last one fill the other slots.
    """

    sources: NDArray[np.int32]
    old_counts: NDArray[np.int64]
    counts: NDArray[np.int64]


@kernel
def shift_of(position):
    """The block of a particle's base node along an axis: the one below (-1), its own (0), the one above (1), or one farther away (2)."""
    if position < 0.5:
        return -1 if position >= 0.5 - BLOCK else 2
    if position < BLOCK + 0.5:
        return 0
    return 1 if position < 2 * BLOCK + 0.5 else 2


@parallel_kernel
def count_moves(tickets, particles, coordinates, limits, places, moves, lost):
    """Find the block of each particle's base node, among those around its own.

    Args:
        particles: see `Particles`.
        coordinates: (blocks, 3).
        limits: (2, 3) lowest and highest corner [cells].
        places: (slots,) result: number of the block among the 27 (in two dimensions: 9) around, or COPY, BEYOND (the limits), STRAY.
        moves: (blocks, instances, 27 or 9) result: number of particles that go there.
        lost: (pieces, 2) result: number of particles that are BEYOND and STRAY.
    """
    table, ids, (first, pieces, instance_count) = particles
    is_plane = moves.shape[2] == 9
    for piece in shared(tickets[0], pieces.size - 1, 1):
        beyond, strays = 0, 0
        for block in range(pieces[piece], pieces[piece + 1]):
            for instance in range(instance_count):
                run = block * instance_count + instance
                moves[block, instance] = 0
                for slot in range(first[run], first[run + 1]):
                    if ids[slot] < 0:
                        places[slot] = COPY
                        continue
                    x, y, z = table[POSITION, slot], table[POSITION + 1, slot], table[POSITION + 2, slot]
                    if not math.isfinite(x + y + z):
                        places[slot] = STRAY
                        strays += 1
                        continue
                    world_x = x + np.float64(BLOCK * coordinates[block, 0])
                    world_y = y + np.float64(BLOCK * coordinates[block, 1])
                    world_z = z + np.float64(BLOCK * coordinates[block, 2])
                    if not (
                        limits[0, 0] <= world_x <= limits[1, 0]
                        and limits[0, 1] <= world_y <= limits[1, 1]
                        and limits[0, 2] <= world_z <= limits[1, 2]
                    ):
                        places[slot] = BEYOND
                        beyond += 1
                        continue
                    dx, dy, dz = shift_of(x), shift_of(y), shift_of(z)
                    if max(dx, dy, dz) > 1:
                        places[slot] = STRAY
                        strays += 1
                        continue
                    place = (dx + 1) * 3 + dz + 1 if is_plane else ((dx + 1) * 3 + dy + 1) * 3 + dz + 1
                    places[slot] = place
                    moves[block, instance, place] += 1
        lost[piece, 0] = beyond
        lost[piece, 1] = strays


@kernel
def find_goers(moves, goes):
    """Find whether particles go to each of the blocks around a block: `goes` (blocks, 27 or 9); `moves`: see `count_moves`."""
    for block in range(moves.shape[0]):
        for place in range(moves.shape[2]):
            goes[block, place] = False
            for instance in range(moves.shape[1]):
                goes[block, place] |= moves[block, instance, place] > 0


@kernel
def count_arrivals(moves, around, counts):
    """Count the particles of each instance that arrive in each new block.

    Args:
        moves: see `count_moves`.
        around: (blocks, 27 or 9) number of each surrounding block among the new blocks, if particles go there.
        counts: (new blocks, instances) result; must be 0 before.
    """
    for block in range(moves.shape[0]):
        for instance in range(moves.shape[1]):
            for place in range(moves.shape[2]):
                if moves[block, instance, place] > 0:
                    counts[around[block, place], instance] += moves[block, instance, place]


@kernel
def place_arrivals(moves, around, free):
    """Replace the counts in `moves` by the first slot of the particles that go there, in order of the blocks' keys.

    Args:
        moves: see `count_moves`; changed.
        around: see `count_arrivals`.
        free: (new blocks, instances) first slot of each new run; changed.
    """
    for block in range(moves.shape[0]):
        for instance in range(moves.shape[1]):
            for place in range(moves.shape[2]):
                count = moves[block, instance, place]
                if count > 0:
                    moves[block, instance, place] = free[around[block, place], instance]
                    free[around[block, place], instance] += count


@parallel_kernel
def find_origins(tickets, runs, places, moves, sources):
    """Find the old slot that fills each new slot.

    Args:
        runs: the old runs.
        places: see `count_moves`.
        moves: first slots from `place_arrivals`; changed.
        sources: result for particles of the old table, see `Origins`.
    """
    first, pieces, instance_count = runs
    for piece in shared(tickets[0], pieces.size - 1, 1):
        for block in range(pieces[piece], pieces[piece + 1]):
            for instance in range(instance_count):
                run = block * instance_count + instance
                for slot in range(first[run], first[run + 1]):
                    place = places[slot]
                    if place >= 0:
                        sources[moves[block, instance, place]] = slot
                        moves[block, instance, place] += 1


@kernel
def fill_rows(table, sources, low, high, result):
    """Copy the columns `sources` of a table to slots [low, high) of another. This is most of a sort's time."""
    for row in range(result.shape[0]):
        values, filled = table[row], result[row]
        for slot in range(low, high):
            # unsigned, so that numba does not check for negative indices
            filled[slot] = values[np.uint32(sources[slot])]


@parallel_kernel
def copy_particles(tickets, old, new, origins, places, dimension, result):
    """Fill every run of `result`: particles of the old table, then new ones, then massless copies of the last.

    Args:
        old: see `Particles`; positions are relative to the old blocks.
        new: see `NewParticles`.
        origins: see `Origins`.
        places: see `count_moves`.
        dimension: 3 or 2.
        result: the sorted particles, see `Particles`; table and ids are filled.
    """
    sources, old_counts, counts = origins
    old_ids, new_ids = old.ids, new.ids
    table, ids, first = result.table, result.ids, result.runs.first
    for run in shared(tickets[0], counts.size, 16):
        low, middle, end, high = first[run], first[run] + old_counts[run], first[run] + counts[run], first[run + 1]
        fill_rows(old.table, sources, low, middle, table)
        fill_rows(new.table, sources, middle, end, table)
        side = 3 ** (dimension - 1)
        for slot in range(low, middle):
            place = places[sources[slot]]
            table[POSITION, slot] -= BLOCK * (place // side - 1)
            if dimension == 3:
                table[POSITION + 1, slot] -= BLOCK * (place // 3 % 3 - 1)
            table[POSITION + 2, slot] -= BLOCK * (place % 3 - 1)
            ids[slot] = old_ids[sources[slot]]
        for slot in range(middle, end):
            ids[slot] = new_ids[sources[slot]]
        for slot in range(end, high):
            for row in range(table.shape[0]):
                table[row, slot] = table[row, end - 1]
            table[MASS, slot] = 0.0
            table[VOLUME, slot] = 0.0
            ids[slot] = -1
