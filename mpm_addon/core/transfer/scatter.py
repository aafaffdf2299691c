"""Particles to grid: MLS-MPM (Hu et al. 2018) with APIC (Jiang et al. 2015), PIC or FLIP.

Weights and affine momenta are computed for `LANE_COUNT` particles at once. Then each particle's nodes are written in pairs along z,
as vectors of eight numbers (momentum and mass of two nodes). Pairs start at even nodes. So two pairs hold the three nodes of a
quadratic spline, and the pairs that one particle writes are the pairs that the next one reads; with partial overlaps, the processor
would wait for memory. The momentum is linear in the node's number; along z, nodes are counted from the second one of the first pair. See
`blocks` for the layout of slots and arenas.
"""

from typing import Any

from numba.extending import overload

from ..arithmetic.operations import constant, floor, generic, select
from ..arithmetic.vector import LANE_COUNT, broadcast, load, shuffled, store, store_as_int32, whole, whole_numbers
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .blocks import NODE, ROW
from .extent import LEAST_WAY, nodes_between, offset_in_arena, open_arena, place_in_arena, range_of
from .packing import group_end
from .rows import MASS, POSITION, STRESS, VELOCITY, VELOCITY_GRADIENT, VOLUME
from .scheme import all_weights, is_cubic, is_plane
from .scratch import ALONG_Z, CHUNK, LANES, WEIGHTS, store_momenta, store_row_weights
from .sparse import is_sparse, prepare_records, write_records
from .table import LANE_ROW, live_count, load_matrix, load_symmetric, load_vector, store_rows

PAIR = 2 * NODE


@generic
def add(arena, at, share, value):
    """Add a share of a value to two nodes."""
    store(arena, at, load(arena, at, PAIR) + share * value)


@generic
def scatter_row(arena, at, scratch, weight, value):
    """Add to the two or three pairs of a row; `weight` is the offset of the row's weight in the scratch."""
    share = broadcast(scratch, weight, PAIR)
    add(arena, at, share, value[0])
    add(arena, at + PAIR, share, value[1])
    if len(value) == 3:
        add(arena, at + 2 * PAIR, share, value[2])


@generic
def scatter_plane_of_three(arena, at, scratch, weight, value, slope):
    """Add a value that is linear in the row's number to three rows."""
    scatter_row(arena, at, scratch, weight, minus(value, slope))
    scatter_row(arena, at + ROW, scratch, weight + CHUNK, value)
    scatter_row(arena, at + 2 * ROW, scratch, weight + 2 * CHUNK, plus(value, slope))


@generic
def scatter_plane_of_four(arena, at, scratch, weight, value, slope):
    """Add a value that is linear in the row's number to four rows."""
    above = plus(value, slope)
    scatter_row(arena, at, scratch, weight, minus(value, slope))
    scatter_row(arena, at + ROW, scratch, weight + CHUNK, value)
    scatter_row(arena, at + 2 * ROW, scratch, weight + 2 * CHUNK, above)
    scatter_row(arena, at + 3 * ROW, scratch, weight + 3 * CHUNK, plus(above, slope))


def plus(a: Any, b: Any) -> Any:
    """The element-wise sum of two tuples."""
    raise TypeError("plus is for kernels")


@overload(plus, jit_options={"forceinline": True})
def _overload_plus(a, b):
    if len(a) == 2:
        return lambda a, b: (a[0] + b[0], a[1] + b[1])
    return lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a: Any, b: Any) -> Any:
    """The element-wise difference of two tuples."""
    raise TypeError("minus is for kernels")


@overload(minus, jit_options={"forceinline": True})
def _overload_minus(a, b):
    if len(a) == 2:
        return lambda a, b: (a[0] - b[0], a[1] - b[1])
    return lambda a, b: (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def pairs_along_z(scheme: Any, value: Any, scratch: Any, lane: Any) -> Any:
    """Pairs of nodes along z: value * weight."""
    raise TypeError("pairs_along_z is for kernels")


@overload(pairs_along_z, jit_options={"forceinline": True})
def _overload_pairs_along_z(scheme, value, scratch, lane):
    def two(scheme, value, scratch, lane):
        row = ALONG_Z + LANE_ROW * lane
        return value[0] * pair(scratch, row), value[1] * pair(scratch, row + 2)

    def three(scheme, value, scratch, lane):
        row = ALONG_Z + LANE_ROW * lane
        return value[0] * pair(scratch, row), value[1] * pair(scratch, row + 2), value[2] * pair(scratch, row + 4)

    return three if is_cubic(scheme) else two


@generic
def pair(scratch, at):
    """Two numbers of the scratch, each repeated four times: one for each number of two nodes."""
    both = load(scratch, at, 2)
    return shuffled(both, both, (0, 0, 0, 0, 1, 1, 1, 1))


def scatter_lane(scheme: Any, arena: Any, at: Any, across: Any, scratch: Any, lane: Any) -> None:
    """Add one particle's momentum and mass to its nodes; `across` is the distance between x planes in the arena."""
    raise TypeError("scatter_lane is for kernels")


@overload(scatter_lane, jit_options={"forceinline": True})
def _overload_scatter_lane(scheme, arena, at, across, scratch, lane):
    def quadratic_in_space(scheme, arena, at, across, scratch, lane):
        value, along_x, along_y = momentum_of_lane(scheme, scratch, lane)
        weight = WEIGHTS + lane
        scatter_plane_of_three(arena, at, scratch, weight, minus(value, along_x), along_y)
        scatter_plane_of_three(arena, at + across, scratch, weight + 3 * CHUNK, value, along_y)
        scatter_plane_of_three(arena, at + 2 * across, scratch, weight + 6 * CHUNK, plus(value, along_x), along_y)

    def cubic_in_space(scheme, arena, at, across, scratch, lane):
        value, along_x, along_y = momentum_of_lane(scheme, scratch, lane)
        weight = WEIGHTS + lane
        above = plus(value, along_x)
        scatter_plane_of_four(arena, at, scratch, weight, minus(value, along_x), along_y)
        scatter_plane_of_four(arena, at + across, scratch, weight + 4 * CHUNK, value, along_y)
        scatter_plane_of_four(arena, at + 2 * across, scratch, weight + 8 * CHUNK, above, along_y)
        scatter_plane_of_four(arena, at + 3 * across, scratch, weight + 12 * CHUNK, plus(above, along_x), along_y)

    def quadratic_in_plane(scheme, arena, at, across, scratch, lane):
        value, along_x, _ = momentum_of_lane(scheme, scratch, lane)
        scatter_plane_of_three(arena, at, scratch, WEIGHTS + lane, value, along_x)

    def cubic_in_plane(scheme, arena, at, across, scratch, lane):
        value, along_x, _ = momentum_of_lane(scheme, scratch, lane)
        scatter_plane_of_four(arena, at, scratch, WEIGHTS + lane, value, along_x)

    if is_plane(scheme):
        return cubic_in_plane if is_cubic(scheme) else quadratic_in_plane
    return cubic_in_space if is_cubic(scheme) else quadratic_in_space


@generic
def twice(scratch, at):
    """Four numbers of the scratch, repeated twice: once for each of two nodes."""
    node = load(scratch, at, NODE)
    return shuffled(node, node, (0, 1, 2, 3, 0, 1, 2, 3))


@generic
def momentum_of_lane(scheme, scratch, lane):
    """One particle's momentum and mass on the pairs of its center row, weighted along z, and their slopes along x and y."""
    row = LANES + LANE_ROW * lane
    value, slope = twice(scratch, row), twice(scratch, row + 3 * NODE)
    along_x, along_y = twice(scratch, row + NODE), twice(scratch, row + 2 * NODE)
    # counted from the second node
    first = value + slope * whole_numbers(value, (-1, -1, -1, -1, 0, 0, 0, 0))
    second = value + slope * whole_numbers(value, (1, 1, 1, 1, 2, 2, 2, 2))
    third = value + slope * whole_numbers(value, (3, 3, 3, 3, 4, 4, 4, 4))
    return (
        pairs_along_z(scheme, (first, second, third), scratch, lane),
        pairs_along_z(scheme, (along_x, along_x, along_x), scratch, lane),
        pairs_along_z(scheme, (along_y, along_y, along_y), scratch, lane),
    )


@generic
def store_two_pairs(scratch, row, is_odd, wz):
    """Store the weights along z of four nodes from an even one on: the lowest, or the one below it."""
    w0, w1, w2, w3 = wz
    zero = constant(0.0, w0)
    store_rows(scratch, row, select(is_odd, zero, w0), select(is_odd, w0, w1), select(is_odd, w1, w2), select(is_odd, w2, w3))


def store_pairs(scheme: Any, scratch: Any, row: Any, is_odd: Any, wz: Any) -> None:
    """Store the weights along z of the two pairs of a quadratic spline or the three of a cubic one."""
    raise TypeError("store_pairs is for kernels")


@overload(store_pairs, jit_options={"forceinline": True})
def _overload_store_pairs(scheme, scratch, row, is_odd, wz):
    def three(scheme, scratch, row, is_odd, wz):
        store_two_pairs(scratch, row, is_odd, wz)
        zero = constant(0.0, wz[3])
        store_rows(scratch, row + 4, select(is_odd, wz[3], zero), zero, zero, zero)

    if is_cubic(scheme):
        return three
    return lambda scheme, scratch, row, is_odd, wz: store_two_pairs(scratch, row, is_odd, wz)


@generic
def affine_momentum(scheme, mass, volume, velocity_gradient, stress, dt, spacing):
    """h (m C - dt V0 D^-1 tau), 9 values [kg m/s]: the slope of the momentum per cell along each axis. PIC and FLIP leave out m C.

    From Hu et al. 2018, eq. 16 and 29, where (mv)_i += w [m v + (m C - dt V0 D^-1 tau)(x_i - x_p)].
    """
    a, b, c, d, e, f, g, h, i = velocity_gradient
    xx, xy, xz, yy, yz, zz = stress
    inertia = (scheme.affine * spacing) * mass
    force = (scheme.inverse_inertia * dt / spacing) * volume
    a, b, c = inertia * a - force * xx, inertia * b - force * xy, inertia * c - force * xz
    d, e, f = inertia * d - force * xy, inertia * e - force * yy, inertia * f - force * yz
    g, h, i = inertia * g - force * xz, inertia * h - force * yz, inertia * i - force * zz
    return a, b, c, d, e, f, g, h, i


@generic
def prepare_scatter(scheme, position, mass, velocity, affine, scratch, index, at):
    """Store weights and momenta of `LANE_COUNT` slots, from number `at` of the chunk on; `affine`: see `affine_momentum`."""
    lowest, (dx, dy, dz), wx, wy, wz = all_weights(scheme, position)
    # rows of the arena have an even length
    even = 2.0 * floor(0.5 * lowest)
    store_as_int32(index, at, even)
    store_row_weights(scheme, scratch, at, wx, wy)
    store_pairs(scheme, scratch, ALONG_Z + LANE_ROW * at, even < lowest, wz)
    # along z, from the node after the even one
    offsets = dx, dy, dz + (lowest - even)
    store_momenta(scratch, LANES + LANE_ROW * at, offsets, mass, velocity, affine)


@generic
def scatter_lanes(scheme, begin, end, scratch, index, arenas, run):
    """Scatter slots [begin, end) of the chunk into the arena of their run."""
    start, across = offset_in_arena(scheme, arenas, run)
    start = arenas.starts[run] + NODE * start
    for lane in range(begin, end):
        scatter_lane(scheme, arenas.values, start + NODE * place_in_arena(scheme, whole(index, lane), across), NODE * across, scratch, lane)


@parallel_kernel
def particles_to_grid(tickets, scheme, particles, grid, is_waiting, is_first, dt, scratch, arenas):
    """Scatter mass, momentum and the impulse of the stress from the waiting blocks into their runs' arenas.

    Args:
        scheme: see `scheme`.
        particles: see `Particles`.
        grid: see `Grid`; the nodes are not read. Only the instances of its velocity field are scattered.
        is_waiting: (blocks,) which blocks to scatter.
        is_first: whether no block has been scattered yet, so that no arena has its place.
        dt: length of the substep [s].
        scratch: see `Scratch`.
        arenas: result, see `Arenas`.
    """
    table, runs = particles.table, particles.runs
    first, pieces, instance_count = runs
    spacing, neighbors = grid.spacing, grid.neighbors
    for piece in shared(tickets[0], pieces.size - 1, 1):
        numbers, index = scratch.values[piece], scratch.lowest[piece]
        for instance in range(grid.low_instance, grid.high_instance):
            room, behind = arenas.rooms[instance, piece], pieces[piece]
            while behind < pieces[piece + 1]:
                begin = behind
                behind = group_end(runs, instance, begin, pieces[piece + 1])
                low, high = first[begin * instance_count + instance], first[(behind - 1) * instance_count + instance + 1]
                if low == high or not is_waiting[begin:behind].any():
                    continue
                does_without = is_sparse(scheme, table, runs, instance, (begin, behind))
                for chunk in range(low, high, CHUNK):
                    count = min(high - chunk, CHUNK)
                    live = live_count(table, chunk, count)
                    for at in range(0, count, LANE_COUNT):
                        slot = chunk + at
                        mass, volume = load(table[MASS], slot, LANE_COUNT), load(table[VOLUME], slot, LANE_COUNT)
                        gradient, stress = load_matrix(table, VELOCITY_GRADIENT, slot), load_symmetric(table, STRESS, slot)
                        affine = affine_momentum(scheme, mass, volume, gradient, stress, dt, spacing)
                        position, velocity = load_vector(table, POSITION, slot), load_vector(table, VELOCITY, slot)
                        prepare_scatter(scheme, position, mass, velocity, affine, numbers, index, at)
                    if does_without:
                        prepare_records(scheme, table, low, count, numbers)
                    for block in range(begin, behind):
                        run = block * instance_count + instance
                        start, end = first[run], first[run + 1]
                        if start == end or not is_waiting[block]:
                            continue
                        at = room if is_first else arenas.starts[run]
                        lanes = max(start - chunk, 0), min(end - chunk, live)
                        if does_without:
                            room = write_records(scheme, lanes, numbers, index, arenas, run, at, neighbors[block])
                            continue
                        if chunk == low:
                            touched = nodes_between(scheme, range_of(scheme, table, start, end), LEAST_WAY)
                            room = open_arena(arenas, block, run, at, touched, neighbors[block])
                        scatter_lanes(scheme, lanes[0], lanes[1], numbers, index, arenas, run)
