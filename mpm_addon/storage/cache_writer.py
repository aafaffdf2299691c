"""Writing a cache, so that a bake that is killed at any moment loses no finished frame and, once resumed, gives the same bytes.

For each frame, in this order: the births of its new particles, its file, its line in the journal, and sometimes a
checkpoint. Anything that a crash cuts off is baked again from an earlier checkpoint, with the same result.
"""

import contextlib
import json
import math
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
from .atomic import append_durably, write_atomically
from .births import covered, write_births
from .cache import CACHE_FILE, Cache, chain, current_take, known_takes, manifest_of_cache, open_cache, refuse_foreign, take_numbers
from .checkpoints import Snapshot, checkpoint_frames, checkpoint_path, read_checkpoint, surplus, write_checkpoint
from .failure import FAILURE
from .frame_file import emitted, write_frame
from .installation import version
from .manifest import manifest_of
from .pose_names import with_names
from .removal import folders_of, refuse_links, remove_take, remove_temporaries
from .renames import is_same_but_names, kept_names, names_to_write
from .scene_writer import write_scene
from .sealed import sealed, write_sealed
from .status import CANCEL, STATUS
from .take import (
    BIRTHS,
    CHECKPOINTS,
    FRAMES,
    JOURNAL,
    MANIFEST,
    NAME,
    SCENE,
    TAKES,
    Take,
    frame_name,
    take_folder,
)  # fmt: skip

# Longest time between checkpoints [s], even if few frames were baked.
_LONGEST_INTERVAL = 60.0


class CacheWriter:
    """The writing side of one cache.

    Attributes:
        folder: its folder.
        is_replacing: whether `begin` will remove frames of an earlier bake.
        resumed: the manifest of the existing frames, if this bake resumes after them.
    """

    def __init__(self, folder: Path, scene: Scene) -> None:
        self.folder = folder
        self.is_replacing = False
        self._is_stale = self._is_known = False
        self.resumed: Mapping[str, Any] | None = None
        self._is_shown = True
        self._settings = scene.cache
        self._cell = scene.solver.grid_spacing
        self._first_frame = scene.time.frame_start
        self._manifest = manifest_of(scene)
        self._scene = scene
        self._takes = [Take(folder, 1, self._manifest)]
        self._covered = 0
        self._checkpoint_time = time.monotonic()

    @property
    def cache(self) -> Cache:
        """The reading side of this cache."""
        return Cache(self.folder, self._takes)

    @property
    def take(self) -> int:
        """The number of the take being written."""
        return self._takes[-1].number

    @property
    def scene_hash(self) -> str:
        """The hash of the scene being baked, as it was named when the take began."""
        return self._takes[-1].manifest["scene_hash"]

    @property
    def from_frame(self) -> int | None:
        """The frame of an earlier take from which this one continues, or None."""
        return None if self._takes[-1].parent is None else self._takes[-1].from_frame

    def changed_settings(self) -> list[str]:
        """The cache settings that differ between the existing frames and this bake."""
        before, now = {**self._manifest, **(self.resumed or {})}, self._manifest
        gone = [name for name in now["attributes"] if name not in before["attributes"]]
        more = [name for name in before["attributes"] if name not in now["attributes"]]
        said = [f"precision {before['precision']}"] if before["precision"] != now["precision"] else []
        return said + [f"no {name}" for name in gone] + [f"with {name}" for name in more]

    @property
    def earlier(self) -> list[Take]:
        """The takes from which this one continues, earliest first."""
        return self._takes[:-1]

    def prepare(self, scene: Scene, *, restart: bool, from_frame: int | None = None) -> None:
        """Prepare the folder: check that it is unused or contains this scene's frames, and record the scene.

        Frames that a restart replaces, and their scene, remain until `begin`, so that a bake that fails before its first
        frame does not lose them. A new take that continues from another also waits for `begin`, until its scene is known to fit.

        Args:
            scene: the scene to bake.
            restart: whether to replace the frames of an earlier bake.
            from_frame: continue after this existing frame, whatever its scene; later frames remain in their own take.

        Raises:
            CacheError: the folder is a file, contains another scene or foreign files, lacks the frame, or cannot be written.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise CacheError("it is a file, not a folder", "choose another cache folder or remove the file", subject=str(self.folder))
        with self._writing():
            self.folder.mkdir(parents=True, exist_ok=True)
            refuse_links(self.folder)
            self._takes = self._find(restart=restart) if from_frame is None else self._branch(from_frame)
            take = self._takes[-1].folder
            for path in (self.folder, take, *folders_of(take)):
                remove_temporaries(path)
            (self.folder / CANCEL).unlink(missing_ok=True)
        if not self.is_replacing and (self.from_frame is None or self._is_known):
            self.begin(scene)

    def begin(self, scene: Scene) -> None:
        """Record the scene and remove what it replaces. Raises CacheError."""
        with self._writing():
            take = self._takes[-1]
            if self._is_stale:
                remove_take(take.folder)
            # cache.json is written first, so that a crash leaves a recognizable cache; a later take is shown once its manifest is complete
            if not (self.folder / CACHE_FILE).exists():
                self._show(take)
            for path in folders_of(take.folder):
                path.mkdir(parents=True, exist_ok=True)
            write_scene(scene, take.folder / SCENE)
            write_sealed(take.folder / MANIFEST, take.manifest)
            self._is_shown = take.parent is None or current_take(self.folder) == take.number
            if take.parent is None:
                self._show(take)
            # remove takes that this restart, or one that was killed, replaces; a take goes before the one from which it continues
            for number in reversed(take_numbers(self.folder)):
                if number < self._takes[0].number:
                    remove_take(take_folder(self.folder, number))
            self.is_replacing = self._is_stale = False
            self._covered = covered(take.folder / BIRTHS, take.first_id)

    def show(self) -> None:
        """Make this take the current one, if it has any frames. Raises CacheError."""
        with self._writing():
            take = self._takes[-1]
            if take.moments() and current_take(self.folder) != take.number:
                self._show(take)

    def _show(self, take: Take) -> None:
        write_sealed(self.folder / CACHE_FILE, manifest_of_cache(take.number))

    def write_frame(self, frame: Frame, seconds: float | None = None) -> None:
        """Write a frame or subframe.

        Args:
            frame: the frame.
            seconds: the time that baking it took [s].

        Raises:
            CacheError: it cannot be written.
        """
        folder = self._takes[-1].folder
        frame = with_names(frame, names_to_write(self._takes[-1].manifest))
        with self._writing():
            if emitted(frame) > self._covered:
                write_births(folder / BIRTHS, frame.births, self._covered, None if frame.bonds is None else frame.bonds.pairs)
                self._covered = emitted(frame)
            written = write_frame(folder / FRAMES / frame_name(frame.moment), frame, self._settings, self._cell)
            entry = {**_entry_of(frame), "seconds": seconds, "bytes": written.size, "sha256": written.sha256, "emitted": emitted(frame)}
            append_durably(folder / JOURNAL, sealed(entry).encode() + b"\n")
            if not self._is_shown:
                # a take that continues from another becomes current with its first frame
                self._show(self._takes[-1])
                self._is_shown = True

    def is_checkpoint_due(self, number: int, *, is_last: bool) -> bool:
        """Whether to write a checkpoint after frame `number`; `is_last` if the bake ends with it."""
        is_due = (number - self._first_frame) % self._settings.checkpoint_interval == 0
        is_late = time.monotonic() - self._checkpoint_time > _LONGEST_INTERVAL
        return (is_due or is_late or is_last) and not checkpoint_path(self._takes[-1].folder / CHECKPOINTS, number).exists()

    def write_checkpoint(self, number: int, snapshot: Snapshot) -> None:
        """Write a checkpoint after frame `number`, which empties the snapshot, and remove surplus older ones. Raises CacheError."""
        folder = self._takes[-1].folder / CHECKPOINTS
        with self._writing():
            write_checkpoint(folder, number, self.scene_hash, snapshot)
            for frame in surplus(checkpoint_frames(folder), self._settings.checkpoint_count):
                checkpoint_path(folder, frame).unlink(missing_ok=True)
        self._checkpoint_time = time.monotonic()

    def read_checkpoint(self, moment: Moment) -> tuple[int, dict[str, NDArray[Any]]] | None:
        """The last checkpoint before a moment, with its frame, or None."""
        return last_checkpoint(self._takes[-1], math.ceil(moment.frame) - 1)

    def write_status(self, status: dict[str, Any]) -> None:
        """Publish the bake's progress for other processes. Raises CacheError."""
        with self._writing():
            text = json.dumps(status).encode()
            write_atomically(self.folder / STATUS, lambda file: file.write(text), is_durable=False)

    @property
    def cancel_file(self) -> Path:
        """The file that asks the bake to stop."""
        return self.folder / CANCEL

    def _find(self, *, restart: bool) -> list[Take]:
        """The take to write, preceded by those from which it continues. Raises CacheError if other data would be lost."""
        if not (self.folder / CACHE_FILE).exists():
            foreign = [name for name in (TAKES, STATUS, FAILURE) if (self.folder / name).exists()]
            if foreign:
                known = known_takes(self.folder)
                found = f"takes {known}" if known else f'"{foreign[0]}"'
                remedy = Action.MEND_BY_TAKE if known else "choose another folder"
                raise CacheError(f"it contains {found} but no {CACHE_FILE}, so it is not a cache", remedy, subject=str(self.folder))
            return [Take(self.folder, 1, self._manifest)]
        refuse_foreign(self.folder)
        numbers = take_numbers(self.folder)
        if restart:
            self.is_replacing = any(Take(self.folder, number, {}).moments() for number in numbers)
            self._is_stale = not self.is_replacing
            return [Take(self.folder, max(numbers, default=0) + (self.is_replacing or not numbers), self._manifest)]
        number = current_take(self.folder)
        if number not in numbers:
            # a bake was killed before it recorded its scene; frames without a manifest may belong to any scene
            if Take(self.folder, number, {}).moments():
                chain(self.folder, number)
            return [Take(self.folder, number, self._manifest)]
        *earlier, current = chain(self.folder, number)
        if current.moments():
            self._check(current)
            self.resumed = current.manifest
        # whether there may be births and journal lines of another bake that ended before its first frame
        self._is_stale = not current.moments() and _meaning_of(current.manifest) != _meaning_of(self._manifest)
        # these entries keep describing the existing frames
        stored = {key: self.resumed[key] for key in ("precision", "attributes") if self.resumed and key in self.resumed}
        kept = _kept_of(current.manifest, self._manifest) if self.resumed else _name_of(current.manifest)
        return [*earlier, Take(self.folder, number, {**self._manifest, **stored, **_place_of(current.manifest), **kept})]

    def _branch(self, frame: int) -> list[Take]:
        """A take that continues after an existing frame, preceded by its earlier ones. Raises CacheError if the frame is missing."""
        cache = open_cache(self.folder)
        if Moment(frame) not in cache.whole_moments():
            frames = cache.frames
            known = f"use one from {frames[0]} to {frames[-1]}" if frames else "bake from the start"
            raise CacheError(f"it cannot resume after frame {frame}, which is not cached", known, subject=str(self.folder))
        parent = cache.take_of(Moment(frame))
        first_id = parent.journal()[Moment(frame)]["emitted"]
        place = {"parent": parent.number, "from_frame": frame, "first_id": first_id}
        numbers = take_numbers(self.folder)
        earlier = chain(self.folder, parent.number)
        for number in numbers:
            try:
                known = chain(self.folder, number)[-1]
            except CacheError:
                continue  # a damaged take does not affect others
            self._is_known = _place_of(known.manifest) == place and _version_of(known.manifest) == version() and self._is_of(known)
            if self._is_known:
                return [*earlier, Take(self.folder, number, {**self._manifest, **place, **_kept_of(known.manifest, self._manifest)})]
        return [*earlier, Take(self.folder, numbers[-1] + 1, {**self._manifest, **place})]

    def _is_of(self, take: Take) -> bool:
        """Whether a take was baked from this scene, whatever the names of its things were then."""
        return take.manifest.get("scene_hash") == self._manifest["scene_hash"] or is_same_but_names(take.folder / SCENE, self._scene)

    def _check(self, take: Take) -> None:
        """Check that this version would bake the same frames from this scene. Raises CacheError."""
        if not self._is_of(take):
            name = take.manifest.get("scene_name")
            if name != self._manifest["scene_name"]:
                raise CacheError(f'it contains frames of another scene ("{name}")', Action.REPLACE, subject=str(self.folder))
            raise CacheError("it contains frames that were baked before this scene changed", Action.REPLACE, subject=str(self.folder))
        baked_by = _version_of(take.manifest)
        if baked_by != version():
            raise CacheError(
                f"it contains frames of version {baked_by}, and those of this version ({version()}) may differ",
                Action.REPLACE,
                subject=str(self.folder),
            )

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Convert the system's error for a failed write into a CacheError."""
        try:
            yield
        except OSError as error:
            free = f", {shutil.disk_usage(self.folder).free / 1e9:.1f} GB free" if self.folder.is_dir() else ""
            raise CacheError(
                f"it cannot be written ({error.strerror or error}{free})",
                "free disk space or choose another cache folder",
                subject=str(self.folder),
            ) from error


def _entry_of(frame: Frame) -> dict[str, Any]:
    """A frame's entry in the journal, except for facts about its file."""
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
        "crushed": statistics.crushed,
        "bounds": [position.min(axis=0).tolist(), position.max(axis=0).tolist()] if len(position) else None,
        "poses": {name: pose.tolist() for name, pose in frame.poses.items()},
        **({"pieces": {name: piece.whole for name, piece in frame.pieces.items()}} if frame.pieces else {}),
    }


def last_checkpoint(take: Take, frame: int) -> tuple[int, dict[str, NDArray[Any]]] | None:
    """The last readable checkpoint of a take up to `frame`, with its frame, or None."""
    folder = take.folder / CHECKPOINTS
    for number in reversed(checkpoint_frames(folder)):
        if number <= frame:
            with contextlib.suppress(OSError, ArrayFileError):
                return number, read_checkpoint(folder, number, take.manifest["scene_hash"])
    return None


def _meaning_of(manifest: Mapping[str, Any]) -> tuple[Any, Any]:
    """The scene and version, which determine the frames' contents."""
    return manifest.get("scene_hash"), _version_of(manifest)


def _version_of(manifest: Mapping[str, Any]) -> Any:
    return manifest.get("versions", {}).get("mpm_addon")


def _place_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a manifest that refer to other takes."""
    return {key: manifest[key] for key in ("parent", "from_frame", "first_id") if key in manifest}


def _kept_of(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a take's manifest that remain when the same scene is baked again, perhaps with other names."""
    return {"scene_hash": before["scene_hash"], **_name_of(before), **kept_names(before, now)}


def _name_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of a manifest with the take's name, if it has one."""
    return {NAME: manifest[NAME]} if NAME in manifest else {}
