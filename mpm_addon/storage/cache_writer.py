"""Writing a cache, so that a bake killed at any moment loses nothing that was good and resumes to the same bytes.

For each frame, in this order: the births of its new particles, its file, its line in the journal; then, now and again, the
exact state. Whatever a crash cuts off is made again from a state before it, and comes out the same.
"""

import contextlib
import json
import math
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..core.errors import CacheError
from ..core.messages import Action
from ..core.particles import Frame, Moment
from ..core.scene.description import Scene
from .arrays import ArrayFileError
from .atomic import TEMPORARY_SUFFIX, append_durably, write_atomically
from .births import births_name, covered, ranges, write_births
from .cache import CACHE_FILE, Cache, chain, current_take, known_takes, manifest_of_cache, open_cache, refuse_foreign, take_numbers
from .checkpoints import Snapshot, checkpoint_frames, checkpoint_path, read_checkpoint, surplus, write_checkpoint
from .failure import FAILURE
from .frame_file import emitted, write_frame
from .installation import version
from .lock import WriterLock
from .manifest import manifest_of
from .scene_file import SCENE_FILE
from .scene_writer import write_scene
from .sealed import sealed, write_sealed
from .status import CANCEL, PAUSE, STATUS
from .take import BIRTHS, CHECKPOINTS, FRAMES, JOURNAL, MANIFEST, SCENE, TAKES, Take, frame_files, frame_name, take_folder

# How `write_scene` names the arrays of a package.
_ARRAY_FILE = re.compile(r"[a-z0-9_]+_[0-9a-f]{12}\.npz")

# Files that a killed bake was writing; others that end so are somebody else's.
_TEMPORARY = re.compile(r".+\.(mpm|json|npz|toml)\.\d+" + re.escape(TEMPORARY_SUFFIX))

# Seconds after which an exact state is kept, however few frames have come.
_LONGEST_INTERVAL = 60.0


class CacheWriter:
    """The writing side of one cache.

    Attributes:
        folder: where it is.
        is_replacing: whether frames of an earlier bake are still there, to be removed by `begin`.
        kept: the manifest with which frames that are there were baked, where this bake goes on with them.
    """

    def __init__(self, folder: Path, scene: Scene) -> None:
        self.folder = folder
        self.is_replacing = False
        self._is_stale = False
        self.kept: Mapping[str, Any] | None = None
        self._is_shown = True
        self._settings = scene.cache
        self._cell = scene.solver.grid_spacing
        self._first_frame = scene.time.frame_start
        self._manifest = manifest_of(scene)
        self._hash: str = self._manifest["scene_hash"]
        self._takes = [Take(folder, 1, self._manifest)]
        self._covered = 0
        self._kept_at = time.monotonic()

    @property
    def cache(self) -> Cache:
        """The reading side of what is written."""
        return Cache(self.folder, self._takes)

    @property
    def take(self) -> int:
        """The number of the take that is written."""
        return self._takes[-1].number

    @property
    def scene_hash(self) -> str:
        """The hash of the scene that is baked."""
        return self._hash

    @property
    def from_frame(self) -> int | None:
        """The frame of an earlier take after which this one goes on; None where it has none."""
        return None if self._takes[-1].parent is None else self._takes[-1].from_frame

    def changed_settings(self) -> list[str]:
        """What frames that are there were baked with, where this bake keeps other things."""
        before, now = {**self._manifest, **(self.kept or {})}, self._manifest
        gone = [name for name in now["attributes"] if name not in before["attributes"]]
        more = [name for name in before["attributes"] if name not in now["attributes"]]
        said = [f"precision {before['precision']}"] if before["precision"] != now["precision"] else []
        return said + [f"no {name}" for name in gone] + [f"with {name}" for name in more]

    @property
    def earlier(self) -> list[Take]:
        """The takes after which this one goes on, the first one first."""
        return self._takes[:-1]

    def prepare(self, scene: Scene, *, restart: bool, from_frame: int | None = None) -> None:
        """Make the folder ready: check that it is free or holds this scene's frames, and note what is baked.

        Frames that a restart replaces stay, with their scene, until `begin`: a bake that fails before its first frame
        must not cost them. Nor does a take that goes on after another begin before its scene is known to fit.

        Args:
            scene: the scene that will be baked.
            restart: whether to replace what an earlier bake left.
            from_frame: go on after this frame of what is there, whatever scene that is of; later frames stay in the take in which
                they are.

        Raises:
            CacheError: the folder is a file, holds another scene or foreign files, lacks the frame, or cannot be written.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise CacheError("is a file, not a folder", "give another cache folder or remove the file", subject=str(self.folder))
        with self._writing():
            self.folder.mkdir(parents=True, exist_ok=True)
            refuse_links(self.folder)
            self._takes = self._find(restart=restart) if from_frame is None else self._branch(from_frame)
            take = self._takes[-1].folder
            for path in (self.folder, take, *_folders(take)):
                _remove_temporaries(path)
            (self.folder / CANCEL).unlink(missing_ok=True)
        if not self.is_replacing and self.from_frame is None:
            self.begin(scene)

    def begin(self, scene: Scene) -> None:
        """Note what is baked, and remove what it replaces. Raises CacheError."""
        with self._writing():
            take = self._takes[-1]
            if self._is_stale:
                remove_take(take.folder)
            # the first manifest comes first, so that whatever a crash leaves is known to be a cache; a later take is shown when it is whole
            if not (self.folder / CACHE_FILE).exists():
                self._show(take)
            for path in _folders(take.folder):
                path.mkdir(parents=True, exist_ok=True)
            write_scene(scene, take.folder / SCENE)
            write_sealed(take.folder / MANIFEST, take.manifest)
            self._is_shown = take.parent is None or current_take(self.folder) == take.number
            if take.parent is None:
                self._show(take)
            # what a restart replaced, or one that was killed left of it; a take goes before the one after which it goes on
            for number in reversed(take_numbers(self.folder)):
                if number < self._takes[0].number:
                    remove_take(take_folder(self.folder, number))
            self.is_replacing = self._is_stale = False
            self._covered = covered(take.folder / BIRTHS, take.first_id)

    def show(self) -> None:
        """Let the cache show what is written here, where a frame of it is there. Raises CacheError."""
        with self._writing():
            take = self._takes[-1]
            if take.moments() and current_take(self.folder) != take.number:
                self._show(take)

    def _show(self, take: Take) -> None:
        write_sealed(self.folder / CACHE_FILE, manifest_of_cache(take.number))

    def write_frame(self, frame: Frame, seconds: float | None = None) -> None:
        """Keep a frame or a state between two.

        Args:
            frame: what to keep.
            seconds: what a frame took.

        Raises:
            CacheError: it cannot be written.
        """
        folder = self._takes[-1].folder
        with self._writing():
            if emitted(frame) > self._covered:
                write_births(folder / BIRTHS, frame.births, self._covered)
                self._covered = emitted(frame)
            written = write_frame(folder / FRAMES / frame_name(frame.moment), frame, self._settings, self._cell)
            entry = {**_noted(frame), "seconds": seconds, "bytes": written.size, "sha256": written.sha256, "emitted": emitted(frame)}
            append_durably(folder / JOURNAL, sealed(entry).encode() + b"\n")
            if not self._is_shown:
                # a take that goes on after another is shown when it has a frame that the other has not
                self._show(self._takes[-1])
                self._is_shown = True

    def is_state_due(self, number: int, *, is_last: bool) -> bool:
        """Whether the exact state after frame `number` is to be kept; `is_last` where the bake ends with it."""
        is_due = (number - self._first_frame) % self._settings.checkpoint_interval == 0
        is_late = time.monotonic() - self._kept_at > _LONGEST_INTERVAL
        return (is_due or is_late or is_last) and not checkpoint_path(self._takes[-1].folder / CHECKPOINTS, number).exists()

    def write_checkpoint(self, number: int, snapshot: Snapshot) -> None:
        """Keep the exact state after frame `number`, which empties the snapshot, and thin out older ones. Raises CacheError."""
        folder = self._takes[-1].folder / CHECKPOINTS
        with self._writing():
            write_checkpoint(folder, number, self._hash, snapshot)
            for frame in surplus(checkpoint_frames(folder), self._settings.checkpoint_count):
                checkpoint_path(folder, frame).unlink(missing_ok=True)
        self._kept_at = time.monotonic()

    def read_checkpoint(self, moment: Moment) -> tuple[int, dict[str, NDArray[Any]]] | None:
        """The last whole frame before a moment of which the exact state was kept; None where there is none."""
        return last_state(self._takes[-1], math.ceil(moment.frame) - 1)

    def write_status(self, status: dict[str, Any]) -> None:
        """Tell other processes how far the bake is. Raises CacheError."""
        with self._writing():
            text = json.dumps(status).encode()
            write_atomically(self.folder / STATUS, lambda file: file.write(text), is_durable=False)

    @property
    def cancel_file(self) -> Path:
        """The file that asks the bake to stop."""
        return self.folder / CANCEL

    def _find(self, *, restart: bool) -> list[Take]:
        """The take to write, and those before it. Raises CacheError where something of anybody else would be lost."""
        if not (self.folder / CACHE_FILE).exists():
            foreign = [name for name in (TAKES, STATUS, FAILURE) if (self.folder / name).exists()]
            if foreign:
                known = known_takes(self.folder)
                there = f" and takes {known}" if known else f' and "{foreign[0]}"'
                remedy = Action.MEND_BY_TAKE if known else "give another folder"
                raise CacheError(f"holds no {CACHE_FILE}{there}, so it is no cache", remedy, subject=str(self.folder))
            return [Take(self.folder, 1, self._manifest)]
        refuse_foreign(self.folder)
        numbers = take_numbers(self.folder)
        if restart:
            self.is_replacing = any(Take(self.folder, number, {}).moments() for number in numbers)
            self._is_stale = not self.is_replacing
            return [Take(self.folder, max(numbers, default=0) + (self.is_replacing or not numbers), self._manifest)]
        number = current_take(self.folder)
        if number not in numbers:
            # a bake that was killed before it had noted its scene; frames without a manifest may be those of any scene
            if Take(self.folder, number, {}).moments():
                chain(self.folder, number)
            return [Take(self.folder, number, self._manifest)]
        *earlier, current = chain(self.folder, number)
        if current.moments():
            self._check(current.manifest)
            self.kept = current.manifest
        # births, and lines of the journal, that a bake left before its first frame
        self._is_stale = not current.moments() and _meaning_of(current.manifest) != _meaning_of(self._manifest)
        # what says how frames were kept goes on saying it of those that are there
        kept = {key: self.kept[key] for key in ("precision", "attributes") if self.kept and key in self.kept}
        return [*earlier, Take(self.folder, number, {**self._manifest, **kept, **_place_of(current.manifest)})]

    def _branch(self, frame: int) -> list[Take]:
        """A take that goes on after a frame of what is there, and those before it. Raises CacheError where the frame is not there."""
        cache = open_cache(self.folder)
        if Moment(frame) not in cache.whole_moments():
            frames = cache.frames
            known = f"frames {frames[0]} to {frames[-1]} are" if frames else "none is"
            raise CacheError(f"frame {frame} is not there to go on after", f"{known}", subject=str(self.folder))
        parent = cache.take_of(Moment(frame))
        first_id = parent.journal()[Moment(frame)]["emitted"]
        place = {"parent": parent.number, "from_frame": frame, "first_id": first_id}
        numbers = take_numbers(self.folder)
        earlier = chain(self.folder, parent.number)
        for number in numbers:
            try:
                manifest = chain(self.folder, number)[-1].manifest
            except CacheError:
                continue  # a damaged take is not in the way of others
            if _meaning_of(manifest) == _meaning_of(self._manifest) and _place_of(manifest) == place:
                return [*earlier, Take(self.folder, number, {**self._manifest, **place})]
        return [*earlier, Take(self.folder, numbers[-1] + 1, {**self._manifest, **place})]

    def _check(self, manifest: Mapping[str, Any]) -> None:
        """Check that frames are those that this scene would give. Raises CacheError."""
        if manifest.get("scene_hash") != self._hash:
            name = manifest.get("scene_name")
            raise CacheError(f'holds frames of another scene or of other settings ("{name}")', Action.REPLACE, subject=str(self.folder))
        baked_by = manifest.get("versions", {}).get("mpm_addon")
        if baked_by != version():
            raise CacheError(
                f"holds frames of version {baked_by}, this is {version()}, and its frames may differ",
                Action.REPLACE,
                subject=str(self.folder),
            )

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn what the system says about a failed write into one line."""
        try:
            yield
        except OSError as error:
            free = f", {shutil.disk_usage(self.folder).free / 1e9:.1f} GB free" if self.folder.is_dir() else ""
            raise CacheError(
                f"cannot be written ({error.strerror or error}{free})", "make room or give another cache folder", subject=str(self.folder)
            ) from error


def remove_cache(folder: Path) -> None:
    """Remove what bakes write into a cache, and nothing else.

    The manifest goes last, so that a removal which is interrupted can be repeated.

    Raises:
        CacheError: a bake writes into it, or a part of it is a symbolic link.
        OSError: a file cannot be removed.
    """
    refuse_links(folder)
    with WriterLock(folder):
        for number in take_numbers(folder):
            remove_take(take_folder(folder, number))
        for name in (STATUS, FAILURE, CANCEL, PAUSE, CACHE_FILE):
            (folder / name).unlink(missing_ok=True)
    for path in (folder / TAKES, folder):
        _remove_if_empty(path)


def refuse_links(folder: Path) -> None:
    """Check that what a bake writes into a cache, and removes from it, stays there. Raises CacheError for a symbolic link."""
    places = [folder / name for name in (CACHE_FILE, STATUS, FAILURE, CANCEL, PAUSE, TAKES)]
    for take in sorted((folder / TAKES).iterdir()) if (folder / TAKES).is_dir() else ():
        places += [take, *_folders(take), take / JOURNAL, take / MANIFEST, take / SCENE / SCENE_FILE]
    link = next((place for place in places if place.is_symlink()), None)
    if link is not None:
        raise CacheError(
            "is a symbolic link, and what is written there would go elsewhere", "remove it, or give another cache folder", subject=str(link)
        )


def remove_take(folder: Path) -> None:
    """Remove what bakes write into a take, its manifest last, and nothing else. Raises OSError."""
    births = [folder / BIRTHS / births_name(*ids) for ids in ranges(folder / BIRTHS)]
    states = [checkpoint_path(folder / CHECKPOINTS, frame) for frame in checkpoint_frames(folder / CHECKPOINTS)]
    arrays = [path for path in (folder / SCENE).glob("*.npz") if _ARRAY_FILE.fullmatch(path.name)]
    last = (folder / SCENE / SCENE_FILE, folder / JOURNAL, folder / MANIFEST)
    for path in (*frame_files(folder / FRAMES), *births, *states, *arrays, *last):
        path.unlink(missing_ok=True)
    for path in (*_folders(folder), folder):
        _remove_if_empty(path)


def _noted(frame: Frame) -> dict[str, Any]:
    """What the journal says of a frame."""
    statistics = frame.statistics
    position = frame.position
    return {
        "frame": frame.number,
        "part": frame.part,
        "parts": frame.parts,
        "particles": statistics.particles,
        "substeps": statistics.substeps,
        "step_seconds": statistics.step_seconds,
        "kinetic_energy": statistics.kinetic_energy,
        "momentum": list(statistics.momentum),
        "mass": statistics.mass,
        "deleted": statistics.deleted,
        "bounds": [position.min(axis=0).tolist(), position.max(axis=0).tolist()] if len(position) else None,
        "poses": {name: pose.tolist() for name, pose in frame.poses.items()},
    }


def last_state(take: Take, frame: int) -> tuple[int, dict[str, NDArray[Any]]] | None:
    """The last frame of a take up to `frame` of which the exact state was kept, and that state; None where there is none."""
    folder = take.folder / CHECKPOINTS
    for number in reversed(checkpoint_frames(folder)):
        if number <= frame:
            with contextlib.suppress(OSError, ArrayFileError):
                return number, read_checkpoint(folder, number, take.manifest["scene_hash"])
    return None


def _meaning_of(manifest: Mapping[str, Any]) -> tuple[Any, Any]:
    """The scene and the version that decide what frames come out."""
    return manifest.get("scene_hash"), manifest.get("versions", {}).get("mpm_addon")


def _place_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of other takes."""
    return {key: manifest[key] for key in ("parent", "from_frame", "first_id") if key in manifest}


def _folders(take: Path) -> list[Path]:
    return [take / name for name in (FRAMES, BIRTHS, CHECKPOINTS, SCENE)]


def _remove_temporaries(folder: Path) -> None:
    for path in folder.glob(f"*{TEMPORARY_SUFFIX}"):
        if _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
