"""Writes the scene package of a bake beside Blender's main loop: in a thread that knows nothing of Blender, for as long as it takes."""

import shutil
import tempfile
import threading
from pathlib import Path

from ...core.errors import MpmError
from ...core.scene.description import Scene
from ...storage import write_scene


class Packaging:
    """One scene on its way into a temporary folder.

    Attributes:
        folder: where it goes.
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
        """Whether it is written, or never will be."""
        return not self._thread.is_alive()

    def result(self) -> Path:
        """The scene file, waited for. Raises MpmError or OSError where it cannot be written."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        if self._path is None:
            raise MpmError("the scene could not be written", "bake again", subject=str(self.folder))
        return self._path

    def remove(self) -> None:
        """Remove the folder, now or when it is written. Never waits."""
        with self._lock:
            self._is_abandoned = True
            is_done = self._path is not None or self._error is not None
        if is_done:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, scene: Scene) -> None:
        path, error = None, None
        try:
            path = write_scene(scene, self.folder)
        except (MpmError, OSError, MemoryError, ValueError) as caught:  # told where the result is asked for
            error = caught
        with self._lock:
            self._path, self._error = path, error
            is_abandoned = self._is_abandoned
        if is_abandoned:
            shutil.rmtree(self.folder, ignore_errors=True)
