"""Impulses at the contacts of rigid bodies: projected Gauss-Seidel with Coulomb friction (Moreau 1988; Catto 2005), accelerated.

A contact requires a least relative velocity along its normal. Across a gap this is minus the gap over the substep, so that bodies just
touch and do not bounce. Friction opposes sliding with at most mu times the normal impulse. The sweeps begin with the impulses of the last
substep, and are directions of a nonsmooth nonlinear conjugate gradient method (Silcowitz, Niebe and Erleben 2010): a stack of ten bricks
needs a tenth of the sweeps. Every change of an impulse acts on both bodies, so momentum is conserved wherever the sweeps end.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from .hulls import cross, dot, row

# sweeps end once they change velocities by less than this share of what contact has to change; after as many as are affordable in every
# substep, this much is enough, since the next substep begins where they end
TOLERANCE, ENOUGH = 1e-10, 1e-4
# friction is solved from the beginning if the impulses of the last substep leave no more than this share of what contact has to change
KNOWN = 0.1
# speeds of less than this multiple of the noise of contacts may be noise; less than this share of the limit is always noise
DOUBT, CERTAIN = 20.0, 1e-3
# the mobility of the tangents has an inverse if its determinant is more than this share of its squared trace
SINGULAR = 1e-9
# numbers per contact that do not change during the sweeps
ROW = 52


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


class SweepLimits(NamedTuple):
    """How many sweeps are affordable in every substep, and how many are made if contacts are far from solved."""

    affordable: int
    most: int


@generic
def write_arm(rows, c, place, body, arm, bodies):
    """Write, for one body and all three directions, arm × d at `place` and I^-1 (arm × d) at `place` + 18; adds to the mobilities."""
    inertia, m = bodies.inverse_inertia[body], bodies.inverse_mass[body]
    for k in range(3):
        d = rows[c, 3 * k], rows[c, 3 * k + 1], rows[c, 3 * k + 2]
        turn = cross(arm, d)
        for axis in range(3):
            rows[c, place + 3 * k + axis] = turn[axis]
            rows[c, place + 18 + 3 * k + axis] = dot(row(inertia, axis), turn)
    for k in range(4):
        first, second = (0, 3, 3, 6)[k], (0, 3, 6, 6)[k]
        total = 0.0
        for axis in range(3):
            total += m[axis] * rows[c, first + axis] * rows[c, second + axis]
            total += rows[c, place + first + axis] * rows[c, place + 18 + second + axis]
        rows[c, 45 + k] += total


@kernel
def write_rows(contacts, tangents, bodies, rows):
    """Write what does not change during the sweeps.

    For each contact: the normal and the tangents (9), arm × direction for both bodies (18), I^-1 of these (18), the mobilities along the
    normal and of the tangents [1/kg] (4), and the velocity of a collider that is not a rigid body along the directions (3).
    """
    rows[:] = 0.0
    for c in range(contacts.first.size):
        n, other = row(contacts.normals, c), row(contacts.others, c)
        for axis in range(3):
            rows[c, axis] = n[axis]
            rows[c, 3 + axis], rows[c, 6 + axis] = tangents[c, 0, axis], tangents[c, 1, axis]
        for k in range(3):
            rows[c, 49 + k] = dot(other, (rows[c, 3 * k], rows[c, 3 * k + 1], rows[c, 3 * k + 2]))
        arms = contacts.arms
        write_arm(rows, c, 9, contacts.first[c], (arms[c, 0], arms[c, 1], arms[c, 2]), bodies)
        if contacts.second[c] >= 0:
            write_arm(rows, c, 18, contacts.second[c], (arms[c, 3], arms[c, 4], arms[c, 5]), bodies)


@generic
def relative_velocity(rows, c, k, first, second, velocities):
    """The velocity of the first body relative to the second along one direction of a contact [m/s]."""
    at = 3 * k
    speed = -rows[c, 49 + k]
    for axis in range(3):
        speed += velocities[first, axis] * rows[c, at + axis] + velocities[first, 3 + axis] * rows[c, 9 + at + axis]
    if second >= 0:
        for axis in range(3):
            speed -= velocities[second, axis] * rows[c, at + axis] + velocities[second, 3 + axis] * rows[c, 18 + at + axis]
    return speed


@generic
def push_bodies(rows, c, k, first, second, impulse, bodies):
    """Apply an impulse along one direction of a contact [kg m/s]."""
    at, velocities, mass = 3 * k, bodies.velocities, bodies.inverse_mass
    for axis in range(3):
        velocities[first, axis] += impulse * mass[first, axis] * rows[c, at + axis]
        velocities[first, 3 + axis] += impulse * rows[c, 27 + at + axis]
    if second >= 0:
        for axis in range(3):
            velocities[second, axis] -= impulse * mass[second, axis] * rows[c, at + axis]
            velocities[second, 3 + axis] -= impulse * rows[c, 36 + at + axis]


@generic
def solve_contact(c, contacts, rows, least, bodies, impulses, has_friction):
    """Correct the velocities at one contact, with friction or only along the normal; returns the greatest change of a velocity [m/s]."""
    a, b = contacts.first[c], contacts.second[c]
    ease = rows[c, 45]
    if ease == 0.0:
        return 0.0
    before = impulses[c, 0]
    impulses[c, 0] = max(0.0, before + (least[c] - relative_velocity(rows, c, 0, a, b, bodies.velocities)) / ease)
    change = impulses[c, 0] - before
    push_bodies(rows, c, 0, a, b, change, bodies)
    largest = abs(change) * ease
    if contacts.friction[c] == 0.0 or not has_friction:
        return largest
    u = relative_velocity(rows, c, 1, a, b, bodies.velocities)
    v = relative_velocity(rows, c, 2, a, b, bodies.velocities)
    uu, uv, vv = rows[c, 46], rows[c, 47], rows[c, 48]
    most, determinant = contacts.friction[c] * impulses[c, 0], uu * vv - uv * uv
    p, q = math.inf, 0.0
    if determinant > SINGULAR * (uu + vv) * (uu + vv):
        p, q = impulses[c, 1] - (vv * u - uv * v) / determinant, impulses[c, 2] - (uu * v - uv * u) / determinant
    if p * p + q * q > most * most:
        # it slides, against the velocity
        p, q = impulses[c, 1], impulses[c, 2]
        squared = uu * u * u + 2.0 * uv * u * v + vv * v * v
        if squared > 0.0:
            share = (u * u + v * v) / squared
            p, q = p - share * u, q - share * v
        size = math.sqrt(p * p + q * q)
        if size > most:
            p, q = p * most / size, q * most / size
    u, v = p - impulses[c, 1], q - impulses[c, 2]
    impulses[c, 1], impulses[c, 2] = p, q
    push_bodies(rows, c, 1, a, b, u, bodies)
    push_bodies(rows, c, 2, a, b, v, bodies)
    return max(largest, math.sqrt((uu + vv) * (uu * u * u + 2.0 * uv * u * v + vv * v * v)))


@kernel
def apply_impulses(contacts, rows, bodies, impulses):
    """Apply the impulses that the sweeps begin with; those of friction are along the tangents."""
    for c in range(contacts.first.size):
        for k in range(3):
            push_bodies(rows, c, k, contacts.first[c], contacts.second[c], impulses[c, k], bodies)


@generic
def greatest_violation(contacts, rows, least, velocities):
    """The greatest change of a velocity that a contact requires by itself [m/s]."""
    greatest = 0.0
    for c in range(contacts.first.size):
        a, b = contacts.first[c], contacts.second[c]
        missing = least[c] - relative_velocity(rows, c, 0, a, b, velocities)
        if missing > 0.0 and rows[c, 45] > 0.0:
            u, v = relative_velocity(rows, c, 1, a, b, velocities), relative_velocity(rows, c, 2, a, b, velocities)
            greatest = max(greatest, missing, min(math.sqrt(u * u + v * v), contacts.friction[c] * missing))
    return greatest


@generic
def squared_change(rows, impulses, last):
    """The sum of the squares of changes of impulses, weighted by the mobilities [J]."""
    total = 0.0
    for c in range(impulses.shape[0]):
        p, u, v = impulses[c, 0] - last[c, 0], impulses[c, 1] - last[c, 1], impulses[c, 2] - last[c, 2]
        total += rows[c, 45] * p * p + rows[c, 46] * u * u + rows[c, 48] * v * v
    return total


@generic
def advance_along(share, values, last, way):
    """Add a share of the last direction, and make the direction the sum of that and of the change since `last`."""
    for item in range(values.shape[0]):
        for k in range(values.shape[1]):
            step = share * way[item, k]
            way[item, k] = step + values[item, k] - last[item, k]
            values[item, k] += step


@kernel(allocates=True)
def solve_contacts(contacts, tangents, least, bodies, limits, impulses, noise):
    """Sweep over all contacts, each time forward and backward, until the velocities converge.

    Args:
        contacts: see `rigid_contact.Contacts`; the gaps are not used.
        tangents: (n, 2, 3) of each contact, see `tangents_of`.
        least: (n,) the least relative velocity of each contact along its normal [m/s].
        bodies: see `SolverBodies`; the velocities are changed.
        limits: see `SweepLimits`.
        impulses: (n, 3) [kg m/s] along the normals and tangents; the sweeps begin with them.
        noise: (n,) result: how much the last sweep changed velocities at each contact [m/s].

    Returns:
        The number of sweeps.
    """
    count = contacts.first.size
    rows = np.empty((count, ROW))
    write_rows(contacts, tangents, bodies, rows)
    velocities = bodies.velocities
    violation = greatest_violation(contacts, rows, least, velocities)
    apply_impulses(contacts, rows, bodies, impulses)
    last, last_velocities = np.empty_like(impulses), np.empty_like(velocities)
    way, way_velocities = np.zeros_like(impulses), np.zeros_like(velocities)
    # the normal impulses come first: while they are far off, the limits of friction are, too
    before = 0.0
    has_friction = greatest_violation(contacts, rows, least, velocities) <= KNOWN * violation
    for sweep in range(limits.most):
        last[:], last_velocities[:] = impulses, velocities
        changed = 0.0
        for index in range(2 * count):
            c = index if index < count else 2 * count - 1 - index
            noise[c] = solve_contact(c, contacts, rows, least, bodies, impulses, has_friction)
            changed = max(changed, noise[c])
        if has_friction and changed <= (ENOUGH if sweep + 1 >= limits.affordable else TOLERANCE) * violation:
            return sweep + 1
        if sweep == limits.most - 1:
            break
        if not has_friction and (changed <= 0.1 * ENOUGH * violation or 2 * sweep > limits.most):
            has_friction, before = True, 0.0
            way[:], way_velocities[:] = 0.0, 0.0
            continue
        now = squared_change(rows, impulses, last)
        share = now / before if before > 0.0 else 0.0
        before = now
        if share > 1.0:
            way[:], way_velocities[:] = 0.0, 0.0
            continue
        advance_along(share, impulses, last, way)
        # velocities are linear in the impulses
        advance_along(share, velocities, last_velocities, way_velocities)
    return limits.most


@kernel(allocates=True)
def settle(contacts, impulses, noise, bodies, gyration, limits, resting):
    """Find the bodies at rest: those of a group whose speeds are no greater than what the sweeps have left undecided.

    Bodies that press on each other are a group. It rests if it presses on a collider that stands still, and if each of its speeds is less
    than `DOUBT` times the noise of its contacts and its own limit. So a body that slides slowly, but is solved to the end, does not stop.

    Args:
        contacts, noise, bodies: as in `solve_contacts`; impulses: its results along the normals come first in each row.
        gyration: (bodies,) radii of gyration [m].
        limits: (bodies,) speeds that may be noise [m/s].
        resting: (bodies,) result.
    """
    count = gyration.size
    # each group is a tree, whose root is its lowest body
    parent = np.arange(count)
    for c in range(contacts.first.size):
        if contacts.second[c] >= 0 and impulses[c, 0] > 0.0:
            a, b = root(parent, contacts.first[c]), root(parent, contacts.second[c])
            parent[max(a, b)] = min(a, b)
    doubt, is_held, is_moving = np.zeros(count), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for c in range(contacts.first.size):
        if impulses[c, 0] > 0.0:
            a = root(parent, contacts.first[c])
            doubt[a] = max(doubt[a], DOUBT * noise[c])
            if contacts.second[c] < 0:
                other = row(contacts.others, c)
                is_held[a] = True
                is_moving[a] |= dot(other, other) > 0.0
    for body in range(count):
        v, a = bodies.velocities[body], root(parent, body)
        speed = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        speed += gyration[body] * math.sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5])
        is_moving[a] |= speed > limits[body] * min(1.0, max(doubt[a] / max(limits[body], 1e-300), CERTAIN))
    for body in range(count):
        a = root(parent, body)
        resting[body] = is_held[a] and not is_moving[a]


@generic
def root(parent, body):
    """The lowest body of a group."""
    while parent[body] != body:
        parent[body] = parent[parent[body]]
        body = parent[body]
    return body


def tangents_of(normals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two tangents of each contact, for unit normals (n, 3); shape (n, 2, 3)."""
    axes = np.eye(3)[np.abs(normals).argmin(axis=1)]
    first = np.cross(normals, axes)
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack([first, np.cross(normals, first)], axis=1)


def impulses_in_world(along: NDArray[np.float64], tangents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Impulses along normals and tangents (n, 3) as the normal one and friction as a vector, shape (n, 4)."""
    return np.hstack([along[:, :1], np.einsum("nk,nki->ni", along[:, 1:], tangents)])
