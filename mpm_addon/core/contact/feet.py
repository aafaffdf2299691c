"""Contact at the feet of a collider: impulses that correct the velocity of the material at the surface to one that it allows.

At a foot the velocity is v = sum w_i v_i, linear between the nodes or, at rigid bodies, by the quadratic spline. An impulse J there, w_i J
on node i, changes it by J sum w_i^2 / m_i. Where solids hit a surface, v is that below it, near the node inside (see `lowering`). The
normal impulse brings v.n to 0. Friction opposes sliding, with at most mu times the normal impulse on the material, including the momentum
that its nodes have shared. Nodes inside count as if the collider filled them (see `share_momentum`). Feet that share nodes are solved one
after another, forward and backward (projected Gauss-Seidel), always in the same order. A lone foot, one that shares no node, is solved
once: that is exact, because nothing else moves its nodes. On a flat floor or wall along the axes, nearly all feet are lone.

Functions handle one foot, or one run of feet: those of one collider in one slab (see `surface`), without the lone ones. `nodes` is flat,
with four numbers per node: velocity in the world, and mass. Vectors of four lanes have 0 in the last lane, so that masses do not change.
"""

import math

from ..arithmetic.operations import constant, generic
from ..arithmetic.vector import element, load, shuffled, store
from ..compilation.kernel import kernel
from ..transfer.blocks import BLOCK, NODE
from ..transfer.node_lookup import corner_place, neighbor_of_node

STICKY, SLIP, SEPARATE = 0, 1, 2
# number of sweeps over the feet, which share nodes
SWEEPS = 2
# upper bound on the share of a node with hardly any mass [1/kg], so that it fits into float32
LARGEST_SHARE = 1e30
# Material touches if there is at least this share of the mass above at a foot: solids, where it is half at the end of a flat body; and
# fluids, over the share of the kernels there that is outside. Their particles are spaced unevenly, so that with a share nearer to 1 they
# would go on sinking wherever the mass is low for a moment.
TOUCHING, TOUCHING_FLUID = 0.44, 0.8
# what is at a foot: no material, material on the surface, or only material that came through the wall from the other side
IDLE, ACTIVE, BEHIND = 0, 1, 2


@generic
def dot(a, b):
    """The dot product of two vectors of three numbers and a zero, in float64 for any precision."""
    products = a * b
    return 1.0 * element(products, 0) + element(products, 1) + element(products, 2)


@generic
def velocity_at_foot(nodes, feet, foot):
    """The velocity of the material at a foot, relative to the collider [m/s]."""
    velocity = load(feet.offsets, NODE * foot, 4)
    for n in range(feet.counts[foot]):
        velocity = velocity + feet.weights[foot, n] * load(nodes, NODE * feet.corners[foot, n], 4)
    return shuffled(velocity, constant(0.0, velocity), (0, 1, 2, 4))


@generic
def apply_impulse(nodes, feet, foot, impulse):
    """Distribute an impulse [kg m/s] at a foot to the nodes around it."""
    for n in range(feet.counts[foot]):
        at = NODE * feet.corners[foot, n]
        store(nodes, at, load(nodes, at, 4) + feet.shares[foot, n] * impulse)


@generic
def find_above(foot, point, rows, around, distance, feet):
    """Find the nodes outside around the point one cell above a foot.

    Args:
        point: from the origin of the block of its node [cells], a tuple (x, y, z).
        rows: (node blocks + 1,) the collider's row of each node block; around: (27 or 9,) the node blocks around the block.
        distance: see `LevelSets`.
    """
    x, y, z = point
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    block_nodes, above = distance.shape[1], 0
    for corner in range(8):
        jx, jy, jz = cx + (corner >> 2), cy + (corner >> 1 & 1), cz + (corner & 1)
        is_within = abs(x - jx) < 1.0 and abs(y - jy) < 1.0 and abs(z - jz) < 1.0
        is_within = is_within and min(jx, jy, jz) >= -BLOCK and max(jx, jy, jz) < 2 * BLOCK
        block = neighbor_of_node(jx, jy, jz, around) if is_within else -1
        if block < 0:
            continue
        at = corner_place(jx, jy, jz, around)
        if rows[block] < 0 or distance[rows[block], at] > 0.0:
            feet.above[foot, above] = block * block_nodes + at
            above += 1
    feet.above_counts[foot] = above


@kernel
def find_material_above(nodes, feet, foot):
    """Among the nodes outside, around the point one cell above a foot, find the greatest mass and normal speed."""
    p, most, fastest = 4 * foot, 0.0, 0.0
    for n in range(feet.above_counts[foot]):
        at = NODE * feet.above[foot, n]
        if nodes[at + 3] == 0.0:
            continue
        speed = 0.0
        for axis in range(3):
            speed += (nodes[at + axis] - feet.velocities[p + axis]) * feet.normals[p + axis]
        most, fastest = max(most, nodes[at + 3]), max(fastest, abs(speed))
    feet.mass_above[foot], feet.speed_above[foot] = most, fastest


@kernel
def settling_speed(feet, foot, velocity, fullness, speed_above, fastest):
    """The speed with which material may sink toward the surface, because it does not touch yet [m/s].

    In an impact, sinking would take energy, so it waits until what is above hardly moves.

    Args:
        velocity: of the material at the foot, relative to the collider [m/s], a tuple (x, y, z).
        fullness: mass at the foot over that above it.
        speed_above: normal speed of the material above [m/s].
        fastest: where there is next to no mass at the foot [m/s].
    """
    touching = feet.touching[foot]
    if fullness >= touching or speed_above >= 2.0 * fastest:
        return 0.0
    u, v, w = velocity
    inward = -(u * feet.normals[4 * foot] + v * feet.normals[4 * foot + 1] + w * feet.normals[4 * foot + 2])
    return min(max(inward, 0.0), min(fastest, 2.0 * fastest - speed_above) * (1.0 - fullness / touching))


@kernel
def lowering(depth, normal, highest):
    """The part of its node's own velocity with which the velocity at a foot is that at most `highest` above the node [cells].

    Args:
        depth: of the node below its foot [cells], in the direction of the normal (3,).
    """
    # a node that is farther away along an axis is not among those around the foot
    is_within = depth * max(abs(normal[0]), abs(normal[1]), abs(normal[2])) < 1.0
    return max(0.0, 1.0 - highest / depth) if depth > highest and is_within else 0.0


@generic
def find_material(nodes, feet, foot, surface, settling):
    """Find the nodes with mass around a foot, after `find_material_above`; returns IDLE, ACTIVE or BEHIND.

    Args:
        surface: STICKY, SLIP or SEPARATE.
        settling: the greatest speed with which material above the surface sinks onto it [m/s].
    """
    mass_inside = 1.0 * nodes[NODE * feet.nodes[foot] + 3]
    if mass_inside == 0.0:
        return IDLE
    p = 4 * foot
    feet.counted[feet.rows[foot]] = mass_inside
    above, speed_above = feet.mass_above[foot], feet.speed_above[foot]
    if above == 0.0:
        feet.counted[feet.rows[foot]] = max(mass_inside, feet.filling[foot])
        return BEHIND
    total, mass, u, v, w = 0.0, 0.0, 0.0, 0.0, 0.0
    # what sticks, rests or slides is held at the surface itself
    lowered = 0.0 if surface == STICKY else feet.lowered[foot] * (min(1.0, speed_above / settling) if settling > 0.0 else 1.0)
    for n in range(feet.counts[foot]):
        corner = NODE * feet.corners[foot, n]
        if nodes[corner + 3] == 0.0:
            feet.weights[foot, n] = 0.0
            continue
        mass += feet.linear[foot, n] * nodes[corner + 3]
        feet.weights[foot, n] = (1.0 - lowered) * feet.linear[foot, n] + (lowered if n == feet.own[foot] else 0.0)
        weight = feet.weights[foot, n]
        total += weight
        u, v, w = u + weight * nodes[corner], v + weight * nodes[corner + 1], w + weight * nodes[corner + 2]
    u, v, w = u - total * feet.velocities[p], v - total * feet.velocities[p + 1], w - total * feet.velocities[p + 2]
    speed = settling_speed(feet, foot, (u, v, w), mass / above, speed_above, settling)
    feet.settling[foot] = speed
    for axis in range(3):
        feet.offsets[p + axis] = total * (speed * feet.normals[p + axis] - feet.velocities[p + axis])
    return ACTIVE


@generic
def hold_behind(nodes, feet, foot):
    """Let the material at the node of a foot with none above move along the surface only: it came through the wall from the other side."""
    p, at, outward = 4 * foot, NODE * feet.nodes[foot], 0.0
    for axis in range(3):
        outward += (nodes[at + axis] - feet.velocities[p + axis]) * feet.normals[p + axis]
    for axis in range(3):
        nodes[at + axis] -= outward * feet.normals[p + axis]


@kernel
def find_active_feet(nodes, feet, run, surface, settling):
    """Find the feet of a run with material, without the lone ones; see `find_material`."""
    end = feet.first[run]
    for foot in range(feet.first[run], feet.first[run + 1]):
        if feet.is_lone[foot]:
            continue
        found = find_material(nodes, feet, foot, surface, settling)
        if found == BEHIND:
            hold_behind(nodes, feet, foot)
        elif found == ACTIVE:
            feet.active[end] = foot
            end += 1
    feet.active_end[run] = end


@kernel
def excess_velocity(node_velocity, foot_velocity, normal, part, surface):
    """The part of a node's velocity that contributes to the velocity at its foot, if contact must change that velocity [m/s].

    It is parallel to the foot's velocity, at most `part` times that, and no more than the node has along it; zero if the node
    does not contribute. All vectors are tuples (x, y, z); velocities are relative to the collider.
    """
    u, v, w = node_velocity
    p, q, r = foot_velocity
    nx, ny, nz = normal
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


@generic
def find_excess_of(nodes, feet, foot, surface):
    """Find the velocity that the node of a foot must share; see `find_excess`."""
    p, at = 4 * foot, NODE * feet.nodes[foot]
    velocity = velocity_at_foot(nodes, feet, foot)
    part = 1.0 / feet.weights[foot, feet.own[foot]] if feet.own[foot] >= 0 else math.inf
    speed = feet.settling[foot]
    u = nodes[at] - feet.velocities[p] + speed * feet.normals[p]
    v = nodes[at + 1] - feet.velocities[p + 1] + speed * feet.normals[p + 1]
    w = nodes[at + 2] - feet.velocities[p + 2] + speed * feet.normals[p + 2]
    foot_velocity = 1.0 * element(velocity, 0), 1.0 * element(velocity, 1), 1.0 * element(velocity, 2)
    normal = 1.0 * feet.normals[p], 1.0 * feet.normals[p + 1], 1.0 * feet.normals[p + 2]
    u, v, w = excess_velocity((1.0 * u, 1.0 * v, 1.0 * w), foot_velocity, normal, part, surface)
    feet.friction_impulses[p], feet.friction_impulses[p + 1], feet.friction_impulses[p + 2] = u, v, w
    if u != 0.0 or v != 0.0 or w != 0.0:
        feet.counted[feet.rows[foot]] = max(nodes[at + 3], feet.filling[foot])


@kernel
def find_excess(nodes, feet, run, surface):
    """Find the velocity that each node next to the surface must share; stored in `friction_impulses` until all are found.

    A node that shares velocity at any of its feet counts as filled.
    """
    for place in range(feet.first[run], feet.active_end[run]):
        find_excess_of(nodes, feet, feet.active[place], surface)


@generic
def share_momentum_of(nodes, feet, foot):
    """Let the node of a foot share its momentum with the collider; see `share_momentum`."""
    p, at, row = 4 * foot, NODE * feet.nodes[foot], feet.rows[foot]
    u, v, w = feet.friction_impulses[p], feet.friction_impulses[p + 1], feet.friction_impulses[p + 2]
    feet.friction_impulses[p], feet.friction_impulses[p + 1], feet.friction_impulses[p + 2] = 0.0, 0.0, 0.0
    feet.pressing[foot] = 0.0
    if u != 0.0 or v != 0.0 or w != 0.0:
        lost = 1.0 - nodes[at + 3] / feet.counted[row]
        nodes[at] -= lost * u
        nodes[at + 1] -= lost * v
        nodes[at + 2] -= lost * w
        inward = u * feet.normals[p] + v * feet.normals[p + 1] + w * feet.normals[p + 2]
        feet.pressing[foot] = max(0.0, -lost * inward) * nodes[at + 3]


@kernel
def share_momentum(nodes, feet, run):
    """Let the nodes next to the surface share their momentum with the collider, as if it filled them.

    With their own mass alone, the lightest nodes would receive the whole correction. Only the velocity that contact would change
    is shared. Nodes inside also mirror the velocity of the material above, which is at rest at the surface; that part is unchanged.
    """
    for place in range(feet.first[run], feet.active_end[run]):
        share_momentum_of(nodes, feet, feet.active[place])


@generic
def find_shares_of(nodes, feet, foot):
    """Find the share of an impulse that each node around a foot takes.

    Returns:
        The change of velocity there by an impulse of 1 that is uniform along the surface [1/kg].
    """
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
    feet.normal_impulses[foot] = 0.0
    return even_mobility


@kernel
def estimate_normal_impulses(nodes, feet, run, surface):
    """Find the effective masses, and the normal impulses that would be exact for a uniform pressure along the surface."""
    for place in range(feet.first[run], feet.active_end[run]):
        foot = feet.active[place]
        even_mobility = find_shares_of(nodes, feet, foot)
        if surface != STICKY and even_mobility > 0.0:
            impulse = -dot(velocity_at_foot(nodes, feet, foot), load(feet.normals, 4 * foot, 4)) / even_mobility
            feet.normal_impulses[foot] = max(0.0, impulse) if surface == SEPARATE else impulse


@kernel
def apply_normal_impulses(nodes, feet, run):
    """Apply the estimated normal impulses at all feet."""
    for place in range(feet.first[run], feet.active_end[run]):
        foot = feet.active[place]
        if feet.normal_impulses[foot] != 0.0:
            apply_impulse(nodes, feet, foot, feet.normal_impulses[foot] * load(feet.normals, 4 * foot, 4))


@generic
def solve_foot(nodes, feet, foot, surface, friction):
    """Correct the velocity at one foot to one that the surface allows."""
    ease = feet.ease[foot]
    velocity = velocity_at_foot(nodes, feet, foot)
    if surface == STICKY:
        apply_impulse(nodes, feet, foot, -ease * velocity)
        return
    normal = load(feet.normals, 4 * foot, 4)
    inward = dot(velocity, normal)
    before = feet.normal_impulses[foot]
    impulse = before - ease * inward
    if surface == SEPARATE:
        impulse = max(0.0, impulse)
    feet.normal_impulses[foot] = impulse
    if friction <= 0.0 and impulse == before:
        return
    change = (impulse - before) * normal
    if friction > 0.0:
        rubbed = load(feet.friction_impulses, 4 * foot, 4)
        wanted = rubbed - ease * (velocity - inward * normal)
        size = math.sqrt(dot(wanted, wanted))
        pressing = max(0.0, impulse + feet.pressing[foot])
        kept = min(1.0, friction * pressing / size) if size > 0.0 else 0.0
        store(feet.friction_impulses, 4 * foot, kept * wanted)
        change = change + (kept * wanted - rubbed)
    apply_impulse(nodes, feet, foot, change)


@generic
def solve_lone_foot(nodes, feet, foot, surface, friction):
    """Everything that contact does at a foot that shares no node: after that, the velocity at the foot is one that the surface allows."""
    find_excess_of(nodes, feet, foot, surface)
    share_momentum_of(nodes, feet, foot)
    find_shares_of(nodes, feet, foot)
    solve_foot(nodes, feet, foot, surface, friction)


@kernel
def solve_run(nodes, feet, run, surface, friction_of_solids, friction_of_fluids):
    """Solve the feet, forward and backward."""
    first, end = feet.first[run], feet.active_end[run]
    for sweep in range(SWEEPS):
        for index in range(end - first):
            place = first + index if sweep % 2 == 0 else end - 1 - index
            foot = feet.active[place]
            solve_foot(nodes, feet, foot, surface, friction_of_fluids if feet.is_fluid[foot] else friction_of_solids)
