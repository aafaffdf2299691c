"""Files that are either complete or absent: written next to their final path, flushed to disk, then renamed."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

TEMPORARY_SUFFIX = ".partial"

# Delays between attempts to rename, because virus scanners and cloud drives may hold a new file; about two seconds in all.
_RETRY_DELAYS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def write_atomically(path: Path, write: Callable[[IO[bytes]], object], *, is_durable: bool = True) -> None:
    """Write a file so that readers never see half of it, even after a crash or power cut.

    Args:
        path: the final path; its folder must exist.
        write: called with the open temporary file.
        is_durable: whether to wait until the file is on disk. False for files that only inform, such as a status.

    Raises:
        OSError: the file could not be written; `path` is unchanged.
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
    """Append a line to a file, which is created if necessary, and wait until the line is on disk.

    If a crash has truncated the last line, the new one still starts on its own line.

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
