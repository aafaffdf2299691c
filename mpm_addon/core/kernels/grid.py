"""The grid's own step: the blocks' arenas summed into nodes, momentum to velocity, gravity. See `blocks` for the layout."""

from .arithmetic import absolute, constant, generic, maximum, select
from .blocks import ARENA, BLOCK, NEIGHBOURS, NODE
from .extent import extent
from .team import parallel_kernel
from .tickets import shared
from .vector import largest, load, shuffled, store

# a row of nodes in a block; an arena's row is twice as long
ROW = NODE * BLOCK


@generic
def overlap(offset, begin, end):
    """The nodes [low, high) of a node block that touched nodes [begin, end) of the arena of the block at `offset` are, and what to add
    for the arena's own count."""
    if offset < 0:
        return max(begin - BLOCK - 1, 0), min(end - BLOCK - 1, BLOCK - 1), BLOCK + 1
    if offset == 0:
        return max(begin - 1, 0), min(end - 1, BLOCK), 1
    return max(begin + BLOCK - 1, BLOCK - 1), min(end + BLOCK - 1, BLOCK), 1 - BLOCK


@generic
def add_row(arena, at, offset, node, row):
    """Add to a row of four nodes along z what an arena's row holds of it; `offset` is where along z the arena's block lies."""
    total = load(node, row, ROW)
    zero = constant(0.0, total)
    if offset < 0:
        # the upper three of its last four nodes
        last = load(arena, at + ROW, ROW)
        store(node, row, total + shuffled(last, zero, (4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16)))
    elif offset == 0:
        store(node, row, total + load(arena, at + NODE, ROW))
    else:
        # its lowest node
        first = load(arena, at, ROW)
        store(node, row, total + shuffled(first, zero, (16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3)))


@generic
def add_arena(arena, place, node):
    """Add what the arena of the neighbour number `place` holds of a node block."""
    x0, x1, y0, y1, z0, z1 = extent(arena)
    x0, x1, ax = overlap(place // 9 - 1, x0, x1)
    y0, y1, ay = overlap(place // 3 % 3 - 1, y0, y1)
    z0, z1, _ = overlap(place % 3 - 1, z0, z1)
    if z0 < z1:
        for x in range(x0, x1):
            for y in range(y0, y1):
                add_row(arena, ((x + ax) * ARENA + y + ay) * NODE * ARENA, place % 3 - 1, node, (x * BLOCK + y) * ROW)


@generic
def add_plane_arena(arena, place, node):
    """`add_arena` in the plane."""
    x0, x1, _, _, _, _ = extent(arena)
    x0, x1, ax = overlap(place // 3 - 1, x0, x1)
    for x in range(x0, x1):
        add_row(arena, (x + ax) * NODE * ARENA, place % 3 - 1, node, x * ROW)


@generic
def velocity_of(row, gravity):
    """Momenta and masses of four nodes as velocities and masses; a node without mass keeps what it has, nothing."""
    mass = shuffled(row, row, (3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15))
    one = constant(1.0, row)
    divisor = shuffled(row, one, (3, 3, 3, 16, 7, 7, 7, 16, 11, 11, 11, 16, 15, 15, 15, 16))
    return select(mass > 0.0, row / divisor + gravity, row)


@parallel_kernel
def update_grid(tickets, arenas, node_arenas, nodes, impulse):
    """Sum the arenas into nodes, in a fixed order, then v_i = (mv)_i / m_i + dt g where m_i > 0.

    Args:
        arenas: (blocks, arena size), see `extent`.
        node_arenas: (node blocks, 27 or 9) particle blocks around each node block, -1 where there is none.
        nodes: (node blocks, 4 * block nodes) results: velocity [m/s] and mass [kg].
        impulse: (16,) dt g [m/s] and 0, four times.
    """
    for number in shared(tickets[0], node_arenas.shape[0], 16):
        node = nodes[number]
        node[:] = 0
        for place in range(node_arenas.shape[1]):
            block = node_arenas[number, place]
            if block >= 0:
                if node_arenas.shape[1] == NEIGHBOURS:
                    add_arena(arenas[block], place, node)
                else:
                    add_plane_arena(arenas[block], place, node)
        gravity = load(impulse, 0, ROW)
        for row in range(0, node.size, ROW):
            store(node, row, velocity_of(load(node, row, ROW), gravity))


@generic
def without_masses(row):
    """The velocities of four nodes, the last component twice."""
    return shuffled(row, row, (0, 1, 2, 2, 4, 5, 6, 6, 8, 9, 10, 10, 12, 13, 14, 14))


@parallel_kernel
def fastest_nodes(tickets, nodes, count, extremes):
    """A bound on how fast a particle can be gathered from the grid: weights are positive and add up to one.

    Args:
        nodes: (node blocks, 4 * block nodes) velocities and masses; the first `count` blocks are looked at.
        extremes: (pieces, 2) results: greatest component of a velocity [m/s], and 0, or NaN where one is not a finite number.
    """
    pieces = extremes.shape[0]
    for piece in shared(tickets[0], pieces, 1):
        fastest = constant(0.0, load(nodes[0], 0, ROW))
        check = fastest
        for number in range(count * piece // pieces, count * (piece + 1) // pieces):
            node = nodes[number]
            for at in range(0, node.size, ROW):
                velocity = absolute(without_masses(load(node, at, ROW)))
                fastest = maximum(fastest, velocity)
                check = check + 0.0 * velocity
        extremes[piece, 0] = largest(fastest)
        extremes[piece, 1] = largest(check)
