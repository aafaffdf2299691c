"""What there is in the caches of the open file, cheap enough for every redraw: each look reads for a moment and goes on at the next.

How long a look takes decides when the next one comes, so that looking never takes more than a small share of the time.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path

from ...core.messages import Message
from ...storage.overview import CacheWatch, Overview
from ..host.runtime import OfFile, runtime

# Seconds that one look may take, and how many times as long nothing is looked at afterwards.
SLICE = 0.005
REST = 10.0


@dataclass
class Watches(OfFile):
    """What looks at caches, what the last look found, and when the next one comes."""

    by_folder: dict[Path, CacheWatch] = field(default_factory=dict)
    found: dict[Path, tuple[float, Overview | None]] = field(default_factory=dict)


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
