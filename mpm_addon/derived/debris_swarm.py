"""Chips and dust from one frame to the next, and how much of the material that makes them has broken in the meantime."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.particles import DAMAGE
from ..core.swarm.debris_births import CHIP, DEEP, DUST, LONE, Limits, Makers, count_debris, place_debris
from ..core.swarm.debris_motion import Air, Rules, Touch, land, move_debris, uncover
from ..core.swarm.fill import fullnesses
from ..core.swarm.flight import SURFACE, Step
from ..storage.swarm_file import EMITTER, rounded
from .swarm import Around, Floats, Ids, Swarm, chances, new_ids, together
from .swarm_paths import lead_past
from .swarm_walls import Contact, keep_outside, room_at

VOLUME_RATIO = "volume_ratio"
# Growth that is only noise: of particles that pass from cell to cell.
_NOISE = 0.05
# Chips: crushed rock, as in display.grains (Turcotte 1986): the number larger than r falls as r^-2.5; the largest over the smallest.
_EXPONENT, _LARGEST = 2.5, 7.0
# Dust: sizes over the mean, smallest and largest.
_FINEST, _COARSEST = 0.6, 1.6
# What is fuller than this is in the material: for a chip, all that touches it.
_TOUCHED = 0.2
# What is slower than so many frames of gravity has come to rest.
_STILL = 1.5


class Motion(NamedTuple):
    """How chips or dust move.

    Attributes:
        seconds: the time between two frames [s].
        drag: of the air [1/s].
        pull: their acceleration besides drag [m/s^2], three numbers.
        contact: how they meet material and colliders.
        air: see `Air`.
    """

    seconds: float
    drag: float
    pull: tuple[float, float, float]
    contact: Contact
    air: Air


def flying_chips(seconds: float, gravity: tuple[float, float, float], drag: float, bounce: float, friction: float) -> Motion:
    """How chips move.

    Args:
        seconds: the time between two frames [s].
        gravity: [m/s^2].
        drag: of the air [1/s].
        bounce: the part of a speed toward a surface that is reflected.
        friction: the coefficient of friction.
    """
    still = _STILL * seconds * float(np.linalg.norm(gravity))
    return Motion(seconds, drag, gravity, Contact(bounce, friction, still), Air(0.0, _TOUCHED))


def hanging_dust(seconds: float, gravity: tuple[float, float, float], drag: float, fall: float) -> Motion:
    """How dust moves: it takes on the velocity of the air, and falls in it.

    Args:
        seconds: the time between two frames [s].
        gravity: [m/s^2].
        drag: how fast it takes on the velocity of the air [1/s].
        fall: how fast it falls in still air [m/s].
    """
    x, y, z = gravity
    strength = drag * fall / max(float(np.linalg.norm(gravity)), 1e-30)
    # it stays where it falls on material, but not on what it only drifts past
    return Motion(seconds, drag, (strength * x, strength * y, strength * z), Contact(0.0, 0.0, 0.0), Air(1.0, SURFACE))


def sizes(ids: Ids, kind: NDArray[np.int32], chip: float, dust: float) -> Floats:
    """The diameters of particles [m], given the means of chips and dust."""
    share = chances(ids, 3)
    span = 1.0 - _LARGEST**-_EXPONENT
    # of the density r^(-k-1) between 1 and q
    mean = _EXPONENT / (_EXPONENT - 1.0) * (1.0 - _LARGEST ** (1.0 - _EXPONENT)) / span
    chips = chip / mean * (1.0 - share * span) ** (-1.0 / _EXPONENT)
    return np.where(kind == CHIP, chips, dust * (_FINEST + (_COARSEST - _FINEST) * share))


def advanced(swarm: Swarm, before: Around, after: Around, motion: Motion, cell: float) -> Swarm:
    """Chips or dust one frame later, without new ones; those that end up inside colliders are gone."""
    position, velocity = swarm.position.astype(np.float64), swarm.velocity.astype(np.float64)
    start, states = position.copy(), np.zeros(len(position), np.int32)
    touch = Touch(*motion.contact)
    room = room_at(start, after, cell)
    step = Step(motion.seconds, motion.drag, *motion.pull)
    move_debris(position, velocity, room, before.fill, after.fill, Rules(step, touch, motion.air), states)
    lead_past(start, position, velocity, after, motion.contact, cell)
    keep_outside(position, velocity, after, motion.contact, cell)
    rooms = np.stack([room, room_at(position, after, cell)])
    land(start, position, velocity, states, rooms, after.fill, touch)
    uncover(position, rooms[1], after.fill, motion.seconds)
    inside = keep_outside(position, velocity, after, motion.contact, cell)
    there = Swarm(swarm.id, *rounded(position, velocity, cell), swarm.kind, swarm.emitter)
    return there.chosen(~inside) if inside.any() else there


def fullness_of(around: Around) -> Floats:
    """How full the space around the particles of the material is, (n,)."""
    fullness = np.zeros(len(around.id))
    fullnesses(around.position, around.fill, fullness)
    return fullness


def broken(before: Around, after: Around, has_bonds: NDArray[np.bool_]) -> Floats:
    """How much of each particle of the material has broken between two frames, from 0 to 1, (n,).

    Where material tears or breaks, its damage; elsewhere, the natural logarithm of how much its volume has grown beyond
    that at rest: its own, and that of the space that it has, whose fullness has fallen.

    Args:
        before, after: the material at both frames.
        has_bonds: whether the material of each emitter tears or breaks, so that frames have its damage, by number.
    """
    place = np.minimum(np.searchsorted(before.id, after.id), max(len(before.id) - 1, 0))
    if not len(before.id) or not len(after.id):
        return np.zeros(len(after.id))
    is_known = before.id[place] == after.id
    emitter = after.values.get(EMITTER, np.zeros(len(after.id), np.int32))
    own = has_bonds[emitter]
    found = np.zeros(len(after.id))
    if own.any() and DAMAGE in after.values and DAMAGE in before.values:
        found[own] = (after.values[DAMAGE] - before.values[DAMAGE][place])[own]
    if not own.all():
        fullness, earlier = (np.clip(fullness_of(each), LONE, 1.0) for each in (after, before))
        growth = np.log(earlier[place] / fullness)
        if VOLUME_RATIO in after.values and VOLUME_RATIO in before.values:
            now, then = (np.maximum(each.values[VOLUME_RATIO].astype(np.float64), 1.0) for each in (after, before))
            growth = np.maximum(growth, np.log(now / then[place]))
        found[~own] = (growth - _NOISE)[~own]
    return np.where(is_known, np.clip(found, 0.0, 1.0), 0.0)


def born(after: Around, share: Floats, limits: Limits, contact: Contact, cell: float) -> Swarm:
    """The particles that are born in the time before a frame. Raises MpmError if they are too many.

    Args:
        after: the material at the frame.
        share: how much of each of its particles has broken, (n,).
        limits: see `Limits`.
        contact: how new particles meet colliders.
        cell: the grid spacing [m].
    """
    count = len(after.id)
    counts, parting = np.zeros((2, count), np.int32), np.zeros(count)
    makers = Makers(after.position, after.velocity, after.id, after.fill, after.number)
    count_debris(makers, share, limits, parting, counts)
    found = []
    for kind in (CHIP, DUST):
        starts = np.concatenate([[0], np.cumsum(counts[kind], dtype=np.int64)])
        ids = new_ids(after.number, len(found[0].id) if found else 0, int(starts[-1]), "Debris")
        made = np.zeros((2, len(ids), 3))
        place_debris(makers, parting, starts, limits, kind, made)
        emitter = np.repeat(after.values.get(EMITTER, np.zeros(count, np.int32)), counts[kind]).astype(np.int32)
        found.append(Swarm(ids, made[0], made[1], np.full(len(ids), kind, np.int32), emitter))
    new = together(*found)
    start = np.concatenate([np.repeat(after.position, each, axis=0) for each in counts]).astype(np.float64)
    position, velocity = new.position, new.velocity
    lead_past(start, position, velocity, after, contact, cell, is_born=True)
    inside = keep_outside(position, velocity, after, contact, cell)
    inside |= _fullness(position, after) > DEEP * room_at(position, after, cell)
    return Swarm(new.id, *rounded(position, velocity, cell), new.kind, new.emitter).chosen(~inside)


def _fullness(points: Floats, around: Around) -> Floats:
    full: NDArray[Any] = np.zeros(len(points))
    fullnesses(points.astype(np.float32), around.fill, full)
    return full
