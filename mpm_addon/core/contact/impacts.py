"""Impacts of rigid bodies that may break: how hard each is, and the virtual displacements of the tetrahedra in contact (Chen 2013).

An impact is measured by the impulses that stop the bodies as they move before a substep, without gravity: those of bodies that rest on one
another are almost zero, however many there are. The impulse P of a pair stands for the speed v = P (n . K n) at which two free bodies would
have met, so that a body that is hit through another one breaks, too.
"""

from typing import NamedTuple

import numpy as np

from .breakable import Breakable
from .obstacle import Floats, Ints
from .rigid_body import RigidBody
from .rigid_contact import Contacts
from .rigid_impulses import SolverBodies
from .rigid_surfaces import RigidSurface, Surface


class Impact(NamedTuple):
    """An impact of a body.

    Attributes:
        body: its number.
        other: what it hits.
        speed: at which two free bodies would have met for the same impulse [m/s].
        is_shared: whether the other one is a rigid body, too.
    """

    body: int
    other: Surface
    speed: float
    is_shared: bool


def approach_speed(contacts: Contacts, velocities: Floats, dt: float) -> float:
    """The greatest speed at which two surfaces meet within a substep [m/s]; 0 if none do.

    Args:
        velocities: of the bodies, shape (bodies, 6).
        dt: [s].
    """
    if not len(contacts.first):
        return 0.0
    speeds = contacts.approach(velocities)
    return max(0.0, -float(speeds[contacts.gap + dt * speeds < 0.0].min(initial=0.0)))


def impacts_of(
    breakables: list[Breakable | None],
    surfaces: list[RigidSurface],
    others: list[Surface],
    contacts: Contacts,
    bodies: SolverBodies,
    centers: Floats,
    dt: float,
) -> list[Impact]:
    """The impacts in a substep of the bodies that may break.

    Args:
        breakables: what each body consists of, or None.
        surfaces: of the bodies.
        others: of the other colliders.
        contacts: all contacts.
        bodies: as they move before the substep; the velocities are changed.
        centers: of mass of the bodies [m], shape (bodies, 3).
        dt: [s].
    """
    least = -np.maximum(contacts.gap, 0.0) / dt
    sizes = contacts.solve(bodies, least)[0][:, 0]
    places = contacts.arms[:, :3] + centers[contacts.first]
    every = [*surfaces, *others]
    touched = np.where(contacts.second < 0, _nearest(others, places) + len(surfaces), contacts.second)
    found = []
    for first, second in np.unique(np.stack([contacts.first, touched], axis=1)[sizes > 0.0], axis=0).tolist():
        pair = [number for number in (first, second) if number < len(surfaces)]
        broken = [number for number in pair if breakables[number] is not None]
        # pieces of one body fill each other's gaps, so they meet in every substep
        if not broken or (len(broken) == 2 and _is_one(breakables, broken)):
            continue
        rows = np.flatnonzero((contacts.first == first) & (touched == second))
        push = sizes[rows] @ contacts.normals[rows]
        size = max(float(np.linalg.norm(push)), 1e-300)
        place = sizes[rows] @ places[rows] / sizes[rows].sum()
        speed = size * sum(_mobility(bodies, centers[number], number, place, push / size) for number in pair)
        for number in broken:
            piece = breakables[number]
            assert piece is not None
            if speed >= piece.least_speed:
                found.append(Impact(number, every[second if number == first else first], speed, len(pair) == 2))
    return found


def _is_one(breakables: list[Breakable | None], pair: list[int]) -> bool:
    """Whether two bodies are pieces of one."""
    first, second = (breakables[number] for number in pair)
    return first is not None and second is not None and first.collider is second.collider


def _nearest(others: list[Surface], places: Floats) -> Ints:
    """The number of the collider that is nearest to each place (n, 3), shape (n,); 0 if there are none."""
    distances = [np.abs(other.distance(places)[0]) if other.obstacle.is_present else np.full(len(places), np.inf) for other in others]
    return np.argmin(distances, axis=0) if distances else np.zeros(len(places), np.int64)


def _mobility(bodies: SolverBodies, center: Floats, number: int, place: Floats, normal: Floats) -> float:
    """The change of a body's velocity at a place along a direction, per impulse there in that direction [1/kg]."""
    lever = np.cross(place - center, normal)
    return float(bodies.inverse_mass[number] @ normal**2 + lever @ bodies.inverse_inertia[number] @ lever)


def displacements(piece: Breakable, body: RigidBody, impacts: list[Impact]) -> Floats:
    """The virtual displacements of a body's tetrahedra at its impacts, in the coordinates of its shape [m], shape (t, 3).

    A tetrahedron touches what its ball reaches. It moves into the body by the depth of the ball, but no farther than the surface moves
    while a wave crosses the ball; by half of that if both bodies can move.
    """
    solid, pose, scale = piece.solid, body.pose, body.start_scale
    moved = np.zeros((len(solid.corners), 3))
    exposed = np.flatnonzero(solid.is_exposed)
    centers = solid.centroids[exposed] @ pose[:3, :3].T + pose[:3, 3]
    radii = solid.radii[exposed] * scale
    for impact in impacts:
        distance, normal = impact.other.distance(np.ascontiguousarray(centers))
        depth = radii - distance
        # the nearest one touches, even where coarse tetrahedra leave a gap below the shape
        nearest = int(depth.argmax())
        depth[nearest] = max(depth[nearest], radii[nearest])
        way = np.clip(depth, 0.0, impact.speed * radii / piece.wave_speed) * (0.5 if impact.is_shared else 1.0)
        moved[exposed] += way[:, None] * (normal @ pose[:3, :3]) / scale**2
    return moved
