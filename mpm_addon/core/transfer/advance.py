"""The kernels that run a law: in the solver's pass over the particles, and alone. They go through slots by whole vectors."""

from typing import Any

from numba.extending import overload

from ..arithmetic.linalg import squared_norm
from ..arithmetic.operations import absolute, constant, maximum, sqrt
from ..arithmetic.vector import LANE_COUNT, flush_tiny, largest, load, restore_tiny, store
from ..compilation.tickets import shared
from ..laws.dispatch import law_kernel, law_of, update
from ..laws.law import FluidLaw
from .extent import LEAST_WAY, keep_room, nodes_between, open_arena, range_of
from .gather import flip_velocity, gather_arena, gather_lanes, gathered, prepare_gather, repeat_last
from .packing import group_end
from .rows import DEFORMATION, MASS, POSITION, STRESS, VELOCITY, VELOCITY_GRADIENT, VOLUME, state_rows
from .scatter import prepare_scatter, scatter_lanes
from .scheme import is_plane
from .scratch import CHUNK, GATHERED, GATHERED_BEFORE, LANES, LANES_BEFORE
from .table import live_count, load_matrix, load_vector, store_matrix, store_vector

EXTREME_COUNT = 6


def load_deformation(constants: Any, particles: Any, slot: Any) -> Any:
    """F of `LANE_COUNT` slots; of a fluid, which keeps none, what is not used."""
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
    """Write F of `LANE_COUNT` slots; nothing for a fluid."""
    raise TypeError("store_deformation is for kernels")


@overload(store_deformation, jit_options={"forceinline": True})
def _overload_store_deformation(constants, particles, slot, deformation):
    if issubclass(law_of(constants), FluidLaw):
        return lambda constants, particles, slot, deformation: None
    return lambda constants, particles, slot, deformation: store_matrix(particles, DEFORMATION, slot, deformation)


def load_values(particles: Any, rows: Any, slot: Any) -> Any:
    """What `LANE_COUNT` slots have in each of several rows, as a tuple."""
    raise TypeError("load_values is for kernels")


@overload(load_values, jit_options={"forceinline": True})
def _overload_load_values(particles, rows, slot):
    if len(rows) == 0:
        return lambda particles, rows, slot: ()
    return lambda particles, rows, slot: (load(particles[rows[0]], slot, LANE_COUNT),) + load_values(particles, rows[1:], slot)  # noqa: RUF005 - numba knows no other way


def store_values(particles: Any, rows: Any, slot: Any, values: Any) -> None:
    """Write a value for each of several rows to `LANE_COUNT` slots."""
    raise TypeError("store_values is for kernels")


@overload(store_values, jit_options={"forceinline": True})
def _overload_store_values(particles, rows, slot, values):
    def store_all(particles, rows, slot, values):
        store(particles[rows[0]], slot, values[0])
        store_values(particles, rows[1:], slot, values[1:])

    return store_all if len(rows) else lambda particles, rows, slot, values: None


def load_state(constants: Any, particles: Any, slot: Any) -> Any:
    """The state of `LANE_COUNT` slots as a tuple of the law's length."""
    raise TypeError("load_state is for kernels")


@overload(load_state, jit_options={"forceinline": True})
def _overload_load_state(constants, particles, slot):
    rows = state_rows(len(law_of(constants).state_names))
    return lambda constants, particles, slot: load_values(particles, rows, slot)


def store_state(constants: Any, particles: Any, slot: Any, state: Any) -> None:
    """Write the state of `LANE_COUNT` slots."""
    raise TypeError("store_state is for kernels")


@overload(store_state, jit_options={"forceinline": True})
def _overload_store_state(constants, particles, slot, state):
    rows = state_rows(len(law_of(constants).state_names))
    return lambda constants, particles, slot, state: store_values(particles, rows, slot, state)


def dimension_of(scheme: Any) -> int:
    """The number of dimensions of a scheme, known when a kernel is compiled."""
    raise TypeError("dimension_of is for kernels")


@overload(dimension_of, jit_options={"forceinline": True})
def _overload_dimension_of(scheme):
    return (lambda scheme: 2) if is_plane(scheme) else (lambda scheme: 3)


@law_kernel(parallel=True)
def advance_particles(
    tickets, constants, scheme, particles, first, body, body_count, pieces, neighbours, nodes, nodes_before, is_held, is_fused,
    way, dt, next_dt, spacing, scratch, index, arenas, extremes,
):  # fmt: skip
    """Move one body's particles with the grid, advance F, state and stress, and scatter them again, all in one pass.

    A fused pass scatters what it has just computed for the next step, so that velocity, C and stress are neither written nor
    read again; every particle must stay within reach of its block's arena. A pass that is not fused keeps them in the table.
    Blocks whose runs share vectors (see `packing`) are gone through together.

    Args:
        constants: the law's constants; their type selects the law.
        scheme: see `scheme`.
        particles: (rows, slots).
        first: first slot of each run (block, body).
        body, body_count: number of the body, and of all bodies.
        pieces: first block of each piece of work.
        neighbours: (blocks, 27 or 9) node blocks around each block.
        nodes: (node blocks, 4 * block nodes) velocities [m/s] and masses [kg].
        nodes_before: the same before force, gravity and contact; read where the scheme has a FLIP ratio.
        is_held: (blocks,) which blocks are kept in the table, even in a fused pass.
        is_fused: whether to scatter the others.
        way: the farthest that a particle goes along an axis, at least [cells].
        dt: [s]; next_dt: of the next step, that a fused pass scatters for; spacing: cell size [m].
        scratch: (pieces, SCRATCH_SIZE); index: (pieces, CHUNK) int32.
        arenas: results of a fused pass, see `Arenas`.
        extremes: (pieces, 6) results: greatest speed [m/s], greatest displacement along an axis [cells], greatest wave speed
            [m/s], greatest |C| [1/s], greatest -J, and 0, or NaN where a velocity, a stress or a wave speed is not a finite number.
    """
    step = dt / spacing
    dimension = dimension_of(scheme)
    per_volume = 1.0 / spacing**dimension
    for piece in shared(tickets[0], pieces.size - 1, 1):
        before = flush_tiny()
        table = scratch[piece]
        numbers = index[piece]
        fastest = constant(0.0, load(particles[MASS], 0, LANE_COUNT))
        farthest, stiffest, steepest, check = fastest, fastest, fastest, fastest
        flattest = constant(-1e30, fastest)
        behind = pieces[piece]
        room = arenas.rooms[body, piece]
        while behind < pieces[piece + 1]:
            begin = behind
            behind = group_end(first, body, body_count, begin, pieces[piece + 1])
            low, high = first[begin * body_count + body], first[(behind - 1) * body_count + body + 1]
            is_scattered, is_kept = False, False
            for block in range(begin, behind):
                if is_fused and not is_held[block]:
                    is_scattered = True
                else:
                    is_kept = True
            for chunk in range(low, high, CHUNK):
                count = min(high - chunk, CHUNK)
                live = live_count(particles, chunk, count)
                for at in range(0, count, LANE_COUNT):
                    prepare_gather(scheme, load_vector(particles, POSITION, chunk + at), table, numbers, at)
                for block in range(begin, behind):
                    run = block * body_count + body
                    start, end = first[run], first[run + 1]
                    if start == end:
                        continue
                    if chunk == low:
                        positions = range_of(scheme, particles, start, end)
                        if is_fused and is_held[block]:
                            room = keep_room(arenas, block, run, room)
                        elif is_fused:
                            room = open_arena(arenas, block, run, room, nodes_between(scheme, positions, way), neighbours[block])
                        touched = nodes_between(scheme, positions, LEAST_WAY)
                        gather_arena(nodes, neighbours[block], touched, table, GATHERED)
                        if scheme.flip_ratio > 0.0:
                            gather_arena(nodes_before, neighbours[block], touched, table, GATHERED_BEFORE)
                    start, end = max(start - chunk, 0), min(end - chunk, live)
                    gather_lanes(scheme, start, end, table, numbers, GATHERED, LANES)
                    if scheme.flip_ratio > 0.0:
                        gather_lanes(scheme, start, end, table, numbers, GATHERED_BEFORE, LANES_BEFORE)
                repeat_last(live, count, table, LANES)
                if scheme.flip_ratio > 0.0:
                    repeat_last(live, count, table, LANES_BEFORE)
                for at in range(0, count, LANE_COUNT):
                    slot = chunk + at
                    x, y, z = load_vector(particles, POSITION, slot)
                    velocity, gradient, mass_around = gathered(scheme, (x, y, z), spacing, table, at)
                    u, v, w = velocity
                    mx, my, mz = step * u, step * v, step * w
                    position = x + mx, y + my, z + mz
                    farthest = maximum(farthest, maximum(absolute(mx), maximum(absolute(my), absolute(mz))))
                    if scheme.flip_ratio > 0.0:
                        velocity = flip_velocity(scheme, load_vector(particles, VELOCITY, slot), velocity, table, at)
                        u, v, w = velocity
                    deformation, state, stress, volume_ratio, wave_speed_squared = update(
                        constants,
                        dimension,
                        load_deformation(constants, particles, slot),
                        load_state(constants, particles, slot),
                        gradient,
                        per_volume * mass_around,
                        dt,
                    )
                    store_vector(particles, POSITION, slot, position)
                    store_deformation(constants, particles, slot, deformation)
                    store_state(constants, particles, slot, state)
                    xx, xy, xz, yy, yz, zz = stress
                    fastest = maximum(fastest, u * u + v * v + w * w)
                    stiffest = maximum(stiffest, wave_speed_squared)
                    slope = squared_norm(gradient)
                    steepest = maximum(steepest, slope)
                    flattest = maximum(flattest, -volume_ratio)
                    check = check + 0.0 * (u + v + w + slope + wave_speed_squared + xx + yy + zz)
                    if is_scattered:
                        mass, volume = load(particles[MASS], slot, LANE_COUNT), load(particles[VOLUME], slot, LANE_COUNT)
                        prepare_scatter(scheme, position, next_dt, spacing, mass, volume, velocity, gradient, stress, table, numbers, at)
                    if is_kept:
                        store_vector(particles, VELOCITY, slot, velocity)
                        store_matrix(particles, VELOCITY_GRADIENT, slot, gradient)
                        store_vector(particles, STRESS, slot, (xx, xy, xz))
                        store_vector(particles, STRESS + 3, slot, (yy, yz, zz))
                if is_scattered:
                    for block in range(begin, behind):
                        if not is_held[block]:
                            run = block * body_count + body
                            start, end = max(first[run] - chunk, 0), min(first[run + 1] - chunk, live)
                            scatter_lanes(scheme, start, end, table, numbers, arenas, run)
        extremes[piece, 0] = largest(sqrt(fastest))
        extremes[piece, 1] = largest(farthest)
        extremes[piece, 2] = largest(sqrt(stiffest))
        extremes[piece, 3] = largest(sqrt(steepest))
        extremes[piece, 4] = largest(flattest)
        extremes[piece, 5] = largest(check)
        restore_tiny(before)


@law_kernel
def advance_material(constants, dimension, particles, dt, density, extremes):
    """Advance F, state and stress of particles by a step, by the velocity gradients that they have.

    Args:
        constants: the law's constants; their type selects the law.
        dimension: 3, or 2 for plane strain in x-z.
        particles: (rows, slots), whole vectors of slots.
        dt: [s].
        density: (slots,) of the matter around [kg/m^3].
        extremes: (3,) results: greatest wave speed [m/s], greatest |C| [1/s], and 0, or NaN where a stress or a wave speed is
            not a finite number.
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
            load(density, slot, LANE_COUNT),
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
