"""Normals of subdivided skins that Blender would not compute itself: those of the emitter at rest, carried along as the mesh bends.

Blender stores custom normals relative to an edge of each corner. Where faces are sheared, these edges turn in different directions, and
smooth faces get stripes. Since Blender 4.5 a mesh may have normals of any direction instead, which are written at each frame: at a corner,
the normal leans against its face as the gradient of a height over the face does, whose differences along both edges stay in proportion.
"""

import zlib
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...storage.skin_file import POSITION
from ..host.blender_types import BlenderMesh
from ..host.runtime import OfFile, runtime

Floats = NDArray[np.float32]

_CUSTOM, _REST_NORMAL, _REST_POSITION = "custom_normal", "mpm_rest_normal", "mpm_rest_position"
# The first Blender whose normals may have any direction.
_FREE = (4, 5, 0)
# Normals lean against their faces by this slope at most.
_STEEPEST = 5.0


class _Corners(NamedTuple):
    """The corners of a mesh.

    Attributes:
        vertex, after, before: of each corner, and of those next to it in its face, (n,).
        lean: how much higher the vertices after and before are, (n, 2).
        area: of the parallelogram of both edges at rest, (n,).
        fan: a number that corners of a vertex share whose normals are equal at rest, (n,).
    """

    vertex: NDArray[np.int32]
    after: NDArray[np.int32]
    before: NDArray[np.int32]
    lean: Floats
    area: Floats
    fan: NDArray[np.intp]


@dataclass
class NormalsOfSkins(OfFile):
    """What is known of the corners of meshes, by session UID, and a checksum of the vertices that it is for."""

    known: dict[int, tuple[int, _Corners]] = field(default_factory=dict)


def keep(mesh: BlenderMesh, normals: Floats) -> None:
    """Give the corners of a mesh at rest these unit normals (n, 3), and let them follow the mesh from now on."""
    if tuple(bpy.app.version) < _FREE:
        mesh.normals_split_custom_set(normals.tolist())
        return
    _write(mesh, _CUSTOM, "CORNER", normals)
    _write(mesh, _REST_NORMAL, "CORNER", normals)
    _write(mesh, _REST_POSITION, "POINT", _read(mesh, POSITION, len(mesh.vertices)))


def follow(mesh: BlenderMesh) -> None:
    """Turn the normals with the mesh, if it has normals that `keep` has set."""
    if _REST_NORMAL not in mesh.attributes or _REST_POSITION not in mesh.attributes:
        return
    corners, place = _corners_of(mesh), _read(mesh, POSITION, len(mesh.vertices))
    ahead, back = place[corners.after] - place[corners.vertex], place[corners.before] - place[corners.vertex]
    upward, area = _unit(np.cross(ahead, back))
    grown = np.sqrt(area / corners.area)[:, None]
    slope = corners.lean[:, :1] * np.cross(back, upward) + corners.lean[:, 1:] * np.cross(upward, ahead)
    slope *= grown / area[:, None]
    slope /= np.maximum(np.linalg.norm(slope, axis=1, keepdims=True) / _STEEPEST, 1.0)
    normal, _length = _unit(upward + slope)
    total = np.stack([np.bincount(corners.fan, weights=column).astype(np.float32) for column in normal.T], axis=1)
    _write(mesh, _CUSTOM, "CORNER", _unit(total)[0][corners.fan])


def _corners_of(mesh: BlenderMesh) -> _Corners:
    """The corners of a mesh; the last answer is kept."""
    vertex = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", vertex)
    known, mark = runtime.of(NormalsOfSkins).known, zlib.crc32(vertex.tobytes())
    if mesh.session_uid not in known or known[mesh.session_uid][0] != mark:
        known[mesh.session_uid] = mark, _at_rest(mesh, vertex)
    return known[mesh.session_uid][1]


def _at_rest(mesh: BlenderMesh, vertex: NDArray[np.int32]) -> _Corners:
    first, count = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_start", first)
    mesh.polygons.foreach_get("loop_total", count)
    after, before = np.arange(1, len(vertex) + 1), np.arange(-1, len(vertex) - 1)
    after[first + count - 1], before[first] = first, first + count - 1
    place, normal = _read(mesh, _REST_POSITION, len(mesh.vertices)), _read(mesh, _REST_NORMAL, len(vertex))
    ahead, back = place[vertex[after]] - place[vertex], place[vertex[before]] - place[vertex]
    upward, area = _unit(np.cross(ahead, back))
    # inside faces have no normals of their own, and stay flat
    is_own = np.linalg.norm(normal, axis=1) > 0.5
    normal = np.where(is_own[:, None], normal, upward)
    slope = normal / np.maximum((normal * upward).sum(axis=1, keepdims=True), 1.0 / _STEEPEST)
    lean = np.stack([(slope * edge).sum(axis=1) for edge in (ahead, back)], axis=1)
    alike = np.column_stack([vertex, np.rint(normal * 100.0).astype(np.int32), np.where(is_own, -1, np.arange(len(vertex)))])
    fan = np.unique(alike, axis=0, return_inverse=True)[1].reshape(-1)
    return _Corners(vertex, vertex[after], vertex[before], lean, area, fan)


def _unit(vectors: Floats) -> tuple[Floats, Floats]:
    """Vectors (n, 3) of length 1, and how long they were (n,)."""
    length = np.maximum(np.linalg.norm(vectors, axis=1), 1e-20)
    return vectors / length[:, None], length


def _read(mesh: BlenderMesh, name: str, count: int) -> Floats:
    found = np.empty(3 * count, np.float32)
    mesh.attributes[name].data.foreach_get("vector", found)
    return found.reshape(-1, 3)


def _write(mesh: BlenderMesh, name: str, domain: str, values: Floats) -> None:
    attribute = mesh.attributes.get(name)
    if attribute is None or (attribute.data_type, attribute.domain) != ("FLOAT_VECTOR", domain):
        if attribute is not None:
            mesh.attributes.remove(attribute)
        attribute = mesh.attributes.new(name, "FLOAT_VECTOR", domain)
    attribute.data.foreach_set("vector", np.ascontiguousarray(values, np.float32).ravel())
