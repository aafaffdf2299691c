"""Shows foam and dust as volumes: a volume object beside each particle object, whose file is made from the particles of the frame.

The files lie in Blender's temporary folder. Between two frames, the volume is that of the nearest frame; renderers blur it with its
velocity.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import CacheError
from ...derived.fog import FOGGY, Fog, fog_of
from ...storage.cache import Cache
from ...storage.swarm_file import StoredSwarm
from ...storage.take import DEBRIS, FOAM, VOLUME
from ...storage.vdb import SUFFIX, write_vdb
from ..host.blender_types import BlenderObject
from . import derived_objects
from .volume_objects import empty

NAMES = {FOAM: "MPM Foam Volume", DEBRIS: "MPM Dust"}
_FOLDER = "mpm_fog"
# Files that are kept for frames that are shown again soon.
KEPT = 8


def mark(kind: str) -> str:
    """How an object that shows a kind as a volume is marked."""
    return f"{kind} {VOLUME}"


def _place(kind: str) -> derived_objects.Place:
    return derived_objects.Place(mark(kind), kind, "fog", NAMES[kind], is_volume=True)


def fog_object_of(item: BlenderObject, kind: str) -> BlenderObject | None:
    """The volume object of a particle object; None if there is none, or only that of the one it was copied from."""
    return _place(kind).of(item)


def add(item: BlenderObject, kind: str) -> BlenderObject:
    """The volume object of a particle object; if there is none, an orphan or a new one becomes its child."""
    return _place(kind).add(item)


def remove(item: BlenderObject, kind: str) -> None:
    """Remove the volume object of a particle object, if any."""
    _place(kind).remove(item)


def show(item: BlenderObject, kind: str, swarm: StoredSwarm, cache: Cache, wanted: derived_objects.Moved) -> None:
    """Show the particles of a frame in the volume object of a particle object, if it has one. Raises MpmError."""
    shown = fog_object_of(item, kind)
    if shown is None:
        return
    voxel = float(cache.manifest["grid_spacing"]) / getattr(item.mpm, kind).fog_detail
    path = _written(swarm, Fog(FOGGY[kind], voxel))
    if shown.data.filepath != path:
        shown.data.filepath = path
    derived_objects.size_as(shown, wanted)


def clear(item: BlenderObject, kind: str) -> None:
    """Show nothing."""
    shown = fog_object_of(item, kind)
    if shown is not None:
        empty(shown.data)


def _written(swarm: StoredSwarm, fog: Fog) -> str:
    """The path of a file with the fog of a swarm, named by what it holds: Blender reads each path only once. Raises MpmError."""
    origin: Any = swarm.origin
    name = hashlib.sha256(repr((origin, tuple(fog.kinds), fog.voxel, fog.scale)).encode()).hexdigest()[:16]
    folder = Path(bpy.app.tempdir) / _FOLDER
    path = folder / f"{name}{SUFFIX}"
    if not path.exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_vdb(path, fog_of(swarm.arrays, fog), fog.voxel)
            _remove_oldest(folder)
        except OSError as error:
            problem = f"the volume cannot be written ({error.strerror})"
            raise CacheError(problem, "free disk space or check its permissions", subject=str(folder)) from error
    return str(path)


def _remove_oldest(folder: Path) -> None:
    files = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime_ns)
    for path in files[: max(0, len(files) - KEPT)]:
        os.unlink(path)
