"""Overviews of a cache while it grows: only new data is read, within a time limit."""

import itertools
import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ..core.errors import CacheError
from ..core.messages import NOTHING
from ..core.particles import Moment
from .cache import CACHE_FILE, Cache, chain, current_take, show_names
from .journal import Entry
from .take import MANIFEST, TAKES, Take

# First and last frame.
Span = tuple[int, int]


class TakeOverview(NamedTuple):
    """An overview of one take.

    Attributes:
        take, name, parent, from_frame, scene_name, is_shown: as in `describe_takes`.
        frames: the first and last of its own frames; None if it has none.
        outdated: the first and last of its own frames that the shown take does not include.
        frame_count, bytes: the number of its own frames, and their size with subframes.
    """

    take: int
    parent: int | None
    from_frame: int | None
    scene_name: str | None
    frames: Span | None
    is_shown: bool
    outdated: Span | None
    frame_count: int
    bytes: int
    name: str = ""


class Overview(NamedTuple):
    """An overview of a cache.

    Attributes:
        shown: the number of the shown take.
        takes: all takes, ascending.
        rows: frame number -> journal entry of every frame shown, ascending.
        span: the first and last frame of the shown take's scene; None if its manifest does not say.
        bytes: size of the frames and subframes shown.
        is_read: whether everything has been read.
        scene_hash: hash of the shown take's scene.
        manifest: that of the shown take.
    """

    shown: int
    takes: tuple[TakeOverview, ...]
    rows: Mapping[int, Entry]
    span: Span | None
    bytes: int
    is_read: bool
    scene_hash: str = ""
    manifest: Mapping[str, Any] = MappingProxyType({})

    @property
    def seconds(self) -> float:
        """The time that the frames shown took to bake [s]."""
        return sum(_number(row.get("seconds")) for row in self.rows.values())

    def next_missing(self, wanted: Span) -> int | None:
        """The first of the wanted frames that is not cached."""
        return next((frame for frame in range(wanted[0], wanted[1] + 1) if frame not in self.rows), None)

    def last_before(self, frame: int) -> int | None:
        """The last cached frame up to and including a frame."""
        return max((number for number in self.rows if number <= frame), default=None)


class CacheWatch:
    """Watches a cache.

    Attributes:
        folder: the cache folder.
        problem: why the last `look` returned None; `NOTHING` if the folder contains no cache.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problem = NOTHING
        self._stamp: Any = None
        self._takes: dict[int, Take] = {}
        self._shown: list[Take] = []
        self._seen: Any = None
        self._overview: Overview | None = None

    def look(self, seconds: float = math.inf) -> Overview | None:
        """An overview of what could be read within about `seconds`; None if there is no readable cache.

        Returns the same object as long as nothing changes.
        """
        self.problem = NOTHING
        try:
            if not self._find_takes():
                return None
            end = time.perf_counter() + seconds
            is_read = True
            for take in self._takes.values():
                is_read &= take.read_journal(None if seconds == math.inf else max(0.0, end - time.perf_counter()))
            known = {number: take.known() for number, take in self._takes.items()}
        except CacheError as error:
            self.problem = error.message
            self._stamp, self._overview = None, None
            return None
        # `known` returns the same object as long as entries do not change
        seen = (self._stamp, is_read, [(number, id(each)) for number, each in known.items()])
        if self._overview is None or seen != self._seen:
            self._overview = self._described(known, is_read=is_read)
            self._seen = seen
        return self._overview

    def _find_takes(self) -> bool:
        """Find the takes and which of them is shown; returns whether there are any. Raises CacheError."""
        try:
            manifests = sorted(path / MANIFEST for path in (self.folder / TAKES).iterdir() if path.name.isdecimal())
            changed = {int(path.parent.name): path.stat().st_mtime_ns for path in manifests if path.is_file()}
            stamp = ((self.folder / CACHE_FILE).stat().st_mtime_ns, changed)
        except OSError:
            self._stamp = self._overview = None
            return False
        if stamp == self._stamp:
            return True
        shown = current_take(self.folder)
        same = {number for number, moment in changed.items() if self._stamp is not None and self._stamp[1].get(number) == moment}
        found = {}
        for number in changed:
            known = self._takes.get(number) if number in same else None
            # a damaged take does not affect others, unless it is the shown one
            try:
                found[number] = known or chain(self.folder, number)[-1]
            except CacheError:
                if number == shown:
                    raise
        if shown not in found:
            return False
        self._takes, self._stamp = found, stamp
        self._shown = [found.get(take.number, take) for take in chain(self.folder, shown)]
        show_names(self._shown)
        return True

    def _described(self, known: Mapping[int, Mapping[Moment, Entry]], *, is_read: bool) -> Overview:
        shown = Cache(self.folder, self._shown)
        rows, size = {}, 0
        for take in self._shown:
            for moment, entry in known.get(take.number, {}).items():
                if shown.take_of(moment) is take:
                    size += entry["bytes"]
                    if moment.is_frame:
                        rows[moment.number] = entry
        manifest = self._shown[-1].manifest
        span = manifest.get("frame_start"), manifest.get("frame_end")
        return Overview(
            shown=shown.take,
            takes=tuple(self._of_take(take, known[number], shown) for number, take in self._takes.items()),
            rows=dict(sorted(rows.items())),
            span=(span[0], span[1]) if isinstance(span[0], int) and isinstance(span[1], int) else None,
            bytes=size,
            is_read=is_read,
            scene_hash=manifest.get("scene_hash", ""),
            manifest=manifest,
        )

    def _of_take(self, take: Take, known: Mapping[Moment, Entry], shown: Cache) -> TakeOverview:
        own = sorted(moment.number for moment in known if moment.is_frame)
        is_active = any(each.number == take.number for each in shown.takes)
        hidden = [frame for frame in own if not is_active or shown.take_of(Moment(frame)).number != take.number]
        return TakeOverview(
            take=take.number,
            parent=take.parent,
            from_frame=None if take.parent is None else take.from_frame,
            scene_name=take.manifest.get("scene_name"),
            frames=(own[0], own[-1]) if own else None,
            is_shown=take.number == shown.take,
            outdated=(hidden[0], hidden[-1]) if hidden else None,
            frame_count=len(own),
            bytes=sum(entry["bytes"] for entry in known.values()),
            name=take.name,
        )


def spans(frames: Iterable[int]) -> list[Span]:
    """Ascending frames as the first and last of each range without gaps."""
    found = []
    for _, run in itertools.groupby(enumerate(frames), key=lambda pair: pair[1] - pair[0]):
        numbers = [frame for _, frame in run]
        found.append((numbers[0], numbers[-1]))
    return found


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0
