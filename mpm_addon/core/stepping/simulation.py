"""The simulation: a scene is advanced frame by frame, in substeps as long as its state allows.

Particles are sorted again before one of them can leave its block by more than a cell. Every frame and every subframe begins
freshly sorted, so that a simulation resumed from a checkpoint gives the same bytes as an uninterrupted one.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.team import team_size
from ..contact.rigid_body import RigidBody
from ..contact.sides import open_limits, refuse_outside
from ..emission import emission
from ..emission.outflows import Outflows
from ..emission.surroundings import Simulated
from ..errors import UnstableError
from ..failure import Failure, Trouble
from ..forecast.estimate import refuse_too_large
from ..particles import Frame, Moment
from ..scene.bodies import body_of
from ..scene.description import Scene
from ..transfer.particle_store import NewParticles, ParticleStore, Strayed, joined, new_particles, particles_of_snapshot
from ..transfer.rows import STRESS
from .compiling import kernel_problems, make_ready
from .continuation import refuse_another_state
from .diagnosis import STRAYED, advice, examined
from .frames import Provenance, Work, make_frame
from .heat import Heat, start_temperature
from .kernel_list import units_of
from .material_instances import MaterialInstance, fields_of, instance_numbers, instances_of, renumbered, row_count_of
from .resumption import check_state
from .rigid_fragments import with_fragments
from .stepper import Stepper
from .support import refuse_unsupported
from .temperature_levels import TemperatureLevels
from .time_step import LARGEST_HALVINGS, Speeds, StepControl


class Progress(NamedTuple):
    """The progress of a simulation.

    Attributes:
        stage: "preparing", "compiling" or "simulating".
        frame: the frame that is being computed.
        fraction: the completed share of that frame, 0 to 1.
        substeps: substeps since the previous frame.
        particles: particles present.
        time_step: length of the last substep [s].
        kernels: while compiling, the number of kernels done and their total.
    """

    stage: str
    frame: int
    fraction: float
    substeps: int
    particles: int
    time_step: float
    kernels: tuple[int, int] = (0, 0)


Report = Callable[[Progress], None]


def simulate(scene: Scene) -> Iterator[Frame]:
    """Simulate a scene, frame by frame, from its first frame (the initial state) to its last.

    A scene with `subframes` also yields that many states between two frames; `Frame.moment` tells them apart.

    Raises:
        SceneError: the scene asks for something that cannot be computed.
        UnstableError: no shorter substep is stable; `failure` lists the particles.
    """
    return Simulation(scene).frames()


class Simulation:
    """A running simulation of a scene.

    Args:
        scene: the scene to simulate.
        snapshot: the arrays of a checkpoint, from `snapshot`, to resume from. Raises CacheError if they do not fit.
        before: the scene of the checkpoint, if it is another one.
        report: called before compiling and after every substep; may raise `Cancelled` to stop.

    Attributes:
        kernel_problems: problems with the stored kernels.
        seconds: time spent so far on the phases "sort", "grid", "contact", "particles", "heat" and "output".
    """

    def __init__(
        self,
        scene: Scene,
        *,
        snapshot: Mapping[str, NDArray[Any]] | None = None,
        before: Scene | None = None,
        report: Report | None = None,
    ) -> None:
        refuse_unsupported(scene)
        if before is not None:
            refuse_another_state(before, scene)
        refuse_too_large(scene)
        self.scene = scene
        self.instances: list[MaterialInstance] = instances_of(scene)
        solver = scene.solver
        self.store = ParticleStore(
            max(1, len(self.instances)),
            solver.precision,
            solver.dimension,
            is_flip=solver.transfer == "flip",
            row_count=row_count_of(self.instances),
            fields=fields_of(self.instances),
        )
        self.provenance = Provenance.empty(scene.carried)
        self.control = StepControl(scene, self.instances)
        self._report_to = report
        self._moment = Moment(scene.time.frame_start)
        self._coming = scene.time.frame_start
        self._deleted = 0
        self._substeps = 0
        self._step_seconds = 0.0
        self._compile()
        self._tell(Progress("preparing", self._coming, 0.0, 0, self.store.particle_count, 0.0))
        self._stepper = Stepper(scene, self.instances, self.store)
        self.seconds = self._stepper.clock.seconds
        self._outflows = Outflows(scene)
        self._heat = Heat(scene, self.store)
        self._levels = TemperatureLevels(scene, self.instances, self._heat)
        self._limits = open_limits(scene.domain, solver.grid_spacing, solver.dimension)
        self._is_resumed = snapshot is not None
        if snapshot is not None:
            self._load(snapshot, before)

    def frames(self) -> Iterator[Frame]:
        """The frames from the first one on, or from the one after the checkpoint."""
        if not self._is_resumed:
            yield self._arrive()
        while self._moment.number < self.scene.time.frame_end:
            self._advance()
            yield self._arrive()

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The exact state at the last frame or subframe, as the arrays of a checkpoint."""
        return {
            **self.store.snapshot(),
            **self.provenance.arrays(),
            **self._stepper.pins.snapshot(),
            **self._stepper.rest.snapshot(),
            **self._stepper.tearing.snapshot(),
            **self._heat.snapshot(),
            "moment": np.array(self._moment),
            "substeps": np.array(self._substeps),
            "deleted": np.array(self._deleted),
            "speeds": np.array(self.control.speeds),
            "modulus_speed": np.array(self._stepper.moduli.speed),
            **self._stepper.rigid.arrays(),
            **self._stepper.fragments.arrays(),
        }

    @property
    def rigid_bodies(self) -> list[RigidBody]:
        """The dynamic colliders, in the scene's order, and then the fragments that have become rigid."""
        return self._stepper.rigid.bodies

    def _compile(self) -> None:
        """Load or compile the kernels that the scene needs."""

        def tell(done: int, total: int) -> None:
            self._tell(Progress("compiling", self._coming, done / total, 0, 0, 0.0, kernels=(done, total)))

        make_ready(units_of(self.scene), team_size(), tell)
        self.kernel_problems = kernel_problems()

    def _load(self, snapshot: Mapping[str, NDArray[Any]], before: Scene | None) -> None:
        check_state(snapshot, self.snapshot(), self.scene, len(self.instances))
        self._moment = Moment(*(int(part) for part in snapshot["moment"]))
        self._coming = self._moment.number
        self._substeps = int(snapshot["substeps"])
        self._deleted = int(snapshot["deleted"])
        self.control.speeds = Speeds(*(float(speed) for speed in snapshot["speeds"]))
        self._stepper.moduli.load(snapshot)
        self.provenance = Provenance.from_arrays(snapshot)
        self._stepper.pins.load(snapshot)
        self._heat.load(snapshot, self._moment.frame)
        self._stepper.move_to(self._moment.frame)
        numbers = np.arange(len(self.instances)) if before is None else renumbered(instances_of(before), self.instances)
        self._stepper.fragments.load(snapshot, numbers)
        self._stepper.rigid.load_arrays(snapshot)
        particles = particles_of_snapshot(snapshot)
        if before is not None:
            particles.instances[:] = numbers[particles.instances]
            self._renew_stress(particles)
        self._outflows.add_checked(self.store, particles, self._moment.frame)
        self._stepper.rest.load({**snapshot, "instances": particles.instances})
        self._stepper.tearing.load(snapshot, self.provenance.rest_position)
        self._stepper.breaking.load()
        self._stepper.begin()
        if before is not None:
            self.control.speeds = self.control.speeds.at_least(*self._stepper.rest.speeds)

    def _renew_stress(self, particles: NewParticles) -> None:
        """Recompute stresses and wave speeds after the laws have changed."""
        self.control.speeds = self.control.speeds._replace(wave=0.0)
        for number, instance in enumerate(self.instances):
            its = np.flatnonzero(particles.instances == number)
            if not len(its):
                continue
            table = particles.table[:, its]
            wave_speed, gradient = instance.renew(table)
            # only the stress is taken over: some laws also change J by the density around a particle, which is not known here
            particles.table[STRESS : STRESS + 6, its] = table[STRESS : STRESS + 6]
            if wave_speed > self.control.speeds.wave:
                self.control.stiffest = instance.name
            self.control.speeds = self.control.speeds.at_least(wave_speed, 0.0, gradient)

    def _report(self, fraction: float, dt: float) -> None:
        count = self.store.particle_count + len(self._stepper.fragments.held.id)
        self._tell(Progress("simulating", self._coming, fraction, self._substeps, count, dt))

    def _tell(self, progress: Progress) -> None:
        if self._report_to is not None:
            self._report_to(progress)

    def _arrive(self) -> Frame:
        """Emit the particles that are due at the current moment, sort, and return the frame."""
        self._stepper.clock.start()
        self._sort(self._emitted(self._moment.number, self._moment.share), is_frame=True)
        if self._stepper.wholes.hold(self._stepper.pins.places.id):
            self._sort()
        self._stepper.weigh()
        frame = make_frame(
            self._moment,
            self.scene,
            self.instances,
            self.store,
            self.provenance,
            work=Work(self._deleted, self._substeps, self._step_seconds),
            rigid=self._stepper.rigid,
            bonds=self._stepper.tearing.shown,
            heat=self._heat,
        )
        frame = with_fragments(frame, self._stepper.fragments, self._stepper.rigid)
        self._stepper.clock.spent("output")
        return frame

    def _emitted(self, frame: int, fraction: float) -> NewParticles | None:
        """The particles emitted at a moment after a frame, or None."""
        self._stepper.move_to(frame + fraction)
        surroundings = Simulated(self.scene, self.store, self._stepper.solids())
        batches, new = emission.emit(self.scene, frame, fraction, surroundings)[::-1], []
        while batches:
            # each batch is released once it is admitted, because batches may be large
            new.append(self._admit(batches.pop(), frame + fraction))
        return joined(new) if new else None

    def _admit(self, batch: emission.Batch, moment: float) -> NewParticles:
        """Number an emitter's particles and give them their law's initial state and stress."""
        emitter = self.scene.emitters[batch.emitter_index]
        subject = f'Emitter "{emitter.name}"'
        material_index = list(self.scene.materials).index(emitter.material)
        body, temperature = body_of(self.scene, batch.emitter_index), start_temperature(self.scene, batch.emitter_index, moment)
        combinations = batch.painted.combinations
        numbers = instance_numbers(self.instances, body, material_index, combinations, temperature=temperature)[batch.painted.combination]
        refuse_outside(self.scene, batch.points.position, subject)
        particles = new_particles(
            batch.points,
            spacing=self.scene.solver.grid_spacing,
            dtype=self.store.dtype,
            first_id=len(self.provenance),
            instances=numbers,
            subject=subject,
            row_count=self.store.row_count,
        )
        self._stepper.pins.add(batch, len(self.provenance), moment)
        self._heat.add(batch.emitter_index, len(batch.points.position), moment)
        self.provenance = self.provenance.extended(batch, self.scene.time.seconds_at(moment))
        fastest = float(np.sqrt((batch.points.velocity**2).sum(axis=1).max()))
        present = np.unique(numbers)
        for number in present:
            its = slice(None) if len(present) == 1 else np.flatnonzero(numbers == number)
            # a view if all particles belong to one instance
            table = particles.table[:, its]
            wave_speed, gradient = self.instances[number].prepare(table)
            particles.table[:, its] = table
            self.control.take_in(self.instances[number].name, wave_speed, fastest, gradient)
        self._stepper.rest.add(particles)
        self._stepper.tearing.add(particles, self.provenance.rest_position[particles.ids[0] :])
        return particles

    def _sort(self, new: NewParticles | None = None, *, is_frame: bool = False) -> None:
        assert self._stepper.planned is None, "the table holds no velocities while a substep is planned"
        moment = self._stepper.moment
        self._stepper.breaking.separate(self.scene.time.seconds_at(moment))
        if is_frame:
            self._deleted += self._stepper.fragments.leave(self._limits)
            self._stepper.fragments.harden(self.scene.time.seconds_at(moment), self._stepper.pins.places.id)
        new = self._stepper.wholes.release(new, self.control.take_in)
        self._levels.update(self.store, self.control)
        self._deleted += self._outflows.sort(self.store, new, self._limits, moment)
        self._stepper.begin()
        self._stepper.clock.spent("sort")
        # only once the sort has succeeded, since one that fails is done again
        self._heat.has_changed = False
        if is_frame:
            self._heat.advance(moment, self._stepper.solids())
            self._stepper.clock.spent("heat")

    def _advance(self) -> None:
        """Advance to the next frame or subframe, emitting particles that are due before it."""
        start, parts, frame_time = self._moment.number, self.scene.time.subframes + 1, self.scene.time.frame_seconds
        self._coming = start + 1
        if self._moment.is_frame:
            self._substeps, self._step_seconds = 0, 0.0
        # a subframe begins like a frame, so a simulation resumed from it gives the same bytes
        self.control.begin_frame()
        end = (self._moment.part + 1) / parts
        done = self._moment.share * frame_time
        self._stepper.begin_frame(start + self._moment.share)
        for moment in emission.moments(self.scene, start):
            if self._moment.share < moment < end:
                self._advance_to(start, done, moment * frame_time)
                done = moment * frame_time
                self._sort(self._emitted(start, moment))
        self._advance_to(start, done, end * frame_time)
        self._moment = Moment(start + 1) if end == 1.0 else Moment(start, self._moment.part + 1, parts)

    def _advance_to(self, start: int, done: float, end: float) -> None:
        """Advance from `done` to `end` [s after frame `start`], freshly sorted, in equal substeps if the state allows.

        After an unstable substep, the simulation returns to the last sort and continues in shorter substeps, which grow again at
        each later sort.
        """
        stepper, control, frame_time = self._stepper, self.control, self.scene.time.frame_seconds
        sorted_at, sorted_speeds, dt = done, control.speeds, 0.0
        while done < end or stepper.may_have_strayed:
            began = time.perf_counter()
            stepper.clock.start()
            moment = start + done / frame_time
            control.drive = stepper.move_to(moment)
            trouble, before = None, done
            if stepper.must_sort:
                try:
                    self._sort()
                except Strayed:
                    trouble = STRAYED
                else:
                    sorted_at, sorted_speeds = done, control.speeds
                    control.lengthen()
            if trouble is None and done < end:
                dt, done, trouble = self._step(moment, done, end)
            if trouble is not None:
                if not control.shorten(dt):
                    raise self._failure(trouble, dt, start + before / frame_time)
                stepper.move_to(start + sorted_at / frame_time)
                stepper.restore()
                done, control.speeds = sorted_at, sorted_speeds
            self._step_seconds += time.perf_counter() - began
            self._report(done / frame_time, dt)

    def _step(self, moment: float, done: float, end: float) -> tuple[float, float, Trouble | None]:
        """Take a substep at a moment, in frames; returns its length [s], the time reached [s], and what became unstable, or None."""
        stepper, control = self._stepper, self.control
        obstacle_speed = stepper.move_obstacles(moment)
        if stepper.planned is None:
            stepper.moduli.follow(control, obstacle_speed)
        stepper.explained_speed = control.explained_speed(max(obstacle_speed, stepper.pins.spring_speed))
        stepper.clock.spent("contact")
        dt = stepper.planned or control.step(end - done, obstacle_speed, self._coming)
        after = end if dt >= end - done else done + dt
        # the next substep is chosen from the current speeds, which change by less than the safety margin of the limits
        next_dt = control.step(end - after, obstacle_speed, self._coming) if after < end else None
        trouble = stepper.step(dt, next_dt)
        self._substeps += 1
        if trouble is None:
            control.speeds = stepper.speeds
            control.stiffest = stepper.stiffest
        return dt, after, trouble

    def _failure(self, trouble: Trouble, dt: float, moment: float) -> UnstableError:
        """The error that ends the simulation at a moment, in frames, after a substep of dt [s] that cannot be shortened."""
        trouble, ids, position = examined(trouble, self._stepper, self.store, self.instances, dt)
        emitters = tuple(self.scene.emitters[number].name for number in np.unique(self.provenance.emitter[ids]))
        failure = Failure(
            kind=trouble.kind,
            subject=trouble.subject,
            frame=self._coming,
            time=self.scene.time.seconds_at(moment),
            time_step=dt,
            shortening=2**LARGEST_HALVINGS,
            id=ids,
            position=position,
            emitters=emitters,
            advice=advice(trouble, self.scene, self.instances, self.control),
        )
        return UnstableError.of_failure(failure)
