"""Expelling material from a collider that has appeared around it, at a bounded speed along the normals.

Contact alone would hold it in place, since it began inside. If it were moved to the surface at once, it would overlap the material there.
"""

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared, wait_for
from ..transfer.blocks import NODE
from ..transfer.node_lookup import node_of_place
from .surface import collider_velocity


@kernel
def expel_block(node, row, level_sets, speed, depth):
    """The part of `expel_nodes` for one row."""
    distance, normal = level_sets.distance, level_sets.normal
    block_nodes = distance.shape[1]
    for place in range(block_nodes):
        at = NODE * place
        if node[at + 3] == 0.0 or distance[row, place] > -depth * level_sets.spacing:
            continue
        ix, iy, iz = node_of_place(place, block_nodes)
        u, v, w = collider_velocity(level_sets, row, place, ix, iy, iz)
        nx, ny, nz = normal[row, place, 0], normal[row, place, 1], normal[row, place, 2]
        missing = speed - ((node[at] - u) * nx + (node[at + 1] - v) * ny + (node[at + 2] - w) * nz)
        if missing > 0.0:
            node[at] += missing * nx
            node[at + 1] += missing * ny
            node[at + 2] += missing * nz


@parallel_kernel(loops=lambda *arguments: arguments[2].size)
def expel_nodes(tickets, nodes, level_sets, speeds, depth):
    """Make the nodes inside colliders move outward with at least a given speed.

    Colliders act one after another; no two rows of one collider share a block.

    Args:
        nodes: (node blocks, 4 * block nodes) velocity and mass; changed.
        level_sets: see `LevelSets`.
        speeds: (colliders,) relative to the surface [m/s], 0 for none.
        depth: nodes no deeper than this are left alone [cells].
    """
    owners, blocks = level_sets.owners, level_sets.blocks
    for owner in range(speeds.size):
        if speeds[owner] == 0.0:
            continue
        for row in shared(tickets[owner], owners.size, 16):
            if owners[row] == owner and blocks[row] >= 0:
                expel_block(nodes[blocks[row]], row, level_sets, speeds[owner], depth)
        wait_for(tickets[owner])
