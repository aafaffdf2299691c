"""Heat: the enthalpy of particles, its conduction on the grid, and its exchange with colliders, air and force fields.

Heat moves slowly, so it has steps of its own, after the sort of each frame. In between, particles carry it along, and substeps cost
nothing.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contact.obstacles import ObstacleGroup
from ..errors import SceneError
from ..scene.animation import value_at
from ..scene.description import Scene
from ..transfer.blocks import BLOCK
from ..transfer.heat_passes import BLEND, GATHERED, NODE_VALUES, conduct, gather_heat, warm_nodes
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import MASS, VOLUME
from .heat_sources import Contents, exchange_with_air, exchange_with_colliders, fields_at, heat_in_fields, touching

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# of an emitter without a temperature, if there is no air either [degrees C]
ROOM_TEMPERATURE = 20.0
MOST_STEPS = 1000


class Heat:
    """The heat of a simulation's particles. Does nothing in scenes without temperatures.

    Attributes:
        is_used: whether heat is simulated.
        enthalpy: of every particle ever emitted, by id [J/kg].
        has_changed: whether a step was taken since this was last set to False; so after loading, too.
    """

    def __init__(self, scene: Scene, store: ParticleStore) -> None:
        self.is_used = scene.is_heated
        self.enthalpy = np.zeros(0)
        self.has_changed = True
        self._emitter = np.zeros(0, np.int32)
        self._scene, self._store = scene, store
        self._moment = float(scene.time.frame_start)
        self._thermals = [scene.materials[emitter.material].thermal for emitter in scene.emitters]
        self._speed = 1.0 if scene.solver.heat_speed is None else scene.solver.heat_speed
        self._longest = longest_step(scene) if self.is_used else math.inf

    def add(self, emitter: int, count: int, frame: float) -> None:
        """Add the next particles of an emitter, at a moment in frames."""
        if not self.is_used:
            return
        thermal, temperature = self._thermals[emitter], start_temperature(self._scene, emitter, frame)
        enthalpy = temperature if thermal is None else thermal.enthalpy(temperature)
        self.enthalpy = np.append(self.enthalpy, np.full(count, enthalpy))
        self._emitter = np.append(self._emitter, np.full(count, emitter, np.int32))

    def temperatures(self, ids: NDArray[np.int32]) -> Floats:
        """The temperatures of particles [degrees C], (n,)."""
        return self._by_emitter(ids, lambda thermal, its: its if thermal is None else thermal.temperature(its))

    def melted(self, ids: NDArray[np.int32]) -> Floats:
        """The melted shares of particles, (n,)."""
        return self._by_emitter(ids, lambda thermal, its: 0.0 * its if thermal is None else thermal.melted(its))

    def emitters(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """The numbers of the emitters of particles, (n,)."""
        return self._emitter[ids]

    def _by_emitter(self, ids: NDArray[np.int32], compute: Any) -> Floats:
        enthalpy, emitter = self.enthalpy[ids], self._emitter[ids]
        result = np.empty(len(ids))
        for number in np.unique(emitter):
            its = emitter == number
            result[its] = compute(self._thermals[number], enthalpy[its])
        return result

    def advance(self, frame: float, obstacles: Sequence[ObstacleGroup]) -> None:
        """Advance heat to a moment, in frames, right after a sort.

        Args:
            obstacles: all colliders and walls, in their poses at the moment.
        """
        passed = frame - self._moment
        if not self.is_used or passed <= 0.0:
            return
        self._moment, self.has_changed = frame, True
        seconds = passed * self._scene.time.frame_seconds * self._speed
        step = _Step(self._scene, self._store, frame, obstacles)
        if not len(step.slots):
            return
        count = max(1, math.ceil(seconds / self._longest))
        for _ in range(count):
            self._step(step, seconds / count)

    def _step(self, step: "_Step", dt: float) -> None:
        ids = self._store.ids[step.slots]
        contents = self._contents(step, ids)
        enthalpy = self.enthalpy[ids]
        solver = self._scene.solver
        change, seen, exposure = step.conducted(contents, dt, solver.grid_spacing).T
        temperature = contents.temperature
        share = BLEND * contents.conductivity * contents.volume / (contents.mass * contents.capacity) * (dt / solver.grid_spacing**2)
        enthalpy += contents.capacity * (change + share * (seen - temperature))
        self.enthalpy[ids] = enthalpy
        contents = self._contents(step, ids)
        heat = exchange_with_colliders(step.touching, contents, dt, solver.grid_spacing)
        ambient = value_at(solver, "ambient_temperature", step.frame)
        if ambient is not None:
            heat += exchange_with_air(contents, np.where(step.is_covered, 0.0, exposure), ambient, dt)
        heat += heat_in_fields(step.fields, contents, dt)
        self.enthalpy[ids] += heat

    def _contents(self, step: "_Step", ids: NDArray[np.int32]) -> Contents:
        enthalpy, emitter = self.enthalpy[ids], self._emitter[ids]
        contents = Contents.empty(step.mass, step.volume)
        for number in np.unique(emitter):
            its = np.flatnonzero(emitter == number)
            contents.fill(its, self._thermals[number], enthalpy[its])
        return contents

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """What a simulation is resumed with; nothing without heat."""
        return {"heat_enthalpy": self.enthalpy.copy()} if self.is_used else {}

    def load(self, snapshot: Mapping[str, NDArray[Any]], frame: float) -> None:
        """Restore what `snapshot` returned at a moment in frames, after it has been checked."""
        self._moment = frame
        if self.is_used:
            self.enthalpy = np.array(snapshot["heat_enthalpy"])
            self._emitter = np.array(snapshot["emitter"], np.int32)


class _Step:
    """The particles and grid of a step of heat, and what acts on them. Nothing moves during it."""

    def __init__(self, scene: Scene, store: ParticleStore, frame: float, obstacles: Sequence[ObstacleGroup]) -> None:
        self.frame = frame
        self._store, layout = store, store.layout
        self.slots = np.flatnonzero(store.live)
        self.mass, self.volume = (store.table[row, self.slots].astype(np.float64) for row in (MASS, VOLUME))
        self._cell = scene.solver.grid_spacing**scene.solver.dimension
        has_air = value_at(scene.solver, "ambient_temperature", frame) is not None
        self.touching, self.is_covered = touching(scene, store, self.slots, obstacles, frame, has_air=has_air)
        self.fields = fields_at(scene, store, self.slots, frame)
        count = len(layout.node_keys)
        shape = (count + 1, BLOCK**store.dimension)
        self._nodes, self._changes = np.zeros((*shape, NODE_VALUES)), np.zeros((*shape, GATHERED))
        self._around = layout.plain_neighbors(np.arange(count))
        parity = (layout.coordinates & 1) @ np.array([4, 2, 1])
        self._colors = [np.flatnonzero(parity == number) for number in np.unique(parity)]
        self._values = np.zeros((layout.slot_count, NODE_VALUES))
        self._gathered = np.zeros((layout.slot_count, GATHERED))

    def conducted(self, contents: Contents, dt: float, spacing: float) -> Floats:
        """What particles gather from a step of conduction [s], (n, GATHERED)."""
        values, store = self._values, self._store
        conductance = contents.volume * contents.conductivity
        columns = (contents.mass * contents.capacity, conductance, conductance * contents.temperature, contents.volume / self._cell)
        values[self.slots] = np.stack(columns, axis=1)
        self._nodes[:] = 0.0
        for blocks in self._colors:
            warm_nodes(store.particles, blocks, store.layout.places, values, self._nodes)
        conduct(self._nodes, self._around, dt * (1.0 - 0.25 * BLEND) / spacing**2, spacing, self._changes)
        gather_heat(store.particles, np.arange(len(store.layout.keys)), store.layout.places, values, self._changes, self._gathered)
        return self._gathered[self.slots]


def start_temperature(scene: Scene, emitter: int, frame: float) -> float:
    """The temperature of an emitter's new particles [degrees C]: its own, that of the air, or that of a room."""
    for own in (value_at(scene.emitters[emitter], "temperature", frame), value_at(scene.solver, "ambient_temperature", frame)):
        if own is not None:
            return float(own)
    return ROOM_TEMPERATURE


def longest_step(scene: Scene) -> float:
    """The longest stable step of conduction [s]: h^2 rho c / (2 d k).

    Raises:
        SceneError: a frame would take too many.
    """
    solver, longest = scene.solver, math.inf
    for emitter in scene.emitters:
        material = scene.materials[emitter.material]
        diffusivity = 0.0 if material.thermal is None else material.thermal.greatest_diffusivity
        if diffusivity > 0.0:
            density = material.law.density * emitter.mass_scale * least_painted_density(emitter)
            step = solver.grid_spacing**2 * density / (2.0 * solver.dimension * diffusivity)
            seconds = scene.time.frame_seconds * (solver.heat_speed or 1.0)
            if seconds > MOST_STEPS * step:
                raise SceneError(
                    f"heat needs more than {MOST_STEPS} steps per frame on this grid, each of {step:.3g} s",
                    "use a smaller `conductivity` or `heat_speed`, or a larger `grid_spacing`",
                    subject=f'Material "{material.name}"',
                )
            longest = min(longest, step)
    return longest


def least_painted_density(emitter: Any) -> float:
    """The least factor on the density that is painted on an emitter."""
    painting = emitter.painting
    return float(painting.values["density"].min()) if painting is not None and "density" in painting.values else 1.0
