"""One step of everything: particles to the grid, the grid, obstacles, and back to the particles.

In most steps the particles are gone through once: a pass gathers, runs the law and scatters for the next step. The blocks near an
obstacle, whose particles it may push, and all blocks before a sort or at the end of a frame, keep their results in the table and
are scattered later.
"""

import math
import time
from collections import defaultdict

import numpy as np

from ..contact.coupling import RigidBodies
from ..contact.obstacles import ObstacleGroup, obstacles_of
from ..emission.pinning import Pins
from ..failure import Kind, Trouble
from ..scene.description import Scene
from ..transfer.advance import EXTREME_COUNT, advance_particles
from ..transfer.blocks import BLOCK
from ..transfer.extent import LEAST_WAY
from ..transfer.grid import fastest_nodes, update_grid
from ..transfer.layout import PIECE_COUNT
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import POSITION
from ..transfer.scatter import particles_to_grid
from ..transfer.scheme import farthest_drift, scheme_of
from .bodies import Body
from .directing import Director
from .time_step import Drive, Speeds

LARGEST_GRADIENT_STEP = 0.9


class Stepper:
    """Advances the particles of a store.

    Attributes:
        scheme: of the transfers.
        obstacles: colliders and walls, the fixed and the moving ones.
        rigid: the dynamic colliders.
        pins: particles that are held or pulled to their emitters.
        spacing: size of a cell [m].
        moment: what the last `move_to` brought everything to, in frames.
        speeds: after the last step.
        explained_speed: how fast matter can be [m/s]; what is faster is unstable.
        stiffest: the material with the greatest wave speed.
        planned: the step [s] that the particles are scattered for already, or None.
        seconds: spent so far on "sort", "grid", "contact" and "particles".
    """

    def __init__(self, scene: Scene, bodies: list[Body], store: ParticleStore) -> None:
        solver = scene.solver
        fluids = [body.law.density for body in bodies if body.is_fluid]
        filling = max(fluids, default=0.0) * solver.grid_spacing**solver.dimension
        self.obstacles: list[ObstacleGroup] = obstacles_of(scene, filling)
        self.rigid = RigidBodies(scene, self.obstacles, filling)
        self.spacing = solver.grid_spacing
        self._bodies = bodies
        self._store = store
        self.scheme = scheme_of(solver.kernel, solver.dimension, solver.transfer, solver.flip_ratio)
        self._farthest = farthest_drift(self.scheme)
        # a step is chosen before what happens in it is known; this far beyond what was wanted is no motion any more
        self._longest_way = max(1.0, 2.0 * solver.max_displacement)
        self.pins = Pins(scene)
        self._director = Director(scene, bodies, store)
        self.moment = float(scene.time.frame_start)
        self.speeds = Speeds()
        self.stiffest = ""
        self.explained_speed = math.inf
        self.planned: float | None = None
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._clock = 0.0
        self._drift = self._way = 0.0
        self._is_waiting = np.zeros(0, np.bool_)
        self._is_near = self._is_waiting
        self._extremes = np.zeros((PIECE_COUNT, EXTREME_COUNT))
        self._node_extremes = np.zeros((PIECE_COUNT, 2))

    @property
    def must_sort(self) -> bool:
        """Whether particles may have left the reach of their blocks; never while they are scattered for a step that is planned."""
        return self.planned is None and self._drift > self._farthest

    @property
    def may_have_strayed(self) -> bool:
        """Whether particles may have left the blocks around their own, so that they cannot be sorted."""
        return self.planned is None and self._drift > BLOCK

    def start_clock(self) -> None:
        self._clock = time.perf_counter()

    def spent(self, phase: str) -> None:
        """Count the time since the last call towards a phase."""
        now = time.perf_counter()
        self.seconds[phase] += now - self._clock
        self._clock = now

    def begin(self) -> None:
        """Take up the store's particles as they are after a sort."""
        self.planned = None
        self._drift = 0.0
        count = len(self._store.layout.keys)
        self._is_waiting, self._is_near = np.ones(count, np.bool_), np.zeros(count, np.bool_)
        self.rigid.save()
        self._director.save()
        for obstacle in self.obstacles:
            if not obstacle.is_moving:
                obstacle.find_surfaces(self._store)
        self._director.survey()
        self.pins.find(self._store, self.moment)

    def begin_frame(self, frame: float) -> None:
        """Make ready for the steps to the frame after this one."""
        self._director.begin_frame(frame)
        for obstacle in self.obstacles:
            obstacle.begin_frame()

    def move_to(self, frame: float) -> Drive:
        """Bring what directs matter to a moment, in frames; returns what limits the steps from there on."""
        self.moment = frame
        self._director.move_to(frame)
        self.pins.move_to(frame)
        return self._director.drive(frame)

    def solids(self) -> list[ObstacleGroup]:
        """All that matter cannot begin in; dynamic colliders where they are now."""
        self.rigid.place()
        return self.obstacles + self.rigid.groups

    def restore(self) -> None:
        """Go back to the state at the last sort."""
        self._store.restore()
        self.rigid.restore()
        self._director.restore()
        self.begin()

    def move_obstacles(self, frame: float) -> float:
        """Bring moving obstacles to a moment, in frames; returns the greatest speed of these and of what carries particles [m/s]."""
        fastest = self.pins.speed
        self.rigid.place()
        for obstacle in self.obstacles + self.rigid.groups:
            obstacle.take_values(frame)
            if obstacle.is_moving:
                obstacle.move_to(frame)
                obstacle.find_surfaces(self._store)
                fastest = max(fastest, obstacle.speed(self._store))
        return fastest

    def step(self, dt: float, next_dt: float | None) -> Trouble | None:
        """Advance everything by a step.

        Args:
            dt: [s]; what an earlier call scattered for, where it did (see `planned`).
            next_dt: the step after this [s]; None where the particles are sorted next, so that all have to be in the table.

        Returns:
            What became unstable, or None.
        """
        self.pins.pull(self._store, dt)
        self._move_grid(dt)
        self.spent("grid")
        self._meet_obstacles(dt)
        self.pins.hold_nodes(self._store)
        self._director.limit_nodes()
        fastest = self._fastest_node()
        self.spent("contact")
        if not math.isfinite(fastest):
            return self._not_finite()
        # of particles that are scattered at once: those that are held to goals are not
        self._way = (1.0 + LEAST_WAY) * dt * fastest / self.spacing + LEAST_WAY
        farthest = self._drift + max(dt * fastest / self.spacing, self.pins.reach)
        self._is_near[:] = False
        self._is_near[self.pins.blocks] = True
        for obstacle in self.obstacles + self.rigid.groups:
            self._is_near[obstacle.due_blocks(farthest)] = True
        self.planned = next_dt if farthest <= self._farthest and self.scheme.flip_ratio == 0.0 else None
        trouble, drift = self._advance(dt)
        if trouble is not None:
            return trouble
        self._drift += max(drift, self.pins.reach)
        # a particle may be pushed by several, one after another
        self._drift += sum(obstacle.push_particles(self._store, dt, self._drift) for obstacle in self.obstacles)
        self._drift += self.rigid.push_particles(self._store, dt, self._drift)
        stopped = self.rigid.advance(dt)
        self.pins.hold(self._store, dt)
        self._director.limit_particles()
        self._is_waiting[:] = True if self.planned is None else self._is_near
        self.spent("particles")
        return None if stopped is None else Trouble(Kind.NOT_FINITE, stopped)

    def _move_grid(self, dt: float) -> None:
        """Scatter the particles that wait for it, and move the grid."""
        store, layout = self._store, self._store.layout
        is_first = bool(self._is_waiting.all())
        scattered = (self.scheme, store.table, layout.first, layout.pieces, layout.neighbours, self._is_waiting, is_first)
        gravity = self._director.gravity
        if self.scheme.flip_ratio > 0.0:
            particles_to_grid(*scattered, 0.0, self.spacing, store.scratch, store.index, store.arenas)
            update_grid(store.arenas, layout.node_arenas, store.nodes_before, store.node_rows_before, 0.0 * gravity)
        particles_to_grid(*scattered, dt, self.spacing, store.scratch, store.index, store.arenas)
        self.spent("particles")
        update_grid(store.arenas, layout.node_arenas, store.nodes, store.node_rows, dt * gravity)
        self._director.push(dt)

    def _meet_obstacles(self, dt: float) -> None:
        for obstacle in self.obstacles:
            obstacle.apply_initial_impulses(self._store)
        for obstacle in self.obstacles:
            obstacle.apply_contact_impulses(self._store)
        self.rigid.exchange_momentum(self._store, self._director.gravity[:3].astype(np.float64), dt)
        # twice, so that a node in a corner ends up outside of all of them
        for obstacle in self.obstacles:
            obstacle.apply_contact_impulses(self._store)
        for obstacle in self.obstacles + self.rigid.groups:
            obstacle.fill(self._store)

    def _fastest_node(self) -> float:
        """A bound on the speed along an axis at which particles are moved next [m/s]; not finite where a node's is not."""
        fastest_nodes(self._store.nodes, self._store.node_rows, len(self._store.layout.node_keys), self._node_extremes)
        fastest, check = self._node_extremes.max(axis=0)
        return float(fastest) + float(check)

    def _advance(self, dt: float) -> tuple[Trouble | None, float]:
        """Advance the bodies, and scatter them where the next step is planned; returns what became unstable, and the drift [cells]."""
        self.speeds = Speeds()
        drift = 0.0
        for number, body in enumerate(self._bodies):
            self._pass(number, body, dt, self.planned)
            fastest, farthest, wave_speed, gradient, flattest, check = (float(extreme) for extreme in self._extremes.max(axis=0))
            kind = None
            if not math.isfinite(check):
                kind = Kind.NOT_FINITE
            elif fastest > self.explained_speed or farthest > self._longest_way:
                kind = Kind.RUNAWAY
            elif dt * gradient > LARGEST_GRADIENT_STEP or -flattest <= body.law.least_volume_ratio:
                kind = Kind.INVERTED
            if kind is not None:
                return Trouble(kind, f'Material "{body.name}"', number), drift
            if wave_speed > self.speeds.wave:
                self.stiffest = body.name
            self.speeds = self.speeds.at_least(wave_speed, fastest, gradient)
            drift = max(drift, farthest)
        return None, drift

    def _pass(self, number: int, body: Body, dt: float, next_dt: float | None) -> None:
        """Advance one body by dt, and scatter it for the next step where there is one."""
        store, layout = self._store, self._store.layout
        advance_particles(
            body.constants, self.scheme, store.table, layout.first, number, store.body_count, layout.pieces,
            layout.neighbours, store.nodes, store.nodes_before, self._is_near, next_dt is not None,
            self._way, dt, next_dt or 0.0, self.spacing, store.scratch, store.index, store.arenas, self._extremes,
        )  # fmt: skip

    def look(self) -> None:
        """Write what the particles get from the grid of the last step to the table, of which no step can go on."""
        slots, low, high = self._store.layout.slot_count, 0.5 - self._farthest, BLOCK + 0.5 + self._farthest
        for axis in (0, 2) if self._store.dimension == 2 else (0, 1, 2):
            # those that were thrown out of reach are looked at where the reach ends
            row = self._store.table[POSITION + axis, :slots]
            np.clip(np.nan_to_num(row, nan=low), low, high, out=row)
        for number, body in enumerate(self._bodies):
            self._pass(number, body, 0.0, None)

    def _not_finite(self) -> Trouble:
        """The material whose particles are not finite; the first of several."""
        first, count = self._store.layout.first, self._store.body_count
        for number, body in enumerate(self._bodies):
            for low, high in zip(first[number:-1:count], first[number + 1 :: count], strict=True):
                if not np.isfinite(self._store.table[:, low:high]).all():
                    return Trouble(Kind.NOT_FINITE, f'Material "{body.name}"', number)
        return Trouble(Kind.NOT_FINITE, "The grid")
