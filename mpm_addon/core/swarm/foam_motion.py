"""How spray, foam and bubbles move from one frame to the next.

Source: Ihmsen and others 2012, as in `births`: spray flies, foam is carried by the liquid, bubbles rise in it; which is which follows from
how much liquid is around. Each particle moves on its own, so the result does not depend on threads or on which others there are.
"""

import math

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .fill import flow, sample
from .flight import SURFACE, entered, fly

SPRAY, FOAM, BUBBLE = 0, 1, 2
# Emptier surroundings make spray, fuller ones bubbles; a flat surface is at 0.5. Ihmsen: 6 and 20 of about 33 neighbors.
AIRY, WET = 0.2, 0.65
# How fast bubbles take on the velocity of the liquid [1/s], and how fast millimeters of air rise in it [m/s] (Clift and others 1978).
_GRIP, RISE = 12.0, 0.25
# How fast foam returns to the surface [spacings/s].
_RETURN = 6.0
_GRAIN = 1024


@kernel
def drift(position, velocity, number, kind, room, before, after, step):
    """Move a particle with the liquid. One that would leave the liquid flies instead; returns whether it does."""
    x, y, z = position[number, 0], position[number, 1], position[number, 2]
    u, v, w = velocity[number, 0], velocity[number, 1], velocity[number, 2]
    if kind == FOAM:
        full, there = flow(before, x, y, z)
        if full > 0.0:
            u, v, w = there
    full, (fu, fv, fw) = flow(after, x + step.seconds * u, y + step.seconds * v, z + step.seconds * w)
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
        before, after: the liquid at both frames, see `Fill`.
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
def enter(tickets, start, position, velocity, flying, rooms, fill):
    """Stop particles that fly and end inside the liquid where they come in, in place.

    Args:
        start, position: (n, 3) where they come from and where they get [m].
        velocity: (n, 3) [m/s].
        flying: (n,) 1 for those that fly, else 0.
        rooms: (2, n) the part of the space around each that is not taken by colliders, at the start and at the end.
        fill: see `Fill`.
    """
    count = flying.size
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            if flying[number] == 0:
                continue
            first = start[number, 0], start[number, 1], start[number, 2]
            last = position[number, 0], position[number, 1], position[number, 2]
            full, (u, v, w) = flow(fill, last[0], last[1], last[2])
            if full >= AIRY * rooms[1, number]:
                share = entered(first, last, (rooms[0, number], rooms[1, number]), fill)
                for axis in range(3):
                    position[number, axis] = first[axis] + share * (last[axis] - first[axis])
                velocity[number, 0], velocity[number, 1], velocity[number, 2] = u, v, w


@parallel_kernel
def classify(tickets, position, kinds, room, fill, seconds, fullness):
    """Tell spray, foam and bubbles apart, and keep foam at the surface.

    Args:
        position: (n, 3) [m], changed.
        kinds: (n,) result.
        room: (n,) the part of the space around each particle that is not taken by colliders.
        fill: see `Fill`.
        seconds: the time since the frame before [s].
        fullness: (n,) result: how full the room around each particle is.
    """
    count = kinds.size
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            full, (gx, gy, gz), _ = sample(fill, position[number, 0], position[number, 1], position[number, 2])
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
                    longest = _RETURN * seconds * fill.spacing
                    back = min(max((SURFACE - full) / steep, -longest), longest) / steep
                    position[number, 0] += back * gx
                    position[number, 1] += back * gy
                    position[number, 2] += back * gz
