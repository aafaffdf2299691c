"""The grid's own step: the blocks' arenas summed into nodes, momentum to velocity, gravity. See `blocks` for the layout."""

from numba import prange

from .arithmetic import absolute, constant, generic, maximum
from .blocks import ARENA, BLOCK, NEIGHBOURS, NODE
from .compilation import kernel
from .vector import element, load, store


@generic
def overlap(offset):
    """The nodes [low, high) of a node block that the arena of the block at `offset` reaches, and what to add for its own count."""
    if offset < 0:
        return 0, 3, 5
    if offset == 0:
        return 0, 4, 1
    return 3, 4, -3


@generic
def add_arena(arena, place, node):
    """Add what the arena of the neighbour number `place` holds of a node block."""
    x0, x1, ax = overlap(place // 9 - 1)
    y0, y1, ay = overlap(place // 3 % 3 - 1)
    z0, z1, az = overlap(place % 3 - 1)
    for x in range(x0, x1):
        for y in range(y0, y1):
            at = ((x * BLOCK + y) * BLOCK + z0) * NODE
            other = (((x + ax) * ARENA + y + ay) * ARENA + z0 + az) * NODE
            for _ in range(z0, z1):
                store(node, at, load(node, at, NODE) + load(arena, other, NODE))
                at += NODE
                other += NODE


@generic
def add_plane_arena(arena, place, node):
    """`add_arena` in the plane."""
    x0, x1, ax = overlap(place // 3 - 1)
    z0, z1, az = overlap(place % 3 - 1)
    for x in range(x0, x1):
        at = (x * BLOCK + z0) * NODE
        other = ((x + ax) * ARENA + z0 + az) * NODE
        for _ in range(z0, z1):
            store(node, at, load(node, at, NODE) + load(arena, other, NODE))
            at += NODE
            other += NODE


@kernel(parallel=True)
def update_grid(arenas, node_arenas, nodes, dt, gx, gy, gz):
    """Sum the arenas into nodes, then v_i = (mv)_i / m_i + dt g where m_i > 0.

    Args:
        arenas: (blocks, 4 * arena nodes).
        node_arenas: (node blocks, 27 or 9) particle blocks around each node block, -1 where there is none.
        nodes: (node blocks, 4 * block nodes) results: velocity [m/s] and mass [kg].
        gx, gy, gz: acceleration [m/s^2].
    """
    for number in prange(node_arenas.shape[0]):
        node = nodes[number]
        node[:] = 0
        for place in range(node_arenas.shape[1]):
            block = node_arenas[number, place]
            if block >= 0:
                if node_arenas.shape[1] == NEIGHBOURS:
                    add_arena(arenas[block], place, node)
                else:
                    add_plane_arena(arenas[block], place, node)
        for at in range(0, node.size, NODE):
            mass = node[at + 3]
            if mass > 0.0:
                node[at] = node[at] / mass + dt * gx
                node[at + 1] = node[at + 1] / mass + dt * gy
                node[at + 2] = node[at + 2] / mass + dt * gz


@kernel(parallel=True)
def fastest_nodes(nodes, count, extremes):
    """A bound on how fast a particle can be gathered from the grid: weights are positive and add up to one.

    Args:
        nodes: (node blocks, 4 * block nodes) velocities and masses; the first `count` blocks are looked at.
        extremes: (pieces, 2) results: greatest component of a velocity [m/s], and 0, or NaN where one is not a finite number.
    """
    pieces = extremes.shape[0]
    for piece in prange(pieces):
        fastest = constant(0.0, load(nodes[0], 0, NODE))
        check = fastest
        for number in range(count * piece // pieces, count * (piece + 1) // pieces):
            node = nodes[number]
            for at in range(0, node.size, NODE):
                velocity = absolute(load(node, at, NODE))
                fastest = maximum(fastest, velocity)
                check = check + 0.0 * velocity
        extremes[piece, 0] = max(element(fastest, 0), element(fastest, 1), element(fastest, 2))
        extremes[piece, 1] = element(check, 0) + element(check, 1) + element(check, 2)
