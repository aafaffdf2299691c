"""Shows the foam and the debris of a cache: a mesh object beside each particle object, whose vertices are its particles.

Reads only cache files. Between two frames, and during a shutter, the particles of the nearest frame move with their velocity. What is to be
shown as a volume is left to `fog_objects`.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...core.errors import CacheError, MpmError
from ...core.messages import NOTHING, Message
from ...core.particles import Moment
from ...derived.fog import FOGGY
from ...storage.cache import Cache
from ...storage.derived import derived_path
from ...storage.swarm_file import KIND, POSITION, SIZE, VELOCITY, StoredSwarm, swarm_at
from ...storage.take import DEBRIS, FOAM
from ..host.blender_types import BlenderMesh, BlenderObject
from ..host.runtime import OfFile, runtime
from . import attributes, derived_objects, fog_objects

# The kinds, and the names of their objects.
NAMES = {FOAM: "MPM Foam", DEBRIS: "MPM Debris"}


class _Read(NamedTuple):
    """A swarm that was read, with its file's path and stamp."""

    path: Path
    stamp: tuple[int, int]
    swarm: StoredSwarm


@dataclass
class ShownSwarms(OfFile):
    """What was read for each mesh, by its session UID; and messages, by kinds and by the session UIDs of the particle objects."""

    read: dict[int, _Read] = field(default_factory=dict)
    status: dict[tuple[str, int], Message] = field(default_factory=dict)


def status(item: BlenderObject, kind: str) -> Message:
    """The panel's message about the foam or debris of a particle object at the current frame; `NOTHING` if there is none."""
    return runtime.of(ShownSwarms).status.get((kind, item.session_uid), NOTHING)


def _place(kind: str) -> derived_objects.Place:
    return derived_objects.Place(kind, kind, "object", NAMES[kind])


def swarm_of(item: BlenderObject, kind: str) -> BlenderObject | None:
    """The object that shows the foam or debris of a particle object; None if there is none, or only that of the one it was copied from."""
    return _place(kind).of(item)


def add(item: BlenderObject, kind: str) -> BlenderObject:
    """The object that shows the foam or debris of a particle object; if there is none, an orphan or a new one becomes its child."""
    return _place(kind).add(item)


def remove(item: BlenderObject, kind: str) -> None:
    """Remove the objects that show the foam or debris of a particle object, if any."""
    fog_objects.remove(item, kind)
    runtime.of(ShownSwarms).status.pop((kind, item.session_uid), None)
    shown = swarm_of(item, kind)
    if shown is not None:
        runtime.of(ShownSwarms).read.pop(shown.data.session_uid, None)
    _place(kind).remove(item)


def show(item: BlenderObject, cache: Cache, wanted: derived_objects.Moved) -> None:
    """Fill the objects with foam and debris of a particle object, if it has any."""
    for kind in NAMES:
        told = runtime.of(ShownSwarms).status
        told.pop((kind, item.session_uid), None)
        shown = swarm_of(item, kind)
        if shown is None:
            continue
        try:
            _show(item, kind, shown.data, cache, wanted)
        except MpmError as error:
            told[kind, item.session_uid] = error.message
            empty(shown.data)
            fog_objects.clear(item, kind)


def _show(item: BlenderObject, kind: str, mesh: BlenderMesh, cache: Cache, wanted: derived_objects.Moved) -> None:
    settings = getattr(item.mpm, kind)
    found = _read(mesh, cache, Moment(wanted.frame), kind) if settings.is_shown else None
    if found is not None and settings.is_fog:
        fog_objects.show(item, kind, found, cache, wanted)
        rest = ~np.isin(found.arrays[KIND], FOGGY[kind])
        found = found._replace(arrays={name: values[rest] for name, values in found.arrays.items()})
    else:
        fog_objects.clear(item, kind)
    if found is None or not len(found.arrays[POSITION]):
        empty(mesh)
    else:
        _fill(mesh, found, wanted)


def clear(item: BlenderObject) -> None:
    """Show no foam and no debris."""
    for kind in NAMES:
        shown = swarm_of(item, kind)
        fog_objects.clear(item, kind)
        if shown is not None:
            empty(shown.data)


def empty(mesh: BlenderMesh) -> None:
    """Remove all particles from a mesh."""
    if len(mesh.vertices):
        mesh.clear_geometry()
        mesh.update_tag()


def _read(mesh: BlenderMesh, cache: Cache, moment: Moment, kind: str) -> StoredSwarm | None:
    """The swarm of a frame, if it was made; the last one is cached, because a shutter needs it many times. Raises CacheError."""
    path, kept = derived_path(cache, moment, kind), runtime.of(ShownSwarms).read
    try:
        stat = path.stat()
        stamp, last = (stat.st_mtime_ns, stat.st_size), kept.get(mesh.session_uid)
        if last is None or (last.path, last.stamp) != (path, stamp):
            last = kept[mesh.session_uid] = _Read(path, stamp, swarm_at(cache, moment, kind))
    except CacheError:
        raise
    except OSError:
        return None
    return last.swarm


def _fill(mesh: BlenderMesh, swarm: StoredSwarm, wanted: derived_objects.Moved) -> None:
    count = len(swarm.arrays[POSITION])
    if len(mesh.vertices) != count:
        mesh.clear_geometry()
        mesh.vertices.add(count)
    for name, values in swarm.arrays.items():
        if name == POSITION and wanted.seconds:
            values = values + np.float32(wanted.seconds) * swarm.arrays[VELOCITY]
        if name == VELOCITY and wanted.factor != 1.0:
            values = values * wanted.factor
        if name == SIZE and wanted.scale_length != 1.0:
            values = values / np.float32(wanted.scale_length)
        attributes.store(mesh, name, values, attributes.in_blender_units(name, values, wanted.scale_length))
    # the bounding box is cached, and invalidated only when a vertex is moved through the API
    mesh.vertices[0].co = mesh.vertices[0].co
    mesh.update_tag()
