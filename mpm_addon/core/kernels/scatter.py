"""Particles to grid: MLS-MPM (Hu et al. 2018) with APIC (Jiang et al. 2015), PIC or FLIP.

Eight particles at a time: weights and affine momenta are made for eight lanes at once; then each particle's nodes are written
as vectors of four numbers (momentum and mass). The momentum is linear in the node's count from the centre node. See `blocks` for
the layout of slots and arenas.
"""

from typing import Any

from numba import prange
from numba.extending import overload

from .arithmetic import constant, generic
from .blocks import NODE, PLANE, ROW
from .compilation import kernel
from .rows import MASS, POSITION, STRESS, VELOCITY, VELOCITY_GRADIENT, VOLUME
from .scheme import AXIS_WEIGHTS, is_cubic, is_plane, prepare_weights
from .table import load_matrix, load_symmetric, load_vector, store_rows
from .vector import LANE_COUNT, load, splat, store

# scratch of a piece: the weights of three axes, then four vectors of four numbers a lane
TABLE = 3 * AXIS_WEIGHTS


@generic
def weight(scratch, axis, number, lane):
    """Four copies of weight `number` of an axis of one lane."""
    return splat(scratch[axis * AXIS_WEIGHTS + number * LANE_COUNT + lane], 4)


@generic
def three_weights(scratch, axis, lane):
    return weight(scratch, axis, 0, lane), weight(scratch, axis, 1, lane), weight(scratch, axis, 2, lane)


@generic
def four_weights(scratch, axis, lane):
    return (
        weight(scratch, axis, 0, lane), weight(scratch, axis, 1, lane), weight(scratch, axis, 2, lane), weight(scratch, axis, 3, lane)
    )  # fmt: skip


@generic
def add(arena, at, value):
    store(arena, at, load(arena, at, 4) + value)


@generic
def scatter_row_of_three(arena, at, share, momentum, along_z, wz):
    """Add share * weight * (momentum + count * along_z) to the nodes -1, 0 and 1 along z."""
    w0, w1, w2 = wz
    centre = share * momentum
    slope = share * along_z
    add(arena, at, w0 * (centre - slope))
    add(arena, at + NODE, w1 * centre)
    add(arena, at + 2 * NODE, w2 * (centre + slope))


@generic
def scatter_row_of_four(arena, at, share, momentum, along_z, wz):
    """Add share * weight * (momentum + count * along_z) to the nodes -1, 0, 1 and 2 along z."""
    w0, w1, w2, w3 = wz
    centre = share * momentum
    slope = share * along_z
    add(arena, at, w0 * (centre - slope))
    add(arena, at + NODE, w1 * centre)
    centre = centre + slope
    add(arena, at + 2 * NODE, w2 * centre)
    add(arena, at + 3 * NODE, w3 * (centre + slope))


@generic
def scatter_plane_of_three(arena, at, shares, momentum, along_y, along_z, wz):
    """Add to three rows; `along_y` is the slope from row to row."""
    s0, s1, s2 = shares
    scatter_row_of_three(arena, at, s0, momentum - along_y, along_z, wz)
    scatter_row_of_three(arena, at + ROW, s1, momentum, along_z, wz)
    scatter_row_of_three(arena, at + 2 * ROW, s2, momentum + along_y, along_z, wz)


@generic
def scatter_plane_of_four(arena, at, shares, momentum, along_y, along_z, wz):
    s0, s1, s2, s3 = shares
    scatter_row_of_four(arena, at, s0, momentum - along_y, along_z, wz)
    scatter_row_of_four(arena, at + ROW, s1, momentum, along_z, wz)
    momentum = momentum + along_y
    scatter_row_of_four(arena, at + 2 * ROW, s2, momentum, along_z, wz)
    scatter_row_of_four(arena, at + 3 * ROW, s3, momentum + along_y, along_z, wz)


@generic
def times_three(a, weights):
    w0, w1, w2 = weights
    return a * w0, a * w1, a * w2


@generic
def times_four(a, weights):
    w0, w1, w2, w3 = weights
    return a * w0, a * w1, a * w2, a * w3


def scatter_lane(scheme: Any, arena: Any, at: Any, scratch: Any, lane: Any) -> None:
    """Add one particle's momentum and mass to its nodes."""
    raise TypeError("scatter_lane is for kernels")


@overload(scatter_lane, jit_options={"forceinline": True})
def _overload_scatter_lane(scheme, arena, at, scratch, lane):
    def quadratic_in_space(scheme, arena, at, scratch, lane):
        (x0, x1, x2), wy, wz = three_weights(scratch, 0, lane), three_weights(scratch, 1, lane), three_weights(scratch, 2, lane)
        momentum, along_x, along_y, along_z = affine_momentum(scratch, lane)
        scatter_plane_of_three(arena, at, times_three(x0, wy), momentum - along_x, along_y, along_z, wz)
        scatter_plane_of_three(arena, at + PLANE, times_three(x1, wy), momentum, along_y, along_z, wz)
        scatter_plane_of_three(arena, at + 2 * PLANE, times_three(x2, wy), momentum + along_x, along_y, along_z, wz)

    def cubic_in_space(scheme, arena, at, scratch, lane):
        (x0, x1, x2, x3), wy, wz = four_weights(scratch, 0, lane), four_weights(scratch, 1, lane), four_weights(scratch, 2, lane)
        momentum, along_x, along_y, along_z = affine_momentum(scratch, lane)
        scatter_plane_of_four(arena, at, times_four(x0, wy), momentum - along_x, along_y, along_z, wz)
        scatter_plane_of_four(arena, at + PLANE, times_four(x1, wy), momentum, along_y, along_z, wz)
        momentum = momentum + along_x
        scatter_plane_of_four(arena, at + 2 * PLANE, times_four(x2, wy), momentum, along_y, along_z, wz)
        scatter_plane_of_four(arena, at + 3 * PLANE, times_four(x3, wy), momentum + along_x, along_y, along_z, wz)

    def quadratic_in_plane(scheme, arena, at, scratch, lane):
        momentum, along_x, _, along_z = affine_momentum(scratch, lane)
        wx, wz = three_weights(scratch, 0, lane), three_weights(scratch, 2, lane)
        scatter_plane_of_three(arena, at, wx, momentum, along_x, along_z, wz)

    def cubic_in_plane(scheme, arena, at, scratch, lane):
        momentum, along_x, _, along_z = affine_momentum(scratch, lane)
        wx, wz = four_weights(scratch, 0, lane), four_weights(scratch, 2, lane)
        scatter_plane_of_four(arena, at, wx, momentum, along_x, along_z, wz)

    if is_plane(scheme):
        return cubic_in_plane if is_cubic(scheme) else quadratic_in_plane
    return cubic_in_space if is_cubic(scheme) else quadratic_in_space


@generic
def affine_momentum(scratch, lane):
    """What `prepare_momenta` wrote of one lane: momentum and mass at the centre node, and their slopes along x, y and z."""
    row = TABLE + 16 * lane
    return load(scratch, row, 4), load(scratch, row + 4, 4), load(scratch, row + 8, 4), load(scratch, row + 12, 4)


@generic
def prepare_momenta(particles, slot, scratch, offsets, affine_factor, stress_factor):
    """Write each lane's momentum at its centre node, with its mass, and the slopes of the momentum along x, y and z."""
    dx, dy, dz = offsets
    mass = load(particles[MASS], slot, 8)
    volume = load(particles[VOLUME], slot, 8)
    u, v, w = load_vector(particles, VELOCITY, slot)
    a, b, c, d, e, f, g, h, i = load_matrix(particles, VELOCITY_GRADIENT, slot)
    xx, xy, xz, yy, yz, zz = load_symmetric(particles, STRESS, slot)
    affine = affine_factor * mass
    force = stress_factor * volume
    a, b, c = affine * a - force * xx, affine * b - force * xy, affine * c - force * xz
    d, e, f = affine * d - force * xy, affine * e - force * yy, affine * f - force * yz
    g, h, i = affine * g - force * xz, affine * h - force * yz, affine * i - force * zz
    store_rows(
        scratch,
        TABLE,
        mass * u - (a * dx + b * dy + c * dz),
        mass * v - (d * dx + e * dy + f * dz),
        mass * w - (g * dx + h * dy + i * dz),
        mass,
    )
    zero = constant(0.0, mass)
    store_rows(scratch, TABLE + 4, a, d, g, zero)
    store_rows(scratch, TABLE + 8, b, e, h, zero)
    store_rows(scratch, TABLE + 12, c, f, i, zero)


@kernel(parallel=True)
def particles_to_grid(scheme, particles, first, material_count, pieces, dt, spacing, scratch, index, arenas):
    """Scatter mass and momentum, with the impulse of the stress, into each block's arena.

    (mv)_i += w [m v + (m C - dt V0 D^-1 tau)(x_i - x_p)] (Hu et al. 2018, eq. 16 and 29); PIC and FLIP leave out m C.

    Args:
        scheme: see `scheme`.
        particles: (ROW_COUNT, slots).
        first: first slot of each run.
        pieces: first block of each piece of work.
        dt: [s]; spacing: cell size [m].
        scratch: (pieces, SCRATCH_SIZE); index: (pieces, 8) int32.
        arenas: (blocks, 4 * arena nodes) result [kg m/s, kg].
    """
    affine_factor = scheme.affine * spacing
    stress_factor = scheme.inverse_inertia * dt / spacing
    for piece in prange(pieces.size - 1):
        table = scratch[piece]
        nodes = index[piece]
        for block in range(pieces[piece], pieces[piece + 1]):
            arena = arenas[block]
            arena[:] = 0
            for slot in range(first[block * material_count], first[(block + 1) * material_count], LANE_COUNT):
                x, y, z = load_vector(particles, POSITION, slot)
                offsets = prepare_weights(scheme, x, y, z, table, nodes)
                prepare_momenta(particles, slot, table, offsets, affine_factor, stress_factor)
                for lane in range(LANE_COUNT):
                    scatter_lane(scheme, arena, NODE * nodes[lane], table, lane)
