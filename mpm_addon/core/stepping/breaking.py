"""Breaking: what cracks have cut off becomes a fragment, a body with a velocity field of its own.

A crack is a strip of particles without strength, about a cell wide. Fragments are what whole material on both sides of it is joined to:
particles that are not cracked and that bonds join form *cores*, and the cracked particles between them go with the core that most of their
neighbors belong to. So the two faces of a crack lie in the middle of its strip, the bonds between them part, and no crumbs are left over.
At the faces the material is whole: the strip gets its strength back. Where everything is cracked, as under a hard impact, there are no
cores; there, bonds part once they are stretched, and leave crumbs.

Fragments that are near each other have different velocity fields, so that they separate freely and are in contact like different bodies.
Crumbs share the field that they were in.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..scene.description import Scene
from ..transfer.bond_passes import join_particles
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import STATE
from .coloring import colored, near_pairs
from .material_instances import MaterialInstance
from .tearing import Tearing

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Damage from which a particle counts as cracked: what is left of its strength is less than what the crack took.
CRACKED = 0.9
# Smaller cores stay with a neighbor, and smaller fragments are crumbs [particles].
LEAST_CORE = 24
# A bond of a cracked particle parts at this length over that at rest: its particles are then about a cell apart.
LOOSE_STRETCH = 2.0
_NONE = -1


class Fragments(NamedTuple):
    """The fragments of the brittle particles that are present, n of them in order of id.

    Attributes:
        slots, ids, instances: of the particles, (n,).
        number: of each one's fragment, from 0 in order of their least ids, (n,).
    """

    slots: Ints
    ids: NDArray[np.int32]
    instances: Ints
    number: Ints


class Breaking:
    """The fragments of a simulation's brittle particles. Does nothing in scenes without such materials.

    Attributes:
        is_used: whether a material breaks.
    """

    def __init__(self, scene: Scene, instances: Sequence[MaterialInstance], store: ParticleStore, tearing: Tearing) -> None:
        self._breaks = np.array([instance.law.breaks for instance in instances])
        self.is_used = bool(self._breaks.any())
        self._store = store
        self._tearing = tearing
        self._spacing = scene.solver.grid_spacing
        self._variants = _variants(instances) if self.is_used else np.zeros((0, 0), np.int64)
        self._fields = np.array([instance.field for instance in instances])
        # ids of the particles that are cracked, at the last sort and at the one before
        self._cracked = self._saved = np.zeros(0, np.int32)
        self._fragment, self._known = np.zeros(0, np.int64), (0, 0, 0, 0)

    def load(self) -> None:
        """Start from the particles of a checkpoint, right after they were sorted."""
        if self.is_used:
            slots, ids, _ = self._present()
            self._cracked = self._saved = ids[self._store.table[STATE, slots] >= CRACKED]

    def begin(self) -> None:
        """Start from the particles right after a sort."""
        self._saved = self._cracked

    def restore(self) -> None:
        """Return to the state at the last sort."""
        self._cracked = self._saved

    def separate(self, time: float) -> None:
        """Find new fragments right before a sort, which gives those that are near each other different fields.

        Args:
            time: [s since the first frame], when bonds between new fragments part.
        """
        if not self.is_used:
            return
        slots, ids, instances = self._present()
        if not len(slots):
            return
        damage = self._store.table[STATE, slots]
        is_cracked = damage >= CRACKED
        if not np.array_equal(ids[is_cracked], self._cracked):
            damage[self._cut(ids, is_cracked, time)] = 0.0
            is_cracked = damage >= CRACKED
            self._cracked = ids[is_cracked]
        position = self._store.positions(self._spacing)[slots] / self._spacing
        if is_cracked.any():
            self._tearing.part(self._stretched(ids, is_cracked, position), time)
        chosen = self._recolored(ids, instances, position)
        its = np.flatnonzero((chosen != instances) | (damage != self._store.table[STATE, slots]))
        if len(its):
            # by slot, as they lie in the table
            its = its[np.argsort(slots[its])]
            table = self._store.table[:, slots[its]]
            table[STATE] = damage[its]
            self._store.reassign(slots[its], chosen[its], table)

    def fragments(self) -> Fragments:
        """The present fragments, right after `separate`."""
        slots, ids, instances = self._present()
        _, number = np.unique(self._fragments(ids)[ids], return_inverse=True)
        return Fragments(slots, ids, instances, number.ravel())

    def _present(self) -> tuple[Ints, NDArray[np.int32], Ints]:
        """The slots of brittle particles in order of id, their ids and instances."""
        store = self._store
        first, count = store.layout.first, store.instance_count
        instances = np.repeat(np.arange(len(first) - 1) % count, np.diff(first))
        slots = np.flatnonzero(store.live & self._breaks[instances])
        slots = slots[np.argsort(store.ids[slots])]
        return slots, store.ids[slots], instances[slots]

    def _cut(self, ids: NDArray[np.int32], is_cracked: Mask, time: float) -> Mask:
        """Part the bonds between the cores; returns which of the particles (n,) are at the new faces, where the material is whole again."""
        bonds, count = self._tearing.bonds, self._tearing.particle_count
        is_here, is_sound = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        is_here[ids], is_sound[ids] = True, ~is_cracked
        start, end = bonds.pairs.T
        joins = bonds.is_whole & is_here[start] & is_here[end]
        fragment = _roots(bonds.pairs, joins, count)
        core = _roots(bonds.pairs, joins & is_sound[start] & is_sound[end], count)
        size = np.bincount(core[is_sound], minlength=count)
        seed = np.where(is_sound & (size[core] >= LEAST_CORE), core, _NONE)
        cores = np.unique(seed[seed != _NONE])
        # cores of each fragment
        is_split = np.bincount(fragment[cores], minlength=count) > 1
        its = joins & is_split[fragment[start]]
        if not its.any():
            return np.zeros(len(ids), np.bool_)
        pairs = bonds.pairs[its].astype(np.int64)
        owner = _with_neighbors(seed, pairs)
        parted = np.flatnonzero(its)[owner[pairs[:, 0]] != owner[pairs[:, 1]]]
        self._tearing.part(parted, time)
        is_face = np.zeros(count, np.bool_)
        is_face[bonds.pairs[parted].reshape(-1)] = True
        is_near = is_face.copy()
        for here, there in ((0, 1), (1, 0)):
            is_near[pairs[is_face[pairs[:, here]], there]] = True
        return is_near[ids]

    def _stretched(self, ids: NDArray[np.int32], is_cracked: Mask, position: NDArray[np.float64]) -> Ints:
        """The bonds of cracked particles that are stretched so far that they part, from the positions [cells], (n, 3)."""
        bonds, count = self._tearing.bonds, self._tearing.particle_count
        place, may_part = np.full(count, _NONE), np.zeros(count, np.bool_)
        place[ids], may_part[ids] = np.arange(len(ids)), is_cracked
        start, end = bonds.pairs.T
        its = np.flatnonzero(bonds.is_whole & (may_part[start] | may_part[end]) & (place[start] != _NONE) & (place[end] != _NONE))
        length = np.linalg.norm(position[place[start[its]]] - position[place[end[its]]], axis=1)
        return its[length > LOOSE_STRETCH * self._tearing.lengths[its]]

    def _recolored(self, ids: NDArray[np.int32], instances: Ints, position: NDArray[np.float64]) -> Ints:
        """The instances of particles (n,) in fields that fragments near them do not have, from their positions [cells], (n, 3)."""
        fragment = self._fragments(ids)[ids]
        _, number, sizes = np.unique(fragment, return_inverse=True, return_counts=True)
        is_large = sizes >= LEAST_CORE
        if np.count_nonzero(is_large) < 2:
            return instances
        its = np.flatnonzero(is_large[number.ravel()])
        number = (np.cumsum(is_large) - 1)[number.ravel()[its]]
        fields = np.zeros(int(number.max()) + 1, np.int64)
        fields[number] = self._fields[instances[its]]
        chosen = colored(fields, sizes[is_large], near_pairs(position[its], number), self._variants.shape[1])
        result = instances.copy()
        result[its] = self._variants[instances[its], chosen[number]]
        return result

    def _fragments(self, ids: NDArray[np.int32]) -> Ints:
        """The fragment of each particle ever emitted, (ids,): the least id that bonds between present particles join it to."""
        bonds, count = self._tearing.bonds, self._tearing.particle_count
        # what is present may change without a change of its count
        known = len(bonds), int(np.count_nonzero(bonds.is_whole)), len(ids), int(ids.sum(dtype=np.int64))
        if known != self._known:
            is_here = np.zeros(count, np.bool_)
            is_here[ids] = True
            joins = bonds.is_whole & is_here[bonds.pairs[:, 0]] & is_here[bonds.pairs[:, 1]]
            self._fragment, self._known = _roots(bonds.pairs, joins, count), known
        return self._fragment


def _variants(instances: Sequence[MaterialInstance]) -> Ints:
    """For each instance, those that only differ in the field of its body, (instances, fields)."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, each in enumerate(instances):
        groups.setdefault((each.body, each.material_index, each.factors, each.temperature), []).append(number)
    most = max(len(its) for its in groups.values())
    variants = {number: its for its in groups.values() for number in its}
    return np.array([(variants[number] * most)[:most] for number in range(len(instances))], np.int64)


def _roots(pairs: NDArray[np.int32], joins: Mask, count: int) -> Ints:
    """The least of the `count` numbers that pairs join each to, (count,)."""
    roots = np.arange(count)
    join_particles(pairs, joins, roots)
    return roots


def _with_neighbors(seed: Ints, pairs: Ints) -> Ints:
    """The cores (n,) where each particle without one takes that of most of its neighbors, from the seeds outward.

    Args:
        seed: the core of each particle, (n,), or -1.
        pairs: neighbors, (m, 2).
    """
    owner = seed.copy()
    both = np.concatenate([pairs, pairs[:, ::-1]])
    while True:
        both = both[owner[both[:, 0]] == _NONE]
        its = both[owner[both[:, 1]] != _NONE]
        if not len(its):
            return owner
        votes = np.stack([its[:, 0], owner[its[:, 1]]], axis=1)
        choices, counts = np.unique(votes, axis=0, return_counts=True)
        # the last row of each particle is its most frequent choice, of equal ones the greatest
        order = np.lexsort((choices[:, 1], counts, choices[:, 0]))
        choices = choices[order]
        is_last = np.append(choices[1:, 0] != choices[:-1, 0], True)
        owner[choices[is_last, 0]] = choices[is_last, 1]
