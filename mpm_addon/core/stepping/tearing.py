"""Tearing: bonds between neighbors part where material is stretched too far, and what has lost a bond pulls no more."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bonds import WHOLE, Bonds, neighbors
from ..scene.description import Scene
from ..transfer.bond_passes import BondTable, Places, link_bonds, loosen_particles, measure_bonds
from ..transfer.layout import PIECE_COUNT
from ..transfer.particle_store import NewParticles, ParticleStore
from ..transfer.rest_passes import PLACE
from ..transfer.rows import POSITION, VOLUME
from .material_instances import MaterialInstance
from .rest_bodies import RestBodies

# lengths of bonds may grow by up to this factor faster than the greatest velocity gradient says
SAFETY = 2.0


class Tearing:
    """The bonds of a simulation's particles. Does nothing in scenes whose materials do not tear.

    Bonds are measured after each substep in which one may have become too long: while the greatest velocity gradient says that none
    can have, they are not. Every sort, and so every frame, begins anew.

    Attributes:
        is_used: whether a material tears.
        bonds: all bonds.
    """

    def __init__(self, scene: Scene, instances: Sequence[MaterialInstance], store: ParticleStore, rest: RestBodies) -> None:
        self.is_used = scene.tears
        self._instances = instances
        self._store = store
        self._rest = rest
        self._spacing = scene.solver.grid_spacing
        self.bonds = Bonds()
        self._lengths = np.zeros(0)
        self._is_loose = np.zeros(0, np.bool_)
        self._saved = self.bonds.parted, self._is_loose
        self._growth = 0.0
        self._links: list[Links] = []
        self._owners = np.zeros(0, np.int32)
        self._loose_slots = np.zeros(0, np.int64)
        self._stretches = np.zeros(PIECE_COUNT)

    @property
    def known(self) -> Bonds | None:
        """The bonds; None if no material tears."""
        return self.bonds if self.is_used else None

    @property
    def shown(self) -> Bonds | None:
        """The bonds for a frame, which change no more; None if no material tears."""
        return Bonds(self.bonds.pairs, self.bonds.parted.copy()) if self.is_used else None

    def add(self, new: NewParticles, rest_position: NDArray[np.float32]) -> None:
        """Bind new particles of one emitter; before the store is sorted.

        Args:
            new: the particles, whose ids follow one another.
            rest_position: where they are emitted [m], (n, 3).
        """
        if not self.is_used:
            return
        pairs = self.bonds.pairs
        if len(new.ids) > 1 and self._instances[int(new.instances[0])].law.has_bonds:
            spacing = float(new.table[VOLUME].mean(dtype=np.float64)) ** (1.0 / self._store.dimension)
            found = neighbors(rest_position.astype(np.float64), spacing) + int(new.ids[0])
            pairs = np.concatenate([pairs, found.astype(np.int32)])
        self._take(pairs, np.append(self.bonds.parted, np.full(len(pairs) - len(self.bonds), WHOLE)), int(new.ids[-1]) + 1)
        self._lengths = np.append(self._lengths, _lengths(rest_position, pairs[len(self._lengths) :] - int(new.ids[0]), self._spacing))

    def _take(self, pairs: NDArray[np.int32], parted: NDArray[np.float64], count: int) -> None:
        """Set the bonds, and the particles that have lost one."""
        self.bonds = Bonds(pairs, parted)
        self._is_loose = np.zeros(count, np.bool_)
        self._is_loose[pairs[~self.bonds.is_whole].reshape(-1)] = True

    @property
    def lengths(self) -> NDArray[np.float64]:
        """The lengths of bonds at rest [cells], (m,)."""
        return self._lengths

    @property
    def particle_count(self) -> int:
        """The number of particles ever emitted."""
        return len(self._is_loose)

    def part(self, bonds: NDArray[np.int64], time: float) -> None:
        """Part bonds right after a sort, before `begin`, at a time [s]. Their particles can still pull."""
        self.bonds.parted[bonds] = time

    def begin(self) -> None:
        """Find the bonds in the tables right after a sort, and after the bodies with a rest state have found theirs."""
        if not self.is_used:
            return
        self._saved = self.bonds.parted.copy(), self._is_loose.copy()
        stretches = np.array([instance.law.greatest_stretch for instance in self._instances])
        is_rest = [self._rest.includes(number) for number in range(len(self._instances))]
        self._links = [Links(self._store, POSITION, self.bonds, self._lengths, np.where(is_rest, np.inf, stretches))]
        if any(is_rest):
            store, numbers = self._rest.grid.store, self._rest.grid.parts.instances
            self._links.append(Links(store, PLACE, self.bonds, self._lengths, stretches[numbers]))
        ids, layout = self._store.ids, self._store.layout
        ids = ids[: layout.slot_count]
        # massless copies follow the last particle of their vectors
        owners = ids[np.maximum.accumulate(np.where(ids >= 0, np.arange(len(ids)), 0))]
        runs = _runs_of(self._store)
        # what breaks keeps its strength at the faces of cracks
        is_kept = np.array(is_rest) | np.array([instance.law.breaks for instance in self._instances])
        self._owners = np.where(is_kept[runs % len(is_kept)], len(self._is_loose), owners)
        self._loose_slots = self._slots_of(self._is_loose)
        self._growth = math.inf

    def _slots_of(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The slots of particles (ids,) that lose their strength, and of massless copies of them."""
        return np.flatnonzero(np.append(chosen, False)[self._owners]) if chosen.any() else np.zeros(0, np.int64)

    def restore(self) -> None:
        """Return to the state at the last sort."""
        if self.is_used:
            self._take(self.bonds.pairs, self._saved[0], len(self._saved[1]))

    def step(self, dt: float, end: float, gradient: float) -> None:
        """Let bonds part that have become too long in a substep.

        Args:
            dt: length of the substep [s].
            end: the time at its end [s].
            gradient: the greatest velocity gradient of its particles [1/s].
        """
        if not self.is_used or not len(self.bonds):
            return
        if len(self._loose_slots):
            loosen_particles(self._store.table, self._loose_slots, -math.inf, self._store.dimension)
        self._growth += SAFETY * dt * gradient
        if self._growth >= 0.0:
            self._part(end)

    def _part(self, time: float) -> None:
        found = [links.too_long(self._stretches) for links in self._links]
        greatest = max(stretch for _, stretch in found)
        self._growth = math.log(greatest) if greatest > 0.0 else -math.inf
        its = np.unique(np.concatenate([bonds for bonds, _ in found]))
        if not len(its):
            return
        self.bonds.parted[its] = time
        is_new = np.zeros(len(self._is_loose), np.bool_)
        is_new[self.bonds.pairs[its].reshape(-1)] = True
        is_new &= ~self._is_loose
        self._is_loose |= is_new
        # without their deformation they would spring back from a state that nothing holds
        loosen_particles(self._store.table, self._slots_of(is_new), 1.0, self._store.dimension)
        self._loose_slots = self._slots_of(self._is_loose)
        self._rest.loosen(np.flatnonzero(is_new))

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """What a simulation is resumed with; nothing without such materials."""
        if not self.is_used:
            return {}
        parted = np.flatnonzero(~self.bonds.is_whole)
        return {"bond_pair": self.bonds.pairs, "bond_parted": parted, "bond_time": self.bonds.parted[parted]}

    def load(self, snapshot: Mapping[str, NDArray[Any]], rest_position: NDArray[np.float32]) -> None:
        """Restore what `snapshot` returned, after it has been checked; rest_position: of all particles ever emitted [m], (n, 3)."""
        if self.is_used and "bond_pair" in snapshot:
            pairs = np.ascontiguousarray(snapshot["bond_pair"])
            parted = np.full(len(pairs), WHOLE)
            parted[snapshot["bond_parted"]] = snapshot["bond_time"]
            self._take(pairs, parted, len(rest_position))
            self._lengths = _lengths(rest_position, pairs, self._spacing)


class Links:
    """The bonds in a table, until its next sort.

    Args:
        store: the particles.
        row: the first of the three rows of positions relative to blocks [cells].
        bonds: all bonds.
        lengths: their lengths at rest [cells], (m,).
        stretches: for each instance of the store, the stretch at which they part.
    """

    def __init__(self, store: ParticleStore, row: int, bonds: Bonds, lengths: NDArray[np.float64], stretches: NDArray[np.float64]) -> None:
        self._store, self._row, count = store, row, len(bonds)
        ids = store.ids[: store.layout.slot_count]
        live = np.flatnonzero(ids >= 0)
        slots = np.full(max(int(ids.max(initial=-1)), int(bonds.pairs.max(initial=-1))) + 1, -1)
        slots[ids[live]] = live
        self._table = BondTable(np.zeros((count, 2), np.int32), np.zeros((count, 3), np.int8), np.ones(count, np.float32))
        self._is_over = np.zeros(count, np.bool_)
        coordinates = np.ascontiguousarray(store.layout.coordinates, np.int64)
        link_bonds(bonds.pairs, bonds.is_whole, Places(slots, _runs_of(store)), coordinates, stretches, lengths, self._table)

    def too_long(self, stretches: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
        """The bonds that are too long, which are not watched any more, and the greatest length of others over the longest."""
        measure_bonds(self._store.table, self._row, self._table, self._is_over, stretches)
        found = np.flatnonzero(self._is_over)
        self._table.ends[found, 0] = -1
        return found, float(stretches.max())


def _runs_of(store: ParticleStore) -> NDArray[np.int64]:
    """The run of each slot, (slots,)."""
    return np.repeat(np.arange(len(store.layout.first) - 1), np.diff(store.layout.first))


def _lengths(rest_position: NDArray[np.float32], pairs: NDArray[np.int32], spacing: float) -> NDArray[np.float64]:
    """The lengths of bonds at rest [cells], (m,)."""
    start, end = (rest_position[pairs[:, column]].astype(np.float64) for column in (0, 1))
    return np.linalg.norm(end - start, axis=1) / spacing
