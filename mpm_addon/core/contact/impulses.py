"""Contact with colliders on the grid: at points of their surfaces, and at the nodes deeper inside.

Contact changes the velocity of the material at the surface: at the foot of every node inside with a neighbor outside, by impulses on
the nodes with mass around it. So material comes to rest at the surface itself, wherever it lies between the nodes. Deeper nodes move
with the collider. `surface` finds feet and deep nodes; `feet` solves the contact at the feet.

Colliders act one after another. Many feet are divided into slabs that are solved in parallel: where nodes around feet change, one color
of slabs at a time, so that the result is the same for any number of threads.
"""

import math

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared, wait_for
from ..transfer.blocks import NODE
from ..transfer.node_lookup import node_of_place
from .feet import (
    SEPARATE,
    SLIP,
    STICKY,
    apply_normal_impulses,
    estimate_normal_impulses,
    find_active_feet,
    find_excess,
    share_momentum,
    solve_run,
)
from .surface import collider_velocity
from .thin_walls import HELD, STUCK

# loops for each level in `apply_initial_impulses`
LOOPS_PER_LEVEL = 6


@kernel
def contact_velocity(u, v, w, nx, ny, nz, surface, friction):
    """The velocity relative to the collider after contact (Stomakhin et al. 2013, section 8).

    The normal at the start of the substep is used, also on curved surfaces: a particle rises or sinks relative to the surface by an amount
    of second order in the substep, which `collide_particles` corrects.

    Args:
        u, v, w: velocity relative to the collider [m/s].
        nx, ny, nz: unit normal, outward.
        surface: STICKY, SLIP or SEPARATE.
        friction: Coulomb coefficient; only a change of the normal velocity by compression causes friction.
    """
    if surface == STICKY:
        return 0.0, 0.0, 0.0
    normal = u * nx + v * ny + w * nz
    if surface == SEPARATE and normal >= 0.0:
        return u, v, w
    u, v, w = u - normal * nx, v - normal * ny, w - normal * nz
    tangential = math.sqrt(u * u + v * v + w * w)
    if tangential > 0.0:
        kept = max(0.0, 1.0 - friction * max(0.0, -normal) / tangential)
        u, v, w = kept * u, kept * v, kept * w
    return u, v, w


@kernel
def collide_deep_nodes(nodes, deep, run, level_sets, surface, friction_of_solids, friction_of_fluids, filled_mass, counted):
    """Apply a collider to the velocities of the deep nodes of a run; see `apply_initial_impulses`."""
    # fluid could leave a wall of two or three cells on its far side, because separation is allowed there
    far_surface = SLIP if surface == SEPARATE and filled_mass > 0.0 else surface
    normal = level_sets.normal
    block_nodes = normal.shape[1]
    for index in range(deep.first[run], deep.first[run + 1]):
        at = NODE * deep.nodes[index]
        mass = nodes[at + 3]
        if mass == 0.0:
            continue
        counted[deep.rows[index]] = max(mass, filled_mass)
        row, place = deep.rows[index] // block_nodes, deep.rows[index] % block_nodes
        ix, iy, iz = node_of_place(place, block_nodes)
        ou, ov, ow = collider_velocity(level_sets, row, place, ix, iy, iz)
        nx, ny, nz = normal[row, place, 0], normal[row, place, 1], normal[row, place, 2]
        friction = friction_of_fluids if level_sets.is_fluid[level_sets.blocks[row]] else friction_of_solids
        kind = STICKY if surface == STICKY or deep.held[index] == STUCK else SLIP if deep.held[index] == HELD else far_surface
        u, v, w = contact_velocity(nodes[at] - ou, nodes[at + 1] - ov, nodes[at + 2] - ow, nx, ny, nz, kind, friction)
        nodes[at], nodes[at + 1], nodes[at + 2] = u + ou, v + ov, w + ow


@parallel_kernel(loops=lambda *arguments: LOOPS_PER_LEVEL * arguments[3].levels.size)
def apply_initial_impulses(tickets, nodes, deep, feet, slabs, level_sets, surfaces, frictions, filled_mass):
    """Apply colliders to the deep nodes, find the feet with material, and apply estimated normal impulses at these.

    Args:
        nodes: (4 * nodes,) velocity and mass; changed.
        deep: see `DeepNodes`.
        feet: see `Feet`; changed.
        slabs: see `Slabs`.
        level_sets: see `LevelSets`.
        surfaces: (colliders,) STICKY, SLIP or SEPARATE.
        frictions: (colliders, 2) Coulomb coefficients, on solids and on fluids.
        filled_mass: the least effective mass of a node inside [kg].

    Returns:
        Whether a foot has material.
    """
    pieces, colors, cuts, levels, count = slabs.cuts.size - 1, slabs.colors, slabs.cuts, slabs.levels, surfaces.size
    loop = 0
    for level in range(levels.max() + 1):
        for piece in shared(tickets[loop], pieces, 1):
            for run in range(cuts[piece] * count, cuts[piece + 1] * count):
                owner = run % count
                if levels[owner] == level:
                    on_solids, on_fluids = frictions[owner, 0], frictions[owner, 1]
                    collide_deep_nodes(nodes, deep, run, level_sets, surfaces[owner], on_solids, on_fluids, filled_mass, feet.counted)
                    find_active_feet(nodes, feet, run, filled_mass)
        wait_for(tickets[loop])
        for piece in shared(tickets[loop + 1], pieces, 1):
            for run in range(cuts[piece] * count, cuts[piece + 1] * count):
                if levels[run % count] == level:
                    find_excess(nodes, feet, run, surfaces[run % count], filled_mass)
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
