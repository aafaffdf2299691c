"""Shows the foam of a cache: a mesh object beside each particle object, whose vertices are its particles. Reads only cache files.

Between two frames, and during a shutter, the particles of the nearest frame move with their velocity.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np

from ...core.errors import CacheError
from ...core.messages import NOTHING, Message
from ...core.particles import Moment
from ...storage.cache import Cache
from ...storage.derived import derived_path
from ...storage.foam_file import POSITION, SIZE, VELOCITY, Foam, foam_at
from ...storage.take import FOAM
from ..host.blender_types import BlenderMesh, BlenderObject
from ..host.runtime import OfFile, runtime
from . import attributes, derived_objects

OBJECT_NAME = "MPM Foam"


class _Read(NamedTuple):
    """Foam that was read, with its file's path and stamp."""

    path: Path
    stamp: tuple[int, int]
    foam: Foam


@dataclass
class ShownFoam(OfFile):
    """What was read for each mesh, by its session UID; and messages, by those of the particle objects."""

    read: dict[int, _Read] = field(default_factory=dict)
    status: dict[int, Message] = field(default_factory=dict)


def status(item: BlenderObject) -> Message:
    """The panel's message about the foam of a particle object at the current frame; `NOTHING` if there is none."""
    return runtime.of(ShownFoam).status.get(item.session_uid, NOTHING)


def foam_of(item: BlenderObject) -> BlenderObject | None:
    """The object that shows the foam of a particle object; None if there is none, or only that of the object it was copied from."""
    shown = _known(item)
    return shown if shown is not None and shown.users_collection else None


def _known(item: BlenderObject) -> BlenderObject | None:
    """The same object, also if it was deleted: the particle object keeps it."""
    shown = item.mpm.foam.object
    return shown if shown is not None and isinstance(shown.data, bpy.types.Mesh) and shown.parent in (None, item) else None


def add(item: BlenderObject) -> BlenderObject:
    """The object that shows the foam of a particle object; if there is none, an orphan or a new one becomes its child."""
    shown = _known(item)
    if shown is None:
        shown = item.mpm.foam.object = derived_objects.adopt(item, FOAM)
    if shown is None:
        shown = bpy.data.objects.new(OBJECT_NAME, bpy.data.meshes.new(OBJECT_NAME))
        shown.parent = item
        item.mpm.foam.object = shown
    derived_objects.link_beside(shown, item)
    derived_objects.keep(item)
    return shown


def remove(item: BlenderObject) -> None:
    """Remove the object that shows the foam of a particle object, if any."""
    shown = foam_of(item)
    item.mpm.foam.object = None
    runtime.of(ShownFoam).status.pop(item.session_uid, None)
    if shown is not None:
        mesh = shown.data
        runtime.of(ShownFoam).read.pop(mesh.session_uid, None)
        bpy.data.objects.remove(shown)
        if not mesh.users:
            bpy.data.meshes.remove(mesh)


def show(item: BlenderObject, cache: Cache, wanted: derived_objects.Moved) -> None:
    """Fill the foam object of a particle object, if it has one."""
    shown, told = foam_of(item), runtime.of(ShownFoam).status
    told.pop(item.session_uid, None)
    if shown is None:
        return
    try:
        found = _read(shown.data, cache, Moment(wanted.frame)) if item.mpm.foam.is_shown else None
    except CacheError as error:
        told[item.session_uid] = error.message
        found = None
    if found is None or not len(found.arrays[POSITION]):
        empty(shown.data)
    else:
        _fill(shown.data, found, wanted)


def clear(item: BlenderObject) -> None:
    """Show no foam."""
    shown = foam_of(item)
    if shown is not None:
        empty(shown.data)


def empty(mesh: BlenderMesh) -> None:
    """Remove all particles from a mesh."""
    if len(mesh.vertices):
        mesh.clear_geometry()
        mesh.update_tag()


def _read(mesh: BlenderMesh, cache: Cache, moment: Moment) -> Foam | None:
    """The foam of a frame, if it was made; the last one is cached, because a shutter needs it many times. Raises CacheError."""
    path, kept = derived_path(cache, moment, FOAM), runtime.of(ShownFoam).read
    try:
        stat = path.stat()
        stamp, last = (stat.st_mtime_ns, stat.st_size), kept.get(mesh.session_uid)
        if last is None or (last.path, last.stamp) != (path, stamp):
            last = kept[mesh.session_uid] = _Read(path, stamp, foam_at(cache, moment))
    except OSError:
        return None
    return last.foam


def _fill(mesh: BlenderMesh, foam: Foam, wanted: derived_objects.Moved) -> None:
    count = len(foam.arrays[POSITION])
    if len(mesh.vertices) != count:
        mesh.clear_geometry()
        mesh.vertices.add(count)
    for name, values in foam.arrays.items():
        if name == POSITION and wanted.seconds:
            values = values + np.float32(wanted.seconds) * foam.arrays[VELOCITY]
        if name == VELOCITY and wanted.factor != 1.0:
            values = values * wanted.factor
        if name == SIZE and wanted.scale_length != 1.0:
            values = values / np.float32(wanted.scale_length)
        attributes.store(mesh, name, values, attributes.in_blender_units(name, values, wanted.scale_length))
    # the bounding box is cached, and invalidated only when a vertex is moved through the API
    mesh.vertices[0].co = mesh.vertices[0].co
    mesh.update_tag()
