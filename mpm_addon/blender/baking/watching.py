"""What the caches of the open file say, cheap enough for every redraw: which frames they hold, and how their bakes are doing.

Each look at the frames reads for a moment and goes on at the next. How long it takes decides when the next one comes, so that looking
never takes more than a small share of the time.
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

# Seconds that one look may take, and how many times as long nothing is looked at afterwards.
SLICE = 0.005
REST = 10.0
# Seconds after which the status of a bake that seems to run is read again.
AGAIN = 1.0
# Seconds without a word after which a bake on another computer is no longer believed to run; its lock has the last word.
SILENCE = 180.0


@dataclass
class Watches(OfFile):
    """What looks at caches, what the last look found, and when the next one comes."""

    by_folder: dict[Path, CacheWatch] = field(default_factory=dict)
    found: dict[Path, tuple[float, Overview | None]] = field(default_factory=dict)


class _Look(NamedTuple):
    changed: int
    since: float
    moment: float
    status: BakeStatus | None


@dataclass
class Looks(OfFile):
    """The last look at the status of each cache."""

    by_folder: dict[Path, _Look] = field(default_factory=dict)


def overview(folder: Path) -> Overview | None:
    """What there is in a cache, as far as it was read; None where there is none."""
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
    """Why a cache cannot be read; `NOTHING` where it can, or where there is none."""
    return watch(folder).problem


def watch(folder: Path) -> CacheWatch:
    """What looks at a cache."""
    return runtime.of(Watches).by_folder.setdefault(folder, CacheWatch(folder))


def is_reading() -> bool:
    """Whether there is more to read in a cache that was looked at."""
    return any(found is not None and not found.is_read for _, found in runtime.of(Watches).found.values())


def status_of(folder: Path) -> BakeStatus | None:
    """How the bake into a cache is doing, or how the last one ended; None where there was none. Cheap enough for a panel."""
    looks = runtime.of(Looks).by_folder
    try:
        changed = (folder / STATUS).stat().st_mtime_ns
    except OSError:
        looks.pop(folder, None)
        return None
    last = looks.get(folder)
    now = time.monotonic()
    # a process that was killed changes nothing, so one that seems to run is looked at again
    if last is None or last.changed != changed or (last.status is not None and last.status.is_live and now > last.moment + AGAIN):
        since = last.since if last is not None and last.changed == changed else now
        status = read_status(folder)
        is_elsewhere = status is not None and status.told.get("host") != socket.gethostname()
        if status is not None and status.is_live and is_elsewhere and now > since + SILENCE:
            status = status._replace(state="interrupted")
        last = looks[folder] = _Look(changed, since, now, status)
    return last.status
