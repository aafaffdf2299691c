"""Bakes all scenes of the file that have an emitter, one after another, each into its own cache folder.

A scene that cannot be baked is reported and skipped. Canceling one scene cancels the rest of the queue.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import bpy

from ...core.errors import Cancelled, MpmError, SceneError, Stopped
from ...core.messages import NOTHING, Message
from ...storage.events import OnEvent
from ..host.blender_types import BlenderScene, Context
from ..host.runtime import OfFile, runtime
from ..settings import paths
from . import scene_caches, session


class Entry(NamedTuple):
    """A scene in the queue, by its session UID.

    Attributes:
        is_over: whether its bake has ended, or could not begin.
        failure: why it did not finish; `NOTHING` if it did.
    """

    scene_number: int
    name: str
    is_over: bool = False
    failure: Message = NOTHING


class Queue:
    """Scenes that are baked one after another.

    Attributes:
        entries: all of them; entries before `index` are finished.
    """

    def __init__(self, scenes: list[BlenderScene]) -> None:
        self.entries = [Entry(scene.session_uid, scene.name) for scene in scenes]
        self.index = -1

    @property
    def is_over(self) -> bool:
        return self.index >= len(self.entries)

    def start_next(self, context: Context) -> None:
        """Start the next scene that can be baked."""
        self.index += 1
        while not self.is_over:
            scene = next((scene for scene in bpy.data.scenes if scene.session_uid == self.entries[self.index].scene_number), None)
            try:
                if scene is None:
                    raise SceneError("it was removed")
                session.start(context, scene=scene)
            except MpmError as error:
                self.note(error)
                self.index += 1
            else:
                return

    def note(self, error: MpmError | None) -> None:
        """Record how the current scene ended. A canceled scene ends the queue."""
        self.entries[self.index] = self.entries[self.index]._replace(is_over=True, failure=NOTHING if error is None else error.message)
        if isinstance(error, Cancelled):
            self.index = len(self.entries)

    def failures(self) -> list[Message]:
        """A message for each scene that did not finish."""
        return [entry.failure.within(f'Scene "{entry.name}"') for entry in self.entries if entry.failure]


@dataclass
class Queued(OfFile):
    """The current queue, if any."""

    queue: Queue | None = None


def current() -> Queue | None:
    """Return the current queue."""
    return runtime.of(Queued).queue


def begin(context: Context) -> Queue:
    """Start baking all scenes. Raises MpmError if a bake is running, if there is nothing to bake, or if two scenes share a folder."""
    if session.current() is not None:
        raise MpmError("A bake is running", "wait until it finishes or cancel it")
    queue = runtime.of(Queued).queue = Queue(scenes_to_bake())
    queue.start_next(context)
    return queue


def end() -> None:
    """Discard the queue."""
    runtime.forget(Queued)


def words() -> str:
    """Which scene is baking, in one line; "" without a queue."""
    queue = current()
    if queue is None or queue.is_over or queue.index < 0:
        return ""
    return f'Scene {queue.index + 1} of {len(queue.entries)}: "{queue.entries[queue.index].name}"'


def scenes_to_bake() -> list[BlenderScene]:
    """The file's scenes that have an emitter. Raises SceneError if there is none, or if two linked scenes share a folder."""
    scenes: list[BlenderScene] = list(bpy.data.scenes)
    scenes = [scene for scene in scenes if any(item.mpm.type == "emitter" for item in scene.objects)]
    if not scenes:
        raise SceneError("No scene of this file has an emitter", "select an object and press MPM in its Physics tab")
    scene_caches.separate()
    folders: dict[Path, str] = {}
    for scene in scenes:
        folder = paths.absolute(paths.cache_path(scene))
        if folder in folders:
            raise SceneError(
                f'Scenes "{folders[folder]}" and "{scene.name}" have the same cache folder, {folder}', "give one of them another folder"
            )
        folders[folder] = scene.name
    return scenes


def bake_all(context: Context, on_event: OnEvent | None = None) -> list[Message]:
    """Bake all scenes and wait. Returns warnings to report; raises Cancelled, and MpmError if some scenes could not be baked."""
    notes: list[Message] = []
    complaints: list[str] = []
    for scene in scenes_to_bake():
        try:
            notes += session.bake(context, scene=scene, on_event=on_event)
        except Cancelled:
            raise
        except (MpmError, Stopped) as error:
            complaints.append(f'Scene "{scene.name}": {error}')
    if complaints:
        raise MpmError(" | ".join(complaints))
    return notes
