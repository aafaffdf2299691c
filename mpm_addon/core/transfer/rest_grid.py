"""Rest grids: bodies whose forces come from their rest state.

The bodies of each velocity field have nodes in the space of their rest state. A rest node stores a displacement and a velocity from one
substep to the next; these are the state of the bodies. Particles never move relative to these nodes, so a body remains connected
however far it is stretched, and F needs no history (total Lagrangian MPM; de Vaucorbeil, Nguyen and Hutchinson 2020). The grid in the
world transmits external influences: it receives the particles' momentum without their stress, and only its changes are returned.

Particles in the rest state have a separate store, which is sorted once. Knows neither scenes nor laws' parameters.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blocks import BLOCK, NODE, Grid
from .fields import Fields
from .grid import update_grid
from .layout import Ints
from .particle_store import NewParticles, ParticleStore, aligned
from .rest_passes import REST_ROW_COUNT, carry_change, carry_motion, carry_places, gather_velocities
from .rows import DEFORMATION, MASS, POSITION, STRESS, VELOCITY, VELOCITY_GRADIENT, VOLUME
from .scatter import particles_to_grid
from .scheme import Scheme

Floats = NDArray[np.float64]
# the numbers of a node except its mass
_VECTOR = slice(0, 3)


@dataclass(frozen=True)
class RestPlaces:
    """The positions of particles in the rest state, in order of id.

    Attributes:
        id: (n,).
        key: (n,) keys of their blocks.
        position: (3, n) relative to these blocks [cells].
    """

    id: NDArray[np.int32]
    key: Ints
    position: NDArray[Any]

    @classmethod
    def empty(cls, dtype: Any) -> "RestPlaces":
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros((3, 0), dtype))

    def joined(self, new: NewParticles) -> "RestPlaces":
        """These positions, followed by those of new particles as emitted."""
        position = new.table[POSITION : POSITION + 3]
        return RestPlaces(
            np.concatenate([self.id, new.ids]), np.concatenate([self.key, new.keys]), np.concatenate([self.position, position], axis=1)
        )

    def taken(self, chosen: NDArray[np.bool_]) -> "RestPlaces":
        return RestPlaces(self.id[chosen], self.key[chosen], np.ascontiguousarray(self.position[:, chosen]))


class RestGrid:
    """The rest nodes of all bodies with a rest state, and their particles in that state.

    Args:
        world: the particles in the world.
        scheme: of the transfers.
        spacing: cell size [m].

    Attributes:
        store: the particles in the rest state.
        places: their positions.
        displacement: (node blocks, block nodes, 3) of the rest nodes [m].
        velocity: likewise [m/s].
        mass: (node blocks, block nodes) [kg].
        slots: for each slot in the world, the slot in the rest state, -1 for other particles.
        is_near: (blocks,) whether external influences may act in each particle block in the world until the next sort.
        farthest: the greatest displacement of a particle along an axis in the last substep [cells].
    """

    def __init__(self, world: ParticleStore, scheme: Scheme, spacing: float) -> None:
        self._world = world
        self._scheme = scheme
        # changes of the velocity gradient are always returned, whatever the transfer scheme in the world
        self._affine = scheme._replace(affine=1.0, flip_ratio=0.0)
        self._spacing = spacing
        self.places = RestPlaces.empty(world.dtype)
        self.store = self._empty_store()
        self.is_near = self._is_near = np.zeros(0, np.bool_)
        self.farthest = 0.0
        self._lay_out()
        self._saved = self.displacement, self.velocity

    @property
    def fields(self) -> Fields:
        return self._world.fields

    def _empty_store(self) -> ParticleStore:
        world = self._world
        return ParticleStore(world.body_count, world.dtype, world.dimension, row_count=REST_ROW_COUNT, fields=world.fields)

    def _lay_out(self) -> None:
        """Allocate the arrays for the nodes of the store."""
        count, block_nodes = self.store.layout.node_count, BLOCK**self._world.dimension
        self.displacement, self.velocity = np.zeros((2, count, block_nodes, 3))
        self.mass = np.zeros((count, block_nodes))
        self._moved, self._motion = (aligned((count + 1, NODE * block_nodes), self._world.dtype) for _ in range(2))
        self._acceleration, self._room = np.zeros_like(self.velocity), np.zeros_like(self.velocity)
        self._is_there_at = np.zeros((count, block_nodes, 1))
        self._origins = np.zeros_like(self.velocity)
        self._is_near = np.ones(len(self.store.layout.keys), np.bool_)
        self._is_there = [bool(np.diff(self.store.layout.first).reshape(-1, self._world.body_count)[:, its].any()) for its in self.fields]

    def build(self, places: RestPlaces) -> None:
        """Sort particles of the world into a new store. Existing nodes keep their state; new ones move with their particles."""
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
        self.store = self._empty_store()
        self.store.sort(NewParticles(table, places.key, places.id, run % world.body_count))
        self._lay_out()
        sums = self._scattered()
        self.mass[:] = sums[..., 3]
        self._is_there_at[:] = self.mass[..., None] > 0.0
        self.velocity[:] = sums[..., _VECTOR]
        new, kept = self._found(old.node_fields, old.node_keys[old.origins])
        self.displacement[new], self.velocity[new] = before[0][kept], before[1][kept]

    def _found(self, fields: Ints, keys: Ints) -> tuple[Ints, Ints]:
        """The node blocks that are among those with given fields and keys (n,): their numbers, and their indices in these arrays."""
        number_of = {each: number for number, each in enumerate(zip(fields.tolist(), keys.tolist(), strict=True))}
        layout = self.store.layout
        own = zip(layout.node_fields.tolist(), layout.node_keys[layout.origins].tolist(), strict=True)
        pairs = [(number, number_of[each]) for number, each in enumerate(own) if each in number_of]
        found = np.array(pairs, np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def find(self) -> None:
        """Find the particles in the world after a sort there."""
        world, layout = self._world, self._world.layout
        ids = world.ids[: layout.slot_count]
        rest_ids = self.store.ids[: self.store.layout.slot_count]
        slot_of = np.full(max(int(ids.max(initial=-1)), int(rest_ids.max(initial=-1))) + 1, -1)
        at = np.flatnonzero(rest_ids >= 0)
        slot_of[rest_ids[at]] = at
        # massless copies use the slot of the last particle of their vectors
        last = np.maximum.accumulate(np.where(ids >= 0, np.arange(len(ids)), 0))
        self.slots = slot_of[ids[last]] if len(ids) else np.zeros(0, np.int64)
        live = np.flatnonzero((self.slots >= 0) & (ids >= 0))
        self._world_slots = np.full(len(rest_ids), -1)
        self._world_slots[self.slots[live]] = live
        self._place_origins()
        blocks = np.repeat(np.arange(len(layout.keys)), np.diff(layout.first[:: world.body_count]))
        rest = self.store.layout
        rest_run = np.searchsorted(rest.first, self.slots, side="right") - 1
        rest_block, body = np.divmod(np.maximum(rest_run, 0), world.body_count)
        self._offsets = np.zeros((len(ids), 3))
        its = self.slots >= 0
        apart = rest.coordinates[rest_block[its]] - layout.coordinates[blocks[its]]
        self._offsets[its] = BLOCK * apart + self._origin_of_field[np.array(world.field_of_body)[body[its]]]
        self.see(np.ones(len(layout.keys), np.bool_))

    def _place_origins(self) -> None:
        """Choose a displacement of each field [cells] to which others are relative, so that single precision suffices."""
        layout = self.store.layout
        self._origin_of_field = np.zeros((len(self.fields), 3))
        for field in range(len(self.fields)):
            its = np.flatnonzero(layout.node_fields == field)
            if self._is_there[field] and len(its):
                heaviest = int(self.mass[its].argmax())
                self._origin_of_field[field] = self.displacement[its].reshape(-1, 3)[heaviest] / self._spacing
        self._origins = self._origin_of_field[layout.node_fields][:, None] * self._is_there_at

    def save(self) -> None:
        """Save the state at a sort, for `restore`."""
        self._saved = self.displacement.copy(), self.velocity.copy()

    def restore(self) -> None:
        """Return to the state that was saved last."""
        self.displacement, self.velocity = (each.copy() for each in self._saved)

    def _scattered(self) -> NDArray[Any]:
        """The velocities, or their changes, in the rest table scattered to the nodes, and masses, (node blocks, block nodes, 4)."""
        store, is_first = self.store, True
        for field, is_there in enumerate(self._is_there):
            if is_there:
                grid = store.grid(self._spacing, field)
                particles_to_grid(self._affine, store.particles, grid, self._is_near, is_first, 0.0, self._world.scratch, store.arenas)
        return self.summed()

    def _scattered_of_all(self) -> NDArray[Any]:
        """The scattered changes of velocity if blocks that are not near also added their masses, without any change."""
        sums = self._scattered()
        return sums[..., _VECTOR] * (sums[..., 3] / np.maximum(self.mass, np.finfo(np.float32).tiny))[..., None]

    def shares_of(self, values: Floats) -> NDArray[Any]:
        """The means of values of the slots in the world (slots,) at the nodes, (node blocks, block nodes)."""
        table, its = self.store.table, np.flatnonzero(self._world_slots >= 0)
        table[VELOCITY : VELOCITY_GRADIENT + 9] = 0.0
        table[VELOCITY, its] = values[self._world_slots[its]]
        return self._scattered_of_all()[..., 0]

    def see(self, is_near: NDArray[np.bool_]) -> None:
        """Set whether external influences may act until the next sort in each block in the world, (blocks,). To be called after `find`."""
        world, rest = self._world.layout, self.store.layout
        self.is_near = is_near
        blocks = np.repeat(np.arange(len(world.keys)), np.diff(world.first[:: self._world.body_count]))
        self._near_slots = np.where(is_near[blocks], self.slots, -1)
        live = np.flatnonzero(self._world_slots >= 0)
        near = live[is_near[blocks[self._world_slots[live]]]]
        self._near_world_slots = np.full(len(self._world_slots), -1)
        self._near_world_slots[near] = self._world_slots[near]
        block_of = np.repeat(np.arange(len(rest.keys)), np.diff(rest.first[:: self._world.body_count]))
        self._is_near = np.zeros(len(rest.keys), np.bool_)
        self._is_near[block_of[near]] = True
        self._near_rest_slots = np.flatnonzero(self._is_near[block_of])

    def summed(self) -> NDArray[Any]:
        """The scattered values at the nodes divided by the masses, and the masses, (node blocks, block nodes, 4)."""
        store = self.store
        nothing = np.zeros(NODE * BLOCK, self._world.dtype)
        update_grid(store.arenas, store.layout.node_arenas, store.nodes, store.node_rows, nothing, store.node_speeds)
        return store.nodes.reshape(len(store.nodes), -1, NODE)[: store.layout.node_count]

    def strain_grid(self, field: int) -> Grid:
        """The nodes of a field for `strain_particles`: displacements and velocities."""
        return self.store.grid(self._spacing, field)._replace(nodes=self._moved, nodes_before=self._motion)

    def show_nodes(self) -> None:
        """Copy the state of the nodes to the arrays that kernels read."""
        count = len(self.velocity)
        np.multiply(self.displacement, 1.0 / self._spacing, out=self._room)
        moved = self._moved.reshape(count + 1, -1, NODE)[:count, :, _VECTOR]
        np.subtract(self._room, self._origins, out=moved, casting="same_kind")
        self._show_velocities()

    def _show_velocities(self) -> None:
        count = len(self.velocity)
        self._motion.reshape(count + 1, -1, NODE)[:count, :, _VECTOR] = self.velocity

    def take_forces(self) -> None:
        """Sum the forces that `strain_particles` has scattered."""
        self._acceleration[:] = self.summed()[..., _VECTOR]

    def push(self, dt: float) -> None:
        """Apply the forces for a substep of dt [s], and give the particles in the world their velocities."""
        np.multiply(self._acceleration, dt, out=self._room)
        self.velocity += self._room
        self._show_velocities()
        store = self.store
        for field, is_there in enumerate(self._is_there):
            if is_there:
                grid = store.grid(self._spacing, field)._replace(nodes=self._motion)
                gather_velocities(self._scheme, store.particles, grid, self._is_near, self._world.scratch)
        carry_motion(store.table, self._near_slots, self._world.table)

    def take_change(self, change: NDArray[Any]) -> None:
        """Gather the changes of velocity in the world for the particles there; `share_change` then scatters them to the rest nodes.

        Args:
            change: (node blocks, 4 * block nodes) of the world, changes of velocity [m/s].
        """
        world = self._world
        for field, is_there in enumerate(self._is_there):
            if is_there:
                grid = world.grid(self._spacing, field)._replace(nodes=change)
                gather_velocities(self._scheme, world.particles, grid, self.is_near, world.scratch)

    def share_change(self, gravity: Floats) -> None:
        """Add to the nodes' velocities the changes in the table of the world, and a change `gravity` for all, (3,) [m/s]."""
        self.velocity += self._is_there_at * gravity
        if self.is_near.any():
            # velocities do not change in rest blocks where nothing acts from outside
            table = self.store.table
            table[VELOCITY : VELOCITY_GRADIENT + 9, self._near_rest_slots] = 0.0
            carry_change(self._world.table, self._near_world_slots, table)
            self.velocity += self._scattered_of_all()

    def move(self, dt: float) -> None:
        """Move the nodes for a substep of dt [s]."""
        np.multiply(self.velocity, dt, out=self._room)
        self.displacement += self._room

    def place(self) -> None:
        """Move the particles in the world to the positions that the nodes give."""
        ways = np.zeros(64)
        carry_places(self.store.table, self.slots, self._offsets, self._world.table, ways)
        self.farthest = float(ways.max())

    def show_particles(self) -> None:
        """Give the particles in the world their velocity, F and stress, for frames."""
        table, world = self.store.table, self._world.table
        carry_motion(table, self.slots, world)
        its = np.flatnonzero(self.slots >= 0)
        for rows in (slice(STRESS, STRESS + 6), slice(DEFORMATION, DEFORMATION + 9)):
            world[rows, its] = table[rows, self.slots[its]]

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The state as the arrays of a checkpoint."""
        layout = self.store.layout
        return {
            "body_id": self.places.id,
            "body_key": self.places.key,
            "body_position": self.places.position,
            "body_node_field": layout.node_fields,
            "body_node_key": layout.node_keys[layout.origins],
            "body_node_displacement": self.displacement.copy(),
            "body_node_velocity": self.velocity.copy(),
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> bool:
        """Restore arrays from `snapshot`; the world must have the same particles. Returns whether the arrays contain all nodes."""
        names = ("body_id", "body_key", "body_position")
        self.build(RestPlaces(*(np.ascontiguousarray(arrays[name]) for name in names)))
        new, kept = self._found(arrays["body_node_field"], arrays["body_node_key"])
        self.displacement[new] = arrays["body_node_displacement"][kept]
        self.velocity[new] = arrays["body_node_velocity"][kept]
        return len(new) == self.store.layout.node_count
