"""The live simulation: a worker that receives the poses of moved objects, and the frames that it returns. One at a time, never waits.

While the animation is stopped, the simulation drives the timeline: each frame is shown as soon as it arrives, at most at the scene's
frame rate. While the animation plays, the timeline drives: the simulation keeps up with it, and shows its newest frame if it lags behind.
"""

import atexit
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import bpy

from ...core.errors import MpmError
from ...core.messages import NOTHING, Message
from ...core.scene.description import Scene
from ...storage.events import Compiling, Event, WarningEvent
from .. import display
from ..baking import previews, session
from ..baking.shown_caches import looks_of
from ..host.blender_types import BlenderScene, Context
from ..host.runtime import OfSession, runtime
from ..host.wording import in_blender, sentence
from ..playback import particle_objects
from ..reading.extract import extraction
from .live_worker import LiveWorker
from .movable_objects import MovableObjects, SettingsWatch
from .playhead import Playhead

_SLICE_SECONDS = 0.02
# Frames that the simulation may be ahead of the displayed one; more would delay the response to changes.
_AHEAD = 2


@dataclass(frozen=True)
class _ReadScene:
    """What the session keeps of a scene that was read: the movable objects, other settings, and the emitters' looks."""

    objects: MovableObjects
    settings: SettingsWatch
    looks: list[display.Look]
    playhead: Playhead


class LiveSession:
    """One live simulation of a scene.

    Attributes:
        worker: the process that simulates.
        text: the state in one line; message: what went wrong, or why the simulation restarted.
        is_finished: whether it has ended; `error` says why, "" if it was stopped by the user.
    """

    def __init__(self, context: Context) -> None:
        """Start reading the scene. Raises MpmError."""
        session.require_numba()
        scene = context.scene
        self._scene_number = scene.session_uid
        previews.begin(scene)
        self._cache = previews.cache_path(scene)
        self.worker = LiveWorker(previews.folder(scene))
        self._steps: Generator[float, None, Scene] | None = extraction(context)
        self._read: _ReadScene | None = None
        self.text, self.message, self.error = "Preparing", "", NOTHING
        self.is_finished = False
        atexit.register(self.close)
        try:
            self._read_more(context)
        except MpmError:
            self.close()
            raise

    @property
    def scene(self) -> BlenderScene | None:
        """The scene; None if it was removed."""
        return next((scene for scene in bpy.data.scenes if scene.session_uid == self._scene_number), None)

    @property
    def frame(self) -> int | None:
        """The displayed frame; None before the first."""
        return None if self._read is None else self._read.playhead.frame

    def poll(self, context: Context, *, is_playing: bool = False) -> bool:
        """Advance the session; returns whether there is something new to draw. Ends the session if it cannot proceed; never raises.

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
            before = (self.text, self.message, self.frame, self.worker.newest)
            if self._steps is None and self._read is not None and self._read.settings.has_settled(scene):
                self.message = "The scene has changed; restarted from the first frame"
                self._steps = extraction(context)
            elif self._steps is not None:
                self._read_more(context)
            self._hear()
            if self._read is not None and not self.is_finished:
                self._show(scene, self._read, is_playing=is_playing)
                self._tell(scene)
            return before != (self.text, self.message, self.frame, self.worker.newest) or self.is_finished
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
        self.worker.close()
        particle_objects.release()

    def _end(self, error: Message) -> None:
        self.error, self.message = error, in_blender(error)
        self.close()

    def _read_more(self, context: Context) -> None:
        """Read the scene for a moment; start a run once it is read. Raises MpmError."""
        steps, pause = self._steps, time.monotonic() + _SLICE_SECONDS
        if steps is None:
            return
        try:
            while time.monotonic() < pause:
                self.text = f"Preparing {100.0 * next(steps):.0f}%"
        except StopIteration as finished:
            self._steps = None
            self._begin(context.scene, finished.value)

    def _begin(self, scene: BlenderScene, described: Scene) -> None:
        objects = MovableObjects(scene, described)
        playhead = Playhead(described.time.frame_start, described.time.frame_end, scene.frame_current)
        self._read = _ReadScene(objects, SettingsWatch(objects, scene), looks_of(described), playhead)
        self.worker.load(described)
        self._tell(scene)
        self.worker.start(scene.mpm.preview_particles)
        self.text = "Starting"

    def _restart(self, playhead: Playhead) -> None:
        self.worker.restart()
        playhead.frame = None

    def _hear(self) -> None:
        """Process the worker's events since the last call."""
        events, reason = self.worker.hear()
        for event in events:
            self._take(event)
        if reason is not None:
            self._end(reason)

    def _take(self, event: Event) -> None:
        if isinstance(event, Compiling) and self.worker.newest is None:
            self.text = "Compiling"
        elif isinstance(event, WarningEvent):
            self.message = sentence(in_blender(event.warning.message))

    def _show(self, scene: BlenderScene, read: _ReadScene, *, is_playing: bool) -> None:
        """Show the next frame, if it is time for it."""
        newest, playhead = self.worker.newest, read.playhead
        if newest is None or self._steps is not None:
            return
        if playhead.is_set_back(scene.frame_current, newest, is_playing=is_playing):
            self._restart(playhead)
        elif playhead.frame == playhead.last and not is_playing:
            if scene.mpm.use_live_repeat:
                self._restart(playhead)
            else:
                self._end(NOTHING)
        else:
            rate = particle_objects.frame_rate(scene)
            wanted = playhead.due(scene.frame_current, newest, rate=rate, is_playing=is_playing)
            if wanted != playhead.frame:
                self._put(scene, wanted, read.looks)
                playhead.frame = wanted
                particle_objects.show(scene)
                if not is_playing and scene.frame_current != wanted:
                    scene.frame_set(wanted)
            self.text = f"Frame {wanted}, {self.worker.rate:.0f} fps"

    def _put(self, scene: BlenderScene, frame: int, looks: list[Any]) -> None:
        """Hold a frame in the preview's object, which is recreated if it was undone or deleted."""
        item = previews.shown(scene)
        if item is None:
            item = particle_objects.result_object(scene, self._cache)
            display.dress(item, looks)
        previews.label(scene)
        particle_objects.hold(item, frame)

    def _tell(self, scene: BlenderScene) -> None:
        """Send the poses to the worker, if they have changed."""
        if self._read is None or self.is_finished:
            return
        objects, playhead = self._read.objects, self._read.playhead
        shown = playhead.first if playhead.frame is None else playhead.frame
        self.worker.tell(until=shown + _AHEAD, things=objects.things(scene), gravity=objects.gravity(scene))


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
