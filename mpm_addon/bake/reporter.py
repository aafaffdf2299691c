"""What one run of a bake tells: events to its caller, and a status file to everyone else."""

import os
import socket
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..core.forecast.estimate import Estimate
from ..core.forecast.stiffness import settled_moduli
from ..core.messages import NOTHING, Action, Message, SceneWarning, Topic
from ..core.particles import Frame, FrameStatistics
from ..core.processor import thread_count
from ..core.scene.description import Scene
from ..storage.cache_writer import CacheWriter
from ..storage.disk import free_space
from ..storage.events import (
    BakeFrame,
    BakeProgress,
    BakeStart,
    Compiling,
    Finished,
    OnEvent,
    Paused,
    Preparing,
    Resumed,
    WarningEvent,
)
from ..storage.lock import WriterLock
from ..storage.status import recorded_warnings
from .pace import Clock, Pace, course_by_frame
from .selection import Plan, frame_after

if TYPE_CHECKING:
    from ..core.stepping.simulation import Progress

# Seconds between progress events, and between status files.
_EVENT_INTERVAL = 0.1
_STATUS_INTERVAL = 1.0


class Reporter:
    """What one run of a bake tells.

    Attributes:
        emit: called with every event.
        clock: the working time of the run.
        stage: what the simulation is doing.
    """

    def __init__(self, scene: Scene, writer: CacheWriter, lock: WriterLock, plan: Plan, emit: OnEvent) -> None:
        self.emit = emit
        self.clock = Clock()
        self.stage = ""
        self._scene, self._writer, self._lock, self._plan = scene, writer, lock, plan
        self._done = plan.done
        is_missing = bool(plan.missing)
        self._pace = Pace(self.clock, course_by_frame(scene) if is_missing else {}, frame_after(plan.missing[-1]) if is_missing else 0)
        self._kernels = (0, 0)
        self._next_event = self._next_status = 0.0
        self._last: BakeProgress | None = None
        self._warnings: list[SceneWarning] = []
        self._has_checked = False
        self._automatic = {
            "grid_spacing": scene.solver.grid_spacing,
            "bulk_moduli": settled_moduli(scene),
            "threads": thread_count(),
        }

    def begin(self, cost: Estimate, resumed_from: int | None) -> None:
        """Report the start, with the warnings that are known.

        A scene that was checked before is not checked again; otherwise it is checked here only if the bake resumes, see `check_scene`.
        """
        self.emit(
            BakeStart(
                scene=self._scene.name,
                cache=str(self._writer.folder),
                particles=cost.particles,
                **self._counts(),
                resumed_from=resumed_from,
                take=self._writer.take,
                scene_hash=self._writer.scene_hash,
                pid=os.getpid(),
            )
        )
        # before the status is overwritten
        known = self._known_warnings() if resumed_from is not None or not self._plan.missing else None
        self.write_status("running")
        self.warn(_changes(self._writer))
        self.warn(_gaps(self._plan, self._writer))
        if not self._plan.missing:
            self._warnings += known or []
            self._has_checked = known is not None
            return
        self.warn(known or [])
        self._has_checked = known is not None
        if resumed_from is not None:
            # its frames may show what such a warning has foreseen
            self.check_scene()
        self.warn(_cost_warnings(self._scene, self._writer, cost))
        # before there is a checkpoint to resume from
        self.write_status("running")

    def check_scene(self) -> None:
        """Emit the warnings of the scene, unless they are known. They take about as long as the first frame, so it comes first."""
        if self._has_checked:
            return
        from ..core.advice.preflight import scene_warnings

        self.warn(scene_warnings(self._scene))
        self._has_checked = True
        self.write_status("running")

    def done(self) -> None:
        """Report that no wanted frame is missing."""
        self.write_status("done")
        self.emit(Finished(frames=self._done, seconds=self.clock.seconds))

    def warn(self, warnings: Iterable[SceneWarning]) -> None:
        """Emit warnings, and keep them for the status."""
        for warning in warnings:
            self._warnings.append(warning)
            self.emit(WarningEvent(warning=warning))

    def warn_of_frame(self, frame: Frame) -> None:
        """Warn of crushed and of fallen particles, each once; not of a fall that was foreseen."""
        from ..core.advice.leaving import fallen_of
        from ..core.stepping.crushed_particles import crushing_of

        known = {warning.topic for warning in self._warnings}
        crushing = None if Topic.CRUSHED in known else crushing_of(frame, self._scene)
        fallen = None if known & {Topic.FALLEN, Topic.FALLS_FREELY} else fallen_of(frame, self._scene)
        self.warn([warning for warning in (crushing, fallen) if warning is not None])

    def take_frame(self, frame: Frame) -> None:
        """Count a finished frame."""
        self._done += frame.number in self._plan.unfinished
        self._pace.frame_done(frame)

    def tell_frame(self, number: int, statistics: FrameStatistics, seconds: float) -> None:
        """Report a finished frame and the time that it took [s]."""
        self.emit(
            BakeFrame(
                frame=number,
                particles=statistics.particles,
                substeps=statistics.substeps,
                seconds=seconds,
                deleted=statistics.deleted,
                crushed=statistics.crushed,
                **self._counts(),
                **self._pace.forecast(number, 0.0),
            )
        )
        self._next_status = 0.0

    def tell_progress(self, progress: "Progress") -> None:
        """Report what the simulation is doing, a few times per second."""
        if progress.stage == "compiling":
            # the first frame is far away
            self.check_scene()
            if progress.kernels != self._kernels:
                compiled, kernels = self._kernels = progress.kernels
                self.emit(Compiling(frame=progress.frame, compiled=compiled, kernels=kernels))
            return
        if progress.stage != "simulating":
            if progress.stage != self.stage:
                self.emit(Preparing(frame=progress.frame))
            self.stage = progress.stage
            return
        self.stage = progress.stage
        self._pace.substep()
        now = time.monotonic()
        if now < self._next_event:
            return
        self._next_event = now + _EVENT_INTERVAL
        self._last = BakeProgress(
            frame=progress.frame,
            fraction=progress.fraction,
            substeps=progress.substeps,
            particles=progress.particles,
            **self._counts(),
            **self._pace.forecast(progress.frame - 1, progress.fraction),
        )
        self.emit(self._last)
        if now >= self._next_status:
            self._next_status = now + _STATUS_INTERVAL
            self.write_status("running")

    def paused(self) -> None:
        """Report a pause."""
        self.write_status("paused")
        self.emit(Paused())

    def resumed(self) -> None:
        """Report the end of a pause."""
        self._next_status = 0.0
        self.emit(Resumed())

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
                **(self._last.content() if self._last is not None else {}),
                **self._counts(),
                "warnings": [warning.fields() for warning in self._warnings],
                "scene_hash": self._writer.scene_hash,
                "automatic": self._automatic,
                "checked_frames": self._frames() if self._has_checked else None,
                **{name: value for name, value in more.items() if value is not None},
            }
        )

    def cached(self) -> str:
        """How many frames are cached, as a clause."""
        return f"{self._done} of {self._plan.total} frames are cached"

    def canceled(self) -> Message:
        """The message of a canceled bake."""
        return Message(f"canceled: {self.cached()}", (Action.RESUME,))

    def _counts(self) -> dict[str, int]:
        return {"done": self._done, "total": self._plan.total}

    def _frames(self) -> tuple[int, int]:
        """The scene's first and last frame."""
        return self._scene.time.frame_start, self._scene.time.frame_end

    def _known_warnings(self) -> list[SceneWarning] | None:
        """The warnings of an earlier run about the scene itself; None if they are not known."""
        known = recorded_warnings(self._writer.folder, self._writer.scene_hash, self._frames())
        return None if known is None else [warning for warning in known if warning.topic.is_of_scene]


def _cost_warnings(scene: Scene, writer: CacheWriter, cost: Estimate) -> list[SceneWarning]:
    from ..core.advice.preflight import cost_warnings

    return cost_warnings(scene, cost, disk_free=free_space(writer.folder))


def _changes(writer: CacheWriter) -> list[SceneWarning]:
    """A warning if existing frames were cached with other settings."""
    changed = writer.changed_settings()
    problem = f"its frames were cached with different settings ({', '.join(changed)}) and are kept"
    return [SceneWarning(Topic.SETTINGS, Message(problem, (Action.RESTART,), str(writer.folder)))] if changed else []


def _gaps(plan: Plan, writer: CacheWriter) -> list[SceneWarning]:
    """A warning if frames of earlier takes are missing, which are not baked here."""
    gaps = plan.gaps
    if not gaps:
        return []
    count = f"{len(gaps)} frames, {min(gaps)} to {max(gaps)}," if len(gaps) > 1 else f"frame {min(gaps)}"
    verb = "belong" if len(gaps) > 1 else "belongs"
    problem = f"{count} {verb} to an earlier take and cannot be baked here"
    return [SceneWarning(Topic.GAP, Message(problem, (Action.FIND_MISSING,), str(writer.folder)))]
