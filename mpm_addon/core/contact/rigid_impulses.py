"""Impulses at the contacts of rigid bodies: projected Gauss-Seidel with Coulomb friction (Moreau 1988; Catto 2005), accelerated.

A contact requires a least relative velocity along its normal. Across a gap this is minus the gap over the substep, so that bodies just
touch and do not bounce. Friction opposes sliding with at most mu times the normal impulse. The sweeps begin with the impulses of the last
substep, and are directions of a nonsmooth nonlinear conjugate gradient method (Silcowitz, Niebe and Erleben 2010): a stack of ten bricks
needs a tenth of the sweeps. Every change of an impulse acts on both bodies, so momentum is conserved wherever the sweeps end.

Bodies that touch each other are a group, which is solved by itself: a hard impact elsewhere does not make it less accurate. Its sweeps end
once nobody could see the difference.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from .contact_groups import groups_of
from .contact_rows import BODY, EASE, FRICTION, INERTIA, LEAST, ROW, SLIDES, push_bodies, relative_velocity, solve_contact, write_row

# sweeps end once they change velocities by less than this share of what contact has to change
TOLERANCE = 1e-10
# friction is solved from the beginning if the impulses of the last substep leave no more than this share of what contact has to change
KNOWN = 0.1
# a group moves if surfaces in contact move faster past each other than this multiple of the speed that nobody sees; its sweeps end once
# they change velocities by less than this share of what is beyond
MOVES, SHARE = 100.0, 1e-2
# the fewest sweeps over a group, the most while it moves, and the most of all
FEWEST_SWEEPS, MOVING_SWEEPS, MOST_SWEEPS = 5, 60, 400
# sweeps over the contacts that push, between two over all of a group
PARTIAL_SWEEPS = 8


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
    """How long a group of bodies is swept.

    Attributes:
        affordable: contacts of all sweeps that are affordable in every substep.
        moving, most: contacts of all sweeps over a group that moves and over one that does not, at most.
        enough: after the affordable sweeps, a smaller share of what contact has to change is left to the next substep.
        visible: a smaller change of a velocity is not seen while its group moves [m/s]; 0 if all groups are solved alike.
    """

    affordable: int
    moving: int
    most: int
    enough: float
    visible: float


@generic
def required(lines, bodies, velocities, begin, end):
    """The greatest change of a velocity that a contact requires by itself, and the greatest relative velocity [m/s]."""
    greatest, fastest = 0.0, 0.0
    for c in range(begin, end):
        line = lines[c]
        speed, u, v = relative_velocity(line, velocities[bodies[c, 0]], velocities[bodies[c, 1]])
        slip = u * u + v * v
        fastest = max(fastest, speed * speed + slip)
        missing = line[LEAST] - speed
        if missing > 0.0 and line[EASE] > 0.0:
            greatest = max(greatest, missing, min(math.sqrt(slip), line[FRICTION] * missing))
    return greatest, math.sqrt(fastest)


@generic
def prepared(lines, bodies, moving, impulses, bounds, limits):
    """Apply the impulses that the sweeps over a group begin with.

    Returns:
        The squares of the changes of velocities at which its sweeps may end [m^2/s^2], while they are affordable and afterward, how many
        contacts may be solved, and whether friction is solved from the beginning.
    """
    velocities, constants = moving
    begin, end = bounds
    violation = required(lines, bodies, velocities, begin, end)[0]
    for c in range(begin, end):
        a, b = bodies[c, 0], bodies[c, 1]
        push_bodies(lines[c], impulses[c, 0], impulses[c, 1], impulses[c, 2], velocities[a], velocities[b], constants[a], constants[b])
    missing, fastest = required(lines, bodies, velocities, begin, end)
    excess = SHARE * max(0.0, fastest - MOVES * limits.visible)
    enough = max(limits.enough * violation, min(limits.visible, excess))
    count = end - begin
    most = min(MOST_SWEEPS * count, limits.most)
    if limits.visible > 0.0 and excess >= limits.visible:
        most = min(MOVING_SWEEPS * count, limits.moving)
    most = max(FEWEST_SWEEPS * count, most)
    # the normal impulses come first: while they are far off, the limits of friction are, too
    return ((TOLERANCE * violation) ** 2, enough**2), most, missing <= KNOWN * violation


@generic
def squared_change(lines, impulses, last, live):
    """The sum of the squares of changes of impulses, weighted by the mobilities [J]."""
    total = 0.0
    for c in live:
        p, u, v = impulses[c, 0] - last[c, 0], impulses[c, 1] - last[c, 1], impulses[c, 2] - last[c, 2]
        total += lines[c, EASE] * p * p + (lines[c, SLIDES] * u * u + lines[c, SLIDES + 2] * v * v)
    return total


@generic
def advance_along(share, values, last, way):
    """Add a share of the last direction to a row, and make the direction the sum of that and of the change since `last`."""
    for k in range(values.size):
        step = share * way[k]
        way[k] = step + values[k] - last[k]
        values[k] += step


@generic
def copy_row(values, copy):
    for k in range(values.size):
        copy[k] = values[k]


@kernel
def sweep(lines, bodies, moving, impulses, changes, live, has_friction):
    """Solve contacts, forward and backward; returns the square of the greatest change of a velocity [m^2/s^2].

    Args:
        lines, bodies: of all contacts, (n, ROW) and (n, 2).
        moving: the velocities (bodies, 6) and constants (bodies, BODY) of the bodies.
        impulses: (n, 3), changed; changes: (n,) result: the squares of the changes of the last pass.
        live: (k,) the contacts that are solved.
    """
    velocities, constants = moving
    greatest, count = 0.0, live.size
    for index in range(2 * count):
        c = live[index if index < count else 2 * count - 1 - index]
        a, b = bodies[c, 0], bodies[c, 1]
        changes[c] = solve_contact(lines[c], impulses[c], velocities[a], velocities[b], constants[a], constants[b], has_friction)
        greatest = max(greatest, changes[c])
    return greatest


@generic
def find_live(begin, end, impulses, changes, way, live):
    """List the contacts that push, or have in the last sweep; returns their number."""
    count = 0
    for c in range(begin, end):
        is_live = changes[c] > 0.0
        for k in range(3):
            is_live |= impulses[c, k] != 0.0 or way[c, k] != 0.0
        if is_live:
            live[count] = c
            count += 1
    return count


@kernel
def solve_group(lines, bodies, moving, impulses, changes, bounds, limits, work):
    """Sweep over the contacts of a group until its velocities converge; returns how many were solved.

    Most contacts are those of bodies that may meet but do not: they are solved only in every few sweeps, and in the last one.

    Args:
        bounds: of its contacts and its bodies, (first, end, first, end); the bodies of a group follow each other.
        limits: see `SweepLimits`.
        work: scratch: the last impulses and their direction, (n, 3), the last velocities and their direction, (bodies, 6), and places
            of contacts, (2, n). The rest see `sweep`.
    """
    velocities = moving[0]
    last, way, last_velocities, way_velocities, places = work
    begin, end, first, after = bounds
    enough, most, has_friction = prepared(lines, bodies, moving, impulses, (begin, end), limits)
    every, listed = places[0, begin:end], places[1, begin:end]
    # what is affordable is shared by all groups
    sweeps = max(FEWEST_SWEEPS, limits.affordable // bodies.shape[0])
    live, is_full, solved, partial, before = every, True, 0, 0, 0.0
    while True:
        for c in live:
            copy_row(impulses[c], last[c])
        for body in range(first, after):
            copy_row(velocities[body], last_velocities[body])
        changed = sweep(lines, bodies, moving, impulses, changes, live, has_friction)
        solved += live.size
        is_last = solved >= most
        tolerance = enough[1] if solved >= sweeps * every.size else enough[0]
        if (has_friction and is_full and changed <= tolerance) or is_last:
            return solved
        if not has_friction and (changed <= 0.01 * enough[1] or 2 * solved > most):
            has_friction, before = True, 0.0
            way[begin:end], way_velocities[first:after] = 0.0, 0.0
        else:
            now = squared_change(lines, impulses, last, live)
            share = now / before if before > 0.0 else 0.0
            before = now
            if share > 1.0:
                way[begin:end], way_velocities[first:after] = 0.0, 0.0
            else:
                # velocities are linear in the impulses
                for c in live:
                    advance_along(share, impulses[c], last[c], way[c])
                for body in range(first, after):
                    advance_along(share, velocities[body], last_velocities[body], way_velocities[body])
        partial = 0 if is_full else partial + 1
        is_full = partial >= PARTIAL_SWEEPS or (not is_full and changed <= tolerance)
        live = every if is_full else listed[: find_live(begin, end, impulses, changes, way, listed)]


@generic
def start_with(line, impulse, along):
    """The impulses along the directions of a contact, from the normal one and friction as a vector."""
    along[0] = impulse[0]
    for k in range(2):
        at = 3 + 3 * k
        friction = impulse[1] * line[at] + impulse[2] * line[at + 1] + impulse[3] * line[at + 2]
        along[1 + k] = friction if line[FRICTION] > 0.0 else 0.0


@generic
def end_with(line, along, impulse):
    """The normal impulse and friction as a vector, from those along the directions of a contact."""
    impulse[0] = along[0]
    for axis in range(3):
        impulse[1 + axis] = along[1] * line[3 + axis] + along[2] * line[6 + axis]


@kernel(allocates=True)
def solve_contacts(contacts, least, bodies, limits, impulses, noise):
    """Sweep over all contacts, each time forward and backward, until the velocities converge.

    Args:
        contacts: see `rigid_contact.Contacts`; the gaps are not used.
        least: (n,) the least relative velocity of each contact along its normal [m/s].
        bodies: see `SolverBodies`; the velocities are changed.
        limits: see `SweepLimits`.
        impulses: (n, 4) the normal ones and friction as vectors [kg m/s]; the sweeps begin with them.
        noise: (n,) result: how much the last sweep changed velocities at each contact [m/s].

    Returns:
        How many contacts were solved, each forward and backward.
    """
    count, body_count = contacts.first.size, bodies.velocities.shape[0]
    contact_begin, order, body_begin, members = groups_of(contacts.first, contacts.second, body_count)
    # in the order of the groups, and one more body, which stands for whatever is no rigid body
    velocities, constants, place = np.zeros((body_count + 1, 6)), np.zeros((body_count + 1, BODY)), np.empty(body_count, np.int64)
    for number in range(body_count):
        body = members[number]
        place[body] = number
        velocities[number] = bodies.velocities[body]
        constants[number, :INERTIA] = bodies.inverse_mass[body]
        for k in range(9):
            constants[number, INERTIA + k] = bodies.inverse_inertia[body, k // 3, k % 3]
    lines, pairs = np.empty((count, ROW)), np.empty((count, 2), np.int64)
    along, changes = np.empty((count, 3)), np.zeros(count)
    for at in range(count):
        c = order[at]
        a, b = place[contacts.first[c]], place[contacts.second[c]] if contacts.second[c] >= 0 else body_count
        pairs[at, 0], pairs[at, 1] = a, b
        write_row(lines[at], contacts, c, least[c], constants[a], constants[b])
        start_with(lines[at], impulses[c], along[at])
    places = np.empty((2, count), np.int64)
    places[0] = np.arange(count)
    work = np.empty((count, 3)), np.zeros((count, 3)), np.empty_like(velocities), np.zeros_like(velocities), places
    solved = 0
    for group in range(body_begin.size - 1):
        begin, end = contact_begin[group], contact_begin[group + 1]
        if begin == end:
            continue
        bounds = begin, end, body_begin[group], body_begin[group + 1]
        solved += solve_group(lines, pairs, (velocities, constants), along, changes, bounds, limits, work)
    for number in range(body_count):
        bodies.velocities[members[number]] = velocities[number]
    for at in range(count):
        end_with(lines[at], along[at], impulses[order[at]])
        noise[order[at]] = math.sqrt(changes[at])
    return solved
