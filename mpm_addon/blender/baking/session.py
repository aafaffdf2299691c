"""The running bake: starts the worker, follows its events and shows its frames. One at a time."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

import bpy

from ...core.errors import MpmError, Stopped
from ...core.messages import Action, Message, Topic
from ...storage import events
from ...storage.events import CancelledEvent, Ending, ErrorEvent, Event, StoppedEvent
from ...storage.status import is_asked_to_pause
from ...storage.take import KINDS
from ..host.blender_types import BlenderScene, Context
from ..host.runtime import runtime
from ..reading.fingerprint import fingerprint
from ..settings import paths
from . import derived_processes, health, one_result, previews, scene_caches
from .bake_view import Facts, Progress, State, view_of
from .follow_bake import FollowBake
from .preparation import Preparation
from .running import Running, wait_for
from .shown_caches import Result
from .troubles import Troubles, forget_trouble
from .worker import Worker, bake_command, ending

# The states that the worker's events mean.
_STATES: Mapping[type[Event], State] = {
    events.BakeStart: State.PREPARING,
    events.Preparing: State.PREPARING,
    events.Compiling: State.COMPILING,
    events.Paused: State.PAUSED,
    events.Resumed: State.BAKING,
    events.BakeProgress: State.BAKING,
    events.BakeFrame: State.BAKING,
}
# Warnings of the worker about what was done instead of what was asked for, which are reported too; the panel shows all.
_TOLD = (Topic.OPEN_MESH, Topic.NO_EFFECT)


class Order(TypedDict, total=False):
    """What to bake.

    Attributes:
        scene: the scene; the context's if not given.
        object_name: the only emitter to bake, with all colliders; all emitters if empty.
        cache: the cache folder, if not the scene's.
        restart: whether to replace existing frames.
        from_frame: the frame to resume after, as a new take.
        preview: approximate number of particles of a preview.
    """

    scene: BlenderScene | None
    object_name: str
    cache: str
    restart: bool
    from_frame: int | None
    preview: int | None


class BakeSession:
    """One bake, from the scene to the points in the viewport.

    It first reads the scene, a few frames per poll; then the worker bakes.

    Attributes:
        result: the results in the file.
        state: the state of the bake.
        fraction: progress, 0 to 1.
        notes: warnings to report in addition to the outcome.
        follow: moves the timeline to new frames, in the interface.
        object_name: the only emitter to bake; all emitters if empty.
    """

    def __init__(self, context: Context, order: Order) -> None:
        """Start reading a scene; the context's if the order gives none. Raises MpmError."""
        require_numba()
        scene_caches.separate()
        self._order = order.copy()
        scene, self.object_name = self._order.pop("scene", None) or context.scene, order.get("object_name", "")
        cache = paths.cache_path(scene, object_name=self.object_name, cache=order.get("cache", ""))
        self.result = Result(scene, cache, object_name=self.object_name, fingerprint=fingerprint(scene, self.object_name))
        forget_trouble(self.folder)
        self.state = State.READING
        self._since = time.monotonic()
        self.fraction = 0.0
        self.notes: list[Message] = []
        self.follow = FollowBake(scene.frame_current)
        self._numbers: Mapping[str, Any] = {}
        self._outcome: Ending | events.Finished | None = None
        self._has_begun = False
        self._keeps_baking = False
        # the kinds of derived data whose processes were started, or failed to
        self._followed: set[str] = set()
        self._is_finished = False
        self._preparation = Preparation(context, self.result, self.object_name)
        self._worker: Worker | None = None
        try:
            self._prepare()
        except MpmError as error:
            self._remember(error.message)
            self.close()
            raise

    @property
    def news(self) -> list[Message]:
        """What to report that is no warning."""
        return self.result.news

    @property
    def folder(self) -> Path:
        """The cache folder."""
        return self.result.folder

    @property
    def is_finished(self) -> bool:
        """Whether the worker has ended and all of its events are processed."""
        return self._is_finished

    @property
    def is_preparing(self) -> bool:
        """Whether the scene is still being read, or written for the worker."""
        return self._worker is None and not self._is_finished

    @property
    def progress(self) -> Progress:
        """The progress, for panels."""
        is_pausing = self._worker is not None and is_asked_to_pause(self.folder)
        seconds = time.monotonic() - self._since
        return Progress(self.state, self.fraction, self._numbers, is_asked_to_pause=is_pausing, seconds=seconds)

    @property
    def is_silent(self) -> bool:
        """Whether the worker sends no events, so that the elapsed seconds are shown instead."""
        return self.state in (State.PREPARING, State.COMPILING)

    @property
    def _is_preview(self) -> bool:
        return self._order.get("preview") is not None

    @property
    def text(self) -> str:
        """The progress in a few words."""
        return view_of(Facts((0, 0), progress=self.progress)).headline

    def cancel(self) -> None:
        """Ask the worker to stop, or stop reading the scene at once. Finished frames are kept."""
        if self._worker is not None and not self.is_finished:
            self.state = State.CANCELLING
            self._worker.cancel()
        elif self.is_preparing:
            self._end(CancelledEvent(message=Message("canceled while the scene was being read, so no frame was baked")))

    def poll(self) -> list[Event]:
        """Continue reading the scene, or process and return the worker's events since the last call. Never waits."""
        if self.is_finished:
            return []
        if self._worker is None:
            try:
                self._prepare()
            except MpmError as error:
                self._end(ErrorEvent(message=error.message))
            return []
        scene = self.result.scene
        if scene is not None:
            self._keeps_baking = scene.mpm.when_closing == "keep_baking"
        status = self._worker.exit_status
        heard = self._worker.events(events.BAKE)
        for event in heard:
            self._take(event)
        self.result.build_next()
        if status is not None:
            self._finish(self._worker, status)
        return heard

    def _prepare(self) -> None:
        """Read the scene for a moment, then write it, then start the worker. Raises MpmError."""
        scene_file = self._preparation.advance()
        self.fraction = self._preparation.fraction
        if not self._preparation.is_reading:
            self.state = State.PREPARING
        if scene_file is not None:
            self._start_worker(scene_file)

    def _start_worker(self, scene_file: Path) -> None:
        order, scene = self._order, self.result.scene
        command = bake_command(scene_file, self.folder, restart=order.get("restart", False), from_frame=order.get("from_frame"))
        preview = order.get("preview")
        command += [] if preview is None else ["--preview", str(preview)]
        if preview is None and scene is not None:
            # not earlier: if the full bake fails to start, the preview is left as it is
            previews.remove(scene)
        # without an interface, ending Blender (as a render farm does) ends the bake too
        self._worker = Worker(command, self.folder, is_apart=not bpy.app.background)

    def _remember(self, trouble: Message) -> None:
        runtime.of(Troubles).by_folder[self.folder] = trouble

    def _end(self, outcome: Ending | events.Finished) -> None:
        self._outcome = outcome
        self._is_finished = True
        if isinstance(outcome, ErrorEvent):
            self._remember(outcome.message)
        self.close()

    def raise_outcome(self) -> None:
        """Raises Cancelled, Stopped or MpmError with the worker's message if the bake did not finish."""
        outcome = self._outcome or CancelledEvent(message=Message("canceled"))
        if isinstance(outcome, Ending):
            raise events.error_of(outcome)

    def wait(self, on_event: Callable[[Event], None] | None = None) -> None:
        """Wait for the bake. Raises as `raise_outcome`."""
        wait_for(self, on_event, is_busy=lambda: self._preparation.is_reading)
        self.raise_outcome()

    def close(self) -> None:
        """End the worker or the reading of the scene, and delete temporary files."""
        if self._worker is not None:
            self._worker.close()
        self._preparation.close()

    def leave(self) -> None:
        """Blender quits or opens another file: stop the bake, or leave it running, as the scene says. Its frames are found again later."""
        if self._worker is None or self.is_finished or self._worker.is_cancelled or not self._keeps_baking:
            self.close()
            return
        self._worker.leave()
        if self._has_begun:  # the worker has read the scene
            self._preparation.close()

    def _take(self, event: Event) -> None:
        if isinstance(event, (Ending, events.Finished)):
            self._outcome = event
            return
        self._has_begun = self._has_begun or isinstance(event, events.BakeStart)
        if self._worker is not None and self._worker.is_cancelled:
            return
        if type(event) in _STATES:
            self._since = self._since if self.state is _STATES[type(event)] else time.monotonic()
            self.state = _STATES[type(event)]
        match event:
            case events.BakeStart():
                self.result.scene_hash = event.scene_hash
            case events.Preparing():
                self.fraction, self._numbers = 0.0, event.content()
            case events.Compiling():
                self.fraction, self._numbers = event.compiled / max(1, event.kernels), event.content()
            case events.BakeProgress():
                self.fraction, self._numbers = (event.done + event.fraction) / max(1, event.total), event.content()
            case events.BakeFrame():
                self.fraction, self._numbers = event.done / max(1, event.total), event.content()
                self.result.show(event.frame)
                self._derive()
            case events.WarningEvent() if event.warning.topic in _TOLD:
                self.result.news.append(event.warning.message)

    def _derive(self) -> None:
        """Start making the derived data that the scene wants, once each; before the first frame is shown, it is not known which."""
        if not self._is_preview and self.result.is_made:
            scene, cache = self.result.scene, self.result.cache
            self._followed |= {kind for kind in KINDS if kind not in self._followed and derived_processes.follow(scene, cache, kind)}

    def _finish(self, worker: Worker, status: int) -> None:
        """The worker has ended: find out how, and show its results."""
        outcome = self._outcome
        if outcome is None and worker.is_cancelled:
            outcome = CancelledEvent(message=Message("canceled: the finished frames are kept", (Action.RESUME,)))
        elif outcome is None:
            words = worker.complaint() or "no message"
            outcome = ErrorEvent(message=Message(f"The bake {ending(status)}: {words}"))
        self._end(outcome)
        self.result.finish()
        if isinstance(outcome, events.Finished):
            self.fraction = 1.0
            self.result.show(None)
        if isinstance(outcome, (events.Finished, StoppedEvent)):
            # the object that tells which meshes are shown may have been added just now
            self._derive()
        self.notes += self.result.show_unstable()
        if not isinstance(outcome, ErrorEvent):
            self.notes += self.result.write_keys()
        if self.result.is_made and self.result.scene is not None and not self._is_preview:
            self.notes += one_result.overlaps(self.result.scene, self.folder)


def require_numba() -> None:
    """Raises MpmError if bakes cannot run. Checks without importing: numba stays out of Blender's process."""
    health.require_baking()


class RunningBake(Running[BakeSession]):
    """The running bake, if any. When its file closes, `leave` decides what happens to it."""


def current() -> BakeSession | None:
    """The running bake of this Blender."""
    return RunningBake.current()


def start(context: Context, **order: Unpack[Order]) -> BakeSession:
    """Start a bake. Raises MpmError if one is running or the scene cannot be baked."""
    running = current()
    if running is not None and not running.is_finished:
        raise MpmError(f"A bake into {running.result.cache} is running", "wait until it finishes or cancel it")
    if order.get("preview") is not None:
        previews.begin(order.get("scene") or context.scene)
    return RunningBake.start(BakeSession(context, order))


def cancel() -> None:
    """Ask the running bake, if any, to stop. Its operator notices when it has stopped."""
    if (running := current()) is not None:
        running.cancel()


def end() -> None:
    """Stop and discard the running bake, if any."""
    RunningBake.end()


def leave() -> None:
    """Discard the running bake, if any, because Blender or its file closes; it stops or keeps running, as its scene says."""
    left = current()
    runtime.forget(RunningBake, Troubles)
    if left is not None:
        left.leave()


def bake(
    context: Context,
    *,
    on_event: Callable[[Event], None] | None = None,
    on_news: Callable[[Sequence[Message]], None] | None = None,
    **order: Unpack[Order],
) -> list[Message]:
    """Bake and wait.

    Args:
        on_event: called with every event of the worker.
        on_news: called with what to report that is no warning.
        order: what to bake.

    Returns:
        Warnings to report in addition to the outcome.

    Raises:
        Cancelled: the bake was canceled.
        MpmError: the scene cannot be baked, or the bake failed.
    """
    session = start(context, **order)
    try:
        session.wait(on_event)
    except Stopped:
        derived_processes.finish(session.folder)
        raise
    except BaseException:
        # otherwise the next bake would find it running and get no derived data
        derived_processes.abandon(session.folder)
        raise
    finally:
        end()
    if on_news is not None:
        on_news(session.news)
    return [*session.notes, *derived_processes.finish(session.folder)]
