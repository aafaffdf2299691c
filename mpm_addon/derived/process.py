"""Controls the process that makes meshes: sends requests, receives meshes, and can end it at any time."""

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from ..core.errors import MpmError
from ..core.messages import Message, one_line
from ..storage.surface_file import SurfacePiece
from .particles import Cloud
from .settings import Recipe

# Seconds between checks for a request to stop.
_LOOK_SECONDS = 0.05
_WORDS = 300


class Reconstructor:
    """A process that makes meshes; a context manager that ends it."""

    def __init__(self, recipe: Recipe, voxel: float | None, threads: int | None) -> None:
        """Start the process. Raises MpmError if it cannot be started."""
        self._settings = recipe, voxel
        path = os.pathsep.join([str(Path(__file__).parents[2]), *(entry for entry in sys.path if entry)])
        environment = {**os.environ, "PYTHONPATH": path}
        if threads is not None:
            environment["RAYON_NUM_THREADS"] = str(threads)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.worker"],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Ctrl C in a terminal must not reach it before this process
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise MpmError(f"it cannot be started ({error.strerror})", "check the installation", subject=sys.executable) from error
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._last_words = b""
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._listen)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "Reconstructor":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            try:
                pipe.close()
            except OSError:  # what has not been sent yet
                continue

    def ask(self, clouds: list[Cloud]) -> None:
        """Start making the meshes of particles; earlier ones must have been received."""
        assert self._process.stdin is not None
        try:
            pickle.dump((clouds, *self._settings), self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
        except OSError:
            return  # the process has ended; `receive` raises the error

    def receive(self, look: Callable[[], None]) -> list[tuple[SurfacePiece, float]]:
        """The requested meshes, with their voxel sizes [m].

        Args:
            look: called repeatedly while waiting; may raise.

        Raises:
            MpmError: they cannot be made, or the process has ended.
        """
        while True:
            look()
            try:
                answer = self._answers.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                continue
            if isinstance(answer, Message):
                raise MpmError.of(answer)
            if isinstance(answer, str):
                raise MpmError(f"the surface cannot be made ({one_line(answer)[:_WORDS]})", "use a larger voxel size")
            if answer is None:
                raise MpmError(self._ending(), "use a larger voxel size or close other programs")
            return answer

    def _ending(self) -> str:
        self._process.wait()
        self._threads[1].join()
        lines = [line for line in self._last_words.decode(errors="replace").splitlines() if line.strip()]
        words = one_line(lines[-1])[:_WORDS] if lines else "perhaps out of memory"
        return f"the surface process exited with status {self._process.returncode} ({words})"

    def _read(self) -> None:
        assert self._process.stdout is not None
        # whatever happens, `receive` must not wait forever
        last: str | None = "its answer cannot be read"
        try:
            while True:
                self._answers.put(pickle.load(self._process.stdout))
        except (EOFError, OSError, pickle.UnpicklingError):
            last = None
        except (MemoryError, ValueError, ImportError, AttributeError) as error:
            last = f"{type(error).__name__}: {error}"
        finally:
            self._answers.put(last)

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._last_words = (self._last_words + line)[-4096:]
