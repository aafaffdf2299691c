"""Particles of spray, foam and bubbles from one frame to the next."""

import numpy as np
from numpy.typing import NDArray

from ..core.swarm.flight import Step
from ..core.swarm.foam_births import DEEP, Limits, count_births, place_births
from ..core.swarm.foam_motion import FOAM, classify, enter, move
from ..storage.swarm_file import rounded
from .swarm import Around, Ids, Swarm, chances, new_ids
from .swarm_paths import lead_past
from .swarm_walls import Contact, keep_outside, room_at

Floats = NDArray[np.float64]

# Sizes of bubbles in breaking waves: densities of diameters r^-1.5 below the size at which turbulence tears bubbles apart, and r^-10/3
# above (Deane and Stokes 2002). The smallest and the largest, over that size.
_FLAT, _STEEP = 1.5, 10.0 / 3.0
_SMALLEST, _LARGEST = 0.2, 1.8
# The part of a speed toward a collider that is reflected; drops mostly stick and run down.
_CONTACT = Contact(bounce=0.1, friction=0.0, still=0.0)


def sizes(ids: Ids, size: float) -> Floats:
    """The diameters of particles [m], given the mean: many small ones, and few large ones."""
    below, above = _integral(_SMALLEST, 1.0, _FLAT), _integral(1.0, _LARGEST, _STEEP)
    mean = (_integral(_SMALLEST, 1.0, _FLAT - 1.0) + _integral(1.0, _LARGEST, _STEEP - 1.0)) / (below + above)
    # the diameter below which a share of the particles are
    share = chances(ids, 3) * (below + above)
    small = (_SMALLEST ** (1.0 - _FLAT) + (1.0 - _FLAT) * np.minimum(share, below)) ** (1.0 / (1.0 - _FLAT))
    large = (1.0 + (1.0 - _STEEP) * np.maximum(share - below, 0.0)) ** (1.0 / (1.0 - _STEEP))
    return size / mean * small * large


def _integral(start: float, end: float, exponent: float) -> float:
    """The integral of x^-exponent from `start` to `end`."""
    return (end ** (1.0 - exponent) - start ** (1.0 - exponent)) / (1.0 - exponent)


def advanced(swarm: Swarm, before: Around, after: Around, step: Step, cell: float) -> Swarm:
    """The particles one frame later, without new ones; those that end up inside colliders are gone."""
    position, velocity = swarm.position.astype(np.float64), swarm.velocity.astype(np.float64)
    start, flying = position.copy(), np.zeros(len(position), np.int32)
    room = room_at(start, after, cell)
    move(position, velocity, swarm.kind, room, before.fill, after.fill, step, flying)
    # what would get through a shallow pool and its floor comes into the pool
    lead_past(start, position, velocity, after, _CONTACT, cell)
    keep_outside(position, velocity, after, _CONTACT, cell)
    enter(start, position, velocity, flying, np.stack([room, room_at(position, after, cell)]), after.fill)
    inside = keep_outside(position, velocity, after, _CONTACT, cell)
    there = Swarm(swarm.id, position, velocity, swarm.kind, swarm.emitter)
    return _settled(there.chosen(~inside) if inside.any() else there, after, step.seconds, cell)[0]


def born(after: Around, limits: Limits, seconds: float, cell: float) -> Swarm:
    """The particles that are born in the time before a frame. Raises MpmError if they are too many."""
    count = len(after.id)
    counts = np.zeros(count, np.int32)
    count_births(after.position, after.velocity, after.id, after.fill, limits, after.number, counts)
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    ids = new_ids(after.number, 0, int(starts[-1]), "Foam")
    position, velocity = made = np.zeros((2, len(ids), 3))
    place_births(after.position, after.velocity, after.id, starts, after.number, cell, seconds, made)
    start = np.repeat(after.position, counts, axis=0).astype(np.float64)
    lead_past(start, position, velocity, after, _CONTACT, cell, is_born=True)
    inside = keep_outside(position, velocity, after, _CONTACT, cell)
    found, fullness = _settled(Swarm(ids, position, velocity, ids, np.zeros_like(ids)).chosen(~inside), after, seconds, cell)
    # next to a wall, what is deep inside looks as if it were at the surface
    return found.chosen(fullness <= DEEP)


def _settled(swarm: Swarm, after: Around, seconds: float, cell: float) -> tuple[Swarm, Floats]:
    """The particles with their kinds, and how full the room around each is."""
    position, velocity = swarm.position, swarm.velocity
    kind, fullness = np.full(len(position), FOAM, np.int32), np.zeros(len(position))
    classify(position, kind, room_at(position, after, cell), after.fill, seconds, fullness)
    return Swarm(swarm.id, *rounded(position, velocity, cell), kind, swarm.emitter), fullness
