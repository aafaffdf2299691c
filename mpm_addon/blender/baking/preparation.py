"""The scene of a bake on its way to the worker: read a few frames per poll, then written by a thread."""

import time
from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from ...core.errors import MpmError
from ...core.scene.description import Scene
from ..host.blender_types import Context
from ..reading.extract import extraction
from .packaging import Packaging
from .shown_caches import Result

# How long one call reads the scene before returning to the interface, unless a single frame takes longer.
_SLICE_SECONDS = 0.012


class Preparation:
    """The scene of a bake, read and written for its worker.

    Attributes:
        fraction: the progress of reading, 0 to 1; 0 again while the scene is written.
        is_reading: whether the scene is still being read.
    """

    def __init__(self, context: Context, result: Result, object_name: str) -> None:
        self.fraction = 0.0
        self.is_reading = True
        self._context, self._result, self._object_name = context, result, object_name
        self._steps: Generator[float, None, Scene] | None = None
        self._packaging: Packaging | None = None

    def advance(self) -> Path | None:
        """Read the scene for a moment, or look whether it is written; returns the scene file then. Raises MpmError."""
        if self._packaging is not None:
            return self._packaging.result() if self._packaging.is_done else None
        pause = time.monotonic() + _SLICE_SECONDS
        try:
            while True:
                with self._its_scene():
                    if self._steps is None:
                        self._steps = extraction(self._context, object_name=self._object_name)
                    self.fraction = next(self._steps)
                if time.monotonic() > pause:
                    return None
        except StopIteration as finished:
            self._steps, self.is_reading, self.fraction = None, False, 0.0
            self._result.describe(finished.value)
            self._packaging = Packaging(finished.value)
        except ReferenceError as error:
            raise MpmError("The scene was changed while it was being read", "bake again") from error
        return None

    def close(self) -> None:
        """Stop reading, and delete what was written."""
        self.is_reading = False
        if self._steps is not None:
            self._steps.close()
            self._steps = None
        if self._packaging is not None:
            self._packaging.remove()

    def _its_scene(self) -> AbstractContextManager[Any]:
        """Make the baked scene the context's, if the window shows another one."""
        scene = self._result.scene
        if scene is None:
            raise MpmError("The scene was removed while it was being read", "bake another one")
        if self._context.scene == scene:
            return nullcontext()
        return self._context.temp_override(scene=scene, view_layer=scene.view_layers[0])
