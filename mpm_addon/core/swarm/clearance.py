"""How far points are at least from colliders and walls, so that most need not be compared with any."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared

_GRAIN = 4096


class Outlines(NamedTuple):
    """What colliders and walls lie behind or inside.

    Attributes:
        planes: (k, 4) normals and heights along them [m]; what is below is inside.
        boxes: (m, 6) the lowest and the highest corners [m].
    """

    planes: NDArray[np.float64]
    boxes: NDArray[np.float64]


@parallel_kernel
def clearances(tickets, points, outlines, clear):
    """The least distances to planes and boxes; those to what is in a box are not less.

    Args:
        points: (n, 3) [m].
        outlines: see `Outlines`.
        clear: (n,) result [m]; infinite if there are none, negative inside.
    """
    count, planes, boxes = clear.size, outlines.planes, outlines.boxes
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            x, y, z = points[number, 0], points[number, 1], points[number, 2]
            least = math.inf
            for plane in range(planes.shape[0]):
                height = x * planes[plane, 0] + y * planes[plane, 1] + z * planes[plane, 2] - planes[plane, 3]
                least = min(least, height)
            for box in range(boxes.shape[0]):
                along = max(boxes[box, 0] - x, x - boxes[box, 3])
                across = max(boxes[box, 1] - y, y - boxes[box, 4])
                least = min(least, max(along, across, boxes[box, 2] - z, z - boxes[box, 5]))
            clear[number] = least
