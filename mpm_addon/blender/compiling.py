"""Prepares the first bake in the background, so that it does not wait: kernels are compiled if this version ships none for this computer.

If it ships them, only the bytecode of the modules that a bake imports is missing after an installation, and the same process writes it.

Bakes have priority: while one runs, nothing is compiled here, and the bake compiles what it needs.
"""

import subprocess
import sys
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

import bpy

from ..core.errors import MpmError
from ..core.processor import shipped_file
from ..storage.installation import PACKAGE
from .baking import session, worker
from .host.registrar import Registrar
from .host.runtime import OfSession, runtime
from .live import live_session

_FIRST_SECONDS, _SECONDS = 5.0, 10.0


@dataclass
class Compilation(OfSession):
    """The compiling process; None if none was started."""

    process: "subprocess.Popen[bytes] | None" = None


def are_shipped() -> bool:
    """Whether this version ships kernels for this platform and Python."""
    return any(shipped_file("any").parent.glob("*.zip"))


def is_fresh() -> bool:
    """Whether no process has run this version's simulation yet, so that Python must still compile the modules that a bake imports."""
    if sys.dont_write_bytecode:
        return False
    return not Path(cache_from_source(str(PACKAGE / "core" / "stepping" / "kernel_list.py"))).is_file()


def tick() -> float | None:
    """Start the process, or stop it while a bake runs. Returns the seconds to the next call, None when everything is compiled."""
    compilation = runtime.of(Compilation)
    if session.current() is not None or live_session.current() is not None:
        end()
        return _SECONDS
    if compilation.process is None:
        try:
            compilation.process = _started()
        except (MpmError, OSError) as error:
            # the next bake reports the same problem, and compiles for itself
            print(f"MPM: kernels cannot be compiled in the background: {error}")
            return None
        return _SECONDS
    return _SECONDS if compilation.process.poll() is None else None


def _started() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        worker.kernels_command(),
        env=worker.environment(),
        cwd=PACKAGE.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),
    )


def end() -> None:
    """Stop the process; kernels compiled so far are kept."""
    compilation = runtime.of(Compilation)
    if compilation.process is not None:
        compilation.process.kill()
        compilation.process.wait()
        compilation.process = None


def register(registrar: Registrar) -> None:
    registrar.on_removal(end)
    if not bpy.app.background and (is_fresh() or not are_shipped()):
        registrar.timer(tick, _FIRST_SECONDS)
