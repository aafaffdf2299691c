"""The bake that is running: starts the worker, follows its events, shows its frames. One at a time.

Objects are kept by name, because an undo or a new file takes the objects themselves away.
"""

import importlib.util
import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path

import bpy

from ..core.description import Scene
from ..core.errors import Cancelled, MpmError
from ..storage import open_cache, write_scene
from . import keyframes, nodes, paths, playback, unstable
from .blender_types import Context
from .extract import extraction
from .fingerprint import fingerprint
from .worker import Event, Worker, bake_command

_POLL_SECONDS = 0.05
# How long one poll reads the scene before the interface gets its turn.
_SLICE_SECONDS = 0.05

# At most one.
_running: "list[BakeSession]" = []


class BakeSession:
    """One bake, from the scene to the points in the viewport.

    It begins with reading the scene, a few frames at each poll; then the worker bakes.

    Attributes:
        cache: the cache folder as Blender writes it.
        text: what the interface says of the bake.
        fraction: how much of it is done, 0 to 1.
        notes: lines to report beside the outcome.
    """

    def __init__(self, context: Context, *, object_name: str = "", cache: str = "", restart: bool = False) -> None:
        """Begin to read the scene. Raises MpmError."""
        require_numba()
        self.cache = paths.cache_path(context.scene, object_name=object_name, cache=cache)
        self.text = "Preparing"
        self.fraction = 0.0
        self.notes: list[str] = []
        self._scene_name = context.scene.name
        self._object_name = object_name
        self._restart = restart
        self._outcome: Event | None = None
        self._looks: list[nodes.Look] = []
        self._has_dynamic_colliders = False
        self._is_result_made = False
        self._is_finished = False
        self._package: Path | None = None
        self._worker: Worker | None = None
        self._fingerprint = fingerprint(context.scene, object_name)
        self._steps: Generator[float, None, Scene] | None = extraction(context, object_name=object_name)
        try:
            self._prepare()
        except MpmError:
            self.close()
            raise

    @property
    def is_finished(self) -> bool:
        """Whether the worker has ended and all that it said is dealt with."""
        return self._is_finished

    @property
    def is_preparing(self) -> bool:
        """Whether the scene is still being read."""
        return self._steps is not None

    def cancel(self) -> None:
        """Ask the worker to stop, or stop reading the scene at once. The frames that are there stay."""
        if self._worker is not None and not self.is_finished:
            self.text = "Cancelling"
            self._worker.cancel()
        elif self.is_preparing:
            self._end({"event": "cancelled", "message": "cancelled while the scene was read; no frame was baked."})

    def poll(self) -> list[Event]:
        """Read on in the scene, or deal with what the worker said since the last call, and return it. Never waits."""
        if self.is_finished:
            return []
        if self._worker is None:
            try:
                self._prepare()
            except MpmError as error:
                self._end({"event": "error", "message": str(error)})
            return []
        status = self._worker.exit_status
        events = self._worker.events()
        for event in events:
            self._take(event)
        if status is not None:
            self._finish(self._worker, status)
        return events

    def _prepare(self) -> None:
        """Read the scene for a moment; start the worker when it is read. Raises MpmError."""
        if self._steps is None:
            return
        pause = time.monotonic() + _SLICE_SECONDS
        try:
            while True:
                self.fraction = next(self._steps)
                self.text = f"Preparing {100.0 * self.fraction:.0f} %"
                if time.monotonic() > pause:
                    return
        except StopIteration as finished:
            self._steps = None
            self._start_worker(finished.value)
        except ReferenceError as error:
            raise MpmError("The scene was changed while it was read; bake again.") from error

    def _start_worker(self, scene: Scene) -> None:
        self.text, self.fraction = "Preparing", 0.0
        self._looks = looks_of(scene)
        self._has_dynamic_colliders = any(collider.dynamic for collider in scene.colliders)
        self._package = Path(tempfile.mkdtemp(prefix="mpm_scene_"))
        folder = paths.absolute(self.cache)
        self._worker = Worker(bake_command(write_scene(scene, self._package), folder, restart=self._restart), folder)

    def _end(self, outcome: Event) -> None:
        self._outcome = outcome
        self._is_finished = True
        self.close()

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
                if not self.is_preparing:
                    time.sleep(_POLL_SECONDS)
        finally:
            self.close()
        self.result()

    def close(self) -> None:
        """End the worker or the reading of the scene, and remove what the worker needed."""
        if self._steps is not None:
            self._steps.close()
            self._steps = None
        if self._worker is not None:
            self._worker.close()
        if self._package is not None:
            shutil.rmtree(self._package, ignore_errors=True)

    def _take(self, event: Event) -> None:
        kind = event["event"]
        if kind in ("done", "cancelled", "error"):
            self._outcome = event
        elif self._worker is not None and self._worker.is_cancelled:
            return
        elif kind in ("progress", "frame"):
            self.fraction = (event["done"] + event.get("fraction", 0.0)) / max(1, event["total"])
            self.text = progress_text(self.fraction, event)
        elif kind in ("preparing", "compiling"):
            self.text = kind.capitalize()
        if kind == "frame":
            self._show(event["frame"])

    def _finish(self, worker: Worker, status: int) -> None:
        """The worker is gone: find out how, and show what it left."""
        outcome = self._outcome
        if outcome is None and worker.is_cancelled:
            outcome = {"event": "cancelled", "message": "cancelled before the bake began."}
        elif outcome is None:
            words = worker.complaint() or "it said nothing"
            outcome = {"event": "error", "message": f"The bake ended with status {status}: {words}."}
        self._end(outcome)
        if outcome["event"] == "done":
            self.fraction = 1.0
            self._show(None)
        if outcome["event"] in ("done", "error"):
            self._show_unstable()
        if self._has_dynamic_colliders and outcome["event"] in ("done", "cancelled"):
            self._write_keys()

    def _show_unstable(self) -> None:
        """Show the particles that made the bake stop, or take those away that an earlier one showed."""
        scene = bpy.data.scenes.get(self._scene_name)
        if scene is None:
            return
        try:
            unstable.refresh(scene, self.cache)
        except MpmError as error:
            self.notes.append(f"The unstable particles are not shown: {error}")

    def _write_keys(self) -> None:
        """Let the objects of dynamic colliders move as they did in the bake."""
        scene = bpy.data.scenes.get(self._scene_name)
        if scene is None:
            return
        try:
            self.notes += keyframes.write_keys(scene, baked_poses(paths.absolute(self.cache)), self.cache)
        except (MpmError, OSError) as error:
            self.notes.append(f"The motion of dynamic colliders was not written: {error}")

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
    return [
        nodes.Look(emitter.name, emitter.color, emitter.painting is not None and nodes.PAINTED_COLOR in emitter.painting.carried)
        for emitter in scene.emitters
    ]


def baked_poses(folder: Path) -> dict[int, dict[str, keyframes.Floats]]:
    """Where dynamic colliders are at each frame of a cache: frame number -> name -> world from local (4, 4) [m]."""
    cache = open_cache(folder)
    return {number: dict(cache.frame(number).poses) for number in cache.frames}


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
) -> list[str]:
    """Bake and wait for the end.

    Args:
        object_name: bake this emitter alone, with all colliders.
        cache: the cache folder, where it is not the scene's.
        restart: replace the frames that are there.
        on_event: called with every event of the worker.

    Returns:
        Lines to report beside the outcome.

    Raises:
        Cancelled: the bake was cancelled.
        MpmError: the scene cannot be baked, or the bake failed.
    """
    session = start(context, object_name=object_name, cache=cache, restart=restart)
    try:
        session.wait(on_event)
    finally:
        end()
    return session.notes
