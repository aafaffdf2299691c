"""Colliders and walls as particles of foam meet them: how much room they leave, and where they stop."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .boundaries import Boundary

Floats = NDArray[np.float64]

# Particles stay this far from colliders [cells], more than positions are rounded by.
GAP = 0.01
# As many surfaces form a corner.
_CORNER = 3
# The part of a speed toward a collider that is reflected; drops mostly stick and run down.
BOUNCE = 0.1
# A particle farther than this from a plane has all room around it [cells].
_REACH = 1.0


def room_around(points: Floats, boundaries: Sequence[Boundary], cell: float) -> Floats:
    """The part of the space around points (n, 3) that colliders do not take, (n,): 1 far from them, 1/2 at a plane.

    Args:
        points: [m], (n, 3).
        boundaries: colliders and walls.
        cell: the grid spacing [m], over which the space around a point extends.
    """
    room = np.ones(len(points))
    for boundary in boundaries:
        near, distance, _normal = boundary.near(points, _REACH * cell)
        share = np.clip(distance / (_REACH * cell), 0.0, 1.0)
        room[near] *= 0.5 + 0.25 * share * (3.0 - share * share)
    return room


def kept_outside(points: Floats, velocity: Floats, boundaries: Sequence[Boundary], cell: float) -> NDArray[np.bool_]:
    """Move points out of colliders and take away the speed at which they meet, in place; returns which are still inside, (n,).

    Args:
        points, velocity: [m], [m/s], (n, 3).
        boundaries: colliders and walls.
        cell: the grid spacing [m].
    """
    waiting = np.arange(len(points))
    for surface in range(_CORNER):
        # those that already lie at a surface do not take on velocities that lead into it
        reach = (1.02 if surface == 0 else 1.0) * GAP * cell
        touched = np.zeros(len(points), np.bool_)
        for boundary in boundaries:
            near, distance, normal = boundary.near(points[waiting], reach)
            numbers = waiting[near]
            # a little farther, so that the same surface is not met again
            points[numbers] += (1.01 * GAP * cell - distance)[:, None] * normal
            relative = velocity[numbers] - boundary.velocity(points[numbers])
            toward = np.minimum(np.einsum("nd,nd->n", relative, normal), 0.0)
            velocity[numbers] -= (1.0 + BOUNCE) * toward[:, None] * normal
            touched[numbers] = True
        waiting = np.flatnonzero(touched)
    inside = np.zeros(len(points), np.bool_)
    for boundary in boundaries:
        near, distance, _normal = boundary.near(points[waiting], 0.0)
        inside[waiting[near]] = True
    return inside
