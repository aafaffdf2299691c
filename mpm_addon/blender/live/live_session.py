"""The live simulation: a worker that receives the poses of moved objects, and the frames that it returns. One at a time, never waits.

While the animation is stopped, the simulation drives the timeline: each frame is shown as soon as it arrives, at most at the scene's
frame rate. While the animation plays, the timeline drives: the simulation keeps up with it, and shows its newest frame if it lags behind.
"""

import atexit
import shutil
import tempfile
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import MpmError
from ...core.messages import NOTHING, Message, message_of
from ...core.scene.description import Scene
from ...live.wishes import Wishes, write_wishes
from ...storage import write_scene
from .. import display
from ..baking import previews, session
from ..baking.showing import looks_of
from ..baking.worker import Event, Worker, ending, live_command
from ..host.blender_types import BlenderScene, Context
from ..host.runtime import OfSession, runtime
from ..host.wording import in_blender, sentence
from ..playback import particle_objects
from ..reading.extract import extraction
from .hands import Hands

_SLICE_SECONDS = 0.02
# Frames that the simulation may be ahead of the displayed one; more would delay the response to changes.
_AHEAD = 2
# Seconds between checks of the settings, and for which they must be stable before the simulation restarts.
_LOOK_SECONDS = 0.25
_SETTLED_SECONDS = 0.4


class LiveSession:
    """One live simulation of a scene.

    Attributes:
        text: the state in one line; message: what went wrong, or why the simulation restarted.
        frame: the displayed frame; None before the first.
        is_finished: whether it has ended; `error` says why, "" if it was stopped by the user.
        rate: frames that arrived in the last second.
    """

    def __init__(self, context: Context) -> None:
        """Start reading the scene. Raises MpmError."""
        session.require_numba()
        scene = context.scene
        self._scene_number = scene.session_uid
        previews.begin(scene)
        self._cache = previews.cache_path(scene)
        self._folder = previews.folder(scene)
        self._work = Path(tempfile.mkdtemp(prefix="mpm_live_"))
        self._worker: Worker | None = None
        self._hands: Hands | None = None
        self._settings: Any = None
        self._changed_at: float | None = None
        self._next_look = 0.0
        self._steps: Generator[float, None, Scene] | None = extraction(context)
        self._looks: list[Any] = []
        self._run, self._package = 0, Path()
        self._first = self._last = scene.frame_start
        self._newest: int | None = None
        self._told: Wishes | None = None
        self._shown_since = 0.0
        self._timeline = scene.frame_current
        self._arrivals: list[float] = []
        self._reason = NOTHING
        self.text, self.message, self.error = "Preparing", "", NOTHING
        self.frame: int | None = None
        self.is_finished = False
        atexit.register(self.close)
        try:
            self._read(context)
        except MpmError:
            self.close()
            raise

    @property
    def scene(self) -> BlenderScene | None:
        """The scene; None if it was removed."""
        return next((scene for scene in bpy.data.scenes if scene.session_uid == self._scene_number), None)

    @property
    def rate(self) -> float:
        now = time.monotonic()
        self._arrivals = [each for each in self._arrivals if each > now - 1.0]
        return float(len(self._arrivals))

    def poll(self, context: Context, *, is_playing: bool = False) -> bool:
        """Do what is due; returns whether there is something new to draw. Ends the session if it cannot proceed; never raises.

        Args:
            is_playing: whether Blender plays the animation.
        """
        if self.is_finished:
            return False
        try:
            scene = self.scene
            if scene is None or context.scene != scene:
                self._end(NOTHING)
                return True
            before = (self.text, self.message, self.frame, self._newest)
            if self._steps is not None:
                self._read(context)
            else:
                self._look_at_settings(context, scene)
            self._hear()
            self._show(scene, is_playing=is_playing)
            self._tell(scene)
            return before != (self.text, self.message, self.frame, self._newest) or self.is_finished
        except (MpmError, OSError, ReferenceError) as error:
            self._end(error.message if isinstance(error, MpmError) else Message(str(error)))
            return True

    def close(self) -> None:
        """End the worker and delete its files; existing frames are kept. May be called twice."""
        atexit.unregister(self.close)
        self.is_finished = True
        if self._steps is not None:
            self._steps.close()
            self._steps = None
        if self._worker is not None:
            self._worker.close()
        shutil.rmtree(self._work, ignore_errors=True)
        particle_objects.release()

    def _end(self, error: Message) -> None:
        self.error, self.message = error, in_blender(error)
        self.close()

    def _read(self, context: Context) -> None:
        """Read the scene for a moment; start a run once it is read. Raises MpmError."""
        steps, pause = self._steps, time.monotonic() + _SLICE_SECONDS
        if steps is None:
            return
        try:
            while time.monotonic() < pause:
                self.text = f"Preparing {100.0 * next(steps):.0f} %"
        except StopIteration as finished:
            self._steps = None
            self._begin(context.scene, finished.value)

    def _begin(self, scene: BlenderScene, described: Scene) -> None:
        self._hands = Hands(scene, described)
        self._settings = self._hands.settings(scene)
        self._looks = looks_of(described)
        self._first, self._last = described.time.frame_start, described.time.frame_end
        folder = self._work / f"scene_{self._run + 1}"
        folder.mkdir()
        package = write_scene(described, folder)
        if self._run:
            shutil.rmtree(self._package, ignore_errors=True)
        self._package = folder
        self._restart()
        if self._worker is None:
            self._tell(scene)
            command = live_command(package, self._folder, self._work / "wishes.json", scene.mpm.preview_particles)
            self._worker = Worker(command, self._folder)
        self.text = "Starting"

    def _restart(self) -> None:
        self._run += 1
        self.frame = self._newest = None

    def _look_at_settings(self, context: Context, scene: BlenderScene) -> None:
        """Read the scene again if settings other than the movable objects changed and have been stable for a moment."""
        now = time.monotonic()
        if now < self._next_look or self._hands is None:
            return
        self._next_look = now + _LOOK_SECONDS
        settings = self._hands.settings(scene)
        if settings != self._settings:
            self._settings, self._changed_at = settings, now
        elif self._changed_at is not None and now > self._changed_at + _SETTLED_SECONDS:
            self._changed_at = None
            self.message = "The scene has changed; restarted from the first frame"
            self._steps = extraction(context)

    def _hear(self) -> None:
        """Process the worker's events since the last call."""
        if self._worker is None:
            return
        status = self._worker.exit_status
        for event in self._worker.events():
            self._take(event)
        if status is not None and not self.is_finished:
            words = self._worker.complaint() or "no message"
            self._end(self._reason or Message(f"The live simulation {ending(status)}: {words}"))

    def _take(self, event: Event) -> None:
        kind = event["event"]
        if kind == "frame" and event["run"] == self._run:
            self._newest = event["frame"]
            self._arrivals.append(time.monotonic())
        elif kind == "compiling" and self._newest is None:
            self.text = "Compiling"
        elif kind == "warning":
            self.message = sentence(in_blender(message_of(event)))
        elif kind in ("error", "cancelled"):
            self._reason = message_of(event)

    def _show(self, scene: BlenderScene, *, is_playing: bool) -> None:
        """Show the frame that is due, if any."""
        newest = self._newest
        if newest is None or self._steps is not None:
            return
        if is_playing:
            before, self._timeline = self._timeline, scene.frame_current
            if self._timeline < before and newest > self._first:
                self._restart()
                return
            self._put(scene, min(newest, max(self._timeline, self._first)))
        elif self.frame is not None and scene.frame_current != self.frame and scene.frame_current <= self._first < self.frame:
            # the user went back to the start
            self._restart()
        elif self.frame == self._last:
            self._repeat(scene)
        else:
            rate = particle_objects.frame_rate(scene)
            now = time.monotonic()
            if self.frame is None or self.frame >= newest:
                self._shown_since = now - (0.0 if self.frame is None else self.frame - self._first) / rate
            due = self._first + int((now - self._shown_since) * rate)
            wanted = min(newest, max(due, self._first))
            if wanted != self.frame and (self.frame is None or wanted > self.frame):
                self._put(scene, wanted)
                if scene.frame_current != wanted:
                    scene.frame_set(wanted)
        self.text = f"Frame {self.frame}, {self.rate:.0f}fps"

    def _repeat(self, scene: BlenderScene) -> None:
        if scene.mpm.use_live_repeat:
            self._restart()
        else:
            self._end(NOTHING)

    def _put(self, scene: BlenderScene, frame: int) -> None:
        """Show a frame in the preview's object, which is recreated if it was undone or deleted."""
        if frame == self.frame:
            return
        item = previews.shown(scene)
        if item is None:
            item = particle_objects.result_object(scene, self._cache)
            display.dress(item, self._looks)
        previews.label(scene)
        particle_objects.hold(item, frame)
        self.frame = frame
        particle_objects.show(scene)

    def _tell(self, scene: BlenderScene) -> None:
        """Send the poses to the worker, if they have changed."""
        if self._hands is None or self.is_finished:
            return
        shown = self._first if self.frame is None else self.frame
        wishes = Wishes(
            run=self._run,
            until=shown + _AHEAD,
            scene=str(self._package),
            things=self._hands.things(scene),
            gravity=self._hands.gravity(scene),  # type: ignore[arg-type]
        )
        if wishes != self._told:
            self._told = wishes
            write_wishes(self._work / "wishes.json", wishes)


@dataclass
class Live(OfSession):
    """The running session, and the last message of the previous one, for the panel."""

    running: LiveSession | None = None
    last_words: str = ""


def current() -> LiveSession | None:
    """The running live simulation."""
    return runtime.of(Live).running


def message() -> str:
    """The panel's message if none is running: why the last one ended."""
    return runtime.of(Live).last_words


def start(context: Context) -> LiveSession:
    """Start a live simulation. Raises MpmError if one runs, if a bake runs, or if the scene cannot be simulated."""
    live = runtime.of(Live)
    if live.running is not None:
        raise MpmError("A live simulation is running", "stop it first")
    if session.current() is not None:
        raise MpmError("A bake is running", "wait until it finishes or cancel it")
    live.last_words = ""
    live.running = LiveSession(context)
    return live.running


def stop() -> Message:
    """End the live simulation, if any; returns what went wrong in it."""
    live = runtime.of(Live)
    ended, live.running = live.running, None
    if ended is None:
        return NOTHING
    ended.close()
    live.last_words = in_blender(ended.error) if ended.error else ""
    return ended.error


def forget() -> None:
    """End the live simulation, if any, because the file closes or the add-on is disabled."""
    stop()
    runtime.forget(Live)
