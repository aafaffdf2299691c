"""Particles that are held to a place, or pulled there by a spring: where they should be, and what it does to them."""

import math

from numba import prange

from .blocks import BLOCK
from .compilation import kernel
from .rows import POSITION, VELOCITY


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


@kernel(parallel=True)
def bind(vertices, corners, weights, positions, anchors):
    """Positions (n, 3) relative to the feet of points on triangles, along the triangles' axes: the (n, 3) results `anchors` [m]."""
    for pin in prange(positions.shape[0]):
        triangle = (corners[pin, 0], corners[pin, 1], corners[pin, 2])
        fx, fy, fz = foot_on(vertices, triangle, weights[pin])
        x, y, z = positions[pin, 0] - fx, positions[pin, 1] - fy, positions[pin, 2] - fz
        axes = triangle_axes(vertices, triangle)
        for axis in range(3):
            anchors[pin, axis] = axes[3 * axis] * x + axes[3 * axis + 1] * y + axes[3 * axis + 2] * z


@kernel(parallel=True)
def find_targets(groups, poses, vertices, corners, weights, anchors, targets):
    """Where particles should be.

    Args:
        groups: (n,) what each is held to; poses: (groups, 4, 4) world from local.
        vertices: (v, 3) of all deforming meshes [m]; corners: (n, 3) three of them, or -1 for a particle held to a rigid thing.
        weights: (n, 3) barycentric; anchors: (n, 3) in local space, or along the triangle's axes from the point that the weights name.
        targets: (n, 3) results [m].
    """
    for pin in prange(anchors.shape[0]):
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


@kernel(parallel=True)
def pull_particles(
    table, slots, blocks, shares, groups, goals, frequencies, dampings, targets, next_targets, dt, spacing, limit, is_plane, ways, reach,
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
    for pin in prange(slots.size):
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


@kernel(parallel=True)
def hold_particles(table, slots, shares, groups, goals, targets, next_targets, dt, is_plane, places):
    """Put held particles where they should be after a step, with the velocity of that place.

    Args:
        places: (n, 3) positions in the table, see `ways` of `pull_particles`; the others: see there.
    """
    for pin in prange(slots.size):
        if shares[pin] * goals[groups[pin]] >= 1.0:
            for axis in range(3):
                table[POSITION + axis, slots[pin]] = places[pin, axis]
                if not (axis == 1 and is_plane):
                    table[VELOCITY + axis, slots[pin]] = (next_targets[pin, axis] - targets[pin, axis]) / dt
