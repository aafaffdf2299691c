"""The kernels that run a law: the solver's pass over the particles, and the law alone. They process whole vectors of slots."""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from ..arithmetic.linalg import squared_norm
from ..arithmetic.operations import absolute, constant, generic, maximum, sqrt
from ..arithmetic.vector import LANE_COUNT, flush_tiny, largest, load, restore_tiny, store
from ..compilation.tickets import shared
from ..laws.dispatch import law_kernel, law_of, update
from ..laws.law import FluidLaw
from .capillarity import with_surface_tension
from .extent import LEAST_WAY, keep_room, nodes_between, open_arena, range_of
from .fullness import fullness
from .gather import flip_velocity, gather_arena, gather_lanes, gathered, prepare_gather, repeat_last
from .packing import group_end
from .rows import DEFORMATION, MASS, POSITION, STRESS, VELOCITY, VELOCITY_GRADIENT, VOLUME, state_rows
from .scatter import affine_momentum, prepare_scatter, scatter_lanes
from .scheme import dimension_of
from .scratch import CHUNK, GATHERED, GATHERED_BEFORE, LANES, LANES_BEFORE
from .sparse import gather_sparse, is_sparse, prepare_records, prepare_sparse, write_records
from .table import live_count, load_matrix, load_vector, store_matrix, store_vector

EXTREME_COUNT = 6


class Pass(NamedTuple):
    """The parameters of one pass over the particles of an instance.

    Attributes:
        instance: number of the instance.
        dt: length of the substep [s].
        next_dt: length of the next substep, which a fused pass scatters for [s].
        reach: upper bound on the displacement of particles along an axis in the substep [cells].
        is_fused: whether particles are scattered for the next substep.
        is_kept: (blocks,) whether each block is not scattered even in a fused pass, so that its particles stay in the table.
        full_mass: mass of a full cell [kg], see `fullness`; 0 without fluids.
    """

    instance: int
    dt: float
    next_dt: float
    reach: float
    is_fused: bool
    is_kept: NDArray[np.bool_]
    full_mass: float


def load_deformation(constants: Any, particles: Any, slot: Any) -> Any:
    """F of `LANE_COUNT` slots; an unused value for a fluid, which stores none."""
    raise TypeError("load_deformation is for kernels")


@overload(load_deformation, jit_options={"forceinline": True})
def _overload_load_deformation(constants, particles, slot):
    def unused(constants, particles, slot):
        mass = load(particles[MASS], slot, LANE_COUNT)
        return mass, mass, mass, mass, mass, mass, mass, mass, mass

    if issubclass(law_of(constants), FluidLaw):
        return unused
    return lambda constants, particles, slot: load_matrix(particles, DEFORMATION, slot)


def store_deformation(constants: Any, particles: Any, slot: Any, deformation: Any) -> None:
    """Store F of `LANE_COUNT` slots; does nothing for a fluid."""
    raise TypeError("store_deformation is for kernels")


@overload(store_deformation, jit_options={"forceinline": True})
def _overload_store_deformation(constants, particles, slot, deformation):
    if issubclass(law_of(constants), FluidLaw):
        return lambda constants, particles, slot, deformation: None
    return lambda constants, particles, slot, deformation: store_matrix(particles, DEFORMATION, slot, deformation)


def load_values(particles: Any, rows: Any, slot: Any) -> Any:
    """Several rows of `LANE_COUNT` slots, as a tuple."""
    raise TypeError("load_values is for kernels")


@overload(load_values, jit_options={"forceinline": True})
def _overload_load_values(particles, rows, slot):
    if len(rows) == 0:
        return lambda particles, rows, slot: ()
    return lambda particles, rows, slot: (load(particles[rows[0]], slot, LANE_COUNT),) + load_values(particles, rows[1:], slot)  # noqa: RUF005 - numba knows no other way


def store_values(particles: Any, rows: Any, slot: Any, values: Any) -> None:
    """Store several rows of `LANE_COUNT` slots."""
    raise TypeError("store_values is for kernels")


@overload(store_values, jit_options={"forceinline": True})
def _overload_store_values(particles, rows, slot, values):
    def store_all(particles, rows, slot, values):
        store(particles[rows[0]], slot, values[0])
        store_values(particles, rows[1:], slot, values[1:])

    return store_all if len(rows) else lambda particles, rows, slot, values: None


def load_state(constants: Any, particles: Any, slot: Any) -> Any:
    """The state of `LANE_COUNT` slots, a tuple as long as the law's state."""
    raise TypeError("load_state is for kernels")


@overload(load_state, jit_options={"forceinline": True})
def _overload_load_state(constants, particles, slot):
    rows = state_rows(len(law_of(constants).state_names))
    return lambda constants, particles, slot: load_values(particles, rows, slot)


def store_state(constants: Any, particles: Any, slot: Any, state: Any) -> None:
    """Store the state of `LANE_COUNT` slots."""
    raise TypeError("store_state is for kernels")


@overload(store_state, jit_options={"forceinline": True})
def _overload_store_state(constants, particles, slot, state):
    rows = state_rows(len(law_of(constants).state_names))
    return lambda constants, particles, slot, state: store_values(particles, rows, slot, state)


# The stages of `advance_particles`. A part is (begin, behind, low, chunk, count, live): blocks [begin, behind) that are processed
# together, their first slot `low`, and the slots [chunk, chunk + count) among theirs, of which the first `live` are no copies.


@generic
def uses_of_results(task, begin, behind):
    """Whether particles of the blocks [begin, behind) are scattered, and whether some stay in the table."""
    is_scattered, is_kept = False, False
    for block in range(begin, behind):
        if task.is_fused and not task.is_kept[block]:
            is_scattered = True
        else:
            is_kept = True
    return is_scattered, is_kept


@generic
def gather_sparse_group(scheme, particles, grid, instance, numbers, index, part):
    """Gather the only chunk of a sparse group from the node blocks."""
    _, _, low, _, count, live = part
    prepare_sparse(scheme, particles.table, low, count, numbers, index)
    gather_sparse(scheme, particles.runs, instance, part, grid.nodes, grid.neighbors, numbers, index, LANES)
    repeat_last(live, count, numbers, LANES)
    if scheme.flip_ratio > 0.0:
        gather_sparse(scheme, particles.runs, instance, part, grid.nodes_before, grid.neighbors, numbers, index, LANES_BEFORE)
        repeat_last(live, count, numbers, LANES_BEFORE)


@generic
def gather_chunk(scheme, particles, grid, task, numbers, index, arenas, part, room):
    """Gather a chunk; the first one of each block also opens the block's arena, or keeps its room. Returns the room behind them."""
    table = particles.table
    first, _, instance_count = particles.runs
    begin, behind, low, chunk, count, live = part
    for at in range(0, count, LANE_COUNT):
        prepare_gather(scheme, load_vector(table, POSITION, chunk + at), numbers, index, at)
    for block in range(begin, behind):
        run, neighbors = block * instance_count + task.instance, grid.neighbors[block]
        start, end = first[run], first[run + 1]
        if start == end:
            continue
        if chunk == low:
            positions = range_of(scheme, table, start, end)
            if task.is_fused and task.is_kept[block]:
                room = keep_room(arenas, block, run, end - start, room)
            elif task.is_fused:
                room = open_arena(arenas, block, run, room, nodes_between(scheme, positions, task.reach), neighbors)
            touched = nodes_between(scheme, positions, LEAST_WAY)
            gather_arena(grid.nodes, neighbors, touched, numbers, GATHERED)
            if scheme.flip_ratio > 0.0:
                gather_arena(grid.nodes_before, neighbors, touched, numbers, GATHERED_BEFORE)
        start, end = max(start - chunk, 0), min(end - chunk, live)
        gather_lanes(scheme, start, end, numbers, index, GATHERED, LANES)
        if scheme.flip_ratio > 0.0:
            gather_lanes(scheme, start, end, numbers, index, GATHERED_BEFORE, LANES_BEFORE)
    repeat_last(live, count, numbers, LANES)
    if scheme.flip_ratio > 0.0:
        repeat_last(live, count, numbers, LANES_BEFORE)
    return room


@generic
def advance_lanes(constants, scheme, table, slot, task, spacing, numbers, at):
    """Move `LANE_COUNT` slots and update their F and state.

    Returns:
        Position, velocity, C, stress, and (displacement along an axis [cells], J, wave speed squared).
    """
    dimension = dimension_of(scheme)
    x, y, z = load_vector(table, POSITION, slot)
    velocity, gradient, mass_around, mass_slope = gathered(scheme, (x, y, z), spacing, numbers, at)
    u, v, w = velocity
    step = task.dt / spacing
    mx, my, mz = step * u, step * v, step * w
    way = maximum(absolute(mx), maximum(absolute(my), absolute(mz)))
    if scheme.flip_ratio > 0.0:
        velocity = flip_velocity(scheme, load_vector(table, VELOCITY, slot), velocity, numbers, at)
    fluid_mass = (task.full_mass / spacing**dimension) * load(table[VOLUME], slot, LANE_COUNT)
    space = fullness(scheme, fluid_mass, mass_around, mass_slope, task.full_mass)
    deformation, state = load_deformation(constants, table, slot), load_state(constants, table, slot)
    deformation, state, stress, volume_ratio, wave_speed_squared = update(
        constants, dimension, deformation, state, gradient, space, task.dt
    )
    around = fluid_mass, mass_around, mass_slope, task.full_mass
    stress = with_surface_tension(constants, scheme, stress, gradient, space[0], around, spacing)
    position = x + mx, y + my, z + mz
    store_vector(table, POSITION, slot, position)
    store_deformation(constants, table, slot, deformation)
    store_state(constants, table, slot, state)
    return position, velocity, gradient, stress, (way, volume_ratio, wave_speed_squared)


@generic
def greatest_of(greatest, velocity, gradient, stress, limits):
    """The extremes so far, and those of `LANE_COUNT` more slots; in the order of `extremes`, with squares of speeds and of |C|."""
    fastest, farthest, stiffest, steepest, flattest, check = greatest
    (u, v, w), (way, volume_ratio, wave_speed_squared), slope = velocity, limits, squared_norm(gradient)
    xx, _, _, yy, _, zz = stress
    return (
        maximum(fastest, u * u + v * v + w * w),
        maximum(farthest, way),
        maximum(stiffest, wave_speed_squared),
        maximum(steepest, slope),
        maximum(flattest, -volume_ratio),
        check + 0.0 * (u + v + w + slope + wave_speed_squared + xx + yy + zz),
    )


@generic
def store_extremes(extremes, greatest):
    """Store the extremes of a piece."""
    fastest, farthest, stiffest, steepest, flattest, check = greatest
    extremes[0] = largest(sqrt(fastest))
    extremes[1] = largest(farthest)
    extremes[2] = largest(sqrt(stiffest))
    extremes[3] = largest(sqrt(steepest))
    extremes[4] = largest(flattest)
    extremes[5] = largest(check)


@generic
def store_motion(table, slot, velocity, gradient, stress):
    """Write what a substep scatters to the table."""
    xx, xy, xz, yy, yz, zz = stress
    store_vector(table, VELOCITY, slot, velocity)
    store_matrix(table, VELOCITY_GRADIENT, slot, gradient)
    store_vector(table, STRESS, slot, (xx, xy, xz))
    store_vector(table, STRESS + 3, slot, (yy, yz, zz))


@generic
def write_group(scheme, particles, grid, task, numbers, index, arenas, part, room):
    """Write the records of a sparse group's blocks, or keep their room. Returns the room behind them."""
    first, _, instance_count = particles.runs
    begin, behind, low, _, count, live = part
    prepare_records(scheme, particles.table, low, count, numbers)
    for block in range(begin, behind):
        run = block * instance_count + task.instance
        start, end = first[run], first[run + 1]
        if start == end:
            continue
        if task.is_kept[block]:
            room = keep_room(arenas, block, run, end - start, room)
        else:
            room = write_records(scheme, (start - low, min(end - low, live)), numbers, index, arenas, run, room, grid.neighbors[block])
    return room


@generic
def scatter_chunk(scheme, runs, task, numbers, index, arenas, part):
    """Scatter a chunk to the arenas of its blocks."""
    first, _, instance_count = runs
    begin, behind, _, chunk, _, live = part
    for block in range(begin, behind):
        if not task.is_kept[block]:
            run = block * instance_count + task.instance
            start, end = max(first[run] - chunk, 0), min(first[run + 1] - chunk, live)
            scatter_lanes(scheme, start, end, numbers, index, arenas, run)


@law_kernel(parallel=True)
def advance_particles(tickets, constants, scheme, particles, grid, task, scratch, arenas, extremes):
    """Move one instance's particles with the grid, update F, state and stress, and scatter them again, all in one pass.

    A fused pass immediately scatters its results for the next substep, so that velocity, C and stress are not stored in the table;
    every particle must stay within its block's arena. An unfused pass writes them to the table. Blocks whose runs share vectors (see
    `packing`) are processed together.

    Args:
        constants: the law's constants; their type selects the law.
        scheme: see `scheme`.
        particles: see `Particles`; the table is updated.
        grid: see `Grid`.
        task: see `Pass`.
        scratch: see `Scratch`.
        arenas: result of a fused pass, see `Arenas`.
        extremes: (pieces, 6) result: largest speed [m/s], largest displacement along an axis [cells], largest wave speed [m/s], largest
            |C| [1/s], largest -J, and 0, or NaN if a velocity, a stress or a wave speed is not finite.
    """
    table, runs = particles.table, particles.runs
    first, pieces, instance_count = runs
    instance = task.instance
    for piece in shared(tickets[0], pieces.size - 1, 1):
        before = flush_tiny()
        numbers, index = scratch.values[piece], scratch.lowest[piece]
        zero = constant(0.0, load(table[MASS], 0, LANE_COUNT))
        greatest = zero, zero, zero, zero, constant(-1e30, zero), zero
        behind = pieces[piece]
        room = arenas.rooms[instance, piece]
        while behind < pieces[piece + 1]:
            begin = behind
            behind = group_end(runs, instance, begin, pieces[piece + 1])
            low, high = first[begin * instance_count + instance], first[(behind - 1) * instance_count + instance + 1]
            does_without = is_sparse(scheme, table, runs, instance, (begin, behind))
            has_scattered, has_kept = uses_of_results(task, begin, behind)
            for chunk in range(low, high, CHUNK):
                count = min(high - chunk, CHUNK)
                part = begin, behind, low, chunk, count, live_count(table, chunk, count)
                if does_without:
                    gather_sparse_group(scheme, particles, grid, instance, numbers, index, part)
                else:
                    room = gather_chunk(scheme, particles, grid, task, numbers, index, arenas, part, room)
                for at in range(0, count, LANE_COUNT):
                    position, velocity, gradient, stress, limits = advance_lanes(
                        constants, scheme, table, chunk + at, task, grid.spacing, numbers, at
                    )
                    greatest = greatest_of(greatest, velocity, gradient, stress, limits)
                    if has_scattered:
                        mass, volume = load(table[MASS], chunk + at, LANE_COUNT), load(table[VOLUME], chunk + at, LANE_COUNT)
                        affine = affine_momentum(scheme, mass, volume, gradient, stress, task.next_dt, grid.spacing)
                        prepare_scatter(scheme, position, mass, velocity, affine, numbers, index, at)
                    if has_kept:
                        store_motion(table, chunk + at, velocity, gradient, stress)
                if does_without and task.is_fused:
                    room = write_group(scheme, particles, grid, task, numbers, index, arenas, part, room)
                elif has_scattered:
                    scatter_chunk(scheme, runs, task, numbers, index, arenas, part)
        store_extremes(extremes[piece], greatest)
        restore_tiny(before)


@law_kernel
def advance_material(constants, dimension, particles, dt, space, extremes):
    """Advance F, state and stress of particles by one substep, with the velocity gradients in the table.

    Args:
        constants: the law's constants; their type selects the law.
        dimension: 3, or 2 for plane strain in x-z.
        particles: (rows, slots), whole vectors of slots.
        dt: length of the substep [s].
        space: (2, slots) fullness of the surrounding space and its standard deviation; see `fullness`.
        extremes: (3,) result: largest wave speed [m/s], largest |C| [1/s], and 0, or NaN if a stress or a wave speed is not finite.
    """
    stiffest = constant(0.0, load(particles[MASS], 0, LANE_COUNT))
    steepest, check = stiffest, stiffest
    for slot in range(0, particles.shape[1], LANE_COUNT):
        gradient = load_matrix(particles, VELOCITY_GRADIENT, slot)
        deformation, state, stress, _, wave_speed_squared = update(
            constants,
            dimension,
            load_deformation(constants, particles, slot),
            load_state(constants, particles, slot),
            gradient,
            (load(space[0], slot, LANE_COUNT), load(space[1], slot, LANE_COUNT)),
            dt,
        )
        store_deformation(constants, particles, slot, deformation)
        store_state(constants, particles, slot, state)
        xx, xy, xz, yy, yz, zz = stress
        store_vector(particles, STRESS, slot, (xx, xy, xz))
        store_vector(particles, STRESS + 3, slot, (yy, yz, zz))
        stiffest = maximum(stiffest, wave_speed_squared)
        steepest = maximum(steepest, squared_norm(gradient))
        check = check + 0.0 * (wave_speed_squared + xx + yy + zz)
    extremes[0] = largest(sqrt(stiffest))
    extremes[1] = largest(sqrt(steepest))
    extremes[2] = largest(check)
