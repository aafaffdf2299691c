"""One bake of a wedge: a process of the command line, on this computer or on a worker of a cluster."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from ..storage.installation import PACKAGE
from ..storage.status import CANCEL

# Seconds between checks of the process, and seconds that it has to stop by itself before it is killed.
_LOOK_SECONDS = 0.1
_PATIENCE = 10.0
_SHOWN_BYTES = 2000


@dataclass(frozen=True)
class Order:
    """What to bake. Paths must be the same on every worker.

    Attributes:
        scene: the scene file.
        cache: the folder for the frames.
        frames: the first and last frame, or None for all.
        threads: threads of the solver.
        cancel_file: creating this file stops the bake.
    """

    scene: str
    cache: str
    frames: tuple[int, int] | None
    threads: int
    cancel_file: str

    def command(self) -> list[str]:
        """The command line of the bake."""
        command = [sys.executable, "-u", "-m", PACKAGE.name, "bake", self.scene, "--cache", self.cache]
        command += ["--threads", str(self.threads), "--json"]
        return command if self.frames is None else [*command, "--frames", f"{self.frames[0]}-{self.frames[1]}"]


@dataclass(frozen=True)
class Outcome:
    """How a bake ended: `state` is "done", "failed" or "cancelled", `message` the error of a failed one."""

    state: str
    message: str = ""


def run(order: Order) -> Outcome:
    """Bake and wait for the end. Never raises, so that the failure of one variant does not affect others."""
    cancel_file = Path(order.cancel_file)
    if cancel_file.exists():
        return Outcome("cancelled")
    search_path = os.pathsep.join([str(PACKAGE.parent), *(entry for entry in sys.path if entry)])
    environment = {**os.environ, "PYTHONPATH": search_path, "PYTHONIOENCODING": "utf-8"}
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                order.command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=environment,
                # in its own process group: Ctrl-C in a terminal only reaches the wedge, which then stops its bakes
                start_new_session=os.name == "posix",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            return Outcome("failed", f"{sys.executable} cannot be started ({error.strerror}).")
        is_cancelled = _wait(process, cancel_file, Path(order.cache) / CANCEL)
        if process.returncode == 0:
            return Outcome("done")
        if is_cancelled:
            return Outcome("cancelled")
        complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - _SHOWN_BYTES))
        return Outcome("failed", _reason(process.returncode, complaints.read().decode("utf-8", "replace")))


def _wait(process: "subprocess.Popen[bytes]", cancel_file: Path, own_cancel_file: Path) -> bool:
    """Wait for the end of the process; stop it if `cancel_file` appears. Returns whether it was stopped."""
    # its events are read and discarded: the pipe closes with this process, which ends the bake even after a kill
    assert process.stdout is not None
    reader = threading.Thread(target=_drain, args=(process,), daemon=True)
    reader.start()
    end = None
    while process.poll() is None:
        time.sleep(_LOOK_SECONDS)
        if end is None and cancel_file.exists():
            end = time.monotonic() + _PATIENCE
            _stop(process, own_cancel_file)
        elif end is not None and time.monotonic() > end:
            process.kill()
    reader.join()
    process.stdout.close()
    if end is not None:
        own_cancel_file.unlink(missing_ok=True)
    return end is not None


def _drain(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdout is not None
    while process.stdout.read(65536):
        continue


def _stop(process: "subprocess.Popen[bytes]", own_cancel_file: Path) -> None:
    """Ask a bake to stop after its substep."""
    if os.name == "posix":
        process.terminate()
    elif own_cancel_file.parent.is_dir():
        own_cancel_file.touch()


def _reason(status: int, complaints: str) -> str:
    """Why a bake failed, in one line."""
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    words = lines[-1].removeprefix("mpm: ") if lines else "the bake process stopped unexpectedly."
    if status == 130:
        return "it was canceled by another process; run the wedge again to resume."
    if status < 0:
        return f"the process was killed by signal {-status}; run the wedge again to resume."
    return words
