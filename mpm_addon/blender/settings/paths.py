"""Locations of a bake's files, for any file from which they are used.

A .blend file that was never saved has no folder: a named temporary folder is used, and its frames move when the file is saved
(`relocation`). An object also stores where its frames were when its file was last saved; that folder is used if there are none beside
the file, as in a copy, a recovered file, or another file to which it was appended.
"""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ...storage.cache import CACHE_FILE
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.runtime import OfFile, OfSession, runtime

DEFAULT_CACHE = "//cache_mpm"

_UNSAVED = "mpm_unsaved_"


@dataclass
class UnsavedFiles(OfSession):
    """How many unsaved files this Blender has baked; each has its own folder."""

    count: int = 0


@dataclass
class Places(OfFile):
    """Locations of the file's data.

    Attributes:
        known: objects whose paths are relative to this file: those that were in it, and those that were checked since.
        moved: new locations of folders that moved while the file was open. Undo restores their old names.
    """

    known: set[int] = field(default_factory=set)
    moved: dict[Path, Path] = field(default_factory=dict)


def cache_path(scene: BlenderScene, *, object_name: str = "", cache: str = "") -> str:
    """The cache folder as Blender stores it; // is the folder of the .blend file.

    Args:
        object_name: the only emitter to bake; its cache is separate from that of the whole scene.
        cache: a folder that overrides the scene's.
    """
    chosen = cache or (f"//cache_{bpy.path.clean_name(object_name)}" if object_name else scene.mpm.cache) or DEFAULT_CACHE
    if not chosen.startswith("//"):
        return chosen
    name = temporary_name(chosen)
    for item in scene.objects:
        if item.mpm.cache and is_unsaved(Path(item.mpm.cache)) and Path(item.mpm.cache).name == name and holds_cache(Path(item.mpm.cache)):
            return item.mpm.cache  # not beside the file yet
    return placed(chosen)


def placed(path: str) -> str:
    """A cache folder as Blender stores it; in the temporary folder if it is relative to an unsaved file."""
    return str(unsaved_folder() / temporary_name(path)) if is_temporary(path) else path


def absolute(path: str, *, library: Any = None) -> Path:
    """The absolute path of a Blender path, in this file or in a library."""
    return Path(bpy.path.abspath(path, library=library)).absolute()


def own_folder(item: BlenderObject) -> Path:
    """The folder that an object names. Paths of linked objects are relative to their own file."""
    folder = absolute(item.mpm.cache, library=library_of(item))
    return runtime.of(Places).moved.get(folder, folder)


def shown_folder(item: BlenderObject) -> Path:
    """The folder whose frames an object shows: the one that it names, else the one stored when its file was last saved."""
    folder = own_folder(item)
    kept = item.mpm.folder
    return folder if not kept or holds_cache(folder) or not holds_cache(Path(kept)) else Path(kept)


def library_of(item: BlenderObject) -> Any:
    """The library that an object's cache path comes from; None if the path is local."""
    if item.library is not None:
        return item.library
    override = item.override_library
    if override is None or override.reference is None or override.reference.mpm.cache != item.mpm.cache:
        return None
    return override.reference.library


def holds_cache(folder: Path) -> bool:
    """Whether a folder contains a cache. Accesses the disk once."""
    try:
        return (folder / CACHE_FILE).is_file()
    except (OSError, ValueError):
        return False


def temporary_name(path: str) -> str:
    """The name of a cache relative to the .blend file, while the file is unsaved."""
    return bpy.path.clean_name(path[2:].strip("/\\") or "cache_mpm")


def is_temporary(path: str) -> bool:
    """Whether a path is relative to an unsaved .blend file."""
    return path.startswith("//") and not bpy.data.filepath


def unsaved_folder() -> Path:
    """The folder for caches of the unsaved file: separate for each running Blender and each new file in it."""
    count = runtime.of(UnsavedFiles).count
    number = f"_{count}" if count else ""
    return temporary_root() / f"{_UNSAVED}{os.getpid()}{number}"


def is_unsaved(folder: Path) -> bool:
    """Whether a cache folder belongs to an unsaved file, of this Blender or of one that has quit."""
    return folder.parent.name.startswith(_UNSAVED) and folder.parent.parent == temporary_root()


def begin_file(items: Iterable[BlenderObject]) -> None:
    """Another file with objects that show caches is open: what it bakes while unsaved is kept separate from earlier bakes."""
    runtime.of(Places).known.update(item.session_uid for item in items)
    if unsaved_folder().exists():
        runtime.of(UnsavedFiles).count += 1


def adopt(item: BlenderObject) -> None:
    """Make an object from another file name the folder that it showed there."""
    known = runtime.of(Places).known
    if item.session_uid in known:
        return
    known.add(item.session_uid)
    if not item.mpm.folder or not item.mpm.cache.startswith("//") or library_of(item) is not None:
        return
    kept = Path(item.mpm.folder)
    if kept != absolute(item.mpm.cache) and holds_cache(kept):
        item.mpm.cache = written(kept, file_folder())


def written(folder: Path, start: Path | None) -> str:
    """A folder as Blender stores it: relative to that of a .blend file, if one exists on the same drive."""
    if start is None or folder.drive.lower() != start.drive.lower():
        return str(folder)
    return "//" + Path(os.path.relpath(folder, start)).as_posix()


def file_folder() -> Path | None:
    """The folder of the .blend file; None if it was never saved."""
    return Path(bpy.data.filepath).parent if bpy.data.filepath else None


def temporary_root() -> Path:
    """The system's temporary folder, else Blender's own."""
    try:
        return Path(tempfile.gettempdir())
    except OSError:  # none is writable
        return Path(bpy.app.tempdir)
