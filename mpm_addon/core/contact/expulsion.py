"""Matter inside an obstacle that has appeared around it: it leaves at a bounded speed, along the normals.

Contact would keep it where it is: it began inside. Pushed to the surface at once, it would be where other matter is already.
"""

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared, wait_for
from ..transfer.blocks import NODE
from ..transfer.node_lookup import node_of_place
from .surface import rigid_velocity


@kernel
def expel_block(node, row, coordinates, distance, normal, velocity, rigid, speed, depth, spacing):
    """One row's part of `expel_nodes`."""
    block_nodes = distance.shape[1]
    for place in range(block_nodes):
        at = NODE * place
        if node[at + 3] == 0.0 or distance[row, place] > -depth * spacing:
            continue
        ix, iy, iz = node_of_place(place, block_nodes)
        if velocity.shape[0] > 0:
            u, v, w = velocity[row, place]
        else:
            u, v, w = rigid_velocity(coordinates, ix, iy, iz, rigid, spacing)
        nx, ny, nz = normal[row, place, 0], normal[row, place, 1], normal[row, place, 2]
        missing = speed - ((node[at] - u) * nx + (node[at + 1] - v) * ny + (node[at + 2] - w) * nz)
        if missing > 0.0:
            node[at] += missing * nx
            node[at + 1] += missing * ny
            node[at + 2] += missing * nz


@parallel_kernel(loops=lambda *arguments: arguments[8].size)
def expel_nodes(tickets, nodes, owners, blocks, node_blocks, distance, normal, velocity, rigid, speeds, depth, spacing):
    """Let matter at the nodes inside move outward with a speed at least.

    Obstacles act one after another, and no two rows of one obstacle share a block.

    Args:
        nodes: (node blocks, 4 * block nodes) velocity and mass; changed.
        owners, blocks, node_blocks, distance, normal, velocity, rigid: see `contact.meet_matter`.
        speeds: (obstacles,) relative to the surface, 0 for none [m/s].
        depth: nodes that lie no deeper are left alone [cells].
    """
    for owner in range(speeds.size):
        if speeds[owner] == 0.0:
            continue
        for row in shared(tickets[owner], owners.size, 16):
            if owners[row] == owner and blocks[row] >= 0:
                block = blocks[row]
                expel_block(nodes[block], row, node_blocks[block], distance, normal, velocity, rigid[owner], speeds[owner], depth, spacing)
        wait_for(tickets[owner])
