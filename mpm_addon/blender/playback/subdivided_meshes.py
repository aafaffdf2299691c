"""Gives the mesh of a skin the vertices between those of the emitter's mesh that let it bend, without a change of how it looks at rest.

Edges and faces are split in bmesh, so that UVs, vertex groups, colors and all other attributes are interpolated along them. The parts of a
flat face are smooth with sharp edges around them, and the normals are those that the face had at rest and follow it (`skin_normals.py`).
The plain mesh is kept beside it, at rest, because another bake may need other vertices.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.geometry.subdivision import Subdivided, Subdivision
from ..host.blender_types import BlenderMesh, BlenderObject
from . import skin_normals

# Corners' normals while faces are split.
_NORMAL = "mpm_normal"
# Normals that differ less are those that Blender computes itself.
_SAME_NORMAL = 2e-3


def key_of(subdivision: Subdivision | None) -> str:
    """Differs between subdivisions; empty for none."""
    return "" if subdivision is None else subdivision.key


def subdivide(skin: BlenderObject, subdivision: Subdivision | None) -> bool:
    """Give the mesh of a skin, and the whole one that is kept for where it tears, the vertices of a subdivision; None: its own only.

    Returns:
        Whether it has them now; False if it is being edited, no plain mesh was kept, or the subdivision is that of another mesh.
    """
    kept = skin.mpm.subdivided
    key = key_of(subdivision)
    if kept.key == key:
        return True
    if kept.plain is None or skin.data.is_editmode:
        return False
    targets = [mesh for mesh in (skin.data, skin.mpm.torn.whole) if mesh is not None]
    if not _rebuild(kept.plain, np.array(kept.matrix).reshape(3, 3), subdivision, targets):
        return False
    kept.key, kept.added = key, 0 if subdivision is None else len(subdivision.ends)
    return True


def _rebuild(plain: BlenderMesh, matrix: NDArray[np.float64], subdivision: Subdivision | None, targets: Sequence[BlenderMesh]) -> bool:
    """Copy everything but materials from a mesh to others, subdivided.

    Args:
        plain: the mesh.
        matrix: the rotation and scale that its vertices have been moved by where it is shown, (3, 3).
        subdivision: the edges to bisect.
        targets: the meshes to change.

    Returns:
        Whether the subdivision is one of this mesh.
    """
    import bmesh  # playback needs it nowhere else

    had_normals = plain.has_custom_normals
    corners, polygon = _triangles_of(plain)
    plain.attributes.new(_NORMAL, "FLOAT_VECTOR", "CORNER").data.foreach_set("vector", _normals(plain).ravel())
    built = bmesh.new()
    try:
        built.from_mesh(plain)
        if subdivision is not None:
            try:
                subdivided = subdivision.applied(corners, len(plain.vertices))
                _Splitter(built, corners, polygon, subdivided).run(subdivision)
            except ValueError:
                return False
        for target in targets:
            built.to_mesh(target)
            _move(target, matrix)
            _set_normals(target, matrix, always=had_normals)
    finally:
        built.free()
        plain.attributes.remove(plain.attributes[_NORMAL])
    return True


def _move(mesh: BlenderMesh, matrix: NDArray[np.float64]) -> None:
    """Rotate and scale a mesh, whose faces still face outward afterward."""
    place = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", place)
    mesh.attributes["position"].data.foreach_set("vector", (place.reshape(-1, 3) @ matrix.T).astype(np.float32).ravel())
    if np.linalg.det(matrix) < 0.0:
        mesh.flip_normals()
    mesh.update()


def _triangles_of(mesh: BlenderMesh) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The triangles of a mesh (m, 3), and the face that each is a part of (m,)."""
    mesh.calc_loop_triangles()
    corners, polygon = np.empty(3 * len(mesh.loop_triangles), np.int32), np.empty(len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    mesh.loop_triangles.foreach_get("polygon_index", polygon)
    return corners.reshape(-1, 3).astype(np.int64), polygon.astype(np.int64)


def _normals(mesh: BlenderMesh) -> NDArray[np.float32]:
    """The normals of the corners of faces, (n, 3)."""
    found = np.empty(3 * len(mesh.loops), np.float32)
    mesh.corner_normals.foreach_get("vector", found)
    return found.reshape(-1, 3)


def _set_normals(mesh: BlenderMesh, matrix: NDArray[np.float64], *, always: bool) -> None:
    """Give corners the normals that they had in an attribute before they were moved, if Blender does not compute them, and remove it."""
    wanted = np.empty(3 * len(mesh.loops), np.float32)
    mesh.attributes[_NORMAL].data.foreach_get("vector", wanted)
    mesh.attributes.remove(mesh.attributes[_NORMAL])
    wanted = (wanted.reshape(-1, 3) @ np.linalg.inv(matrix)).astype(np.float32)
    wanted /= np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1e-30)
    if always or np.abs(wanted - _normals(mesh)).max(initial=0.0) > _SAME_NORMAL:
        skin_normals.keep(mesh, wanted)


class _Splitter:
    """Splits the faces of a mesh in bmesh."""

    def __init__(self, built: Any, corners: NDArray[np.int64], polygon: NDArray[np.int64], wanted: Subdivided) -> None:
        """
        Args:
            built: the mesh in bmesh.
            corners: its triangles (m, 3), those of a face one after another.
            polygon: the face of each (m,).
            wanted: the triangles that it is to have.
        """
        import bmesh

        self._tools = bmesh.utils
        self._built, self._corners, self._polygon, self._wanted = built, corners.tolist(), polygon, wanted
        built.verts.ensure_lookup_table()
        built.verts.index_update()
        self._vertices = list(built.verts)
        # the triangle that each face is a part of, or the first one of a face with more corners
        self._source: dict[Any, int] = {}

    def run(self, subdivision: Subdivision) -> None:
        """Bisect edges. Raises ValueError if they are not those of this mesh."""
        faces = list(self._built.faces)
        first = np.searchsorted(self._polygon, np.arange(len(faces))).tolist()
        self._source = dict(zip(faces, first, strict=True))
        is_split = np.bincount(self._wanted.source, minlength=len(self._corners)) > 1
        split = np.unique(self._polygon[is_split]).tolist()
        for number in split:
            self._soften(faces[number])
        for number in split:
            if len(faces[number].loops) > 3:
                self._triangulate(faces[number])
        for first_end, last_end in subdivision.ends.tolist():
            self._bisect(self._vertices[first_end], self._vertices[last_end])
        self._sort()
        self._built.normal_update()

    def _soften(self, face: Any) -> None:
        """Let the parts of a flat face share their normals, but not with other faces."""
        if not face.smooth:
            face.smooth = True
            for edge in face.edges:
                edge.smooth = False

    def _triangulate(self, face: Any) -> None:
        """Split a face into the triangles that the bake used."""
        first = self._source[face]
        triangles = self._corners[first : first + len(face.loops) - 2]
        rim = {frozenset(vertex.index for vertex in edge.verts) for edge in face.edges}
        inner = {frozenset(pair) for a, b, c in triangles for pair in ((a, b), (b, c), (c, a))} - rim
        parts = [face]
        for start, end in sorted(map(sorted, inner)):
            ends = self._vertices[start], self._vertices[end]
            part = next((each for each in parts if all(end in each.verts for end in ends)), None)
            if part is None:
                raise ValueError("no face between two vertices")
            parts.append(self._split(part, *ends))
        number = {frozenset(triangle): first + place for place, triangle in enumerate(triangles)}
        for part in parts:
            triangle = number.get(frozenset(vertex.index for vertex in part.verts))
            if triangle is None:
                raise ValueError("another triangle")
            self._source[part] = triangle

    def _bisect(self, start: Any, end: Any) -> None:
        edge = self._built.edges.get((start, end))
        if edge is None:
            raise ValueError("no edge between two vertices")
        faces = list(edge.link_faces)
        opposite = [[vertex for vertex in face.verts if vertex not in (start, end)] for face in faces]
        _edge, middle = self._tools.edge_split(edge, start, 0.5)
        middle.index = len(self._vertices)
        self._vertices.append(middle)
        for face, apex in zip(faces, opposite, strict=True):
            if len(apex) != 1:
                raise ValueError("a face that is no triangle")
            self._split(face, middle, apex[0])

    def _split(self, face: Any, start: Any, end: Any) -> Any:
        """Split a face, and return the other part."""
        is_new = self._built.edges.get((start, end)) is None
        part, loop = self._tools.face_split(face, start, end)
        if is_new:
            loop.edge.smooth, loop.edge.seam = True, False
        self._source[part] = self._source[face]
        return part

    def _sort(self) -> None:
        """Order faces like the triangles that they are."""
        places: dict[tuple[int, frozenset[int]], list[int]] = defaultdict(list)
        for place, (source, triangle) in enumerate(zip(self._wanted.source.tolist(), self._wanted.triangles.tolist(), strict=True)):
            places[source, frozenset(triangle)].append(place)
        begin = np.searchsorted(self._wanted.source, np.arange(len(self._corners))).tolist()
        order = {}
        for face, source in self._source.items():
            own = places.get((source, frozenset(vertex.index for vertex in face.verts)))
            if own is None and len(face.loops) == 3:
                raise ValueError("another triangle")
            order[face] = own[0] if own is not None else begin[source]
        self._built.faces.sort(key=order.__getitem__)
