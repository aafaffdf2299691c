"""Preparing kernels before they are called: stored ones are loaded, others are compiled in several processes at once.

`python -m mpm_addon.core.stepping.compiling` is such a process: it reads one kernel per line and answers once that is stored.
"""

import contextlib
import gc
import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..compilation.kernel import CORE, compiled_level, register_generic_functions, source_hash, store
from ..compilation.kernel_files import file_name, write_archive
from ..compilation.team import team_size
from ..errors import MpmError
from ..messages import Message, SceneWarning, Topic
from ..processor import shipped_file
from .kernel_list import Unit, Variant, argument_types, dispatcher_of, units_of_default_scheme

# kernels compiled so far, and their total
Report = Callable[[int, int], None]
_LOOK_SECONDS = 0.05
_LEAST_FOR_PROCESSES = 3
_OBJECTS_BETWEEN_COLLECTIONS = 100_000


def stored_name(unit: Unit) -> str:
    """The name of the file that stores a unit's code."""
    return file_name(dispatcher_of(unit).py_func, argument_types(unit))


def missing_of(units: Sequence[Unit]) -> list[Unit]:
    """The units that are not stored and must be compiled."""
    return [unit for unit in units if not store().has(stored_name(unit))]


def compile_unit(unit: Unit) -> None:
    """Load a unit, or compile and store it."""
    dispatcher, types = dispatcher_of(unit), argument_types(unit)
    # those that follow the last kernel of the last module that was imported are still waiting
    register_generic_functions()
    dispatcher.compile(types)


def make_ready(units: Sequence[Unit], processes: int, report: Report) -> None:
    """Load units, after compiling the missing ones in several processes.

    Args:
        units: the units that will be called.
        processes: maximum number of processes that compile at once.
        report: called when a kernel is done, and often while kernels are compiled; may raise, which ends the processes.
    """
    missing = missing_of(units)
    if missing:
        report(0, len(missing))
        if processes > 1 and len(missing) >= _LEAST_FOR_PROCESSES:
            _compile_apart(missing, min(processes, len(missing)), report)
        # units that a process could not store are compiled here
        rest = missing_of(missing)
        for number, unit in enumerate(rest):
            report(len(missing) - len(rest) + number, len(missing))
            compile_unit(unit)
        report(len(missing), len(missing))
    for unit in units:
        compile_unit(unit)


def make_all_ready(report: Report) -> None:
    """Compile and store everything that scenes with the default scheme can call; nothing is loaded."""
    missing = missing_of(units_of_default_scheme())
    if missing:
        _compile_apart(missing, min(team_size(), len(missing)), report)
        for unit in missing_of(missing):
            compile_unit(unit)
        report(len(missing), len(missing))


def pack(package: Path, report: Report) -> None:
    """Write everything that scenes with the default scheme can call to the archive that ships with a package.

    Raises:
        MpmError: a kernel cannot be stored, or the archive cannot be written.
    """
    make_all_ready(report)
    path = shipped_file(compiled_level()[1], package)
    names = [stored_name(unit) for unit in units_of_default_scheme()]
    contents = {name: store().content(name) for name in names}
    lost = [name for name, content in contents.items() if content is None]
    if lost:
        raise MpmError(f"kernels {', '.join(lost[:3])} were not stored", "see the warnings above", subject=str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_archive(path, source_hash(), {name: content for name, content in contents.items() if content is not None})
    except OSError as error:
        raise MpmError(f"it cannot be written ({error.strerror})", "choose another file", subject=str(path)) from error


def kernel_problems() -> list[SceneWarning]:
    """Problems with the stored kernels; each is returned once."""
    found, store().problems[:] = list(store().problems), []
    return found


def _compile_apart(units: list[Unit], processes: int, report: Report) -> None:
    """Compile and store units in other processes; a unit whose process ends early is left to the caller."""
    waiting, done = deque(units), []
    with contextlib.ExitStack() as stack:
        try:
            crew = [stack.enter_context(_compiler()) for _ in range(processes)]
        except OSError as error:
            words = f"it cannot be started ({error.strerror}), so kernels are compiled one at a time"
            store().problems.append(SceneWarning(Topic.KERNELS, Message(words, (), sys.executable)))
            return
        threads = [threading.Thread(target=_feed, args=(process, waiting, done), daemon=True) for process in crew]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            report(len(done), len(units))
            time.sleep(_LOOK_SECONDS)


@contextlib.contextmanager
def _compiler() -> Iterator["subprocess.Popen[str]"]:
    """A compiling process, killed when the context ends."""
    path = os.pathsep.join([str(CORE.parent.parent), *(entry for entry in sys.path if entry)])
    # one thread each, because there are as many processes as cores
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        env=environment,
        text=True,
        encoding="utf-8",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _feed(process: "subprocess.Popen[str]", waiting: deque[Unit], done: list[Unit]) -> None:
    """Give a process one unit after another until none is left or the process ends."""
    assert process.stdin is not None and process.stdout is not None
    while waiting:
        try:
            unit = waiting.popleft()
            print(json.dumps(unit), file=process.stdin, flush=True)
        except (IndexError, OSError, ValueError):
            return
        if not process.stdout.readline():
            return
        done.append(unit)


def main() -> None:
    """Compile the units named on stdin, one per line."""
    # numba's objects stay alive; scanning them over and over would take a twentieth of the time
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    for line in sys.stdin:
        group, kernel, variant = json.loads(line)
        try:
            compile_unit(Unit(group, kernel, Variant(*variant)))
        except MpmError as error:
            print(error, file=sys.stderr)
        print(kernel, flush=True)


if __name__ == "__main__":
    main()
