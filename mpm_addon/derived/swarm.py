"""Swarms at a frame: the particles of foam or debris, and the material around them.

Everything about a particle follows from its id and from the frames since its birth, and none depends on another. So a run that starts as
many frames earlier as the longest life is gives the same bytes as one from the first frame.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.errors import MpmError
from ..core.swarm.clearance import Outlines, clearances
from ..core.swarm.fill import Fill
from .boundaries import Boundary, Poses

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]

# An id is the number of the frame in which a particle is born, modulo the cycle, and its place among those that are born in it.
_PLACE_BITS = 20
CYCLE = 1 << (31 - _PLACE_BITS)
MOST_BIRTHS = 1 << _PLACE_BITS
# The life of a particle over the mean, shortest and longest.
_SHORTEST, LONGEST = 0.5, 1.5


class Swarm(NamedTuple):
    """Particles at a frame.

    Attributes:
        id: ascending, (n,).
        position, velocity: [m], [m/s], (n, 3).
        kind: of each, by number, (n,).
        emitter: the number of the emitter whose material made it, (n,); 0 in foam.
    """

    id: NDArray[Any]
    position: NDArray[Any]
    velocity: NDArray[Any]
    kind: NDArray[Any]
    emitter: NDArray[Any]

    def chosen(self, which: NDArray[Any]) -> "Swarm":
        """Some of the particles: numbers, or a mask."""
        return Swarm(*(np.ascontiguousarray(array[which]) for array in self))


class Around(NamedTuple):
    """The simulated material at a frame, and what bounds it.

    Attributes:
        number: of the frame.
        id: of its particles, (n,).
        position, velocity: of its particles [m], [m/s], (n, 3).
        fill: the same on a grid.
        boundaries: colliders and walls.
        outlines: what they lie behind or inside.
        poses: of dynamic colliders, world from local (4, 4), by name.
        values: further attributes of its particles, by name.
    """

    number: int
    id: Ids
    position: NDArray[np.float32]
    velocity: NDArray[np.float32]
    fill: Fill
    boundaries: Sequence[Boundary]
    outlines: Outlines
    poses: Poses
    values: Mapping[str, NDArray[Any]]

    def clearance(self, points: Floats) -> Floats:
        """The least distances of points (n, 3) to what bounds the material [m], (n,); those to colliders and walls are not less."""
        clear = np.empty(len(points))
        clearances(points, self.outlines, clear)
        return clear


def outlines_of(boundaries: Sequence[Boundary]) -> Outlines:
    """What colliders and walls lie behind or inside."""
    planes = [boundary.plane for boundary in boundaries if boundary.plane is not None]
    boxes = [boundary.box().ravel() for boundary in boundaries if boundary.plane is None]
    return Outlines(np.array(planes).reshape(-1, 4), np.array(boxes).reshape(-1, 6))


def nobody() -> Swarm:
    """No particles."""
    none, numbers = np.zeros((0, 3), np.float32), np.zeros(0, np.int32)
    return Swarm(numbers, none, none, numbers, numbers)


def new_ids(number: int, first: int, count: int, subject: str) -> Ids:
    """The ids of particles that are born in a frame.

    Args:
        number: of the frame.
        first: how many others are.
        count: how many they are.
        subject: how a message names what they are.

    Raises:
        MpmError: they are too many.
    """
    if first + count >= MOST_BIRTHS:
        raise MpmError(f"frame {number} would make {first + count:.2g} new particles", "use a smaller amount", subject=subject)
    return (((number % CYCLE) << _PLACE_BITS) + first + np.arange(count)).astype(np.int32)


def chances(ids: Ids, salt: int) -> Floats:
    """A number in [0, 1) for each id and a salt (splitmix64)."""
    key = ids.astype(np.uint64) * np.uint64(16) + np.uint64(salt)
    key = key * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((key ^ (key >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def ages(ids: Ids, number: int, frame_seconds: float) -> Floats:
    """The ages of particles at a frame [s]: they are born at random times before the frame in which they first appear."""
    frames = (number - (ids.astype(np.int64) >> _PLACE_BITS)) % CYCLE
    return (frames + chances(ids, 1)) * frame_seconds


def lives(ids: Ids, life: float | Floats) -> Floats:
    """How long particles live [s], given the mean."""
    return life * (_SHORTEST + (LONGEST - _SHORTEST) * chances(ids, 2))


def together(*some: Swarm) -> Swarm:
    """The particles of all, by id."""
    both = Swarm(*(np.concatenate(arrays) for arrays in zip(*some, strict=True)))
    return both.chosen(np.argsort(both.id, kind="stable"))
