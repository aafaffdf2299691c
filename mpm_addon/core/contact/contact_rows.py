"""One contact of rigid bodies during the sweeps: a row of numbers that do not change, and the impulses that solve it.

Normal and friction are solved together, as a block of three directions: their relative velocities are computed at once, and all impulses
are applied at once as a vector. Sums are short trees instead of chains, which a processor computes several terms of at a time.
"""

import math

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from .hulls import cross, dot, row

# of a row: the normal and two tangents, the arms of both bodies [m], the velocity of a collider that is not a rigid body along the
# directions and the least relative velocity [m/s]
TANGENTS, FIRST_ARM, SECOND_ARM, OTHER, LEAST = 3, 9, 12, 15, 18
# the mobility along the normal [1/kg] and its inverse, the mobilities between normal and tangents, those of the tangents and their
# inverses, and the coefficient of friction
EASE, WEIGHT, ACROSS, SLIDES, GRIPS, YIELD, FRICTION, ROW = 19, 20, 21, 23, 26, 29, 30, 31
# the mobility of the tangents has an inverse if its determinant is more than this share of its squared trace
SINGULAR = 1e-9
# numbers of a body: inverse masses along the axes, and the inverse inertia in world axes
INERTIA, BODY = 3, 12


@generic
def tangents_of(normal):
    """Two tangents of a contact with a unit normal."""
    x, y, z = abs(normal[0]), abs(normal[1]), abs(normal[2])
    axis = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
    first = cross(normal, axis)
    scale = 1.0 / math.sqrt(dot(first, first))
    first = scale * first[0], scale * first[1], scale * first[2]
    return first, cross(normal, first)


@generic
def turned(inertia, moment):
    """The inverse inertia, as the last numbers of a body, times a moment."""
    a, b, c = moment
    return (
        inertia[INERTIA] * a + inertia[INERTIA + 1] * b + inertia[INERTIA + 2] * c,
        inertia[INERTIA + 3] * a + inertia[INERTIA + 4] * b + inertia[INERTIA + 5] * c,
        inertia[INERTIA + 6] * a + inertia[INERTIA + 7] * b + inertia[INERTIA + 8] * c,
    )


@generic
def add_mobilities(line, at, body):
    """Add the mobilities of one body, whose arm is at `at`: between the normal and itself, the normal and tangents, and of the tangents.

    The velocity along a direction p per impulse along q is p . M q + (r x p) . I^-1 (r x q) [1/kg].
    """
    arm = line[at], line[at + 1], line[at + 2]
    n, u, v = (line[0], line[1], line[2]), (line[3], line[4], line[5]), (line[6], line[7], line[8])
    a = cross(arm, n)
    x = turned(body, a)
    m, s, t = (
        (body[0] * n[0], body[1] * n[1], body[2] * n[2]),
        (body[0] * u[0], body[1] * u[1], body[2] * u[2]),
        (body[0] * v[0], body[1] * v[1], body[2] * v[2]),
    )
    line[EASE] += dot(m, n) + dot(x, a)
    if line[FRICTION] > 0.0:
        b, c = cross(arm, u), cross(arm, v)
        y, z = turned(body, b), turned(body, c)
        line[ACROSS] += dot(m, u) + dot(x, b)
        line[ACROSS + 1] += dot(m, v) + dot(x, c)
        line[SLIDES] += dot(s, u) + dot(y, b)
        line[SLIDES + 1] += dot(s, v) + dot(y, c)
        line[SLIDES + 2] += dot(t, v) + dot(z, c)


@kernel
def write_row(line, contacts, c, least, first, second):
    """Write the row of a contact.

    Args:
        line: (ROW,) result.
        contacts: see `rigid_contact.Contacts`; c: the number of the contact.
        least: the least relative velocity along its normal [m/s].
        first, second: (BODY,) of both bodies; zero for a collider that is not a rigid body.
    """
    normal, other = row(contacts.normals, c), row(contacts.others, c)
    u, v = tangents_of(normal)
    for axis in range(3):
        line[axis], line[TANGENTS + axis], line[TANGENTS + 3 + axis] = normal[axis], u[axis], v[axis]
        line[FIRST_ARM + axis], line[SECOND_ARM + axis] = contacts.arms[c, axis], contacts.arms[c, 3 + axis]
    line[OTHER], line[OTHER + 1], line[OTHER + 2] = dot(other, normal), dot(other, u), dot(other, v)
    line[LEAST], line[FRICTION] = least, contacts.friction[c]
    for place in range(EASE, GRIPS):
        line[place] = 0.0
    add_mobilities(line, FIRST_ARM, first)
    add_mobilities(line, SECOND_ARM, second)
    line[WEIGHT] = 1.0 / line[EASE] if line[EASE] > 0.0 else 0.0
    uu, uv, vv = line[SLIDES], line[SLIDES + 1], line[SLIDES + 2]
    determinant, trace = uu * vv - uv * uv, uu + vv
    if determinant > SINGULAR * trace * trace:
        line[YIELD] = 2.0 / trace
        line[GRIPS], line[GRIPS + 1], line[GRIPS + 2] = vv / determinant, -uv / determinant, uu / determinant
    elif trace > 0.0:
        # in two dimensions, nothing moves along one of the tangents: the inverse of what does
        line[YIELD], share = 1.0 / trace, 1.0 / (trace * trace)
        line[GRIPS], line[GRIPS + 1], line[GRIPS + 2] = share * uu, share * uv, share * vv
    else:
        line[YIELD] = line[GRIPS] = line[GRIPS + 1] = line[GRIPS + 2] = 0.0


@generic
def relative_velocity(line, v, w):
    """The velocity of the first body relative to the second along the normal and both tangents [m/s], from those of both (6,)."""
    a0, a1, a2, b0, b1, b2 = line[9], line[10], line[11], line[12], line[13], line[14]
    x = (v[0] - w[0]) + ((v[4] * a2 - v[5] * a1) - (w[4] * b2 - w[5] * b1))
    y = (v[1] - w[1]) + ((v[5] * a0 - v[3] * a2) - (w[5] * b0 - w[3] * b2))
    z = (v[2] - w[2]) + ((v[3] * a1 - v[4] * a0) - (w[3] * b1 - w[4] * b0))
    return (
        (x * line[0] + y * line[1]) + (z * line[2] - line[15]),
        (x * line[3] + y * line[4]) + (z * line[5] - line[16]),
        (x * line[6] + y * line[7]) + (z * line[8] - line[17]),
    )


@generic
def push_bodies(line, p, q, r, v, w, first, second):
    """Apply impulses along the normal and both tangents [kg m/s] to the velocities v and w of both bodies."""
    x = (p * line[0] + q * line[3]) + r * line[6]
    y = (p * line[1] + q * line[4]) + r * line[7]
    z = (p * line[2] + q * line[5]) + r * line[8]
    a, b, c = turned(first, cross((line[9], line[10], line[11]), (x, y, z)))
    v[0] += x * first[0]
    v[1] += y * first[1]
    v[2] += z * first[2]
    v[3] += a
    v[4] += b
    v[5] += c
    a, b, c = turned(second, cross((line[12], line[13], line[14]), (x, y, z)))
    w[0] -= x * second[0]
    w[1] -= y * second[1]
    w[2] -= z * second[2]
    w[3] -= a
    w[4] -= b
    w[5] -= c


@generic
def friction_at(line, impulse, most, u, v):
    """The friction that stops the sliding velocity u, v along the tangents, or opposes it with at most `most` [kg m/s]."""
    if line[YIELD] > 0.0:
        p = impulse[1] - (line[GRIPS] * u + line[GRIPS + 1] * v)
        q = impulse[2] - (line[GRIPS + 1] * u + line[GRIPS + 2] * v)
        if p * p + q * q <= most * most:
            return p, q
    # it slides, against the velocity
    p, q = impulse[1] - line[YIELD] * u, impulse[2] - line[YIELD] * v
    size = p * p + q * q
    if size > most * most:
        share = most / math.sqrt(size)
        p, q = p * share, q * share
    return p, q


@kernel
def solve_contact(line, impulse, v, w, first, second, has_friction):
    """Correct the velocities at one contact, with friction or only along the normal.

    Args:
        line: (ROW,) of the contact; impulse: (3,) along the normal and the tangents [kg m/s], changed.
        v, w: (6,) the velocities of both bodies, changed; first, second: (BODY,) of them.

    Returns:
        The square of the greatest change of a velocity [m^2/s^2].
    """
    speed, u, t = relative_velocity(line, v, w)
    before = impulse[0]
    change = max(-before, (line[LEAST] - speed) * line[WEIGHT])
    if change == 0.0 and before == 0.0 and impulse[1] == 0.0 and impulse[2] == 0.0:
        return 0.0
    now = before + change
    impulse[0] = now
    if line[FRICTION] == 0.0 or not has_friction:
        push_bodies(line, change, 0.0, 0.0, v, w, first, second)
        return (change * line[EASE]) ** 2
    p, q = friction_at(line, impulse, line[FRICTION] * now, u + line[ACROSS] * change, t + line[ACROSS + 1] * change)
    u, t = p - impulse[1], q - impulse[2]
    impulse[1], impulse[2] = p, q
    push_bodies(line, change, u, t, v, w, first, second)
    uu, uv, vv = line[SLIDES], line[SLIDES + 1], line[SLIDES + 2]
    return max((change * line[EASE]) ** 2, (uu + vv) * (uu * u * u + 2.0 * uv * u * t + vv * t * t))
