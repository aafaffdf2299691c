"""The journal of a take, read incrementally while it grows. Lines truncated by a crash are skipped."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.particles import Moment
from .frame_file import possible_moment
from .plain_files import open_plain
from .pose_names import Renames, entry_with_names
from .sealed import unsealed

Entry = Mapping[str, Any]

# The largest journal that is read [bytes]; a frame has a few hundred.
LARGEST_JOURNAL = 1_000_000_000

# Bytes to read at a time if time is limited: a few hundred lines.
_CHUNK = 1 << 16


class Journal:
    """The bake's records of every frame and subframe of a take.

    Attributes:
        entries: the entries read so far.
        is_read: whether these are all entries.
    """

    def __init__(self, path: Path, names: Renames | None = None) -> None:
        """The journal at a path, whose entries have other names of dynamic colliders than its lines."""
        self.path = path
        self._names = names or {}
        self.entries: dict[Moment, Entry] = {}
        self.is_read = False
        self._identity: tuple[Any, ...] = ()
        self._stamp: tuple[Any, ...] = ()
        self._offset = 0
        self._lines: list[bytes] = []

    def read(self, seconds: float | None = None) -> Mapping[Moment, Entry]:
        """Read new entries.

        Args:
            seconds: stop after about this time [s]; `is_read` is then False if entries remain.

        Returns:
            `entries`, which is empty if there is no journal.

        Raises:
            OSError: it cannot be read, or is implausibly large.
        """
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._forget()
            self.is_read = True
            return self.entries
        stamp = (status.st_mtime_ns, status.st_size)
        # a rewritten or truncated journal is read from the start; on file systems without inode numbers, these are 0
        if self._identity != (status.st_ino, status.st_dev) or status.st_size < self._offset or self._is_changed(stamp):
            self._forget()
            self._identity = (status.st_ino, status.st_dev)
        end = None if seconds is None else time.perf_counter() + seconds
        if status.st_size > LARGEST_JOURNAL:
            raise OSError(f"it has {status.st_size / 1e9:.3g} GB")
        self._stamp = stamp
        self._read_until(status.st_size, end)
        return self.entries

    def _is_changed(self, stamp: tuple[Any, ...]) -> bool:
        """Whether a journal was changed without growing."""
        return bool(self._stamp) and stamp != self._stamp and stamp[1] <= self._stamp[1]

    def _forget(self) -> None:
        self.entries = {}
        self._identity, self._stamp, self._offset, self._lines = (), (), 0, []

    def _read_until(self, size: int, end: float | None) -> None:
        self.is_read = False
        while True:
            while self._lines:
                self._note(self._lines.pop())
                if end is not None and time.perf_counter() > end:
                    return
            if self._offset >= size or not self._next_lines(size, size if end is None else _CHUNK):
                break
        self.is_read = True

    def _note(self, line: bytes) -> None:
        found = _entry(line)
        if found is not None:
            self.entries[found[0]] = entry_with_names(found[1], self._names)

    def _next_lines(self, size: int, most: int) -> bool:
        """Read the complete lines of the next `most` bytes, or of more if a line is longer; returns whether there were any."""
        with open_plain(self.path) as file:
            file.seek(self._offset, os.SEEK_SET)
            text = file.read(min(most, size - self._offset))
            while b"\n" not in text and self._offset + len(text) < size and (more := file.read(len(text))):
                text += more
        whole, newline, rest = text.rpartition(b"\n")
        if not newline:
            self._note(rest)  # complete except for its newline, or truncated
            return False
        self._offset += len(whole) + 1
        self._lines = whole.splitlines()[::-1]
        return True


def _entry(line: bytes) -> tuple[Moment, Entry] | None:
    try:
        entry = unsealed(line)
        moment = possible_moment(*(entry[key] for key in ("frame", "part", "parts")))
    except (ValueError, KeyError):
        return None
    if not isinstance(entry.get("bytes"), int) or not isinstance(entry.get("emitted"), int):
        return None
    return moment, entry
