"""Where a bake's files are, whatever file they are seen from.

A .blend that was never saved has no folder of its own: a named temporary one serves, and its frames move along when the file is
saved (`relocation`). An object also knows where its frames were when its file was last saved; that place serves where none are
beside the file: a copy, a recovered file, another file that it was appended to.
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
    """How many files without a name this Blender has baked; each has a folder of its own."""

    count: int = 0


@dataclass
class Places(OfFile):
    """Where the things of the file are.

    Attributes:
        known: objects whose paths are relative to this file: those that were in it, and those that were looked at since.
        moved: where a folder went while the file was open. An undo brings old names back.
    """

    known: set[int] = field(default_factory=set)
    moved: dict[Path, Path] = field(default_factory=dict)


def cache_path(scene: BlenderScene, *, object_name: str = "", cache: str = "") -> str:
    """The cache folder as Blender writes it, relative to the .blend file where it begins with //.

    Args:
        object_name: the one emitter that is baked; its cache is apart from that of the whole scene.
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
    """A cache folder as Blender writes it; in the temporary folder where it is relative to a file that is not there."""
    return str(unsaved_folder() / temporary_name(path)) if is_temporary(path) else path


def absolute(path: str, *, library: Any = None) -> Path:
    """The folder that a path of Blender's means, in this file or in a library."""
    return Path(bpy.path.abspath(path, library=library)).absolute()


def own_folder(item: BlenderObject) -> Path:
    """The folder that an object names. What is linked names it from its own file."""
    folder = absolute(item.mpm.cache, library=library_of(item))
    return runtime.of(Places).moved.get(folder, folder)


def shown_folder(item: BlenderObject) -> Path:
    """The folder whose frames an object shows: the one that it names, else the one where they were when its file was saved."""
    folder = own_folder(item)
    kept = item.mpm.folder
    return folder if not kept or holds_cache(folder) or not holds_cache(Path(kept)) else Path(kept)


def library_of(item: BlenderObject) -> Any:
    """The library from which an object has its cache; None where that is its own."""
    if item.library is not None:
        return item.library
    override = item.override_library
    if override is None or override.reference is None or override.reference.mpm.cache != item.mpm.cache:
        return None
    return override.reference.library


def holds_cache(folder: Path) -> bool:
    """Whether there is a cache in a folder. One look at the disk."""
    try:
        return (folder / CACHE_FILE).is_file()
    except (OSError, ValueError):
        return False


def temporary_name(path: str) -> str:
    """What a cache relative to the .blend file is called while there is no such file."""
    return bpy.path.clean_name(path[2:].strip("/\\") or "cache_mpm")


def is_temporary(path: str) -> bool:
    """Whether a path is relative to a .blend file that is not there."""
    return path.startswith("//") and not bpy.data.filepath


def unsaved_folder() -> Path:
    """The folder for the caches of the file that was never saved: one for each Blender that runs and each new file in it."""
    count = runtime.of(UnsavedFiles).count
    number = f"_{count}" if count else ""
    return temporary_root() / f"{_UNSAVED}{os.getpid()}{number}"


def is_unsaved(folder: Path) -> bool:
    """Whether a cache folder is one of a file that was never saved, in this Blender or in one that has ended."""
    return folder.parent.name.startswith(_UNSAVED) and folder.parent.parent == temporary_root()


def begin_file(items: Iterable[BlenderObject]) -> None:
    """Another file is open, with objects that show caches: what it bakes before it has a name is apart from what was baked before."""
    runtime.of(Places).known.update(item.session_uid for item in items)
    if unsaved_folder().exists():
        runtime.of(UnsavedFiles).count += 1


def adopt(item: BlenderObject) -> None:
    """Let an object that came from another file name the folder that it showed there."""
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
    """A folder as Blender writes it: relative to that of a .blend file, where there is one on the same drive."""
    if start is None or folder.drive != start.drive:
        return str(folder)
    return "//" + Path(os.path.relpath(folder, start)).as_posix()


def file_folder() -> Path | None:
    """The folder of the .blend file; None where it was never saved."""
    return Path(bpy.data.filepath).parent if bpy.data.filepath else None


def temporary_root() -> Path:
    """The system's temporary folder, else Blender's own."""
    try:
        return Path(tempfile.gettempdir())
    except OSError:  # none can be written
        return Path(bpy.app.tempdir)
