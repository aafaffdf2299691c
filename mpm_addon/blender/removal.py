"""Frees a bake: deletes the files that bakes write, and nothing else."""

import contextlib
import re
from pathlib import Path

from ..core.errors import CacheError
from ..storage import open_cache
from ..storage.cache_writer import remove_frames
from . import keyframes, paths, playback
from .blender_types import BlenderScene

# How `write_scene` names the arrays of a package.
_ARRAY_FILE = re.compile(r"[a-z0-9_]+_[0-9a-f]{12}\.npz")


def free(scene: BlenderScene, *, object_name: str = "", cache: str = "") -> None:
    """Delete the frames of a cache and the scene package in it; the particles and the keyframes of the bake vanish.

    Raises:
        CacheError: there is no cache in the folder, or a file cannot be deleted.
    """
    folder = paths.absolute(paths.cache_path(scene, object_name=object_name, cache=cache))
    open_cache(folder)  # only what says that it is a cache is touched
    try:
        remove_frames(folder)
        _remove_package(paths.package_folder(folder))
        for place in (folder / "frames", folder):
            _remove_if_empty(place)
    except OSError as error:
        raise CacheError(f"{error.filename}: cannot be deleted ({error.strerror}); check its permissions.") from error
    keyframes.remove_all_keys(scene, folder)
    playback.show(scene)


def _remove_package(folder: Path) -> None:
    arrays = [path for path in folder.glob("*.npz") if _ARRAY_FILE.fullmatch(path.name)]
    for path in (*arrays, folder / "scene.toml"):
        path.unlink(missing_ok=True)
    _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    """A folder with files of somebody else stays."""
    with contextlib.suppress(OSError):
        folder.rmdir()
