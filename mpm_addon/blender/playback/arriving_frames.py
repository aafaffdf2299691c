"""Shows frames that a bake has just written, without blocking Blender.

A thread that never calls Blender reads a frame, which is then put into the mesh. If the user changes the frame meanwhile, the new
frame is shown at once as always, and the one that was read is discarded.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
from numpy.typing import NDArray

from ...core.errors import MpmError
from ...storage import open_cache
from ...storage.retimed_frames import MomentReader
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.redrawing import redraw
from ..host.registrar import Registrar
from ..host.runtime import OfFile, runtime
from ..settings import paths
from . import particle_objects

INTERVAL = 0.02


class _Reading:
    """One frame being read from disk."""

    def __init__(self, scene: BlenderScene, item: Any) -> None:
        """Start reading. Raises CacheError."""
        self.scene_number, self.item_number, self.cache = scene.session_uid, item.session_uid, item.mpm.cache
        self._reader = MomentReader(open_cache(paths.absolute(self.cache)))
        self.wanted = particle_objects.wanted(item, item.mpm, scene, self._reader)
        self._arrays: Mapping[str, NDArray[Any]] | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._read, name="mpm_arriving", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            self._arrays = self.wanted.read(self._reader)
        except (MpmError, OSError) as error:
            self._error = error

    def is_over(self, *, waits: bool) -> bool:
        """Whether the thread has ended."""
        if waits:
            self._thread.join()
        return not self._thread.is_alive()

    def finish(self) -> None:
        """Put the arrays into the mesh, unless the object is to show something else by now."""
        scene: BlenderScene | None = next((scene for scene in bpy.data.scenes if scene.session_uid == self.scene_number), None)
        objects: list[BlenderObject] = [] if scene is None else list(scene.objects)
        item = next((item for item in objects if item.session_uid == self.item_number), None)
        if (
            scene is None
            or item is None
            or item.mpm.cache != self.cache
            or not isinstance(item.data, bpy.types.Mesh)
            or self._arrays is None
        ):
            return
        try:
            is_still_wanted = particle_objects.wanted(item, item.mpm, scene, self._reader) == self.wanted
        except MpmError:
            return
        if is_still_wanted:
            arrays = self._arrays
            particle_objects.present(item, item.data, scene, self._reader, self.wanted, lambda: arrays)
            particle_objects.take_over(item, self._reader)


@dataclass
class Readings(OfFile):
    """Frames being read: at most one per object, by session UID."""

    by_object: dict[int, _Reading] = field(default_factory=dict)


def show(scene: BlenderScene, folder: Path) -> None:
    """Update objects that show a cache folder to the current frame: once it is read, or at once without an interface."""
    if bpy.app.background:
        particle_objects.show(scene)
    else:
        begin(scene, folder)


def begin(scene: BlenderScene, folder: Path) -> None:
    """Start reading the current frame of objects that show a cache folder. Renders read their frames themselves."""
    if bpy.app.is_job_running("RENDER"):
        return
    readings = runtime.of(Readings).by_object
    for item in particle_objects.result_objects(scene):
        if paths.absolute(item.mpm.cache) == folder and item.session_uid not in readings:
            try:
                readings[item.session_uid] = _Reading(scene, item)
            except MpmError:
                particle_objects.show(scene)  # reports what is wrong with the cache
    if readings and not bpy.app.timers.is_registered(step):
        bpy.app.timers.register(step, first_interval=INTERVAL)


def step(*, waits: bool = False) -> float | None:
    """Show the frames read so far. A timer calls it until nothing is left to read."""
    readings = runtime.of(Readings).by_object
    for number, reading in list(readings.items()):
        if reading.is_over(waits=waits):
            del readings[number]
            if not bpy.app.is_job_running("RENDER"):
                reading.finish()
            redraw(bpy.context.window_manager)
    return INTERVAL if readings else None


def forget() -> None:
    """Discard the frames being read."""
    runtime.forget(Readings)
    if bpy.app.timers.is_registered(step):
        bpy.app.timers.unregister(step)


def register(registrar: Registrar) -> None:
    registrar.on_removal(forget)
