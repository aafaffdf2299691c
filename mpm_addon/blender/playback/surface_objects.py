"""Shows the surfaces of a cache: a mesh object beside each particle object, filled at every frame change. Reads only cache files.

Between two frames, and during a shutter, the vertices of the nearest frame move with their velocity, so that the mesh stays the same mesh.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.errors import CacheError
from ...core.messages import NOTHING, Message
from ...core.particles import Moment
from ...storage.cache import Cache
from ...storage.derived import derived_path
from ...storage.mesh_encoding import Edges
from ...storage.surface_file import POSITION, Surface, SurfacePiece, surface_at
from ...storage.take import SURFACE
from ..host.blender_types import BlenderMesh, BlenderObject
from ..host.runtime import OfFile, runtime
from . import attributes, derived_objects

OBJECT_NAME = "MPM Surface"
VELOCITY, EMITTER = "velocity", "emitter_index"
# Blender's names of the vertex and the edge of a corner, of the vertices of an edge, and of the material slot of a face.
_CORNER, _CORNER_EDGE, _EDGE, _SLOT = ".corner_vert", ".corner_edge", ".edge_verts", "material_index"


class _Read(NamedTuple):
    """A surface that was read, with its file's path and stamp."""

    path: Path
    stamp: tuple[int, int]
    surface: Surface


@dataclass
class ShownSurfaces(OfFile):
    """What surface objects show, by the session UIDs of their meshes; and messages, by those of the particle objects.

    Attributes:
        read: the surface in each mesh, in its file's units.
    """

    read: dict[int, _Read] = field(default_factory=dict)
    filled: dict[int, _Read] = field(default_factory=dict)
    status: dict[int, Message] = field(default_factory=dict)


def status(item: BlenderObject) -> Message:
    """The panel's message about the surface of a particle object at the current frame; `NOTHING` if there is none."""
    return runtime.of(ShownSurfaces).status.get(item.session_uid, NOTHING)


def surface_of(item: BlenderObject) -> BlenderObject | None:
    """The object that shows the surface of a particle object; None if there is none, or only that of the object it was copied from."""
    shown = item.mpm.surface.object
    if shown is None or not isinstance(shown.data, bpy.types.Mesh):
        return None
    owner = shown.parent
    is_anothers = owner not in (None, item) and owner.mpm.surface.object == shown and owner.data != item.data
    return None if is_anothers else shown


def add(item: BlenderObject) -> BlenderObject:
    """The object that shows the surface of a particle object; if there is none, an orphan or a new one becomes its child."""
    shown = surface_of(item)
    if shown is None:
        shown = item.mpm.surface.object = derived_objects.adopt(item, SURFACE)
    if shown is None:
        shown = bpy.data.objects.new(OBJECT_NAME, bpy.data.meshes.new(OBJECT_NAME))
        shown.parent = item
        item.mpm.surface.object = shown
    derived_objects.tell_exporters(shown)
    derived_objects.link_beside(shown, item)
    derived_objects.keep(item)
    return shown


def remove(item: BlenderObject) -> None:
    """Remove the object that shows the surface of a particle object, if any."""
    shown = surface_of(item)
    item.mpm.surface.object = None
    runtime.of(ShownSurfaces).status.pop(item.session_uid, None)
    if shown is not None:
        mesh = shown.data
        _forget(mesh)
        bpy.data.objects.remove(shown)
        if not mesh.users:
            bpy.data.meshes.remove(mesh)


def show(item: BlenderObject, cache: Cache, wanted: derived_objects.Moved) -> tuple[int, ...]:
    """Fill the surface object of a particle object.

    Returns:
        The emitters whose particles the surface covers; none if it is not shown.
    """
    shown, told = surface_of(item), runtime.of(ShownSurfaces).status
    told.pop(item.session_uid, None)
    # an object that the user deleted is in no collection, but is kept by what points to it
    if shown is None or not shown.users_collection:
        return ()
    try:
        found = _read(shown.data, cache, Moment(wanted.frame)) if item.mpm.surface.is_shown else None
    except CacheError as error:
        told[item.session_uid] = error.message
        found = None
    if found is None:
        clear(shown.data)
        return ()
    fill(shown.data, found, wanted)
    return found.surface.origin.emitters


def clear(mesh: BlenderMesh) -> None:
    """Remove the surface from a mesh."""
    _forget(mesh)
    if len(mesh.vertices):
        mesh.clear_geometry()
        mesh.update_tag()


def forget_filled() -> None:
    """Forget the contents of all meshes, because undo has restored earlier ones."""
    runtime.of(ShownSurfaces).filled.clear()


def _forget(mesh: BlenderMesh) -> None:
    for known in (runtime.of(ShownSurfaces).read, runtime.of(ShownSurfaces).filled):
        known.pop(mesh.session_uid, None)


def _read(mesh: BlenderMesh, cache: Cache, moment: Moment) -> _Read | None:
    """The surface of a frame, if it was made; the last one is cached, because a shutter needs it many times. Raises CacheError."""
    path, kept = derived_path(cache, moment, SURFACE), runtime.of(ShownSurfaces).read
    try:
        status = path.stat()
    except OSError:
        return None
    stamp, last = (status.st_mtime_ns, status.st_size), kept.get(mesh.session_uid)
    if last is None or (last.path, last.stamp) != (path, stamp):
        try:
            last = kept[mesh.session_uid] = _Read(path, stamp, surface_at(cache, moment))
        except FileNotFoundError:
            return None
    return last


def fill(mesh: BlenderMesh, found: _Read, wanted: derived_objects.Moved) -> None:
    """Fill a mesh with a surface. Each emitter has a material slot of its number."""
    pieces, filled = found.surface.pieces, runtime.of(ShownSurfaces).filled
    is_new = filled.get(mesh.session_uid) is not found
    if is_new:
        _fill_faces(mesh, pieces)
    if pieces:
        _fill_vertices(mesh, pieces, wanted, is_new=is_new)
    if is_new:
        mesh.update(calc_edges=any(piece.edges is None for piece in pieces))
        filled[mesh.session_uid] = found
    elif len(mesh.vertices):
        # the bounding box is cached, and invalidated only when a vertex is moved through the API
        mesh.vertices[0].co = mesh.vertices[0].co
    mesh.update_tag()


def _fill_faces(mesh: BlenderMesh, pieces: Collection[SurfacePiece]) -> None:
    mesh.clear_geometry()
    if not pieces:
        return
    counts = np.cumsum([0, *(len(piece.position) for piece in pieces)])
    corners = np.concatenate([piece.triangles.ravel() + first for piece, first in zip(pieces, counts, strict=False)])
    faces = len(corners) // 3
    mesh.vertices.add(int(counts[-1]))
    mesh.loops.add(len(corners))
    mesh.polygons.add(faces)
    # as attributes, which are copied in one call; setting loops and polygons takes a hundred times as long
    mesh.attributes[_CORNER].data.foreach_set("value", corners.astype(np.int32))
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * faces, 3, dtype=np.int32))
    edges = [piece.edges for piece in pieces if piece.edges is not None]
    if len(edges) == len(pieces):
        _fill_edges(mesh, edges, counts)
    slots = np.concatenate([_slots(piece) for piece in pieces])
    if slots.any():
        mesh.attributes.new(_SLOT, "INT", "FACE").data.foreach_set("value", slots)


def _fill_edges(mesh: BlenderMesh, pieces: Collection[Edges], counts: Any) -> None:
    """Fill in the edges that files have, because Blender takes longer to find them than for all the rest; `counts` of vertices before."""
    firsts = np.cumsum([0, *(len(edges.ends) for edges in pieces)])
    mesh.edges.add(int(firsts[-1]))
    ends = np.concatenate([edges.ends + np.int32(first) for edges, first in zip(pieces, counts, strict=False)])
    mesh.attributes[_EDGE].data.foreach_set("value", ends.ravel())
    numbers = np.concatenate([edges.of_corners.ravel() + np.int32(first) for edges, first in zip(pieces, firsts, strict=False)])
    mesh.attributes[_CORNER_EDGE].data.foreach_set("value", numbers)


def _slots(piece: SurfacePiece) -> Any:
    """The number of each face's emitter."""
    if EMITTER not in piece.arrays:
        return np.zeros(len(piece.triangles), np.int32)
    return np.ascontiguousarray(piece.arrays[EMITTER][piece.triangles[:, 0]], np.int32)


def _fill_vertices(mesh: BlenderMesh, pieces: Collection[SurfacePiece], wanted: derived_objects.Moved, *, is_new: bool) -> None:
    names = [name for name in next(iter(pieces)).arrays if all(name in piece.arrays for piece in pieces)]
    moved = wanted.seconds if VELOCITY in names else 0.0
    for name in names if is_new else (POSITION, VELOCITY):
        if name not in names:
            continue
        values = np.concatenate([piece.arrays[name] for piece in pieces])
        if name == POSITION and moved:
            values = values + np.float32(moved) * np.concatenate([piece.arrays[VELOCITY] for piece in pieces])
        if name == VELOCITY and wanted.factor != 1.0:
            values = values * wanted.factor
        attributes.store(mesh, name, values, attributes.in_blender_units(name, values, wanted.scale_length))
        if name == VELOCITY and wanted.has_speed:
            speed = attributes.with_speed({VELOCITY: values}, wanted.scale_length)[attributes.MESH_SPEED]
            attributes.store(mesh, attributes.MESH_SPEED, speed, speed)
