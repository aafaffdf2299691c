"""Bodies whose forces come from their rest state, as the stepper moves them; see `transfer.rest_grid`."""

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bonds import Bonds
from ..contact.deforming_obstacle import DeformingObstacle
from ..contact.feet import STICKY
from ..contact.obstacle import Obstacle, nodes_of
from ..contact.obstacles import ObstacleGroup
from ..failure import Trouble
from ..transfer.blocks import BLOCK, Grid
from ..transfer.layout import PIECE_COUNT
from ..transfer.particle_store import NewParticles, ParticleStore
from ..transfer.parts import Parts
from ..transfer.reach import find_reaching
from ..transfer.rest_grid import RestGrid
from ..transfer.rest_strain import EXTREME_COUNT, Strain, strain_particles
from ..transfer.rows import VELOCITY
from ..transfer.scheme import Scheme
from .judgment import Extremes, Plausible
from .material_instances import MaterialInstance
from .parting import came_apart
from .resumption import wrong
from .time_step import Speeds
from .viscous_modes import Response, ViscousModes

# a rest node inside a sticky collider moves with it if it has at least this share of a full node's mass: lighter nodes lie outside the body
HELD_FULLNESS = 0.4
# A rest node also moves with a sticky collider that contains at least this share of its mass. Where a body crosses the surface, these are
# nodes up to half a cell outside: with only the nodes inside, the body would be held as if the surface lay half a cell deeper.
HELD_SHARE = 1.0 / 6.0
# depth from which particles count as inside [cells]
DEPTH = 0.1
# after a sort, only nodes nearer than this to fixed colliders are checked: particles move less before the next sort [cells]
NEAR = 1.5
# the speed of particles grows by less than this factor from one substep to the next
REACH_SHARE = 1.1


class RestBodies:
    """The bodies of a store whose forces come from their rest state. In scenes without any, does nothing.

    Attributes:
        is_used: whether there are any.
        speeds: what limits the next substep.
        stiffest: the material with the greatest wave speed.
        grid: the particles and nodes in the rest state.
        modes: how fast viscosity acts there, once measured.
    """

    def __init__(self, instances: list[MaterialInstance], store: ParticleStore, scheme: Scheme, spacing: float) -> None:
        self._instances = instances
        self._numbers = [number for number, instance in enumerate(instances) if instance.law.uses_rest_state]
        self.is_used = bool(self._numbers)
        self._fields = {store.field_of_instance[number] for number in self._numbers}
        store.is_carried[self._numbers] = True
        self._store = store
        self._scheme = scheme
        self._spacing = spacing
        self.grid = RestGrid(store, scheme, spacing)
        self._places = self.grid.places
        self._parts = self.grid.parts
        self._sources = np.arange(len(self._parts))
        self._is_loose, self._parted = np.zeros(0, np.bool_), 0
        self._pulled_slots = np.zeros(0, np.int64)
        self._pulled = np.zeros((3, 0), store.dtype)
        self._extremes = np.zeros((PIECE_COUNT, EXTREME_COUNT))
        self._near: list[NDArray[np.int64]] = []
        self._held: list[NDArray[np.int64]] = []
        self._groups = np.arange(len(store.fields))
        self._is_alone, self._is_mixed = np.zeros(len(store.fields), np.bool_), False
        self._farthest = 0.0
        self.speeds = Speeds()
        self.stiffest = ""
        self.modes: ViscousModes | None = None
        self._responses: list[tuple[int, int, Response]] = []

    def is_field(self, field: int) -> bool:
        """Whether the body of a velocity field is one of these."""
        return field in self._fields

    def includes(self, number: int) -> bool:
        """Whether a material instance belongs to such a body."""
        return self.is_used and self._instances[number].law.uses_rest_state

    def add(self, particles: NewParticles) -> None:
        """Add new particles of one emitter, which are in their rest state; before the store is sorted."""
        if self.is_used and len(particles.instances) and self.includes(int(particles.instances[0])):
            field = np.array(self._store.field_of_instance)[particles.instances]
            # the first parts are the velocity fields
            self._places = self._places.joined(particles, field)

    @property
    def drift(self) -> float:
        """The greatest distance that a particle moved along an axis in the last substep [cells]."""
        return self._farthest if self.is_used else 0.0

    def reach(self, dt: float) -> float:
        """An upper bound, from the current speeds, on how far a particle moves along an axis in a substep of dt [s] [cells]."""
        return REACH_SHARE * dt * self.speeds.particle / self._spacing if self.is_used else 0.0

    @property
    def longest_step(self) -> float:
        """The longest substep that viscosity allows from the current state on [s]."""
        modes = self.modes
        if modes is None:
            return math.inf
        return min((modes.longest_step(part, self._instances[number], its) for part, number, its in self._responses), default=math.inf)

    @property
    def near_blocks(self) -> NDArray[np.bool_]:
        """The particle blocks whose particles of these bodies are to be scattered."""
        return self.grid.is_near

    def begin(self, obstacles: Sequence[ObstacleGroup], frame: float, bonds: Bonds | None = None, *, is_driven: bool) -> None:
        """Start from the store's particles right after a sort.

        Args:
            obstacles: the colliders that are not dynamic.
            frame: the moment, in frames.
            bonds: the bonds, if a material tears.
            is_driven: whether anything other than gravity, these colliders and other bodies acts on particles, possibly anywhere.
        """
        if not self.is_used:
            return
        if bonds is not None:
            self._come_apart(bonds)
        if self._has_changed():
            self.grid.build(self._places, self._parts, self._sources)
            self._places, self._sources = self.grid.places, np.arange(len(self._parts))
            self.modes = None
        self._find_groups(is_driven=is_driven)
        self.grid.find()
        if self.modes is None:
            self.modes = ViscousModes.of(self.grid, self._instances, self._pass)
        if bonds is not None:
            self.grid.weaken(self._is_loose)
        self.grid.save()
        for group in obstacles:
            group.take_values(frame)
            group.move_to(frame)
        self._find_near(obstacles)
        self.grid.see(self._find_near_blocks(obstacles, is_driven=is_driven))
        self.grid.show_nodes()
        # already judged, by the substep that led here
        self._strain(0.0, Plausible(), is_shown=True)

    def _find_groups(self, *, is_driven: bool) -> None:
        """Find which bodies may exchange impulses until the next sort, directly or through others, and the groups of these bodies alone."""
        layout = self._store.layout
        self._groups = groups = np.arange(len(self._store.fields))
        meeting = np.stack([layout.node_fields[layout.origins], layout.node_fields])
        for here, there in np.unique(meeting, axis=1).T:
            groups[groups == max(groups[here], groups[there])] = min(groups[here], groups[there])
        self._is_alone = np.zeros(len(groups), np.bool_)
        if not is_driven:
            ours = [field in self._fields for field in range(len(groups))]
            self._is_alone = np.array([all(np.array(ours)[groups == group]) for group in range(len(groups))])
        self._is_mixed = not self._is_alone[groups[sorted(self._fields)]].all()

    def _has_changed(self) -> bool:
        """Whether particles have come or gone since the rest grid was built."""
        if len(self._places.id) != len(self.grid.places.id) or len(self._parts) != len(self.grid.parts):
            return True
        is_ours = np.isin(np.arange(len(self._instances)), self._numbers)
        first, count = self._store.layout.first, self._store.instance_count
        runs = np.flatnonzero(np.tile(is_ours, (len(first) - 1) // count))
        live = self._store.live
        present = sum(int(np.count_nonzero(live[first[run] : first[run + 1]])) for run in runs)
        return present != len(self._places.id)

    def _come_apart(self, bonds: Bonds) -> None:
        """Find the parts that bonds no longer join, and the particles that have lost a bond within their part."""
        places, count = self._places, int(self._places.id.max(initial=-1)) + 1
        parted = bonds.pairs[~bonds.is_whole]
        if len(parted) and (len(parted) != self._parted or len(places.id) != len(self.grid.places.id)):
            part, sources = came_apart(places, self._parts, bonds, max(count, int(bonds.pairs.max()) + 1))
            if len(sources):
                self._places = replace(places, part=part)
                self._parts, self._sources = self._parts.split(sources), np.append(self._sources, sources)
        self._parted = len(parted)
        self._is_loose = np.zeros(max(count, int(bonds.pairs.max(initial=-1)) + 1), np.bool_)
        part_of = np.full(len(self._is_loose), -1)
        part_of[self._places.id] = self._places.part
        within = parted[part_of[parted[:, 0]] == part_of[parted[:, 1]]]
        self._is_loose[within.reshape(-1)] = True

    def loosen(self, ids: NDArray[np.int32]) -> None:
        """Take strength from particles that have lost a bond since the last sort."""
        if self.is_used:
            self._is_loose[ids] = True
            self.grid.weaken(self._is_loose)

    def restore(self) -> None:
        """Return to the state at the last sort, before `begin`."""
        if self.is_used:
            self.grid.restore()

    def push(self, dt: float) -> None:
        """Let elastic forces act for a substep of dt [s], before particles are scattered."""
        if self.is_used:
            self.grid.push(dt)

    def note_pull(self, slots: NDArray[np.int64], before: NDArray[Any]) -> None:
        """Record how pins have changed velocities in the table, from those before (3, n)."""
        if self.is_used:
            its = self.grid.slots[slots] >= 0
            self._pulled_slots = slots[its]
            self._pulled = self._store.table[VELOCITY : VELOCITY + 3, self._pulled_slots] - before[:, its]

    def note_nodes(self) -> None:
        """Record the velocities of the nodes before anything acts on them."""
        if self.is_used:
            self.grid.note_nodes()

    def noting_colliders(self) -> AbstractContextManager[None]:
        """A context in which only colliders that are not dynamic act on the nodes of the world."""
        return self.grid.noting_colliders() if self._is_mixed else nullcontext()

    def step(
        self, dt: float, gravity: NDArray[Any], obstacles: Sequence[ObstacleGroup], plausible: Plausible, *, is_shown: bool
    ) -> Trouble | None:
        """Move the bodies by a substep, after everything has acted on the nodes of the world.

        Args:
            dt: [s].
            gravity: (3,) [m/s^2], already included in the velocities that `note_nodes` recorded.
            obstacles: the colliders that are not dynamic.
            plausible: what no particle exceeds.
            is_shown: whether the table is read afterward.

        Returns:
            What became unstable, or None.
        """
        if not self.is_used:
            return None
        grid = self.grid
        grid.share_change(self._pulled_slots, self._pulled, self._groups, self._is_alone)
        grid.accelerate(dt * gravity.astype(np.float64))
        self._hold(obstacles)
        grid.move(dt)
        trouble = self._strain(dt, plausible, is_shown=is_shown)
        if is_shown or trouble is not None:
            grid.show_particles()
        return trouble

    def _strain(self, dt: float, plausible: Plausible, *, is_shown: bool) -> Trouble | None:
        """Compute F, stress and forces from the state of the nodes, after a substep of dt [s], or after a sort (0).

        Returns:
            What became unstable, or None.
        """
        grid, store = self.grid, self.grid.store
        self.speeds, self.stiffest, self._farthest = Speeds(), "", 0.0
        self._responses = []
        trouble: Trouble | None = None
        for rest_number, number in enumerate(grid.parts.instances):
            if number not in self._numbers:
                continue
            instance = self._instances[number]
            extremes = self._pass(Strain(rest_number, dt, is_shown), instance.constants)
            trouble = trouble or plausible.trouble(extremes, dt, number, instance)
            response = Response(extremes.wave_speed, extremes.gradient, extremes.crowding)
            self._responses.append((store.field_of_instance[rest_number], number, response))
            if extremes.wave_speed > self.speeds.wave:
                self.stiffest = instance.name
            self.speeds = self.speeds.at_least(*extremes.speeds)
            self._farthest = max(self._farthest, extremes.way)
        grid.take_forces()
        return trouble

    def _pass(self, task: Strain, constants: Any, nodes: Grid | None = None) -> Extremes:
        """Strain the particles of an instance, and scatter their forces to the rest nodes."""
        store = self.grid.store
        nodes = nodes or self.grid.strain_grid(store.field_of_instance[task.instance])
        self._extremes[:] = 0.0
        self._extremes[:, 4] = -math.inf
        strain_particles(constants, self._scheme, store.particles, nodes, task, self._store.scratch, store.arenas, self._extremes)
        return Extremes.of(self._extremes)

    def watch(self, obstacles: Sequence[ObstacleGroup]) -> None:
        """Find the particles that colliders have come near since the last sort. To be called before `push`."""
        moving = [group for group in obstacles if group.is_moving]
        if self.is_used and moving and not self.grid.is_near.all():
            near = self._reaching(moving)
            if (near & ~self.grid.is_near).any():
                self.grid.see(near | self.grid.is_near)

    def _find_near_blocks(self, obstacles: Sequence[ObstacleGroup], *, is_driven: bool) -> NDArray[np.bool_]:
        """The particle blocks that share nodes with fixed colliders or with other bodies."""
        layout = self._store.layout
        if is_driven:
            return np.ones(len(layout.keys), np.bool_)
        is_touched = np.zeros(layout.node_count + 1, np.bool_)
        counts = np.bincount(layout.origins, minlength=layout.node_count)
        is_touched[:-1] |= counts[layout.origins] > 1
        meeting = [is_touched[layout.field_neighbors[field]].any(axis=1) for field in sorted(self._fields)]
        return np.any([self._reaching([group for group in obstacles if not group.is_moving]), *meeting], axis=0)

    def _reaching(self, obstacles: Sequence[ObstacleGroup]) -> NDArray[np.bool_]:
        """The particle blocks whose particles can touch nodes that colliders change, until the next sort."""
        layout = self._store.layout
        marked, is_reaching = np.zeros(layout.node_count + 1, np.int64), np.zeros(len(layout.keys), np.bool_)
        for group in obstacles:
            group.mark_touched(marked)
        marked[-1] = 0
        for field in sorted(self._fields):
            find_reaching(layout.extents, layout.field_neighbors[field], marked, is_reaching)
        return is_reaching

    def _find_near(self, obstacles: Sequence[ObstacleGroup]) -> None:
        """Find the rest nodes that sticky colliders hold until the next sort, and those that they may hold."""
        self._near, self._held = [], []
        for obstacle in self._sticky(obstacles):
            its = np.flatnonzero(self._is_heavy())
            if not obstacle.is_moving:
                its = its[obstacle.distance(self.node_places(its))[0] < NEAR * self._spacing]
            self._near.append(its)
            positions = self._store.positions(self._spacing)
            inside = np.zeros(len(positions))
            live = np.flatnonzero(self.grid.slots >= 0)
            inside[live] = obstacle.distance(positions[live])[0] < -DEPTH * self._spacing
            self._held.append(np.flatnonzero(self.grid.shares_of(inside).reshape(-1) >= HELD_SHARE))

    def _hold(self, obstacles: Sequence[ObstacleGroup]) -> None:
        """Move the rest nodes in sticky colliders with the colliders."""
        velocity = self.grid.velocity.reshape(-1, 3)
        for obstacle, near, held in zip(self._sticky(obstacles), self._near, self._held, strict=True):
            if obstacle.is_present and obstacle.surface == STICKY:
                inside = near[obstacle.distance(self.node_places(near))[0] <= 0.0]
                for its in (inside, held):
                    velocity[its] = obstacle.velocity_at(self.node_places(its))

    @staticmethod
    def _sticky(obstacles: Sequence[ObstacleGroup]) -> list[Obstacle | DeformingObstacle]:
        return [each for group in obstacles for each in group.obstacles if each.collider.surface == "sticky"]

    def _is_heavy(self) -> NDArray[np.bool_]:
        grid = self.grid
        full = np.zeros(len(grid.mass))
        for rest_number, number in enumerate(grid.parts.instances):
            if number not in self._numbers:
                continue
            instance = self._instances[number]
            its = grid.store.layout.node_fields == grid.store.field_of_instance[rest_number]
            full[its] = np.maximum(full[its], instance.law.density * self._spacing**instance.dimension)
        return (grid.mass > HELD_FULLNESS * full[:, None]).reshape(-1)

    def node_places(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """The positions of rest nodes (n,) in the world [m], shape (n, 3)."""
        layout, dimension = self.grid.store.layout, self._store.dimension
        block, place = np.divmod(numbers, self.grid.mass.shape[1])
        corners = nodes_of(np.zeros((1, 3), np.int64), dimension)[0]
        nodes = BLOCK * layout.node_coordinates[block] + corners[place]
        return self._spacing * nodes + self.grid.displacement.reshape(-1, 3)[numbers]

    def _check_parts(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Check that particles belong to parts of their velocity field. Raises CacheError."""
        fields = snapshot["body_field_of_part"]
        if len(fields) and not 0 <= fields.min() <= fields.max() < len(self._store.fields):
            raise wrong("body_field_of_part", "there is no such field")
        order = np.argsort(snapshot["ids"])
        instances = snapshot["instances"][order][np.searchsorted(snapshot["ids"][order], snapshot["body_id"])]
        parts, number = Parts.extended(self._store.fields, fields)
        if (parts.field[number[snapshot["body_part"]]] != np.array(self._store.field_of_instance)[instances]).any():
            raise wrong("body_part", "a part of another body")

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint; empty without such bodies."""
        return self.grid.snapshot() if self.is_used else {}

    def load(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `snapshot` returned, after the store is sorted and before `begin`. Raises CacheError if nodes are missing."""
        if self.is_used and "body_id" in snapshot:
            self._check_parts(snapshot)
            if not self.grid.load(snapshot):
                raise wrong("body_node_key", "nodes are missing")
            self._places, self._parts = self.grid.places, self.grid.parts
            self._sources = np.arange(len(self._parts))
