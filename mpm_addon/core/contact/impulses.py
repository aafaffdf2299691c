"""Contact with colliders on the grid: at points of their surfaces, and at the nodes deeper inside.

Contact changes the velocity of the material at the surface: at the foot of every node inside with a neighbor outside, by impulses on
the nodes with mass around it. So material comes to rest at the surface itself, wherever it lies between the nodes. Deeper nodes move
with the collider (`deep_nodes`). `surface` finds feet and deep nodes; `feet` solves the contact at the feet.

Colliders act one after another. Many feet are divided into slabs that are solved in parallel: where nodes around feet change, one color
of slabs at a time, so that the result is the same for any number of threads.
"""

from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared, wait_for
from .deep_nodes import collide_deep_nodes
from .feet import (
    STICKY,
    apply_normal_impulses,
    estimate_normal_impulses,
    find_active_feet,
    find_excess,
    share_momentum,
    solve_run,
)

# loops for each level in `apply_initial_impulses`
LOOPS_PER_LEVEL = 6


@parallel_kernel(loops=lambda *arguments: LOOPS_PER_LEVEL * arguments[3].levels.size)
def apply_initial_impulses(tickets, nodes, deep, feet, slabs, surfaces, frictions, settling):
    """Apply colliders to the deep nodes, find the feet with material, and apply estimated normal impulses at these.

    Args:
        nodes: (4 * nodes,) velocity and mass; changed.
        deep: see `DeepNodes`.
        feet: see `Feet`; changed.
        slabs: see `Slabs`.
        surfaces: (colliders,) STICKY, SLIP or SEPARATE.
        frictions: (colliders, 2) Coulomb coefficients, on solids and on fluids.
        settling: the greatest speed with which solids above a surface sink onto it [m/s].

    Returns:
        Whether a foot has material.
    """
    pieces, colors, cuts, levels, count = slabs.cuts.size - 1, slabs.colors, slabs.cuts, slabs.levels, surfaces.size
    loop, last = 0, 0
    for owner in range(count):
        last = max(last, levels[owner])
    for level in range(last + 1):
        for piece in shared(tickets[loop], pieces, 1):
            for run in range(cuts[piece] * count, cuts[piece + 1] * count):
                owner = run % count
                if levels[owner] == level:
                    collide_deep_nodes(nodes, deep, run, surfaces[owner], frictions[owner], feet.counted)
                    find_active_feet(nodes, feet, run, settling)
        wait_for(tickets[loop])
        for piece in shared(tickets[loop + 1], pieces, 1):
            for run in range(cuts[piece] * count, cuts[piece + 1] * count):
                if levels[run % count] == level:
                    find_excess(nodes, feet, run, surfaces[run % count])
        wait_for(tickets[loop + 1])
        for piece in shared(tickets[loop + 2], pieces, 1):
            for run in range(cuts[piece] * count, cuts[piece + 1] * count):
                if levels[run % count] == level:
                    share_momentum(nodes, feet, run)
        wait_for(tickets[loop + 2])
        for piece in shared(tickets[loop + 3], pieces, 1):
            for run in range(cuts[piece] * count, cuts[piece + 1] * count):
                if levels[run % count] == level:
                    estimate_normal_impulses(nodes, feet, run, surfaces[run % count])
        wait_for(tickets[loop + 3])
        for color in range(2):
            for index in shared(tickets[loop + 4 + color], colors[color + 1] - colors[color], 1):
                piece = colors[color] + index
                for run in range(cuts[piece] * count, cuts[piece + 1] * count):
                    if levels[run % count] == level and surfaces[run % count] != STICKY:
                        apply_normal_impulses(nodes, feet, run)
            wait_for(tickets[loop + 4 + color])
        loop += LOOPS_PER_LEVEL
    found = 0
    for run in range(slabs.slab_count * count):
        found += feet.active_end[run] - feet.first[run]
    return found > 0


@parallel_kernel(loops=lambda *arguments: 2)
def apply_contact_impulses(tickets, nodes, feet, slabs, surfaces, frictions):
    """Solve the contact at the feet with material: correct the velocity at the surfaces of all colliders.

    Args: see `apply_initial_impulses`.
    """
    count = surfaces.size
    for color in range(2):
        for index in shared(tickets[color], slabs.colors[color + 1] - slabs.colors[color], 1):
            piece = slabs.colors[color] + index
            for run in range(slabs.cuts[piece] * count, slabs.cuts[piece + 1] * count):
                owner = run % count
                solve_run(nodes, feet, run, surfaces[owner], frictions[owner, 0], frictions[owner, 1])
        wait_for(tickets[color])
