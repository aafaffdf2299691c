"""Passes over particles in the rest state of their bodies; see `rest_grid`.

A rest table has the rows of `rows`, with the rest position in POSITION, followed by three with the position that the rest nodes give.
"""

from ..arithmetic.linalg import cofactor, multiply, squared_norm
from ..arithmetic.operations import constant, generic, maximum, minimum, select, sqrt
from ..arithmetic.symmetric import least_eigenvalue
from ..arithmetic.vector import LANE_COUNT, flush_tiny, largest, load, restore_tiny
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..laws.dispatch import elastic_response, law_kernel
from .extent import LEAST_WAY, nodes_between, open_arena, range_of
from .gather import gather_arena, gather_lanes, gathered_from, prepare_gather, repeat_last
from .packing import group_end
from .rows import DEFORMATION, MASS, POSITION, ROW_COUNT, STRESS, VELOCITY, VELOCITY_GRADIENT, VOLUME
from .scatter import prepare_scatter, scatter_lanes
from .scratch import CHUNK, GATHERED, GATHERED_BEFORE, LANES, LANES_BEFORE
from .table import LANE_ROW, live_count, load_vector, store_matrix, store_vector

# the position of a particle that the rest nodes give, relative to its block in the rest state [cells]
PLACE = ROW_COUNT
REST_ROW_COUNT = ROW_COUNT + 3
EXTREME_COUNT = 5
# viscosity in compression: shares of the wave speed and of the rate, and the slope with which the former sets in with the rate
LINEAR_SHARE = 0.3
QUADRATIC_SHARE = 1.0
ONSET = 3.0
# lower bound on |J| as a divisor
LEAST_RATIO = 1e-6


@parallel_kernel
def gather_velocities(tickets, scheme, particles, grid, is_near, scratch):
    """Store the velocity [m/s] and its gradient [1/s] that particles gather from the nodes of their field.

    Args:
        scheme: see `scheme`.
        particles: see `Particles`; only the rows of velocity and gradient change.
        grid: see `Grid`.
        is_near: (blocks,) whether to gather in each block.
        scratch: see `Scratch`.
    """
    table, runs = particles.table, particles.runs
    first, pieces, body_count = runs
    for piece in shared(tickets[0], pieces.size - 1, 1):
        numbers, index = scratch.values[piece], scratch.lowest[piece]
        for body in range(grid.low_body, grid.high_body):
            behind = pieces[piece]
            while behind < pieces[piece + 1]:
                begin = behind
                behind = group_end(runs, body, begin, pieces[piece + 1])
                low, high = first[begin * body_count + body], first[(behind - 1) * body_count + body + 1]
                if not is_near[begin:behind].any():
                    continue
                for chunk in range(low, high, CHUNK):
                    count = min(high - chunk, CHUNK)
                    live = live_count(table, chunk, count)
                    for at in range(0, count, LANE_COUNT):
                        prepare_gather(scheme, load_vector(table, POSITION, chunk + at), numbers, index, at)
                    for block in range(begin, behind):
                        start, end = first[block * body_count + body], first[block * body_count + body + 1]
                        if start == end:
                            continue
                        if chunk == low:
                            touched = nodes_between(scheme, range_of(scheme, table, start, end), LEAST_WAY)
                            gather_arena(grid.nodes, grid.neighbors[block], touched, numbers, GATHERED)
                        gather_lanes(scheme, max(start - chunk, 0), min(end - chunk, live), numbers, index, GATHERED, LANES)
                    repeat_last(live, count, numbers, LANES)
                    for at in range(0, count, LANE_COUNT):
                        position, row = load_vector(table, POSITION, chunk + at), LANES + LANE_ROW * at
                        velocity, gradient, _, _ = gathered_from(scheme, position, grid.spacing, numbers, row)
                        store_vector(table, VELOCITY, chunk + at, velocity)
                        store_matrix(table, VELOCITY_GRADIENT, chunk + at, gradient)


@law_kernel(parallel=True)
def strain_particles(tickets, constants, scheme, particles, grid, body, scratch, arenas, extremes):
    """Compute F and the stress of one body from its rest nodes, and scatter the forces.

    F = I + sum u_I (outer) g_I and f_I = -V0 P g_I, with the displacements u_I of the nodes and MLS-MPM's gradient of the weights,
    g_I = D^-1 w_I (X_I - X_p): forces are exactly the negative derivative of the energy (total Lagrangian; de Vaucorbeil, Nguyen and
    Hutchinson 2020, eq. 20 to 25).

    Args:
        constants: the law's constants; their type selects the law.
        scheme: see `scheme`.
        particles: in the rest state; all rows but the rest position, mass and volume are written.
        grid: `nodes`: displacement [cells] of the rest nodes; `nodes_before`: their velocity [m/s].
        body: number of the body.
        scratch: see `Scratch`.
        arenas: result: forces [N] and masses.
        extremes: (pieces, 5) result: largest speed [m/s], largest wave speed [m/s], largest |L| [1/s], largest -J, and 0, or NaN if
            something is not finite.
    """
    table, runs = particles.table, particles.runs
    first, pieces, body_count = runs
    for piece in shared(tickets[0], pieces.size - 1, 1):
        before = flush_tiny()
        numbers, index = scratch.values[piece], scratch.lowest[piece]
        fastest = constant(0.0, load(table[MASS], 0, LANE_COUNT))
        stiffest, steepest, check = fastest, fastest, fastest
        flattest = constant(-1e30, fastest)
        behind, room = pieces[piece], arenas.rooms[body, piece]
        while behind < pieces[piece + 1]:
            begin = behind
            behind = group_end(runs, body, begin, pieces[piece + 1])
            low, high = first[begin * body_count + body], first[(behind - 1) * body_count + body + 1]
            for chunk in range(low, high, CHUNK):
                count = min(high - chunk, CHUNK)
                live = live_count(table, chunk, count)
                for at in range(0, count, LANE_COUNT):
                    prepare_gather(scheme, load_vector(table, POSITION, chunk + at), numbers, index, at)
                for block in range(begin, behind):
                    run = block * body_count + body
                    start, end = first[run], first[run + 1]
                    if start == end:
                        continue
                    if chunk == low:
                        touched = nodes_between(scheme, range_of(scheme, table, start, end), LEAST_WAY)
                        room = open_arena(arenas, block, run, room, touched, grid.neighbors[block])
                        gather_arena(grid.nodes, grid.neighbors[block], touched, numbers, GATHERED)
                        gather_arena(grid.nodes_before, grid.neighbors[block], touched, numbers, GATHERED_BEFORE)
                    gather_lanes(scheme, max(start - chunk, 0), min(end - chunk, live), numbers, index, GATHERED, LANES)
                    gather_lanes(scheme, max(start - chunk, 0), min(end - chunk, live), numbers, index, GATHERED_BEFORE, LANES_BEFORE)
                repeat_last(live, count, numbers, LANES)
                repeat_last(live, count, numbers, LANES_BEFORE)
                for at in range(0, count, LANE_COUNT):
                    slot, row = chunk + at, LANE_ROW * at
                    position = load_vector(table, POSITION, slot)
                    way, slope, _, _ = gathered_from(scheme, position, 1.0, numbers, LANES + row)
                    velocity, rate, _, _ = gathered_from(scheme, position, grid.spacing, numbers, LANES_BEFORE + row)
                    gradient, stress, force, ratio, wave_squared = strained(constants, slope, rate, grid.spacing)
                    store_vector(table, PLACE, slot, moved(position, way))
                    store_vector(table, VELOCITY, slot, velocity)
                    store_matrix(table, VELOCITY_GRADIENT, slot, rate)
                    store_matrix(table, DEFORMATION, slot, with_unit(slope))
                    xx, xy, xz, yy, yz, zz = stress
                    store_vector(table, STRESS, slot, (xx, xy, xz))
                    store_vector(table, STRESS + 3, slot, (yy, yz, zz))
                    u, v, w = velocity
                    fastest = maximum(fastest, u * u + v * v + w * w)
                    stiffest = maximum(stiffest, wave_squared)
                    squared = squared_norm(gradient)
                    steepest = maximum(steepest, squared)
                    flattest = maximum(flattest, -ratio)
                    check = check + 0.0 * (u + v + w + squared + wave_squared + xx + yy + zz)
                    mass = load(table[MASS], slot, LANE_COUNT)
                    zero = constant(0.0, mass)
                    share = (-scheme.inverse_inertia / grid.spacing) * load(table[VOLUME], slot, LANE_COUNT)
                    prepare_scatter(scheme, position, mass, (zero, zero, zero), scaled(share, force), numbers, index, at)
                for block in range(begin, behind):
                    run = block * body_count + body
                    start, end = max(first[run] - chunk, 0), min(first[run + 1] - chunk, live)
                    scatter_lanes(scheme, start, end, numbers, index, arenas, run)
        extremes[piece, 0] = largest(sqrt(fastest))
        extremes[piece, 1] = largest(sqrt(stiffest))
        extremes[piece, 2] = largest(sqrt(steepest))
        extremes[piece, 3] = largest(flattest)
        extremes[piece, 4] = largest(check)
        restore_tiny(before)


@generic
def moved(position, way):
    (x, y, z), (u, v, w) = position, way
    return x + u, y + v, z + w


@generic
def with_unit(m):
    """I + m."""
    a, b, c, d, e, f, g, h, i = m
    return a + 1.0, b, c, d, e + 1.0, f, g, h, i + 1.0


@generic
def scaled(factor, m):
    a, b, c, d, e, f, g, h, i = m
    return factor * a, factor * b, factor * c, factor * d, factor * e, factor * f, factor * g, factor * h, factor * i


@generic
def strained(constants, slope, rate, spacing):
    """The response of a law to F = I + slope, which changes at the rate F' = `rate` [1/s].

    Returns:
        L = F' F^-1 [1/s], tau (6 values) and P (9 values) [Pa], J, and the squared wave speed [m^2/s^2].
    """
    deformation = with_unit(slope)
    a, b, c, d, e, f, g, h, i = inverse_transposed(deformation)
    gradient = multiply(rate, (a, d, g, b, e, h, c, f, i))
    stress, ratio, wave_squared = elastic_response(constants, deformation, gradient)
    xx, xy, xz, yy, yz, zz = cushioned(stress, gradient, wave_squared, constants.density, spacing)
    force = multiply((xx, xy, xz, xy, yy, yz, xz, yz, zz), (a, b, c, d, e, f, g, h, i))
    return gradient, stress, force, ratio, wave_squared


@generic
def inverse_transposed(m):
    """m^-T, with |det m| at least `LEAST_RATIO`."""
    a, b, c, _, _, _, _, _, _ = m
    p, q, r, s, t, u, v, w, x = cofactor(m)
    ratio = a * p + b * q + c * r
    least = constant(LEAST_RATIO, ratio)
    return scaled(1.0 / select(ratio < 0.0, minimum(ratio, -least), maximum(ratio, least)), (p, q, r, s, t, u, v, w, x))


@generic
def cushioned(stress, gradient, wave_squared, density, spacing):
    """tau with viscosity in compression: tau + rho0 h (min(.3 c, 3 h |e|) + h |e|) D, where e is the least eigenvalue of D if negative.

    Without it, bodies that spring back from a large stretch fold up within a cell. After von Neumann and Richtmyer (1950), but with the
    tensor D, so that it always dissipates energy, and with a linear part that vanishes in slow motion.
    """
    a, b, c, d, e, f, g, h, i = gradient
    xy, xz, yz = 0.5 * (b + d), 0.5 * (c + g), 0.5 * (f + h)
    speed = spacing * maximum(-least_eigenvalue((a, xy, xz, e, yz, i)), constant(0.0, a))
    viscosity = (density * spacing) * (minimum(LINEAR_SHARE * sqrt(wave_squared), ONSET * speed) + QUADRATIC_SHARE * speed)
    txx, txy, txz, tyy, tyz, tzz = stress
    return (
        txx + viscosity * a, txy + viscosity * xy, txz + viscosity * xz,
        tyy + viscosity * e, tyz + viscosity * yz, tzz + viscosity * i,
    )  # fmt: skip


@parallel_kernel
def carry_motion(tickets, rest_table, slots, table):
    """Copy the velocity v and C = F' F^-1 of the rest table to particles in the world.

    Args:
        rest_table: with F' in the rows of C.
        slots: (slots,) the slot in the rest table of each slot of `table`, -1 for others.
        table: (rows, slots) result.
    """
    for slot in shared(tickets[0], slots.size, 1024):
        at = slots[slot]
        if at < 0:
            continue
        m = rest_table[DEFORMATION : DEFORMATION + 9, at]
        a, b, c, d, e, f, g, h, i = inverse_transposed((m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]))
        for axis in range(3):
            table[VELOCITY + axis, slot] = rest_table[VELOCITY + axis, at]
            row = VELOCITY_GRADIENT + 3 * axis
            p, q, r = rest_table[row, at], rest_table[row + 1, at], rest_table[row + 2, at]
            table[row, slot] = p * a + q * b + r * c
            table[row + 1, slot] = p * d + q * e + r * f
            table[row + 2, slot] = p * g + q * h + r * i


@parallel_kernel
def carry_change(tickets, table, slots, rest_table):
    """Copy the velocity v of particles in the world, and C F in place of C, to the rest table; the inverse of `carry_motion`.

    Args:
        table: (rows, slots).
        slots: (rest slots,) the slot in `table` of each slot of the rest table, -1 for massless copies.
        rest_table: with F; result.
    """
    for at in shared(tickets[0], slots.size, 1024):
        slot = slots[at]
        if slot < 0:
            continue
        for axis in range(3):
            rest_table[VELOCITY + axis, at] = table[VELOCITY + axis, slot]
            row = VELOCITY_GRADIENT + 3 * axis
            p, q, r = table[row, slot], table[row + 1, slot], table[row + 2, slot]
            for column in range(3):
                deformation = DEFORMATION + column
                change = p * rest_table[deformation, at] + q * rest_table[deformation + 3, at] + r * rest_table[deformation + 6, at]
                rest_table[row + column, at] = change


@parallel_kernel
def carry_places(tickets, rest_table, slots, offsets, table, farthest):
    """Move particles in the world to the positions that the rest nodes give.

    Args:
        rest_table: with positions relative to blocks in the rest state.
        slots: see `carry_motion`.
        offsets: (slots, 3) to be added for positions in `table` [cells].
        table: (rows, slots) result.
        farthest: (pieces,) result: the greatest displacement along an axis [cells].
    """
    pieces = farthest.size
    for piece in shared(tickets[0], pieces, 1):
        longest = 0.0
        for slot in range(slots.size * piece // pieces, slots.size * (piece + 1) // pieces):
            at = slots[slot]
            if at < 0:
                continue
            for axis in range(3):
                place = rest_table[PLACE + axis, at] + offsets[slot, axis]
                way = abs(place - table[POSITION + axis, slot])
                # the comparison is written so that NaN becomes the greatest displacement
                longest = longest if way <= longest else way
                table[POSITION + axis, slot] = place
        farthest[piece] = longest
