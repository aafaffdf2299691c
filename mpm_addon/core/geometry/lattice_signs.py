"""The signs of the distances at the points of a small lattice: negative inside a closed mesh."""

import math

import numpy as np

from ..compilation.kernel import kernel
from .lattice import SAFE
from .winding import FAR_FOR_SIGNS, winding_at


@kernel(allocates=True)
def sign_lattice(tree, corner, spacing, known, stack, distance):
    """Make the distances of a lattice's points inside a closed mesh negative.

    No surface lies between two points whose distances from it add up to more than the distance between them, so a closed mesh winds
    equally around both. The winding number is computed once for each set of points connected in this way.

    Args:
        known: the sign of the first point, or 0 if it is not known.
        stack: (STACK_SIZE,) scratch, as in `winding_at`.
        distance: (nx, ny, nz) unsigned [m]; changed. For the other arguments, see `measure_lattice`.
    """
    _, ny, nz = distance.shape
    is_known = np.zeros(distance.shape, np.bool_)
    queue = np.empty((distance.size, 3), np.int64)
    if known != 0.0:
        _spread_sign(0, 0, 0, known, spacing, is_known, distance, queue)
    for point in range(distance.size):
        i, j, k = point // (ny * nz), point // nz % ny, point % nz
        if is_known[i, j, k]:
            continue
        sign = _sign_around(i, j, k, spacing, is_known, distance)
        if sign == 0.0:
            winding = winding_at(tree, corner[0] + i * spacing, corner[1] + j * spacing, corner[2] + k * spacing, FAR_FOR_SIGNS, stack)
            sign = -1.0 if winding >= 0.5 else 1.0
        _spread_sign(i, j, k, sign, spacing, is_known, distance, queue)


@kernel
def _sign_around(i, j, k, spacing, is_known, distance):
    """The sign of one of the 26 points around (i, j, k) that no surface separates from it, or 0 if none is known."""
    nx, ny, nz = distance.shape
    for a in range(max(i - 1, 0), min(i + 2, nx)):
        for b in range(max(j - 1, 0), min(j + 2, ny)):
            for c in range(max(k - 1, 0), min(k + 2, nz)):
                way = spacing * math.sqrt(float((a - i) ** 2 + (b - j) ** 2 + (c - k) ** 2))
                if is_known[a, b, c] and distance[i, j, k] + abs(distance[a, b, c]) > way * SAFE:
                    return math.copysign(1.0, distance[a, b, c])
    return 0.0


@kernel
def _spread_sign(i, j, k, sign, spacing, is_known, distance, queue):
    """Give a sign to the point (i, j, k) and to all points connected to it by steps along the axes that cross no surface."""
    nx, ny, nz = distance.shape
    queue[0] = i, j, k
    is_known[i, j, k] = True
    distance[i, j, k] *= sign
    length = 1
    while length > 0:
        length -= 1
        i, j, k = queue[length]
        rest = spacing * SAFE - abs(distance[i, j, k])
        for step in range(6):
            way = 1 - step % 2 * 2
            a, b, c = i + way * (step < 2), j + way * (2 <= step < 4), k + way * (step >= 4)
            if min(a, b, c) < 0 or a >= nx or b >= ny or c >= nz or is_known[a, b, c] or distance[a, b, c] <= rest:
                continue
            is_known[a, b, c] = True
            distance[a, b, c] *= sign
            queue[length] = a, b, c
            length += 1
