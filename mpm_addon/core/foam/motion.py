"""How spray, foam and bubbles move from one frame to the next.

Source: Ihmsen and others 2012, as in `births`: spray flies, foam is carried by the liquid, bubbles rise in it; which is which follows from
how much liquid is around. Each particle moves on its own, so the result does not depend on threads or on which others there are.
"""

import math
from typing import NamedTuple

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .fluid import sample

SPRAY, FOAM, BUBBLE = 0, 1, 2
# Emptier surroundings make spray, fuller ones bubbles; a flat surface is at 0.5. Ihmsen: 6 and 20 of about 33 neighbors.
AIRY, WET = 0.2, 0.65
_SURFACE = 0.5
# How fast bubbles take on the velocity of the liquid [1/s], and how fast millimeters of air rise in it [m/s] (Clift and others 1978).
_GRIP, RISE = 12.0, 0.25
# How fast foam returns to the surface [spacings/s].
_RETURN = 6.0
# Where a path enters the liquid is searched in so many parts, then by halves.
_PARTS, _HALVES = 8, 5
_GRAIN = 1024


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
def is_wet(start, end, share, rooms, fluid):
    """Whether the liquid fills half of the room at a share of the path between two points, with the room around each."""
    kept = 1.0 - share
    x, y, z = kept * start[0] + share * end[0], kept * start[1] + share * end[1], kept * start[2] + share * end[2]
    # a cell before the end, what takes room there is out of reach
    away = kept * math.sqrt((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2 + (end[2] - start[2]) ** 2) / fluid.spacing
    room = rooms[1] + min(away, 1.0) * (rooms[0] - rooms[1])
    return sample(fluid, x, y, z)[0] >= _SURFACE * room


@kernel
def entered(start, end, rooms, fluid):
    """The share of a straight path, whose end is inside the liquid, where it enters it for the last time; 1 if it was always inside."""
    inside = 1.0
    for part in range(1, _PARTS + 1):
        outside = 1.0 - part / _PARTS
        if not is_wet(start, end, outside, rooms, fluid):
            for _half in range(_HALVES):
                middle = 0.5 * (inside + outside)
                if is_wet(start, end, middle, rooms, fluid):
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


@kernel
def drift(position, velocity, number, kind, room, before, after, step):
    """Move a particle with the liquid. One that would leave the liquid flies instead; returns whether it does."""
    x, y, z = position[number, 0], position[number, 1], position[number, 2]
    u, v, w = velocity[number, 0], velocity[number, 1], velocity[number, 2]
    if kind == FOAM:
        full, _, flow = sample(before, x, y, z)
        if full > 0.0:
            u, v, w = flow
    full, _, (fu, fv, fw) = sample(after, x + step.seconds * u, y + step.seconds * v, z + step.seconds * w)
    if full < AIRY * room:
        fly(position, velocity, number, step)
        return True
    if kind == BUBBLE:
        kept = math.exp(-_GRIP * step.seconds)
        rise = RISE / max(math.sqrt(step.x**2 + step.y**2 + step.z**2), 1e-30)
        fu, fv, fw = fu - rise * step.x, fv - rise * step.y, fw - rise * step.z
        fu, fv, fw = fu + kept * (u - fu), fv + kept * (v - fv), fw + kept * (w - fw)
    half = 0.5 * step.seconds
    position[number, 0], position[number, 1], position[number, 2] = x + half * (u + fu), y + half * (v + fv), z + half * (w + fw)
    velocity[number, 0], velocity[number, 1], velocity[number, 2] = fu, fv, fw
    return False


@parallel_kernel
def move(tickets, position, velocity, kinds, room, before, after, step, flying):
    """Move particles from one frame to the next, in place. Those that fly do not meet anything yet, see `enter`.

    Args:
        position, velocity: (n, 3) [m], [m/s].
        kinds: (n,) SPRAY, FOAM or BUBBLE.
        room: (n,) the part of the space around each particle that is not taken by colliders.
        before, after: the liquid at both frames, see `Fluid`.
        step: see `Step`.
        flying: (n,) result: 1 for those that fly, else 0.
    """
    count = kinds.size
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            flying[number] = 1
            if kinds[number] == SPRAY:
                fly(position, velocity, number, step)
            elif not drift(position, velocity, number, kinds[number], room[number], before, after, step):
                flying[number] = 0


@parallel_kernel
def enter(tickets, start, position, velocity, flying, rooms, fluid):
    """Stop particles that fly and end inside the liquid where they come in, in place.

    Args:
        start, position: (n, 3) where they come from and where they get [m].
        velocity: (n, 3) [m/s].
        flying: (n,) 1 for those that fly, else 0.
        rooms: (2, n) the part of the space around each that is not taken by colliders, at the start and at the end.
        fluid: see `Fluid`.
    """
    count = flying.size
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            if flying[number] == 0:
                continue
            first = start[number, 0], start[number, 1], start[number, 2]
            last = position[number, 0], position[number, 1], position[number, 2]
            full, _, (u, v, w) = sample(fluid, last[0], last[1], last[2])
            if full >= AIRY * rooms[1, number]:
                share = entered(first, last, (rooms[0, number], rooms[1, number]), fluid)
                for axis in range(3):
                    position[number, axis] = first[axis] + share * (last[axis] - first[axis])
                velocity[number, 0], velocity[number, 1], velocity[number, 2] = u, v, w


@parallel_kernel
def classify(tickets, position, kinds, room, fluid, seconds, fullness):
    """Tell spray, foam and bubbles apart, and keep foam at the surface.

    Args:
        position: (n, 3) [m], changed.
        kinds: (n,) result.
        room: (n,) the part of the space around each particle that is not taken by colliders.
        fluid: see `Fluid`.
        seconds: the time since the frame before [s].
        fullness: (n,) result: how full the room around each particle is.
    """
    count = kinds.size
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            full, (gx, gy, gz), _ = sample(fluid, position[number, 0], position[number, 1], position[number, 2])
            full /= room[number]
            fullness[number] = full
            if full < AIRY:
                kinds[number] = SPRAY
            elif full > WET:
                kinds[number] = BUBBLE
            else:
                kinds[number] = FOAM
                steep = math.sqrt(gx * gx + gy * gy + gz * gz)
                if room[number] == 1.0 and steep > 0.0:
                    longest = _RETURN * seconds * fluid.spacing
                    back = min(max((_SURFACE - full) / steep, -longest), longest) / steep
                    position[number, 0] += back * gx
                    position[number, 1] += back * gy
                    position[number, 2] += back * gz
