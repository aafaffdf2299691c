"""One run of a bake: simulates the missing frames."""

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Any

from ..core.errors import CacheError, Cancelled, SceneError
from ..core.failure import Failure
from ..core.forecast.estimate import Estimate
from ..core.messages import Message, SceneWarning, Topic
from ..core.scene.description import Scene
from ..stopping import Listener
from ..storage.cache_writer import CacheWriter
from ..storage.events import CancelledEvent, Ending, OnEvent, StoppedEvent
from ..storage.failure import FAILURE, remove_failure, write_failure
from ..storage.lock import WriterLock
from ..storage.status import PAUSE
from .limits import Limits
from .new_take import begin_take, warnings_of
from .reporter import Reporter
from .selection import plan_of

if TYPE_CHECKING:
    from ..core.stepping.simulation import Progress

# Seconds between checks for the files `cancel` and `pause`.
_LOOK_INTERVAL = 0.02


class Job:
    """One run of a bake."""

    def __init__(
        self, scene: Scene, writer: CacheWriter, lock: WriterLock, wanted: range, limits: Limits, emit: OnEvent, listener: Listener | None
    ) -> None:
        self._scene, self._writer, self._lock = scene, writer, lock
        self._limits = limits
        self._listener = listener
        self._pause_file = writer.folder / PAUSE
        # an old request to pause does not apply to this bake
        self._pause_file.unlink(missing_ok=True)
        present = set() if writer.is_replacing else set(writer.cache.whole_moments())
        self._plan = plan_of(wanted, scene.time.subframes, present, writer.from_frame)
        self._reporter = Reporter(scene, writer, lock, self._plan, emit)
        self._next_look = 0.0
        self._is_stopped = False

    def run(self, cost: Estimate) -> None:
        """Simulate until no wanted frame is missing. Raises MpmError."""
        if self._listener is not None:
            self._listener.last_words = self._last_words
            self._listener.file = self._writer.cancel_file
        checkpoint = self._writer.read_checkpoint(self._plan.missing[0]) if self._plan.missing and not self._writer.is_replacing else None
        self._reporter.begin(cost, checkpoint[0] if checkpoint else None)
        if self._plan.missing:
            try:
                self._simulate(checkpoint)
            except SceneError:
                # the warnings may tell more of what is wrong; the error itself is raised in any case
                with contextlib.suppress(SceneError):
                    self._reporter.check_scene()
                raise
        else:
            self._writer.show()
        self._reporter.done()
        self._listen_no_more()

    def keep(self, failure: Failure) -> None:
        """Store the failure of the simulation in the cache."""
        try:
            self._lock.check()
            write_failure(self._writer.folder, failure, take=self._writer.take)
        except (OSError, CacheError) as error:
            # the failure itself must still be raised
            self._reporter.warn([SceneWarning(Topic.FAILURE, Message(f"it cannot be written ({error})", (), FAILURE))])

    def end(self, event: Ending) -> None:
        """Emit the event with which the bake ends."""
        try:
            self._reporter.emit(event)
        finally:
            self._listen_no_more()
            # if it cannot be written, because the folder is gone or the disk is full, the event still reports the problem
            with contextlib.suppress(CacheError):
                self._reporter.write_status(event.word, event.message, reason=event.reason if isinstance(event, StoppedEvent) else None)

    def report(self, progress: "Progress") -> None:
        """Handle a progress report of the simulation. Raises Cancelled or Stopped to stop it."""
        self._stop_if_asked()
        self._reporter.tell_progress(progress)

    @property
    def is_stepping(self) -> bool:
        """Whether the simulation is taking substeps, after each of which the bake checks for requests to stop."""
        return self._reporter.stage == "simulating"

    def stop(self) -> None:
        """Ask the bake to stop at the next substep."""
        self._is_stopped = True

    def words(self) -> Message:
        """The message of a canceled bake."""
        return self._reporter.canceled()

    def _listen_no_more(self) -> None:
        if self._listener is not None:
            self._listener.last_words = self._listener.file = None

    def _last_words(self) -> None:
        """End a bake that is too busy to stop: called in another thread, before the process is ended."""
        self._reporter.emit(CancelledEvent(message=self.words()))
        print(f"mpm: {self.words().text()}", file=sys.stderr, flush=True)
        with contextlib.suppress(CacheError):
            self._reporter.write_status("cancelled", self.words())
        self._lock.release()

    def _simulate(self, checkpoint: Any) -> None:
        from ..core.stepping.simulation import Simulation

        reporter = self._reporter
        remove_failure(self._writer.folder)
        if not self._writer.is_replacing:  # replaced frames free disk space
            self._limits.check_room(reporter.cached())
        if self._writer.from_frame is not None:
            reporter.warn(warnings_of(self._scene, self._writer))
            checkpoint = begin_take(self._scene, self._writer, checkpoint, self.report)
        simulation = Simulation(self._scene, snapshot=checkpoint[1] if checkpoint else None, report=self.report)
        reporter.warn(simulation.kernel_problems)
        missing, last = set(self._plan.missing), self._plan.missing[-1]
        started = reporter.clock.seconds
        for frame in simulation.frames():
            self._lock.check()
            if self._writer.is_replacing:
                self._writer.begin(self._scene)
                reporter.write_status("running")
            if frame.moment in missing:
                self._writer.write_frame(frame, reporter.clock.seconds - started)
            if not frame.moment.is_frame:
                continue
            reporter.take_frame(frame)
            number, statistics = frame.number, frame.statistics
            reporter.warn_of_frame(frame)
            # free the written frame first, because a snapshot is large
            del frame
            if self._writer.is_checkpoint_due(number, is_last=number >= last.frame):
                self._writer.write_checkpoint(number, simulation.snapshot())
            reporter.tell_frame(number, statistics, reporter.clock.seconds - started)
            reporter.check_scene()
            if number >= last.frame:
                return
            self._stop_if_asked()
            self._limits.check_room(reporter.cached())
            started = reporter.clock.seconds

    def _stop_if_asked(self) -> None:
        """Raise Cancelled or Stopped if the bake should stop; wait if it should pause."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + _LOOK_INTERVAL
            self._is_stopped = self._is_stopped or self._writer.cancel_file.exists()
            self._limits.check_time(self._reporter.clock.seconds, self._reporter.cached())
            if not self._is_stopped and self._pause_file.exists():
                self._wait()
        if self._is_stopped or (self._listener is not None and self._listener.is_asked):
            raise Cancelled.of(self.words())

    def _wait(self) -> None:
        """Wait until the bake is resumed or canceled."""
        with self._reporter.clock.stopped():
            self._reporter.paused()
            while self._pause_file.exists() and not self._is_stopped:
                self._is_stopped = self._writer.cancel_file.exists() or (self._listener is not None and self._listener.is_asked)
                time.sleep(_LOOK_INTERVAL)
        if not self._is_stopped:
            self._reporter.resumed()
