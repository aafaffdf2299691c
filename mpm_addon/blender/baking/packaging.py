"""Writes the scene package of a bake in a thread, so that Blender's main loop never waits for it. The thread never calls Blender."""

import shutil
import tempfile
import threading
from pathlib import Path

from ...core.errors import MpmError
from ...core.scene.description import Scene
from ...storage import write_scene


class Packaging:
    """A scene being written to a temporary folder.

    Attributes:
        folder: the destination.
    """

    def __init__(self, scene: Scene) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mpm_scene_"))
        self._path: Path | None = None
        self._error: Exception | None = None
        self._is_abandoned = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._write, args=(scene,), name="mpm_packaging", daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether writing has finished, successfully or not."""
        return not self._thread.is_alive()

    def result(self) -> Path:
        """Wait for the scene file. Raises MpmError or OSError if it cannot be written."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        if self._path is None:
            raise MpmError("the scene could not be written", "bake again", subject=str(self.folder))
        return self._path

    def remove(self) -> None:
        """Remove the folder, now or as soon as writing has finished. Never waits."""
        with self._lock:
            self._is_abandoned = True
            is_done = self._path is not None or self._error is not None
        if is_done:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, scene: Scene) -> None:
        path, error = None, None
        try:
            path = write_scene(scene, self.folder)
        except (MpmError, OSError, MemoryError, ValueError) as caught:  # raised by `result`
            error = caught
        with self._lock:
            self._path, self._error = path, error
            is_abandoned = self._is_abandoned
        if is_abandoned:
            shutil.rmtree(self.folder, ignore_errors=True)
