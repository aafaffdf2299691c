"""Pinning: particles follow the places where they were emitted, which move with their emitter (see `pin_targets`).

At full strength a particle is fixed to its target; with less, a spring pulls it there. No state is stored between substeps, so that a
simulation can be resumed.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..scene.animation import value_at
from ..scene.description import Scene
from ..transfer.blocks import ARENA, BLOCK, NODE
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import POSITION
from ..transfer.scheme import Scheme
from .emission import Batch
from .pin_targets import PinnedPlaces, PinTargets, places_of
from .pinned_particles import PinnedParticles, PinSprings, fix_nodes, fix_particles, pull_particles, scatter_pinned

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# time over which the speed of targets is measured [frames]
SPEED_INTERVAL = 1e-3


class PinnedGroups(NamedTuple):
    """Groups of pinned particles, from one sort to the next: those of one block and one velocity field share an arena.

    Attributes:
        first: (groups + 1,) first pinned particle of each group, and their number at the end.
        group_of_block: (blocks, fields) number of the group, or -1.
        near: the node blocks that the groups reach.
        arenas: (groups, numbers of an arena).
        held: (node blocks,) the nodes that `Pins.fix_nodes` fixed, a bit for each.
    """

    first: Ints
    group_of_block: Ints
    near: Ints
    arenas: Floats
    held: Ints


class Pins:
    """The pinned particles of a scene.

    Attributes:
        places: of all pinned particles emitted so far.
        blocks: the particle blocks that contain pinned particles, as of the last sort.
        speed: largest speed of a target, approximately [m/s].
        spring_speed: greatest speed that springs can cause [m/s], from positions at the last sort.
        reach: how far fixed particles move at most along an axis in this substep [cells].
    """

    def __init__(self, scene: Scene) -> None:
        self.places = PinnedPlaces.empty()
        self.blocks = np.zeros(0, np.int64)
        self.speed = self.spring_speed = 0.0
        self.reach = 0.0
        self._emitters = scene.emitters
        self._solver = scene.solver
        self._frame_rate = 1.0 / scene.time.frame_seconds
        self._is_used = any(emitter.has_pins for emitter in scene.emitters)
        self._targets = PinTargets(scene.emitters, self._frame_rate)
        self._springs = PinSprings(*np.zeros((3, len(scene.emitters))))
        self._frame = 0.0
        self._live = self.places
        self._pinned = _pinned_particles(self.places, np.zeros(0, np.int64), np.zeros((0, 3), np.int64))
        self._groups: PinnedGroups | None = None

    def add(self, batch: Batch, first_id: int, frame: float) -> None:
        """Add an emitter's new particles, if it pins any, at a moment in frames."""
        emitter = self._emitters[batch.emitter_index]
        if emitter.has_pins:
            self.places = self.places.joined(places_of(emitter, batch, first_id, frame, self._frame_rate))

    @property
    def slots(self) -> Ints:
        """The slots of the pinned particles in the table, as of the last sort."""
        return self._pinned.slots

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The pinned places for a checkpoint; empty if no emitter pins particles."""
        return self.places.arrays() if self._is_used else {}

    def load(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Restore the arrays that `snapshot` returned."""
        # a checkpoint of the scene that this one continues has no pinned places if that pinned no particles
        if self._is_used and "pinned_id" in snapshot:
            self.places = PinnedPlaces.from_arrays(snapshot)

    def find(self, store: ParticleStore, frame: float) -> None:
        """Find the pinned particles in the table after a sort, at a moment in frames."""
        if len(self.places.id) == 0:
            return
        ids = store.ids[: store.layout.slot_count]
        place_of_id = np.full(max(int(ids.max(initial=0)), int(self.places.id[-1])) + 1, -1, np.int64)
        place_of_id[self.places.id] = np.arange(len(self.places.id))
        place = np.where(ids >= 0, place_of_id[ids], -1)
        slots = np.flatnonzero(place >= 0)
        self._live = self._targets.numbered(self.places.taken(place[slots]))
        run = np.searchsorted(store.layout.first, slots, side="right") - 1
        block = run // store.instance_count
        self.blocks = np.unique(block)
        self._groups = _grouped(store, run)
        self.reach = 0.0
        self._pinned = pinned = _pinned_particles(self._live, slots, store.layout.coordinates[block])
        self._targets.find(self._live, frame + SPEED_INTERVAL, pinned.next_targets)
        self._targets.find(self._live, frame, pinned.targets)
        self.speed = self._farthest_move() * self._frame_rate / SPEED_INTERVAL
        # a spring of frequency w that is stretched by d can cause a speed of w d
        cells = store.table[POSITION : POSITION + 3, slots].T + BLOCK * pinned.blocks
        stretches = np.linalg.norm(pinned.targets - self._solver.grid_spacing * cells, axis=1)
        self.spring_speed = float((self._springs.frequencies[pinned.emitters] * stretches).max(initial=0.0))

    def move_to(self, frame: float) -> None:
        """Evaluate the emitters' pin settings at a moment, in frames."""
        self._frame = frame
        if not self._is_used:
            return
        for number, emitter in enumerate(self._emitters):
            self._springs.strengths[number] = value_at(emitter, "goal", frame)
            self._springs.frequencies[number] = 2.0 * math.pi * value_at(emitter, "goal_frequency", frame)
            self._springs.damping_ratios[number] = value_at(emitter, "goal_damping", frame)

    def pull(self, store: ParticleStore, scheme: Scheme, dt: float) -> None:
        """Set or change velocities in the table for a substep [s], before it is scattered."""
        pinned, springs, groups = self._pinned, self._springs, self._groups
        if groups is None or len(pinned.slots) == 0:
            return
        self._targets.find(self._live, self._frame + dt * self._frame_rate, pinned.next_targets)
        spacing, is_plane = self._solver.grid_spacing, self._solver.dimension == 2
        pull_particles(store.table, pinned, springs, dt, spacing, self._solver.max_displacement * spacing, is_plane)
        self.reach = float(pinned.moves.max())
        scatter_pinned(scheme, store.table, pinned, springs, groups.first, spacing, groups.arenas)

    def fix_nodes(self, store: ParticleStore) -> None:
        """Move the nodes around fixed particles with them."""
        groups, layout = self._groups, store.layout
        if groups is not None and len(self._pinned.slots):
            shared = layout.node_arenas, layout.node_fields, groups.group_of_block, groups.arenas
            fix_nodes(store.nodes, groups.near, *shared, groups.held)

    def held_nodes(self, store: ParticleStore) -> Ints:
        """The nodes that the last `fix_nodes` fixed, (node blocks,): a bit for each; bodies that meet these cannot move them."""
        groups = self._groups
        return np.zeros(store.layout.node_count, np.int64) if groups is None or len(self._pinned.slots) == 0 else groups.held

    def fix(self, store: ParticleStore, dt: float) -> None:
        """Move fixed particles to their targets after the substep."""
        pinned = self._pinned
        if len(pinned.slots) == 0:
            return
        fix_particles(store.table, pinned, self._springs, dt, self._solver.dimension == 2)
        self.speed = max(self.speed, self._farthest_move() / dt)
        self._pinned = pinned._replace(targets=pinned.next_targets, next_targets=pinned.targets)

    def _farthest_move(self) -> float:
        """The greatest distance that a target moves in the substep [m]."""
        return float(np.linalg.norm(self._pinned.next_targets - self._pinned.targets, axis=1).max(initial=0.0))


def _grouped(store: ParticleStore, run: Ints) -> PinnedGroups:
    """The groups of pinned particles in these runs, (n,) ascending."""
    layout, field_count = store.layout, len(store.fields)
    block, instance = np.divmod(run, store.instance_count)
    # the particles of a group lie one after another
    groups, first = np.unique(block * field_count + np.array(store.field_of_instance)[instance], return_index=True)
    group_of_block = np.full((len(layout.keys), field_count), -1)
    group_of_block.reshape(-1)[groups] = np.arange(len(groups))
    around = (each[group_of_block[:, field] >= 0] for field, each in enumerate(layout.field_neighbors))
    near = np.unique(np.concatenate([each.reshape(-1) for each in around]))
    arenas = np.empty((len(groups), NODE * ARENA**store.dimension))
    held = np.zeros(layout.node_count, np.int64)
    return PinnedGroups(np.append(first, len(block)), group_of_block, near[near < layout.node_count], arenas, held)


def _pinned_particles(places: PinnedPlaces, slots: Ints, blocks: Ints) -> PinnedParticles:
    """Pinned particles with empty targets and places."""
    targets, next_targets, positions = np.empty((3, len(slots), 3))
    return PinnedParticles(slots, blocks, places.emitter, places.share, targets, next_targets, positions, np.zeros(len(slots)))
