"""Files that are either whole or not there: written beside their place, flushed to the disk, then renamed into it."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

TEMPORARY_SUFFIX = ".partial"

# Virus scanners and cloud drives hold a new file for a moment; about two seconds in all.
_RETRY_DELAYS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def write_atomically(path: Path, write: Callable[[IO[bytes]], object], *, is_durable: bool = True) -> None:
    """Write a file so that a reader, a crash or a power cut never meets half of it.

    Args:
        path: where the file shall stand; its folder must exist.
        write: called with the open temporary file.
        is_durable: whether to wait until the disk has it. False for files that only inform, like a status.

    Raises:
        OSError: the file could not be written; what stood at `path` before still stands there.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY_SUFFIX}")
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            if is_durable:
                os.fsync(file.fileno())
        _replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if is_durable:
        _sync_folder(path.parent)


def append_durably(path: Path, line: bytes) -> None:
    """Append a line to a file, made where it is missing, and wait until the disk has it.

    A line that a crash cut short before is ended, so that the new one stands alone.

    Raises:
        OSError: it could not be written.
    """
    is_new = not path.exists()
    with open(path, "a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        _sync_folder(path.parent)


def _replace(source: Path, target: Path) -> None:
    for delay in _RETRY_DELAYS:
        try:
            os.replace(source, target)
            return
        except PermissionError:
            time.sleep(delay)
    os.replace(source, target)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; Windows has no such call and needs none."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
