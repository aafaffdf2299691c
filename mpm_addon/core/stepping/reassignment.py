"""Particles that go on in another material instance from the next sort on: other constants, or another law."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..laws.law import GREATEST_FLUID_RATIO, LEAST_FLUID_RATIO
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import DEFORMATION, FLUID_ROW_COUNT, MASS, STRESS, VOLUME, state_rows
from .material_instances import MaterialInstance
from .time_step import StepControl

Ints = NDArray[np.int64]
Table = NDArray[np.floating]


def reassign(store: ParticleStore, instances: Sequence[MaterialInstance], control: StepControl, slots: Ints, numbers: Ints) -> None:
    """Let the next sort move particles to other instances, with the stress of their new constants.

    Mass, velocity and current volume are kept. Between instances of the same law, so are deformation and state. Another law starts in
    its virgin state: a solid stress-free in its current shape, a fluid at the density that its mass has in its volume.

    Args:
        store: the particles, right before a sort; none of the instances may have a rest state.
        instances: all instances.
        control: takes in the wave speeds of the new constants.
        slots: of the particles, ascending, (n,).
        numbers: of their new instances, which may be their own, (n,).
    """
    before = store.instances_of(slots)
    slots, numbers, before = (each[before != numbers] for each in (slots, numbers, before))
    if not len(slots):
        return
    table = store.table[:, slots]
    for number in np.unique(numbers):
        instance = instances[number]
        for old in np.unique(before[numbers == number]):
            its = np.flatnonzero((numbers == number) & (before == old))
            if type(instances[old].law) is not type(instance.law):
                part = table[:, its]
                _begin_anew(part, instances[old], instance)
                table[:, its] = part
        its = np.flatnonzero(numbers == number)
        renewed = table[:, its]
        wave_speed, gradient = instance.renew(renewed)
        # only the stress is taken over: some laws also change J by the density around a particle, which is not known here
        table[STRESS : STRESS + 6, its] = renewed[STRESS : STRESS + 6]
        control.take_in(instance.name, wave_speed, 0.0, gradient)
    store.reassign(slots, numbers, table)


def _begin_anew(table: Table, old: MaterialInstance, new: MaterialInstance) -> None:
    """Set volume, deformation and state of particles (rows, n) of one instance whose law changes to that of another."""
    names = old.law.state_names
    states = table[list(state_rows(len(names)))].astype(np.float64)
    elastic = states[0] if old.is_fluid else _determinants(table)
    ratio = np.asarray(old.law.volume_ratio(elastic, states), np.float64)
    current = ratio * table[VOLUME]
    for row, value in zip(state_rows(len(new.law.virgin_state)), new.law.virgin_state, strict=True):
        table[row] = value
    if len(table) > FLUID_ROW_COUNT:
        table[DEFORMATION : DEFORMATION + 9] = 0.0
        table[[DEFORMATION, DEFORMATION + 4, DEFORMATION + 8]] = 1.0
    if new.is_fluid:
        rest = table[MASS] / new.law.density
        table[VOLUME] = rest
        table[state_rows(1)[0]] = np.clip(current / rest, LEAST_FLUID_RATIO, GREATEST_FLUID_RATIO)
    else:
        table[VOLUME] = current


def _determinants(table: Table) -> NDArray[np.float64]:
    """det F of particles, (n,)."""
    return np.linalg.det(table[DEFORMATION : DEFORMATION + 9].T.astype(np.float64).reshape(-1, 3, 3))
