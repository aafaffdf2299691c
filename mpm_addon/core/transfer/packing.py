"""Groups: small runs of one material that follow one another share vectors of slots, so that particles that are alone in their blocks do
not each take a vector of their own.

A group is one run, or several that together fit in a chunk; it begins and ends at a whole vector, in one piece of work. Runs without
particles belong to any group.
"""

from ..arithmetic.vector import LANE_COUNT
from ..compilation.kernel import kernel
from .scratch import CHUNK


@kernel
def place_runs(counts, body_count, pieces, first):
    """Give every run its first slot.

    Args:
        counts: (runs,) particles of each run (block, body).
        body_count: of all bodies.
        pieces: first block of each piece of work.
        first: (runs + 1,) result: the first slot of each run, and how many slots there are.
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
def group_end(first, body, body_count, block, end):
    """The block behind the group that begins with a block, among those before `end`, for one body."""
    low, high = first[block * body_count + body], first[block * body_count + body + 1]
    block += 1
    while block < end:
        run = block * body_count + body
        if first[run] != high or first[run + 1] - low > CHUNK:
            break
        high = first[run + 1]
        block += 1
    return block
