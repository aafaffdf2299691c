"""Shows the volumes of a cache: a volume object beside each particle object, whose file is that of the frame. Reads only cache files.

Between two frames, the volume is that of the nearest frame; renderers blur it with its velocity.
"""

import hashlib
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import CacheError
from ...core.messages import NOTHING, Message
from ...core.particles import Moment
from ...storage.arrays import ArrayFileError
from ...storage.cache import Cache
from ...storage.derived import derived_path, read_origin
from ...storage.take import VOLUME
from ...storage.vdb import SUFFIX
from ..host.blender_types import BlenderObject
from ..host.runtime import OfFile, OfSession, runtime
from . import derived_objects

OBJECT_NAME = "MPM Volume"

Stamp = tuple[int, int]


@dataclass
class SeenFiles(OfSession):
    """Files as they were when Blender first read them: it keeps what is in a file until it quits, also if the file is replaced."""

    stamps: dict[Path, Stamp] = field(default_factory=dict)


@dataclass
class ShownVolumes(OfFile):
    """Messages, by the session UIDs of the particle objects."""

    status: dict[int, Message] = field(default_factory=dict)


def _place() -> derived_objects.Place:
    return derived_objects.Place(VOLUME, VOLUME, "object", OBJECT_NAME, is_volume=True)


def status(item: BlenderObject) -> Message:
    """The panel's message about the volume of a particle object at the current frame; `NOTHING` if there is none."""
    return runtime.of(ShownVolumes).status.get(item.session_uid, NOTHING)


def volume_of(item: BlenderObject) -> BlenderObject | None:
    """The object that shows the volume of a particle object; None if there is none, or only that of the object it was copied from."""
    return _place().of(item)


def add(item: BlenderObject) -> BlenderObject:
    """The object that shows the volume of a particle object; if there is none, an orphan or a new one becomes its child."""
    return _place().add(item)


def remove(item: BlenderObject) -> None:
    """Remove the object that shows the volume of a particle object, if any."""
    runtime.of(ShownVolumes).status.pop(item.session_uid, None)
    _place().remove(item)


def show(item: BlenderObject, cache: Cache, wanted: derived_objects.Moved) -> None:
    """Show the volume of a frame in the volume object of a particle object, if it has one."""
    shown, told = volume_of(item), runtime.of(ShownVolumes).status
    told.pop(item.session_uid, None)
    if shown is None:
        return
    try:
        path = _readable(derived_path(cache, Moment(wanted.frame), VOLUME)) if item.mpm.volume.is_shown else ""
    except CacheError as error:
        told[item.session_uid] = error.message
        path = ""
    _set_file(shown.data, path)
    derived_objects.size_as(shown, wanted)


def clear(item: BlenderObject) -> None:
    """Show no volume."""
    shown = volume_of(item)
    if shown is not None:
        empty(shown.data)


def empty(volume: Any) -> None:
    """Remove the file from a volume."""
    _set_file(volume, "")


def _set_file(volume: Any, path: str) -> None:
    """Make a volume read a file; the same one is not read again."""
    if volume.filepath != path:
        volume.filepath = path


def _readable(path: Path) -> str:
    """A path at which Blender finds what is in a file now; "" if there is no file. Raises CacheError if it is damaged, or no such path."""
    try:
        status = path.stat()
        read_origin(path, VOLUME)
    except ArrayFileError as error:
        raise error.at(path, "delete this file", "make the volume again") from error
    except OSError:
        return ""
    stamp = (status.st_mtime_ns, status.st_size)
    if runtime.of(SeenFiles).stamps.setdefault(path, stamp) == stamp:
        return str(path)
    name = hashlib.sha256(f"{path} {stamp}".encode()).hexdigest()[:16]
    other = Path(bpy.app.tempdir) / f"mpm_{name}{SUFFIX}"
    if not other.exists():
        _duplicate(path, other)
    return str(other)


def _duplicate(path: Path, other: Path) -> None:
    """Give a file another path, without taking room if the file system can. Raises CacheError."""
    try:
        os.link(path, other)
    except OSError:
        try:
            other.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, other)
        except OSError as error:
            problem = f"it was made again, and cannot be copied to {other.parent} ({error.strerror})"
            raise CacheError(problem, "free disk space, or restart Blender", subject=str(path)) from error
