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
def entered(start, end, fluid):
    """The share of a straight path, whose end is inside the liquid, where it enters it for the last time; 1 if it was always inside."""
    inside = 1.0
    for part in range(1, _PARTS + 1):
        outside = 1.0 - part / _PARTS
        if fullness_at(start, end, outside, fluid) < _SURFACE:
            for _half in range(_HALVES):
                middle = 0.5 * (inside + outside)
                if fullness_at(start, end, middle, fluid) < _SURFACE:
                    outside = middle
                else:
                    inside = middle
            return inside
        inside = outside
    return 1.0


@kernel
def fullness_at(start, end, share, fluid):
    """The fullness at a share of the path between two points."""
    kept = 1.0 - share
    return sample(fluid, kept * start[0] + share * end[0], kept * start[1] + share * end[1], kept * start[2] + share * end[2])[0]


@kernel
def fly(position, velocity, number, fluid, step):
    """Move a particle through the air; one that ends inside the liquid stops where it comes in."""
    start = position[number, 0], position[number, 1], position[number, 2]
    x, u = flown(start[0], velocity[number, 0], step.x, step.seconds, step.drag)
    y, v = flown(start[1], velocity[number, 1], step.y, step.seconds, step.drag)
    z, w = flown(start[2], velocity[number, 2], step.z, step.seconds, step.drag)
    full, _, flow = sample(fluid, x, y, z)
    if full >= AIRY:
        u, v, w = flow
        share = entered(start, (x, y, z), fluid)
        x, y, z = start[0] + share * (x - start[0]), start[1] + share * (y - start[1]), start[2] + share * (z - start[2])
    position[number, 0], position[number, 1], position[number, 2] = x, y, z
    velocity[number, 0], velocity[number, 1], velocity[number, 2] = u, v, w


@kernel
def drift(position, velocity, number, kind, before, after, step):
    """Move a particle with the liquid. One that would leave the liquid flies instead."""
    x, y, z = position[number, 0], position[number, 1], position[number, 2]
    u, v, w = velocity[number, 0], velocity[number, 1], velocity[number, 2]
    if kind == FOAM:
        full, _, flow = sample(before, x, y, z)
        if full > 0.0:
            u, v, w = flow
    full, _, (fu, fv, fw) = sample(after, x + step.seconds * u, y + step.seconds * v, z + step.seconds * w)
    if full < AIRY:
        fly(position, velocity, number, after, step)
        return
    if kind == BUBBLE:
        kept = math.exp(-_GRIP * step.seconds)
        rise = RISE / max(math.sqrt(step.x**2 + step.y**2 + step.z**2), 1e-30)
        fu, fv, fw = fu - rise * step.x, fv - rise * step.y, fw - rise * step.z
        fu, fv, fw = fu + kept * (u - fu), fv + kept * (v - fv), fw + kept * (w - fw)
    half = 0.5 * step.seconds
    position[number, 0], position[number, 1], position[number, 2] = x + half * (u + fu), y + half * (v + fv), z + half * (w + fw)
    velocity[number, 0], velocity[number, 1], velocity[number, 2] = fu, fv, fw


@parallel_kernel
def move(tickets, position, velocity, kinds, before, after, step):
    """Move particles from one frame to the next, in place.

    Args:
        position, velocity: (n, 3) [m], [m/s].
        kinds: (n,) SPRAY, FOAM or BUBBLE.
        before, after: the liquid at both frames, see `Fluid`.
        step: see `Step`.
    """
    count = kinds.size
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            if kinds[number] == SPRAY:
                fly(position, velocity, number, after, step)
            else:
                drift(position, velocity, number, kinds[number], before, after, step)


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
