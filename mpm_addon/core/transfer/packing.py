"""Groups: consecutive small runs of one body share vectors of slots, so that sparse particles do not occupy one vector each.

A group is one run, or several that fit in a chunk together. It starts and ends at a whole vector and lies in one piece of work. Empty
runs belong to any group.
"""

from ..arithmetic.vector import LANE_COUNT
from ..compilation.kernel import kernel
from .scratch import CHUNK


@kernel
def place_runs(counts, body_count, pieces, first):
    """Assign slots to runs.

    Args:
        counts: (runs,) number of particles in each run.
        body_count, pieces: see `Runs`.
        first: result, see `Runs`.
    """
    slot, start, last, body = 0, 0, -1, -1
    for piece in range(pieces.size - 1):
        for run in range(pieces[piece] * body_count, pieces[piece + 1] * body_count):
            if counts[run] == 0:
                continue
            if run % body_count != body or slot + counts[run] - start > CHUNK or last < pieces[piece] * body_count:
                slot = -(-slot // LANE_COUNT) * LANE_COUNT
                start, body = slot, run % body_count
            first[last + 1 : run + 1] = slot
            slot += counts[run]
            last = run
    first[last + 1 :] = -(-slot // LANE_COUNT) * LANE_COUNT


@kernel
def group_end(runs, body, block, end):
    """The block after a body's group that starts with `block`; the group ends at `end` or before it."""
    first = runs.first
    low, high = first[block * runs.body_count + body], first[block * runs.body_count + body + 1]
    block += 1
    while block < end:
        run = block * runs.body_count + body
        if first[run] != high or first[run + 1] - low > CHUNK:
            break
        high = first[run + 1]
        block += 1
    return block
