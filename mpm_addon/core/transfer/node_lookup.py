"""Finding a node's block and its place in it, from its coordinates relative to a nearby block."""

from ..compilation.kernel import kernel
from .blocks import BLOCK, BLOCK_BITS, NEIGHBORS


@kernel
def neighbor_of_node(ix, iy, iz, neighbors):
    """The block among a block's neighbors that contains a node, given relative to that block's origin; -1 for none."""
    # shifts and masks for speed: this runs for eight corners of every particle near a collider
    bx, bz = ix + BLOCK >> BLOCK_BITS, iz + BLOCK >> BLOCK_BITS
    if neighbors.size == NEIGHBORS:
        return neighbors[(bx * 3 + (iy + BLOCK >> BLOCK_BITS)) * 3 + bz]
    return neighbors[bx * 3 + bz]


@kernel
def corner_place(ix, iy, iz, neighbors):
    """The place of a node in its block."""
    if neighbors.size == NEIGHBORS:
        return ((ix & BLOCK - 1) * BLOCK + (iy & BLOCK - 1)) * BLOCK + (iz & BLOCK - 1)
    return (ix & BLOCK - 1) * BLOCK + (iz & BLOCK - 1)


@kernel
def node_of_place(place, block_nodes):
    """The coordinates of a place in its block; in two dimensions all nodes lie at the top, y = 0."""
    if block_nodes == BLOCK * BLOCK:
        return place // BLOCK, BLOCK, place % BLOCK
    return place // (BLOCK * BLOCK), place // BLOCK % BLOCK, place % BLOCK
