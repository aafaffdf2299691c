"""One run of a bake: simulates the missing frames and reports progress."""

import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core.errors import CacheError, Cancelled
from ..core.failure import Failure
from ..core.forecast.estimate import Estimate
from ..core.messages import NOTHING, Action, Message, SceneWarning, Topic, message_of
from ..core.particles import Frame, FrameStatistics
from ..core.scene.description import Scene
from ..stopping import Listener
from ..storage.cache_writer import CacheWriter
from ..storage.disk import free_space
from ..storage.failure import FAILURE, remove_failure, write_failure
from ..storage.lock import WriterLock
from ..storage.status import PAUSE, recorded_warnings
from .continuing import take_up
from .limits import Limits
from .pace import Clock, Pace
from .selection import frame_after, plan_of

if TYPE_CHECKING:
    from ..core.stepping.simulation import Progress

Event = dict[str, Any]
OnEvent = Callable[[Event], None]

# Seconds between checks for the files `cancel` and `pause`, between progress events, and between status files.
_LOOK_INTERVAL = 0.02
_EVENT_INTERVAL = 0.1
_STATUS_INTERVAL = 1.0


class Job:
    """One run of a bake."""

    def __init__(
        self, scene: Scene, writer: CacheWriter, lock: WriterLock, wanted: range, limits: Limits, emit: OnEvent, listener: Listener | None
    ) -> None:
        self._scene = scene
        self._writer = writer
        self._lock = lock
        self._limits = limits
        self._emit = emit
        self._listener = listener
        self._pause_file = writer.folder / PAUSE
        # an old request to pause does not apply to this bake
        self._pause_file.unlink(missing_ok=True)
        present = set() if writer.is_replacing else set(writer.cache.whole_moments())
        self._plan = plan_of(wanted, scene.time.subframes, present, writer.from_frame)
        self._done = self._plan.done
        self._clock = Clock()
        self._pace = Pace(self._clock)
        self._stage = ""
        self._kernels = (0, 0)
        self._next_look = self._next_event = self._next_status = 0.0
        self._is_stopped = False
        self._last: Event = {}
        self._warnings: list[Event] = []
        self._has_warned = False

    def run(self, cost: Estimate) -> None:
        """Simulate until no wanted frame is missing. Raises MpmError."""
        if self._listener is not None:
            self._listener.last_words = self._last_words
            self._listener.file = self._writer.cancel_file
        checkpoint = self._writer.read_checkpoint(self._plan.missing[0]) if self._plan.missing and not self._writer.is_replacing else None
        self._emit(
            {
                "event": "start",
                "scene": self._scene.name,
                "cache": str(self._writer.folder),
                "particles": cost.particles,
                "done": self._done,
                "total": self._plan.total,
                "resumed_from": checkpoint[0] if checkpoint else None,
                "take": self._writer.take,
                "scene_hash": self._writer.scene_hash,
                "pid": os.getpid(),
            }
        )
        # before the status is overwritten
        known = self._known_warnings() if checkpoint is not None or not self._plan.missing else None
        self.write_status("running")
        self._warn_of_changes()
        self._warn_of_gaps()
        if self._plan.missing:
            self._warn(cost, known)
            self._simulate(checkpoint)
        else:
            self._keep_warnings(known)
            self._writer.show()
        self.write_status("done")
        self._emit({"event": "done", "frames": self._done, "seconds": self._clock.seconds})
        self._listen_no_more()

    def keep(self, failure: Failure) -> None:
        """Store the failure of the simulation in the cache."""
        try:
            self._lock.check()
            write_failure(self._writer.folder, failure, take=self._writer.take)
        except (OSError, CacheError) as error:
            # the failure itself must still be raised
            self._emit({"event": "warning", **SceneWarning(Topic.FAILURE, Message(f"cannot be written ({error})", (), FAILURE)).fields()})

    def end(self, event: Event) -> None:
        """Emit the event with which the bake ends, other than "done"."""
        try:
            self._emit(event)
        finally:
            self._listen_no_more()
            # if it cannot be written, because the folder is gone or the disk is full, the event still reports the problem
            with contextlib.suppress(CacheError):
                self.write_status(event["event"], message_of(event), reason=event.get("reason"))

    def _listen_no_more(self) -> None:
        if self._listener is not None:
            self._listener.last_words = self._listener.file = None

    def _last_words(self) -> None:
        """End a bake that is too busy to stop: called in another thread, before the process is ended."""
        self._emit({"event": "cancelled", **self.words().fields()})
        print(f"mpm: {self.words().text()}", file=sys.stderr, flush=True)
        with contextlib.suppress(CacheError):
            self.write_status("cancelled", self.words())
        self._lock.release()

    def _warn_of_changes(self) -> None:
        """Warn if existing frames were cached with other settings."""
        changed = self._writer.changed_settings()
        if changed:
            problem = f"its frames were cached with different settings ({', '.join(changed)}) and are kept"
            self._tell_warnings([SceneWarning(Topic.SETTINGS, Message(problem, (Action.RESTART,), str(self._writer.folder))).fields()])

    def _warn_of_gaps(self) -> None:
        """Warn of missing frames of earlier takes, which are not baked here."""
        gaps = self._plan.gaps
        if not gaps:
            return
        count = f"{len(gaps)} frames, {min(gaps)} to {max(gaps)}," if len(gaps) > 1 else f"frame {min(gaps)}"
        verb = "belong" if len(gaps) > 1 else "belongs"
        problem = f"{count} {verb} to an earlier take and cannot be baked here"
        self._tell_warnings([SceneWarning(Topic.GAP, Message(problem, (Action.FIND_MISSING,), str(self._writer.folder))).fields()])

    def _known_warnings(self) -> list[Event] | None:
        """The warnings of an earlier run about the scene itself; None if they are not known."""
        of_scene = {topic.value for topic in Topic if topic.is_of_scene}
        known = recorded_warnings(self._writer.folder, self._writer.scene_hash, self._frames())
        return None if known is None else [warning for warning in known if warning["topic"] in of_scene]

    def _warn(self, cost: Estimate, known: list[Event] | None) -> None:
        """Emit the warnings of a bake; the scene is not checked again if its warnings are known."""
        from ..core.advice.preflight import cost_warnings, scene_warnings

        found = [warning.fields() for warning in scene_warnings(self._scene)] if known is None else known
        free = free_space(self._writer.folder)
        self._tell_warnings(found + [warning.fields() for warning in cost_warnings(self._scene, cost, disk_free=free)])
        self._has_warned = True
        # before there is a checkpoint to resume from
        self.write_status("running")

    def _keep_warnings(self, known: list[Event] | None) -> None:
        """Keep the known warnings in the status of a bake with no missing frames."""
        self._warnings += known or []
        self._has_warned = known is not None

    def _frames(self) -> tuple[int, int]:
        """The scene's first and last frame."""
        return self._scene.time.frame_start, self._scene.time.frame_end

    def _tell_warnings(self, found: list[Event]) -> None:
        self._warnings += found
        for warning in found:
            self._emit({"event": "warning", **warning})

    def _simulate(self, checkpoint: Any) -> None:
        from ..core.stepping.simulation import Simulation

        remove_failure(self._writer.folder)
        if not self._writer.is_replacing:  # replaced frames free disk space
            self._limits.check_room(self._cached())
        if self._writer.from_frame is not None:
            checkpoint = take_up(self._scene, self._writer, checkpoint, self.report)
        simulation = Simulation(self._scene, snapshot=checkpoint[1] if checkpoint else None, report=self.report)
        self._tell_warnings([problem.fields() for problem in simulation.kernel_problems])
        missing, last = set(self._plan.missing), self._plan.missing[-1]
        started = self._clock.seconds
        for frame in simulation.frames():
            self._lock.check()
            if self._writer.is_replacing:
                self._writer.begin(self._scene)
                self.write_status("running")
            if frame.moment in missing:
                self._writer.write_frame(frame, self._clock.seconds - started)
            if not frame.moment.is_frame:
                continue
            self._done += frame.number in self._plan.unfinished
            self._pace.frame_done(frame)
            number, statistics = frame.number, frame.statistics
            self._warn_of_crushing(frame)
            # free the written frame first, because a snapshot is large
            del frame
            if self._writer.is_checkpoint_due(number, is_last=number >= last.frame):
                self._writer.write_checkpoint(number, simulation.snapshot())
            self._tell(number, statistics, self._clock.seconds - started)
            if number >= last.frame:
                return
            self._stop_if_asked()
            self._limits.check_room(self._cached())
            started = self._clock.seconds

    def _warn_of_crushing(self, frame: Frame) -> None:
        """Warn of crushed particles, once."""
        from ..core.stepping.crushed_particles import crushing_of

        warning = None if any(known["topic"] == "crushed" for known in self._warnings) else crushing_of(frame, self._scene)
        if warning is not None:
            self._tell_warnings([warning.fields()])

    def _tell(self, number: int, statistics: FrameStatistics, seconds: float) -> None:
        self._emit(
            {
                "event": "frame",
                "frame": number,
                "particles": statistics.particles,
                "substeps": statistics.substeps,
                "seconds": seconds,
                "deleted": statistics.deleted,
                "crushed": statistics.crushed,
                "done": self._done,
                "total": self._plan.total,
                **self._pace.forecast(self._remaining(number), 0.0),
            }
        )
        self._next_status = 0.0

    def report(self, progress: "Progress") -> None:
        """Handle a progress report of the simulation. Raises Cancelled or Stopped to stop it."""
        self._stop_if_asked()
        if progress.stage == "compiling":
            if progress.kernels != self._kernels:
                compiled, kernels = self._kernels = progress.kernels
                self._emit({"event": "compiling", "frame": progress.frame, "compiled": compiled, "kernels": kernels})
            return
        if progress.stage != "simulating":
            if progress.stage != self._stage:
                self._emit({"event": progress.stage, "frame": progress.frame})
            self._stage = progress.stage
            return
        self._stage = progress.stage
        self._pace.substep()
        now = time.monotonic()
        if now < self._next_event:
            return
        self._next_event = now + _EVENT_INTERVAL
        self._last = {
            "frame": progress.frame,
            "fraction": progress.fraction,
            "substeps": progress.substeps,
            "particles": progress.particles,
            "done": self._done,
            "total": self._plan.total,
            **self._pace.forecast(self._remaining(progress.frame - 1), progress.fraction),
        }
        self._emit({"event": "progress", **self._last})
        if now >= self._next_status:
            self._next_status = now + _STATUS_INTERVAL
            self.write_status("running")

    @property
    def is_stepping(self) -> bool:
        """Whether the simulation is taking substeps, after each of which the bake checks for requests to stop."""
        return self._stage == "simulating"

    def stop(self) -> None:
        """Ask the bake to stop at the next substep."""
        self._is_stopped = True

    def write_status(self, state: str, message: Message = NOTHING, **more: Any) -> None:
        """Write status.json. Raises CacheError if it cannot be written, or the cache was deleted or replaced."""
        self._lock.check()
        self._writer.write_status(
            {
                "state": state,
                **message.fields(),
                "take": self._writer.take,
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "updated": time.time(),
                **self._last,
                "done": self._done,
                "total": self._plan.total,
                "warnings": self._warnings,
                "scene_hash": self._writer.scene_hash,
                "checked_frames": self._frames() if self._has_warned else None,
                **{name: value for name, value in more.items() if value is not None},
            }
        )

    def _remaining(self, number: int) -> int:
        """The number of frames to simulate after frame `number`."""
        return max(0, frame_after(self._plan.missing[-1]) - number)

    def _stop_if_asked(self) -> None:
        """Raise Cancelled or Stopped if the bake should stop; wait if it should pause."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + _LOOK_INTERVAL
            self._is_stopped = self._is_stopped or self._writer.cancel_file.exists()
            self._limits.check_time(self._clock.seconds, self._cached())
            if not self._is_stopped and self._pause_file.exists():
                self._wait()
        if self._is_stopped or (self._listener is not None and self._listener.is_asked):
            raise Cancelled.of(self.words())

    def _wait(self) -> None:
        """Wait until the bake is resumed or canceled."""
        with self._clock.stopped():
            self.write_status("paused")
            self._emit({"event": "paused"})
            while self._pause_file.exists() and not self._is_stopped:
                self._is_stopped = self._writer.cancel_file.exists() or (self._listener is not None and self._listener.is_asked)
                time.sleep(_LOOK_INTERVAL)
        self._next_status = 0.0
        if not self._is_stopped:
            self._emit({"event": "resumed"})

    def _cached(self) -> str:
        return f"{self._done} of {self._plan.total} frames are cached"

    def words(self) -> Message:
        """The message of a canceled bake."""
        return Message(f"canceled: {self._cached()}", (Action.RESUME,))
