"""Gives the mesh of a skin the faces of a frame: cut and closed where its material has torn, or whole again.

The whole mesh is kept beside it, with its vertices at rest. Faces that are not cut are those of the whole mesh, so they keep their UVs,
materials and everything painted on them; the parts of others take these from where they were. What an artist paints on the whole mesh is
kept when it is cut next.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.geometry.mesh_topology import first_at_same_place
from ...storage.skin_file import POSITION, Cut
from ..host.blender_types import BlenderMesh, BlenderObject
from ..host.runtime import OfFile, runtime

# Kinds of layers in bmesh: of corners, whose numbers are interpolated, and of edges.
_OF_CORNERS = ("uv", "float_color", "color", "float", "float_vector", "int", "bool", "string")
_OF_EDGES = ("float", "int", "bool")


@dataclass
class CutMeshes(OfFile):
    """The cut that each mesh has, by session UID; None for whole ones. Unknown after undo and for meshes of a file that was opened."""

    known: dict[int, Cut | None] = field(default_factory=dict)


def shape(skin: BlenderObject, cut: Cut | None, count: int) -> bool:
    """Give the mesh of a skin the faces of a cut.

    Args:
        skin: the object that shows it.
        cut: the cut; None for the whole mesh.
        count: the number of vertices of the whole mesh.

    Returns:
        Whether it has them now; False if the mesh has another number of vertices, is being edited, or no whole one was kept.
    """
    mesh, whole = skin.data, skin.mpm.torn.whole
    known, key = runtime.of(CutMeshes).known, skin.data.session_uid
    if cut is None and len(mesh.vertices) == count:
        known[key] = None
        return True
    if whole is None or len(whole.vertices) != count or mesh.is_editmode:
        return False
    if key in known and is_same(known[key], cut) and len(mesh.vertices) == count + (0 if cut is None else len(cut.parents)):
        return True
    if len(mesh.vertices) == count:
        _keep(mesh, whole)
    with _copying(whole, mesh) as built:
        if cut is not None:
            _Cutter(built, whole, cut, skin.mpm.torn.inside).run()
    known[key] = cut
    return True


def cut_at_rest(skin: BlenderObject, cut: Cut | None, count: int) -> BlenderMesh | None:
    """A new mesh that has the faces of a cut, with the vertices at rest; None as `shape` returns False."""
    mesh, whole = skin.data, skin.mpm.torn.whole
    if whole is None or len(whole.vertices) != count or mesh.is_editmode:
        return None
    if len(mesh.vertices) == count:
        _keep(mesh, whole)
    made = bpy.data.meshes.new(mesh.name)
    for slot in skin.material_slots:
        made.materials.append(slot.material)
    with _copying(whole, made) as built:
        if cut is not None:
            _Cutter(built, whole, cut, skin.mpm.torn.inside).run()
    return made


def forget(mesh: BlenderMesh | None = None) -> None:
    """Forget the cut of a mesh that was made anew; None: those of all, because undo has restored earlier meshes."""
    if mesh is None:
        runtime.of(CutMeshes).known.clear()
    else:
        runtime.of(CutMeshes).known.pop(mesh.session_uid, None)


def is_same(first: Cut | None, second: Cut | None) -> bool:
    """Whether two cuts are equal."""
    if first is None or second is None:
        return first is second
    return first is second or all(np.array_equal(*pair) for pair in zip(first, second, strict=True))


@contextmanager
def _copying(source: BlenderMesh, target: BlenderMesh) -> Iterator[Any]:
    """Copy everything but materials from one mesh to another, as the block has changed it."""
    import bmesh  # playback needs it nowhere else

    built = bmesh.new()
    try:
        built.from_mesh(source)
        yield built
        built.to_mesh(target)
    finally:
        built.free()


def _keep(mesh: BlenderMesh, whole: BlenderMesh) -> None:
    """Take over what an artist has changed in the whole mesh; its vertices stay at rest."""
    rest = _positions(whole)
    with _copying(mesh, whole):
        pass
    whole.attributes[POSITION].data.foreach_set("vector", rest.ravel())


def _positions(mesh: BlenderMesh) -> NDArray[np.float32]:
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes[POSITION].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)


class _Corner(NamedTuple):
    """What a corner of a part of a face has: corners of the face, and how much of each."""

    loops: list[Any]
    weights: list[float]


def _layers(sequence: Any, kinds: tuple[str, ...]) -> list[Any]:
    # Blender 4.2's bmesh cannot read boolean layers
    return [layer for kind in kinds if hasattr(sequence.layers, kind) for layer in getattr(sequence.layers, kind).values()]


class _Cutter:
    """Cuts a mesh in bmesh."""

    def __init__(self, built: Any, whole: BlenderMesh, cut: Cut, inside: int) -> None:
        self._built, self._whole, self._cut, self._inside = built, whole, cut, inside
        self._vertices = list(built.verts)
        self._count = len(self._vertices)
        self._place = first_at_same_place(_positions(whole).astype(np.float64)).tolist()
        self._layers = _layers(built.loops, _OF_CORNERS)
        self._edge_layers = _layers(built.edges, _OF_EDGES)

    def run(self) -> None:
        """Replace the faces that are cut."""
        parents, weights = self._cut.parents.tolist(), self._cut.weights.tolist()
        vertices = self._vertices + [self._vertex(*each) for each in zip(parents, weights, strict=True)]
        faces = list(self._built.faces)
        replaced = set()
        for triangle, source in self._parts():
            face = faces[source] if source >= 0 else None
            corners = [vertices[number] for number in triangle]
            if self._built.faces.get(corners) is None:
                made = self._built.faces.new(corners, face) if face is not None else self._built.faces.new(corners)
                if face is None:
                    self._close(made)
                else:
                    self._fill(made, face, triangle)
                    replaced.add(face)
        old = [edge for face in replaced for edge in face.edges]
        for face in replaced:
            self._built.faces.remove(face)
        for edge in dict.fromkeys(old):
            if edge.is_valid and not edge.link_faces:
                self._built.edges.remove(edge)
        self._built.normal_update()

    def _parts(self) -> "list[tuple[list[int], int]]":
        """The triangles to add, with the face that each is part of; -1 for inside faces."""
        counts = np.empty(len(self._whole.polygons), np.int32)
        self._whole.polygons.foreach_get("loop_total", counts)
        # a face with n corners has n - 2 triangles, one after another
        face_of = np.repeat(np.arange(len(counts)), counts - 2)
        is_part = self._cut.source >= 0
        source = np.where(is_part, face_of[self._cut.source], -1)
        parts = list(zip(self._cut.triangles.tolist(), source.tolist(), strict=True))
        # faces with more corners may be cut in some of their triangles only
        is_wide = np.zeros(len(counts), np.bool_)
        is_wide[source[is_part]] = counts[source[is_part]] > 3
        if not is_wide.any():
            return parts
        self._whole.calc_loop_triangles()
        corners = np.empty(3 * len(self._whole.loop_triangles), np.int32)
        self._whole.loop_triangles.foreach_get("vertices", corners)
        cut = {frozenset(each) for each in self._corners_of_sources()}
        wide = np.flatnonzero(is_wide[face_of])
        for triangle, face in zip(corners.reshape(-1, 3)[wide].tolist(), face_of[wide].tolist(), strict=True):
            if frozenset(self._place[corner] for corner in triangle) not in cut:
                parts.append((triangle, face))
        return parts

    def _corners_of_sources(self) -> list[set[int]]:
        """The corners of the triangles that were cut: those that their parts have or lie between."""
        found: dict[int, set[int]] = {}
        for triangle, source in zip(self._cut.triangles.tolist(), self._cut.source.tolist(), strict=True):
            if source >= 0:
                corners = found.setdefault(source, set())
                for number in triangle:
                    corners |= self._ends(number)
        return list(found.values())

    def _vertex(self, parents: list[int], weights: list[float]) -> Any:
        first, second = self._vertices[parents[0]], self._vertices[parents[1]]
        vertex = self._built.verts.new(first.co, first)
        if weights[1] > 0.0:
            vertex.copy_from_vert_interp((first, second), weights[1] / (weights[0] + weights[1]))
        return vertex

    def _fill(self, made: Any, face: Any, triangle: list[int]) -> None:
        """Give a part of a face what the face has there."""
        own = {self._place[loop.vert.index]: loop for loop in face.loops}
        for loop, number in zip(made.loops, triangle, strict=True):
            corner = self._corner(own, number)
            if not corner.loops:
                continue
            for layer in self._layers:
                _set(loop, layer, _mixed(corner, layer))
        edges = {frozenset(self._place[end.index] for end in edge.verts): edge for edge in face.edges}
        for edge, first, second in zip(made.edges, triangle, triangle[1:] + triangle[:1], strict=True):
            whole = edges.get(self._ends(first) | self._ends(second))
            if whole is not None and whole is not edge:
                # the parts of a seam or a sharp edge are such edges, too
                edge.smooth, edge.seam = whole.smooth, whole.seam
                for layer in self._edge_layers:
                    edge[layer] = whole[layer]

    def _ends(self, number: int) -> frozenset[int]:
        """The vertices that a vertex is, or lies between."""
        if number < self._count:
            return frozenset([self._place[number]])
        added = number - self._count
        parents = self._cut.parents[added][self._cut.weights[added] > 0.0].tolist()
        return frozenset(self._place[parent] for parent in parents)

    def _corner(self, own: dict[int, Any], number: int) -> _Corner:
        if number < self._count:
            found = [(self._place[number], 1.0)]
        else:
            added = number - self._count
            found = list(zip(self._cut.parents[added].tolist(), self._cut.weights[added].tolist(), strict=True))
        found = [(place, weight) for place, weight in found if weight > 0.0 and place in own]
        return _Corner([own[place] for place, _ in found], [weight for _, weight in found])

    def _close(self, made: Any) -> None:
        """Make an inside face."""
        made.material_index, made.smooth = self._inside, False
        for edge in made.edges:
            edge.smooth = False


def _mixed(corner: _Corner, layer: Any) -> Any:
    """The value of a layer of corners in a part of a face."""
    values = [each[layer] for each in corner.loops]
    nearest = values[int(np.argmax(corner.weights))]
    if isinstance(nearest, (bool, int, bytes)):
        return nearest
    total = sum(corner.weights)
    parts = [np.array(getattr(value, "uv", value)) * (weight / total) for value, weight in zip(values, corner.weights, strict=True)]
    return sum(parts[1:], parts[0])


def _set(loop: Any, layer: Any, value: Any) -> None:
    if hasattr(loop[layer], "uv"):
        loop[layer].uv = value
    else:
        loop[layer] = value
