"""Watches the caches of the open file, cheaply enough for every redraw: which frames they contain, and the status of their bakes.

Each check reads for a moment and resumes at the next one. The time it took decides when the next check comes, so that checks never
take more than a small share of the time.
"""

import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ...core.messages import Message
from ...storage.overview import CacheWatch, Overview
from ...storage.status import STATUS, BakeStatus, read_status
from ..host.runtime import OfFile, runtime

# Seconds that one check may take, and the pause after it as a multiple of its duration.
SLICE = 0.005
REST = 10.0
# Seconds after which the status of a seemingly running bake is read again.
AGAIN = 1.0
# Seconds without an event after which a bake on another computer no longer counts as running, unless its lock says otherwise.
SILENCE = 180.0


@dataclass
class Watches(OfFile):
    """The readers of caches, their last results, and the times of the next checks."""

    by_folder: dict[Path, CacheWatch] = field(default_factory=dict)
    found: dict[Path, tuple[float, Overview | None]] = field(default_factory=dict)


class _Look(NamedTuple):
    changed: int
    since: float
    moment: float
    status: BakeStatus | None


@dataclass
class Looks(OfFile):
    """The last status of each cache."""

    by_folder: dict[Path, _Look] = field(default_factory=dict)


def overview(folder: Path) -> Overview | None:
    """What a cache contains, as far as it was read; None if there is no cache."""
    now = time.perf_counter()
    known = runtime.of(Watches).found
    due, found = known.get(folder, (0.0, None))
    if now < due:
        return found
    found = watch(folder).look(SLICE)
    after = time.perf_counter()
    known[folder] = (after + REST * (after - now), found)
    return found


def problem(folder: Path) -> Message:
    """Why a cache cannot be read; `NOTHING` if it can, or if there is none."""
    return watch(folder).problem


def watch(folder: Path) -> CacheWatch:
    """The reader of a cache."""
    return runtime.of(Watches).by_folder.setdefault(folder, CacheWatch(folder))


def is_reading() -> bool:
    """Whether a checked cache is only partly read."""
    return any(found is not None and not found.is_read for _, found in runtime.of(Watches).found.values())


def status_of(folder: Path) -> BakeStatus | None:
    """The status of the bake into a cache, or of the last one; None if there was none. Cheap enough for a panel."""
    looks = runtime.of(Looks).by_folder
    try:
        changed = (folder / STATUS).stat().st_mtime_ns
    except OSError:
        looks.pop(folder, None)
        return None
    last = looks.get(folder)
    now = time.monotonic()
    # a killed process changes no file, so read the status of a seemingly running bake again
    if last is None or last.changed != changed or (last.status is not None and last.status.is_live and now > last.moment + AGAIN):
        since = last.since if last is not None and last.changed == changed else now
        status = read_status(folder)
        is_elsewhere = status is not None and status.told.get("host") != socket.gethostname()
        if status is not None and status.is_live and is_elsewhere and now > since + SILENCE:
            status = status._replace(state="interrupted")
        last = looks[folder] = _Look(changed, since, now, status)
    return last.status
