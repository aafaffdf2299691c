"""Grid to particles: APIC (Jiang et al. 2015), PIC or FLIP (Zhu and Bridson 2005), with MLS-MPM's velocity gradient (Hu et al. 2018).

A particle reads its nodes by rows along z, four nodes or sixteen numbers at once; with quadratic splines the fourth has zero weight.
Rows are weighted and summed first, then the nodes within them. Nodes are counted from the center node, so the same sums give the
velocity and its gradient: the slope along an axis is the sum of weight * count * velocity. See `scatter` for the opposite transfer.
"""

from typing import Any

from numba.extending import overload

from ..arithmetic.operations import constant, generic, multiply_add
from ..arithmetic.vector import broadcast, load, shuffled, store, store_as_int32, whole, whole_numbers
from .blocks import BLOCK, NEIGHBORS, NODE, PLANE, ROW
from .scheme import all_weights, is_cubic, is_plane
from .scratch import ALONG_Z, CHUNK, LANES, LANES_BEFORE, WEIGHTS, store_row_weights
from .table import LANE_ROW, load_lines, load_rows, store_rows

ROW_OF_FOUR = 4 * NODE


@generic
def row_of(arena, at, scratch, weight):
    """The weight of a row, and its four nodes along z."""
    return broadcast(scratch, weight, ROW_OF_FOUR), load(arena, at, ROW_OF_FOUR)


@generic
def gather_plane_of_three(arena, at, scratch, weight):
    """The weighted sum over three rows, and the slope from row to row."""
    w0, r0 = row_of(arena, at, scratch, weight)
    w1, r1 = row_of(arena, at + ROW, scratch, weight + CHUNK)
    w2, r2 = row_of(arena, at + 2 * ROW, scratch, weight + 2 * CHUNK)
    low = w0 * r0
    return multiply_add(w2, r2, multiply_add(w1, r1, low)), multiply_add(w2, r2, -low)


@generic
def gather_plane_of_four(arena, at, scratch, weight):
    """The weighted sum over four rows, and the slope from row to row."""
    w0, r0 = row_of(arena, at, scratch, weight)
    w1, r1 = row_of(arena, at + ROW, scratch, weight + CHUNK)
    w2, r2 = row_of(arena, at + 2 * ROW, scratch, weight + 2 * CHUNK)
    w3, r3 = row_of(arena, at + 3 * ROW, scratch, weight + 3 * CHUNK)
    low, last = w0 * r0, w3 * r3
    high = multiply_add(w2, r2, last)
    return multiply_add(w1, r1, low) + high, (high + last) - low


def gather_rows(scheme: Any, arena: Any, at: Any, scratch: Any, lane: Any) -> Any:
    """The weighted sum over one particle's rows, and the slopes along x and y: four nodes along z each, not yet weighted along z."""
    raise TypeError("gather_rows is for kernels")


@overload(gather_rows, jit_options={"forceinline": True})
def _overload_gather_rows(scheme, arena, at, scratch, lane):
    def quadratic_in_space(scheme, arena, at, scratch, lane):
        weight = WEIGHTS + lane
        p0, y0 = gather_plane_of_three(arena, at, scratch, weight)
        p1, y1 = gather_plane_of_three(arena, at + PLANE, scratch, weight + 3 * CHUNK)
        p2, y2 = gather_plane_of_three(arena, at + 2 * PLANE, scratch, weight + 6 * CHUNK)
        return p0 + p1 + p2, p2 - p0, y0 + y1 + y2

    def cubic_in_space(scheme, arena, at, scratch, lane):
        weight = WEIGHTS + lane
        p0, y0 = gather_plane_of_four(arena, at, scratch, weight)
        p1, y1 = gather_plane_of_four(arena, at + PLANE, scratch, weight + 4 * CHUNK)
        p2, y2 = gather_plane_of_four(arena, at + 2 * PLANE, scratch, weight + 8 * CHUNK)
        p3, y3 = gather_plane_of_four(arena, at + 3 * PLANE, scratch, weight + 12 * CHUNK)
        high = p2 + p3
        return (p0 + p1) + high, (high + p3) - p0, (y0 + y1) + (y2 + y3)

    def quadratic_in_plane(scheme, arena, at, scratch, lane):
        value, along_x = gather_plane_of_three(arena, at, scratch, WEIGHTS + lane)
        return value, along_x, constant(0.0, value)

    def cubic_in_plane(scheme, arena, at, scratch, lane):
        value, along_x = gather_plane_of_four(arena, at, scratch, WEIGHTS + lane)
        return value, along_x, constant(0.0, value)

    if is_plane(scheme):
        return cubic_in_plane if is_cubic(scheme) else quadratic_in_plane
    return cubic_in_space if is_cubic(scheme) else quadratic_in_space


@generic
def gather_lane(scheme, arena, at, scratch, lane, result):
    """Store one particle's velocity and surrounding mass, and their slopes along x, y and z, as four rows of four at `result`."""
    value, along_x, along_y = gather_rows(scheme, arena, at, scratch, lane)
    weights = load(scratch, ALONG_Z + LANE_ROW * lane, 4)
    wz = shuffled(weights, weights, (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3))
    value, along_x, along_y = value * wz, along_x * wz, along_y * wz
    along_z = value * whole_numbers(value, (-1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2))
    store_gathered(scratch, result + LANE_ROW * lane, (value, along_x, along_y, along_z))


@generic
def store_gathered(scratch, at, sums):
    """Store a particle's sums over its nodes, given for four nodes along z each, as four rows of four."""
    value, along_x, along_y, along_z = sums
    # add pairs of nodes, then pairs of pairs
    low = (0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
    high = (8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)
    first = shuffled(value, along_x, low) + shuffled(value, along_x, high)
    second = shuffled(along_y, along_z, low) + shuffled(along_y, along_z, high)
    even = (0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
    odd = (4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)
    store(scratch, at, shuffled(first, second, even) + shuffled(first, second, odd))


@generic
def copy_row(below, middle, above, z0, z1, nodes, scratch, at):
    """Copy the nodes from z0 to z1 of eight along z: the last of the row `below`, four of the `middle` one, three of the one `above`."""
    if z0 == 0:
        store(scratch, at, load(nodes, below + 3 * NODE, NODE))
    store(scratch, at + NODE, load(nodes, middle, ROW_OF_FOUR))
    # also if z1 is the first of these, because values read with zero weight must be finite. The fourth node is overwritten later, or lies
    # past the end of the arena
    if z1 > BLOCK:
        store(scratch, at + 5 * NODE, load(nodes, above, ROW_OF_FOUR))


@generic
def gather_arena(nodes, neighbors, touched, scratch, start):
    """Copy the touched nodes (see `extent`) from the surrounding node blocks into an arena of the scratch."""
    x0, x1, y0, y1, z0, z1 = touched
    flat = nodes.reshape(-1)
    size = nodes.shape[1]
    # an arena starts at the last node of the block below
    if neighbors.size == NEIGHBORS:
        for x in range(x0 + BLOCK - 1, x1 + BLOCK - 1):
            for y in range(y0 + BLOCK - 1, y1 + BLOCK - 1):
                inside = (x % BLOCK * BLOCK + y % BLOCK) * ROW_OF_FOUR
                column = 9 * (x // BLOCK) + 3 * (y // BLOCK)
                below, middle = neighbors[column] * size + inside, neighbors[column + 1] * size + inside
                above = neighbors[column + 2] * size + inside
                at = start + (x - BLOCK + 1) * PLANE + (y - BLOCK + 1) * ROW
                copy_row(below, middle, above, z0, z1, flat, scratch, at)
    else:
        for x in range(x0 + BLOCK - 1, x1 + BLOCK - 1):
            inside = x % BLOCK * ROW_OF_FOUR
            column = 3 * (x // BLOCK)
            below, middle = neighbors[column] * size + inside, neighbors[column + 1] * size + inside
            above = neighbors[column + 2] * size + inside
            copy_row(below, middle, above, z0, z1, flat, scratch, start + (x - BLOCK + 1) * ROW)


@generic
def prepare_gather(scheme, position, scratch, index, at):
    """Store the weights of `LANE_COUNT` slots, from number `at` of the chunk on."""
    lowest, _, wx, wy, wz = all_weights(scheme, position)
    store_as_int32(index, at, lowest)
    store_row_weights(scheme, scratch, at, wx, wy)
    w0, w1, w2, w3 = wz
    store_rows(scratch, ALONG_Z + LANE_ROW * at, w0, w1, w2, w3)


@generic
def gather_lanes(scheme, begin, end, scratch, index, start, result):
    """Gather slots [begin, end) of the chunk from the arena of velocities at `start`."""
    arena = scratch[start:]
    for lane in range(begin, end):
        gather_lane(scheme, arena, NODE * whole(index, lane), scratch, lane, result)


@generic
def repeat_last(live, count, scratch, result):
    """Copy the values gathered for the last particle to the slots after the first `live` ones, which are copies of it."""
    last = load(scratch, result + LANE_ROW * (live - 1), LANE_ROW)
    for lane in range(live, count):
        store(scratch, result + LANE_ROW * lane, last)


@generic
def gathered(scheme, position, spacing, scratch, at):
    """The values gathered for `LANE_COUNT` slots, from number `at` of the chunk on; see `gathered_from`."""
    return gathered_from(scheme, position, spacing, scratch, LANES + LANE_ROW * at)


@generic
def gathered_from(scheme, position, spacing, scratch, row):
    """The values gathered for `LANE_COUNT` slots, from the rows of the scratch at `row` on.

    v = sum w v_i, C = D^-1 sum w v_i (x_i - x_p)^T (Hu et al. 2018, eq. 17; Jiang et al. 2015).

    Returns:
        v (3 values) [m/s], C (9 values) [1/s], the weighted mass of the surrounding nodes [kg], and its gradient times the cell size
        (3 values) [kg].
    """
    _, (dx, dy, dz), _, _, _ = all_weights(scheme, position)
    (u, v, w, mass), (a, d, g, sx), (b, e, h, sy), (c, f, i, sz) = load_lines(scratch, row)
    factor = scheme.inverse_inertia / spacing
    gradient = (
        factor * (a - u * dx), factor * (b - u * dy), factor * (c - u * dz),
        factor * (d - v * dx), factor * (e - v * dy), factor * (f - v * dz),
        factor * (g - w * dx), factor * (h - w * dy), factor * (i - w * dz),
    )  # fmt: skip
    steep = scheme.inverse_inertia
    slope = steep * (sx - mass * dx), steep * (sy - mass * dy), steep * (sz - mass * dz)
    return (u, v, w), gradient, mass, slope


@generic
def flip_velocity(scheme, velocity, gathered, scratch, at):
    """(1 - r) v_pic + r (v + v_pic - sum w v_i before) with the FLIP ratio r (Zhu and Bridson 2005)."""
    u0, v0, w0, _ = load_rows(scratch, LANES_BEFORE + LANE_ROW * at)
    (p, q, r), (u, v, w) = velocity, gathered
    flip, pic = scheme.flip_ratio, 1.0 - scheme.flip_ratio
    return pic * u + flip * (p + (u - u0)), pic * v + flip * (q + (v - v0)), pic * w + flip * (r + (w - w0))
