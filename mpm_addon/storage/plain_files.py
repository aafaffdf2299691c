"""Untrusted files, read as data: only regular files of a bounded size, with plausible values.

All readers of scenes, presets and caches open files here.
"""

import errno
import json
import math
import os
import re
import stat
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

# The largest text that is read [bytes]; scene files and manifests have a few thousand bytes.
LARGEST_TEXT = 16_000_000

# Limit on nesting; none of the formats needs ten levels.
DEEPEST = 32

# A part of a key, or a string; each is matched possessively, so that the search is linear.
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"?+|'[^'\n]*+'?+)"""
_DEEP_KEY = re.compile(rf"((?:{_PART}[ \t]*+\.[ \t]*+){{{DEEPEST}}})|{_PART}")


def open_plain(path: Path) -> BufferedReader:
    """Open a regular file for reading; pipes and devices, which may block or never end, are refused. Raises OSError."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    descriptor = os.open(path, flags)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_plain(path: Path, most: int = LARGEST_TEXT) -> bytes:
    """The bytes of a regular file. Raises OSError, also if it is larger than `most` bytes."""
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it has {size / 1e6:.3g} MB, more than {most / 1e6:.3g} MB", str(path))
        return file.read(size)


def parse_json(text: bytes | str) -> Any:
    """The value of a JSON text, checked: numbers are finite, integers have 64 bits, and nesting is limited. Raises ValueError."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    check_values(value, is_finite=True)
    return value


def check_toml_text(text: str) -> None:
    """Refuse keys with many parts, which take quadratic memory to read. Raises ValueError."""
    if any(match[1] for match in _DEEP_KEY.finditer(text)):
        raise ValueError(f"a key has more than {DEEPEST} parts")


def check_values(value: Any, *, is_finite: bool) -> None:
    """Check a parsed value: nesting, integers of 64 bits, encodable text, and with `is_finite` finite numbers.

    Raises:
        ValueError: with the problem.
    """
    level = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, Mapping):
                inner += each.keys()
                inner += each.values()
            elif isinstance(each, list):
                inner += each
            elif isinstance(each, int) and not -(2**63) <= each < 2**63:
                raise ValueError("a whole number has more than 64 bits")
            elif is_finite and isinstance(each, float) and not math.isfinite(each):
                raise ValueError("a number is not finite")
            elif isinstance(each, str) and not each.isascii():
                each.encode()  # raises for half of a surrogate pair
        if not inner:
            return
        level = inner
    raise ValueError(f"it is nested more than {DEEPEST} levels deep")


def is_relative(name: str) -> bool:
    """Whether a text is a path inside a folder on every system: not absolute, no drive or share, no `..`."""
    windows = PureWindowsPath(name)
    is_rooted = bool(windows.drive or windows.root) or PurePosixPath(name).is_absolute()
    return bool(name) and "\0" not in name and not is_rooted and ".." not in windows.parts
