"""The points during file writing at which faults are injected, and the faults."""

import builtins
import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.storage import atomic

# Called at every place, with its name and the path that is worked on: may raise an OSError, wait, or end the process.
Fault = Callable[[str, str], None]


@contextlib.contextmanager
def faulty_writes(fault: Fault) -> Iterator[None]:
    """Let every write of a cache pass through a fault.

    A file has these places: "open", "write" with half of its bytes in the file, "flush" with all of them, "fsync", "replace",
    "replaced", and "remove" where one is deleted.
    """
    real_fsync, real_replace, real_unlink = os.fsync, os.replace, os.unlink

    def fsync(descriptor: int) -> None:
        fault("fsync", "")
        real_fsync(descriptor)

    def replace(source: Any, target: Any) -> None:
        fault("replace", str(target))
        real_replace(source, target)
        fault("replaced", str(target))

    def unlink(path: Any, **options: Any) -> None:
        # what failed is tidied up without another fault
        if not str(path).endswith(atomic.TEMPORARY_SUFFIX):
            fault("remove", str(path))
        real_unlink(path, **options)

    def open_slowly(path: Path, mode: str) -> Any:
        fault("open", str(path))
        return _File(builtins.open(path, mode), str(path), fault)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        patch.setattr(os, "replace", replace)
        patch.setattr(os, "unlink", unlink)
        patch.setattr(atomic, "open", open_slowly, raising=False)
        yield


class _File:
    """A file whose content comes in two halves."""

    def __init__(self, file: Any, path: str, fault: Fault) -> None:
        self._file, self._path, self._fault = file, path, fault

    def __enter__(self) -> "_File":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._file)

    def write(self, content: Any) -> int:
        content = bytes(content)
        half = len(content) // 2
        self._file.write(content[:half])
        self._file.flush()
        self._fault("write", self._path)
        self._file.write(content[half:])
        return len(content)

    def writelines(self, pieces: Any) -> None:
        self.write(b"".join(pieces))

    def flush(self) -> None:
        self._file.flush()
        self._fault("flush", self._path)
