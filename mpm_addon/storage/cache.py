"""Reading a cache, the folder that bakes fill with frames. No lock is needed; a cache may be read while it grows.

A cache has takes. The current take shows its own frames and, before them, those of the take from which it continues.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.bonds import Bonds
from ..core.errors import CacheError, SceneError
from ..core.messages import Action, Message
from ..core.particles import Frame, Moment, Piece
from ..core.scene.settings import Time
from .arrays import ArrayFileError
from .births import read_births, read_pairs
from .checkpoints import checkpoint_frames, checkpoint_path, read_checkpoint
from .plain_files import open_plain, parse_json, read_plain
from .renames import pose_names
from .sealed import unsealed
from .take import BIRTHS, CHECKPOINTS, MANIFEST, SCENE, TAKES, Take, take_folder, unreadable

CACHE_SCHEMA = 2
CACHE_KIND = "mpm_addon cache"
CACHE_FILE = "cache.json"
_NO_LIMIT = 1 << 62


class Cache:
    """A cache on disk, as shown by one of its takes.

    Attributes:
        folder: its folder.
        takes: the takes from which the shown one continues, earliest first, and the shown one last.
    """

    def __init__(self, folder: Path, takes: list[Take]) -> None:
        self.folder = folder
        self.takes = takes
        self._births: dict[str, NDArray[Any]] = {}

    @property
    def take(self) -> int:
        """The number of the take that is shown."""
        return self.takes[-1].number

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The contents of the take's take.json: scene_name, scene_hash, fps, time_scale, subframes, frame_start, frame_end,
        grid_spacing, dimension, materials, emitters, attributes, versions and more; see docs/formats.md."""
        return self.takes[-1].manifest

    @property
    def time(self) -> Time:
        """The frames and seconds of the baked scene. Raises CacheError if the manifest is damaged."""
        keys = ("fps", "frame_start", "frame_end", "time_scale", "subframes")
        try:
            return Time(**{key: self.manifest[key] for key in keys})
        except (KeyError, SceneError) as error:
            raise CacheError(f"it is damaged ({error})", Action.RESTART, subject=str(self.takes[-1].folder / MANIFEST)) from error

    @property
    def frames(self) -> list[int]:
        """The cached frames, ascending. Raises CacheError if the folder cannot be read."""
        return [moment.number for moment in self.moments if moment.is_frame]

    @property
    def moments(self) -> list[Moment]:
        """The cached frames and subframes, ascending. Raises CacheError as `frames`."""
        return [moment for take in self.takes for moment in take.moments() if self.take_of(moment) is take]

    def frame(self, number: int) -> Frame:
        """One frame.

        Raises:
            CacheError: it was not baked, or its file is damaged.
        """
        return self.state(Moment(number))

    def state(self, moment: Moment, only: Collection[str] | None = None) -> Frame:
        """The frame or subframe at one of the `moments`, with all or only some attributes (`read_frame`). Raises CacheError as `frame`."""
        try:
            return self.take_of(moment).read(moment, self.births_of, only)
        except FileNotFoundError:
            raise CacheError(f"frame {moment.frame:g} was not baked", f"{self._extent()}", subject=str(self.folder)) from None

    def bonds(self, number: int) -> Bonds:
        """The bonds between particles at a frame, and when they parted; none where no material tears. Raises CacheError as `frame`."""
        return self.bonds_at(Moment(number))

    def bonds_at(self, moment: Moment) -> Bonds:
        """The bonds at one of the `moments`. Raises CacheError as `frame`."""
        try:
            return self.take_of(moment).read_bonds(moment, self._pairs)
        except FileNotFoundError:
            raise CacheError(f"frame {moment.frame:g} was not baked", f"{self._extent()}", subject=str(self.folder)) from None

    def pieces(self) -> dict[str, tuple[Moment, Piece]]:
        """The pieces of rigid bodies that broke, by name, and the first moment at which each is there. Raises CacheError as `frame`."""
        found = {}
        for moment in self.moments:
            if self.take_of(moment).journal()[moment].get("pieces"):
                found |= {name: (moment, piece) for name, piece in self.state(moment).pieces.items()}
        return found

    def frame_path(self, number: int) -> Path:
        """The path of a frame, whether it exists or not."""
        return self.state_path(Moment(number))

    def state_path(self, moment: Moment) -> Path:
        """The path of a frame or subframe, whether it exists or not."""
        return self.take_of(moment).path(moment)

    def whole_moments(self) -> list[Moment]:
        """The moments whose files are complete, judging by their sizes. Raises CacheError."""
        return [moment for take in self.takes for moment in take.whole_moments() if self.take_of(moment) is take]

    def damaged(self) -> Iterator[Message]:
        """Read every byte and report, with the remedy, each file that is damaged or missing."""
        for take in self.takes:
            refill = self._refill(take)
            for moment, entry in take.journal().items():
                path = take.path(moment)
                if self.take_of(moment) is not take:
                    continue
                try:
                    with open_plain(path) as file:
                        found = hashlib.file_digest(file, "sha256").hexdigest()
                except FileNotFoundError:
                    yield Message("it is missing", (refill,), str(path))
                except OSError as error:
                    yield Message(f"it cannot be read ({error.strerror})", ("check its permissions",), str(path))
                else:
                    if found != entry.get("sha256"):
                        yield Message("it is damaged", ("delete this file", refill), str(path))
            yield from _damaged_checkpoints(take)
        emitted = max((self.take_of(moment).journal()[moment]["emitted"] for moment in self.moments), default=0)
        try:
            if emitted:
                self.births_of(emitted)
                self._pairs()
        except CacheError as error:
            yield error.message

    def _refill(self, take: Take) -> str | Action:
        """The remedy for a missing frame of one of the takes."""
        if take is self.takes[-1]:
            return Action.FILL_GAP
        return f"show take {take.number}, bake {take.folder / SCENE} to fill the gap, and show take {self.take} again"

    def statistics(self) -> Iterator[dict[str, Any]]:
        """The statistics of every frame from the journal, as `info --json` prints them. Raises CacheError."""
        for moment in self.moments:
            if moment.is_frame:
                entry = self.take_of(moment).journal()[moment]
                yield {key: value for key, value in entry.items() if key not in _INTERNAL}

    def size(self) -> int:
        """The size of all frames and subframes that are shown [bytes]."""
        return sum(self.state_path(moment).stat().st_size for moment in self.moments)

    def is_same(self, other: "Cache") -> bool:
        """Whether both show the same take of the same cache."""
        kept, others = ([(take.number, take.manifest) for take in cache.takes] for cache in (self, other))
        return self.folder == other.folder and kept == others

    def take_of(self, moment: Moment) -> Take:
        """The take that a moment belongs to."""
        for take, following in zip(self.takes, self.takes[1:], strict=False):
            if moment.frame <= following.from_frame:
                return take
        return self.takes[-1]

    def births_of(self, count: int) -> Mapping[str, NDArray[Any]]:
        """The births of at least the first `count` particles, by id. Raises CacheError if some are missing."""
        known = len(next(iter(self._births.values()), ()))
        if known >= count and self._births:
            return self._births
        pieces: list[Mapping[str, NDArray[Any]]] = [self._births] if self._births else []
        limits = [*(following.first_id for following in self.takes[1:]), _NO_LIMIT]
        for take, limit in zip(self.takes, limits, strict=True):
            folder = take.folder / BIRTHS
            with _reading_births(folder):
                new = read_births(folder, known, max(limit, known))
            pieces += new
            known += sum(len(next(iter(piece.values()))) for piece in new)
        if known < count or not pieces:
            raise CacheError(f"the births of particles {known} to {count - 1} are missing", Action.FILL_GAP, subject=str(self.folder))
        try:
            self._births = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[-1]}
        except (KeyError, ValueError) as error:
            raise CacheError(f"its births do not match ({error})", Action.RESTART, subject=str(self.folder)) from error
        return self._births

    def _pairs(self) -> NDArray[np.int32]:
        """The ids that bonds join, of all births. Raises CacheError."""
        limits, known, found = [*(following.first_id for following in self.takes[1:]), _NO_LIMIT], 0, []
        for take, limit in zip(self.takes, limits, strict=True):
            folder = take.folder / BIRTHS
            with _reading_births(folder):
                found.append(read_pairs(folder, known, max(limit, known)))
            known = max(limit, known)
        return np.concatenate(found)

    def _extent(self) -> str:
        frames = self.frames
        return f"frames {frames[0]} to {frames[-1]} are cached" if frames else "no frame is cached yet"


# Entries that are used or shown without any further check.
_MANIFEST_KINDS = {
    **dict.fromkeys(("scene_name", "scene_hash"), str),
    **dict.fromkeys(("versions", "attributes"), dict),
    **dict.fromkeys(("materials", "emitters", "colliders"), list),
}

# Entries of the journal that only the cache itself uses.
_INTERNAL = ("part", "parts", "bytes", "sha256", "emitted")


def open_cache(folder: str | Path, *, take: int | None = None) -> Cache:
    """The cache in a folder.

    Args:
        folder: the folder.
        take: the take to show; by default the current one.

    Raises:
        CacheError: there is no cache, or it is damaged or of another version.
    """
    folder = Path(folder)
    try:
        is_other, is_cache = folder.exists() and not folder.is_dir(), (folder / CACHE_FILE).is_file()
    except (OSError, ValueError) as error:  # too long, without permission, or not a valid path
        raise CacheError(
            f"it cannot be found ({getattr(error, 'strerror', None) or error})", "use the folder of a bake", subject=str(folder)
        ) from error
    if is_other:
        raise CacheError("it is a file, not a cache folder", "use the folder of a bake", subject=str(folder))
    if not is_cache:
        known = known_takes(folder)
        found = f", only takes {known}" if known else ""
        raise CacheError(
            f"it contains no cache ({CACHE_FILE} is missing){found}",
            Action.MEND_BY_TAKE if known else "use the folder of a bake",
            subject=str(folder),
        )
    number = current_take(folder)
    if take is not None and take not in take_numbers(folder):
        raise CacheError(f"it has no take {take}", f"use one of {known_takes(folder)}", subject=str(folder))
    return Cache(folder, chain(folder, number if take is None else take))


@contextmanager
def _reading_births(folder: Path) -> Iterator[None]:
    """Convert errors for births that cannot be read into a CacheError."""
    try:
        yield
    except ArrayFileError as error:
        raise error.at(folder, "delete this file", Action.FILL_GAP) from error
    except OSError as error:
        raise unreadable(folder, error) from error


def _damaged_checkpoints(take: Take) -> Iterator[Message]:
    """Problems with the checkpoints of a take."""
    folder = take.folder / CHECKPOINTS
    for number in checkpoint_frames(folder):
        try:
            read_checkpoint(folder, number, take.manifest.get("scene_hash", ""))
        except ArrayFileError:
            remedy = "delete this file to resume from an earlier checkpoint"
            yield Message("it is damaged", (remedy,), str(checkpoint_path(folder, number)))
        except FileNotFoundError:
            continue  # thinned out by a bake in the meantime
        except OSError as error:
            yield Message(f"it cannot be read ({error.strerror})", ("check its permissions",), str(checkpoint_path(folder, number)))


def take_numbers(folder: Path) -> list[int]:
    """The numbers of a cache's takes, ascending. Raises CacheError."""
    try:
        return sorted(int(path.name) for path in (folder / TAKES).iterdir() if path.name.isdecimal() and (path / MANIFEST).is_file())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable(folder / TAKES, error) from error


def known_takes(folder: Path) -> str:
    """The numbers of a cache's takes as text. Raises CacheError."""
    return ", ".join(map(str, take_numbers(folder)))


def chain(folder: Path, number: int) -> list[Take]:
    """The takes from which a take continues, earliest first, and the take itself last. Raises CacheError."""
    takes = [_take(folder, number)]
    while takes[0].parent is not None:
        earlier = _take(folder, takes[0].parent)
        if earlier.number >= takes[0].number:
            problem = f"it continues from take {earlier.number}, which is not an earlier one"
            raise CacheError(problem, "bake again", subject=str(takes[0].folder / MANIFEST))
        takes.insert(0, earlier)
    show_names(takes)
    return takes


def show_names(takes: list[Take]) -> None:
    """Give dynamic colliders in the frames of takes the names that they have in the last one, which continues from the others."""
    for take in takes:
        take.show_names(pose_names(take, takes[-1]))


def manifest_of_cache(take: int) -> dict[str, Any]:
    """The contents of cache.json."""
    return {"kind": CACHE_KIND, "schema": CACHE_SCHEMA, "take": take}


def current_take(folder: Path) -> int:
    """The number of the current take. Raises CacheError if the manifest is damaged or belongs to another program or version."""
    refuse_foreign(folder)
    path = folder / CACHE_FILE
    number = _manifest(path).get("take")
    if not isinstance(number, int) or number < 1:
        raise CacheError(f"take {number!r} is not a number", Action.RESTART, subject=str(path))
    return number


def refuse_foreign(folder: Path) -> None:
    """Check that a folder's manifest is that of a cache of this version, or too damaged to tell. Raises CacheError."""
    path = folder / CACHE_FILE
    try:
        manifest = parse_json(read_plain(path))
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError:
        return
    if not isinstance(manifest, dict) or manifest.get("kind") != CACHE_KIND:
        raise CacheError("it belongs to another program", "choose another folder", subject=str(path))
    if manifest.get("schema") != CACHE_SCHEMA:
        raise CacheError(
            f"this version does not support schema {manifest.get('schema')!r}, only {CACHE_SCHEMA}",
            "use the version that baked it, or bake into another folder",
            subject=str(path),
        )


def _take(folder: Path, number: int) -> Take:
    path = take_folder(folder, number) / MANIFEST
    if not path.exists() and not Take(folder, number, {}).moments():
        raise CacheError(f"no frame is cached yet (take {number} has no {MANIFEST})", Action.BAKE, subject=str(folder))
    manifest = _manifest(path)
    parent, wanted = manifest.get("parent"), ("from_frame", "first_id") if manifest.get("parent") is not None else ()
    if not isinstance(parent, int | None) or not all(isinstance(manifest.get(key), int) for key in wanted):
        raise CacheError("it does not say from which frame it continues", Action.RESTART, subject=str(path))
    for key, kind in _MANIFEST_KINDS.items():
        if not isinstance(manifest.get(key, kind()), kind):
            raise CacheError(f"it has an invalid {key} ({manifest[key]!r})", Action.RESTART, subject=str(path))
    for key in ("materials", "emitters"):
        if not all(isinstance(name, str) for name in manifest.get(key, ())):
            raise CacheError(f"it has {key} whose names are not text", Action.RESTART, subject=str(path))
    return Take(folder, number, manifest)


def _manifest(path: Path) -> dict[str, Any]:
    try:
        return unsealed(read_plain(path))
    except FileNotFoundError as error:
        raise CacheError("it is missing", Action.SHOW_OTHER_TAKE, subject=str(path)) from error
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:
        remedy = Action.MEND_BY_TAKE if path.name == CACHE_FILE else Action.SHOW_OTHER_TAKE
        raise CacheError(f"it is damaged ({error})", remedy, subject=str(path)) from error
