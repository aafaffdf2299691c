"""Groups: consecutive small runs of one instance share vectors of slots, so that sparse particles do not occupy one vector each.

A group is one run, or several that fit in a chunk together. It starts and ends at a whole vector and lies in one piece of work. Empty
runs belong to any group.
"""

from ..arithmetic.vector import LANE_COUNT
from ..compilation.kernel import kernel
from .scratch import CHUNK


@kernel
def place_runs(counts, instance_count, pieces, first):
    """Assign slots to runs.

    Args:
        counts: (runs,) number of particles in each run.
        instance_count, pieces: see `Runs`.
        first: result, see `Runs`.
    """
    slot, start, last, instance = 0, 0, -1, -1
    for piece in range(pieces.size - 1):
        for run in range(pieces[piece] * instance_count, pieces[piece + 1] * instance_count):
            if counts[run] == 0:
                continue
            if run % instance_count != instance or slot + counts[run] - start > CHUNK or last < pieces[piece] * instance_count:
                slot = -(-slot // LANE_COUNT) * LANE_COUNT
                start, instance = slot, run % instance_count
            first[last + 1 : run + 1] = slot
            slot += counts[run]
            last = run
    first[last + 1 :] = -(-slot // LANE_COUNT) * LANE_COUNT


@kernel
def group_end(runs, instance, block, end):
    """The block after an instance's group that starts with `block`; the group ends at `end` or before it."""
    first = runs.first
    low, high = first[block * runs.instance_count + instance], first[block * runs.instance_count + instance + 1]
    block += 1
    while block < end:
        run = block * runs.instance_count + instance
        if first[run] != high or first[run + 1] - low > CHUNK:
            break
        high = first[run + 1]
        block += 1
    return block
