"""Groups of rigid bodies that touch each other, and which of them rest."""

import math

import numpy as np

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from .hulls import dot, row

# speeds of less than this multiple of the noise of contacts may be noise; less than this share of the limit is always noise
DOUBT, CERTAIN = 20.0, 1e-3


@generic
def root(parent, body):
    """The lowest body of a group."""
    while parent[body] != body:
        parent[body] = parent[parent[body]]
        body = parent[body]
    return body


@generic
def join(parent, first, second):
    """Make two bodies one group; each group is a tree, whose root is its lowest body."""
    a, b = root(parent, first), root(parent, second)
    parent[max(a, b)] = min(a, b)


@kernel(allocates=True)
def sorted_by(group, count):
    """The places where the items of each of `count` groups begin, (count + 1,), and the items in their order, (n,)."""
    begin = np.zeros(count + 1, np.int64)
    for item in range(group.size):
        begin[group[item] + 1] += 1
    for number in range(count):
        begin[number + 1] += begin[number]
    place, order = begin.copy(), np.empty(group.size, np.int64)
    for item in range(group.size):
        order[place[group[item]]] = item
        place[group[item]] += 1
    return begin, order


@kernel(allocates=True)
def groups_of(first, second, count):
    """The groups of bodies that touch each other.

    Args:
        first, second: (n,) the bodies of each contact; the second is -1 for a collider that is not a rigid body.
        count: of the bodies.

    Returns:
        Where the contacts of each group begin, (groups + 1,), the contacts in this order, (n,), and the same for the bodies.
    """
    parent, number = np.arange(count), np.empty(count, np.int64)
    for c in range(first.size):
        if second[c] >= 0:
            join(parent, first[c], second[c])
    groups = 0
    for body in range(count):
        lowest = root(parent, body)
        if lowest == body:
            number[body] = groups
            groups += 1
        number[body] = number[lowest]
    rank, most = np.zeros(first.size, np.int64), 0
    for c in range(1, first.size):
        if first[c] == first[c - 1] and second[c] == second[c - 1]:
            rank[c] = rank[c - 1] + 1
            most = max(most, rank[c])
    _, by_rank = sorted_by(rank, most + 1)
    its = np.empty(first.size, np.int64)
    for c in range(first.size):
        its[c] = number[first[by_rank[c]]]
    contact_begin, contact_order = sorted_by(its, groups)
    contact_order = by_rank[contact_order]
    body_begin, body_order = sorted_by(number, groups)
    return contact_begin, contact_order, body_begin, body_order


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
    parent = np.arange(count)
    for c in range(contacts.first.size):
        if contacts.second[c] >= 0 and impulses[c, 0] > 0.0:
            join(parent, contacts.first[c], contacts.second[c])
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
