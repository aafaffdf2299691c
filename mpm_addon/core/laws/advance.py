"""The kernels that run a law: over the slots of the solver, eight at a time, and over plain arrays of float64."""

from typing import Any

from numba import prange
from numba.extending import overload

from ..kernels.arithmetic import constant, maximum, sqrt
from ..kernels.linalg import squared_norm
from ..kernels.rows import DEFORMATION, DENSITY, MASS, STATE, STRESS, VELOCITY_GRADIENT
from ..kernels.table import load_matrix, store_matrix, store_vector
from ..kernels.vector import LANE_COUNT, largest, load, store
from .dispatch import law_kernel, law_of, update


def load_state(constants: Any, particles: Any, slot: Any) -> Any:
    """The state of eight slots as a tuple of the law's length."""
    raise TypeError("load_state is for kernels")


@overload(load_state, jit_options={"forceinline": True})
def _overload_load_state(constants, particles, slot):
    count = len(law_of(constants).state_names)
    if count == 2:
        return lambda constants, particles, slot: (load(particles[STATE], slot, 8), load(particles[STATE + 1], slot, 8))
    if count == 1:
        return lambda constants, particles, slot: (load(particles[STATE], slot, 8),)
    return lambda constants, particles, slot: ()


def store_state(constants: Any, particles: Any, slot: Any, state: Any) -> None:
    """Write the state of eight slots."""
    raise TypeError("store_state is for kernels")


@overload(store_state, jit_options={"forceinline": True})
def _overload_store_state(constants, particles, slot, state):
    count = len(law_of(constants).state_names)

    def store_two(constants, particles, slot, state):
        store(particles[STATE], slot, state[0])
        store(particles[STATE + 1], slot, state[1])

    def store_one(constants, particles, slot, state):
        store(particles[STATE], slot, state[0])

    def store_none(constants, particles, slot, state):
        return None

    return (store_none, store_one, store_two)[count]


@law_kernel(parallel=True)
def advance_material(constants, dimension, particles, first, material, material_count, pieces, dt, extremes):
    """Advance F, state and stress of one material's particles by a step.

    Args:
        constants: the law's constants; their type selects the law.
        dimension: 3, or 2 for plane strain in x-z.
        particles: (ROW_COUNT, slots).
        first: first slot of each run (block, material).
        pieces: first block of each piece of work.
        extremes: (pieces, 3) results: greatest wave speed [m/s], greatest |C| [1/s], and 0, or NaN where a stress or a
            wave speed is not a finite number.
    """
    for piece in prange(pieces.size - 1):
        fastest = constant(0.0, load(particles[MASS], 0, 8))
        steepest = fastest
        check = fastest
        for block in range(pieces[piece], pieces[piece + 1]):
            run = block * material_count + material
            for slot in range(first[run], first[run + 1], LANE_COUNT):
                velocity_gradient = load_matrix(particles, VELOCITY_GRADIENT, slot)
                deformation, state, stress, _, wave_speed_squared = update(
                    constants,
                    dimension,
                    load_matrix(particles, DEFORMATION, slot),
                    load_state(constants, particles, slot),
                    velocity_gradient,
                    load(particles[DENSITY], slot, 8),
                    dt,
                )
                store_matrix(particles, DEFORMATION, slot, deformation)
                store_state(constants, particles, slot, state)
                xx, xy, xz, yy, yz, zz = stress
                store_vector(particles, STRESS, slot, (xx, xy, xz))
                store_vector(particles, STRESS + 3, slot, (yy, yz, zz))
                fastest = maximum(fastest, wave_speed_squared)
                steepest = maximum(steepest, squared_norm(velocity_gradient))
                check = check + 0.0 * (wave_speed_squared + xx + yy + zz)
        extremes[piece, 0] = largest(sqrt(fastest))
        extremes[piece, 1] = largest(sqrt(steepest))
        extremes[piece, 2] = largest(check)
