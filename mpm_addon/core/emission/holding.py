"""Particles that are held to a place, or pulled there by a spring: where they should be, and what it does to them.

What holds a particle also holds the nodes: where half of a node's mass or more is held, it moves as the held particles do. With
particles held alone, the nodes between them and free matter would give way in every step, and what hangs on them would creep off.
"""

import math

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import ARENA, BLOCK, NODE
from ..transfer.node_lookup import node_of_place
from ..transfer.rows import MASS, POSITION, VELOCITY, VELOCITY_GRADIENT


@kernel
def triangle_axes(vertices, corners):
    """The unit axes of a triangle, 9 numbers: along its first edge, across it in the plane, and its normal; zeros where it has no area."""
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
def foot_on(vertices, corners, weights):
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
    """Positions (n, 3) relative to the feet of points on triangles, along the triangles' axes: the (n, 3) results `anchors` [m]."""
    for pin in shared(tickets[0], positions.shape[0], 256):
        triangle = (corners[pin, 0], corners[pin, 1], corners[pin, 2])
        fx, fy, fz = foot_on(vertices, triangle, weights[pin])
        x, y, z = positions[pin, 0] - fx, positions[pin, 1] - fy, positions[pin, 2] - fz
        axes = triangle_axes(vertices, triangle)
        for axis in range(3):
            anchors[pin, axis] = axes[3 * axis] * x + axes[3 * axis + 1] * y + axes[3 * axis + 2] * z


@parallel_kernel
def find_targets(tickets, groups, poses, vertices, corners, weights, anchors, targets):
    """Where particles should be.

    Args:
        groups: (n,) what each is held to; poses: (groups, 4, 4) world from local.
        vertices: (v, 3) of all deforming meshes [m]; corners: (n, 3) three of them, or -1 for a particle held to a rigid thing.
        weights: (n, 3) barycentric; anchors: (n, 3) in local space, or along the triangle's axes from the point that the weights name.
        targets: (n, 3) results [m].
    """
    for pin in shared(tickets[0], anchors.shape[0], 256):
        x, y, z = anchors[pin, 0], anchors[pin, 1], anchors[pin, 2]
        if corners[pin, 0] < 0:
            pose = poses[groups[pin]]
            for axis in range(3):
                targets[pin, axis] = pose[axis, 0] * x + pose[axis, 1] * y + pose[axis, 2] * z + pose[axis, 3]
        else:
            triangle = (corners[pin, 0], corners[pin, 1], corners[pin, 2])
            ux, uy, uz, vx, vy, vz, nx, ny, nz = triangle_axes(vertices, triangle)
            fx, fy, fz = foot_on(vertices, triangle, weights[pin])
            targets[pin, 0] = fx + x * ux + y * vx + z * nx
            targets[pin, 1] = fy + x * uy + y * vy + z * ny
            targets[pin, 2] = fz + x * uz + y * vz + z * nz


@kernel
def way_to(table, slot, block, target, spacing, is_plane, way):
    """The way from a particle to a target [m], written to `way` (3,); returns its length."""
    squared = 0.0
    for axis in range(3):
        way[axis] = target[axis] - spacing * (table[POSITION + axis, slot] + BLOCK * block[axis])
        if axis == 1 and is_plane:
            way[axis] = 0.0
        squared += way[axis] * way[axis]
    return math.sqrt(squared)


@kernel
def pull_particle(table, slot, way, target, next_target, stiffness, damping, dt, limit):
    """A step of a spring with a damper, implicit in both: v <- (v + dt w^2 (X' - x) + 2 z w dt V) / (1 + 2 z w dt + w^2 dt^2).

    Args:
        way: X' - x [m], changed; stiffness: w^2 dt^2; damping: 2 z w dt; limit: of the way that the change makes in a step [m].
    """
    squared = 0.0
    for axis in range(3):
        before = 1.0 * table[VELOCITY + axis, slot]
        wanted = before * dt + stiffness * way[axis] + damping * (next_target[axis] - target[axis])
        way[axis] = wanted / (1.0 + damping + stiffness) - before * dt
        squared += way[axis] * way[axis]
    share = min(1.0, limit / math.sqrt(squared)) / dt if squared > 0.0 else 0.0
    for axis in range(3):
        table[VELOCITY + axis, slot] += share * way[axis]


@parallel_kernel
def pull_particles(
    tickets, table, slots, blocks, shares, groups, goals, frequencies, dampings, targets, next_targets, dt, spacing, limit, is_plane,
    ways, reach,
):  # fmt: skip
    """Set the velocities of held particles to what brings them to their targets, and pull at the others.

    Args:
        table: (rows, slots), velocities are changed.
        slots: (n,); blocks: (n, 3) coordinates of their blocks; shares: (n,) factors on the goal; groups: (n,).
        goals, frequencies, dampings: (groups,) goal, angular frequency [rad/s] and damping ratio.
        targets, next_targets: (n, 3) now and after the step [m].
        limit: how far a particle is moved by this at most [m].
        ways: (n, 3) results: how far held particles go in the step [m].
        reach: (n,) results: the longest of their components [cells], 0 where a particle is not held.
    """
    for pin in shared(tickets[0], slots.size, 256):
        slot, group, way = slots[pin], groups[pin], ways[pin]
        weight = shares[pin] * goals[group]
        reach[pin] = 0.0
        if weight <= 0.0:
            continue
        length = way_to(table, slot, blocks[pin], next_targets[pin], spacing, is_plane, way)
        if weight < 1.0:
            angle = dt * frequencies[group] * math.sqrt(weight)
            pull_particle(table, slot, way, targets[pin], next_targets[pin], angle * angle, 2.0 * dampings[group] * angle, dt, limit)
            continue
        share = min(1.0, limit / length) if length > 0.0 else 0.0
        for axis in range(3):
            way[axis] *= share
            table[VELOCITY + axis, slot] = way[axis] / dt
            reach[pin] = max(reach[pin], abs(way[axis]) / spacing)
            # where it will be, as a position in the table
            way[axis] = table[POSITION + axis, slot] + way[axis] / spacing


@parallel_kernel
def hold_particles(tickets, table, slots, shares, groups, goals, targets, next_targets, dt, is_plane, places):
    """Put held particles where they should be after a step, with the velocity of that place.

    Args:
        places: (n, 3) positions in the table, see `ways` of `pull_particles`; the others: see there.
    """
    for pin in shared(tickets[0], slots.size, 256):
        if shares[pin] * goals[groups[pin]] >= 1.0:
            for axis in range(3):
                table[POSITION + axis, slots[pin]] = places[pin, axis]
                if not (axis == 1 and is_plane):
                    table[VELOCITY + axis, slots[pin]] = (next_targets[pin, axis] - targets[pin, axis]) / dt


@kernel
def spline(x, is_cubic):
    """The first node that a particle at x [cells] touches along an axis, and its weights on that and the next three."""
    if is_cubic:
        first = math.floor(x) - 1
        d = x - first - 1.0
        e = 1.0 - d
        return first, (e**3 / 6.0, 2.0 / 3.0 - d * d * (1.0 - 0.5 * d), 2.0 / 3.0 - e * e * (1.0 - 0.5 * e), d**3 / 6.0)
    first = math.floor(x - 0.5)
    d = x - first - 1.0
    return first, (0.5 * (0.5 - d) ** 2, 0.75 - d * d, 0.5 * (0.5 + d) ** 2, 0.0)


@kernel
def spread_particle(table, slot, spacing, is_cubic, is_plane, arena):
    """Add a particle's mass and momentum, with what its velocity gradient adds, to the nodes of its block's arena."""
    x, y, z = table[POSITION, slot] * 1.0, table[POSITION + 1, slot] * 1.0, table[POSITION + 2, slot] * 1.0
    (ix, along_x), (iy, along_y), (iz, along_z) = spline(x, is_cubic), spline(y, is_cubic), spline(z, is_cubic)
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
def spread_held(tickets, table, slots, first, shares, groups, goals, spacing, is_cubic, is_plane, arenas):
    """Scatter the held particles of each block.

    Args:
        table: (rows, slots); slots, shares, groups: (n,); goals: see `pull_particles`.
        first: (blocks + 1,) the first pin of each block that has one.
        arenas: (blocks, 4 * arena nodes) results: momentum [kg m/s] and mass [kg].
    """
    for block in shared(tickets[0], first.size - 1, 4):
        arenas[block][:] = 0.0
        for pin in range(first[block], first[block + 1]):
            if shares[pin] * goals[groups[pin]] >= 1.0:
                spread_particle(table, slots[pin], spacing, is_cubic, is_plane, arenas[block])


@kernel
def hold_node(node, at, u, v, w, mass):
    """Let a node go along with the held part of its mass, wholly where that is half of it or more."""
    share = min(1.0, 2.0 * mass / node[at + 3])
    node[at] += share * (u / mass - node[at])
    node[at + 1] += share * (v / mass - node[at + 1])
    node[at + 2] += share * (w / mass - node[at + 2])


@parallel_kernel
def hold_nodes(tickets, nodes, near, node_arenas, place_of_block, arenas):
    """Let nodes go along with held particles.

    Args:
        nodes: (node blocks, 4 * block nodes) velocities [m/s], changed, and masses [kg].
        near: (m,) node blocks around blocks with pins; node_arenas: (node blocks, 27 or 9) particle blocks around each.
        place_of_block: (blocks,) row of `arenas` of each particle block, -1 without pins.
        arenas: see `spread_held`.
    """
    is_plane = node_arenas.shape[1] == 9
    block_nodes = nodes.shape[1] // NODE
    for index in shared(tickets[0], near.size, 8):
        node = nodes[near[index]]
        for place in range(block_nodes):
            if node[NODE * place + 3] == 0.0:
                continue
            ix, iy, iz = node_of_place(place, block_nodes)
            u, v, w, mass = 0.0, 0.0, 0.0, 0.0
            for around in range(node_arenas.shape[1]):
                block = node_arenas[near[index], around]
                row = place_of_block[block] if block >= 0 else -1
                if row < 0:
                    continue
                # the node in the arena, which begins one node below its block
                ax = ix + 1 - BLOCK * ((around // 3 if is_plane else around // 9) - 1)
                ay = 0 if is_plane else iy + 1 - BLOCK * (around // 3 % 3 - 1)
                az = iz + 1 - BLOCK * (around % 3 - 1)
                if min(ax, ay, az) < 0 or max(ax, ay, az) >= ARENA:
                    continue
                at = NODE * (ax * ARENA + az if is_plane else (ax * ARENA + ay) * ARENA + az)
                u, v, w, mass = u + arenas[row, at], v + arenas[row, at + 1], w + arenas[row, at + 2], mass + arenas[row, at + 3]
            if mass > 0.0:
                hold_node(node, NODE * place, u, v, w, mass)
