"""Checks the installation and reports each problem with its remedy, for panels, preferences and bakes.

Inspects files and never imports numba, which stays out of Blender's process. Only the worker can tell whether numba works; `doctor` asks
it.
"""

import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...command_line.doctor import KERNEL_TEST, kernel_complaint
from ...core.errors import MpmError
from ...core.messages import NOTHING, Message, message_of
from ...storage import container
from ...storage.installation import PACKAGE, version
from ..host.blender_version import NEWEST, words
from ..host.runtime import OfSession, runtime
from ..host.wording import in_blender
from ..settings import paths
from . import worker

_AGAIN = "reinstall the extension's zip for this platform"
_NOT_RUNNING = "Baking does not work"
_DOCTOR_SECONDS = 120.0
# Kernel folder for a single process, used if no other folder is writable.
_LOST_KERNELS = "mpm_addon_kernels_"


@dataclass
class Answers(OfSession):
    """Results of the checks.

    Attributes:
        worker: the worker's last report, or why there is none; None if it was never asked.
        numba: problems with numba's files, by the folder of the package.
    """

    worker: dict[str, Any] | Message | None = None
    numba: dict[str, Message] = field(default_factory=dict)


def lines() -> list[str]:
    """Problems with the installation, one per line, starting with those that prevent bakes. Cheap enough for a panel."""
    return [in_blender(message) for message in (*baking_problems(), *other_problems())]


def baking_problems() -> list[Message]:
    """Problems that prevent bakes."""
    return [found for found in (numba_problem(), zstandard_problem(), temporary_problem(), _doctor_problem()) if found]


def other_problems() -> list[Message]:
    """Problems that only limit what works."""
    return [found for found in (blender_notice(bpy.app.version),) if found]


def require_baking() -> None:
    """Raises MpmError if bakes cannot run."""
    for problem in baking_problems():
        raise MpmError.of(problem)


def numba_problem() -> Message:
    """The problem with numba, as far as its files show."""
    found = importlib.util.find_spec("numba")
    if found is None:
        return Message("numba is missing, so nothing can be baked", (_AGAIN,))
    known, origin = runtime.of(Answers).numba, found.origin or ""
    if origin not in known:
        known[origin] = _numba_files_problem(origin)
    return known[origin]


def _numba_files_problem(origin: str) -> Message:
    folder = Path(origin).parent
    if not any((folder / f"_dispatcher{suffix}").is_file() for suffix in EXTENSION_SUFFIXES):
        return Message(
            f"numba is built for another Python or platform than this Blender's ({_python_words()}), so nothing can be baked",
            ("install the extension's zip for this platform and a version for this Blender",),
        )
    compiler = importlib.util.find_spec("llvmlite")
    if compiler is None:
        return Message("llvmlite is missing, so nothing can be baked", (_AGAIN,))
    library = {"win32": "llvmlite.dll", "darwin": "libllvmlite.dylib"}.get(sys.platform, "libllvmlite.so")
    if not (Path(compiler.origin or "").parent / "binding" / library).is_file():
        return Message(
            f"llvmlite is built for another platform than this one ({sysconfig.get_platform()}), so nothing can be baked", (_AGAIN,)
        )
    return numpy_problem(np.__version__, _wanted_numpy())


def _wanted_numpy() -> str:
    """The numpy versions that numba accepts: "<2.6,>=1.22"."""
    try:
        needed = importlib.metadata.requires("numba") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    return next((text.removeprefix("numpy") for text in needed if re.match(r"numpy[<>=! ]", text)), "")


def numpy_problem(present: str, wanted: str) -> Message:
    """The problem with a version of numpy, given limits such as "<2.6,>=1.22"."""
    number = _number(present)
    for sign, limit in re.findall(r"(>=|<=|<|>)\s*([\d.]+)", wanted):
        bound = _number(limit)
        fits = {">=": number >= bound, "<=": number <= bound, "<": number < bound, ">": number > bound}[sign]
        if not fits:
            return Message(
                f"numpy {present} of this Blender is not supported by numba ({wanted.strip()}), so nothing can be baked",
                ("install a newer version of the extension, or a Blender that it supports",),
            )
    return NOTHING


def zstandard_problem() -> Message:
    """The problem with the compression of caches."""
    try:
        container.require_zstandard()
    except MpmError as error:
        return error.message
    return NOTHING


def temporary_problem() -> Message:
    """The problem with the folder for temporary files."""
    root = paths.temporary_root()
    if os.access(root, os.W_OK):
        return NOTHING
    return Message(
        f"The folder for temporary files, {root}, cannot be written, so nothing can be baked", ("choose another in the system's settings",)
    )


def kernels_problem() -> Message:
    """What it costs if compiled kernels cannot be stored; known once the worker was asked."""
    told = runtime.of(Answers).worker
    if not isinstance(told, dict) or not Path(str(told.get("kernel_cache", ""))).name.startswith(_LOST_KERNELS):
        return NOTHING
    return Message(
        "The user's cache folder cannot be written, so every bake compiles the kernels that are not shipped",
        ("check its permissions, or set NUMBA_CACHE_DIR to a writable folder",),
    )


def folder_problem(folder: Path) -> Message:
    """Why a bake could not write to a cache folder, which may not exist yet; `NOTHING` if it could."""
    place = _unwritable(folder)
    return Message(f"The cache folder {folder} cannot be written ({place})", ("choose another one",)) if place else NOTHING


def _unwritable(folder: Path) -> str:
    """Why files cannot be written in a folder; "" if they can."""
    for place in (folder, *folder.parents):
        try:
            if place.is_dir():
                return "" if os.access(place, os.W_OK) else f"{place} is read-only"
            if os.path.lexists(place):
                return f"{place} is a file"
        except OSError as error:
            return f"{place}: {error.strerror}"
    return "its drive is missing"


def blender_notice(running: Sequence[int]) -> Message:
    """Notice about a Blender newer than the versions this extension was tested with."""
    if tuple(running[:2]) <= NEWEST:
        return NOTHING
    return Message(
        f"Blender {words(tuple(running))} is newer than the versions that MPM {version()} supports (up to {words(NEWEST)})",
        ("update the extension if something does not work",),
    )


def _doctor_problem() -> Message:
    told = runtime.of(Answers).worker
    if isinstance(told, dict):
        complaint = kernel_complaint(told)
        return complaint.within(_NOT_RUNNING) if complaint else NOTHING
    return told or NOTHING


def report() -> dict[str, Any]:
    """Everything a bug report needs: versions, platform, problems, and the worker's last report."""
    told = runtime.of(Answers).worker
    return {
        "mpm_addon": version(),
        "blender": bpy.app.version_string,
        "python": sys.version.split()[0],
        "platform": sysconfig.get_platform(),
        "numpy": np.__version__,
        "cores": os.cpu_count(),
        "problems": [*lines(), *map(in_blender, filter(None, [kernels_problem()]))],
        "worker": in_blender(told) if isinstance(told, Message) else told or "not asked",
    }


def ask_worker() -> dict[str, Any]:
    """Let the worker's Python load numba and report on itself. Waits, usually a few seconds.

    Raises:
        MpmError: it cannot bake, or its kernels are wrong; panels show the message from now on.
    """
    command = [worker.python_executable(), "-m", PACKAGE.name, "doctor", "--json"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env=worker.environment(),
            cwd=PACKAGE.parent,
            timeout=_DOCTOR_SECONDS,
        )
        told = _answered(done.stdout, done.stderr, done.returncode)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        told = Message(str(error), (_AGAIN,), _NOT_RUNNING)
    runtime.of(Answers).worker = told
    problem = _doctor_problem()
    if problem or isinstance(told, Message):
        raise MpmError.of(problem)
    return told


def _answered(answer: str, complaint: str, status: int) -> dict[str, Any] | Message:
    """The report of the worker's Python, or what it says is wrong. Raises ValueError if the report is malformed."""
    if status == 0:
        return json.loads(answer)
    if answer.strip():
        told = json.loads(answer)
        # a report comes even if a kernel is wrong
        return told if KERNEL_TEST in told else message_of(told).within(_NOT_RUNNING)
    said = complaint.strip().splitlines()
    return Message(said[-1], (), _NOT_RUNNING) if said else Message(f"Python {worker.ending(status)}", (_AGAIN,), _NOT_RUNNING)


def forget() -> None:
    """Discard all results, so that everything is checked again."""
    runtime.forget(Answers)


def _number(text: str) -> tuple[int, ...]:
    found = [int(part) for part in re.findall(r"\d+", text)[:3]]
    return tuple(found + [0] * (3 - len(found)))


def _python_words() -> str:
    return f"Python {sys.version_info.major}.{sys.version_info.minor}, {sysconfig.get_platform()}"
