"""Contact at the feet of an obstacle: impulses that bring what matter does at the surface to what the surface allows.

At a foot the velocity is v = sum w_i v_i, linear between the nodes. An impulse J there, w_i J on node i, changes it
by J sum w_i^2 / m_i. The normal impulse brings v.n to 0; friction is at most mu times what matter felt of it, with what its
nodes had shared before, and against the sliding. Nodes inside count as filled with the obstacle (see `share_run`).
Feet share nodes: they are gone through one after another, forth and back (projected Gauss-Seidel), always in the same order.

Every function here is about one run: the feet of one obstacle in one slab (see `surface`). `nodes` is flat, four numbers a node:
velocity relative to the world, and mass. Vectors of four lanes carry 0 in the last, so that masses stay.
"""

import math

from ..arithmetic.operations import constant, generic
from ..arithmetic.vector import element, load, shuffled, store
from ..compilation.kernel import kernel
from ..transfer.blocks import NODE

STICKY, SLIP, SEPARATE = 0, 1, 2
# one after another, surface points share their nodes; so often they are gone through
SWEEPS = 2
# the share of a node that hardly has mass [1/kg]: float32 must hold it
LARGEST_SHARE = 1e30


@generic
def dot(a, b):
    """The product of two vectors of three numbers and a zero, as float64 whatever they are."""
    products = a * b
    return 1.0 * element(products, 0) + element(products, 1) + element(products, 2)


@generic
def velocity_at_foot(nodes, feet, foot):
    """The velocity of matter at a foot, relative to the obstacle [m/s]."""
    velocity = load(feet.offsets, NODE * foot, 4)
    for n in range(feet.counts[foot]):
        velocity = velocity + feet.weights[foot, n] * load(nodes, NODE * feet.corners[foot, n], 4)
    return shuffled(velocity, constant(0.0, velocity), (0, 1, 2, 4))


@generic
def push_foot(nodes, feet, foot, impulse):
    """Give the nodes around a foot their shares of an impulse [kg m/s]."""
    for n in range(feet.counts[foot]):
        at = NODE * feet.corners[foot, n]
        store(nodes, at, load(nodes, at, 4) + feet.shares[foot, n] * impulse)


@kernel
def has_matter_above(nodes, feet, foot):
    """Whether a node outside carries matter around the point one cell above a foot."""
    most = 0.0
    for n in range(feet.above_counts[foot]):
        most = max(most, nodes[NODE * feet.above[foot, n] + 3])
    return most > 0.0


@kernel
def meet_run(nodes, feet, run, filled_mass):
    """Find the feet that have matter, and the nodes with matter around each.

    Args:
        filled_mass: the least mass with which a node inside counts [kg].
    """
    end = feet.first[run]
    for foot in range(feet.first[run], feet.first[run + 1]):
        at = NODE * feet.nodes[foot]
        if nodes[at + 3] == 0.0:
            continue
        feet.counted[feet.rows[foot]] = max(nodes[at + 3], filled_mass)
        p = 4 * foot
        if not has_matter_above(nodes, feet, foot):
            # what the node carries came through the wall from its other side
            outward = 0.0
            for axis in range(3):
                outward += (nodes[at + axis] - feet.velocities[p + axis]) * feet.normals[p + axis]
            for axis in range(3):
                nodes[at + axis] -= outward * feet.normals[p + axis]
            continue
        total = 0.0
        for n in range(feet.counts[foot]):
            weight = feet.linear[foot, n] if nodes[NODE * feet.corners[foot, n] + 3] > 0.0 else 0.0
            feet.weights[foot, n] = weight
            total += weight
        for axis in range(3):
            feet.offsets[p + axis] = -total * feet.velocities[p + axis]
        feet.active[end] = foot
        end += 1
    feet.active_end[run] = end


@kernel
def excess_velocity(u, v, w, p, q, r, nx, ny, nz, part, surface):
    """The part of a node's velocity u that brings about the velocity p at its foot, where the surface does not allow that [m/s].

    It is along p, at most `part` times p and at most what u has along p; zero where u does not add to p.
    """
    if surface != STICKY:
        inward, breaking = u * nx + v * ny + w * nz, p * nx + q * ny + r * nz
        if surface == SEPARATE and breaking >= 0.0:
            return 0.0, 0.0, 0.0
        u, v, w, p, q, r = inward * nx, inward * ny, inward * nz, breaking * nx, breaking * ny, breaking * nz
    along, size = u * p + v * q + w * r, p * p + q * q + r * r
    if along <= 0.0:
        return 0.0, 0.0, 0.0
    share = min(along / size, part)
    return share * p, share * q, share * r


@kernel
def find_excess(nodes, feet, run, surface):
    """Find the velocity that each node next to the surface is to share; kept in the friction until all have been found."""
    for place in range(feet.first[run], feet.active_end[run]):
        foot = feet.active[place]
        p, at = 4 * foot, NODE * feet.nodes[foot]
        velocity = velocity_at_foot(nodes, feet, foot)
        part = 1.0 / feet.linear[foot, feet.own[foot]] if feet.own[foot] >= 0 else math.inf
        u, v, w = nodes[at] - feet.velocities[p], nodes[at + 1] - feet.velocities[p + 1], nodes[at + 2] - feet.velocities[p + 2]
        u, v, w = excess_velocity(
            1.0 * u, 1.0 * v, 1.0 * w, 1.0 * element(velocity, 0), 1.0 * element(velocity, 1), 1.0 * element(velocity, 2),
            1.0 * feet.normals[p], 1.0 * feet.normals[p + 1], 1.0 * feet.normals[p + 2], part, surface,
        )  # fmt: skip
        feet.friction_impulses[p], feet.friction_impulses[p + 1], feet.friction_impulses[p + 2] = u, v, w


@kernel
def share_run(nodes, feet, run):
    """Let the nodes next to the surface share their momentum with the obstacle, as if it filled them.

    By their own mass alone the lightest would move, and far. Only the velocity that contact is about to change is shared, so
    that what the nodes mirror of the matter above, which is at rest at the surface, stays.
    """
    for place in range(feet.first[run], feet.active_end[run]):
        foot = feet.active[place]
        p, at, row = 4 * foot, NODE * feet.nodes[foot], feet.rows[foot]
        u, v, w = feet.friction_impulses[p], feet.friction_impulses[p + 1], feet.friction_impulses[p + 2]
        feet.friction_impulses[p], feet.friction_impulses[p + 1], feet.friction_impulses[p + 2] = 0.0, 0.0, 0.0
        feet.pressing[foot] = 0.0
        if u == 0.0 and v == 0.0 and w == 0.0:
            feet.counted[row] = nodes[at + 3]
            continue
        lost = 1.0 - nodes[at + 3] / feet.counted[row]
        nodes[at] -= lost * u
        nodes[at + 1] -= lost * v
        nodes[at + 2] -= lost * w
        inward = u * feet.normals[p] + v * feet.normals[p + 1] + w * feet.normals[p + 2]
        feet.pressing[foot] = max(0.0, -lost * inward) * nodes[at + 3]


@kernel
def press_run(nodes, feet, run, surface):
    """Find the masses that count, and the normal impulses that are right where the pressure is even along the surface."""
    for place in range(feet.first[run], feet.active_end[run]):
        foot = feet.active[place]
        mobility, even_mobility, felt = 0.0, 0.0, 0.0
        for n in range(feet.counts[foot]):
            weight = feet.weights[foot, n]
            if weight == 0.0:
                feet.shares[foot, n] = 0.0
                continue
            row, own_mass = feet.row_corners[foot, n], 1.0 * nodes[NODE * feet.corners[foot, n] + 3]
            inverse_mass = 1.0 / (feet.counted[row] if row >= 0 else own_mass)
            share = min(weight * inverse_mass, LARGEST_SHARE)
            feet.shares[foot, n] = share
            mobility += weight * share
            felt += own_mass * share
            even_mobility += feet.even[foot, n] * inverse_mass
        feet.ease[foot] = 1.0 / mobility if mobility > 0.0 else 0.0
        feet.pressing[foot] = feet.pressing[foot] / felt if felt > 0.0 else 0.0
        impulse = 0.0
        if surface != STICKY and even_mobility > 0.0:
            impulse = -dot(velocity_at_foot(nodes, feet, foot), load(feet.normals, 4 * foot, 4)) / even_mobility
        feet.normal_impulses[foot] = max(0.0, impulse) if surface == SEPARATE else impulse


@kernel
def push_run(nodes, feet, run):
    """Give all feet at once the normal impulses that were found."""
    for place in range(feet.first[run], feet.active_end[run]):
        foot = feet.active[place]
        if feet.normal_impulses[foot] != 0.0:
            push_foot(nodes, feet, foot, feet.normal_impulses[foot] * load(feet.normals, 4 * foot, 4))


@generic
def collide_foot(nodes, feet, foot, surface, friction):
    """Bring the velocity at one foot to what the surface allows."""
    ease = feet.ease[foot]
    velocity = velocity_at_foot(nodes, feet, foot)
    if surface == STICKY:
        push_foot(nodes, feet, foot, -ease * velocity)
        return
    normal = load(feet.normals, 4 * foot, 4)
    inward = dot(velocity, normal)
    before = feet.normal_impulses[foot]
    impulse = before - ease * inward
    if surface == SEPARATE:
        impulse = max(0.0, impulse)
    feet.normal_impulses[foot] = impulse
    change = (impulse - before) * normal
    if friction > 0.0:
        rubbed = load(feet.friction_impulses, 4 * foot, 4)
        wanted = rubbed - ease * (velocity - inward * normal)
        size = math.sqrt(dot(wanted, wanted))
        pressing = max(0.0, impulse + feet.pressing[foot])
        kept = min(1.0, friction * pressing / size) if size > 0.0 else 0.0
        store(feet.friction_impulses, 4 * foot, kept * wanted)
        change = change + (kept * wanted - rubbed)
    push_foot(nodes, feet, foot, change)


@kernel
def collide_run(nodes, feet, run, surface, friction):
    """Go through the feet, forth and back."""
    first, end = feet.first[run], feet.active_end[run]
    for sweep in range(SWEEPS):
        for index in range(end - first):
            place = first + index if sweep % 2 == 0 else end - 1 - index
            collide_foot(nodes, feet, feet.active[place], surface, friction)
