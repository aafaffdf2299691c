"""Force fields at the grid's nodes, with the effect of Blender's fields on particles of 1 kg, and the speed limit.

A field is a row of numbers (see `FIELD_SIZE`). Its effect at a position is an acceleration, a linear drag and a quadratic drag.
The effects of all fields are summed and applied in one step, exact for a constant acceleration with linear drag, then exact for
quadratic drag, so drag never reverses a velocity.
"""

import math

import numpy as np

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..scene.force import FALLOFF_SHAPES, FORCE_KINDS, FORCE_SHAPES, FORCE_SIDES
from ..transfer.blocks import BLOCK, NODE
from ..transfer.node_lookup import node_of_place
from .turbulence import corner_hash, random_number, turbulence

# the numbers of the declared choices
POINT, WIND, VORTEX = (FORCE_KINDS.index(kind) for kind in ("point", "wind", "vortex"))
TURBULENCE, DRAG, HARMONIC = (FORCE_KINDS.index(kind) for kind in ("turbulence", "drag", "harmonic"))
FROM_POINT, FROM_LINE, FROM_PLANE = (FORCE_SHAPES.index(shape) for shape in ("point", "line", "plane"))
SPHERE, TUBE, CONE = (FALLOFF_SHAPES.index(shape) for shape in ("sphere", "tube", "cone"))
BOTH, POSITIVE, NEGATIVE = (FORCE_SIDES.index(side) for side in ("both", "positive", "negative"))

# the columns of a field's row
KIND, SHAPE, FALLOFF_SHAPE, SIDE = 0, 1, 2, 3
CENTER, NORMAL = 4, 7
STRENGTH, POWER, LEAST, FARTHEST = 10, 11, 12, 13
RADIAL_POWER, RADIAL_LEAST, RADIAL_FARTHEST = 14, 15, 16
FLOW, NOISE, SEED, EDDY = 17, 18, 19, 20
LINEAR_DRAG, QUADRATIC_DRAG, REST_LENGTH, DAMPING = 21, 22, 23, 24
FIELD_SIZE = 25


@kernel
def decrease(distance, power, least, farthest):
    """(1 + d - least)^-power; 1 up to the least distance, 0 beyond the farthest."""
    if distance > farthest:
        return 0.0
    if distance <= least or power == 0.0:
        return 1.0
    return (1.0 + distance - least) ** -power


@kernel
def share_at(f, px, py, pz, distance):
    """The share of a field's strength at an offset p [m] from its center and at a distance [m] from its shape."""
    along = f[NORMAL] * px + f[NORMAL + 1] * py + f[NORMAL + 2] * pz
    if (f[SIDE] == POSITIVE and along < 0.0) or (f[SIDE] == NEGATIVE and along > 0.0):
        return 0.0
    if f[FALLOFF_SHAPE] == SPHERE:
        return decrease(distance, f[POWER], f[LEAST], f[FARTHEST])
    share = decrease(abs(along), f[POWER], f[LEAST], f[FARTHEST])
    length = math.sqrt(px * px + py * py + pz * pz)
    if f[FALLOFF_SHAPE] == TUBE:
        radial = math.sqrt(max(0.0, length * length - along * along))
    else:
        radial = math.degrees(math.acos(min(1.0, max(-1.0, along / length)))) if length > 0.0 else 0.0
    return share * decrease(radial, f[RADIAL_POWER], f[RADIAL_LEAST], f[RADIAL_FARTHEST])


@kernel
def noise_of(key):
    """The random part of a strength, distributed as in Blender: r/(1 + u) where r > 1/2, else -r/(1 + u); r, u in [0, 1)."""
    r = random_number(key)
    return (r if r > 0.5 else -r) / (1.0 + random_number(corner_hash(key, 1, 1, 1)))


@kernel
def turning(f, px, py, pz, rx, ry, rz, strength):
    """The acceleration of a vortex and its linear drag.

    About a point the acceleration is s d along n x r, where d is the distance from the point. About an axis, velocities relax within
    a second to a rotation at the rate s, with the centripetal acceleration that it needs.
    """
    nx, ny, nz = f[NORMAL], f[NORMAL + 1], f[NORMAL + 2]
    if f[SHAPE] == FROM_POINT:
        x, y, z = ny * rz - nz * ry, nz * rx - nx * rz, nx * ry - ny * rx
        across = math.sqrt(x * x + y * y + z * z)
        factor = strength * math.sqrt(rx * rx + ry * ry + rz * rz) / across if across > 0.0 else 0.0
        return factor * x, factor * y, factor * z, 0.0
    x, y, z = strength * (ny * pz - nz * py), strength * (nz * px - nx * pz), strength * (nx * py - ny * px)
    return (
        x + strength * (ny * z - nz * y),
        y + strength * (nz * x - nx * z),
        z + strength * (nx * y - ny * x),
        1.0,
    )


@kernel
def offset_from(f, x, y, z, is_plane):
    """The offset p [m] of a position [m] from a field's center, and that from its shape."""
    nx, ny, nz = f[NORMAL], f[NORMAL + 1], f[NORMAL + 2]
    px, py, pz = x - f[CENTER], 0.0 if is_plane else y - f[CENTER + 1], z - f[CENTER + 2]
    along = nx * px + ny * py + nz * pz
    rx, ry, rz = px, py, pz
    if f[SHAPE] == FROM_PLANE and f[KIND] != VORTEX:
        rx, ry, rz = along * nx, along * ny, along * nz
    elif f[SHAPE] != FROM_POINT:
        rx, ry, rz = px - along * nx, py - along * ny, pz - along * nz
    return px, py, pz, rx, ry, rz


@kernel
def effect(f, x, y, z, key, is_plane):
    """The effect of a field at a position [m]: acceleration [m/s^2] (3), linear drag [1/s], quadratic drag [1/m].

    Args:
        f: the field, (FIELD_SIZE,).
        key: a hash that differs at each position and in each frame.
    """
    nx, ny, nz = f[NORMAL], f[NORMAL + 1], f[NORMAL + 2]
    px, py, pz, rx, ry, rz = offset_from(f, x, y, z, is_plane)
    distance = math.sqrt(rx * rx + ry * ry + rz * rz)
    share = share_at(f, px, py, pz, distance)
    if share <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    random = f[NOISE] * noise_of(corner_hash(key, 0, 0, np.int64(f[SEED]))) if f[NOISE] > 0.0 else 0.0
    strength, kind = f[STRENGTH] + random, f[KIND]
    u, v, w, linear, quadratic = 0.0, 0.0, 0.0, f[FLOW] * share, 0.0
    if kind == WIND:
        u, v, w = strength * share * nx, strength * share * ny, strength * share * nz
    elif kind == POINT:
        factor = strength * share / distance if distance > 0.0 else 0.0
        u, v, w = factor * rx, factor * ry, factor * rz
    elif kind == VORTEX:
        u, v, w, drag = turning(f, px, py, pz, rx, ry, rz, strength * share)
        linear += drag
    elif kind == TURBULENCE:
        u, v, w = turbulence(px, py, pz, f[EDDY], np.int64(f[SEED]), is_plane)
        u, v, w = strength * share * u, strength * share * v, strength * share * w
    elif kind == HARMONIC:
        factor = -strength * share * ((distance - f[REST_LENGTH]) / distance if distance > 0.0 else 0.0)
        u, v, w = factor * rx, factor * ry, factor * rz
        linear = max(0.0, 2.0 * (f[DAMPING] + random) * math.sqrt(abs(strength)))
    else:
        linear = max(0.0, f[LINEAR_DRAG] + random) * share
        quadratic = max(0.0, f[QUADRATIC_DRAG] + random) * share
    return u, v, w, linear, quadratic


@kernel
def total_effect(fields, x, y, z, key, is_plane):
    """The sum of the `effect`s of all fields."""
    u, v, w, linear, quadratic = 0.0, 0.0, 0.0, 0.0, 0.0
    for number in range(fields.shape[0]):
        a, b, c, d, e = effect(fields[number], x, y, z, key, is_plane)
        u, v, w, linear, quadratic = u + a, v + b, w + c, linear + d, quadratic + e
    return u, 0.0 if is_plane else v, w, linear, quadratic


@kernel
def place_of_node(coordinates, place, block_nodes, spacing):
    """The world position of a node [m], and its integer coordinates."""
    ix, iy, iz = node_of_place(place, block_nodes)
    ix, iy, iz = ix + BLOCK * coordinates[0], iy + BLOCK * coordinates[1], iz + BLOCK * coordinates[2]
    return ix * spacing, iy * spacing, iz * spacing, ix, iy, iz


@parallel_kernel
def apply_forces(tickets, fields, coordinates, nodes, spacing, frame, dt, extremes):
    """Apply the fields to the velocities of all nodes with mass for a substep.

    Args:
        fields: (fields, FIELD_SIZE).
        coordinates: (node blocks, 3); nodes: (node blocks or more, 4 * block nodes) velocities [m/s] and masses [kg].
        spacing: [m]; frame: the current frame, for random values; dt: [s].
        extremes: (pieces,) results: greatest acceleration, without drag [m/s^2].
    """
    pieces, block_nodes = extremes.size, nodes.shape[1] // NODE
    is_plane = block_nodes == BLOCK * BLOCK
    for piece in shared(tickets[0], pieces, 1):
        greatest, count = 0.0, coordinates.shape[0]
        for number in range(count * piece // pieces, count * (piece + 1) // pieces):
            for place in range(block_nodes):
                if nodes[number, NODE * place + 3] > 0.0:
                    x, y, z, ix, iy, iz = place_of_node(coordinates[number], place, block_nodes, spacing)
                    key = corner_hash(ix, iy, iz, frame)
                    a, b, c, linear, quadratic = total_effect(fields, x, y, z, key, is_plane)
                    greatest = max(greatest, a * a + b * b + c * c)
                    push_node(nodes[number], NODE * place, a, b, c, linear, quadratic, dt)
        extremes[piece] = math.sqrt(greatest)


@kernel
def push_node(node, at, a, b, c, linear, quadratic, dt):
    """v <- v e^(-k dt) + a (1 - e^(-k dt)) / k with the linear drag k, then v <- v / (1 + q dt |v|) with the quadratic one q."""
    kept = math.exp(-linear * dt)
    reach = -math.expm1(-linear * dt) / linear if linear > 0.0 else dt
    u, v, w = kept * node[at] + reach * a, kept * node[at + 1] + reach * b, kept * node[at + 2] + reach * c
    if quadratic > 0.0:
        slowed = 1.0 / (1.0 + quadratic * dt * math.sqrt(u * u + v * v + w * w))
        u, v, w = slowed * u, slowed * v, slowed * w
    node[at], node[at + 1], node[at + 2] = u, v, w


@parallel_kernel
def greatest_force(tickets, fields, coordinates, block_nodes, spacing, frame, extremes):
    """The greatest acceleration at the nodes of blocks, with or without mass, (pieces,) results [m/s^2]; see `apply_forces`."""
    is_plane = block_nodes == BLOCK * BLOCK
    pieces = extremes.size
    for piece in shared(tickets[0], pieces, 1):
        greatest, count = 0.0, coordinates.shape[0]
        for number in range(count * piece // pieces, count * (piece + 1) // pieces):
            for place in range(block_nodes):
                x, y, z, ix, iy, iz = place_of_node(coordinates[number], place, block_nodes, spacing)
                a, b, c, _, _ = total_effect(fields, x, y, z, corner_hash(ix, iy, iz, frame), is_plane)
                greatest = max(greatest, a * a + b * b + c * c)
        extremes[piece] = math.sqrt(greatest)


@parallel_kernel
def forces_at(tickets, fields, positions, velocities, frame, is_plane, result):
    """The accelerations, including drag, of particles at positions [m] with velocities [m/s], (n, 3) [m/s^2]."""
    for index in shared(tickets[0], positions.shape[0], 256):
        x, y, z = positions[index, 0], positions[index, 1], positions[index, 2]
        u, v, w = velocities[index, 0], velocities[index, 1], velocities[index, 2]
        a, b, c, linear, quadratic = total_effect(fields, x, y, z, corner_hash(index, 0, 0, frame), is_plane)
        drag = linear + quadratic * math.sqrt(u * u + v * v + w * w)
        result[index, 0], result[index, 1], result[index, 2] = a - drag * u, b - drag * v, c - drag * w


@parallel_kernel
def shares_at(tickets, fields, positions, is_plane, result):
    """The share of its strength that each field has at positions [m], (n, 3): result (fields, n)."""
    for index in shared(tickets[0], positions.shape[0], 256):
        for number in range(fields.shape[0]):
            f = fields[number]
            px, py, pz, rx, ry, rz = offset_from(f, positions[index, 0], positions[index, 1], positions[index, 2], is_plane)
            result[number, index] = share_at(f, px, py, pz, math.sqrt(rx * rx + ry * ry + rz * rz))


@parallel_kernel
def limit_nodes(tickets, nodes, count, limit):
    """Limit the velocities at the nodes of the first `count` blocks [m/s]."""
    for number in shared(tickets[0], count, 64):
        node = nodes[number]
        for at in range(0, node.size, NODE):
            limit_velocity(node, at, at + 1, at + 2, limit)


@kernel
def limit_velocity(values, first, second, third, limit):
    u, v, w = values[first] * 1.0, values[second] * 1.0, values[third] * 1.0
    squared = u * u + v * v + w * w
    if squared > limit * limit:
        # slightly below the limit, so that rounding does not exceed it
        factor = (1.0 - 1e-6) * limit / math.sqrt(squared)
        values[first], values[second], values[third] = factor * u, factor * v, factor * w


@parallel_kernel
def limit_particles(tickets, table, row, slots, limit):
    """Limit the velocities of the particles in the first slots [m/s]; `row` is the first of their three rows."""
    for slot in shared(tickets[0], slots, 1024):
        limit_velocity(table[:, slot], row, row + 1, row + 2, limit)
