"""Removing the files that bakes write into a cache, and no others."""

import re
import time
from contextlib import suppress
from pathlib import Path

from ..core.errors import CacheError
from .atomic import TEMPORARY_SUFFIX
from .births import births_name, ranges
from .cache import CACHE_FILE, take_numbers
from .checkpoints import checkpoint_frames, checkpoint_path
from .failure import FAILURE
from .lock import WriterLock
from .scene_file import SCENE_FILE
from .status import CANCEL, PAUSE, STATUS
from .take import BIRTHS, CHECKPOINTS, DERIVED, FRAMES, JOURNAL, KINDS, MANIFEST, SCENE, SUFFIXES, TAKES, frame_files, take_folder

# Names that `write_scene` gives to the arrays of a package.
_ARRAY_FILE = re.compile(r"[a-z0-9_]+_[0-9a-f]{12}\.npz")

# No process takes so long to write one file.
_ABANDONED_SECONDS = 600.0
# Temporary files of bakes; other files with this suffix belong to the user.
_TEMPORARY = re.compile(r".+\.(mpm|vdb|json|npz|toml)\.\d+" + re.escape(TEMPORARY_SUFFIX))


def remove_cache(folder: Path) -> None:
    """Remove the files that bakes write into a cache, and no others.

    The manifest is removed last, so that an interrupted removal can be repeated.

    Raises:
        CacheError: a bake is writing into it, or a part of it is a symbolic link.
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
    """Check that baking and removing only affect files inside the cache. Raises CacheError for a symbolic link."""
    places = [folder / name for name in (CACHE_FILE, STATUS, FAILURE, CANCEL, PAUSE, TAKES)]
    for take in sorted((folder / TAKES).iterdir()) if (folder / TAKES).is_dir() else ():
        places += [take, *folders_of(take), *_derived_folders(take), take / JOURNAL, take / MANIFEST, take / SCENE / SCENE_FILE]
    link = next((place for place in places if place.is_symlink()), None)
    if link is not None:
        raise CacheError(
            "it is a symbolic link, which may lead outside the cache", "remove it or choose another cache folder", subject=str(link)
        )


def remove_take(folder: Path) -> None:
    """Remove the files that bakes write into a take and its derived data, the manifest last, and no others. Raises OSError."""
    births = [folder / BIRTHS / births_name(*ids) for ids in ranges(folder / BIRTHS)]
    states = [checkpoint_path(folder / CHECKPOINTS, frame) for frame in checkpoint_frames(folder / CHECKPOINTS)]
    arrays = [path for path in (folder / SCENE).glob("*.npz") if _ARRAY_FILE.fullmatch(path.name)]
    last = (folder / SCENE / SCENE_FILE, folder / JOURNAL, folder / MANIFEST)
    for kind in KINDS:
        derived = folder / DERIVED / kind
        # temporary files of killed processes that were making it
        remove_temporaries(derived)
        for path in (*frame_files(derived, SUFFIXES[kind]), derived / CANCEL):
            path.unlink(missing_ok=True)
    for path in (*frame_files(folder / FRAMES), *births, *states, *arrays, *last):
        path.unlink(missing_ok=True)
    for path in (*folders_of(folder), *_derived_folders(folder), folder):
        _remove_if_empty(path)


def folders_of(take: Path) -> list[Path]:
    """The folders that a bake fills in a take."""
    return [take / name for name in (FRAMES, BIRTHS, CHECKPOINTS, SCENE)]


def _derived_folders(take: Path) -> list[Path]:
    return [*(take / DERIVED / kind for kind in KINDS), take / DERIVED]


def remove_temporaries(folder: Path) -> None:
    """Remove the files that killed processes were writing into a folder. Raises OSError."""
    for path in folder.glob(f"*{TEMPORARY_SUFFIX}"):
        if _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)


def remove_abandoned(target: Path) -> None:
    """Remove what killed processes were writing to a path, where others may be writing to it too: what has not grown for long."""
    for path in target.parent.glob(f"{target.name}.*{TEMPORARY_SUFFIX}"):
        # another process may remove it first, or still hold it open
        with suppress(FileNotFoundError, PermissionError):
            if _TEMPORARY.fullmatch(path.name) and time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                path.unlink()


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
