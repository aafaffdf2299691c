"""One take of a cache: the frames of one scene, perhaps going on after a frame of an earlier take. Reads, without locks.

A frame belongs to a take when the journal has a line of it and its file is there. The journal is only appended to, after the
file is whole, so whatever is named is whole.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import CacheError
from ..core.particles import Frame, Moment
from . import births
from .arrays import ArrayFileError
from .container import SUFFIX
from .frame_file import Births, possible_moment, read_frame
from .plain_files import read_plain
from .sealed import unsealed

TAKES = "takes"
MANIFEST = "take.json"
FRAMES = "frames"
BIRTHS = "births"
CHECKPOINTS = "checkpoints"
JOURNAL = "journal.jsonl"
SCENE = "scene"

# A journal has some hundred bytes a frame.
LARGEST_JOURNAL = 1_000_000_000

_FRAME_NAME = re.compile(r"frame_(-?\d{6,})(?:_(\d{1,3})of(\d{1,3}))?" + re.escape(SUFFIX))

Entry = Mapping[str, Any]


def frame_name(moment: Moment) -> str:
    """The file name of a frame: frame_000012.mpm; of the first of three states after it: frame_000012_1of4.mpm."""
    between = "" if moment.is_frame else f"_{moment.part}of{moment.parts}"
    return f"frame_{moment.number:06d}{between}{SUFFIX}"


def frame_files(folder: Path) -> list[Path]:
    """The files of frames and states in a folder; those of other names are not ours."""
    named = [(path, _FRAME_NAME.fullmatch(path.name)) for path in folder.iterdir()] if folder.is_dir() else []
    return [path for path, match in named if match and (match[2] is None or 0 < int(match[2]) < int(match[3]))]


class Take:
    """A take on disk.

    Attributes:
        number: 1, 2, ... in the order in which takes were begun.
        folder: where it is.
        manifest: what take.json says; see docs/formats.md.
    """

    def __init__(self, cache: Path, number: int, manifest: Mapping[str, Any]) -> None:
        self.number = number
        self.folder = take_folder(cache, number)
        self.manifest = manifest
        self._journal: tuple[Any, dict[Moment, Entry]] = (None, {})

    @property
    def parent(self) -> int | None:
        """The take whose frames it goes on after."""
        return self.manifest.get("parent")

    @property
    def from_frame(self) -> int:
        """The last frame that it has from its parent."""
        return int(self.manifest["from_frame"])

    @property
    def first_id(self) -> int:
        """The first id of its own: how many particles had been emitted when it began."""
        return int(self.manifest.get("first_id", 0))

    def path(self, moment: Moment) -> Path:
        """Where a frame, or a state between two, is or would be."""
        return self.folder / FRAMES / frame_name(moment)

    def journal(self) -> Mapping[Moment, Entry]:
        """What the bake noted of every frame and state; lines that a crash cut short are left out. Raises CacheError."""
        path = self.folder / JOURNAL
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._journal[0]:
                self._journal = (stamp, dict(filter(None, map(_entry, read_plain(path, LARGEST_JOURNAL).splitlines()))))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise unreadable(path, error) from error
        return self._journal[1]

    def moments(self) -> list[Moment]:
        """The frames and states that are there, ascending. Raises CacheError."""
        return sorted((moment for moment in self.journal() if self.path(moment).is_file()), key=lambda moment: moment.frame)

    def whole_moments(self) -> list[Moment]:
        """Those of which the file has the size that the journal noted, and the births of whose particles are there. Raises CacheError."""
        covered = births.covered(self.folder / BIRTHS, self.first_id)
        journal = self.journal()
        return [
            moment
            for moment in self.moments()
            if journal[moment]["emitted"] <= covered and self.path(moment).stat().st_size == journal[moment]["bytes"]
        ]

    def read(self, moment: Moment, births_of: Births) -> Frame:
        """A frame or state.

        Args:
            moment: which.
            births_of: gives the births of the particles emitted first, as many as are asked for.

        Raises:
            CacheError: it is damaged.
            FileNotFoundError: it is not there.
        """
        path = self.path(moment)
        try:
            frame = read_frame(path, births_of)
        except ArrayFileError as error:
            raise CacheError(f"{path}: {error}; delete this file and bake again to fill the gap.") from error
        except FileNotFoundError:
            raise
        except OSError as error:
            raise unreadable(path, error) from error
        if frame.moment != moment:
            raise CacheError(f"{path}: holds frame {frame.moment.frame:g}, not {moment.frame:g}; give it back its own name.")
        return frame


def take_folder(cache: Path, number: int) -> Path:
    """Where a take of a cache is, or would be."""
    return cache / TAKES / f"{number:04d}"


def unreadable(path: Path, error: OSError) -> CacheError:
    """What is said of a file that the system does not give."""
    return CacheError(f"{path}: cannot be read ({error.strerror}); check its permissions.")


def _entry(line: bytes) -> tuple[Moment, Entry] | None:
    try:
        entry = unsealed(line)
        moment = possible_moment(*(entry[key] for key in ("frame", "part", "parts")))
    except (ValueError, KeyError):
        return None
    if not isinstance(entry.get("bytes"), int) or not isinstance(entry.get("emitted"), int):
        return None
    return moment, entry
