"""Takes of a cache: the frames of one scene, which may continue after a frame of an earlier take. Reads without locks.

A frame belongs to a take if its file exists and the journal has an entry for it. Entries are appended once the file is complete,
so every listed frame is complete.
"""

import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.bonds import Bonds
from ..core.errors import CacheError
from ..core.messages import Action, one_line
from ..core.particles import Frame, Moment
from . import births, vdb
from .arrays import ArrayFileError
from .container import SUFFIX
from .frame_file import Births, read_bonds, read_frame
from .journal import Entry, Journal
from .pose_names import Renames, with_names

TAKES = "takes"
MANIFEST = "take.json"
FRAMES = "frames"
BIRTHS = "births"
CHECKPOINTS = "checkpoints"
JOURNAL = "journal.jsonl"
SCENE = "scene"
# The entry of a manifest with the name that someone gave the take, and its maximum length.
NAME, LONGEST_NAME = "name", 60
# Folders of derived data, one for each kind.
DERIVED = "derived"
SURFACE, SKIN, VOLUME, FOAM, DEBRIS = "surface", "skin", "volume", "foam", "debris"
KINDS = (SURFACE, SKIN, VOLUME, FOAM, DEBRIS)
# The ends of their file names: volumes are files of OpenVDB, which other programs read.
SUFFIXES: Mapping[str, str] = {SURFACE: SUFFIX, SKIN: SUFFIX, VOLUME: vdb.SUFFIX, FOAM: SUFFIX, DEBRIS: SUFFIX}

# What a frame has of each, and what all frames have, in words.
ONE: Mapping[str, str] = {SURFACE: "a surface", SKIN: "a skin", VOLUME: "a volume", FOAM: "foam", DEBRIS: "debris"}
MANY: Mapping[str, str] = {SURFACE: "surfaces", SKIN: "skins", VOLUME: "volumes", FOAM: "foam", DEBRIS: "debris"}

_FRAME_NAME = re.compile(r"frame_(-?\d{6,})(?:_(\d{1,3})of(\d{1,3}))?(\.[a-z]+)")

# Resolution of a folder's modification time [ns]: two seconds on some file systems.
_TICK = 2_000_000_000


def frame_name(moment: Moment, suffix: str = SUFFIX) -> str:
    """The file name of a frame, frame_000012.mpm, or of the first of three subframes after it, frame_000012_1of4.mpm."""
    between = "" if moment.is_frame else f"_{moment.part}of{moment.parts}"
    return f"frame_{moment.number:06d}{between}{suffix}"


def frame_files(folder: Path, suffix: str = SUFFIX) -> list[Path]:
    """The files of frames and subframes in a folder whose names end in `suffix`; files with other names are ignored."""
    named = [(path, _FRAME_NAME.fullmatch(path.name)) for path in folder.iterdir()] if folder.is_dir() else []
    return [path for path, match in named if match and match[4] == suffix and (match[2] is None or 0 < int(match[2]) < int(match[3]))]


class Take:
    """A take on disk.

    Attributes:
        number: 1, 2, ... in the order in which takes were started.
        folder: its folder.
        manifest: the contents of take.json; see docs/formats.md.
    """

    def __init__(self, cache: Path, number: int, manifest: Mapping[str, Any]) -> None:
        self.number = number
        self.folder = take_folder(cache, number)
        self.manifest = manifest
        self._pose_names: Renames = {}
        self._journal = Journal(self.folder / JOURNAL)
        self._names: tuple[Any, frozenset[str]] = (None, frozenset())
        self._known: tuple[Any, dict[Moment, Entry]] = (None, {})

    def show_names(self, names: Renames) -> None:
        """Give dynamic colliders other names than the frames have, because they were renamed since."""
        if names != self._pose_names:
            self._pose_names, self._journal, self._known = names, Journal(self.folder / JOURNAL, names), (None, {})

    @property
    def parent(self) -> int | None:
        """The take from which it continues, or None."""
        return self.manifest.get("parent")

    @property
    def name(self) -> str:
        """The name that someone gave it; "" without one."""
        found = self.manifest.get(NAME)
        return one_line(found)[:LONGEST_NAME] if isinstance(found, str) else ""

    @property
    def from_frame(self) -> int:
        """The last frame that it shares with its parent."""
        return int(self.manifest["from_frame"])

    @property
    def first_id(self) -> int:
        """Its first own id: the number of particles that had been emitted when it began."""
        return int(self.manifest.get("first_id", 0))

    def path(self, moment: Moment) -> Path:
        """The path of a frame or subframe, whether it exists or not."""
        return self.folder / FRAMES / frame_name(moment)

    def journal(self) -> Mapping[Moment, Entry]:
        """The entries of all frames and subframes, without lines truncated by a crash. Raises CacheError."""
        self.read_journal()
        return self._journal.entries

    def read_journal(self, seconds: float | None = None) -> bool:
        """Read new entries of the journal for at most about `seconds`; returns whether all are read. Raises CacheError."""
        try:
            self._journal.read(seconds)
        except OSError as error:
            raise unreadable(self._journal.path, error) from error
        return self._journal.is_read

    def known(self) -> Mapping[Moment, Entry]:
        """The entries read so far of frames and subframes whose files exist; the same object until they change. Raises CacheError."""
        entries, names = self._journal.entries, self._file_names()
        seen = (id(entries), len(entries), names)
        if seen != self._known[0]:
            self._known = (seen, {moment: entry for moment, entry in entries.items() if frame_name(moment) in names})
        return self._known[1]

    def _file_names(self) -> frozenset[str]:
        """The file names in the folder of frames, read again only after a change. Raises CacheError."""
        folder = self.folder / FRAMES
        try:
            changed = folder.stat().st_mtime_ns
            if changed != self._names[0]:
                # another file may be added without a change of the folder's modification time
                is_settled = time.time_ns() - changed > _TICK
                with os.scandir(folder) as entries:
                    self._names = (changed if is_settled else None, frozenset(entry.name for entry in entries))
        except FileNotFoundError:
            self._names = (None, frozenset())
        except OSError as error:
            raise unreadable(folder, error) from error
        return self._names[1]

    def moments(self) -> list[Moment]:
        """The cached frames and subframes, ascending. Raises CacheError."""
        return sorted((moment for moment in self.journal() if self.path(moment).is_file()), key=lambda moment: moment.frame)

    def whole_moments(self) -> list[Moment]:
        """The moments whose files have the recorded size and whose particles' births exist. Raises CacheError."""
        covered = births.covered(self.folder / BIRTHS, self.first_id)
        journal = self.journal()
        return [
            moment
            for moment in self.moments()
            if journal[moment]["emitted"] <= covered and self.path(moment).stat().st_size == journal[moment]["bytes"]
        ]

    def read(self, moment: Moment, births_of: Births, only: Collection[str] | None = None) -> Frame:
        """A frame or subframe.

        Args:
            moment: its moment.
            births_of: returns the births of at least the given number of particles.
            only: attributes to read, as in `read_frame`.

        Raises:
            CacheError: it is damaged.
            FileNotFoundError: it does not exist.
        """
        path = self.path(moment)
        with _reading(path):
            frame = read_frame(path, births_of, only)
        if frame.moment != moment:
            raise CacheError(f"it contains frame {frame.moment.frame:g}, not {moment.frame:g}", "rename the file", subject=str(path))
        return with_names(frame, self._pose_names)

    def read_bonds(self, moment: Moment, pairs_of: Callable[[], NDArray[np.int32]]) -> Bonds:
        """The bonds at a frame or subframe; `pairs_of` returns the ids that they join. Raises as `read`."""
        path = self.path(moment)
        with _reading(path):
            return read_bonds(path, pairs_of)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Convert errors for a frame that cannot be read into a CacheError, except that it does not exist."""
    try:
        yield
    except ArrayFileError as error:
        raise error.at(path, "delete this file", Action.FILL_GAP) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error


def take_folder(cache: Path, number: int) -> Path:
    """The folder of a take, whether it exists or not."""
    return cache / TAKES / f"{number:04d}"


def unreadable(path: Path, error: OSError) -> CacheError:
    """The error for a file that cannot be read."""
    return CacheError(f"it cannot be read ({error.strerror})", "check its permissions", subject=str(path))
