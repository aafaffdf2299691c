"""Passes over particles in the rest state of their bodies; see `rest_grid`.

A rest table has the rows of `rows`, with the rest position in POSITION, and three more for the position to which the rest nodes move it.

Particles have one order in the world and another in the rest state. So data passes between the two tables as *parcels*: for each particle,
a row of `LANE_ROW` numbers, which is one line of the processor's cache, with velocity, place and velocity gradient.
"""

from ..arithmetic.linalg import cofactor, multiply, recomposed, selected, singular_values, times_transpose
from ..arithmetic.operations import any_of, constant, generic, maximum, minimum, select
from ..arithmetic.symmetric import least_eigenvalue, lower_bound
from ..arithmetic.vector import LANE_COUNT, load, store
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .blocks import NODE
from .extent import LEAST_WAY, nodes_between, range_of
from .gather import gather_arena, gather_lanes, gathered_from, prepare_gather, repeat_last
from .packing import group_end
from .rows import DEFORMATION, POSITION, ROW_COUNT, STRESS, VELOCITY, VELOCITY_GRADIENT
from .scratch import CHUNK, GATHERED, LANES
from .table import LANE_ROW, live_count, load_lines, load_matrix, load_vector, store_lines, store_matrix, store_vector

# the position to which the rest nodes move a particle, relative to its block in the rest state [cells]
PLACE = ROW_COUNT
REST_ROW_COUNT = ROW_COUNT + 3
# lower bound on J where F is divided by it
LEAST_RATIO = 1e-6
# The world sees particles with no stretch below this: see `spread_inverse_transposed`.
LEAST_SPREAD = 0.5


@generic
def gather_part(scheme, particles, nodes, neighbors, instance, part, numbers, index, places=(GATHERED, LANES)):
    """Gather from the nodes for a part of a group of runs of an instance, after `prepare_part`.

    Args:
        part: the blocks [begin, behind), the group's first slot, and the part's first slot and number of slots.
        places: where in the scratch the rows of nodes and the lanes are stored.
    """
    gathered, lanes = places
    begin, behind, low, chunk, count = part
    first, _, instance_count = particles.runs
    live = live_count(particles.table, chunk, count)
    for block in range(begin, behind):
        run = block * instance_count + instance
        start, end = first[run], first[run + 1]
        if start < end:
            if chunk == low:
                touched = nodes_between(scheme, range_of(scheme, particles.table, start, end), LEAST_WAY)
                gather_arena(nodes, neighbors[block], touched, numbers, gathered)
            gather_lanes(scheme, max(start - chunk, 0), min(end - chunk, live), numbers, index, gathered, lanes)
    repeat_last(live, count, numbers, lanes)


@generic
def prepare_part(scheme, table, chunk, count, numbers, index):
    """Store the weights of the slots of a chunk."""
    for at in range(0, count, LANE_COUNT):
        prepare_gather(scheme, load_vector(table, POSITION, chunk + at), numbers, index, at)


@generic
def store_parcels(parcels, slot, velocity, gradient, place):
    """Store the parcels of `LANE_COUNT` slots."""
    u, v, w = velocity
    x, y, z = place
    a, b, c, d, e, f, g, h, i = gradient
    at = LANE_ROW * slot
    store_lines(parcels, at, (u, v, w, x), (a, b, c, y), (d, e, f, z), (g, h, i, z))


@parallel_kernel
def send_motion(tickets, scheme, particles, grid, is_near, scratch, parcels):
    """Write parcels with the motion of particles in the rest state: velocity [m/s], C = F' F^-1 [1/s], and their places [cells].

    Args:
        scheme: see `scheme`.
        particles: in the rest state.
        grid: `nodes`: velocity [m/s] of the rest nodes.
        is_near: (blocks,) the blocks to process.
        scratch: see `Scratch`.
        parcels: (numbers,) result.
    """
    table, runs = particles.table, particles.runs
    first, pieces, instance_count = runs
    for piece in shared(tickets[0], pieces.size - 1, 1):
        numbers, index = scratch.values[piece], scratch.lowest[piece]
        for instance in range(grid.low_instance, grid.high_instance):
            behind = pieces[piece]
            while behind < pieces[piece + 1]:
                begin = behind
                behind = group_end(runs, instance, begin, pieces[piece + 1])
                if not is_near[begin:behind].any():
                    continue
                low, high = first[begin * instance_count + instance], first[(behind - 1) * instance_count + instance + 1]
                for chunk in range(low, high, CHUNK):
                    count = min(high - chunk, CHUNK)
                    prepare_part(scheme, table, chunk, count, numbers, index)
                    gather_part(scheme, particles, grid.nodes, grid.neighbors, instance, (begin, behind, low, chunk, count), numbers, index)
                    for at in range(0, count, LANE_COUNT):
                        slot, row = chunk + at, LANES + LANE_ROW * at
                        velocity, rate, _, _ = gathered_from(scheme, load_vector(table, POSITION, slot), grid.spacing, numbers, row)
                        a, b, c, d, e, f, g, h, i = spread_inverse_transposed(load_matrix(table, DEFORMATION, slot))
                        gradient = multiply(rate, (a, d, g, b, e, h, c, f, i))
                        store_parcels(parcels, slot, velocity, gradient, load_vector(table, PLACE, slot))


@parallel_kernel
def take_motion(tickets, slots, sources, offsets, parcels, table):
    """Read the parcels with the motion of particles.

    Args:
        slots: (n,) in the world.
        sources: (n,) their slots in the rest state.
        offsets: (slots, 3) from places there to positions in `table` [cells].
        parcels: see `send_motion`.
        table: (rows, slots) result.
    """
    for number in shared(tickets[0], slots.size, 1024):
        slot, at = slots[number], LANE_ROW * sources[number]
        for axis in range(3):
            table[VELOCITY + axis, slot] = parcels[at + axis]
            table[POSITION + axis, slot] = offsets[slot, axis] + parcels[at + NODE * axis + 3]
            for column in range(3):
                table[VELOCITY_GRADIENT + 3 * axis + column, slot] = parcels[at + NODE * (axis + 1) + column]


@parallel_kernel
def show_strain(tickets, slots, sources, rest_table, table):
    """Copy F and stress from the rest table; slots, sources: see `take_motion`."""
    for number in shared(tickets[0], slots.size, 1024):
        slot, at = slots[number], sources[number]
        for row in range(6):
            table[STRESS + row, slot] = rest_table[STRESS + row, at]
        for row in range(9):
            table[DEFORMATION + row, slot] = rest_table[DEFORMATION + row, at]


@parallel_kernel
def send_change(tickets, scheme, particles, grid, is_near, scratch, parcels):
    """Write parcels with the change of velocity [m/s] and C [1/s] that particles in the world gather.

    Args:
        scheme: see `scheme`.
        particles: in the world.
        grid: `nodes`: changes of velocity [m/s].
        is_near: (blocks,) the blocks to process.
        scratch: see `Scratch`.
        parcels: (numbers,) result.
    """
    table, runs = particles.table, particles.runs
    first, pieces, instance_count = runs
    for piece in shared(tickets[0], pieces.size - 1, 1):
        numbers, index = scratch.values[piece], scratch.lowest[piece]
        for instance in range(grid.low_instance, grid.high_instance):
            behind = pieces[piece]
            while behind < pieces[piece + 1]:
                begin = behind
                behind = group_end(runs, instance, begin, pieces[piece + 1])
                if not is_near[begin:behind].any():
                    continue
                low, high = first[begin * instance_count + instance], first[(behind - 1) * instance_count + instance + 1]
                for chunk in range(low, high, CHUNK):
                    count = min(high - chunk, CHUNK)
                    prepare_part(scheme, table, chunk, count, numbers, index)
                    gather_part(scheme, particles, grid.nodes, grid.neighbors, instance, (begin, behind, low, chunk, count), numbers, index)
                    for at in range(0, count, LANE_COUNT):
                        slot, row = chunk + at, LANES + LANE_ROW * at
                        velocity, gradient, _, _ = gathered_from(scheme, load_vector(table, POSITION, slot), grid.spacing, numbers, row)
                        store_parcels(parcels, slot, velocity, gradient, velocity)


@parallel_kernel
def take_change(tickets, particles, is_near, slots, scratch, parcels):
    """Read the parcels with changes, for the rest nodes: v, and C F^-T instead of C.

    This is the adjoint of `send_motion`, not its inverse, so that impulses do the same work at the rest nodes as at the world's nodes.
    With C F, a bouncing bar gained energy where it was compressed.

    Args:
        particles: in the rest state; result.
        is_near: (blocks,) the blocks to process.
        slots: (rest slots,) the parcel of each.
        scratch: see `Scratch`.
        parcels: see `send_change`.
    """
    table, (first, pieces, instance_count) = particles.table, particles.runs
    for piece in shared(tickets[0], pieces.size - 1, 1):
        numbers = scratch.values[piece]
        for block in range(pieces[piece], pieces[piece + 1]):
            if not is_near[block]:
                continue
            # runs may share vectors, but not with another piece of work
            low, high = first[block * instance_count], first[(block + 1) * instance_count]
            for slot in range(low // LANE_COUNT * LANE_COUNT, high, LANE_COUNT):
                for lane in range(LANE_COUNT):
                    store(numbers, LANES + LANE_ROW * lane, load(parcels, LANE_ROW * slots[slot + lane], LANE_ROW))
                (u, v, w, _), (a, b, c, _), (d, e, f, _), (g, h, i, _) = load_lines(numbers, LANES)
                inverse = spread_inverse_transposed(load_matrix(table, DEFORMATION, slot))
                store_vector(table, VELOCITY, slot, (u, v, w))
                store_matrix(table, VELOCITY_GRADIENT, slot, multiply((a, b, c, d, e, f, g, h, i), inverse))


@generic
def inverse_transposed(m):
    """m^-T, with a bound on 1 / det m."""
    a, b, c, _, _, _, _, _, _ = m
    p, q, r, s, t, u, v, w, x = cofactor(m)
    ratio = a * p + b * q + c * r
    least = constant(LEAST_RATIO, ratio)
    return scaled(1.0 / select(ratio < 0.0, minimum(ratio, -least), maximum(ratio, least)), (p, q, r, s, t, u, v, w, x))


@generic
def spread_inverse_transposed(m):
    """m^-T for transfers between the rest state and the world, with all stretches at least `LEAST_SPREAD`.

    With a stretch s of 0.1, C = F' F^-1 is ten times F', right across the particle's flattened cell; but a particle reaches nodes of the
    world a cell and a half away, where C would make velocities of many times any speed in the body.
    """
    inverse, squares = inverse_transposed(m), times_transpose(m, m)
    least = constant(LEAST_SPREAD, inverse[0])
    if any_of(lower_bound(squares) < least * least) and any_of(least_eigenvalue(squares) < least * least):
        left, (s0, s1, s2), right = singular_values(m)
        shares = 1.0 / maximum(s0, least), 1.0 / maximum(s1, least), 1.0 / maximum(s2, least)
        inverse = selected(s2 < least, recomposed(left, shares, right), inverse)
    return inverse


@generic
def scaled(factor, m):
    a, b, c, d, e, f, g, h, i = m
    return factor * a, factor * b, factor * c, factor * d, factor * e, factor * f, factor * g, factor * h, factor * i
