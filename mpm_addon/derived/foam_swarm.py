"""Particles of spray, foam and bubbles from one frame to the next.

Everything about a particle follows from its id and from the frames since its birth, and none depends on another. So a run that starts as
many frames earlier as the longest life is gives the same bytes as one from the first frame.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.errors import MpmError
from ..core.foam.births import DEEP, Limits, count_births, place_births
from ..core.foam.fluid import Fluid
from ..core.foam.motion import FOAM, Step, classify, enter, move
from ..storage.foam_file import rounded
from .boundaries import Boundary, Poses
from .foam_paths import lead_past_moving, lead_past_walls
from .foam_walls import kept_outside, room_around

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]

# An id is the number of the frame in which a particle is born, modulo the cycle, and its place among those that are born in it.
_PLACE_BITS = 20
CYCLE = 1 << (31 - _PLACE_BITS)
_MOST_BIRTHS = 1 << _PLACE_BITS
# The life of a particle over the mean, shortest and longest; and its size.
_SHORTEST, LONGEST = 0.5, 1.5
_SMALLEST, _LARGEST = 0.4, 2.2


class Swarm(NamedTuple):
    """Particles at a frame.

    Attributes:
        id: ascending, (n,).
        position, velocity: [m], [m/s], (n, 3).
        kind: 0 spray, 1 foam, 2 bubble, (n,).
    """

    id: NDArray[Any]
    position: NDArray[Any]
    velocity: NDArray[Any]
    kind: NDArray[Any]

    def chosen(self, which: NDArray[Any]) -> "Swarm":
        """Some of the particles: numbers, or a mask."""
        return Swarm(*(np.ascontiguousarray(array[which]) for array in self))


class Liquid(NamedTuple):
    """The liquid at a frame: ids, positions [m] and velocities [m/s] of its particles, the same on a grid, and what bounds it.

    `poses` are those of dynamic colliders, world from local (4, 4), by name.
    """

    number: int
    id: Ids
    position: NDArray[np.float32]
    velocity: NDArray[np.float32]
    fluid: Fluid
    boundaries: Sequence[Boundary]
    poses: Poses


def nobody() -> Swarm:
    """No particles."""
    none = np.zeros((0, 3), np.float32)
    return Swarm(np.zeros(0, np.int32), none, none, np.zeros(0, np.int32))


def _chances(ids: Ids, salt: int) -> Floats:
    """A number in [0, 1) for each id and a salt (splitmix64)."""
    key = ids.astype(np.uint64) * np.uint64(16) + np.uint64(salt)
    key = key * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((key ^ (key >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def ages(ids: Ids, number: int, frame_seconds: float) -> Floats:
    """The ages of particles at a frame [s]: they are born at random times before the frame in which they first appear."""
    frames = (number - (ids.astype(np.int64) >> _PLACE_BITS)) % CYCLE
    return (frames + _chances(ids, 1)) * frame_seconds


def lives(ids: Ids, life: float) -> Floats:
    """How long particles live [s], given the mean."""
    return life * (_SHORTEST + (LONGEST - _SHORTEST) * _chances(ids, 2))


def sizes(ids: Ids, size: float) -> Floats:
    """The diameters of particles [m], given the mean: many small ones, and few large ones."""
    return size * (_SMALLEST + (_LARGEST - _SMALLEST) * _chances(ids, 3) ** 2)


def advanced(swarm: Swarm, before: Liquid, after: Liquid, step: Step, cell: float) -> Swarm:
    """The particles one frame later, without new ones; those that end up inside colliders are gone."""
    position, velocity = swarm.position.astype(np.float64), swarm.velocity.astype(np.float64)
    start, walls, flying = position.copy(), after.boundaries, np.zeros(len(position), np.int32)
    room = room_around(start, walls, cell)
    move(position, velocity, swarm.kind, room, before.fluid, after.fluid, step, flying)
    # what would get through a shallow pool and its floor comes into the pool
    lead_past_moving(start, position, velocity, walls, cell)
    kept_outside(position, velocity, walls, cell)
    enter(start, position, velocity, flying, np.stack([room, room_around(position, walls, cell)]), after.fluid)
    inside = kept_outside(position, velocity, walls, cell)
    return _settled(Swarm(swarm.id, position, velocity, swarm.kind).chosen(~inside), after, step.seconds, cell)[0]


def born(after: Liquid, limits: Limits, seconds: float, cell: float) -> Swarm:
    """The particles that are born in the time before a frame. Raises MpmError if they are too many."""
    count = len(after.id)
    counts = np.zeros(count, np.int32)
    count_births(after.position, after.velocity, after.id, after.fluid, limits, after.number, counts)
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    if starts[-1] >= _MOST_BIRTHS:
        raise MpmError(f"frame {after.number} would make {starts[-1]:.2g} new particles", "use a smaller amount", subject="Foam")
    position, velocity = made = np.zeros((2, starts[-1], 3))
    place_births(after.position, after.velocity, after.id, starts, after.number, cell, seconds, made)
    lead_past_walls(np.repeat(after.position, counts, axis=0).astype(np.float64), position, velocity, after.boundaries, cell)
    inside = kept_outside(position, velocity, after.boundaries, cell)
    ids = (((after.number % CYCLE) << _PLACE_BITS) + np.arange(len(position))).astype(np.int32)
    found, fullness = _settled(Swarm(ids, position, velocity, ids).chosen(~inside), after, seconds, cell)
    # next to a wall, what is deep inside looks as if it were at the surface
    return found.chosen(fullness <= DEEP)


def _settled(swarm: Swarm, after: Liquid, seconds: float, cell: float) -> tuple[Swarm, Floats]:
    """The particles with their kinds, and how full the room around each is."""
    position, velocity = swarm.position, swarm.velocity
    kind, fullness = np.full(len(position), FOAM, np.int32), np.zeros(len(position))
    classify(position, kind, room_around(position, after.boundaries, cell), after.fluid, seconds, fullness)
    return Swarm(swarm.id, *rounded(position, velocity, cell), kind), fullness


def together(first: Swarm, second: Swarm) -> Swarm:
    """The particles of both, by id."""
    both = Swarm(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))
    return both.chosen(np.argsort(both.id, kind="stable"))
