"""How chips and dust move from one frame to the next.

Chips fly, rebound from material and come to rest on it. Dust hangs in the air, which slows it down and which material drags along. Each
particle moves on its own, so the result does not depend on threads or on which others there are.
"""

import math
from typing import NamedTuple

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .fill import flow, sample
from .flight import SURFACE, Step, entered, flown, fly

# How fast what is covered returns to the surface [spacings/s].
_RETURN = 6.0
FLIES, LIES, LEAVES = 1, 0, 2
_GRAIN = 1024


class Touch(NamedTuple):
    """How particles meet material and colliders.

    Attributes:
        bounce: the part of a speed toward a surface that is reflected.
        friction: the coefficient of friction.
        still: what meets a surface more slowly does not rebound [m/s].
    """

    bounce: float
    friction: float
    still: float


class Air(NamedTuple):
    """How the air around material moves with it, and what is inside the material.

    Attributes:
        carried: the part of the velocity of the material that the air at its surface has.
        full: what is in fuller surroundings is in the material.
    """

    carried: float
    full: float


class Rules(NamedTuple):
    """How particles move between two frames: through the air, on surfaces, and near material."""

    step: Step
    touch: Touch
    air: Air


@kernel
def rebound(speed, ground, normal, touch):
    """The velocity of a particle after it has met a surface (Coulomb friction): three numbers [m/s].

    Args:
        speed, ground: the velocities of the particle and of the surface [m/s].
        normal: of the surface, outward.
        touch: see `Touch`.
    """
    u, v, w = speed[0] - ground[0], speed[1] - ground[1], speed[2] - ground[2]
    toward = -(u * normal[0] + v * normal[1] + w * normal[2])
    if toward <= 0.0:
        return speed
    u, v, w = u + toward * normal[0], v + toward * normal[1], w + toward * normal[2]
    back = touch.bounce * max(toward - touch.still, 0.0)
    sliding = math.sqrt(u * u + v * v + w * w)
    kept = max(1.0 - touch.friction * (toward + back) / max(sliding, 1e-30), 0.0)
    return (
        ground[0] + kept * u + back * normal[0],
        ground[1] + kept * v + back * normal[1],
        ground[2] + kept * w + back * normal[2],
    )


@kernel
def outward(gradient):
    """The normal of a surface, given the gradient of the fullness; 0 where there is none."""
    steep = max(math.sqrt(gradient[0] ** 2 + gradient[1] ** 2 + gradient[2] ** 2), 1e-30)
    return -gradient[0] / steep, -gradient[1] / steep, -gradient[2] / steep


@kernel
def float_in_air(position, velocity, number, wind, step):
    """Move a particle through air that moves [m/s]."""
    for axis in range(3):
        pull = (step.x, step.y, step.z)[axis]
        place, speed = flown(position[number, axis], velocity[number, axis] - wind[axis], pull, step.seconds, step.drag)
        position[number, axis], velocity[number, axis] = place + step.seconds * wind[axis], speed + wind[axis]


@kernel
def lie(position, velocity, number, first, after, step, touch):
    """Move a particle that is in the material with it, unless it leaves; returns LIES or LEAVES.

    Args:
        position, velocity: (n, 3), already as the particle would fly.
        number: of the particle.
        first: where it was [m], and how fast [m/s].
        after: the material where the particle gets.
        step, touch: see `Step`, `Touch`.
    """
    last = position[number, 0], position[number, 1], position[number, 2]
    speed = velocity[number, 0], velocity[number, 1], velocity[number, 2]
    full, gradient, ground = sample(after, last[0], last[1], last[2])
    normal = outward(gradient)
    leaving = (speed[0] - ground[0]) * normal[0] + (speed[1] - ground[1]) * normal[1] + (speed[2] - ground[2]) * normal[2]
    if full == 0.0 or leaving > touch.still:
        return LEAVES
    speed = rebound(speed, ground, normal, Touch(0.0, touch.friction, touch.still))
    half = 0.5 * step.seconds
    for axis in range(3):
        position[number, axis] = first[0][axis] + half * (first[1][axis] + speed[axis])
        velocity[number, axis] = speed[axis]
    return LIES


@parallel_kernel
def move_debris(tickets, position, velocity, room, before, after, rules, states):
    """Move particles from one frame to the next, in place. Those that fly do not meet anything yet, see `land`.

    Args:
        position, velocity: (n, 3) [m], [m/s].
        room: (n,) the part of the space around each particle that is not taken by colliders.
        before, after: the material at both frames, see `Fill`.
        rules: see `Rules`.
        states: (n,) result: FLIES, LIES (with the material), or LEAVES (flies, and comes out of the material).
    """
    count, (step, touch, air) = states.size, rules
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            place = position[number, 0], position[number, 1], position[number, 2]
            speed = velocity[number, 0], velocity[number, 1], velocity[number, 2]
            full, (u, v, w) = flow(before, place[0], place[1], place[2])
            if air.carried > 0.0:
                share = air.carried * min(full / SURFACE, 1.0)
                float_in_air(position, velocity, number, (share * u, share * v, share * w), step)
            else:
                fly(position, velocity, number, step)
            states[number] = FLIES
            if full >= air.full * room[number]:
                states[number] = lie(position, velocity, number, (place, speed), after, step, touch)


@parallel_kernel
def land(tickets, start, position, velocity, states, rooms, fill, touch):
    """Stop particles that fly and end inside the material where they come in, in place, and let them rebound.

    Args:
        start, position: (n, 3) where they come from and where they get [m].
        velocity: (n, 3) [m/s].
        states: (n,) as `move_debris` returns them.
        rooms: (2, n) the part of the space around each that is not taken by colliders, at the start and at the end.
        fill: see `Fill`.
        touch: see `Touch`.
    """
    count = states.size
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            if states[number] != FLIES:
                continue
            first = start[number, 0], start[number, 1], start[number, 2]
            last = position[number, 0], position[number, 1], position[number, 2]
            if flow(fill, last[0], last[1], last[2])[0] < SURFACE * rooms[1, number]:
                continue
            share = entered(first, last, (rooms[0, number], rooms[1, number]), fill)
            for axis in range(3):
                position[number, axis] = first[axis] + share * (last[axis] - first[axis])
            _, gradient, ground = sample(fill, position[number, 0], position[number, 1], position[number, 2])
            speed = rebound((velocity[number, 0], velocity[number, 1], velocity[number, 2]), ground, outward(gradient), touch)
            velocity[number, 0], velocity[number, 1], velocity[number, 2] = speed


@parallel_kernel
def uncover(tickets, position, room, fill, seconds):
    """Move particles inside the material toward its surface.

    Args:
        position: (n, 3) [m], changed.
        room: (n,) the part of the space around each particle that is not taken by colliders.
        fill: see `Fill`.
        seconds: the time since the frame before [s].
    """
    count = room.size
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            if room[number] < 1.0:
                continue
            full, gradient, _ = sample(fill, position[number, 0], position[number, 1], position[number, 2])
            steep = math.sqrt(gradient[0] ** 2 + gradient[1] ** 2 + gradient[2] ** 2)
            if full <= SURFACE or steep == 0.0:
                continue
            back = min((full - SURFACE) / steep, _RETURN * seconds * fill.spacing) / steep
            for axis in range(3):
                position[number, axis] -= back * gradient[axis]
