"""How particles fly from one frame to the next, and where their paths come into simulated material."""

import math
from typing import NamedTuple

from ..compilation.kernel import kernel
from .fill import flow

# How full the space is at a flat surface.
SURFACE = 0.5
# Where a path enters the material is searched in so many parts, then by halves.
_PARTS, _HALVES = 8, 5


class Step(NamedTuple):
    """The time between two frames.

    Attributes:
        seconds: its length [s].
        drag: of the air [1/s].
        x, y, z: gravity [m/s^2].
    """

    seconds: float
    drag: float
    x: float
    y: float
    z: float


@kernel
def flown(place, speed, pull, seconds, drag):
    """Where a particle is after a time in the air, and its speed, along one axis; exact for constant gravity and linear drag."""
    amount = drag * seconds
    if amount < 1e-6:
        return place + seconds * (speed + 0.5 * seconds * pull), speed + seconds * pull
    kept, end = math.exp(-amount), pull / drag
    return place + end * seconds + (speed - end) * (1.0 - kept) / drag, end + (speed - end) * kept


@kernel
def is_wet(start, end, share, rooms, fill):
    """Whether the material fills half of the room at a share of the path between two points, with the room around each."""
    kept = 1.0 - share
    x, y, z = kept * start[0] + share * end[0], kept * start[1] + share * end[1], kept * start[2] + share * end[2]
    # a cell before the end, what takes room there is out of reach
    away = kept * math.sqrt((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2 + (end[2] - start[2]) ** 2) / fill.spacing
    room = rooms[1] + min(away, 1.0) * (rooms[0] - rooms[1])
    return flow(fill, x, y, z)[0] >= SURFACE * room


@kernel
def entered(start, end, rooms, fill):
    """The share of a straight path, whose end is inside the material, where it enters it for the last time; 1 if it was always inside."""
    inside = 1.0
    for part in range(1, _PARTS + 1):
        outside = 1.0 - part / _PARTS
        if not is_wet(start, end, outside, rooms, fill):
            for _half in range(_HALVES):
                middle = 0.5 * (inside + outside)
                if is_wet(start, end, middle, rooms, fill):
                    inside = middle
                else:
                    outside = middle
            return inside
        inside = outside
    return 1.0


@kernel
def fly(position, velocity, number, step):
    """Move a particle through the air."""
    x, u = flown(position[number, 0], velocity[number, 0], step.x, step.seconds, step.drag)
    y, v = flown(position[number, 1], velocity[number, 1], step.y, step.seconds, step.drag)
    z, w = flown(position[number, 2], velocity[number, 2], step.z, step.seconds, step.drag)
    position[number, 0], position[number, 1], position[number, 2] = x, y, z
    velocity[number, 0], velocity[number, 1], velocity[number, 2] = u, v, w
