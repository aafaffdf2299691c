"""Material instances that follow from the temperature: each level of a material's curves is one, and so is the fluid that it melts into."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..scene.bodies import body_of
from ..scene.description import Scene
from ..transfer.particle_store import ParticleStore
from .heat import Heat
from .material_instances import LevelGroup, MaterialInstance, level_groups
from .reassignment import reassign
from .time_step import StepControl

Ints = NDArray[np.int64]
# a particle goes to another level when it is nearer to that by more than this, in levels; otherwise it could go back and forth
HYSTERESIS = 0.1
# what has melted is a fluid until less than this share of it remains melted, for the same reason
FREEZING_SHARE = 0.5


class TemperatureLevels:
    """The instances of particles by their temperature. Does nothing in scenes whose materials neither have curves nor melt into a fluid.

    Args:
        instances: all instances; those of animated materials may be replaced in this list.
    """

    def __init__(self, scene: Scene, instances: Sequence[MaterialInstance], heat: Heat) -> None:
        self._instances, self._heat = instances, heat
        self._groups = level_groups(instances)
        bodies = [body_of(scene, index) for index in range(len(scene.emitters))]
        # for each group and emitter, whether what has melted of the emitter belongs to the group again once it is frozen
        self._is_origin = [np.array([body == instances[group.numbers[0]].body for body in bodies]) for group in self._groups]

    def update(self, store: ParticleStore, control: StepControl) -> None:
        """Let the next sort move particles to the instances of their temperatures."""
        if not self._groups or not self._heat.has_changed:
            return
        slots = np.flatnonzero(store.live)
        before = store.instances_of(slots)
        numbers = before.copy()
        for group, is_origin in zip(self._groups, self._is_origin, strict=True):
            first, last = group.numbers[0], group.numbers[-1]
            its = np.flatnonzero((before >= first) & (before <= last))
            ids = store.ids[slots[its]]
            numbers[its] = first + self._levels(group.temperatures, before[its] - first, ids)
            if group.fluid >= 0:
                numbers[its[self._heat.melted(ids) >= 1.0]] = group.fluid
                frozen = self._frozen(group, is_origin, before, store.ids[slots])
                nearest = np.abs(self._heat.temperatures(store.ids[slots[frozen]])[:, None] - group.temperatures).argmin(axis=1)
                numbers[frozen] = group.numbers[nearest]
        reassign(store, self._instances, control, slots, numbers)

    def _frozen(self, group: LevelGroup, is_origin: NDArray[np.bool_], before: Ints, ids: NDArray[np.int32]) -> Ints:
        """Which particles are the fluid of a group, belong to it and have frozen."""
        its = np.flatnonzero(before == group.fluid)
        its = its[is_origin[self._heat.emitters(ids[its])]]
        return its[self._heat.melted(ids[its]) < FREEZING_SHARE]

    def _levels(self, temperatures: NDArray[np.float64], current: Ints, ids: NDArray[np.int32]) -> Ints:
        place = np.interp(self._heat.temperatures(ids), temperatures, np.arange(len(temperatures)))
        return np.where(np.abs(place - current) > 0.5 + HYSTERESIS, np.rint(place), current).astype(np.int64)
