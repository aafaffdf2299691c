"""The positions and normals of the surfaces of bodies, from the masses at the nodes of a block and around it.

The mass of a node measures the part of its kernel that is within the body, and so the distance of the surface. Knows neither velocities nor
impulses.
"""

import math

from ..compilation.kernel import kernel
from ..transfer.blocks import BLOCK, NEIGHBORS, NODE

# a patch has the nodes of a block and two more on each side
MARGIN = 2
WIDTH = BLOCK + 2 * MARGIN
# The normals of a surface as flat as particles make it differ by this much: one less the length of their mean.
LEAST_TURN = 3e-3


@kernel
def surface_distance(fullness):
    """The distance of a node outside of a flat surface [cells], from the fullness of its quadratic kernel: the inverse of its integral."""
    if fullness <= 1.0 / 6.0:
        return 1.5 - (6.0 * max(fullness, 0.0)) ** (1.0 / 3.0)
    if fullness >= 5.0 / 6.0:
        return (6.0 * max(1.0 - fullness, 0.0)) ** (1.0 / 3.0) - 1.5
    distance = (0.5 - fullness) / 0.75
    for _ in range(2):
        rest = 0.5 - 0.75 * distance + distance * distance * distance / 3.0 - fullness
        distance += rest / (0.75 - distance * distance)
    return distance


@kernel
def gather_masses(nodes, around, patch):
    """The masses at the nodes of a block and around it [kg], in `patch` (WIDTH, WIDTH or 1, WIDTH); returns the greatest.

    Args:
        around: (27 or 9,) the node blocks around it, -1 for none.
    """
    begins, ends = (0, MARGIN, MARGIN + BLOCK), (MARGIN, MARGIN + BLOCK, WIDTH)
    is_plane = around.size != NEIGHBORS
    most = 0.0
    for place in range(around.size):
        number = around[place]
        i, j, k = (place // 3, 0, place % 3) if is_plane else (place // 9, place // 3 % 3, place % 3)
        low, high = (0, 1) if is_plane else (begins[j], ends[j])
        for x in range(begins[i], ends[i]):
            for y in range(low, high):
                at = (x - MARGIN & BLOCK - 1) * BLOCK
                at = at if is_plane else (at + (y - MARGIN & BLOCK - 1)) * BLOCK
                for z in range(begins[k], ends[k]):
                    mass = 1.0 * nodes[number, NODE * (at + (z - MARGIN & BLOCK - 1)) + 3] if number >= 0 else 0.0
                    patch[x, y, z] = mass
                    most = max(most, mass)
    return most


@kernel
def find_slopes(one, other, scale, its_scale, slopes):
    """The fullness gradients of two bodies at the nodes that both reach, weighted by the masses of both.

    Args:
        one, other: patches of both.
        scale, its_scale: factors on the differences of the masses.
        slopes: (WIDTH, WIDTH or 1, WIDTH, 8) result: for each body its gradient and the length of that.
    """
    depth = one.shape[1]
    for x in range(1, WIDTH - 1):
        for y in range(min(1, depth - 1), max(depth - 1, 1)):
            for z in range(1, WIDTH - 1):
                weight = one[x, y, z] * other[x, y, z]
                slopes[x, y, z, :] = 0.0
                if weight == 0.0:
                    continue
                write_slope(one, x, y, z, weight * scale, slopes[x, y, z, :4])
                write_slope(other, x, y, z, weight * its_scale, slopes[x, y, z, 4:])


@kernel
def write_slope(patch, x, y, z, scale, slope):
    """The differences of the masses beside a node, times a factor, and the length of that vector, in `slope` (4,)."""
    u = scale * (patch[x + 1, y, z] - patch[x - 1, y, z])
    v = scale * (patch[x, y + 1, z] - patch[x, y - 1, z]) if patch.shape[1] > 1 else 0.0 * scale
    w = scale * (patch[x, y, z + 1] - patch[x, y, z - 1])
    slope[0], slope[1], slope[2], slope[3] = u, v, w, math.sqrt(u * u + v * v + w * w)


@kernel
def mean_slope(slopes, x, y, z):
    """The difference of both bodies' mean gradients at a node and those around it: the flatter body's counts more.

    At the edge of a body that lies on another, its gradients turn; those of the other do not. So each counts with the inverse of how much
    its directions differ, as a measurement does with the inverse of its variance.
    """
    u, v, w = 0.0, 0.0, 0.0
    for body in range(2):
        first = 4 * body
        a, b, c, length = 0.0, 0.0, 0.0, 0.0
        for i in range(x - 1, x + 2):
            for j in range(max(y - 1, 0), min(y + 2, slopes.shape[1])):
                for k in range(z - 1, z + 2):
                    a += slopes[i, j, k, first]
                    b += slopes[i, j, k, first + 1]
                    c += slopes[i, j, k, first + 2]
                    length += slopes[i, j, k, first + 3]
        if length > 0.0:
            turned = max(1.0 - math.sqrt(a * a + b * b + c * c) / length, 0.0)
            share = (2.0 * body - 1.0) * LEAST_TURN / (turned + LEAST_TURN)
            u, v, w = u + share * a, v + share * b, w + share * c
    return u, v, w


@kernel
def distance_at(patch, x, y, z, normal, least_full, width):
    """The distance of a node of a patch outside of the surface [cells], from three nodes along the normal's longest component.

    Nodes that are half full weigh most. The fullest of the nodes up to two cells away counts as full.
    """
    nx, ny, nz = normal
    i = 1 if abs(nx) >= max(abs(ny), abs(nz)) else 0
    j = 1 if i == 0 and abs(ny) >= abs(nz) else 0
    k = 1 - i - j
    slope = nx * i + ny * j + nz * k
    total, weights, full = 0.0, 0.0, least_full
    for step in range(-MARGIN, MARGIN + 1):
        full = max(full, patch[x + step * i, min(max(y + step * j, 0), patch.shape[1] - 1), z + step * k])
    for step in range(-1, 2):
        fullness = min(patch[x + step * i, y + step * j, z + step * k] / full, 1.0)
        weight = fullness * (1.0 - fullness) + 1e-9
        total += weight * (width * surface_distance(fullness) - step * slope)
        weights += weight
    return total / weights


@kernel
def area_at(patch, x, y, z, full, normal):
    """The area of a body's surface with this normal that belongs to a node [cells^2, in 2D cells]."""
    i, k = (patch[x + 1, y, z] - patch[x - 1, y, z]) * normal[0], (patch[x, y, z + 1] - patch[x, y, z - 1]) * normal[2]
    j = (patch[x, y + 1, z] - patch[x, y - 1, z]) * normal[1] if patch.shape[1] > 1 else 0.0
    return 0.5 * abs(i + j + k) / full
