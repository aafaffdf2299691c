"""The lock of a cache: only one bake at a time writes into a folder. Readers need no lock.

It is an operating system lock on the file `lock`, which is released when the process ends, for whatever reason; the file's contents are
only informative. On a file system without locks, the file serves as a heartbeat instead: its owner changes it every few seconds, and
a lock that has not changed for long enough is free. Clocks are never compared.
"""

import contextlib
import errno
import json
import os
import socket
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from ..core.errors import CacheError
from .plain_files import parse_json, read_plain

LOCK = "lock"
# How long to try to take the lock [s]: a reader that checks whether a bake is alive holds it for a moment.
_PATIENCE = 0.5
# Time between heartbeats on file systems without locks [s], and the number of missed ones after which the owner counts as gone.
BEAT = 2.0
_SILENT_BEATS = 5
# The locked byte; it is never written, because Windows does not allow reading locked bytes.
_BYTE = 1 << 30
# Flags that refuse links, whose target would be overwritten, and pipes, which would block.
_ITSELF = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_UNSUPPORTED = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}

Owner = dict[str, Any]


class WriterLock:
    """The lock for writing into a cache folder; a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / LOCK
        self._file = -1
        self._ended = threading.Event()
        self._pulse: threading.Thread | None = None
        self._owner: Owner = {"host": socket.gethostname(), "pid": os.getpid(), "token": os.urandom(8).hex()}

    def __enter__(self) -> "WriterLock":
        """Create the folder if necessary, and take the lock. Raises CacheError if another process has it."""
        if self._folder.exists() and not self._folder.is_dir():
            raise CacheError("it is a file, not a folder", "choose another cache folder or remove the file", subject=str(self._folder))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._acquire()
        except OSError as error:
            self._close()
            raise CacheError(
                f"it cannot be written ({error.strerror or error})", "choose another cache folder", subject=str(self._folder)
            ) from error
        except CacheError:
            self._close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def check(self) -> None:
        """Raise CacheError if the locked folder was deleted or replaced."""
        try:
            is_same = os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except (FileNotFoundError, NotADirectoryError):
            is_same = False
        except OSError as error:
            raise CacheError(
                f"it cannot be reached ({error.strerror or error})", "bake again when it is available", subject=str(self._folder)
            ) from error
        if not is_same:
            raise CacheError(
                "the folder or its lock was deleted or replaced during the bake, which has stopped",
                "bake again",
                subject=str(self._folder),
            )

    def release(self) -> None:
        """Release the lock and remove its file. May be called twice."""
        self._ended.set()
        if self._pulse is not None:
            self._pulse.join()
        if self._file >= 0:
            # removed while it is still locked: a waiting process notices that its file is no longer in the folder, and opens a new one
            with contextlib.suppress(CacheError):
                self.check()
                self._remove()
        self._close()

    def _remove(self) -> None:
        try:
            self._path.unlink()
        except OSError:
            # Windows does not remove open files: neither this one before it is closed, nor that of a process that has taken the lock since
            self._close()
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _acquire(self) -> None:
        end = time.monotonic() + _PATIENCE
        while True:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | _ITSELF, 0o644)
            try:
                is_free = _try_lock(self._file)
            except OSError as error:
                if error.errno not in _UNSUPPORTED:
                    raise
                self._acquire_by_heartbeat()
                return
            if is_free and self._is_in_place():
                self._sign()
                return
            owner = _read_owner(self._path)
            self._close()
            if time.monotonic() > end:
                raise _refusal(self._folder, owner)
            time.sleep(0.02)

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _sign(self) -> None:
        """Write the owner into the lock file."""
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, json.dumps(self._owner).encode() + b"\n")
        os.ftruncate(self._file, os.lseek(self._file, 0, os.SEEK_CUR))

    def _acquire_by_heartbeat(self) -> None:
        """Take the lock on a file system without locks. Raises CacheError if its owner is alive."""
        owner = _read_owner(self._path)
        if owner and not (owner.get("host") == self._owner["host"] and not is_alive(owner.get("pid"))):
            for _ in range(_SILENT_BEATS):
                time.sleep(BEAT)
                if _read_owner(self._path) not in (owner, {}):
                    raise _refusal(self._folder, owner)
        self._beat(0)
        # if two processes take the lock at the same moment, the one that writes last has it
        time.sleep(BEAT / 2)
        owner = _read_owner(self._path)
        if owner.get("token") != self._owner["token"]:
            raise _refusal(self._folder, owner)
        self._pulse = threading.Thread(target=self._live, name="mpm lock", daemon=True)
        self._pulse.start()

    def _beat(self, count: int) -> None:
        self._owner["beat"] = count
        self._sign()

    def _live(self) -> None:
        count = 1
        while not self._ended.wait(BEAT):
            with contextlib.suppress(OSError):  # `check` reports it before anything is written
                self._beat(count)
            count += 1


def is_held(folder: Path, owner: Owner) -> bool:
    """Whether the bake of an `owner` (host, pid) still holds the lock of a folder; always True for an owner on another computer.

    Takes the lock for a moment if it is free, which does not disturb a bake.
    """
    if owner.get("host") != socket.gethostname():
        return True
    try:
        file = os.open(folder / LOCK, os.O_RDWR if os.name == "nt" else os.O_RDONLY | _ITSELF)
    except FileNotFoundError:
        return False
    except OSError:
        return is_alive(owner.get("pid"))
    try:
        return not _try_lock(file, is_shared=True)
    except OSError:
        return is_alive(owner.get("pid"))
    finally:
        os.close(file)


def is_alive(pid: object) -> bool:
    """Whether a process on this computer is running. Always True on Windows, where the check would end the process."""
    if not isinstance(pid, int) or pid <= 0:
        return False
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _refusal(folder: Path, owner: Owner) -> CacheError:
    who = f"process {owner.get('pid', '?')} on {owner.get('host', '?')}"
    return CacheError(f"another bake is writing into it ({who})", "wait, cancel it, or choose another cache folder", subject=str(folder))


def _read_owner(path: Path) -> Owner:
    """The owner in a lock file; empty if it cannot be read."""
    try:
        owner = parse_json(read_plain(path))
    except (OSError, ValueError):
        return {}
    return owner if isinstance(owner, dict) else {}


if os.name == "nt":
    import msvcrt

    def _try_lock(file: int, *, is_shared: bool = False) -> bool:
        """Take the lock of an open file; False if another process has it. Raises OSError on file systems without locks."""
        os.lseek(file, _BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: int, *, is_shared: bool = False) -> bool:
        """Take the lock of an open file; False if another process has it. Raises OSError on file systems without locks."""
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
