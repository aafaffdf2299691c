"""Frames from the solver's state: the attributes of all particles, in order of id, and statistics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..bonds import Bonds
from ..contact.coupling import RigidBodies
from ..emission.emission import Batch
from ..particles import AGE, BIRTH, DAMAGE, TEMPERATURE, Frame, FrameStatistics, Moment, frame_attributes
from ..scene.description import Scene
from ..transfer.layout import PIECE_COUNT
from ..transfer.output import masses_around, totals, world_positions
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import MASS, VELOCITY, VOLUME
from ..transfer.scheme import scheme_of
from .crushed_particles import find_crushed
from .deformation import deformations
from .heat import Heat
from .material_instances import MaterialInstance

# prefix of the names of painted values in a checkpoint
_CARRIED = "painted "


@dataclass(frozen=True)
class Provenance:
    """The origin of every particle ever emitted, by id.

    Attributes:
        emitter: number of the emitter (n,).
        birth: time of emission [s] (n,).
        rest_position: [m] (n, 3).
        carried: painted values that frames carry: name -> (n, components), 0 where an emitter has none.
    """

    emitter: NDArray[np.int32]
    birth: NDArray[np.float64]
    rest_position: NDArray[np.float32]
    carried: Mapping[str, NDArray[np.float32]]

    @classmethod
    def empty(cls, carried: Mapping[str, int]) -> "Provenance":
        """The provenance of no particles; `carried` gives the number of components of each painted value."""
        nothing = {name: np.zeros((0, components), np.float32) for name, components in carried.items()}
        return cls(np.zeros(0, np.int32), np.zeros(0), np.zeros((0, 3), np.float32), nothing)

    def extended(self, batch: Batch, birth: float) -> "Provenance":
        """This provenance with the particles of a batch appended."""
        position, carried = batch.points.position, batch.painted.carried
        count = len(position)
        return Provenance(
            np.concatenate([self.emitter, np.full(count, batch.emitter_index, np.int32)]),
            np.concatenate([self.birth, np.full(count, birth)]),
            np.concatenate([self.rest_position, position.astype(np.float32)]),
            {
                name: np.concatenate([values, carried.get(name, np.zeros((count, values.shape[1]), np.float32))])
                for name, values in self.carried.items()
            },
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        carried = {f"{_CARRIED}{name}": values for name, values in self.carried.items()}
        return {"emitter": self.emitter, "birth": self.birth, "rest_position": self.rest_position, **carried}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Provenance":
        carried = {name.removeprefix(_CARRIED): values for name, values in arrays.items() if name.startswith(_CARRIED)}
        return cls(arrays["emitter"], arrays["birth"], arrays["rest_position"], carried)

    def births(self, scene: Scene) -> dict[str, NDArray[Any]]:
        """The births of all particles; see `Frame.births`."""
        materials = list(scene.materials)
        material_of = np.array([materials.index(emitter.material) for emitter in scene.emitters], np.int32)
        carried = {name: values if values.shape[1] > 1 else values[:, 0] for name, values in self.carried.items()}
        own = {"emitter_index": self.emitter, "material_index": material_of[self.emitter], "rest_position": self.rest_position}
        return {**own, BIRTH: self.birth, **carried}

    def __len__(self) -> int:
        return len(self.emitter)


class Work(NamedTuple):
    """What was done before a frame.

    Attributes:
        deleted: particles removed since the start.
        substeps: since the previous frame; step_seconds: the wall time of these [s].
    """

    deleted: int
    substeps: int
    step_seconds: float


def make_frame(
    moment: Moment,
    scene: Scene,
    instances: list[MaterialInstance],
    store: ParticleStore,
    provenance: Provenance,
    *,
    work: Work,
    rigid: RigidBodies,
    bonds: Bonds | None,
    heat: Heat,
) -> Frame:
    """The frame of the current state at a moment; see `particles.frame_attributes`. The particles' masses must be on the nodes."""
    time = scene.time.seconds_at(moment.frame)
    slots = _slots_by_id(store, len(provenance))
    ids = store.ids[slots]
    layout = store.layout
    run = np.searchsorted(layout.first, slots, side="right") - 1
    position = np.empty((len(slots), 3), np.float32)
    world_positions(store.table, slots, run // store.instance_count, layout.coordinates, scene.solver.grid_spacing, position)
    volume_ratio, stress, rotation, stretch = deformations(instances, store, slots, run % store.instance_count)
    births = provenance.births(scene)
    arrays = {
        "position": position,
        "velocity": store.table[VELOCITY : VELOCITY + 3, slots].T,
        "id": ids,
        "material_index": births["material_index"][ids],
        "emitter_index": births["emitter_index"][ids],
        "volume_ratio": volume_ratio,
        "density_ratio": _density_ratios(store, slots, run, scene),
        "stress": stress,
        AGE: time - births[BIRTH][ids],
        "rest_position": births["rest_position"][ids],
        "rotation": rotation,
        "stretch": stretch,
        "scale": store.table[VOLUME, slots] ** (1.0 / scene.solver.dimension),
    }
    if bonds is not None:
        arrays[DAMAGE] = np.maximum(bonds.damage(len(provenance))[ids], _cracking(instances, store, slots, run % store.instance_count))
    if heat.is_used:
        arrays[TEMPERATURE] = heat.temperatures(ids)
    attributes = frame_attributes(scene.carried, tears=bonds is not None, is_heated=heat.is_used)
    arrays |= {name: births[name][ids] for name in scene.carried}
    shown_arrays = {name: np.ascontiguousarray(arrays[name], dtype=each.dtype) for name, each in attributes.items()}
    mass, *momentum, energy = _totals(store)
    statistics = FrameStatistics(
        particles=len(slots),
        deleted=work.deleted,
        substeps=work.substeps,
        kinetic_energy=energy,
        momentum=(momentum[0], momentum[1], momentum[2]),
        mass=mass,
        step_seconds=work.step_seconds,
        crushed=int(find_crushed(scene, arrays["density_ratio"], arrays["emitter_index"]).sum()),
    )
    poses, pieces = rigid.poses(), rigid.new_pieces()
    return Frame(moment.number, time, shown_arrays, statistics, moment.part, moment.parts, poses, births, bonds, pieces)


def _cracking(
    instances: list[MaterialInstance], store: ParticleStore, slots: NDArray[np.int64], instance: NDArray[np.int64]
) -> NDArray[np.float32]:
    """How far particles are cracked (n,), by their slots and instances."""
    damage = np.zeros(len(slots), np.float32)
    its = np.array([each.law.breaks for each in instances])[instance]
    damage[its] = store.states(1, slots[its])[0]
    return damage


def _density_ratios(store: ParticleStore, slots: NDArray[np.int64], run: NDArray[np.int64], scene: Scene) -> NDArray[np.float64]:
    """The mass density at particles over their rest density, shape (n,).

    Particles gather the density from the nodes of their velocity field, so near a surface or a collider it is less than inside.
    """
    solver, layout, scheme = scene.solver, store.layout, scheme_of(scene.solver)
    mass, block = np.zeros(len(slots)), run // store.instance_count
    field = np.asarray(store.field_of_instance)[run % store.instance_count]
    for number, neighbors in enumerate(layout.field_neighbors):
        its = np.flatnonzero(field == number)
        around = np.empty(len(its))
        masses_around(scheme, store.table, slots[its], block[its], neighbors, store.nodes, around)
        mass[its] = around
    rest_density = store.table[MASS, slots].astype(np.float64) / store.table[VOLUME, slots]
    return mass / (rest_density * solver.grid_spacing**solver.dimension)


def _slots_by_id(store: ParticleStore, id_count: int) -> NDArray[np.int64]:
    """The slots of the particles that are present, in order of id."""
    live = np.flatnonzero(store.live)
    slot_of_id = np.full(id_count, -1, np.int64)
    slot_of_id[store.ids[live]] = live
    return slot_of_id[slot_of_id >= 0]


def _totals(store: ParticleStore) -> list[float]:
    """Mass [kg], momentum [kg m/s] (3) and kinetic energy [J]."""
    pieces = np.zeros((PIECE_COUNT, 5))
    totals(store.particles, pieces)
    return [float(value) for value in pieces.sum(axis=0)]
