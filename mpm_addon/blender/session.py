"""The bake that is running: starts the worker, follows its events, shows its frames. One at a time.

Objects are kept by name, because an undo or a new file takes the objects themselves away.
"""

import importlib.util
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import bpy

from ..core.description import Scene
from ..core.errors import Cancelled, MpmError
from ..storage import write_scene
from . import nodes, paths, playback
from .blender_types import Context
from .extract import extract_scene
from .fingerprint import fingerprint
from .worker import Event, Worker, bake_command

_POLL_SECONDS = 0.05

# At most one.
_running: "list[BakeSession]" = []


class BakeSession:
    """One bake, from the scene to the points in the viewport.

    Attributes:
        cache: the cache folder as Blender writes it.
        text: what the interface says of the bake.
        fraction: how much of it is done, 0 to 1.
    """

    def __init__(self, context: Context, *, object_name: str = "", cache: str = "", restart: bool = False) -> None:
        """Read the scene and start the worker. Raises MpmError."""
        require_numba()
        self.cache = paths.cache_path(context.scene, object_name=object_name, cache=cache)
        self.text = "Preparing"
        self.fraction = 0.0
        self._scene_name = context.scene.name
        self._object_name = object_name
        self._outcome: Event | None = None
        self._is_result_made = False
        self._is_finished = False
        scene = extract_scene(context, object_name=object_name)
        self._looks = looks_of(scene)
        self._fingerprint = fingerprint(context.scene, object_name)
        self._package = Path(tempfile.mkdtemp(prefix="mpm_scene_"))
        folder = paths.absolute(self.cache)
        try:
            self._worker = Worker(bake_command(write_scene(scene, self._package), folder, restart=restart), folder)
        except MpmError:
            self._remove_package()
            raise

    @property
    def is_finished(self) -> bool:
        """Whether the worker has ended and all that it said is dealt with."""
        return self._is_finished

    def cancel(self) -> None:
        """Ask the worker to stop. The frames that are there stay."""
        if not self.is_finished:
            self.text = "Cancelling"
            self._worker.cancel()

    def poll(self) -> list[Event]:
        """Deal with what the worker said since the last call, and return it. Never waits."""
        if self.is_finished:
            return []
        status = self._worker.exit_status
        events = self._worker.events()
        for event in events:
            self._take(event)
        if status is not None:
            self._finish(status, events)
        return events

    def result(self) -> None:
        """Raises Cancelled or MpmError with the worker's words where the bake did not come to its end."""
        outcome = self._outcome or {"event": "cancelled", "message": "cancelled."}
        if outcome["event"] == "cancelled":
            raise Cancelled(outcome["message"])
        if outcome["event"] == "error":
            raise MpmError(outcome["message"])

    def wait(self, on_event: Callable[[Event], None] | None = None) -> None:
        """Wait for the end. Raises as `result`."""
        try:
            while not self.is_finished:
                for event in self.poll():
                    if on_event is not None:
                        on_event(event)
                time.sleep(_POLL_SECONDS)
        finally:
            self.close()
        self.result()

    def close(self) -> None:
        """End the worker and remove what it needed."""
        self._worker.close()
        self._remove_package()

    def _remove_package(self) -> None:
        shutil.rmtree(self._package, ignore_errors=True)

    def _take(self, event: Event) -> None:
        kind = event["event"]
        if kind in ("done", "cancelled", "error"):
            self._outcome = event
        elif self._worker.is_cancelled:
            return
        elif kind in ("progress", "frame"):
            self.fraction = (event["done"] + event.get("fraction", 0.0)) / max(1, event["total"])
            self.text = progress_text(self.fraction, event)
        elif kind in ("preparing", "compiling"):
            self.text = kind.capitalize()
        if kind == "frame":
            self._show(event["frame"])

    def _finish(self, status: int, events: list[Event]) -> None:
        """The worker is gone: find out how, and show what it left."""
        if self._outcome is None:
            if self._worker.is_cancelled:
                self._outcome = {"event": "cancelled", "message": "cancelled before the bake began."}
            else:
                words = self._worker.complaint() or "it said nothing"
                self._outcome = {"event": "error", "message": f"The bake ended with status {status}: {words}."}
        self._is_finished = True
        self.close()
        if self._outcome["event"] == "done":
            self.fraction = 1.0
            self._show(None)

    def _show(self, frame: int | None) -> None:
        """Make the particle object with the first frame, and refresh it where its frame came."""
        scene = bpy.data.scenes.get(self._scene_name)
        if scene is None or (frame is not None and self._is_result_made and frame != scene.frame_current):
            return
        item = playback.result_object(scene, self.cache)
        if not self._is_result_made:
            item.mpm.fingerprint = self._fingerprint
            item.mpm.emitter_name = self._object_name
            nodes.dress(item, self._looks)
            self._is_result_made = True
        playback.show(scene)


def require_numba() -> None:
    """Raises MpmError where the bake could not run. Looks without importing: numba stays out of Blender's process."""
    if importlib.util.find_spec("numba") is None:
        raise MpmError("numba is missing, so nothing can be baked; install the extension's zip for this platform again.")


def looks_of(scene: Scene) -> list[nodes.Look]:
    """How the particles of each emitter are shown."""
    return [nodes.Look(emitter.name, emitter.color) for emitter in scene.emitters]


def progress_text(fraction: float, event: Event) -> str:
    """One line for the progress bar: "Baking 26 % (12/48), 87 substeps, 0.82 s a frame, 0:31 left"."""
    parts = [f"Baking {100.0 * fraction:.0f} % ({event['done']}/{event['total']})", f"{event['substeps']} substeps"]
    if event.get("seconds_per_frame") is not None:
        parts.append(f"{event['seconds_per_frame']:.2g} s a frame")
    if event.get("eta_seconds") is not None:
        minutes, seconds = divmod(round(event["eta_seconds"]), 60)
        parts.append(f"{minutes}:{seconds:02d} left")
    return ", ".join(parts)


def current() -> BakeSession | None:
    """The bake that is running in this Blender."""
    return _running[0] if _running else None


def start(context: Context, *, object_name: str = "", cache: str = "", restart: bool = False) -> BakeSession:
    """Begin a bake. Raises MpmError where one is running, or where the scene cannot be baked."""
    running = current()
    if running is not None and not running.is_finished:
        raise MpmError(f"A bake into {running.cache} is running; wait for its end or cancel it.")
    _running[:] = [BakeSession(context, object_name=object_name, cache=cache, restart=restart)]
    return _running[0]


def cancel() -> None:
    """Ask the bake that is running, if any, to stop. Whoever follows it learns when it has stopped."""
    for running in _running:
        running.cancel()


def end() -> None:
    """Stop the bake that is running, if any, and forget it."""
    while _running:
        _running.pop().close()


def bake(
    context: Context,
    *,
    object_name: str = "",
    cache: str = "",
    restart: bool = False,
    on_event: Callable[[Event], None] | None = None,
) -> None:
    """Bake and wait for the end.

    Args:
        object_name: bake this emitter alone, with all colliders.
        cache: the cache folder, where it is not the scene's.
        restart: replace the frames that are there.
        on_event: called with every event of the worker.

    Raises:
        Cancelled: the bake was cancelled.
        MpmError: the scene cannot be baked, or the bake failed.
    """
    session = start(context, object_name=object_name, cache=cache, restart=restart)
    try:
        session.wait(on_event)
    finally:
        end()
