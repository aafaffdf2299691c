"""Sorting particles into blocks again: counted, placed and copied in parallel, always to the same order.

Between two sorts a particle stays in its block or comes into one of those around it. So every block counts what goes where; what comes
into each is added up in order of the blocks' keys; then every particle has a slot of its own. In a run (block, body) particles keep the
order that they had, block after block, and new ones come last. Nothing here depends on the number of threads.
"""

import math

import numpy as np

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .blocks import BLOCK
from .rows import MASS, POSITION, VOLUME

COPY = -1
BEYOND = -2
STRAY = -3


@kernel
def shift_of(position):
    """Where a particle's base node lies now: in the block below (-1), its own (0), the one above (1), or farther away (2)."""
    if position < 0.5:
        return -1 if position >= 0.5 - BLOCK else 2
    if position < BLOCK + 0.5:
        return 0
    return 1 if position < 2 * BLOCK + 0.5 else 2


@parallel_kernel
def count_moves(tickets, table, ids, first, body_count, coordinates, pieces, limits, places, moves, lost):
    """Find the block, among those around its own, that each particle's base node lies in now.

    Args:
        table: (rows, slots); ids: (slots,), -1 for weightless copies.
        first: first slot of each run; coordinates: (blocks, 3); pieces: first block of each piece of work.
        limits: (2, 3) lowest and highest corner [cells].
        places: (slots,) result: number of the block among the 27 (in the plane: 9) around, or COPY, BEYOND (the limits), STRAY.
        moves: (blocks, bodies, 27 or 9) result: how many go there.
        lost: (pieces, 2) results: how many are BEYOND and STRAY.
    """
    is_plane = moves.shape[2] == 9
    for piece in shared(tickets[0], pieces.size - 1, 1):
        beyond, strays = 0, 0
        for block in range(pieces[piece], pieces[piece + 1]):
            for body in range(body_count):
                run = block * body_count + body
                moves[block, body] = 0
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
                    moves[block, body, place] += 1
        lost[piece, 0] = beyond
        lost[piece, 1] = strays


@kernel
def find_goers(moves, goes):
    """Which of the blocks around each block particles go to: goes: (blocks, 27 or 9) result; moves: see `count_moves`."""
    for block in range(moves.shape[0]):
        for place in range(moves.shape[2]):
            goes[block, place] = False
            for body in range(moves.shape[1]):
                goes[block, place] |= moves[block, body, place] > 0


@kernel
def count_arrivals(moves, around, counts):
    """How many particles of each body come into each new block.

    Args:
        moves: see `count_moves`.
        around: (blocks, 27 or 9) number of each block around as a new block, where particles go there.
        counts: (new blocks, bodies) result; 0 before.
    """
    for block in range(moves.shape[0]):
        for body in range(moves.shape[1]):
            for place in range(moves.shape[2]):
                if moves[block, body, place] > 0:
                    counts[around[block, place], body] += moves[block, body, place]


@kernel
def place_arrivals(moves, around, free):
    """Turn the counts of `moves` into the first slot of those who go there, in order of the blocks' keys.

    Args:
        moves: see `count_moves`; changed.
        around: see `count_arrivals`.
        free: (new blocks, bodies) first slot of each new run; changed.
    """
    for block in range(moves.shape[0]):
        for body in range(moves.shape[1]):
            for place in range(moves.shape[2]):
                count = moves[block, body, place]
                if count > 0:
                    moves[block, body, place] = free[around[block, place], body]
                    free[around[block, place], body] += count


@parallel_kernel
def find_origins(tickets, places, first, body_count, pieces, moves, origin):
    """Which old slot every new slot is filled from.

    Args:
        places, first, body_count, pieces: see `count_moves`.
        moves: the first slots from `place_arrivals`; changed.
        origin: (new slots,) result, where a particle comes from an old slot.
    """
    for piece in shared(tickets[0], pieces.size - 1, 1):
        for block in range(pieces[piece], pieces[piece + 1]):
            for body in range(body_count):
                run = block * body_count + body
                for slot in range(first[run], first[run + 1]):
                    place = places[slot]
                    if place >= 0:
                        origin[moves[block, body, place]] = slot
                        moves[block, body, place] += 1


@parallel_kernel
def copy_particles(tickets, table, ids, places, dimension, new_table, new_ids, origin, first, arrived, counts, result, result_ids):
    """Fill every run of `result`: particles that come from old slots, then new ones, then weightless copies of the last.

    Args:
        table: (rows, old slots), positions relative to the old blocks; ids, places: (old slots,).
        dimension: 3 or 2.
        new_table: (rows, new particles), positions relative to their blocks; new_ids: (new particles,).
        origin: (slots,) the old slot, or the new particle, that a slot is filled from.
        first: first slot of each run; arrived, counts: (runs,) particles from old slots, and all particles.
    """
    for run in shared(tickets[0], counts.size, 16):
        low, middle, end, high = first[run], first[run] + arrived[run], first[run] + counts[run], first[run + 1]
        for row in range(result.shape[0]):
            # unsigned, so that numba has no negative index to look out for: this is most of a sort's time
            old, new, filled = table[row], new_table[row], result[row]
            for slot in range(low, middle):
                filled[slot] = old[np.uint32(origin[slot])]
            for slot in range(middle, end):
                filled[slot] = new[np.uint32(origin[slot])]
        side = 3 ** (dimension - 1)
        for slot in range(low, middle):
            place = places[origin[slot]]
            result[POSITION, slot] -= BLOCK * (place // side - 1)
            if dimension == 3:
                result[POSITION + 1, slot] -= BLOCK * (place // 3 % 3 - 1)
            result[POSITION + 2, slot] -= BLOCK * (place % 3 - 1)
            result_ids[slot] = ids[origin[slot]]
        for slot in range(middle, end):
            result_ids[slot] = new_ids[origin[slot]]
        for slot in range(end, high):
            for row in range(result.shape[0]):
                result[row, slot] = result[row, end - 1]
            result[MASS, slot] = 0.0
            result[VOLUME, slot] = 0.0
            result_ids[slot] = -1
