"""Contact with obstacles on the grid: at points of their surface, and at the nodes farther inside.

The velocity that matter has at the surface is what contact changes: at the foot of every node that lies inside next to one outside,
with impulses on the nodes with matter around it. So matter comes to rest at the surface itself, wherever between two nodes that lies.
Nodes farther inside move with the obstacle. See `surface` for what is known of obstacles, and `feet` for what happens at the feet.

Obstacles act one after another. Where there are many feet, their slabs are gone through in parallel: those of one colour at a time
where nodes around feet change, for the same result on any number of threads.
"""

import math

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared, wait_for
from ..transfer.blocks import NODE
from ..transfer.node_lookup import node_of_place
from .feet import SEPARATE, SLIP, STICKY, collide_run, find_excess, meet_run, press_run, push_run, share_run
from .surface import rigid_velocity

# in `meet_matter`
LOOPS_PER_OWNER = 6


@kernel
def contact_velocity(u, v, w, nx, ny, nz, surface, friction):
    """The velocity relative to the obstacle after contact (Stomakhin et al. 2013, section 8).

    The normal at the start of the step decides, also where the surface is curved: what a particle gains on the surface within
    one step is second order in the step, and `collide_particles` takes it back.

    Args:
        u, v, w: velocity relative to the obstacle [m/s].
        nx, ny, nz: unit normal, outward.
        surface: STICKY, SLIP or SEPARATE.
        friction: Coulomb coefficient; only a compressive change of the normal velocity rubs.
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
def collide_deep(nodes, deep, run, owner, blocks, node_blocks, normal, velocity, surface, friction, rigid, spacing, filled_mass, counted):
    """Apply an obstacle to the velocities of the deep nodes of a run; see `meet_matter`."""
    # through a wall of two or three cells a fluid would leave by the far side's nodes, which it may move away
    far_surface = SLIP if surface == SEPARATE and filled_mass > 0.0 else surface
    block_nodes = normal.shape[1]
    for index in range(deep.first[run], deep.first[run + 1]):
        at = NODE * deep.nodes[index]
        mass = nodes[at + 3]
        if mass == 0.0:
            continue
        counted[deep.rows[index]] = max(mass, filled_mass)
        row, place = deep.rows[index] // block_nodes, deep.rows[index] % block_nodes
        if velocity.shape[0] > 0:
            ou, ov, ow = velocity[row, place]
        else:
            ix, iy, iz = node_of_place(place, block_nodes)
            ou, ov, ow = rigid_velocity(node_blocks[blocks[row]], ix, iy, iz, rigid[owner], spacing)
        nx, ny, nz = normal[row, place, 0], normal[row, place, 1], normal[row, place, 2]
        u, v, w = contact_velocity(nodes[at] - ou, nodes[at + 1] - ov, nodes[at + 2] - ow, nx, ny, nz, far_surface, friction)
        nodes[at], nodes[at + 1], nodes[at + 2] = u + ou, v + ov, w + ow


@kernel
def meet_owner(
    nodes, deep, feet, run, owner, blocks, node_blocks, normal, velocity, surface, friction, rigid, spacing, filled_mass
):  # fmt: skip
    """Apply an obstacle to the deep nodes of a run, and find the feet with matter; see `meet_matter`."""
    collide_deep(
        nodes, deep, run, owner, blocks, node_blocks, normal, velocity, surface, friction, rigid, spacing, filled_mass, feet.counted
    )
    meet_run(nodes, feet, run, filled_mass)


@parallel_kernel(loops=lambda *arguments: LOOPS_PER_OWNER * arguments[8].size)
def meet_matter(
    tickets, nodes, deep, feet, colours, blocks, node_blocks, normal, velocity, surfaces, frictions, rigid, spacing, filled_mass,
):  # fmt: skip
    """Apply obstacles to the deep nodes, find the feet with matter, and press evenly at them.

    Args:
        nodes: (4 * nodes,) velocity and mass; changed.
        deep: see `Deep`; feet: see `Feet`, changed.
        colours: (3,) the first slab of each of the two colours, and the number of slabs.
        blocks: (rows,) node block of each row; node_blocks: (node blocks, 3) block coordinates.
        normal: (rows, block nodes, 3) unit, outward; velocity: see `surface.place_feet`.
        surfaces: (obstacles,) STICKY, SLIP or SEPARATE; frictions: (obstacles,) Coulomb coefficients.
        rigid: (obstacles, 9) velocity of each origin [m/s], angular velocity [rad/s], origin [m].
        filled_mass: the least mass with which a node inside counts [kg].

    Returns:
        Whether a foot has matter.
    """
    count = surfaces.size
    slabs = colours[2]
    loop = 0
    is_found = False
    for owner in range(count):
        surface, friction = surfaces[owner], frictions[owner]
        for slab in shared(tickets[loop], slabs, 1):
            meet_owner(
                nodes, deep, feet, slab * count + owner, owner, blocks, node_blocks, normal, velocity, surface, friction, rigid,
                spacing, filled_mass,
            )  # fmt: skip
        wait_for(tickets[loop])
        found = 0
        for slab in range(slabs):
            found += feet.active_end[slab * count + owner] - feet.first[slab * count + owner]
        if found > 0:
            is_found = True
            for slab in shared(tickets[loop + 1], slabs, 1):
                find_excess(nodes, feet, slab * count + owner, surface)
            wait_for(tickets[loop + 1])
            for slab in shared(tickets[loop + 2], slabs, 1):
                share_run(nodes, feet, slab * count + owner)
            wait_for(tickets[loop + 2])
            for slab in shared(tickets[loop + 3], slabs, 1):
                press_run(nodes, feet, slab * count + owner, surface)
            wait_for(tickets[loop + 3])
            if surface != STICKY:
                for colour in range(2):
                    for index in shared(tickets[loop + 4 + colour], colours[colour + 1] - colours[colour], 1):
                        push_run(nodes, feet, (colours[colour] + index) * count + owner)
                    wait_for(tickets[loop + 4 + colour])
        loop += LOOPS_PER_OWNER
    return is_found


@parallel_kernel(loops=lambda *arguments: 2)
def collide_feet(tickets, nodes, feet, colours, surfaces, frictions):
    """Apply obstacles to the velocity that matter has at their surfaces, at the foot of every node next to one.

    Args: see `meet_matter`.
    """
    count = surfaces.size
    for colour in range(2):
        for index in shared(tickets[colour], colours[colour + 1] - colours[colour], 1):
            for owner in range(count):
                collide_run(nodes, feet, (colours[colour] + index) * count + owner, surfaces[owner], frictions[owner])
        wait_for(tickets[colour])


@kernel
def fill_nodes(nodes, inside, filling):
    """Give nodes inside obstacles at least the mass `filling` [kg]: to the density that particles gather they are full of matter."""
    for index in range(inside.size):
        at = NODE * inside[index] + 3
        nodes[at] = max(nodes[at], filling)
