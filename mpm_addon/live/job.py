"""The loop of a live simulation: run after run, frame after frame, up to the requested one."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.advice.preview import preview_of
from ..core.errors import Cancelled, SceneError
from ..core.messages import Message, SceneWarning, Topic
from ..core.particles import Frame
from ..core.scene.description import Scene
from ..core.stepping.steering import Steering
from ..core.stepping.support import refuse_unsupported
from ..storage.cache_writer import CacheWriter
from ..storage.events import (
    Compiling,
    Ending,
    LiveDone,
    LiveEnd,
    LiveFrame,
    LiveStart,
    OnEvent,
    Preparing,
    WarningEvent,
    ending_of,
    ignore,
)
from ..storage.lock import WriterLock
from ..storage.scene_file import read_scene
from ..storage.status import CANCEL
from .requests import RequestReader, Requests

if TYPE_CHECKING:
    from ..core.stepping.simulation import Progress, Simulation

# Seconds between checks for new requests.
_LOOK_INTERVAL = 0.005
# Seconds without new requests after which the controlling process is considered gone.
SILENCE = 600.0


class _Restart(Exception):
    """A new run is requested."""


def live(
    scene_path: Path,
    cache_folder: Path,
    *,
    steering_path: Path | None = None,
    particles: int | None = None,
    on_event: OnEvent | None = None,
) -> None:
    """Simulate a scene for as long as it is steered; without a steering file, once from its first frame to its last.

    Args:
        scene_path: a scene file or its folder.
        cache_folder: the cache for the frames; each run replaces those of the previous one.
        steering_path: the file of requests, which need not exist yet.
        particles: maximum number of particles of a preview; None for the scene itself.
        on_event: called with every event, one of `storage.events.LIVE`.

    Raises:
        Cancelled: by the file `cancel` in the cache, or because the controlling process exited.
        MpmError: the scene cannot be simulated, or the cache cannot be written.
    """
    with WriterLock(Path(cache_folder)) as lock:
        _Live(Path(scene_path), Path(cache_folder), steering_path, particles, on_event or ignore, lock).run()


class _Live:
    def __init__(
        self, scene_path: Path, folder: Path, steering_path: Path | None, particles: int | None, emit: OnEvent, lock: WriterLock
    ) -> None:
        self._scene_path = scene_path
        self._folder = folder
        self._reader = RequestReader(steering_path) if steering_path is not None else None
        self._particles = particles
        self._emit = emit
        self._lock = lock
        self._requests = Requests() if self._reader is None else Requests(until=-(2**31))
        self._known: tuple[str, Scene] | None = None
        self._parent = os.getppid()
        self._heard = time.monotonic()
        self._next_look = 0.0
        self._stage = ""
        self._kernels = (0, 0)
        self._refused = ""

    def run(self) -> None:
        if self._reader is not None:
            self._wait(lambda: self._requests.until > -(2**31))
        while True:
            run = self._requests.run
            try:
                self._simulate(run)
                if self._reader is None:
                    self._emit(LiveDone())
                    return
                self._emit(LiveEnd(run=run))
                self._wait(lambda run=run: self._requests.run != run)
            except _Restart:
                continue

    def _simulate(self, run: int) -> None:
        from ..core.stepping.simulation import Simulation

        started = time.perf_counter()
        scene = self._scene()
        refuse_unsupported(scene)
        writer = CacheWriter(self._folder, scene)
        writer.prepare(scene, restart=True)
        steering = Steering(scene)
        self._take_requests(steering)
        simulation = Simulation(steering.scene, report=self._report(run))
        first, last = scene.time.frame_start, scene.time.frame_end
        self._emit(LiveStart(scene=scene.name, run=run, frame_start=first, frame_end=last))
        for frame in self._frames(simulation, steering, run):
            self._lock.check()
            if writer.is_replacing:
                writer.begin(scene)
            writer.write_frame(frame)
            seconds = time.perf_counter() - started
            statistics = frame.statistics
            self._emit(
                LiveFrame(frame=frame.number, run=run, particles=statistics.particles, substeps=statistics.substeps, seconds=seconds)
            )
            started = time.perf_counter()

    def _frames(self, simulation: "Simulation", steering: Steering, run: int) -> Iterator[Frame]:
        """The frames of a run, each simulated with the newest requests and not before it is requested."""
        from ..core.stepping.simulation import Simulation

        frames = simulation.frames()
        last = steering.scene.time.frame_end
        number = steering.scene.time.frame_start
        while True:
            frame = next(frames)
            if frame.moment.is_frame:
                number = frame.number
                yield frame
            if number >= last:
                return
            if not frame.moment.is_frame:
                continue
            self._wait(lambda number=number: self._requests.run != run or self._requests.until > number)
            if self._requests.run != run:
                raise _Restart
            if self._take_requests(steering):
                simulation = Simulation(steering.scene, snapshot=simulation.snapshot(), report=self._report(run))
                frames = simulation.frames()
            steering.begin(number)

    def _scene(self) -> Scene:
        """The scene of the requested run, or its preview."""
        path = self._requests.scene
        if self._known is None or self._known[0] != path:
            scene = read_scene(Path(path) if path else self._scene_path)
            if self._particles is not None:
                preview = preview_of(scene, self._particles)
                scene = preview.scene
                for warning in preview.warnings:
                    self._emit(WarningEvent(warning=warning))
            self._known = (path, scene)
        return self._known[1]

    def _take_requests(self, steering: Steering) -> bool:
        """Apply the requests; emits a warning for what cannot be steered. Returns whether the scene has changed."""
        is_new = False
        for name, request in self._requests.things.items():
            try:
                is_new |= steering.steer(name, **request)
            except SceneError as error:
                self._tell_refusal(error)
        if self._requests.gravity is not None:
            try:
                is_new |= steering.steer_gravity(self._requests.gravity)
            except SceneError as error:
                self._tell_refusal(error)
        return is_new

    def _tell_refusal(self, error: SceneError) -> None:
        if str(error) != self._refused:
            self._refused = str(error)
            self._emit(WarningEvent(warning=SceneWarning(Topic.STEERING, error.message)))

    def _report(self, run: int) -> "Callable[[Progress], None]":
        def report(progress: "Progress") -> None:
            if progress.stage == "compiling" and progress.kernels != self._kernels:
                compiled, kernels = self._kernels = progress.kernels
                self._emit(Compiling(frame=progress.frame, compiled=compiled, kernels=kernels))
            elif progress.stage == "preparing" and progress.stage != self._stage:
                self._emit(Preparing(frame=progress.frame))
            self._stage = progress.stage
            self._look()
            if self._requests.run != run:
                raise _Restart

        return report

    def _wait(self, is_wanted: Callable[[], bool]) -> None:
        while True:
            self._look()
            if is_wanted():
                return
            time.sleep(_LOOK_INTERVAL)

    def _look(self) -> None:
        """Read the newest requests. Raises Cancelled if the simulation is no longer wanted."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_INTERVAL
        if (self._folder / CANCEL).exists():
            raise Cancelled("stopped")
        if self._reader is None:
            return
        try:
            changed = self._reader.changed()
        except SceneError as error:
            self._tell_refusal(error)
            return
        if changed is not None:
            self._requests, self._heard = changed, now
        elif os.getppid() != self._parent or now > self._heard + SILENCE:
            raise Cancelled("stopped: the controlling process exited")


def ending(error: BaseException) -> Ending:
    """The last event of a live simulation that did not finish."""
    out_of_memory = Message("out of memory", ("use fewer particles or close other programs",))
    return ending_of(error, canceled=Message("stopped"), out_of_memory=out_of_memory)
