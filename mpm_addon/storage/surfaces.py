"""The surfaces of a cache: their paths and states, reading and deleting them. Reads without locks.

They lie beside the frames of their take: a surface belongs to one frame, and is up to date if its file names the wanted settings and the
frame's current file. So processes on several computers may make different frames without knowing of one another.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from ..core.errors import CacheError
from ..core.particles import Moment
from .arrays import ArrayFileError
from .atomic import TEMPORARY_SUFFIX
from .cache import Cache, take_numbers
from .surface_file import Origin, Surface, read_origin, read_surface
from .take import DERIVED, SURFACE, frame_files, frame_name, take_folder, unreadable

ReadOrigin = Callable[[Path], Origin]

REMEDY = "make the surface again"


class State(Enum):
    """The state of a frame's surface."""

    MISSING = "missing"
    OUTDATED = "outdated"
    MADE = "made"


class Counts(NamedTuple):
    """How many frames have a surface that is up to date, how many an outdated one, and the bytes of both."""

    made: int
    outdated: int
    size: int


def surface_folder(take: Path) -> Path:
    """The folder of the surfaces of a take's own frames."""
    return take / DERIVED / SURFACE


def surface_path(cache: Cache, moment: Moment) -> Path:
    """The path of a frame's surface, whether it exists or not."""
    return surface_folder(cache.take_of(moment).folder) / frame_name(moment)


def source_of(cache: Cache, moment: Moment) -> str:
    """SHA-256 of a frame's file, from the journal. Raises CacheError if the frame is not cached."""
    entry = cache.take_of(moment).journal().get(moment)
    if entry is None:
        raise CacheError(f"frame {moment.frame:g} was not baked", subject=str(cache.folder))
    return str(entry.get("sha256"))


def state_of(cache: Cache, moment: Moment, settings: str, read: ReadOrigin = read_origin) -> State:
    """The state of a cached frame's surface for settings with this hash; a damaged file counts as missing."""
    try:
        origin = read(surface_path(cache, moment))
    except (OSError, ArrayFileError):
        return State.MISSING
    return _state(cache, moment, origin, settings)


def _state(cache: Cache, moment: Moment, origin: Origin, settings: str) -> State:
    is_current = origin.settings == settings and origin.source == source_of(cache, moment)
    return State.MADE if is_current and origin.moment == moment else State.OUTDATED


def counts_of(cache: Cache, settings: str, read: ReadOrigin = read_origin) -> Counts:
    """How many cached frames have a surface.

    Args:
        cache: the cache.
        settings: the hash of the settings with which a surface is up to date.
        read: returns the origin in a file; raises as `read_origin`.

    Raises:
        CacheError: as `Cache.moments`.
    """
    made = outdated = size = 0
    for moment in cache.moments:
        if not moment.is_frame:
            continue
        state = state_of(cache, moment, settings, read)
        made, outdated = made + (state is State.MADE), outdated + (state is State.OUTDATED)
        if state is not State.MISSING:
            with contextlib.suppress(OSError):
                size += surface_path(cache, moment).stat().st_size
    return Counts(made, outdated, size)


def surface_at(cache: Cache, moment: Moment) -> Surface:
    """The surface of a frame, also if it is outdated.

    Raises:
        CacheError: it is damaged.
        FileNotFoundError: it was not made.
    """
    path = surface_path(cache, moment)
    try:
        surface = read_surface(path)
    except ArrayFileError as error:
        raise CacheError(error.problem, *error.remedies, "delete this file", REMEDY, subject=str(path)) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    if surface.origin.moment != moment:
        found = surface.origin.moment.frame
        raise CacheError(f"contains frame {found:g}, not {moment.frame:g}", "delete this file", REMEDY, subject=str(path))
    return surface


def remove_surfaces(cache: Cache) -> int:
    """Delete the surfaces of all takes of a cache, and nothing else; returns how many. Raises CacheError."""
    count = 0
    for number in take_numbers(cache.folder):
        folder = surface_folder(take_folder(cache.folder, number))
        refuse_link(folder)
        try:
            count += _remove(frame_files(folder))
            _remove(folder.glob(f"*{TEMPORARY_SUFFIX}") if folder.is_dir() else ())
            for empty in (folder, folder.parent):
                if empty.is_dir() and not any(empty.iterdir()):
                    empty.rmdir()
        except OSError as error:
            raise CacheError(f"cannot be deleted ({error.strerror})", "check its permissions", subject=str(error.filename)) from error
    return count


def refuse_link(folder: Path) -> None:
    """Check that files written or deleted lie inside the cache. Raises CacheError for a symbolic link."""
    link = next((place for place in (folder.parent, folder) if place.is_symlink()), None)
    if link is not None:
        raise CacheError("is a symbolic link, which may lead outside the cache", "remove it", subject=str(link))


def _remove(paths: Iterable[Path] | Iterator[Path]) -> int:
    count = 0
    for path in paths:
        path.unlink(missing_ok=True)
        count += 1
    return count
