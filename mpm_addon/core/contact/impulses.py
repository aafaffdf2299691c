"""Contact with colliders on the grid: at points of their surfaces, and at the nodes deeper inside.

Contact changes the velocity of the material at the surface: at the foot of every node inside with a neighbor outside, by impulses on
the nodes with mass around it. So material comes to rest at the surface itself, wherever it lies between the nodes. Deeper nodes move
with the collider (`deep_nodes`). `surface` finds feet and deep nodes; `feet` solves the contact at the feet.

Lone feet and deep nodes, which share no node with others (`lone_feet`), come first, in any order. The others act collider after collider.
Few are solved by one thread, because threads would wait for one another most of the time. Many are divided into slabs that are solved in
parallel: where nodes around feet change, one color of slabs at a time, so that the result is the same for any number of threads.
"""

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared, wait_for
from ..transfer.blocks import NODE
from .deep_nodes import collide_deep_node, collide_deep_nodes
from .feet import (
    ACTIVE,
    BEHIND,
    STICKY,
    apply_normal_impulses,
    estimate_normal_impulses,
    find_active_feet,
    find_excess,
    find_material,
    find_material_above,
    hold_behind,
    share_momentum,
    solve_foot,
    solve_lone_foot,
    solve_run,
)

# loops over all feet and over the lone ones, and loops for each level of the others
FIRST_LOOPS, LOOPS_PER_LEVEL = 3, 6
# how often contact is solved in a substep at most
ROUNDS = 2
# how many feet or deep nodes a thread takes at once
GRAIN = 128


@parallel_kernel(loops=lambda *arguments: FIRST_LOOPS + LOOPS_PER_LEVEL * arguments[4].levels.size)
def apply_initial_impulses(tickets, nodes, deep, feet, lone, slabs, surfaces, frictions, settling):
    """Apply colliders to the deep nodes, solve the lone feet, find the others with material, and apply estimated normal impulses at these.

    The material above feet is found first: it may be at nodes of other feet, and how it is found must not depend on their order.

    Args:
        nodes: (4 * nodes,) velocity and mass; changed.
        deep: see `DeepNodes`.
        feet: see `Feet`; changed. lone: see `Lone`; changed.
        slabs: see `Slabs`.
        surfaces: (colliders,) STICKY, SLIP or SEPARATE.
        frictions: (colliders, 2) Coulomb coefficients, on solids and on fluids.
        settling: the greatest speed with which material above a surface sinks onto it [m/s].

    Returns:
        Whether a foot that is not lone has material.
    """
    count, pieces = surfaces.size, slabs.cuts.size - 1
    for foot in shared(tickets[0], feet.first[slabs.slab_count * count], GRAIN):
        if nodes[NODE * feet.nodes[foot] + 3] != 0.0:
            find_material_above(nodes, feet, foot)
    wait_for(tickets[0])
    meet_lone(tickets[1:FIRST_LOOPS], nodes, deep, feet, lone, surfaces, frictions, settling)
    if pieces == 1:
        for _ in shared(tickets[FIRST_LOOPS], 1, 1):
            for owner in range(count):
                meet_in_turn(nodes, deep, feet, owner, slabs, surfaces, frictions, settling)
        wait_for(tickets[FIRST_LOOPS])
    else:
        last = 0
        for owner in range(count):
            last = max(last, slabs.levels[owner])
        for level in range(last + 1):
            first = FIRST_LOOPS + LOOPS_PER_LEVEL * level
            meet_level(tickets[first : first + LOOPS_PER_LEVEL], level, nodes, deep, feet, slabs, (surfaces, frictions, settling))
    found = 0
    for run in range(slabs.slab_count * count):
        found += feet.active_end[run] - feet.first[run]
    return found > 0


@generic
def meet_lone(tickets, nodes, deep, feet, lone, surfaces, frictions, settling):
    """Apply colliders to the lone deep nodes, and solve the lone feet; see `apply_initial_impulses`."""
    for each in shared(tickets[0], lone.deep.size, GRAIN):
        owner = lone.deep_owners[each]
        collide_deep_node(nodes, deep, lone.deep[each], surfaces[owner], frictions[owner], feet.counted)
    wait_for(tickets[0])
    for each in shared(tickets[1], lone.feet.size, GRAIN):
        foot, owner = lone.feet[each], lone.owners[each]
        lone.states[each] = find_material(nodes, feet, foot, surfaces[owner], settling)
        if lone.states[each] == BEHIND:
            hold_behind(nodes, feet, foot)
        elif lone.states[each] == ACTIVE:
            solve_lone_foot(nodes, feet, foot, surfaces[owner], frictions[owner, 1] if feet.is_fluid[foot] else frictions[owner, 0])
    wait_for(tickets[1])


@kernel
def meet_in_turn(nodes, deep, feet, owner, slabs, surfaces, frictions, settling):
    """What `apply_initial_impulses` does at the feet and deep nodes of a collider that are not lone, by one thread."""
    count, surface = surfaces.size, surfaces[owner]
    runs = range(owner, slabs.slab_count * count, count)
    for run in runs:
        collide_deep_nodes(nodes, deep, run, surface, frictions[owner], feet.counted)
    for run in runs:
        find_active_feet(nodes, feet, run, surface, settling)
    for run in runs:
        find_excess(nodes, feet, run, surface)
    for run in runs:
        share_momentum(nodes, feet, run)
    for run in runs:
        estimate_normal_impulses(nodes, feet, run, surface)
    if surface != STICKY:
        for run in runs:
            apply_normal_impulses(nodes, feet, run)


@generic
def meet_level(tickets, level, nodes, deep, feet, slabs, contact):
    """What `apply_initial_impulses` does at the feet and deep nodes of the colliders of a level that are not lone, by all threads.

    Args:
        contact: the surfaces, the frictions and the settling of `apply_initial_impulses`.
    """
    surfaces, frictions, settling = contact
    pieces, colors, cuts, levels, count = slabs.cuts.size - 1, slabs.colors, slabs.cuts, slabs.levels, surfaces.size
    for piece in shared(tickets[0], pieces, 1):
        for run in range(cuts[piece] * count, cuts[piece + 1] * count):
            owner = run % count
            if levels[owner] == level:
                collide_deep_nodes(nodes, deep, run, surfaces[owner], frictions[owner], feet.counted)
                find_active_feet(nodes, feet, run, surfaces[owner], settling)
    wait_for(tickets[0])
    for piece in shared(tickets[1], pieces, 1):
        for run in range(cuts[piece] * count, cuts[piece + 1] * count):
            if levels[run % count] == level:
                find_excess(nodes, feet, run, surfaces[run % count])
    wait_for(tickets[1])
    for piece in shared(tickets[2], pieces, 1):
        for run in range(cuts[piece] * count, cuts[piece + 1] * count):
            if levels[run % count] == level:
                share_momentum(nodes, feet, run)
    wait_for(tickets[2])
    for piece in shared(tickets[3], pieces, 1):
        for run in range(cuts[piece] * count, cuts[piece + 1] * count):
            if levels[run % count] == level:
                estimate_normal_impulses(nodes, feet, run, surfaces[run % count])
    wait_for(tickets[3])
    for color in range(2):
        for index in shared(tickets[4 + color], colors[color + 1] - colors[color], 1):
            piece = colors[color] + index
            for run in range(cuts[piece] * count, cuts[piece + 1] * count):
                if levels[run % count] == level and surfaces[run % count] != STICKY:
                    apply_normal_impulses(nodes, feet, run)
        wait_for(tickets[4 + color])


@parallel_kernel(loops=lambda *arguments: 2 * ROUNDS)
def apply_contact_impulses(tickets, nodes, feet, slabs, surfaces, frictions, rounds):
    """Solve the contact at the feet with material that are not lone: correct the velocity at the surfaces of all colliders.

    Args:
        rounds: how often, up to ROUNDS. The rest see `apply_initial_impulses`.
    """
    count = surfaces.size
    for half in range(2 * rounds):
        color = half % 2
        for index in shared(tickets[half], slabs.colors[color + 1] - slabs.colors[color], 1):
            piece = slabs.colors[color] + index
            for run in range(slabs.cuts[piece] * count, slabs.cuts[piece + 1] * count):
                owner = run % count
                solve_run(nodes, feet, run, surfaces[owner], frictions[owner, 0], frictions[owner, 1])
        wait_for(tickets[half])


@parallel_kernel
def solve_lone_feet(tickets, nodes, feet, lone, surfaces, frictions):
    """Correct the velocity at lone feet again, where something else may have changed it since `apply_initial_impulses`."""
    for each in shared(tickets[0], lone.feet.size, GRAIN):
        foot, owner = lone.feet[each], lone.owners[each]
        if lone.states[each] == ACTIVE:
            solve_foot(nodes, feet, foot, surfaces[owner], frictions[owner, 1] if feet.is_fluid[foot] else frictions[owner, 0])
