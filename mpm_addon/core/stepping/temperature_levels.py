"""Material instances that follow from the temperature: each level of a material's curves is an instance of its own."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..transfer.particle_store import ParticleStore
from .heat import Heat
from .material_instances import MaterialInstance, level_groups
from .reassignment import reassign
from .time_step import StepControl

Ints = NDArray[np.int64]
# a particle goes to another level when it is nearer to that by more than this, in levels; otherwise it could go back and forth
HYSTERESIS = 0.1


class TemperatureLevels:
    """The instances of particles by their temperature. Does nothing in scenes whose materials have no curves.

    Args:
        instances: all instances; those of animated materials may be replaced in this list.
    """

    def __init__(self, instances: Sequence[MaterialInstance], heat: Heat) -> None:
        self._instances, self._heat = instances, heat
        self._groups = level_groups(instances)

    @property
    def is_used(self) -> bool:
        """Whether a material has curves."""
        return bool(self._groups)

    def update(self, store: ParticleStore, control: StepControl) -> None:
        """Let the next sort move particles to the instances of their temperatures."""
        if not self._groups or not self._heat.has_changed:
            return
        slots = np.flatnonzero(store.live)
        before = store.instances_of(slots)
        numbers = before.copy()
        for numbers_of_levels, temperatures in self._groups:
            its = np.flatnonzero((before >= numbers_of_levels[0]) & (before <= numbers_of_levels[-1]))
            numbers[its] = numbers_of_levels[0] + self._levels(temperatures, before[its] - numbers_of_levels[0], store.ids[slots[its]])
        reassign(store, self._instances, control, slots, numbers)

    def _levels(self, temperatures: NDArray[np.float64], current: Ints, ids: NDArray[np.int32]) -> Ints:
        place = np.interp(self._heat.temperatures(ids), temperatures, np.arange(len(temperatures)))
        return np.where(np.abs(place - current) > 0.5 + HYSTERESIS, np.rint(place), current).astype(np.int64)
