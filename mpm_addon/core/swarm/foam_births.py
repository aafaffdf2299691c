"""Where a liquid makes spray, foam and bubbles, and how much.

Source: Ihmsen, Akinci, Akinci and Teschner 2012, Unified spray, foam and air bubbles for particle-based fluids: potentials of trapped air,
wave crests and kinetic energy. Sums over neighbors are sums over the nodes around a particle. The curvature of a crest follows from how
full the space around it is, an integral invariant (Pottmann and others 2009) that is smooth where differences of normals are not.
"""

import math
from typing import NamedTuple

from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .births import approach, chance, share_of
from .fill import sample
from .foam_motion import AIRY

# Particles with fuller surroundings are deep inside, where there is no air.
DEEP = 0.85
# A crest moves toward its outside: the least cosine between its velocity and the normal.
_OUTWARD = 0.6
# How much emptier the space around a crest is than at a flat surface: where the potential begins, and where it is full.
_FLAT, _CREST, _TIP = 0.5, 0.05, 0.25
# A crest has liquid behind it: this fullness at so many spacings inward. Drops of up to 3^3 particles reach 0.3, the rim of a sheet 0.43.
_BACKED, _BEHIND = 0.35, 1.5
# New particles lie within so many spacings around the path of a particle, and spread by this part of its speed.
_RADIUS, _SPREAD = 0.25, 0.1
_GRAIN = 2048


class Limits(NamedTuple):
    """How much is made.

    Attributes:
        expected: new particles of a particle with full potentials in the time of a frame.
        slow, fast: speeds at which the potential of kinetic energy begins and is full [m/s].
        calm, rough: relative speeds at which the potential of trapped air begins and is full [m/s].
    """

    expected: float
    slow: float
    fast: float
    calm: float
    rough: float


@parallel_kernel
def count_births(tickets, position, velocity, ids, fill, limits, frame, counts):
    """How many particles are made at each particle of a liquid.

    Args:
        position, velocity, ids: (n, 3) [m], (n, 3) [m/s], (n,) of the liquid.
        fill: the same particles on the grid.
        limits: see `Limits`.
        frame: the number of the frame.
        counts: (n,) result.
    """
    for piece in shared(tickets[0], (ids.size + _GRAIN - 1) // _GRAIN, 1):
        for particle in range(piece * _GRAIN, min((piece + 1) * _GRAIN, ids.size)):
            counts[particle] = 0
            u, v, w = float(velocity[particle, 0]), float(velocity[particle, 1]), float(velocity[particle, 2])
            squared = u * u + v * v + w * w
            energy = share_of(squared, limits.slow * limits.slow, limits.fast * limits.fast)
            draw = chance(ids[particle], frame, 1)
            # most particles are decided here: both other potentials are at most 1
            if 2.0 * limits.expected * energy + draw < 1.0:
                continue
            x, y, z = float(position[particle, 0]), float(position[particle, 1]), float(position[particle, 2])
            full, (gx, gy, gz), _ = sample(fill, x, y, z)
            # what is spray itself makes no more
            if full > DEEP or full < AIRY:
                continue
            steep = max(math.sqrt(gx * gx + gy * gy + gz * gz), 1e-30)
            crest = 0.0
            if -(u * gx + v * gy + w * gz) >= _OUTWARD * steep * math.sqrt(squared):
                inward = _BEHIND * fill.spacing / steep
                if sample(fill, x + inward * gx, y + inward * gy, z + inward * gz)[0] >= _BACKED:
                    crest = share_of(_FLAT - full, _CREST, _TIP)
            trapped = share_of(approach(fill, (x, y, z), (u, v, w), 1.0), limits.calm, limits.rough)
            counts[particle] = math.floor(limits.expected * energy * (crest + trapped) + draw)


@parallel_kernel
def place_births(tickets, position, velocity, ids, starts, frame, spacing, seconds, made):
    """Place the new particles around the paths of those that make them.

    Args:
        position, velocity, ids: as in `count_births`.
        starts: (n + 1,) the number of new particles before each.
        frame: the number of the frame.
        spacing: of the grid [m].
        seconds: the time of a frame [s].
        made: (2, m, 3) results: positions [m] and velocities [m/s].
    """
    for piece in shared(tickets[0], (ids.size + _GRAIN - 1) // _GRAIN, 1):
        for particle in range(piece * _GRAIN, min((piece + 1) * _GRAIN, ids.size)):
            u, v, w = float(velocity[particle, 0]), float(velocity[particle, 1]), float(velocity[particle, 2])
            speed = max(math.sqrt(u * u + v * v + w * w), 1e-30)
            # two directions across the path
            across = math.sqrt(v * v + w * w) if abs(u) < 0.9 * speed else math.sqrt(u * u + w * w)
            if abs(u) < 0.9 * speed:
                ax, ay, az = 0.0, -w / max(across, 1e-30), v / max(across, 1e-30)
            else:
                ax, ay, az = -w / max(across, 1e-30), 0.0, u / max(across, 1e-30)
            bx, by, bz = (v * az - w * ay) / speed, (w * ax - u * az) / speed, (u * ay - v * ax) / speed
            for number in range(starts[particle], starts[particle + 1]):
                order = 8 * (number - starts[particle])
                angle = 2.0 * math.pi * chance(ids[particle], frame, order + 2)
                radius = math.sqrt(chance(ids[particle], frame, order + 3))
                behind = chance(ids[particle], frame, order + 4) * seconds
                c, s = radius * math.cos(angle), radius * math.sin(angle)
                px, py, pz = c * ax + s * bx, c * ay + s * by, c * az + s * bz
                made[0, number, 0] = position[particle, 0] + _RADIUS * spacing * px - behind * u
                made[0, number, 1] = position[particle, 1] + _RADIUS * spacing * py - behind * v
                made[0, number, 2] = position[particle, 2] + _RADIUS * spacing * pz - behind * w
                made[1, number, 0] = u + _SPREAD * speed * px
                made[1, number, 1] = v + _SPREAD * speed * py
                made[1, number, 2] = w + _SPREAD * speed * pz
