"""The bake: a scene becomes a cache, frame by frame, with progress, cancel and resume.

Runs in a process of its own (`python -m mpm_addon bake`) or in the caller's. Loads numba only when there is something
to simulate, so that the command line can set numba's threads and cache first.
"""

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core.description import Scene
from .core.errors import Cancelled, MpmError, SceneError, UnstableError
from .core.estimate import Estimate, estimate
from .core.failure import Failure
from .core.particles import Frame, Moment
from .core.support import refuse_unsupported
from .storage.cache_writer import CacheWriter
from .storage.disk import free_space
from .storage.failure import FAILURE, remove_failure, summary, write_failure
from .storage.scene_file import read_scene

if TYPE_CHECKING:
    from .core.simulation import Progress

Event = dict[str, Any]
OnEvent = Callable[[Event], None]

# Seconds between two looks at the cancel file, two progress events, two status files.
_CANCEL_INTERVAL = 0.02
_EVENT_INTERVAL = 0.1
_STATUS_INTERVAL = 1.0


def bake(
    scene_path: str | Path,
    cache_folder: str | Path,
    *,
    frames: tuple[int, int] | None = None,
    restart: bool = False,
    variant: str | None = None,
    on_event: OnEvent | None = None,
) -> None:
    """Simulate a scene into a cache. Frames that are there already are kept, and the bake goes on after them.

    Args:
        scene_path: a scene file or its folder.
        cache_folder: the cache; made where it is missing.
        frames: the first and last frame to keep; all of the scene's where it is not given.
        restart: replace the frames that an earlier bake left, whatever scene they are of, once there is a new one.
        variant: the name of a variant of the scene.
        on_event: called with every event (see docs/formats.md). The last one is "done", "cancelled" or "error".

    Raises:
        SceneError: the scene is wrong or too large for the memory.
        CacheError: the folder holds something else, or cannot be written.
        UnstableError: the simulation failed; the frames before are kept, and `failure.npz` says of which particles.
        Cancelled: a signal or the file `cancel` in the cache stopped the bake; the frames before are kept.
    """
    emit = on_event or (lambda _event: None)
    job = None

    def stop() -> None:
        if job is None:
            raise KeyboardInterrupt
        job.stop()

    try:
        with _stopping_on_signals(stop):
            scene = read_scene(scene_path, variant)
            wanted = wanted_frames(scene, frames)
            refuse_unsupported(scene)
            cost = estimate(scene)
            writer = CacheWriter(Path(cache_folder), scene)
            writer.prepare(scene, restart=restart)
            job = _Job(scene, writer, wanted, emit)
            job.run(cost)
    except (Cancelled, KeyboardInterrupt) as error:
        message = job.words() if job is not None else "cancelled before the bake began."
        _end(job, "cancelled", message, emit)
        raise Cancelled(message) from error
    except UnstableError as error:
        _end(job, "error", str(error), emit, error.failure)
        raise
    except MpmError as error:
        _end(job, "error", str(error), emit)
        raise
    except MemoryError as error:
        problem = SceneError(f"{scene_path}: the memory ran out; use a larger grid_spacing or close other programs.")
        _end(job, "error", str(problem), emit)
        raise problem from error
    except Exception as error:
        _end(job, "error", f"{type(error).__name__}: {error}", emit)
        raise


def wanted_frames(scene: Scene, frames: tuple[int, int] | None) -> range:
    """The frames to keep. Raises SceneError where they are not all of the scene's."""
    first, last = frames or (scene.time.frame_start, scene.time.frame_end)
    if last < first:
        raise SceneError(f"frames {first}-{last}: the last is before the first; exchange them.")
    if first < scene.time.frame_start or last > scene.time.frame_end:
        raise SceneError(
            f'frames {first}-{last}: scene "{scene.name}" has frames {scene.time.frame_start} to '
            f"{scene.time.frame_end}; stay within them, or change frame_start or frame_end."
        )
    return range(first, last + 1)


def wanted_moments(frames: range, subframes: int) -> list[Moment]:
    """The frames and the states between them that belong to a cache of these frames, ascending."""
    between = [(part, subframes + 1) for part in range(1, subframes + 1)]
    return [
        moment for number in frames for moment in (Moment(number), *(Moment(number, *parts) for parts in between if number < frames[-1]))
    ]


def _frame_after(moment: Moment) -> int:
    """The frame that is complete with a moment."""
    return moment.number if moment.is_frame else moment.number + 1


def _end(job: "_Job | None", outcome: str, message: str, emit: OnEvent, failure: Failure | None = None) -> None:
    if job is not None:
        if failure is not None:
            job.keep(failure)
        job.write_status(outcome, message)
    emit({"event": outcome, "message": message, **({} if failure is None else {"failure": summary(failure)})})


class _Job:
    """One run of a bake."""

    def __init__(self, scene: Scene, writer: CacheWriter, wanted: range, emit: OnEvent) -> None:
        self._scene = scene
        self._writer = writer
        self._emit = emit
        present = set() if writer.is_replacing else set(writer.cache.whole_moments())
        self._missing = [moment for moment in wanted_moments(wanted, scene.time.subframes) if moment not in present]
        self._total = len(wanted)
        # the states before a frame are part of it: it is done when they are all there
        self._unfinished = {_frame_after(moment) for moment in self._missing}
        self._done = len(wanted) - len(self._unfinished)
        self._pace = _Pace()
        self._stage = ""
        self._next_look = self._next_event = self._next_status = 0.0
        self._is_stopped = False
        self._last: Event = {}
        self._warnings: list[Event] = []

    def run(self, cost: Estimate) -> None:
        """Simulate until no wanted frame is missing. Raises MpmError."""
        started = time.perf_counter()
        checkpoint = self._writer.read_checkpoint(self._missing[0]) if self._missing and not self._writer.is_replacing else None
        self._emit(
            {
                "event": "start",
                "scene": self._scene.name,
                "cache": str(self._writer.folder),
                "particles": cost.particles,
                "done": self._done,
                "total": self._total,
                "resumed_from": checkpoint[0] if checkpoint else None,
                "pid": os.getpid(),
            }
        )
        self.write_status("running")
        if self._missing:
            self._warn(cost)
            self._simulate(checkpoint)
        self.write_status("done")
        self._emit({"event": "done", "frames": self._total, "seconds": time.perf_counter() - started})

    def _warn(self, cost: Estimate) -> None:
        """Tell what is worth a second look."""
        from .core.preflight import warnings_of

        self._warnings = [vars(warning) for warning in warnings_of(self._scene, cost, disk_free=free_space(self._writer.folder))]
        for warning in self._warnings:
            self._emit({"event": "warning", **warning})

    def _simulate(self, checkpoint: Any) -> None:
        from .core.simulation import Simulation

        remove_failure(self._writer.folder)
        simulation = Simulation(self._scene, snapshot=checkpoint[1] if checkpoint else None, report=self.report)
        missing, last = set(self._missing), self._missing[-1]
        started = time.perf_counter()
        for frame in simulation.frames():
            if self._writer.is_replacing:
                self._writer.begin(self._scene)
                self.write_status("running")
            if frame.moment in missing:
                self._writer.write_frame(frame, time.perf_counter() - started)
            if not frame.moment.is_frame:
                continue
            self._done += frame.number in self._unfinished
            if self._writer.is_state_due(frame.number, is_last=frame.number >= last.frame):
                self._writer.write_checkpoint(frame.number, simulation.snapshot())
            self._pace.frame_done(frame)
            self._tell(frame, time.perf_counter() - started)
            if frame.number >= last.frame:
                return
            self._stop_if_asked()
            started = time.perf_counter()

    def _tell(self, frame: Frame, seconds: float) -> None:
        statistics = frame.statistics
        self._emit(
            {
                "event": "frame",
                "frame": frame.number,
                "particles": statistics.particles,
                "substeps": statistics.substeps,
                "seconds": seconds,
                "deleted": statistics.deleted,
                "done": self._done,
                "total": self._total,
                **self._pace.forecast(self._remaining(frame.number), 0.0),
            }
        )
        self._next_status = 0.0

    def report(self, progress: "Progress") -> None:
        """Take a report of the simulation. Raises Cancelled where the bake is to stop."""
        self._stop_if_asked()
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
            "total": self._total,
            **self._pace.forecast(self._remaining(progress.frame - 1), progress.fraction),
        }
        self._emit({"event": "progress", **self._last})
        if now >= self._next_status:
            self._next_status = now + _STATUS_INTERVAL
            self.write_status("running")

    def stop(self) -> None:
        """Ask the bake to stop at the next substep.

        Raises:
            KeyboardInterrupt: there is no next substep yet, because numba is loading or compiling.
        """
        self._is_stopped = True
        if self._stage != "simulating":
            raise KeyboardInterrupt

    def write_status(self, state: str, message: str = "") -> None:
        """Write status.json."""
        self._writer.write_status(
            {
                "state": state,
                "message": message,
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "updated": time.time(),
                **self._last,
                "done": self._done,
                "total": self._total,
                "warnings": self._warnings,
            }
        )

    def keep(self, failure: Failure) -> None:
        """Keep what made the simulation stop in the cache."""
        try:
            write_failure(self._writer.folder, failure)
        except OSError as error:
            # what stopped the bake matters more than what may be told of it
            self._emit({"event": "warning", "topic": "failure", "subject": FAILURE, "message": f"cannot be written ({error.strerror})."})

    def _remaining(self, number: int) -> int:
        """Frames that are still to be simulated after frame `number`."""
        return max(0, _frame_after(self._missing[-1]) - number)

    def _stop_if_asked(self) -> None:
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + _CANCEL_INTERVAL
            self._is_stopped = self._is_stopped or self._writer.cancel_file.exists()
        if self._is_stopped:
            raise Cancelled(self.words())

    def words(self) -> str:
        """What a cancelled bake says."""
        return f"cancelled: {self._done} of {self._total} frames are there; bake again to go on after them."


class _Pace:
    """How fast frames come: the mean over the frames that took steps."""

    def __init__(self) -> None:
        self._started: float | None = None
        self._frames = 0
        self._elapsed = 0.0

    def substep(self) -> None:
        if self._started is None:
            self._started = time.perf_counter()

    def frame_done(self, frame: Frame) -> None:
        if self._started is not None and frame.statistics.substeps:
            self._frames += 1
            self._elapsed = time.perf_counter() - self._started

    def forecast(self, remaining: int, fraction: float) -> Event:
        """Seconds a frame and until the end; None while nothing is known."""
        per_frame = self._elapsed / self._frames if self._frames else None
        if per_frame is None and self._started is not None and fraction > 0.0:
            per_frame = (time.perf_counter() - self._started) / fraction
        eta = None if per_frame is None else per_frame * (remaining - fraction)
        return {"seconds_per_frame": per_frame, "eta_seconds": eta}


@contextlib.contextmanager
def _stopping_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Let SIGINT and SIGTERM call `stop`; only a main thread can listen."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in before:
            signal.signal(number, lambda *_: stop())
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
