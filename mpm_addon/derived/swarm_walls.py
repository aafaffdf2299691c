"""Colliders and walls as particles of a swarm meet them: how much room they leave, and where they stop."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .boundaries import Boundary
from .swarm import Around

Floats = NDArray[np.float64]

# Particles stay this far from colliders [cells], more than positions are rounded by.
GAP = 0.01
# What is nearer than this to a surface touches it [gaps].
_TOUCH = 1.02
# As many surfaces form a corner.
_CORNER = 3
# A particle farther than this from a plane has all room around it [cells].
_REACH = 1.0


class Contact(NamedTuple):
    """How particles meet colliders.

    Attributes:
        bounce: the part of a speed toward a collider that is reflected.
        friction: the coefficient of friction.
        still: what meets a collider more slowly does not rebound [m/s].
    """

    bounce: float
    friction: float
    still: float

    def rebound(self, velocity: Floats, normal: Floats) -> tuple[Floats, Floats, Floats]:
        """What becomes of velocities (n, 3) relative to a surface that are met by it (Coulomb friction).

        Returns:
            The new velocities (n, 3), the part of the speed toward the surface that is reflected, and that of the speed along it that is
            kept (n,).
        """
        toward = np.maximum(-dot(velocity, normal), 0.0)
        back = self.bounce * np.maximum(toward - self.still, 0.0)
        along = velocity + toward[:, None] * normal
        kept = np.ones(len(toward))
        if self.friction:
            meets = toward > 0.0
            sliding = np.sqrt(dot(along[meets], along[meets]))
            kept[meets] = np.maximum(1.0 - self.friction * (toward + back)[meets] / np.maximum(sliding, 1e-30), 0.0)
            along[meets] *= kept[meets, None]
        return along + back[:, None] * normal, back / np.maximum(toward, 1e-30), kept


def room_at(points: Floats, around: Around, cell: float) -> Floats:
    """As `room_around`, for the colliders and walls of a frame."""
    room = np.ones(len(points))
    near = np.flatnonzero(around.clearance(points) < _REACH * cell)
    if len(near):
        room[near] = room_around(points[near], around.boundaries, cell)
    return room


def keep_outside(points: Floats, velocity: Floats, around: Around, contact: Contact, cell: float) -> NDArray[np.bool_]:
    """As `kept_outside`, for the colliders and walls of a frame."""
    inside = np.zeros(len(points), np.bool_)
    near = np.flatnonzero(around.clearance(points) < _TOUCH * GAP * cell)
    if len(near):
        place, speed = points[near], velocity[near]
        inside[near] = kept_outside(place, speed, around.boundaries, contact, cell)
        points[near], velocity[near] = place, speed
    return inside


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


def kept_outside(points: Floats, velocity: Floats, boundaries: Sequence[Boundary], contact: Contact, cell: float) -> NDArray[np.bool_]:
    """Move points out of colliders and take away the speed at which they meet, in place; returns which are still inside, (n,).

    Args:
        points, velocity: [m], [m/s], (n, 3).
        boundaries: colliders and walls.
        contact: see `Contact`.
        cell: the grid spacing [m].
    """
    waiting = np.arange(len(points))
    for surface in range(_CORNER):
        # those that already lie at a surface do not take on velocities that lead into it
        reach = (_TOUCH if surface == 0 else 1.0) * GAP * cell
        touched = np.zeros(len(points), np.bool_)
        for boundary in boundaries:
            near, distance, normal = boundary.near(points[waiting], reach)
            numbers = waiting[near]
            # a little farther, so that the same surface is not met again
            points[numbers] += (1.01 * GAP * cell - distance)[:, None] * normal
            ground = boundary.velocity(points[numbers])
            velocity[numbers] = ground + contact.rebound(velocity[numbers] - ground, normal)[0]
            touched[numbers] = True
        waiting = np.flatnonzero(touched)
    inside = np.zeros(len(points), np.bool_)
    for boundary in boundaries:
        near, distance, _normal = boundary.near(points[waiting], 0.0)
        inside[waiting[near]] = True
    return inside


def dot(first: Floats, second: Floats) -> Floats:
    """The products of vectors (n, 3), (n,)."""
    return first[:, 0] * second[:, 0] + first[:, 1] * second[:, 1] + first[:, 2] * second[:, 2]
