"""Impulses at the contacts of rigid bodies: projected Gauss-Seidel with Coulomb friction (Moreau 1988; Catto 2005).

A contact requires a least relative velocity along its normal. Across a gap this is minus the gap over the substep, so that bodies just
touch and do not bounce. Friction opposes sliding with at most mu times the normal impulse.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel

# sweeps end once they change velocities by less than this share of the changes in the first sweep
TOLERANCE = 1e-10


class SolverBodies(NamedTuple):
    """Rigid bodies, for the contact solver.

    Attributes:
        velocities: of the center of mass [m/s] and angular [rad/s], shape (bodies, 6); changed.
        inverse_mass: along each axis [1/kg], shape (bodies, 3); 0 for a body that does not move.
        inverse_inertia: in world axes [1/(kg m^2)], shape (bodies, 3, 3).
    """

    velocities: NDArray[np.float64]
    inverse_mass: NDArray[np.float64]
    inverse_inertia: NDArray[np.float64]


@generic
def velocity_at(bodies, body, x, y, z):
    """The velocity [m/s] of a body at x, y, z from its center of mass; zero for body -1."""
    if body < 0:
        return 0.0, 0.0, 0.0
    v = bodies.velocities[body]
    return v[0] + v[4] * z - v[5] * y, v[1] + v[5] * x - v[3] * z, v[2] + v[3] * y - v[4] * x


@generic
def mobility(bodies, body, x, y, z, nx, ny, nz):
    """The change of a body's velocity at x, y, z along n per impulse there along n [1/kg]."""
    if body < 0:
        return 0.0
    m, inertia = bodies.inverse_mass[body], bodies.inverse_inertia[body]
    u, v, w = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
    turn = 0.0
    for row in range(3):
        turn += (u, v, w)[row] * (inertia[row, 0] * u + inertia[row, 1] * v + inertia[row, 2] * w)
    return m[0] * nx * nx + m[1] * ny * ny + m[2] * nz * nz + turn


@generic
def push_body(bodies, body, x, y, z, px, py, pz):
    """Apply an impulse [kg m/s] to a body at x, y, z from its center of mass."""
    if body < 0:
        return
    v, m, inertia = bodies.velocities[body], bodies.inverse_mass[body], bodies.inverse_inertia[body]
    v[0] += m[0] * px
    v[1] += m[1] * py
    v[2] += m[2] * pz
    tx, ty, tz = y * pz - z * py, z * px - x * pz, x * py - y * px
    for row in range(3):
        v[3 + row] += inertia[row, 0] * tx + inertia[row, 1] * ty + inertia[row, 2] * tz


@generic
def solve_contact(c, contacts, least, bodies, impulses):
    """Correct the velocities at one contact; returns the greatest change of a velocity [m/s]."""
    arms, normals, others, friction = contacts.arms, contacts.normals, contacts.others, contacts.friction
    a, b = contacts.first[c], contacts.second[c]
    ax, ay, az, bx, by, bz = arms[c, 0], arms[c, 1], arms[c, 2], arms[c, 3], arms[c, 4], arms[c, 5]
    nx, ny, nz = normals[c, 0], normals[c, 1], normals[c, 2]
    ease = mobility(bodies, a, ax, ay, az, nx, ny, nz)
    ease += mobility(bodies, b, bx, by, bz, nx, ny, nz)
    if ease == 0.0:
        return 0.0
    u, v, w = velocity_at(bodies, a, ax, ay, az)
    p, q, r = velocity_at(bodies, b, bx, by, bz)
    u, v, w = u - p - others[c, 0], v - q - others[c, 1], w - r - others[c, 2]
    before = impulses[c, 0]
    impulses[c, 0] = max(0.0, before + (least[c] - (u * nx + v * ny + w * nz)) / ease)
    change = impulses[c, 0] - before
    px, py, pz = change * nx, change * ny, change * nz
    push_body(bodies, a, ax, ay, az, px, py, pz)
    push_body(bodies, b, bx, by, bz, -px, -py, -pz)
    largest = abs(change) * ease
    if friction[c] == 0.0:
        return largest
    u, v, w = velocity_at(bodies, a, ax, ay, az)
    p, q, r = velocity_at(bodies, b, bx, by, bz)
    u, v, w = u - p - others[c, 0], v - q - others[c, 1], w - r - others[c, 2]
    along = u * nx + v * ny + w * nz
    u, v, w = u - along * nx, v - along * ny, w - along * nz
    speed = math.sqrt(u * u + v * v + w * w)
    px, py, pz = impulses[c, 1], impulses[c, 2], impulses[c, 3]
    if speed > 0.0:
        ease = mobility(bodies, a, ax, ay, az, u / speed, v / speed, w / speed)
        ease += mobility(bodies, b, bx, by, bz, u / speed, v / speed, w / speed)
        if ease > 0.0:
            px, py, pz = px - u / ease, py - v / ease, pz - w / ease
    size, most = math.sqrt(px * px + py * py + pz * pz), friction[c] * impulses[c, 0]
    if size > most:
        px, py, pz = px * most / size, py * most / size, pz * most / size
    dx, dy, dz = px - impulses[c, 1], py - impulses[c, 2], pz - impulses[c, 3]
    impulses[c, 1], impulses[c, 2], impulses[c, 3] = px, py, pz
    push_body(bodies, a, ax, ay, az, dx, dy, dz)
    push_body(bodies, b, bx, by, bz, -dx, -dy, -dz)
    return max(largest, math.sqrt(dx * dx + dy * dy + dz * dz) * ease)


@kernel
def solve_contacts(contacts, least, bodies, impulses, sweeps):
    """Sweep over all contacts, forward and backward, until the velocities converge.

    Args:
        contacts: see `rigid_contact.Contacts`; the gaps are not used.
        least: (n,) the least relative velocity of each contact along its normal [m/s].
        bodies: see `SolverBodies`; the velocities are changed.
        impulses: (n, 4) result: the normal impulse and the friction [kg m/s].
        sweeps: the largest number of sweeps.
    """
    impulses[:] = 0.0
    largest = 0.0
    count = contacts.first.size
    for sweep in range(sweeps):
        changed = 0.0
        for index in range(count):
            c = index if sweep % 2 == 0 else count - 1 - index
            changed = max(changed, solve_contact(c, contacts, least, bodies, impulses))
        largest = max(largest, changed)
        if changed <= TOLERANCE * largest:
            break
