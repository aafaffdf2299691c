"""The derived data of a cache, of every kind: its paths and states, reading and deleting it. Reads without locks.

It lies beside the frames of its take: a file belongs to one frame, and is up to date if it names the wanted settings and the
frame's current file. So processes on several computers may make different frames without knowing of one another.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from ..core.errors import CacheError
from ..core.particles import Moment
from . import vdb
from .arrays import ArrayFileError
from .atomic import TEMPORARY_SUFFIX
from .cache import Cache, take_numbers
from .container import read_header
from .frame_file import possible_moment
from .plain_files import parse_json
from .take import DEBRIS, DERIVED, FOAM, SUFFIXES, SURFACE, VOLUME, frame_files, frame_name, take_folder, unreadable


class Origin(NamedTuple):
    """The origin of a file: the data that it was made from.

    Attributes:
        moment: its frame.
        settings: hash of the settings it was made with.
        source: SHA-256 of the frame's file.
        emitters: numbers of the emitters whose particles it covers, in the scene's order.
    """

    moment: Moment
    settings: str
    source: str
    emitters: tuple[int, ...]

    def header(self) -> dict[str, Any]:
        """The entries of a file's header that `origin_of` reads."""
        number, part, parts = self.moment
        told = {"number": number, "part": part, "parts": parts}
        return {**told, "settings": self.settings, "source": self.source, "emitters": list(self.emitters)}


class _HasOrigin(Protocol):
    @property
    def origin(self) -> Origin: ...


# Kinds whose files depend on all earlier frames too.
CUMULATIVE = (FOAM, DEBRIS)

Derived = TypeVar("Derived", bound=_HasOrigin)
ReadOrigin = Callable[[Path, str], Origin]


class State(Enum):
    """The state of a frame's derived data."""

    MISSING = "missing"
    OUTDATED = "outdated"
    MADE = "made"


class Counts(NamedTuple):
    """How many frames have a file that is up to date, how many an outdated one, and the bytes of both."""

    made: int
    outdated: int
    size: int


def origin_of(header: Mapping[str, Any]) -> Origin:
    """The origin in a file's header. Raises ArrayFileError."""
    try:
        emitters = tuple(map(int, header["emitters"]))
        moment = possible_moment(header["number"], header["part"], header["parts"])
        return Origin(moment, str(header["settings"]), str(header["source"]), emitters)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ArrayFileError(f"has an invalid header ({type(error).__name__}: {error})") from error


def read_origin(path: Path, kind: str) -> Origin:
    """The origin in a file. Reads only the header, and checks the file's length. Raises ArrayFileError or OSError."""
    return origin_of(_volume_header(path) if kind == VOLUME else read_header(path, kind))


def _volume_header(path: Path) -> dict[str, Any]:
    """The text in a volume's file as a table. Raises as `read_origin`."""
    try:
        header = parse_json(vdb.read_info(path))
    except ValueError as error:
        raise ArrayFileError(f"has a damaged header ({error})") from error
    if not isinstance(header, dict):
        raise ArrayFileError("has a header that is not a table")
    return header


def derived_folder(take: Path, kind: str) -> Path:
    """The folder of the derived data of a take's own frames; `kind` is one of `take.KINDS`, here and below."""
    return take / DERIVED / kind


def derived_path(cache: Cache, moment: Moment, kind: str) -> Path:
    """The path of a frame's derived data, whether it exists or not."""
    return derived_folder(cache.take_of(moment).folder, kind) / frame_name(moment, SUFFIXES[kind])


def source_of(cache: Cache, moment: Moment, kind: str = SURFACE) -> str:
    """What the derived data of a frame is made from, see `sources_of`; by default that frame alone. Raises CacheError without one."""
    found = sources_of(cache, kind).get(moment) if kind in CUMULATIVE else _file_hash(cache, moment)
    if found is None:
        raise CacheError(f"frame {moment.frame:g} was not baked", "bake it first", subject=str(cache.folder))
    return found


def _file_hash(cache: Cache, moment: Moment) -> str | None:
    entry = cache.take_of(moment).journal().get(moment)
    return None if entry is None else str(entry.get("sha256"))


def sources_of(cache: Cache, kind: str) -> Mapping[Moment, str]:
    """What the derived data of each cached moment is made from. Raises CacheError.

    Returns:
        SHA-256 of the frame's file, from the journal; for kinds in `CUMULATIVE`, a hash of those of all cached frames up to this one.
    """
    # before the journals, which a running bake extends
    numbers = cache.frames if kind in CUMULATIVE else []
    found = {
        moment: str(entry.get("sha256"))
        for take in cache.takes
        for moment, entry in take.journal().items()
        if cache.take_of(moment) is take
    }
    if kind not in CUMULATIVE:
        return found
    known, sources = hashlib.sha256(), {}
    for number in numbers:
        known.update(found[Moment(number)].encode())
        sources[Moment(number)] = known.hexdigest()
    return sources


def state_of(
    cache: Cache, moment: Moment, kind: str, settings: str, read: ReadOrigin = read_origin, sources: Mapping[Moment, str] | None = None
) -> State:
    """The state of a cached frame's derived data; a damaged file counts as missing.

    Args:
        cache: the cache.
        moment: the frame.
        kind: the kind of derived data.
        settings: the hash of the settings with which a file is up to date.
        read: returns the origin in a file; raises as `read_origin`.
        sources: those of `sources_of`, to ask for many frames.
    """
    try:
        origin = read(derived_path(cache, moment, kind), kind)
    except (OSError, ArrayFileError):
        return State.MISSING
    source = source_of(cache, moment, kind) if sources is None else sources.get(moment)
    is_current = origin.settings == settings and origin.source == source
    return State.MADE if is_current and origin.moment == moment else State.OUTDATED


def counts_of(cache: Cache, kind: str, settings: str, read: ReadOrigin = read_origin) -> Counts:
    """How many cached frames have a file.

    Args:
        cache: the cache.
        kind: the kind of derived data.
        settings: the hash of the settings with which a file is up to date.
        read: returns the origin in a file; raises as `read_origin`.

    Raises:
        CacheError: as `Cache.moments`.
    """
    made = outdated = size = 0
    sources = sources_of(cache, kind)
    for moment in cache.moments:
        if not moment.is_frame:
            continue
        state = state_of(cache, moment, kind, settings, read, sources)
        made, outdated = made + (state is State.MADE), outdated + (state is State.OUTDATED)
        if state is not State.MISSING:
            with contextlib.suppress(OSError):
                size += derived_path(cache, moment, kind).stat().st_size
    return Counts(made, outdated, size)


def derived_at(cache: Cache, moment: Moment, kind: str, read: Callable[[Path], Derived]) -> Derived:
    """The derived data of a frame, also if it is outdated.

    Args:
        cache: the cache.
        moment: the frame.
        kind: the kind of derived data.
        read: reads a file; raises ArrayFileError or OSError.

    Raises:
        CacheError: it is damaged.
        FileNotFoundError: it was not made.
    """
    path, remedy = derived_path(cache, moment, kind), f"make the {kind} again"
    try:
        found = read(path)
    except ArrayFileError as error:
        raise error.at(path, "delete this file", remedy) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    if found.origin.moment != moment:
        told = found.origin.moment.frame
        raise CacheError(f"it contains frame {told:g}, not {moment.frame:g}", "delete this file", remedy, subject=str(path))
    return found


def remove_derived(cache: Cache, kind: str) -> int:
    """Delete the derived data of one kind of all takes of a cache, and nothing else; returns how many files. Raises CacheError."""
    count = 0
    for number in take_numbers(cache.folder):
        folder = derived_folder(take_folder(cache.folder, number), kind)
        refuse_link(folder)
        try:
            count += _remove(frame_files(folder, SUFFIXES[kind]))
            _remove(folder.glob(f"*{TEMPORARY_SUFFIX}") if folder.is_dir() else ())
            for empty in (folder, folder.parent):
                if empty.is_dir() and not any(empty.iterdir()):
                    empty.rmdir()
        except OSError as error:
            raise CacheError(f"it cannot be deleted ({error.strerror})", "check its permissions", subject=str(error.filename)) from error
    return count


def refuse_link(folder: Path) -> None:
    """Check that files written or deleted lie inside the cache. Raises CacheError for a symbolic link."""
    link = next((place for place in (folder.parent, folder) if place.is_symlink()), None)
    if link is not None:
        raise CacheError("it is a symbolic link, which may lead outside the cache", "remove it", subject=str(link))


def _remove(paths: Iterable[Path] | Iterator[Path]) -> int:
    count = 0
    for path in paths:
        path.unlink(missing_ok=True)
        count += 1
    return count
