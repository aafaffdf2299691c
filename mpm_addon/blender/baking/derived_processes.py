"""The processes that make derived data: started for one cache, followed, stopped; and their results in the file. One of each kind."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import CacheError, MpmError
from ...core.messages import NOTHING, Action, Message
from ...storage import events, open_cache
from ...storage.derived import derived_folder, remove_derived
from ...storage.events import CancelledEvent, Ending, ErrorEvent, Event
from ...storage.take import KINDS
from ..host.blender_types import BlenderScene
from ..host.redrawing import redraw
from ..host.runtime import OfFile, OfSession, runtime
from ..playback import particle_objects
from ..settings import paths
from ..settings.derived_settings import settings_of
from . import previews
from .derived_kinds import DERIVED_KINDS, showing
from .follow_bake import is_editing
from .running import wait_for
from .worker import Worker, derive_command, ending

_TIMER_SECONDS = 0.25


@dataclass
class DerivedTroubles(OfFile):
    """What went wrong with the last derived data of each cache, by kind."""

    by_folder: dict[tuple[str, Path], Message] = field(default_factory=dict)


class DerivedSession:
    """One run of a process.

    Attributes:
        kind: what it makes, one of `take.KINDS`.
        folder: the cache.
        follows: whether it also processes the frames that a running bake adds.
        done, total: finished frames, of all cached ones.
        seconds_left: the expected remaining time [s]; None while unknown.
        size: the expected bytes of the files that were missing at the start; None while unknown.
        has_added: whether objects that show it were added since the last step of undo.
    """

    def __init__(self, scene: BlenderScene, cache: str, *, kind: str, follows: bool = False) -> None:
        """Start the process. Raises MpmError."""
        self.kind, self.folder = kind, paths.absolute(cache)
        self.follows = follows
        opened = open_cache(self.folder)
        DERIVED_KINDS[kind].prepare(scene, self.folder, is_fresh=not follows)
        settings = settings_of(scene, kind, self.folder)
        runtime.of(DerivedTroubles).by_folder.pop((kind, self.folder), None)
        self.done, self.total = 0, len(opened.frames)
        self.seconds_left: float | None = None
        self.size: float | None = None
        self.has_added = False
        self._scene_number = scene.session_uid
        self._outcome: Ending | events.Finished | None = None
        self.is_finished = False
        # a signal stops it; the file that asks a process to stop would stop a bake of this cache
        command = derive_command(self.folder, settings, kind=kind, follows=follows)
        self._worker = Worker(command, derived_folder(opened.takes[-1].folder, kind), is_gentle=follows)

    @property
    def scene(self) -> BlenderScene | None:
        """The scene; None if it was removed."""
        return next((scene for scene in bpy.data.scenes if scene.session_uid == self._scene_number), None)

    def cancel(self) -> None:
        """Ask the process to stop; finished frames are kept."""
        self._worker.cancel()

    def poll(self) -> list[Event]:
        """Process and return the events since the last call. Never waits."""
        if self.is_finished:
            return []
        status = self._worker.exit_status
        heard = self._worker.events(events.DERIVE)
        for event in heard:
            self._take(event)
        if status is not None:
            self._finish(status)
        return heard

    def _take(self, event: Event) -> None:
        match event:
            case Ending() | events.Finished():
                self._outcome = event
            case events.DeriveStart():
                self.done, self.total, self.size = event.done, event.total, event.bytes
            case events.DeriveFrame():
                self.done, self.total, self.seconds_left = event.done, event.total, event.eta_seconds
                scene = self.scene
                if scene is not None:
                    self.has_added |= show_in(scene, self.folder, kind=self.kind, frame=event.frame)

    def _finish(self, status: int) -> None:
        outcome = self._outcome
        if outcome is None and self._worker.is_cancelled:
            outcome = CancelledEvent(message=Message("canceled: the finished frames are kept", (Action.DERIVE,)))
        elif outcome is None:
            words = self._worker.complaint() or "no message"
            outcome = ErrorEvent(message=Message(f"The {self.kind} process {ending(status)}: {words}"))
        self._outcome, self.is_finished = outcome, True
        if isinstance(outcome, ErrorEvent):
            runtime.of(DerivedTroubles).by_folder[self.kind, self.folder] = outcome.message
        scene = self.scene
        if scene is not None and self.done:
            self.has_added |= show_in(scene, self.folder, kind=self.kind)
        self.close()

    def raise_outcome(self) -> None:
        """Raises Cancelled or MpmError with the process's message if it did not finish."""
        outcome = self._outcome or CancelledEvent(message=Message("canceled"))
        if isinstance(outcome, Ending):
            raise events.error_of(outcome)

    def wait(self) -> None:
        """Wait for the process. Raises as `raise_outcome`."""
        wait_for(self)
        self.raise_outcome()

    def close(self) -> None:
        """End the process and delete its temporary files. May be called twice."""
        self._worker.close()


@dataclass
class RunningDerived(OfSession):
    """The running processes by kind: at most one of each."""

    by_kind: dict[str, DerivedSession] = field(default_factory=dict)


def current(kind: str) -> DerivedSession | None:
    """The running process of this Blender that makes one kind."""
    return runtime.of(RunningDerived).by_kind.get(kind)


def _begin(session: DerivedSession) -> DerivedSession:
    """Make a process the running one of its kind; returns it."""
    runtime.of(RunningDerived).by_kind[session.kind] = session
    return session


def _following() -> list[DerivedSession]:
    """The running processes that follow a bake."""
    return [running for kind in KINDS if (running := current(kind)) is not None and running.follows]


def start(scene: BlenderScene, *, kind: str, cache: str = "") -> DerivedSession:
    """Start making the derived data of a scene's cache. Raises MpmError if a process is already running or nothing is cached."""
    running = current(kind)
    if running is not None and not running.is_finished:
        raise MpmError(f"A {kind} is being made", "wait until it finishes or stop it")
    return _begin(DerivedSession(scene, paths.cache_path(scene, cache=cache), kind=kind))


def follow(scene: BlenderScene | None, cache: str, kind: str) -> bool:
    """Start making the derived data of a running bake, if its scene shows it and no other of this kind is being made.

    In the interface, a timer polls the process, even after the bake has ended; otherwise `finish` waits for it. The panel shows errors.

    Returns:
        Whether a start was attempted; a bake calls this until then and not afterwards, so that a stopped process is not started again.
    """
    if scene is None or not getattr(scene.mpm, kind).while_baking or current(kind) is not None:
        return False
    declared = DERIVED_KINDS[kind]
    try:
        if not declared.is_displayed(scene, paths.absolute(cache)):
            return False
        _begin(DerivedSession(scene, cache, kind=kind, follows=True))
    except MpmError as error:
        # a mesh that could not be copied may be displayed as a surface now, which is no trouble
        if declared.sources(scene, paths.absolute(cache)) != []:
            runtime.of(DerivedTroubles).by_folder[kind, paths.absolute(cache)] = error.message
        return True
    if not bpy.app.background:
        bpy.app.timers.register(step, first_interval=_TIMER_SECONDS)
    return True


def keep_in_undo(running: DerivedSession) -> None:
    """Without a step of undo, undoing an edit that follows would take away the objects that were added."""
    context: Any = bpy.context
    if running.has_added and not is_editing(context):
        running.has_added = False
        bpy.ops.ed.undo_push(message=DERIVED_KINDS[running.kind].make_label)


def step() -> float | None:
    """Poll the processes that were started by `follow`. A timer calls it until they have ended."""
    for running in _following():
        if running.poll() or running.is_finished:
            redraw(bpy.context.window_manager)
        keep_in_undo(running)
        if running.is_finished:
            end(running.kind)
    return _TIMER_SECONDS if _following() else None


def _following_bake(folder: Path) -> list[DerivedSession]:
    """The running processes that follow the bake into a folder."""
    return [running for running in _following() if running.folder == folder]


def finish(folder: Path) -> list[Message]:
    """Wait for the processes that follow the bake into a folder. Returns what went wrong."""
    failures = []
    for running in _following_bake(folder):
        try:
            running.wait()
        except MpmError as error:
            failures.append(error.message.within(f"The {running.kind} was not made"))
        finally:
            end(running.kind)
    return failures


def abandon(folder: Path) -> None:
    """End the processes that follow the bake into a folder; finished frames are kept."""
    for running in _following_bake(folder):
        end(running.kind)


def make(scene: BlenderScene, *, kind: str, cache: str = "") -> None:
    """Make the derived data of a scene's cache and wait. Raises Cancelled or MpmError."""
    session = start(scene, kind=kind, cache=cache)
    try:
        session.wait()
    finally:
        end(kind)


def cancel(kind: str) -> None:
    """Ask the running process of a kind, if any, to stop."""
    if (running := current(kind)) is not None:
        running.cancel()


def end(kind: str) -> None:
    """Stop and discard the running process of a kind, if any."""
    ended = runtime.of(RunningDerived).by_kind.pop(kind, None)
    if ended is not None:
        ended.close()
    if not _following() and bpy.app.timers.is_registered(step):
        bpy.app.timers.unregister(step)


def end_all() -> None:
    """Stop and discard all running processes."""
    for kind in KINDS:
        end(kind)


def trouble(folder: Path, kind: str) -> Message:
    """What went wrong with the last derived data of a cache; "" if nothing."""
    return runtime.of(DerivedTroubles).by_folder.get((kind, folder), NOTHING)


def delete(scene: BlenderScene, *, kind: str, cache: str = "") -> int:
    """Delete the derived data of a scene's cache and the objects that show it; returns how many files. Raises CacheError."""
    running, folder = current(kind), paths.absolute(paths.cache_path(scene, cache=cache))
    if running is not None and running.folder == folder and not running.is_finished:
        raise CacheError(f"its {kind} is being made", "stop it first", subject=str(folder))
    count = remove_derived(open_cache(folder), kind)
    runtime.of(DerivedTroubles).by_folder.pop((kind, folder), None)
    for item in showing(scene, folder):
        DERIVED_KINDS[kind].remove_objects(item)
    particle_objects.show(scene)
    return count


def show_in(scene: BlenderScene, folder: Path, *, kind: str, frame: int | None = None) -> bool:
    """Update the objects that show the derived data of a cache, and add missing ones; returns whether there were any.

    Args:
        scene: the scene.
        folder: the cache.
        kind: what was made.
        frame: the frame that was just made; only objects that show it are updated. None updates all.
    """
    is_new = [DERIVED_KINDS[kind].add_object(scene, item) for item in showing(scene, folder)]
    previews.label(scene)
    if any(is_new) or frame in (None, scene.frame_current):
        particle_objects.show(scene)
    return any(is_new)
