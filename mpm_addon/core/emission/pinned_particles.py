"""Pinned particles: fixed to a moving target, or pulled toward it by a spring.

Fixed particles also fix nodes: a node moves with them if they make up half of its mass or more. If only particles were fixed, the nodes
between them and free material would yield in every substep, and whatever is attached to them would slowly creep away.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import ARENA, BLOCK, NODE
from ..transfer.node_lookup import node_of_place
from ..transfer.rows import MASS, POSITION, VELOCITY, VELOCITY_GRADIENT
from ..transfer.scheme import axis_weights, dimension_of


class PinnedParticles(NamedTuple):
    """The pinned particles in the table, in order of slot.

    Attributes:
        slots: (n,).
        blocks: (n, 3) coordinates of the particles' blocks.
        emitters: (n,) number of the emitter that each is pinned to.
        shares: (n,) painted factor on the emitter's pin strength.
        targets, next_targets: (n, 3) their targets at the start and at the end of the substep [m].
        places: (n, 3) positions of fixed particles in the table after the substep [cells].
        moves: (n,) how far fixed particles move along an axis in the substep, at most [cells]; 0 for others.
    """

    slots: NDArray[np.int64]
    blocks: NDArray[np.int64]
    emitters: NDArray[np.int64]
    shares: NDArray[np.float64]
    targets: NDArray[np.float64]
    next_targets: NDArray[np.float64]
    places: NDArray[np.float64]
    moves: NDArray[np.float64]


class PinSprings(NamedTuple):
    """How each emitter pins its particles.

    Attributes:
        strengths: (emitters,) 1 fixes particles to their targets; with less, a spring pulls them.
        frequencies: (emitters,) angular frequency of the spring at full strength [rad/s].
        damping_ratios: (emitters,) 1 is critical.
    """

    strengths: NDArray[np.float64]
    frequencies: NDArray[np.float64]
    damping_ratios: NDArray[np.float64]


@kernel
def triangle_axes(vertices, corners):
    """The unit axes of a triangle, 9 numbers: along its first edge, across it in the plane, and its normal; zeros if it has no area."""
    a, b, c = corners
    ux, uy, uz = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
    vx, vy, vz = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    edge, area = math.sqrt(ux * ux + uy * uy + uz * uz), math.sqrt(nx * nx + ny * ny + nz * nz)
    if area == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    ux, uy, uz = ux / edge, uy / edge, uz / edge
    nx, ny, nz = nx / area, ny / area, nz / area
    return ux, uy, uz, ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux, nx, ny, nz


@kernel
def point_on(vertices, corners, weights):
    """The point of a triangle with barycentric weights."""
    a, b, c = corners
    p, q, r = weights[0], weights[1], weights[2]
    return (
        p * vertices[a, 0] + q * vertices[b, 0] + r * vertices[c, 0],
        p * vertices[a, 1] + q * vertices[b, 1] + r * vertices[c, 1],
        p * vertices[a, 2] + q * vertices[b, 2] + r * vertices[c, 2],
    )


@parallel_kernel
def bind(tickets, vertices, corners, weights, positions, anchors):
    """Compute anchors (n, 3) [m]: positions (n, 3) relative to points on triangles, in the axes of the triangles."""
    for pin in shared(tickets[0], positions.shape[0], 256):
        triangle = (corners[pin, 0], corners[pin, 1], corners[pin, 2])
        fx, fy, fz = point_on(vertices, triangle, weights[pin])
        x, y, z = positions[pin, 0] - fx, positions[pin, 1] - fy, positions[pin, 2] - fz
        axes = triangle_axes(vertices, triangle)
        for axis in range(3):
            anchors[pin, axis] = axes[3 * axis] * x + axes[3 * axis + 1] * y + axes[3 * axis + 2] * z


@parallel_kernel
def find_targets(tickets, emitters, poses, vertices, corners, weights, anchors, targets):
    """Compute the targets of pinned particles.

    Args:
        emitters: (n,) number of the emitter that each is pinned to.
        poses: (emitters, 4, 4) world from local.
        vertices: (v, 3) of all deforming meshes [m].
        corners: (n, 3) vertices of a triangle, or -1 for particles of rigid emitters.
        weights: (n, 3) barycentric weights of a point on the triangle.
        anchors: (n, 3) in local space, or relative to that point along the triangle's axes [m].
        targets: (n, 3) result [m].
    """
    for pin in shared(tickets[0], anchors.shape[0], 256):
        x, y, z = anchors[pin, 0], anchors[pin, 1], anchors[pin, 2]
        if corners[pin, 0] < 0:
            pose = poses[emitters[pin]]
            for axis in range(3):
                targets[pin, axis] = pose[axis, 0] * x + pose[axis, 1] * y + pose[axis, 2] * z + pose[axis, 3]
        else:
            triangle = (corners[pin, 0], corners[pin, 1], corners[pin, 2])
            ux, uy, uz, vx, vy, vz, nx, ny, nz = triangle_axes(vertices, triangle)
            fx, fy, fz = point_on(vertices, triangle, weights[pin])
            targets[pin, 0] = fx + x * ux + y * vx + z * nx
            targets[pin, 1] = fy + x * uy + y * vy + z * ny
            targets[pin, 2] = fz + x * uz + y * vz + z * nz


@kernel
def displacement_to(table, slot, block, target, spacing, is_plane, displacement):
    """The displacement from a particle to a target [m], written to `displacement` (3,); returns its length."""
    squared = 0.0
    for axis in range(3):
        displacement[axis] = target[axis] - spacing * (table[POSITION + axis, slot] + BLOCK * block[axis])
        if axis == 1 and is_plane:
            displacement[axis] = 0.0
        squared += displacement[axis] * displacement[axis]
    return math.sqrt(squared)


@kernel
def pull_particle(table, slot, displacement, target, next_target, stiffness, damping, dt, limit):
    """A substep of a damped spring, fully implicit: v <- (v + dt w^2 (X' - x) + 2 z w dt V) / (1 + 2 z w dt + w^2 dt^2).

    Args:
        displacement: X' - x [m]; overwritten.
        stiffness: w^2 dt^2.
        damping: 2 z w dt.
        limit: upper bound on the displacement that the change in velocity causes in the substep [m].
    """
    squared = 0.0
    for axis in range(3):
        before = 1.0 * table[VELOCITY + axis, slot]
        wanted = before * dt + stiffness * displacement[axis] + damping * (next_target[axis] - target[axis])
        displacement[axis] = wanted / (1.0 + damping + stiffness) - before * dt
        squared += displacement[axis] * displacement[axis]
    share = min(1.0, limit / math.sqrt(squared)) / dt if squared > 0.0 else 0.0
    for axis in range(3):
        table[VELOCITY + axis, slot] += share * displacement[axis]


@parallel_kernel
def pull_particles(tickets, table, pinned, springs, dt, spacing, limit, is_plane):
    """Set the velocities of fixed particles to reach their targets, and pull the others.

    Args:
        table: (rows, slots); velocities are changed.
        pinned: see `PinnedParticles`; places and moves are filled.
        springs: see `PinSprings`.
        dt: length of the substep [s].
        spacing: cell size [m].
        limit: upper bound on the displacement that pinning causes in the substep [m].
        is_plane: whether there are two dimensions.
    """
    slots, blocks, emitters, shares, targets, next_targets, places, moves = pinned
    for pin in shared(tickets[0], slots.size, 256):
        slot, emitter, displacement = slots[pin], emitters[pin], places[pin]
        strength = shares[pin] * springs.strengths[emitter]
        moves[pin] = 0.0
        if strength <= 0.0:
            continue
        target, next_target = targets[pin], next_targets[pin]
        length = displacement_to(table, slot, blocks[pin], next_target, spacing, is_plane, displacement)
        if strength < 1.0:
            angle = dt * springs.frequencies[emitter] * math.sqrt(strength)
            damping = 2.0 * springs.damping_ratios[emitter] * angle
            pull_particle(table, slot, displacement, target, next_target, angle * angle, damping, dt, limit)
            continue
        share = min(1.0, limit / length) if length > 0.0 else 0.0
        for axis in range(3):
            displacement[axis] *= share
            table[VELOCITY + axis, slot] = displacement[axis] / dt
            moves[pin] = max(moves[pin], abs(displacement[axis]) / spacing)
            places[pin, axis] = table[POSITION + axis, slot] + displacement[axis] / spacing


@kernel
def is_fixed(pinned, springs, pin):
    """Whether a pinned particle is fixed to its target."""
    return pinned.shares[pin] * springs.strengths[pinned.emitters[pin]] >= 1.0


@parallel_kernel
def fix_particles(tickets, table, pinned, springs, dt, is_plane):
    """Move fixed particles to their targets after a substep, with the targets' velocities; arguments as in `pull_particles`."""
    for pin in shared(tickets[0], pinned.slots.size, 256):
        if is_fixed(pinned, springs, pin):
            slot = pinned.slots[pin]
            for axis in range(3):
                table[POSITION + axis, slot] = pinned.places[pin, axis]
                if not (axis == 1 and is_plane):
                    table[VELOCITY + axis, slot] = (pinned.next_targets[pin, axis] - pinned.targets[pin, axis]) / dt


@kernel
def scatter_particle(scheme, table, slot, spacing, arena):
    """Add a particle's mass and affine momentum to the nodes of its block's arena."""
    is_plane = dimension_of(scheme) == 2
    x, y, z = np.float64(table[POSITION, slot]), np.float64(table[POSITION + 1, slot]), np.float64(table[POSITION + 2, slot])
    cx, _, along_x = axis_weights(scheme, x)
    cy, _, along_y = axis_weights(scheme, y)
    cz, _, along_z = axis_weights(scheme, z)
    ix, iy, iz = int(cx) - 1, int(cy) - 1, int(cz) - 1
    for i in range(4):
        for j in range(1 if is_plane else 4):
            for k in range(4):
                share = table[MASS, slot] * along_x[i] * (1.0 if is_plane else along_y[j]) * along_z[k]
                if share == 0.0:
                    continue
                dx, dy, dz = (ix + i - x) * spacing, 0.0 if is_plane else (iy + j - y) * spacing, (iz + k - z) * spacing
                row = (ix + i + 1) * ARENA + iz + k + 1 if is_plane else ((ix + i + 1) * ARENA + iy + j + 1) * ARENA + iz + k + 1
                for axis in range(3):
                    c = VELOCITY_GRADIENT + 3 * axis
                    affine = table[c, slot] * dx + table[c + 1, slot] * dy + table[c + 2, slot] * dz
                    arena[NODE * row + axis] += share * (table[VELOCITY + axis, slot] + affine)
                arena[NODE * row + 3] += share


@parallel_kernel
def scatter_pinned(tickets, scheme, table, pinned, springs, first, spacing, arenas):
    """Scatter the fixed particles of each block and velocity field.

    Args:
        scheme: see `transfer.scheme`.
        table, pinned, springs, spacing: see `pull_particles`.
        first: (arenas + 1,) the first pinned particle of each arena's block and velocity field.
        arenas: (arenas, 4 * arena nodes) result: momentum [kg m/s] and mass [kg].
    """
    for row in shared(tickets[0], first.size - 1, 4):
        arenas[row][:] = 0.0
        for pin in range(first[row], first[row + 1]):
            if is_fixed(pinned, springs, pin):
                scatter_particle(scheme, table, pinned.slots[pin], spacing, arenas[row])


@kernel
def fix_node(node, at, u, v, w, mass):
    """Move a node with the fixed particles: fully if they make up half of its mass or more, else in proportion; returns the share."""
    share = min(1.0, 2.0 * mass / node[at + 3])
    node[at] += share * (u / mass - node[at])
    node[at + 1] += share * (v / mass - node[at + 1])
    node[at + 2] += share * (w / mass - node[at + 2])
    return share


@parallel_kernel
def fix_nodes(tickets, nodes, near, node_arenas, node_fields, group_of_block, arenas, held):
    """Move nodes with fixed particles.

    Args:
        nodes: (node blocks, 4 * block nodes) velocities [m/s], which are changed, and masses [kg].
        near: (m,) node blocks around blocks with pinned particles.
        node_arenas: (node blocks, 27 or 9) particle blocks around each node block.
        node_fields: (node blocks,) the velocity field of each.
        group_of_block: (blocks, fields) group of each particle block and velocity field, -1 without pinned particles.
        arenas: see `scatter_pinned`.
        held: (node blocks,) result for near blocks: a bit for each node that moves with fixed particles alone.
    """
    is_plane = node_arenas.shape[1] == 9
    block_nodes = nodes.shape[1] // NODE
    for index in shared(tickets[0], near.size, 8):
        node, field = nodes[near[index]], node_fields[near[index]]
        bits = 0
        for place in range(block_nodes):
            if node[NODE * place + 3] == 0.0:
                continue
            ix, iy, iz = node_of_place(place, block_nodes)
            u, v, w, mass = 0.0, 0.0, 0.0, 0.0
            for around in range(node_arenas.shape[1]):
                block = node_arenas[near[index], around]
                row = group_of_block[block, field] if block >= 0 else -1
                if row < 0:
                    continue
                # the node in the arena, which starts one node below its block
                ax = ix + 1 - BLOCK * ((around // 3 if is_plane else around // 9) - 1)
                ay = 0 if is_plane else iy + 1 - BLOCK * (around // 3 % 3 - 1)
                az = iz + 1 - BLOCK * (around % 3 - 1)
                if min(ax, ay, az) < 0 or max(ax, ay, az) >= ARENA:
                    continue
                at = NODE * (ax * ARENA + az if is_plane else (ax * ARENA + ay) * ARENA + az)
                u, v, w, mass = u + arenas[row, at], v + arenas[row, at + 1], w + arenas[row, at + 2], mass + arenas[row, at + 3]
            if mass > 0.0 and fix_node(node, NODE * place, u, v, w, mass) == 1.0:
                bits |= 1 << place
        held[near[index]] = bits
