"""The bulk moduli of fluids that leave them to the scene, while it is simulated: as high as the speeds require that have occurred.

They begin with those for the speeds of emission and the depth of what is emitted, and rise to those that the forecast allows. A falling
drop is as soft as its speed permits until it is as fast as expected. Fluids that are compressed without being fast, because they are
viscous, or because a vessel fills, are stiffened too.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..forecast.stiffness import SOUND_SHARE, follows_speed, modulus_at, reachable_speed, starting_speed
from ..laws import Water
from ..scene.description import Scene
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import STATE, VELOCITY
from .material_instances import MaterialInstance
from .time_step import StepControl

# The greatest root mean square of the compression 1 - J of a fluid: of a pool that is compressed by a percent at its bottom.
MOST_COMPRESSED = 0.01 / math.sqrt(3.0)
# As many particles may be faster: single drops of a few cells, whose impact compresses no more than these.
SPRAY = 32
# In this time the speed of the moduli falls to a share of 1/e, while nothing is fast [s]: fluids at rest expand and contract slowly.
SOFTENING = 0.8


class Moduli:
    """The bulk moduli at the current moment.

    Args:
        instances: all instances; those of fluids whose modulus follows the speed are replaced in this list.

    Attributes:
        speed: the greatest speed that has been followed [m/s]; 0 if no modulus follows it.
    """

    def __init__(self, scene: Scene, instances: list[MaterialInstance], store: ParticleStore) -> None:
        self._scene, self._instances, self._store = scene, instances, store
        names = {name for name in {each.name for each in instances} if follows_speed(scene, name)}
        self._followers = [number for number, each in enumerate(instances) if each.name in names and not each.has_melted]
        self._names = [name for name in scene.materials if name in names]
        # whether the compression is measured before the next substep, now and at the last sort
        self._is_due = self._was_due = False
        self._softening = math.exp(-scene.time.frame_seconds / (scene.time.subframes + 1) / SOFTENING)
        self.speed = 0.0
        self._least, self._greatest = (starting_speed(scene), reachable_speed(scene)) if self._followers else (0.0, 0.0)
        self._set(self._least)
        self._saved = self.speed

    def load(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of a checkpoint. Earlier versions had the moduli of the forecast from the beginning.

        A checkpoint of another scene may be of one where nothing was as fast, or where no modulus followed the speed.
        """
        if self._followers:
            self._set(max(self._least, float(snapshot.get("modulus_speed", np.array(self._greatest)))))

    def _set(self, speed: float) -> list[tuple[int, Water, Water]]:
        """Set the moduli for a speed [m/s]; returns the numbers of instances that changed, with their laws before and after."""
        self.speed = speed
        moduli = {name: modulus_at(self._scene, name, speed) for name in self._names}
        changed = []
        for number in self._followers:
            instance = self._instances[number]
            before, modulus = instance.law, moduli[instance.name]
            assert isinstance(before, Water)
            if modulus != before.bulk_modulus:
                law = replace(before, bulk_modulus=modulus)
                constants = law.constants(instance.stiffness_scale, instance.dimension)
                self._instances[number] = replace(instance, law=law, constants=constants)
                changed.append((number, before, law))
        return changed

    def _change(self, speed: float, control: StepControl) -> None:
        """Set the moduli for a speed [m/s] at the pressures that there are: particles get the J that has theirs."""
        changed = self._set(speed)
        if not changed:
            return
        slots = np.arange(self._store.layout.slot_count)
        numbers = self._store.instances_of(slots)
        for number, before, after in changed:
            its = slots[numbers == number]
            ratios = self._store.table[STATE, its].astype(np.float64)
            self._store.table[STATE, its] = after.with_pressure_of(before, ratios, self._instances[number].stiffness_scale)
        # slower waves are measured with the next substep; until then, those of another material may be the fastest
        control.stiffen(math.sqrt(max(1.0, *(after.bulk_modulus / before.bulk_modulus for _, before, after in changed))))

    def begin_frame(self) -> None:
        """Let the compression be measured before the next substep."""
        self._is_due = self._was_due = True

    def save(self) -> None:
        """Save the state at a sort, for `restore`."""
        self._saved, self._was_due = self.speed, self._is_due

    def restore(self) -> None:
        """Return to the state that was saved last."""
        self._is_due = self._was_due
        self._set(self._saved)

    def follow(self, control: StepControl, obstacle_speed: float) -> None:
        """Raise the moduli if anything is faster [m/s] than before, and let them fall from frame to frame; while no substep is planned."""
        if not self._followers:
            return
        if self._is_due:
            least = max(self._least, self._softening * self.speed, self._pressing_speed())
            self._is_due = False
        elif max(control.speeds.particle, obstacle_speed) > self.speed:
            least = self.speed
        else:
            return
        self._change(min(max(least, self._fastest(), obstacle_speed), self._greatest), control)

    def _fastest(self) -> float:
        """The greatest speed in the table, without a few particles [m/s]."""
        velocities = self._store.table[VELOCITY : VELOCITY + 3, : self._store.layout.slot_count][:, self._store.live].astype(np.float64)
        squared = (velocities * velocities).sum(axis=0)
        if len(squared) <= SPRAY:
            return 0.0
        return math.sqrt(np.partition(squared, len(squared) - 1 - SPRAY)[len(squared) - 1 - SPRAY])

    def _pressing_speed(self) -> float:
        """The speed whose modulus would be enough for the present compression [m/s], right after a sort."""
        slots = np.flatnonzero(self._store.live)
        numbers = self._store.instances_of(slots)
        compression = np.maximum(0.0, 1.0 - self._store.table[STATE, slots].astype(np.float64))
        fastest = 0.0
        for name in self._names:
            theirs = [number for number in self._followers if self._instances[number].name == name]
            its = compression[np.isin(numbers, theirs)]
            if len(its):
                strain = math.sqrt(float((its * its).mean()))
                fastest = max(fastest, math.sqrt(strain / MOST_COMPRESSED) * self._instances[theirs[0]].law.wave_speed() / SOUND_SHARE)
        return fastest
