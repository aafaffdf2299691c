"""One substep: particles to grid, grid update, contact, grid to particles.

Most substeps visit the particles once: a pass gathers, evaluates the law and scatters for the next substep. Blocks near an
obstacle that may push their particles, and all blocks before a sort or at the end of a frame, write their results to the table and
are scattered later.
"""

import math

import numpy as np

from ..contact.body_contact import BodyContact
from ..contact.coupling import RigidBodies
from ..contact.impulses import ROUNDS
from ..contact.obstacles import Fields, ObstacleGroup, obstacles_of
from ..emission.pins import Pins
from ..failure import Kind, Trouble
from ..scene.description import Scene
from ..transfer.advance import EXTREME_COUNT, Pass, advance_particles
from ..transfer.blocks import BLOCK
from ..transfer.extent import LEAST_WAY
from ..transfer.grid import fastest_nodes, update_grid
from ..transfer.layout import PIECE_COUNT
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import POSITION, VELOCITY
from ..transfer.scatter import particles_to_grid
from ..transfer.scheme import farthest_drift, scheme_of
from .breaking import Breaking
from .influences import Director
from .judgment import Extremes, Plausible
from .material_instances import MaterialInstance
from .phase_clock import PhaseClock
from .rest_bodies import RestBodies
from .rigid_fragments import RigidFragments
from .space_filling import SpaceFilling
from .tearing import Tearing
from .time_step import Drive, Speeds
from .whole_bodies import WholeBodies

NO_SLOTS = np.zeros(0, np.int64)


class Stepper:
    """Advances the particles of a store.

    Attributes:
        scheme: the scheme of the transfers.
        obstacles: walls and all colliders that are not dynamic.
        rigid: the dynamic colliders.
        pins: the pinned particles.
        rest: the bodies whose forces come from their rest state.
        tearing: the bonds between particles.
        breaking: the fragments of brittle material; fragments: those that have become rigid; wholes: whole bodies that are.
        moduli: the bulk moduli that fluids leave to the scene.
        spacing: cell size [m].
        moment: the moment of the last `move_to`, in frames.
        speeds: speeds after the last substep.
        explained_speed: the greatest plausible speed [m/s]; anything faster is unstable.
        stiffest: the material with the greatest wave speed.
        planned: the substep [s] that the particles are already scattered for, or None.
        clock: the time spent so far on "sort", "grid", "contact" and "particles".
    """

    def __init__(self, scene: Scene, instances: list[MaterialInstance], store: ParticleStore) -> None:
        solver = scene.solver
        self._space = SpaceFilling([instance.law for instance in instances], solver.grid_spacing**solver.dimension)
        fields = _fields_of(instances, store, self._space.full_mass)
        self.obstacles: list[ObstacleGroup] = obstacles_of(scene, fields)
        self.rigid = RigidBodies(scene, self.obstacles, fields)
        self.spacing = solver.grid_spacing
        self._instances = instances
        self._store = store
        self.scheme = scheme_of(solver)
        self._body_contact = BodyContact(self.spacing, solver.dimension, is_cubic=solver.kernel == "cubic")
        self._farthest = farthest_drift(self.scheme)
        # a substep is chosen before its motion is known; more than twice the allowed displacement means instability
        self._longest_way = max(1.0, 2.0 * solver.max_displacement)
        self.pins = Pins(scene)
        self.rest = RestBodies(instances, store, self.scheme, self.spacing)
        self.tearing = Tearing(scene, instances, store, self.rest)
        self.breaking = Breaking(scene, instances, store, self.tearing)
        self.fragments = RigidFragments(scene, instances, store, self.breaking, self.tearing, self.rigid)
        self.wholes = WholeBodies(scene, instances, store, self.breaking, self.tearing, self.rigid, self.fragments)
        self._time = scene.time
        self._director = Director(scene, instances, store)
        self.moduli = self._director.moduli
        has_limit = solver.max_speed is not None or (solver.animation is not None and "max_speed" in solver.animation.values)
        has_pins = any(emitter.has_pins for emitter in scene.emitters)
        self._is_driven = bool(scene.forces) or has_limit or has_pins or bool(self.rigid.groups) or scene.has_rigid_fragments
        # whether anything acts on nodes once the grid is updated
        # whether anything but one group of colliders changes nodes during contact
        self._is_crossed = len(self.obstacles) > 1 or bool(self.rigid.groups) or has_pins or len(store.fields) > 1
        self._changes_nodes = self._is_driven or bool(self.obstacles) or self.rest.is_used or len(store.fields) > 1
        self.moment = float(scene.time.frame_start)
        self.speeds = Speeds()
        self.stiffest = ""
        self.explained_speed = math.inf
        self.planned: float | None = None
        self.clock = PhaseClock()
        self._drift = self._way = 0.0
        self._is_waiting = np.zeros(0, np.bool_)
        self._is_near = self._is_waiting
        self._is_absent = np.zeros(len(instances), np.bool_)
        self._extremes = np.zeros((PIECE_COUNT, EXTREME_COUNT))
        self._node_extremes = np.zeros((PIECE_COUNT, 2))

    @property
    def must_sort(self) -> bool:
        """Whether particles may have left the reach of their blocks, or return; never while they are scattered for a planned substep."""
        return self.planned is None and (self._drift > self._farthest or self.wholes.is_due)

    @property
    def may_have_strayed(self) -> bool:
        """Whether particles may have left the neighbors of their block, so that they cannot be sorted."""
        return self.planned is None and self._drift > BLOCK

    def begin(self) -> None:
        """Start from the store's particles right after a sort."""
        self.planned = None
        self._drift = 0.0
        count = len(self._store.layout.keys)
        runs = np.diff(self._store.layout.first).reshape(-1, self._store.instance_count)
        self._is_absent = ~runs.any(axis=0)
        self._is_waiting, self._is_near = np.ones(count, np.bool_), np.zeros(count, np.bool_)
        self.rigid.save()
        self._director.save()
        for obstacle in self.obstacles:
            if not obstacle.is_moving:
                obstacle.find_surfaces(self._store)
        self._director.survey()
        self._space.begin(self._store)
        self._body_contact.find(self._store.layout)
        if self._space.full_mass > 0.0 and not self.rigid.groups and not any(obstacle.is_moving for obstacle in self.obstacles):
            self._space.find_cover(self.obstacles)
        self.pins.find(self._store, self.moment)
        self.rest.begin(self.obstacles, self.moment, self.tearing.known, is_driven=self._is_driven)
        self.tearing.begin()
        self.breaking.begin()
        self.fragments.begin()
        self.wholes.begin()

    def begin_frame(self, frame: float) -> None:
        """Prepare for the substeps to the next frame."""
        self._director.begin_frame(frame)
        for obstacle in self.obstacles + self.rigid.groups:
            obstacle.begin_frame()
        if any(obstacle.is_moving for obstacle in self.obstacles):
            for obstacle in self.obstacles:
                obstacle.take_values(frame)
                obstacle.move_to(frame)
            self.wholes.look_ahead()

    def move_to(self, frame: float) -> Drive:
        """Move gravity, forces, materials and pins to a moment, in frames; returns what limits the substeps from there."""
        self.moment = frame
        self._director.move_to(frame)
        self.pins.move_to(frame)
        return self._director.drive(frame)._replace(longest=min(self.rigid.longest_step, self.rest.longest_step))

    def solids(self) -> list[ObstacleGroup]:
        """All obstacles that particles cannot be emitted in; moves dynamic colliders to their current poses."""
        self.rigid.place()
        return self.obstacles + self.rigid.groups

    def restore(self) -> None:
        """Return to the state at the last sort."""
        self._store.restore()
        self.rigid.restore()
        self._director.restore()
        self.rest.restore()
        self.tearing.restore()
        self.breaking.restore()
        self.fragments.restore()
        self.begin()

    def move_obstacles(self, frame: float) -> float:
        """Move obstacles to a moment, in frames; returns the greatest speed of these and of pin targets [m/s]."""
        fastest = self.pins.speed
        self.rigid.take_values(frame)
        self.rigid.find_near(self._store, self._time.frame_seconds)
        for obstacle in self.obstacles + self.rigid.near:
            obstacle.take_values(frame)
            if obstacle.is_moving:
                obstacle.move_to(frame)
                if obstacle.follow(self._store):
                    self._space.uncover()
                fastest = max(fastest, obstacle.speed(self._store))
        return fastest

    def step(self, dt: float, next_dt: float | None) -> Trouble | None:
        """Advance everything by a substep.

        Args:
            dt: [s]; must be `planned` if an earlier call scattered for it.
            next_dt: the substep after this [s]; None if the particles are sorted next, so that all must be in the table.

        Returns:
            What became unstable, or None.
        """
        self.rest.watch(self.obstacles)
        self.rest.push(dt)
        self._pull(dt)
        self._move_grid(dt)
        self.clock.spent("grid")
        self._meet_obstacles(dt)
        self.wholes.watch(dt)
        self.pins.fix_nodes(self._store)
        self._director.limit_nodes()
        fastest = self._fastest_node()
        self.clock.spent("contact")
        if not math.isfinite(fastest):
            return self._not_finite()
        # bounds the displacement of particles that the pass scatters, which excludes pinned ones
        self._way = (1.0 + LEAST_WAY) * dt * fastest / self.spacing + LEAST_WAY
        farthest = self._drift + max(dt * fastest / self.spacing, self.pins.reach, self.rest.reach(dt))
        self._is_near[:] = False
        self._is_near[self.pins.blocks] = True
        for obstacle in self.obstacles + self.rigid.near:
            self._is_near[obstacle.due_blocks(self._store.node_speeds, dt, self.pins.reach, farthest)] = True
        may_plan = farthest <= self._farthest and self.scheme.flip_ratio == 0.0 and not self.wholes.is_due
        self.planned = next_dt if may_plan else None
        trouble, drift = self._advance(dt)
        if trouble is not None:
            return trouble
        drift = max(drift, self.pins.reach)
        self._drift += drift
        self._push_particles(dt)
        stopped = self.rigid.advance(dt)
        self.pins.fix(self._store, dt)
        self._director.limit_particles()
        trouble = self._step_rest(dt, drift)
        if trouble is not None:
            return trouble
        self.tearing.step(dt, self._time.seconds_at(self.moment) + dt, self.speeds.gradient)
        self._is_waiting[:] = True if self.planned is None else self._is_near
        self.clock.spent("particles")
        return None if stopped is None else Trouble(Kind.NOT_FINITE, stopped)

    def _pull(self, dt: float) -> None:
        """Let pins change the velocities of particles."""
        slots = self.pins.slots if self.rest.is_used else NO_SLOTS
        before = self._store.table[VELOCITY : VELOCITY + 3, slots]
        self.pins.pull(self._store, self.scheme, dt)
        self.rest.note_pull(slots, before)

    def _step_rest(self, dt: float, drift: float) -> Trouble | None:
        """Move the bodies whose forces come from their rest state; returns what became unstable. Others have drifted by `drift` cells."""
        rest = self.rest
        trouble = rest.step(dt, self._director.gravity[:3], self.obstacles, self._plausible, is_shown=self.planned is None)
        if rest.is_used:
            if rest.speeds.wave > self.speeds.wave:
                self.stiffest = rest.stiffest
            self.speeds = self.speeds.at_least(*rest.speeds)
        self._drift += max(rest.drift - drift, 0.0)
        return trouble

    def _move_grid(self, dt: float) -> None:
        """Scatter the waiting particles and update the grid."""
        store, layout = self._store, self._store.layout
        gravity = self._director.gravity
        if self.scheme.flip_ratio > 0.0:
            self._scatter(0.0)
            update_grid(store.arenas, layout.node_arenas, store.nodes_before, store.node_rows_before, 0.0 * gravity, store.node_speeds)
        self._scatter(dt)
        self.clock.spent("particles")
        update_grid(store.arenas, layout.node_arenas, store.nodes, store.node_rows, dt * gravity, store.node_speeds)
        self.rest.note_nodes()
        self._director.push(dt)

    def weigh(self) -> None:
        """Sum the particles' masses at the nodes, right after a sort; the next substep scatters again."""
        self._scatter(0.0, is_for_frame=True)
        store, gravity = self._store, 0.0 * self._director.gravity
        update_grid(store.arenas, store.layout.node_arenas, store.nodes, store.node_rows, gravity, store.node_speeds)

    def _scatter(self, dt: float, *, is_for_frame: bool = False) -> None:
        """Scatter the waiting particles for a substep of dt [s], those of each velocity field to its own node blocks.

        In a substep, bodies with a rest state scatter only where something else can act on them; for a frame, everywhere.
        """
        store = self._store
        is_first = bool(self._is_waiting.all())
        for field in range(len(store.fields)):
            grid = store.grid(self.spacing, field)
            # the stress of bodies with a rest state has already acted on their rest nodes; they are scattered in every substep
            is_rest = self.rest.is_field(field)
            waiting, step = (self.rest.near_blocks, 0.0) if is_rest and not is_for_frame else (self._is_waiting, dt)
            particles_to_grid(self.scheme, store.particles, grid, waiting, is_first or is_rest, step, store.scratch, store.arenas)

    def _meet_obstacles(self, dt: float) -> None:
        gravity = self._director.gravity[:3].astype(np.float64)
        for obstacle in self.obstacles + self.rigid.near:
            obstacle.take_gravity(gravity)
        with self.rest.noting_colliders():
            for obstacle in self.obstacles:
                obstacle.apply_initial_impulses(self._store)
            for obstacle in self.obstacles:
                obstacle.apply_contact_impulses(self._store, rounds=1 if self._is_crossed else ROUNDS)
        self.rigid.exchange_momentum(self._store, gravity, dt)
        self.pins.fix_nodes(self._store)
        self._body_contact.meet(self._store, [instance.law for instance in self._instances], self.pins.held_nodes(self._store), dt)
        # a second round, so that contact holds with all obstacles at a node in a corner
        if self._is_crossed:
            with self.rest.noting_colliders():
                for obstacle in self.obstacles:
                    obstacle.apply_contact_impulses(self._store)
        self._space.fill(self._store, self.obstacles + self.rigid.near)

    def _push_particles(self, dt: float) -> None:
        """Push particles out of the obstacles; several may push a particle one after another."""
        drift = self._drift
        ways = [obstacle.push_particles(self._store, dt, drift) for obstacle in self.obstacles]
        ways.append(self.rigid.push_particles(self._store, dt, drift + sum(ways)))
        for number, obstacle in enumerate(self.obstacles):
            obstacle.moved(sum(ways) - ways[number])
        self._drift += sum(ways)

    def _fastest_node(self) -> float:
        """A bound on the next speed of particles along an axis [m/s]; not finite if a node's speed is not."""
        store, count = self._store, self._store.layout.node_count
        if not self._changes_nodes:
            return float(store.node_speeds.max())
        fastest_nodes(store.nodes, store.node_rows, count, store.node_speeds, self._node_extremes)
        fastest, check = self._node_extremes.max(axis=0)
        return float(fastest) + float(check)

    def _advance(self, dt: float) -> tuple[Trouble | None, float]:
        """Advance the material instances, and scatter them if the next substep is planned; returns any trouble, and the drift [cells]."""
        self.speeds = Speeds()
        drift = 0.0
        for number, instance in enumerate(self._instances):
            if self._is_absent[number] or self.rest.includes(number):
                continue
            self._pass(number, instance, dt, self.planned)
            extremes = Extremes.of(self._extremes)
            trouble = self._plausible.trouble(extremes, dt, number, instance)
            if trouble is not None:
                return trouble, drift
            if extremes.wave_speed > self.speeds.wave:
                self.stiffest = instance.name
            self.speeds = self.speeds.at_least(*extremes.speeds)
            drift = max(drift, extremes.way)
        return None, drift

    @property
    def _plausible(self) -> Plausible:
        """What no particle exceeds in a stable substep."""
        return Plausible(self.explained_speed, self._longest_way)

    def _pass(self, number: int, instance: MaterialInstance, dt: float, next_dt: float | None) -> None:
        """Advance one material instance by dt, and scatter it for the next substep if there is one."""
        store = self._store
        grid = store.grid(self.spacing, store.field_of_instance[number])
        task = Pass(number, dt, next_dt or 0.0, self._way, next_dt is not None, self._is_near, self._space.full_mass)
        advance_particles(instance.constants, self.scheme, store.particles, grid, task, store.scratch, store.arenas, self._extremes)

    def gather(self) -> None:
        """Gather from the last substep's grid into the table, for diagnosis; no substep can follow."""
        slots, low, high = self._store.layout.slot_count, 0.5 - self._farthest, BLOCK + 0.5 + self._farthest
        for axis in (0, 2) if self._store.dimension == 2 else (0, 1, 2):
            # particles out of reach of their arena gather at its edge
            row = self._store.table[POSITION + axis, :slots]
            np.clip(np.nan_to_num(row, nan=low), low, high, out=row)
        for number, instance in enumerate(self._instances):
            if not self.rest.includes(number):
                self._pass(number, instance, 0.0, None)

    def _not_finite(self) -> Trouble:
        """The first material whose particles are not finite."""
        first, count = self._store.layout.first, self._store.instance_count
        for number, instance in enumerate(self._instances):
            for low, high in zip(first[number:-1:count], first[number + 1 :: count], strict=True):
                if not np.isfinite(self._store.table[:, low:high]).all():
                    return Trouble(Kind.NOT_FINITE, f'Material "{instance.name}"', number)
        return Trouble(Kind.NOT_FINITE, "The grid")


def _fields_of(instances: list[MaterialInstance], store: ParticleStore, full_mass: float) -> Fields:
    groups = [[instances[number] for number in its if number < len(instances)] for its in store.fields]
    is_fluid = np.array([all(instance.is_fluid for instance in group) for group in groups])
    is_cohesive = np.array([all(instance.is_fluid or not instance.law.mixes for instance in group) for group in groups])
    is_wet = np.array([any(instance.is_fluid for instance in group) for group in groups])
    fluids = np.flatnonzero([instance.is_fluid for instance in instances])
    return Fields(is_fluid, is_cohesive, np.where(is_wet, full_mass, 0.0), fluids)
