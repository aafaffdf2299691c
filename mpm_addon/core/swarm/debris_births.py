"""Where material that breaks throws off chips and dust, and how much.

A particle that loses its bonds or whose volume grows makes new ones in proportion to how much of it breaks, where it is near the surface
and the material around it parts fast. The potentials are those of foam (`foam_births`), with what parts in place of what approaches.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .births import approach, chance, share_of
from .fill import Fill, sample

# Around what is emptier, nothing is left that could break. In fuller surroundings than the second, less is made; in the last, nothing.
LONE, _OPEN, DEEP = 0.12, 0.6, 0.9
# New particles lie within so many spacings of the particle that makes them, toward the outside.
_RADIUS = 0.35
CHIP, DUST = 0, 1
_GRAIN = 1024


class Limits(NamedTuple):
    """How much is made.

    Attributes:
        chips, dust: new particles of a particle that breaks completely with full potentials.
        slow, fast: the speeds at which material around parts where this potential begins and is full [m/s].
        seconds: the time since the frame before [s].
        spread: the random part of new velocities, as a share of the speed at which material parts.
    """

    chips: float
    dust: float
    slow: float
    fast: float
    seconds: float
    spread: float


class Makers(NamedTuple):
    """The particles of a material that may break.

    Attributes:
        position, velocity, ids: (n, 3) [m], (n, 3) [m/s], (n,).
        fill: the same particles on the grid.
        frame: the number of the frame.
    """

    position: NDArray[np.float32]
    velocity: NDArray[np.float32]
    ids: NDArray[np.int32]
    fill: Fill
    frame: int


@parallel_kernel
def count_debris(tickets, makers, broken, limits, parting, counts):
    """How many chips and how much dust are made at each particle of a material.

    Args:
        makers: see `Makers`.
        broken: (n,) how much of each has broken since the frame before, 0 to 1.
        limits: see `Limits`.
        parting: (n,) result: how fast the material around parts [m/s], where something is made.
        counts: (2, n) result: chips and dust.
    """
    position, velocity, ids, fill, frame = makers
    for piece in shared(tickets[0], (ids.size + _GRAIN - 1) // _GRAIN, 1):
        for particle in range(piece * _GRAIN, min((piece + 1) * _GRAIN, ids.size)):
            counts[CHIP, particle] = counts[DUST, particle] = 0
            parting[particle] = 0.0
            chips, dust = chance(ids[particle], frame, 1), chance(ids[particle], frame, 2)
            # most particles are decided here
            if max(limits.chips * broken[particle] + chips, limits.dust * broken[particle] + dust) < 1.0:
                continue
            place = float(position[particle, 0]), float(position[particle, 1]), float(position[particle, 2])
            full, _, _ = sample(fill, place[0], place[1], place[2])
            if full > DEEP or full < LONE:
                continue
            speed = float(velocity[particle, 0]), float(velocity[particle, 1]), float(velocity[particle, 2])
            parting[particle] = approach(fill, place, speed, -1.0)
            share = broken[particle] * share_of(DEEP - full, 0.0, DEEP - _OPEN) * share_of(parting[particle], limits.slow, limits.fast)
            counts[CHIP, particle] = math.floor(limits.chips * share + chips)
            counts[DUST, particle] = math.floor(limits.dust * share + dust)


@parallel_kernel
def place_debris(tickets, makers, parting, starts, limits, kind, made):
    """Place new particles around those that make them, on the side of the surface, and let them fly apart.

    A random vector in a half ball around the normal gives both the place and the additional velocity.

    Args:
        makers, limits: as in `count_debris`.
        parting: (n,) how fast the material around parts [m/s].
        starts: (n + 1,) the number of new particles before each.
        kind: CHIP or DUST.
        made: (2, m, 3) results: positions [m] and velocities [m/s].
    """
    position, velocity, ids, fill, frame = makers
    for piece in shared(tickets[0], (ids.size + _GRAIN - 1) // _GRAIN, 1):
        for particle in range(piece * _GRAIN, min((piece + 1) * _GRAIN, ids.size)):
            if starts[particle] == starts[particle + 1]:
                continue
            _, (gx, gy, gz), _ = sample(fill, float(position[particle, 0]), float(position[particle, 1]), float(position[particle, 2]))
            for number in range(starts[particle], starts[particle + 1]):
                order = 16 * (number - starts[particle]) + 8 * kind
                up = 2.0 * chance(ids[particle], frame, order + 3) - 1.0
                turn = 2.0 * math.pi * chance(ids[particle], frame, order + 4)
                length = chance(ids[particle], frame, order + 5) ** (1.0 / 3.0)
                # it flies since a random time before the frame
                since = chance(ids[particle], frame, order + 6) * limits.seconds
                flat = length * math.sqrt(max(1.0 - up * up, 0.0))
                way = (flat * math.cos(turn), flat * math.sin(turn), length * up)
                # the gradient leads inward
                sense = -1.0 if way[0] * gx + way[1] * gy + way[2] * gz > 0.0 else 1.0
                for axis in range(3):
                    apart = sense * limits.spread * parting[particle] * way[axis]
                    away = sense * _RADIUS * fill.spacing * way[axis] + since * apart
                    made[0, number, axis] = float(position[particle, axis]) + away
                    made[1, number, axis] = float(velocity[particle, axis]) + apart
