"""Impulses at the contacts of rigid bodies: projected Gauss-Seidel with Coulomb friction (Moreau 1988; Catto 2005).

A contact says that the relative velocity along its normal is at least `least`: minus the gap over the step where there is a gap, so
that bodies arrive at each other and do not bounce. Friction holds the point against sliding, with at most mu times the normal impulse.
"""

import math

from ..compilation.kernel import kernel

# impulses that change velocities by less than this share of what contacts began with are done
TOLERANCE = 1e-10


@kernel
def velocity_at(velocities, body, x, y, z):
    """The velocity [m/s] of a body at x, y, z from its centre of mass; of none, zero."""
    if body < 0:
        return 0.0, 0.0, 0.0
    v = velocities[body]
    return v[0] + v[4] * z - v[5] * y, v[1] + v[5] * x - v[3] * z, v[2] + v[3] * y - v[4] * x


@kernel
def mobility(inverse_mass, inverse_inertia, body, x, y, z, nx, ny, nz):
    """How much an impulse of 1 along n at x, y, z changes a body's velocity there along n [1/kg]."""
    if body < 0:
        return 0.0
    m, inertia = inverse_mass[body], inverse_inertia[body]
    u, v, w = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
    turn = 0.0
    for row in range(3):
        turn += (u, v, w)[row] * (inertia[row, 0] * u + inertia[row, 1] * v + inertia[row, 2] * w)
    return m[0] * nx * nx + m[1] * ny * ny + m[2] * nz * nz + turn


@kernel
def push_body(velocities, inverse_mass, inverse_inertia, body, x, y, z, px, py, pz):
    """Give a body an impulse [kg m/s] at x, y, z from its centre of mass."""
    if body < 0:
        return
    v, m, inertia = velocities[body], inverse_mass[body], inverse_inertia[body]
    v[0] += m[0] * px
    v[1] += m[1] * py
    v[2] += m[2] * pz
    tx, ty, tz = y * pz - z * py, z * px - x * pz, x * py - y * px
    for row in range(3):
        v[3 + row] += inertia[row, 0] * tx + inertia[row, 1] * ty + inertia[row, 2] * tz


@kernel
def solve_contact(c, first, second, arms, normals, others, least, friction, inverse_mass, inverse_inertia, velocities, impulses):
    """Bring one contact to what it allows; returns the greatest change of a velocity [m/s]."""
    a, b = first[c], second[c]
    ax, ay, az, bx, by, bz = arms[c, 0], arms[c, 1], arms[c, 2], arms[c, 3], arms[c, 4], arms[c, 5]
    nx, ny, nz = normals[c, 0], normals[c, 1], normals[c, 2]
    ease = mobility(inverse_mass, inverse_inertia, a, ax, ay, az, nx, ny, nz)
    ease += mobility(inverse_mass, inverse_inertia, b, bx, by, bz, nx, ny, nz)
    if ease == 0.0:
        return 0.0
    u, v, w = velocity_at(velocities, a, ax, ay, az)
    p, q, r = velocity_at(velocities, b, bx, by, bz)
    u, v, w = u - p - others[c, 0], v - q - others[c, 1], w - r - others[c, 2]
    before = impulses[c, 0]
    impulses[c, 0] = max(0.0, before + (least[c] - (u * nx + v * ny + w * nz)) / ease)
    change = impulses[c, 0] - before
    px, py, pz = change * nx, change * ny, change * nz
    push_body(velocities, inverse_mass, inverse_inertia, a, ax, ay, az, px, py, pz)
    push_body(velocities, inverse_mass, inverse_inertia, b, bx, by, bz, -px, -py, -pz)
    largest = abs(change) * ease
    if friction[c] == 0.0:
        return largest
    u, v, w = velocity_at(velocities, a, ax, ay, az)
    p, q, r = velocity_at(velocities, b, bx, by, bz)
    u, v, w = u - p - others[c, 0], v - q - others[c, 1], w - r - others[c, 2]
    along = u * nx + v * ny + w * nz
    u, v, w = u - along * nx, v - along * ny, w - along * nz
    speed = math.sqrt(u * u + v * v + w * w)
    px, py, pz = impulses[c, 1], impulses[c, 2], impulses[c, 3]
    if speed > 0.0:
        ease = mobility(inverse_mass, inverse_inertia, a, ax, ay, az, u / speed, v / speed, w / speed)
        ease += mobility(inverse_mass, inverse_inertia, b, bx, by, bz, u / speed, v / speed, w / speed)
        if ease > 0.0:
            px, py, pz = px - u / ease, py - v / ease, pz - w / ease
    size, most = math.sqrt(px * px + py * py + pz * pz), friction[c] * impulses[c, 0]
    if size > most:
        px, py, pz = px * most / size, py * most / size, pz * most / size
    dx, dy, dz = px - impulses[c, 1], py - impulses[c, 2], pz - impulses[c, 3]
    impulses[c, 1], impulses[c, 2], impulses[c, 3] = px, py, pz
    push_body(velocities, inverse_mass, inverse_inertia, a, ax, ay, az, dx, dy, dz)
    push_body(velocities, inverse_mass, inverse_inertia, b, bx, by, bz, -dx, -dy, -dz)
    return max(largest, math.sqrt(dx * dx + dy * dy + dz * dz) * ease)


@kernel
def solve_contacts(first, second, arms, normals, others, least, friction, inverse_mass, inverse_inertia, velocities, impulses, sweeps):
    """Go through all contacts, forth and back, until nothing changes.

    Args:
        first, second: (n,) the bodies; second is -1 where a body meets what nothing moves.
        arms: (n, 6) where the contact is, from the first and from the second body's centre of mass [m].
        normals: (n, 3) unit, from the second to the first.
        others: (n, 3) velocity at the contact of what is no body [m/s].
        least: (n,) the least relative velocity along the normal [m/s]; friction: (n,) coefficients.
        inverse_mass: (bodies, 3) along each axis [1/kg], 0 for one that stays; inverse_inertia: (bodies, 3, 3) [1/(kg m^2)].
        velocities: (bodies, 6) [m/s, rad/s]; changed.
        impulses: (n, 4) result: the normal impulse and the friction [kg m/s].
        sweeps: how often at most.
    """
    impulses[:] = 0.0
    largest = 0.0
    for sweep in range(sweeps):
        changed = 0.0
        for index in range(first.size):
            c = index if sweep % 2 == 0 else first.size - 1 - index
            changed = max(changed, solve_contact(
                c, first, second, arms, normals, others, least, friction, inverse_mass, inverse_inertia, velocities, impulses
            ))  # fmt: skip
        largest = max(largest, changed)
        if changed <= TOLERANCE * largest:
            break
