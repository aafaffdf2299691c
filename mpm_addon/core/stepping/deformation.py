"""The deformation of particles, as frames show it."""

import numpy as np
from numpy.typing import NDArray

from ..transfer.output import show_particles
from ..transfer.particle_store import ParticleStore
from .material_instances import MaterialInstance


def deformations(
    instances: list[MaterialInstance], store: ParticleStore, slots: NDArray[np.int64], instance: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """The volume ratio (n,), the stress (n,), the rotation (n, 4) and the stretch (n, 3) of particles, by their slots and instances."""
    count, layout = len(slots), store.layout
    volume_ratio, stress = np.empty(count, np.float32), np.empty(count, np.float32)
    rotation, stretch = np.empty((count, 4), np.float32), np.empty((count, 3), np.float32)
    places = np.full(layout.slot_count, -1, np.int32)
    places[slots] = np.arange(count, dtype=np.int32)
    # there may be none, whose type numpy could not tell
    fluids = np.array([each.is_fluid for each in instances], np.bool_)
    is_fluid = np.repeat(np.tile(fluids, len(layout.keys)), np.diff(layout.first))
    show_particles(store.table, places, is_fluid, volume_ratio, stress, rotation, stretch)
    for index, shown in enumerate(instances):
        its = instance == index
        volume_ratio[its] = shown.law.volume_ratio(volume_ratio[its], store.states(len(shown.law.state_names), slots[its]))
    return volume_ratio, stress, rotation, stretch
