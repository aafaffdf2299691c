"""The bake's process: the Python that Blender ships, running the command line. Knows neither scenes nor interface.

The process writes its events and errors to files, which are read as they grow: nothing blocks, no thread is needed, and a full
pipe cannot stop it.
"""

import atexit
import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.errors import CacheError, MpmError
from ...core.parameters import parameters_of
from ...storage.events import Event, Vocabulary, read_event
from ...storage.installation import PACKAGE
from ...storage.status import CANCEL, ask_to_cancel
from ...storage.take import SURFACE
from ..host.runtime import OfSession, runtime

# Seconds before a process that was asked to stop is killed; killing loses no finished frame.
PATIENCE = 0.5
_COMPLAINT_LINES = 5
# First lines of a crashing interpreter; the innermost functions follow.
_CRASH = ("Fatal Python error", "Windows fatal exception")

# Descriptions of the ways in which a process is ended from outside.
_SIGNALS = {
    "SIGKILL": "was killed (SIGKILL), probably because the system ran out of memory; use a larger `grid_spacing` or close other programs",
    "SIGTERM": "was terminated (SIGTERM)",
    "SIGBUS": "crashed (SIGBUS), perhaps because the disk is full",
}
_WINDOWS_CODES = {
    0xC0000005: "crashed (access violation)",
    0xC0000017: "ended because it ran out of memory; use a larger `grid_spacing` or close other programs",
    0xC000013A: "was interrupted (Ctrl C)",
    0xC00000FD: "crashed (stack overflow)",
}


@dataclass
class Environment(OfSession):
    """Providers of environment variables for the process, such as the number of threads."""

    told_by: list[Callable[[], dict[str, str]]] = field(default_factory=list)


def python_executable() -> str:
    """The Python to run: Blender's own. Raises MpmError if there is none."""
    prefix = Path(sys.prefix)
    candidates = [
        Path(sys.executable or ""),
        *sorted((prefix / "bin").glob("python3*")),
        prefix / "bin" / "python.exe",
        prefix / "python.exe",
    ]
    for candidate in candidates:
        if candidate.name.lower().startswith("python") and os.access(candidate, os.X_OK) and candidate.is_file():
            return str(candidate)
    raise MpmError(f"Blender's Python was not found in {prefix}", "install Blender again from blender.org")


def bake_command(scene: Path, cache: Path, *, restart: bool = False, from_frame: int | None = None) -> list[str]:
    """The command that bakes a scene package, as typed in a terminal."""
    command = [python_executable(), "-u", "-m", PACKAGE.name, "bake", str(scene), "--cache", str(cache), "--json"]
    command += ["--restart"] if restart else []
    return command if from_frame is None else [*command, "--from", str(from_frame)]


def live_command(scene: Path, cache: Path, requests: Path, particles: int) -> list[str]:
    """The command that simulates a preview of a scene package, steered through a file."""
    command = [python_executable(), "-u", "-m", PACKAGE.name, "live", str(scene), "--cache", str(cache), "--json"]
    return [*command, "--steering", str(requests), "--particles", str(particles)]


def info_command(scene: Path, cache: Path, *, probe: bool = False) -> list[str]:
    """The command that estimates the cost of a scene package in a cache folder; with `probe` it also measures the time."""
    command = [python_executable(), "-u", "-m", PACKAGE.name, "info", str(scene), "--cache", str(cache), "--json"]
    return [*command, "--probe"] if probe else command


def derive_command(cache: Path, settings: Any, *, kind: str = SURFACE, follows: bool = False) -> list[str]:
    """The command that makes the derived data of a cache; with `follows` also that of the frames that a running bake adds."""
    command = [python_executable(), "-u", "-m", PACKAGE.name, "derive", str(cache), kind, "--json"]
    for declared in parameters_of(type(settings)):
        value, name = getattr(settings, declared.name), declared.name.replace("_", "-")
        if isinstance(value, bool):
            command.append(f"--{name}" if value else f"--no-{name}")
        elif value not in (None, ""):
            command.append(f"--{name}={value}")
    return [*command, "--follow"] if follows else command


def kernels_command() -> list[str]:
    """The command that compiles all kernels that are not compiled yet, at low priority."""
    return [python_executable(), "-u", "-m", PACKAGE.name, "kernels", "--gently"]


def search_path() -> list[str]:
    """Module search path of the process: the folder of this package, then the path of this Python."""
    return [str(PACKAGE.parent), *(entry for entry in sys.path if entry)]


def environment() -> dict[str, str]:
    """Environment of the process: it finds the same modules as Blender's own Python, including the wheels of extensions."""
    told = {name: value for ask in runtime.of(Environment).told_by for name, value in ask().items()}
    return {**os.environ, **told, "PYTHONPATH": os.pathsep.join(search_path()), "PYTHONIOENCODING": "utf-8"}


def ending(status: int) -> str:
    """How a process ended: "was killed (SIGKILL), ...", "exited with status 3"."""
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return _SIGNALS.get(name, f"crashed ({name})")
    return _WINDOWS_CODES.get(status, f"exited with status {status}")


class Worker:
    """One process of the command line.

    Attributes:
        cache: the folder whose stop file `cancel` writes.
    """

    def __init__(self, command: list[str], cache: Path, *, is_apart: bool = False, is_gentle: bool = False) -> None:
        """Start the process.

        Args:
            command: the command to run.
            cache: the folder whose stop file `cancel` writes.
            is_apart: whether to ignore signals of Blender's terminal, so that it can keep running when Blender quits.
            is_gentle: whether to run at low priority on Windows; elsewhere the process lowers its own priority.

        Raises:
            MpmError: it cannot be started.
        """
        self.cache = cache
        self._folder = Path(tempfile.mkdtemp(prefix="mpm_bake_"))
        self._rest = b""
        self._end = math.inf
        priority = getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0) if is_gentle else 0
        try:
            with open(self._folder / "stdout", "wb") as out, open(self._folder / "stderr", "wb") as complaints:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=complaints,
                    env=environment(),
                    cwd=PACKAGE.parent,
                    start_new_session=is_apart,
                    # on Windows: no console window
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0) | priority,
                )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise MpmError(f"it cannot be started ({error.strerror})", "check Blender's installation", subject=str(command[0])) from error
        self._output = open(self._folder / "stdout", "rb")  # noqa: SIM115 - closed with the worker
        atexit.register(self.close)

    @property
    def exit_status(self) -> int | None:
        """The exit status; None while the process runs. Kills a canceled process that does not stop in time."""
        if self._process.poll() is None and time.monotonic() > self._end:
            self._process.kill()  # the system may take a while to free its memory
        return self._process.poll()

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._end < math.inf

    def events(self, vocabulary: Vocabulary) -> list[Event]:
        """The events since the last call; whatever else it prints is left out. Never waits."""
        return [event for told in self.answers() if (event := read_event(told, vocabulary)) is not None]

    def answers(self) -> list[dict[str, Any]]:
        """The JSON objects that it printed since the last call. Never waits."""
        if self._output.closed:
            return []
        *lines, self._rest = (self._rest + self._output.read()).split(b"\n")
        found = []
        for line in lines:
            with contextlib.suppress(ValueError):
                told = json.loads(line)
                if isinstance(told, dict):
                    found.append(told)
        return found

    def complaint(self) -> str:
        """The last lines of the process's stderr, joined into one line."""
        try:
            text = (self._folder / "stderr").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        crash = next((number for number, line in enumerate(lines) if line.startswith(_CRASH)), None)
        return " | ".join(lines[-_COMPLAINT_LINES:] if crash is None else lines[crash : crash + _COMPLAINT_LINES])

    def cancel(self) -> None:
        """Ask the process to stop; it is killed after PATIENCE seconds. Finished frames are kept."""
        if self.is_cancelled or self._process.poll() is not None:
            return
        self._end = time.monotonic() + PATIENCE
        with contextlib.suppress(CacheError):  # the folder may not exist yet
            ask_to_cancel(self.cache)
        if os.name == "posix":
            self._process.terminate()

    def close(self) -> None:
        """Stop the process, gracefully at first, and delete its files. May be called twice."""
        atexit.unregister(self.close)
        self.cancel()
        while self.exit_status is None:
            time.sleep(0.01)
        if self.is_cancelled:
            with contextlib.suppress(OSError):
                (self.cache / CANCEL).unlink()
        self._output.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def leave(self) -> None:
        """Leave the process running, even without Blender. Its output goes to its files in the temporary folder."""
        atexit.unregister(self.close)
        self._output.close()
