"""The simulation: particles, grid and obstacles advanced step by step, frame by frame.

A step scatters to the grid, moves the grid, lets obstacles act, gathers, pushes particles out of thin walls and advances the laws.
The particles are sorted anew before one of them can leave its block by more than a cell; every frame begins freshly
sorted, so that a simulation continued from a snapshot gives the same bytes as one that was never interrupted.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import emission
from .bodies import Body, bodies_of, compile_kernels
from .description import Scene
from .estimate import estimate
from .framing import Provenance, make_frame
from .kernels.gather import grid_to_particles
from .kernels.grid import update_grid
from .kernels.scatter import particles_to_grid
from .kernels.scheme import farthest_drift, scheme_of
from .laws.advance import advance_material
from .obstacles import Obstacle, obstacles_of, open_limits, refuse_outside
from .particle_store import PIECE_COUNT, NewParticles, ParticleStore, joined, new_particles, particles_of_snapshot
from .particles import Frame
from .support import refuse_unsupported
from .time_step import Speeds, StepControl

LARGEST_GRADIENT_STEP = 0.9


class Progress(NamedTuple):
    """How far a simulation is.

    Attributes:
        stage: "preparing", "compiling" or "simulating".
        frame: the frame that is being computed.
        fraction: how much of it is done, 0 to 1.
        substeps: steps since the previous frame.
        particles: particles present.
        time_step: the last step [s].
    """

    stage: str
    frame: int
    fraction: float
    substeps: int
    particles: int
    time_step: float


Report = Callable[[Progress], None]


def simulate(scene: Scene) -> Iterator[Frame]:
    """Simulate a scene, frame by frame, from its first frame (the initial state) to its last.

    Raises:
        SceneError: where the scene asks for something that cannot be computed.
        UnstableError: where smaller steps do not keep the state finite.
    """
    return Simulation(scene).frames()


class Simulation:
    """A scene in the course of being simulated.

    Args:
        scene: what to simulate.
        snapshot: what `snapshot` returned after a frame, to continue from there.
        report: called before compiling and after every step; may raise `Cancelled` to stop.
    """

    def __init__(
        self, scene: Scene, *, snapshot: Mapping[str, NDArray[Any]] | None = None, report: Report | None = None
    ) -> None:
        refuse_unsupported(scene)
        estimate(scene)
        self.scene = scene
        self.bodies: list[Body] = bodies_of(scene)
        solver = scene.solver
        self.store = ParticleStore(len(self.bodies), solver.precision, solver.dimension, is_flip=solver.transfer == "flip")
        self._scheme = scheme_of(solver.kernel, solver.dimension, solver.transfer, solver.flip_ratio)
        self._farthest = farthest_drift(self._scheme)
        gx, gy, gz = solver.gravity
        self._gravity = (gx, gy if solver.dimension == 3 else 0.0, gz)
        self.provenance = Provenance.empty()
        self.control = StepControl(scene, self.bodies)
        self._report_to = report
        self._frame = scene.time.frame_start
        self._deleted = 0
        self._substeps = 0
        self._step_seconds = 0.0
        self._drift = 0.0
        fluids = [body.law.density for body in self.bodies if body.is_fluid]
        filling = max(fluids, default=0.0) * solver.grid_spacing**solver.dimension
        self._extremes = np.zeros((PIECE_COUNT, 3))
        self._report("preparing", 0.0, 0.0)
        self.obstacles: list[Obstacle] = obstacles_of(scene, filling)
        self._limits = open_limits(scene.domain, solver.grid_spacing, solver.dimension)
        self._report("compiling", 0.0, 0.0)
        compile_kernels(self.bodies, self._scheme, solver.dimension, self.store.dtype)
        self._is_resumed = snapshot is not None
        if snapshot is not None:
            self._load(snapshot)

    def frames(self) -> Iterator[Frame]:
        """The frames, from the first one, or from the one after the snapshot's."""
        if not self._is_resumed:
            yield self._arrive()
        while self._frame < self.scene.time.frame_end:
            self._advance()
            yield self._arrive()

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The exact state at the last frame, as arrays that a `Simulation` continues from."""
        return {
            **self.store.snapshot(),
            **self.provenance.arrays(),
            "frame": np.array(self._frame),
            "deleted": np.array(self._deleted),
            "speeds": np.array(self.control.speeds),
        }

    def _load(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        self._frame = int(snapshot["frame"])
        self._deleted = int(snapshot["deleted"])
        self.control.speeds = Speeds(*(float(speed) for speed in snapshot["speeds"]))
        self.provenance = Provenance.from_arrays(snapshot)
        self._sort(particles_of_snapshot(snapshot))

    def _report(self, stage: str, fraction: float, dt: float) -> None:
        if self._report_to is not None:
            self._report_to(Progress(stage, self._frame, fraction, self._substeps, self.store.particle_count, dt))

    def _arrive(self) -> Frame:
        """Emit what is due at this frame, sort, and show the particles."""
        self._sort(self._emitted(self._frame, 0.0))
        return make_frame(
            self._frame, self.scene, self.bodies, self.store, self.provenance,
            deleted=self._deleted, substeps=self._substeps, step_seconds=self._step_seconds,
        )  # fmt: skip

    def _emitted(self, frame: int, fraction: float) -> NewParticles | None:
        """The particles that come at a moment after a frame, where there are any."""
        new = [self._admit(batch, frame + fraction) for batch in emission.emit(self.scene, frame, fraction)]
        return joined(new) if new else None

    def _admit(self, batch: emission.Batch, moment: float) -> NewParticles:
        """Number an emitter's particles and give them their law's first state and stress."""
        number = next(n for n, body in enumerate(self.bodies) if batch.emitter_index in body.emitters)
        subject = f'Emitter "{self.scene.emitters[batch.emitter_index].name}"'
        refuse_outside(self.scene, batch.position, subject)
        particles = new_particles(
            batch.position, batch.velocity, batch.velocity_gradient, batch.mass, batch.volume,
            spacing=self.scene.solver.grid_spacing, dtype=self.store.dtype, first_id=len(self.provenance), body=number, subject=subject,
        )  # fmt: skip
        self.provenance = self.provenance.extended(batch, (moment - self.scene.time.frame_start) / self.scene.time.fps)
        wave_speed, gradient = self.bodies[number].prepare(particles.table)
        if wave_speed > self.control.speeds.wave:
            self.control.stiffest = self.bodies[number].name
        fastest = float(np.sqrt((batch.velocity**2).sum(axis=1).max()))
        self.control.speeds = self.control.speeds.at_least(wave_speed, fastest, gradient)
        return particles

    def _sort(self, new: NewParticles | None = None) -> None:
        self._deleted += self.store.sort(new, self._limits)
        self._meet_obstacles()

    def _meet_obstacles(self) -> None:
        """Measure the fixed obstacles; moving ones are measured before every step."""
        self._drift = 0.0
        for obstacle in self.obstacles:
            if not obstacle.is_moving:
                obstacle.meet(self.store)

    def _advance(self) -> None:
        """Advance to the next frame, and let in on the way what is emitted between the two."""
        start, frame_time = self._frame, 1.0 / self.scene.time.fps
        self._frame = start + 1
        self._substeps, self._step_seconds = 0, 0.0
        self.control.begin_frame()
        done = 0.0
        for moment in emission.moments(self.scene, start):
            if moment > 0.0:
                self._advance_to(start, done, moment * frame_time)
                done = moment * frame_time
                self._sort(self._emitted(start, moment))
        self._advance_to(start, done, frame_time)

    def _advance_to(self, start: int, done: float, end: float) -> None:
        """Advance from `done` to `end` [s after frame `start`], freshly sorted, in equal steps as far as the state allows."""
        frame_time = 1.0 / self.scene.time.fps
        sorted_at, sorted_speeds = done, self.control.speeds
        while done < end:
            began = time.perf_counter()
            if self._drift > self._farthest:
                self._sort()
                sorted_at, sorted_speeds = done, self.control.speeds
            obstacle_speed = self._move_obstacles(start + done / frame_time)
            dt = self.control.step(end - done, obstacle_speed)
            unstable = self._step(dt)
            self._substeps += 1
            if unstable is None:
                done = end if dt >= end - done else done + dt
            else:
                self.control.fail(unstable, self._frame, dt)
                self.store.restore()
                self._meet_obstacles()
                done, self.control.speeds = sorted_at, sorted_speeds
            self._step_seconds += time.perf_counter() - began
            self._report("simulating", done / frame_time, dt)

    def _move_obstacles(self, frame: float) -> float:
        """Bring moving obstacles to a moment; returns the greatest speed [m/s]."""
        fastest = 0.0
        for obstacle in self.obstacles:
            if obstacle.is_moving:
                obstacle.move_to(frame)
                obstacle.meet(self.store)
                fastest = max(fastest, obstacle.speed(self.store))
        return fastest

    def _step(self, dt: float) -> str | None:
        """Advance everything by dt [s]; returns the name of what became unstable, or None."""
        store, layout = self.store, self.store.layout
        spacing = self.scene.solver.grid_spacing
        common = (self._scheme, store.table, layout.first, store.body_count, layout.pieces)
        if self._scheme.flip_ratio > 0.0:
            particles_to_grid(*common, 0.0, spacing, store.scratch, store.index, store.arenas)
            update_grid(store.arenas, layout.node_arenas, store.nodes_before, 0.0, 0.0, 0.0, 0.0)
        particles_to_grid(*common, dt, spacing, store.scratch, store.index, store.arenas)
        update_grid(store.arenas, layout.node_arenas, store.nodes, dt, *self._gravity)
        for obstacle in self.obstacles:
            obstacle.meet_matter(store)
        # twice, so that a node in a corner ends up outside of all of them
        for obstacle in self.obstacles + self.obstacles:
            obstacle.push_nodes(store)
        for obstacle in self.obstacles:
            obstacle.fill(store)
        grid_to_particles(
            *common, layout.neighbours, store.nodes, store.nodes_before, dt, spacing, store.scratch, store.index, self._extremes
        )
        fastest, farthest, check = self._extremes.max(axis=0)
        if not math.isfinite(check):
            return self._culprit()
        # a particle may be pushed by several, one after another
        pushed = sum(obstacle.push_particles(store, dt) for obstacle in self.obstacles)
        self._drift += float(farthest) + pushed
        wave_speed, gradient = 0.0, 0.0
        for number, body in enumerate(self.bodies):
            advance_material(
                body.constants, body.dimension, store.table, layout.first, number, store.body_count, layout.pieces, dt, self._extremes
            )
            body_speed, body_gradient, check = self._extremes.max(axis=0)
            if not math.isfinite(check) or dt * body_gradient > LARGEST_GRADIENT_STEP:
                return f'Material "{body.name}"'
            if body_speed > wave_speed:
                self.control.stiffest = body.name
            wave_speed, gradient = max(wave_speed, float(body_speed)), max(gradient, float(body_gradient))
        self.control.speeds = Speeds(wave_speed, float(fastest), gradient)
        return None

    def _culprit(self) -> str:
        """The material whose particles are not finite, for messages; the first of several."""
        first, count = self.store.layout.first, self.store.body_count
        for number, body in enumerate(self.bodies):
            for low, high in zip(first[number:-1:count], first[number + 1 :: count], strict=True):
                if not np.isfinite(self.store.table[:, low:high]).all():
                    return f'Material "{body.name}"'
        return "The grid"
