"""Grid to particles: APIC (Jiang et al. 2015), PIC or FLIP (Zhu and Bridson 2005), with MLS-MPM's velocity gradient (Hu et al. 2018).

The nodes are counted from the centre one, so that the sums over rows and planes serve the velocity and its gradient alike: the
slope along an axis is the sum of weight * count * velocity. See `scatter` for the other way.
"""

from typing import Any

from numba import prange
from numba.extending import overload

from .arithmetic import absolute, constant, generic, maximum, sqrt
from .blocks import ARENA, ARENA_NODES, BLOCK, NEIGHBOURS, NODE, PLANE, ROW
from .compilation import kernel
from .rows import DENSITY, MASS, POSITION, VELOCITY, VELOCITY_GRADIENT
from .scatter import TABLE, four_weights, three_weights
from .scheme import is_cubic, is_plane, prepare_weights
from .table import load_rows, load_vector, store_matrix, store_vector
from .vector import LANE_COUNT, largest, load, store

# scratch of a piece, behind the table: an arena of velocities, and one of the velocities before the step
GATHERED = TABLE + 16 * LANE_COUNT
SCRATCH_SIZE = GATHERED + 2 * NODE * ARENA_NODES


@generic
def gather_row_of_three(arena, at, wz):
    """The weighted sum over the nodes -1, 0 and 1 along z, and the slope."""
    w0, w1, w2 = wz
    low = w0 * load(arena, at, 4)
    high = w2 * load(arena, at + 2 * NODE, 4)
    return low + w1 * load(arena, at + NODE, 4) + high, high - low


@generic
def gather_row_of_four(arena, at, wz):
    """The weighted sum over the nodes -1, 0, 1 and 2 along z, and the slope."""
    w0, w1, w2, w3 = wz
    n0 = w0 * load(arena, at, 4)
    n2 = w2 * load(arena, at + 2 * NODE, 4)
    n3 = w3 * load(arena, at + 3 * NODE, 4)
    high = n2 + n3
    return n0 + w1 * load(arena, at + NODE, 4) + high, high + n3 - n0


@generic
def gather_plane_of_three(arena, at, wy, wz):
    """The weighted sum over three rows, and the slopes from row to row and along z."""
    w0, w1, w2 = wy
    value, slope = gather_row_of_three(arena, at, wz)
    low, along_z = w0 * value, w0 * slope
    value, slope = gather_row_of_three(arena, at + ROW, wz)
    middle, along_z = w1 * value, along_z + w1 * slope
    value, slope = gather_row_of_three(arena, at + 2 * ROW, wz)
    high, along_z = w2 * value, along_z + w2 * slope
    return low + middle + high, high - low, along_z


@generic
def gather_plane_of_four(arena, at, wy, wz):
    """The weighted sum over four rows, and the slopes from row to row and along z."""
    w0, w1, w2, w3 = wy
    value, slope = gather_row_of_four(arena, at, wz)
    n0, along_z = w0 * value, w0 * slope
    value, slope = gather_row_of_four(arena, at + ROW, wz)
    n1, along_z = w1 * value, along_z + w1 * slope
    value, slope = gather_row_of_four(arena, at + 2 * ROW, wz)
    n2, along_z = w2 * value, along_z + w2 * slope
    value, slope = gather_row_of_four(arena, at + 3 * ROW, wz)
    n3, along_z = w3 * value, along_z + w3 * slope
    return n0 + n1 + n2 + n3, n2 + 2.0 * n3 - n0, along_z


def gather_lane(scheme: Any, arena: Any, at: Any, scratch: Any, lane: Any) -> None:
    """Write one particle's velocity (and the mass around), and its slopes along x, y and z, as four rows of the table."""
    raise TypeError("gather_lane is for kernels")


@overload(gather_lane, jit_options={"forceinline": True})
def _overload_gather_lane(scheme, arena, at, scratch, lane):
    def quadratic_in_space(scheme, arena, at, scratch, lane):
        (w0, w1, w2), wy, wz = three_weights(scratch, 0, lane), three_weights(scratch, 1, lane), three_weights(scratch, 2, lane)
        value, slope_y, slope_z = gather_plane_of_three(arena, at, wy, wz)
        low, along_y, along_z = w0 * value, w0 * slope_y, w0 * slope_z
        value, slope_y, slope_z = gather_plane_of_three(arena, at + PLANE, wy, wz)
        middle, along_y, along_z = w1 * value, along_y + w1 * slope_y, along_z + w1 * slope_z
        value, slope_y, slope_z = gather_plane_of_three(arena, at + 2 * PLANE, wy, wz)
        high, along_y, along_z = w2 * value, along_y + w2 * slope_y, along_z + w2 * slope_z
        store_gathered(scratch, lane, low + middle + high, high - low, along_y, along_z)

    def cubic_in_space(scheme, arena, at, scratch, lane):
        (w0, w1, w2, w3), wy, wz = four_weights(scratch, 0, lane), four_weights(scratch, 1, lane), four_weights(scratch, 2, lane)
        value, slope_y, slope_z = gather_plane_of_four(arena, at, wy, wz)
        n0, along_y, along_z = w0 * value, w0 * slope_y, w0 * slope_z
        value, slope_y, slope_z = gather_plane_of_four(arena, at + PLANE, wy, wz)
        n1, along_y, along_z = w1 * value, along_y + w1 * slope_y, along_z + w1 * slope_z
        value, slope_y, slope_z = gather_plane_of_four(arena, at + 2 * PLANE, wy, wz)
        n2, along_y, along_z = w2 * value, along_y + w2 * slope_y, along_z + w2 * slope_z
        value, slope_y, slope_z = gather_plane_of_four(arena, at + 3 * PLANE, wy, wz)
        n3, along_y, along_z = w3 * value, along_y + w3 * slope_y, along_z + w3 * slope_z
        store_gathered(scratch, lane, n0 + n1 + n2 + n3, n2 + 2.0 * n3 - n0, along_y, along_z)

    def quadratic_in_plane(scheme, arena, at, scratch, lane):
        wx, wz = three_weights(scratch, 0, lane), three_weights(scratch, 2, lane)
        value, along_x, along_z = gather_plane_of_three(arena, at, wx, wz)
        store_gathered(scratch, lane, value, along_x, constant(0.0, value), along_z)

    def cubic_in_plane(scheme, arena, at, scratch, lane):
        wx, wz = four_weights(scratch, 0, lane), four_weights(scratch, 2, lane)
        value, along_x, along_z = gather_plane_of_four(arena, at, wx, wz)
        store_gathered(scratch, lane, value, along_x, constant(0.0, value), along_z)

    if is_plane(scheme):
        return cubic_in_plane if is_cubic(scheme) else quadratic_in_plane
    return cubic_in_space if is_cubic(scheme) else quadratic_in_space


@generic
def store_gathered(scratch, lane, value, along_x, along_y, along_z):
    row = TABLE + 16 * lane
    store(scratch, row, value)
    store(scratch, row + 4, along_x)
    store(scratch, row + 8, along_y)
    store(scratch, row + 12, along_z)


@generic
def copy_row(below, middle, above, inside, scratch, at):
    """Copy eight nodes along z: the last of the block below, four of the middle one, three of the one above."""
    store(scratch, at, load(below, inside + 3 * NODE, 4))
    store(scratch, at + NODE, load(middle, inside, 8))
    store(scratch, at + 3 * NODE, load(middle, inside + 2 * NODE, 8))
    store(scratch, at + 5 * NODE, load(above, inside, 8))
    store(scratch, at + 7 * NODE, load(above, inside + 2 * NODE, 4))


@generic
def gather_arena(nodes, neighbours, scratch, start):
    """Copy the nodes that a block's particles touch from the node blocks around into an arena of the scratch."""
    if neighbours.size == NEIGHBOURS:
        for ax in range(ARENA):
            for ay in range(ARENA):
                inside = ((ax + 3) % BLOCK * BLOCK + (ay + 3) % BLOCK) * BLOCK * NODE
                column = ((ax + 3) // BLOCK * 3 + (ay + 3) // BLOCK) * 3
                below, middle, above = nodes[neighbours[column]], nodes[neighbours[column + 1]], nodes[neighbours[column + 2]]
                copy_row(below, middle, above, inside, scratch, start + (ax * ARENA + ay) * ROW)
    else:
        for ax in range(ARENA):
            inside = (ax + 3) % BLOCK * BLOCK * NODE
            column = (ax + 3) // BLOCK * 3
            below, middle, above = nodes[neighbours[column]], nodes[neighbours[column + 1]], nodes[neighbours[column + 2]]
            copy_row(below, middle, above, inside, scratch, start + ax * ROW)


@kernel(parallel=True)
def grid_to_particles(
    scheme, particles, first, material_count, pieces, neighbours, nodes, nodes_before, dt, spacing, scratch, index, extremes
):
    """Gather velocity, velocity gradient and the density around, and move the particles.

    v_pic = sum w v_i, C = D^-1 sum w v_i (x_i - x_p)^T, x += dt v_pic (Hu et al. 2018, eq. 17; Jiang et al. 2015), and
    v = (1 - r) v_pic + r (v + sum w (v_i - v_i before)) with the FLIP ratio r (Zhu and Bridson 2005).

    Args:
        scheme: see `scheme`.
        neighbours: (blocks, 27 or 9) node blocks around each block.
        nodes: (node blocks, 4 * block nodes) velocities and masses.
        nodes_before: the same before stress, gravity and contact; read where the scheme has a FLIP ratio.
        extremes: (pieces, 3) results: greatest speed [m/s], greatest displacement along an axis [cells], and 0, or NaN
            where a velocity is not a finite number.
    """
    gradient_factor = scheme.inverse_inertia / spacing
    flip, pic = scheme.flip_ratio, 1.0 - scheme.flip_ratio
    step = dt / spacing
    per_volume = 1.0 / (spacing**3 if neighbours.shape[1] == NEIGHBOURS else spacing**2)
    for piece in prange(pieces.size - 1):
        table = scratch[piece]
        numbers = index[piece]
        fastest = constant(0.0, load(particles[MASS], 0, 8))
        farthest = fastest
        check = fastest
        arena = table[GATHERED:]
        before = table[GATHERED + NODE * ARENA_NODES :]
        for block in range(pieces[piece], pieces[piece + 1]):
            gather_arena(nodes, neighbours[block], table, GATHERED)
            if flip > 0.0:
                gather_arena(nodes_before, neighbours[block], table, GATHERED + NODE * ARENA_NODES)
            for slot in range(first[block * material_count], first[(block + 1) * material_count], LANE_COUNT):
                x, y, z = load_vector(particles, POSITION, slot)
                dx, dy, dz = prepare_weights(scheme, x, y, z, table, numbers)
                for lane in range(LANE_COUNT):
                    gather_lane(scheme, arena, NODE * numbers[lane], table, lane)
                u, v, w, mass = load_rows(table, TABLE)
                a, d, g, _ = load_rows(table, TABLE + 4)
                b, e, h, _ = load_rows(table, TABLE + 8)
                c, f, i, _ = load_rows(table, TABLE + 12)
                store(particles[DENSITY], slot, per_volume * mass)
                a, b, c = gradient_factor * (a - u * dx), gradient_factor * (b - u * dy), gradient_factor * (c - u * dz)
                d, e, f = gradient_factor * (d - v * dx), gradient_factor * (e - v * dy), gradient_factor * (f - v * dz)
                g, h, i = gradient_factor * (g - w * dx), gradient_factor * (h - w * dy), gradient_factor * (i - w * dz)
                store_matrix(particles, VELOCITY_GRADIENT, slot, (a, b, c, d, e, f, g, h, i))
                mx, my, mz = step * u, step * v, step * w
                store_vector(particles, POSITION, slot, (x + mx, y + my, z + mz))
                farthest = maximum(farthest, maximum(absolute(mx), maximum(absolute(my), absolute(mz))))
                if flip > 0.0:
                    for lane in range(LANE_COUNT):
                        gather_lane(scheme, before, NODE * numbers[lane], table, lane)
                    u0, v0, w0, _ = load_rows(table, TABLE)
                    p, q, r = load_vector(particles, VELOCITY, slot)
                    u, v, w = (
                        pic * u + flip * (p + (u - u0)),
                        pic * v + flip * (q + (v - v0)),
                        pic * w + flip * (r + (w - w0)),
                    )
                store_vector(particles, VELOCITY, slot, (u, v, w))
                fastest = maximum(fastest, u * u + v * v + w * w)
                check = check + 0.0 * (u + v + w)
        extremes[piece, 0] = largest(sqrt(fastest))
        extremes[piece, 1] = largest(farthest)
        extremes[piece, 2] = largest(check)
