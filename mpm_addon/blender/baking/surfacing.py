"""The process that makes surfaces: started for one cache, followed, stopped; and its results in the file. One at a time."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import bpy

from ...core.errors import CacheError, Cancelled, MpmError
from ...core.messages import NOTHING, Action, Message, message_of
from ...derived.settings import SurfaceSettings
from ...storage import open_cache
from ...storage.surfaces import remove_surfaces, surface_folder
from .. import display
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.redrawing import redraw
from ..host.runtime import OfFile, runtime
from ..host.wording import in_blender
from ..playback import particle_objects, surface_objects
from ..settings import paths
from ..settings.surface_settings import settings_of
from .running import Running
from .worker import Event, Worker, derive_command, ending

_POLL_SECONDS = 0.05
_TIMER_SECONDS = 0.25


@dataclass
class SurfaceTroubles(OfFile):
    """What went wrong with the last surfaces of each cache."""

    by_folder: dict[Path, Message] = field(default_factory=dict)


class SurfaceSession:
    """One run of the process.

    Attributes:
        folder: the cache.
        follows: whether it also processes the frames that a running bake adds.
        done, total: frames with a surface, of all cached ones.
        seconds_left: the expected remaining time [s]; None while unknown.
        size: the expected bytes of the surfaces that were missing at the start; None while unknown.
    """

    def __init__(self, scene: BlenderScene, cache: str, settings: SurfaceSettings, *, follows: bool = False) -> None:
        """Start the process. Raises MpmError."""
        self.folder = paths.absolute(cache)
        self.follows = follows
        opened = open_cache(self.folder)
        runtime.of(SurfaceTroubles).by_folder.pop(self.folder, None)
        self.done, self.total = 0, len(opened.frames)
        self.seconds_left: float | None = None
        self.size: float | None = None
        self._scene_number = scene.session_uid
        self._outcome: Event | None = None
        self.is_finished = False
        # a request to stop through a file would stop a bake of this cache; signals do as well
        command = derive_command(self.folder, settings, follows=follows)
        self._worker = Worker(command, surface_folder(opened.takes[-1].folder), is_gentle=follows)

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
        events = self._worker.events()
        for event in events:
            self._take(event)
        if status is not None:
            self._finish(status)
        return events

    def _take(self, event: Event) -> None:
        kind = event["event"]
        if kind in ("done", "cancelled", "error"):
            self._outcome = event
        if kind in ("start", "frame"):
            self.done, self.total = event["done"], event["total"]
            self.seconds_left, self.size = event.get("eta_seconds"), event["bytes"] if kind == "start" else self.size
        scene = self.scene
        if kind == "frame" and scene is not None:
            show_in(scene, self.folder, frame=event["frame"])

    def _finish(self, status: int) -> None:
        outcome = self._outcome
        if outcome is None and self._worker.is_cancelled:
            outcome = {"event": "cancelled", **Message("canceled: the finished frames are kept", (Action.DERIVE,)).fields()}
        elif outcome is None:
            words = self._worker.complaint() or "no message"
            outcome = {"event": "error", **Message(f"The surface process {ending(status)}: {words}").fields()}
        self._outcome, self.is_finished = outcome, True
        if outcome["event"] == "error":
            runtime.of(SurfaceTroubles).by_folder[self.folder] = message_of(outcome)
        scene = self.scene
        if scene is not None and self.done:
            show_in(scene, self.folder)
        self.close()

    def raise_outcome(self) -> None:
        """Raises Cancelled or MpmError with the process's message if it did not finish."""
        outcome = self._outcome or {"event": "cancelled", **Message("canceled").fields()}
        if outcome["event"] != "done":
            raise (Cancelled if outcome["event"] == "cancelled" else MpmError).of(message_of(outcome))

    def wait(self, on_event: Callable[[Event], None] | None = None) -> None:
        """Wait for the process. Raises as `raise_outcome`."""
        try:
            while not self.is_finished:
                for event in self.poll():
                    if on_event is not None:
                        on_event(event)
                time.sleep(_POLL_SECONDS)
        finally:
            self.close()
        self.raise_outcome()

    def close(self) -> None:
        """End the process and delete its temporary files. May be called twice."""
        self._worker.close()


class RunningSurfaces(Running[SurfaceSession]):
    """The running process, if any."""


def current() -> SurfaceSession | None:
    """The running process of this Blender."""
    return RunningSurfaces.current()


def start(scene: BlenderScene, *, cache: str = "") -> SurfaceSession:
    """Start making the surfaces of a scene's cache. Raises MpmError if a process is already running or nothing is cached."""
    running = current()
    if running is not None and not running.is_finished:
        raise MpmError("A surface is being made", "wait until it finishes or stop it")
    return RunningSurfaces.start(SurfaceSession(scene, paths.cache_path(scene, cache=cache), settings_of(scene)))


def follow(scene: BlenderScene | None, cache: str) -> bool:
    """Start making the surfaces of a running bake, if its scene wants them and no other surface is being made.

    In the interface, a timer polls the process, even after the bake has ended; otherwise `finish` waits for it. The panel shows errors.

    Returns:
        Whether a start was attempted; a bake calls this until then and not afterwards, so that a stopped process is not started again.
    """
    if scene is None or not scene.mpm.surface.while_baking or current() is not None:
        return False
    try:
        RunningSurfaces.start(SurfaceSession(scene, cache, settings_of(scene), follows=True))
    except MpmError as error:
        runtime.of(SurfaceTroubles).by_folder[paths.absolute(cache)] = error.message
        return True
    if not bpy.app.background:
        bpy.app.timers.register(step, first_interval=_TIMER_SECONDS)
    return True


def step() -> float | None:
    """Poll a process that was started by `follow`. A timer calls it until the process has ended."""
    running = current()
    if running is None:
        return None
    if running.poll() or running.is_finished:
        redraw(bpy.context.window_manager)
    if running.is_finished:
        end()
        return None
    return _TIMER_SECONDS


def _following(folder: Path) -> SurfaceSession | None:
    """The process that follows the bake into a folder, if any."""
    running = current()
    return running if running is not None and running.follows and running.folder == folder else None


def finish(folder: Path) -> list[str]:
    """Wait for the process that follows the bake into a folder, if any. Returns what went wrong, as a line to report."""
    running = _following(folder)
    if running is None:
        return []
    try:
        running.wait()
    except MpmError as error:
        return [in_blender(error.message.within("The surface was not made"))]
    finally:
        end()
    return []


def abandon(folder: Path) -> None:
    """End the process that follows the bake into a folder, if any; finished frames are kept."""
    if _following(folder) is not None:
        end()


def make(scene: BlenderScene, *, cache: str = "", on_event: Callable[[Event], None] | None = None) -> None:
    """Make the surfaces of a scene's cache and wait. Raises Cancelled or MpmError."""
    session = start(scene, cache=cache)
    try:
        session.wait(on_event)
    finally:
        end()


def cancel() -> None:
    """Ask the running process, if any, to stop."""
    if (running := current()) is not None:
        running.cancel()


def end() -> None:
    """Stop and discard the running process, if any."""
    if bpy.app.timers.is_registered(step):
        bpy.app.timers.unregister(step)
    RunningSurfaces.end()


def trouble(folder: Path) -> Message:
    """What went wrong with the last surfaces of a cache; "" if nothing."""
    return runtime.of(SurfaceTroubles).by_folder.get(folder, NOTHING)


def delete(scene: BlenderScene, *, cache: str = "") -> int:
    """Delete the surfaces of a scene's cache and the objects that show them; returns how many. Raises CacheError."""
    running, folder = current(), paths.absolute(paths.cache_path(scene, cache=cache))
    if running is not None and running.folder == folder and not running.is_finished:
        raise CacheError("its surface is being made", "stop it first", subject=str(folder))
    count = remove_surfaces(open_cache(folder))
    runtime.of(SurfaceTroubles).by_folder.pop(folder, None)
    for item in _showing(scene, folder):
        surface_objects.remove(item)
    particle_objects.show(scene)
    return count


def show_in(scene: BlenderScene, folder: Path, frame: int | None = None) -> None:
    """Add missing objects that show the surfaces of a cache, and update them.

    Args:
        frame: the frame that has just got a surface; only objects that show it are updated. None updates all.
    """
    is_new = False
    for item in _showing(scene, folder):
        known = surface_objects.surface_of(item)
        if known is None or not known.users_collection:
            surface_objects.add(item)
            display.rebuild(item)
            is_new = True
    if is_new or frame in (None, scene.frame_current):
        particle_objects.show(scene)


def _showing(scene: BlenderScene, folder: Path) -> list[BlenderObject]:
    """The objects of the file that show a cache."""
    items = particle_objects.result_objects(scene)
    return [item for item in items if item.library is None and paths.absolute(item.mpm.cache) == folder]
