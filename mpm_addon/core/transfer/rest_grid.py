"""Rest grids: bodies whose forces come from their rest state.

Each body has nodes in the space of its rest state. A rest node keeps its displacement and velocity from one substep to the next; together
they are the state of the body. Particles never change their places among these nodes, so the body stays whole however far it is stretched,
and F needs no history (total Lagrangian MPM; de Vaucorbeil, Nguyen and Hutchinson 2020). The grid in the world handles everything that
acts from outside: it receives the particles' momentum without their stress, and returns only what it has changed.

The particles in the rest state are in a store of their own, which is sorted only once. Knows neither scenes nor laws' parameters.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blocks import BLOCK, NODE, Grid
from .grid import update_grid
from .layout import Ints
from .particle_store import NewParticles, ParticleStore, aligned
from .parts import Parts
from .rest_nodes import accelerate_nodes, add_difference, change_nodes, find_change, move_nodes, push_nodes, sum_change
from .rest_passes import REST_ROW_COUNT, send_change, send_motion, show_strain, take_change, take_motion
from .rows import DEFORMATION, MASS, POSITION, VELOCITY, VELOCITY_GRADIENT, VOLUME
from .scatter import particles_to_grid
from .scheme import Scheme
from .table import LANE_ROW

Floats = NDArray[np.float64]
# the greatest factor on changes of velocity; usually, it is between two and three
MOST_LENGTHENED = 8.0
# the strength that is left to particles that have lost a bond: without any, nodes that hold nothing else would drift away
WEAK = 0.05
# the velocity among a node's four numbers; the last is its mass
_VECTOR = slice(0, 3)


@dataclass(frozen=True)
class RestPlaces:
    """The places of particles in the rest state, in order of id.

    Attributes:
        id: (n,).
        key: (n,) keys of their blocks.
        position: (3, n) relative to these [cells].
        part: (n,) the parts that they belong to.
    """

    id: NDArray[np.int32]
    key: Ints
    position: NDArray[Any]
    part: Ints

    @classmethod
    def empty(cls, dtype: Any) -> "RestPlaces":
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros((3, 0), dtype), np.zeros(0, np.int64))

    def joined(self, new: NewParticles, part: Ints) -> "RestPlaces":
        """These places, and those where new particles are emitted, with their parts (n,)."""
        position = new.table[POSITION : POSITION + 3]
        return RestPlaces(
            np.concatenate([self.id, new.ids]),
            np.concatenate([self.key, new.keys]),
            np.concatenate([self.position, position], axis=1),
            np.concatenate([self.part, part]),
        )

    def taken(self, chosen: NDArray[np.bool_]) -> "RestPlaces":
        return RestPlaces(self.id[chosen], self.key[chosen], np.ascontiguousarray(self.position[:, chosen]), self.part[chosen])


class RestGrid:
    """The rest nodes of all bodies that have any, and their particles in the rest state.

    Args:
        world: the particles in the world.
        scheme: of the transfers.
        spacing: [m].

    Attributes:
        store: the particles in the rest state.
        places: where they are.
        parts: the parts that they are torn into.
        spacing: cell size [m].
        displacement: (node blocks, block nodes, 3) of the rest nodes [m].
        velocity: likewise [m/s].
        mass: (node blocks, block nodes) [kg].
        slots: for each slot in the world, that in the rest state, -1 for other particles.
        is_near: (blocks,) the particle blocks in the world where something outside may act before the next sort.
    """

    def __init__(self, world: ParticleStore, scheme: Scheme, spacing: float) -> None:
        self._world = world
        self._scheme = scheme
        # changes of the gradient always come back, whatever the transfers in the world
        self._affine = scheme._replace(affine=1.0, flip_ratio=0.0)
        self.spacing = spacing
        self.places = RestPlaces.empty(world.dtype)
        self.parts = Parts(world.fields)
        self.store = self._empty_store()
        self.is_near = self._is_near = np.zeros(0, np.bool_)
        self._slots = np.zeros(0, np.int64)
        self._change = self._before = self._others = np.zeros((0, 0), world.dtype)
        self._lay_out()
        self._saved = self.displacement, self.velocity

    def _empty_store(self) -> ParticleStore:
        world = self._world
        fields = self.parts.fields
        count = max(1, len(self.parts.instances))
        return ParticleStore(count, world.dtype, world.dimension, row_count=REST_ROW_COUNT, fields=fields)

    def _lay_out(self) -> None:
        """Make the arrays of the nodes of the store."""
        count, block_nodes = self.store.layout.node_count, BLOCK**self._world.dimension
        self.displacement, self.velocity = np.zeros((2, count, block_nodes, 3))
        self.mass = np.zeros((count, block_nodes))
        self._moved, self._motion = (aligned((count + 1, NODE * block_nodes), self._world.dtype) for _ in range(2))
        self._origins = np.zeros((count, 3))
        self._motions = np.zeros(LANE_ROW * len(self.store.ids), self._world.dtype)
        self._is_near = np.ones(len(self.store.layout.keys), np.bool_)
        counts = np.diff(self.store.layout.first).reshape(-1, self.store.instance_count)
        self._is_there = [bool(counts[:, its].any()) for its in self.parts.fields]
        self._fields = sorted({int(field) for field, is_there in zip(self.parts.field, self._is_there, strict=True) if is_there})

    def build(self, places: RestPlaces, parts: Parts, sources: Ints) -> None:
        """Sort particles of the world into a new store. Nodes keep their displacement and velocity; new ones move with their particles.

        Args:
            places: of the particles.
            parts: the parts, at least those that there are now.
            sources: the part now whose nodes each of these takes over, (parts,).
        """
        world, old = self._world, self.store.layout
        before = self.displacement, self.velocity
        slot_of = np.full(int(places.id.max(initial=-1)) + 1, -1)
        live = np.flatnonzero(world.live)
        wanted = live[world.ids[live] < len(slot_of)]
        slot_of[world.ids[wanted]] = wanted
        self.places = places = places.taken(slot_of[places.id] >= 0)
        slots = slot_of[places.id]
        run = np.searchsorted(world.layout.first, slots, side="right") - 1
        table = np.zeros((REST_ROW_COUNT, len(slots)), world.dtype)
        for rows in (slice(VELOCITY, VELOCITY_GRADIENT + 9), MASS, VOLUME):
            table[rows] = world.table[rows, slots]
        table[POSITION : POSITION + 3] = places.position
        table[[DEFORMATION, DEFORMATION + 4, DEFORMATION + 8]] = 1.0
        self.parts = parts
        self.store = self._empty_store()
        self.store.sort(NewParticles(table, places.key, places.id, parts.instance_of(places.part, run % world.instance_count)))
        self._lay_out()
        sums = self._scattered()
        self.mass[:] = sums[..., 3]
        self.velocity[:] = sums[..., _VECTOR]
        new, kept = self._found(old.node_fields, old.node_keys[old.origins], sources)
        self.displacement[new], self.velocity[new] = before[0][kept], before[1][kept]

    def _found(self, fields: Ints, keys: Ints, sources: Ints) -> tuple[Ints, Ints]:
        """The numbers of the node blocks whose fields and keys are among the given ones (n,), and their places among these.

        Args:
            sources: the field whose nodes each part takes over, (parts,).
        """
        number_of = {each: number for number, each in enumerate(zip(fields.tolist(), keys.tolist(), strict=True))}
        layout = self.store.layout
        own = zip(sources[layout.node_fields].tolist(), layout.node_keys[layout.origins].tolist(), strict=True)
        pairs = [(number, number_of[each]) for number, each in enumerate(own) if each in number_of]
        found = np.array(pairs, np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def find(self) -> None:
        """Find the particles in the world after it has been sorted."""
        world, layout = self._world, self._world.layout
        ids = world.ids[: layout.slot_count]
        rest_ids = self.store.ids[: self.store.layout.slot_count]
        slot_of = np.full(max(int(ids.max(initial=-1)), int(rest_ids.max(initial=-1))) + 1, -1)
        at = np.flatnonzero(rest_ids >= 0)
        slot_of[rest_ids[at]] = at
        # massless copies follow the last particle of their vectors
        last = np.maximum.accumulate(np.where(ids >= 0, np.arange(len(ids)), 0))
        self.slots = slot_of[ids[last]] if len(ids) else np.zeros(0, np.int64)
        live = np.flatnonzero((self.slots >= 0) & (ids >= 0))
        self._world_slots = np.full(len(rest_ids), -1)
        self._world_slots[self.slots[live]] = live
        self._place_origins()
        blocks = np.repeat(np.arange(len(layout.keys)), np.diff(layout.first[:: world.instance_count]))
        rest = self.store.layout
        rest_run = np.searchsorted(rest.first, self.slots, side="right") - 1
        rest_block, instance = np.divmod(np.maximum(rest_run, 0), self.store.instance_count)
        self._offsets = np.zeros((len(ids), 3))
        self._slots = its = np.flatnonzero(self.slots >= 0)
        apart = rest.coordinates[rest_block[its]] - layout.coordinates[blocks[its]]
        self._offsets[its] = BLOCK * apart + self._origin_of_field[np.array(self.store.field_of_instance)[instance[its]]]
        self.see(np.ones(len(layout.keys), np.bool_))

    def _place_origins(self) -> None:
        """Choose a displacement for each field relative to which others are stored, so that single precision suffices [cells]."""
        layout = self.store.layout
        self._origin_of_field = np.zeros((len(self.parts), 3))
        for field in range(len(self.parts)):
            its = np.flatnonzero(layout.node_fields == field)
            if self._is_there[field] and len(its):
                heaviest = int(self.mass[its].argmax())
                self._origin_of_field[field] = self.displacement[its].reshape(-1, 3)[heaviest] / self.spacing
        self._origins = self._origin_of_field[layout.node_fields]

    def save(self) -> None:
        """Save the state at a sort, for `restore`."""
        self._saved = self.displacement.copy(), self.velocity.copy()

    def restore(self) -> None:
        """Return to the state that was saved last."""
        self.displacement, self.velocity = (each.copy() for each in self._saved)

    def _scattered(self) -> NDArray[Any]:
        """The velocity changes and masses of the nodes from those of the particles in the rest table, (node blocks, block nodes, 4)."""
        store, is_first = self.store, True
        for field, is_there in enumerate(self._is_there):
            if is_there:
                grid = store.grid(self.spacing, field)
                particles_to_grid(self._affine, store.particles, grid, self._is_near, is_first, 0.0, self._world.scratch, store.arenas)
        return self.summed()

    def shares_of(self, values: Floats) -> NDArray[Any]:
        """The means of values of the slots in the world (slots,) at the nodes, (node blocks, block nodes)."""
        table, its = self.store.table, np.flatnonzero(self._world_slots >= 0)
        table[VELOCITY : VELOCITY_GRADIENT + 9] = 0.0
        table[VELOCITY, its] = values[self._world_slots[its]]
        return self._scattered()[..., 0]

    def see(self, is_near: NDArray[np.bool_]) -> None:
        """Set where something outside may act before the next sort: (blocks,) in the world. To be called after `find`."""
        world, rest = self._world.layout, self.store.layout
        self.is_near = is_near
        blocks = np.repeat(np.arange(len(world.keys)), np.diff(world.first[:: self._world.instance_count]))
        self._near_slots = self._slots[is_near[blocks[self._slots]]]
        live = np.flatnonzero(self._world_slots >= 0)
        near = live[is_near[blocks[self._world_slots[live]]]]
        # one more parcel stays empty, for particles that nothing acts on
        self._change_parcels = np.zeros(LANE_ROW * (len(self.slots) + 1), self._world.dtype)
        self._parcels = np.full(len(self.store.ids), len(self.slots))
        self._parcels[near] = self._world_slots[near]
        block_of = np.repeat(np.arange(len(rest.keys)), np.diff(rest.first[:: self.store.instance_count]))
        self._is_near = np.zeros(len(rest.keys), np.bool_)
        self._is_near[block_of[near]] = True

    def summed(self) -> NDArray[Any]:
        """What was scattered to the nodes, summed and divided by their masses, (node blocks, block nodes, 4)."""
        store = self.store
        nothing = np.zeros(NODE * BLOCK, self._world.dtype)
        update_grid(store.arenas, store.layout.node_arenas, store.nodes, store.node_rows, nothing, store.node_speeds)
        return store.nodes.reshape(len(store.nodes), -1, NODE)[: store.layout.node_count]

    def weaken(self, is_loose: NDArray[np.bool_]) -> None:
        """Set which particles (ids,) have lost bonds, and so most of their strength."""
        ids = self.store.ids[: self.store.layout.slot_count]
        its = np.flatnonzero(self._world_slots >= 0)
        volume = self._world.table[VOLUME, self._world_slots[its]]
        self.store.table[VOLUME, its] = np.where(is_loose[ids[its]], WEAK * volume, volume)

    def strain_grid(self, field: int) -> Grid:
        """The nodes of a part for `strain_particles`: displacements and velocities."""
        return self.store.grid(self.spacing, field)._replace(nodes=self._moved, nodes_before=self._motion)

    def show_nodes(self) -> None:
        """Pass the state of the nodes to the kernels."""
        self.move(0.0)

    def take_forces(self) -> None:
        """Sum the forces that `strain_particles` has scattered."""
        self.summed()

    def push(self, dt: float) -> None:
        """Apply the forces for a substep of dt [s], and update the motion of the particles in the world that are near something."""
        push_nodes(self.store.nodes, dt, self.velocity, self._motion)
        if len(self._near_slots):
            self._show_motion(self._is_near, self._near_slots)

    def _show_motion(self, is_near: NDArray[np.bool_], slots: Ints) -> None:
        """Update positions, velocities and C of particles in the world, in slots (n,); is_near: (blocks,) in the rest state."""
        store = self.store
        for field, is_there in enumerate(self._is_there):
            if is_there:
                grid = store.grid(self.spacing, field)._replace(nodes=self._motion)
                send_motion(self._scheme, store.particles, grid, is_near, self._world.scratch, self._motions)
        take_motion(slots, self.slots[slots], self._offsets, self._motions, self._world.table)

    def note_nodes(self) -> None:
        """Record the velocities of the world's nodes before anything acts on them."""
        if len(self._near_slots):
            nodes = self._world_nodes
            if self._change.shape != nodes.shape:
                self._change, self._before, self._others = (np.zeros_like(nodes) for _ in range(3))
            np.copyto(self._change, nodes)
            self._others[:] = 0.0

    @contextmanager
    def noting_colliders(self) -> Iterator[None]:
        """Record how the world's nodes change meanwhile, by colliders whose motion does not depend on anything."""
        if not len(self._near_slots):
            yield
            return
        np.copyto(self._before, self._world_nodes)
        yield
        add_difference(self._world_nodes, self._before, self._others)

    @property
    def _world_nodes(self) -> NDArray[Any]:
        return self._world.nodes[: self._world.layout.node_count + 1]

    def share_change(self, slots: Ints, pulled: NDArray[Any], groups: Ints, is_alone: NDArray[np.bool_]) -> None:
        """Pass on to the rest nodes how velocities in the world have changed since `note_nodes`.

        Two splines lie between the world's nodes and the rest nodes, so the world's nodes see only part of the change that they
        require. The remainder would be required again in every substep, and stop more and more of the body. So changes are lengthened
        until the impulses do the work that they are meant to do (the step length of steepest descent), in each group of bodies: all
        changes where only bodies receive the opposite impulses, otherwise those from colliders.

        Args:
            slots: (n,) particles in the world whose velocities have been changed directly.
            pulled: (3, n) by how much [m/s].
            groups: (velocity fields,) the group of each: those that may exchange impulses.
            is_alone: (groups,) whether nothing else receives the opposite impulses, so that all changes may be lengthened.
        """
        if not len(self._near_slots):
            return
        fields = self._world.layout.node_fields
        group, is_ours = groups[fields], np.isin(fields, self._fields)
        sums = np.zeros(len(self._change))
        # one more node block stands for none
        find_change(self._world.nodes, self._change, self._others, np.append(is_alone[group], True), sums)
        wanted = np.bincount(group[is_ours], sums[:-1][is_ours], len(is_alone))
        if wanted.any():
            self._take(self._change)
            self._lengthen(wanted, groups)
        if not is_alone[groups[self._fields]].all():
            self._take(self._others, slots, pulled)
            change_nodes(self.store.nodes, np.ones(len(self.mass)), self.mass, self.velocity)

    def _take(self, change: NDArray[Any], slots: Ints | None = None, pulled: NDArray[Any] | None = None) -> None:
        """Scatter a change of the world's nodes to the rest nodes; slots, pulled: see `share_change`."""
        world, store = self._world, self.store
        for field in self._fields:
            grid = world.grid(self.spacing, field)._replace(nodes=change)
            send_change(self._scheme, world.particles, grid, self.is_near, world.scratch, self._change_parcels)
        if slots is not None and pulled is not None:
            self._change_parcels.reshape(-1, LANE_ROW)[slots, _VECTOR] += pulled.T
        take_change(store.particles, self._is_near, self._parcels, world.scratch, self._change_parcels)
        self._scattered()

    def _lengthen(self, wanted: NDArray[Any], groups: Ints) -> None:
        """Apply what was scattered last, lengthened in each group until it does the work wanted there [J]."""
        sums = np.zeros(len(self.mass))
        sum_change(self.store.nodes, self.mass, sums)
        group = groups[self.parts.field[self.store.layout.node_fields]]
        found = np.bincount(group, sums, len(wanted))
        factors = np.minimum(np.divide(wanted, found, where=found > 0.0, out=np.ones(len(found))), MOST_LENGTHENED)
        change_nodes(self.store.nodes, factors[group], self.mass, self.velocity)

    def accelerate(self, change: Floats) -> None:
        """Change the velocity of all nodes, by (3,) [m/s]."""
        accelerate_nodes(change, self.mass, self.velocity)

    def move(self, dt: float) -> None:
        """Move the nodes for a substep of dt [s]."""
        move_nodes(self.velocity, dt, self.mass, self.spacing, self._origins, self.displacement, self._moved, self._motion)

    def show_particles(self) -> None:
        """Update motion, F and stress of the particles in the world, for frames."""
        self._show_motion(np.ones_like(self._is_near), self._slots)
        show_strain(self._slots, self.slots[self._slots], self.store.table, self._world.table)

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The state, as arrays."""
        layout = self.store.layout
        return {
            "body_id": self.places.id,
            "body_key": self.places.key,
            "body_position": self.places.position,
            "body_part": self.places.part,
            "body_field_of_part": self.parts.field,
            "body_node_field": layout.node_fields,
            "body_node_key": layout.node_keys[layout.origins],
            "body_node_displacement": self.displacement.copy(),
            "body_node_velocity": self.velocity.copy(),
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> bool:
        """Restore what `snapshot` returned, with the same particles in the world. Returns whether all nodes were in it."""
        names = ("body_id", "body_key", "body_position")
        parts, renumbered = Parts.extended(self._world.fields, arrays["body_field_of_part"])
        ids, keys, positions = (np.ascontiguousarray(arrays[name]) for name in names)
        self.build(RestPlaces(ids, keys, positions, renumbered[arrays["body_part"]]), parts, np.arange(len(parts)))
        new, kept = self._found(renumbered[arrays["body_node_field"]], arrays["body_node_key"], np.arange(len(parts)))
        self.displacement[new] = arrays["body_node_displacement"][kept]
        self.velocity[new] = arrays["body_node_velocity"][kept]
        return len(new) == self.store.layout.node_count
