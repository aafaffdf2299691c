"""Reading a cache: the folder of frames that a bake makes. Takes no lock, and may be read while it grows."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..core.errors import CacheError, SceneError
from ..core.particles import Frame, Moment
from ..core.settings import Time
from .arrays import ArrayFileError, is_whole
from .frame_file import read_frame

CACHE_SCHEMA = 1
CACHE_KIND = "mpm_addon cache"
MANIFEST = "cache.json"
FRAMES = "frames"
JOURNAL = "journal.jsonl"
_FRAME_NAME = re.compile(r"frame_(-?\d{6,})(?:_(\d{1,3})of(\d{1,3}))?\.npz")


def frame_name(moment: Moment) -> str:
    """The file name of a frame: frame_000012.npz; of the first of three states after it: frame_000012_1of4.npz."""
    between = "" if moment.is_frame else f"_{moment.part}of{moment.parts}"
    return f"frame_{moment.number:06d}{between}.npz"


class Cache:
    """A cache on disk.

    Attributes:
        folder: where it is.
        manifest: what cache.json says: scene_name, scene_hash, fps, time_scale, subframes, frame_start, frame_end, grid_spacing, dimension,
            materials, emitters, attributes and versions; see docs/formats.md.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self.manifest = manifest

    @property
    def time(self) -> Time:
        """The frames and seconds of the scene that was baked. Raises CacheError where the manifest is damaged."""
        keys = ("fps", "frame_start", "frame_end", "time_scale", "subframes")
        try:
            return Time(**{key: self.manifest[key] for key in keys if key in self.manifest})
        except SceneError as error:
            raise CacheError(f"{self.folder / MANIFEST}: is damaged ({error}); bake again with --restart.") from error

    @property
    def frames(self) -> list[int]:
        """The numbers of the frames that are there now, ascending."""
        return [moment.number for moment in self.moments if moment.is_frame]

    @property
    def moments(self) -> list[Moment]:
        """The frames and the states between them that are there now, ascending."""
        try:
            names = [path.name for path in (self.folder / FRAMES).iterdir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unreadable(self.folder / FRAMES, error) from error
        found = (Moment(int(match[1]), int(match[2] or 0), int(match[3] or 1)) for match in map(_FRAME_NAME.fullmatch, names) if match)
        return sorted((moment for moment in found if 0 < moment.part < moment.parts or moment == Moment(moment.number)), key=_frame_of)

    def frame(self, number: int) -> Frame:
        """One frame.

        Raises:
            CacheError: it was not baked, or its file is damaged.
        """
        return self.state(Moment(number))

    def state(self, moment: Moment) -> Frame:
        """The particles at one of the `moments`. Raises CacheError as `frame`."""
        path = self.state_path(moment)
        try:
            frame = read_frame(path)
        except FileNotFoundError:
            raise CacheError(f"{self.folder}: frame {moment.frame:g} was not baked; {self._extent()}.") from None
        except ArrayFileError as error:
            raise CacheError(f"{path}: {error}; delete this file and bake again to fill the gap.") from error
        except OSError as error:
            raise _unreadable(path, error) from error
        if frame.moment != moment:
            raise CacheError(f"{path}: holds frame {frame.moment.frame:g}, not {moment.frame:g}; give it back its own name.")
        return frame

    def frame_path(self, number: int) -> Path:
        """Where a frame is, or would be."""
        return self.state_path(Moment(number))

    def state_path(self, moment: Moment) -> Path:
        """Where a frame, or a state between two, is or would be."""
        return self.folder / FRAMES / frame_name(moment)

    def whole_moments(self) -> list[Moment]:
        """The moments whose files are complete, found by a look at each file's end."""
        return [moment for moment in self.moments if is_whole(self.state_path(moment))]

    def journal(self) -> dict[int, dict[str, Any]]:
        """Notes of the bake: frame -> {"seconds", "step_seconds"}; a line cut short by a crash is left out."""
        try:
            lines = (self.folder / JOURNAL).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return {}
        entries = (_journal_entry(line) for line in lines)
        return {entry["frame"]: entry for entry in entries if entry is not None}

    def statistics(self) -> Iterator[dict[str, Any]]:
        """The numbers of every frame, as `info --json` prints them. Raises CacheError for a damaged frame."""
        journal = self.journal()
        for number in self.frames:
            frame = self.frame(number)
            statistics = frame.statistics
            noted = journal.get(number, {})
            yield {
                "frame": number,
                "particles": statistics.particles,
                "substeps": statistics.substeps,
                "seconds": noted.get("seconds"),
                "step_seconds": noted.get("step_seconds"),
                "kinetic_energy": statistics.kinetic_energy,
                "momentum": list(statistics.momentum),
                "mass": statistics.mass,
                "deleted": statistics.deleted,
                "poses": {name: pose.tolist() for name, pose in frame.poses.items()},
            }

    def size(self) -> int:
        """The bytes of all frame files, those between two frames with them."""
        return sum(self.state_path(moment).stat().st_size for moment in self.moments)

    def _extent(self) -> str:
        frames = self.frames
        return f"frames {frames[0]} to {frames[-1]} are there" if frames else "no frame is there yet"


def _frame_of(moment: Moment) -> float:
    return moment.frame


def _unreadable(path: Path, error: OSError) -> CacheError:
    return CacheError(f"{path}: cannot be read ({error.strerror}); check its permissions.")


def _journal_entry(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("frame"), int) else None


def open_cache(folder: str | Path) -> Cache:
    """The cache in a folder.

    Raises:
        CacheError: there is none, or it is damaged or of a later version.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise CacheError(f"{folder}: is a file, not a cache folder; give the folder of a bake.")
    if not (folder / MANIFEST).is_file():
        raise CacheError(f"{folder}: holds no cache ({MANIFEST} is missing); give the folder of a bake.")
    return Cache(folder, read_manifest(folder))


def read_manifest(folder: Path, *, must_be_whole: bool = True) -> dict[str, Any]:
    """The content of cache.json; with `must_be_whole` False, an empty one where it is damaged.

    Raises:
        CacheError: it is damaged, of another program or of a later version.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        if not must_be_whole:
            return {}
        raise CacheError(f"{path}: is damaged ({error}); bake again with --restart.") from error
    if not isinstance(manifest, dict) or manifest.get("kind") != CACHE_KIND:
        raise CacheError(f"{path}: belongs to another program; give another folder.")
    if manifest.get("schema") != CACHE_SCHEMA:
        raise CacheError(
            f"{path}: schema {manifest.get('schema')!r} is not known to this version (it knows {CACHE_SCHEMA}); "
            "use the version that baked it, or bake into another folder."
        )
    return manifest
