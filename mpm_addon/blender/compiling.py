"""Compiles kernels in the background if this version ships none for this computer, so that the first bake does not wait for them.

Bakes have priority: while one runs, nothing is compiled here, and the bake compiles what it needs.
"""

import subprocess
from dataclasses import dataclass

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
    if not bpy.app.background and not are_shipped():
        registrar.timer(tick, _FIRST_SECONDS)
