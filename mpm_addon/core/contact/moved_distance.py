"""The distance from a rigid collider that has moved a little since it was measured."""

import math

from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared


@parallel_kernel
def move_distance(tickets, distance, normal, nodes, back, moved_distance, moved_normal, ways):
    """Move a surface: to first order, the distance at a node x is that from before at B x, d(x) + n (B x - x), and the normal B^T n.

    Args:
        distance, normal: (rows, block nodes) [m] and (rows, block nodes, 3), before.
        nodes: (rows, block nodes, 3) their places [m].
        back: (3, 4) B, the rigid motion from where something is now to where it was before.
        moved_distance, moved_normal: results, in the same shapes.
        ways: (rows,) results: how far what is at a node has moved, at most [m].
    """
    for row in shared(tickets[0], distance.shape[0], 16):
        farthest = 0.0
        for place in range(distance.shape[1]):
            x, y, z = nodes[row, place]
            nx, ny, nz = normal[row, place]
            u = back[0, 0] * x + back[0, 1] * y + back[0, 2] * z + back[0, 3] - x
            v = back[1, 0] * x + back[1, 1] * y + back[1, 2] * z + back[1, 3] - y
            w = back[2, 0] * x + back[2, 1] * y + back[2, 2] * z + back[2, 3] - z
            moved_distance[row, place] = distance[row, place] + nx * u + ny * v + nz * w
            moved_normal[row, place, 0] = back[0, 0] * nx + back[1, 0] * ny + back[2, 0] * nz
            moved_normal[row, place, 1] = back[0, 1] * nx + back[1, 1] * ny + back[2, 1] * nz
            moved_normal[row, place, 2] = back[0, 2] * nx + back[1, 2] * ny + back[2, 2] * nz
            farthest = max(farthest, u * u + v * v + w * w)
        ways[row] = math.sqrt(farthest)
