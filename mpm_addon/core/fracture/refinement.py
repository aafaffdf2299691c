"""Each tetrahedron at a crack split into twelve, so that the crack does not follow coarse faces (Chen 2013)."""

import numpy as np

from ..geometry.mesh_topology import Floats, Integers
from .delaunay import FACES
from .tetrahedra import NOTHING, Tetrahedra

# a face belongs to the corner of its tetrahedron whose coordinate exceeds this, else to the middle
_CORNER = 0.5
# the corners of the octahedron that halved edges leave: the edges of a tetrahedron
EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


def refined(whole: Tetrahedra, chosen: Integers) -> Tetrahedra:
    """The tetrahedra with some of them (k,) split into twelve each.

    The middles of the six edges cut four corners of V/8 off an octahedron, and its centroid makes eight tetrahedra of V/16 with its faces.
    New faces are linked: four between corners and octahedron, twelve inside it, and four in place of each face of a whole neighbor.
    """
    split = _Splitting(whole)
    for number in chosen.tolist():
        split.divide(number)
    return split.result()


class _Splitting:
    """Tables that grow while tetrahedra are split."""

    def __init__(self, whole: Tetrahedra) -> None:
        self._whole = whole
        self._vertices: list[Floats] = list(whole.vertices)
        self._corners: list[list[int]] = whole.corners.tolist()
        self._faces: list[list[int]] = whole.faces.tolist()
        self._sides: list[list[int]] = whole.sides.tolist()
        self._is_linked: list[bool] = whole.is_linked.tolist()
        self._is_inside: list[bool] = whole.is_inside.tolist()
        self._middles = {(low, high): middle for low, high, middle in whole.middles.tolist()}
        self._faces_of: dict[int, list[int]] = {}
        for face, sides in enumerate(self._sides):
            for side in sides:
                self._faces_of.setdefault(side, []).append(face)
        # faces replaced by smaller ones, and tetrahedra replaced by their pieces
        self._is_gone: set[int] = set()
        self._is_split: set[int] = set()

    def _middle(self, first: int, second: int) -> int:
        key = (min(first, second), max(first, second))
        if key not in self._middles:
            self._middles[key] = len(self._vertices)
            self._vertices.append(0.5 * (self._vertices[first] + self._vertices[second]))
        return self._middles[key]

    def _add(self, corners: list[int]) -> int:
        self._corners.append(corners)
        return len(self._corners) - 1

    def _add_face(self, face: list[int], sides: list[int], *, is_linked: bool = True, is_inside: bool = False) -> None:
        number = len(self._faces)
        self._faces.append(face)
        self._sides.append(sides)
        self._is_linked.append(is_linked)
        self._is_inside.append(is_inside)
        for side in sides:
            self._faces_of.setdefault(side, []).append(number)

    def divide(self, number: int) -> None:
        """Split one tetrahedron."""
        corners = self._corners[number]
        middle = {(i, j): self._middle(corners[i], corners[j]) for i, j in EDGES.tolist()}
        middle |= {(j, i): vertex for (i, j), vertex in middle.items()}
        center = len(self._vertices)
        self._vertices.append(np.mean([self._vertices[corner] for corner in corners], axis=0))
        self._is_split.add(number)
        # a corner piece keeps its vertex; the others move to the middles of their edges
        ends = [self._add([corners[j] if j == i else middle[i, j] for j in range(4)]) for i in range(4)]
        # two faces of the octahedron for each vertex: toward its corner piece, and in the middle of the opposite face
        inner: dict[frozenset[int], tuple[int, list[int]]] = {}
        cores, caps = [], []
        for i, (a, b, c) in enumerate(FACES.tolist()):
            caps.append(self._add([middle[i, a], middle[i, b], middle[i, c], center]))
            cores.append(self._add([middle[b, c], middle[a, b], middle[c, a], center]))
            # the piece lies in front of the face toward the corner piece, seen from it
            self._corners[caps[i]] = _positive(self._corners[caps[i]], self._vertices)
            self._corners[cores[i]] = _positive(self._corners[cores[i]], self._vertices)
            # counterclockwise seen from the vertex, beyond which the corner piece lies
            toward = _facing([middle[i, a], middle[i, b], middle[i, c]], self._vertices, self._vertices[corners[i]])
            self._add_face(toward, [caps[i], ends[i]])
        for piece in (*caps, *cores):
            for face in _faces_with(self._corners[piece], center):
                key = frozenset(face)
                if key in inner:
                    first, seen = inner.pop(key)
                    self._add_face(seen, [first, piece])
                else:
                    inner[key] = piece, face
        self._share_faces(number, corners, ends, cores)

    def _share_faces(self, number: int, corners: list[int], ends: list[int], cores: list[int]) -> None:
        """Give the faces of a split tetrahedron to its pieces, dividing those that were whole."""
        to_shares = _shares_of(np.array([self._vertices[corner] for corner in corners]))
        for face in self._faces_of[number]:
            if face in self._is_gone:
                continue
            triangle, sides = self._faces[face], self._sides[face]
            if set(triangle) <= set(corners):
                self._is_gone.add(face)
                for small in self._quarters(triangle):
                    self._add_piece(small, sides, number, (to_shares, ends, cores), face)
            else:
                piece = self._piece_at(triangle, to_shares, ends, cores)
                self._sides[face] = [piece if side == number else side for side in sides]
                self._faces_of.setdefault(piece, []).append(face)

    def _add_piece(self, small: list[int], sides: list[int], number: int, pieces: tuple, face: int) -> None:
        piece = self._piece_at(small, *pieces)
        its = [piece if side == number else side for side in sides]
        self._add_face(small, its, is_linked=self._is_linked[face], is_inside=self._is_inside[face])

    def _quarters(self, triangle: list[int]) -> list[list[int]]:
        a, b, c = triangle
        ab, bc, ca = self._middle(a, b), self._middle(b, c), self._middle(c, a)
        return [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]

    def _piece_at(self, triangle: list[int], to_shares: Floats, ends: list[int], cores: list[int]) -> int:
        """The piece of a split tetrahedron that has a triangle of its surface."""
        middle = np.mean([self._vertices[vertex] for vertex in triangle], axis=0)
        shares = to_shares @ np.append(middle, 1.0)
        opposite, largest = int(np.abs(shares).argmin()), int(shares.argmax())
        return ends[largest] if shares[largest] > _CORNER else cores[opposite]

    def result(self) -> Tetrahedra:
        is_kept = np.ones(len(self._corners), np.bool_)
        is_kept[list(self._is_split)] = False
        numbers = np.append(np.cumsum(is_kept) - 1, NOTHING)
        faces = [face for face in range(len(self._faces)) if face not in self._is_gone]
        middles = np.array([(*ends, middle) for ends, middle in self._middles.items()], np.int64).reshape(-1, 3)
        return Tetrahedra(
            np.array(self._vertices),
            np.array(self._corners, np.int64)[is_kept],
            np.array(self._faces, np.int64)[faces],
            numbers[np.array(self._sides, np.int64)[faces]],
            np.array(self._is_linked)[faces],
            np.array(self._is_inside)[faces],
            middles,
        )


def _shares_of(corners: Floats) -> Floats:
    """The matrix (4, 4) that turns a point, with a 1 appended, into its barycentric coordinates in a tetrahedron (4, 3).

    Written out: a library call for each matrix takes longer than all the rest.
    """
    first, edges = corners[0], corners[1:] - corners[0]
    rows = np.stack([_cross(edges[1], edges[2]), _cross(edges[2], edges[0]), _cross(edges[0], edges[1])])
    rows /= rows[0] @ edges[0]
    found = np.empty((4, 4))
    found[1:, :3], found[1:, 3] = rows, -rows @ first
    found[0] = -found[1:].sum(axis=0)
    found[0, 3] += 1.0
    return found


def _cross(a: Floats, b: Floats) -> Floats:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _positive(corners: list[int], vertices: list[Floats]) -> list[int]:
    a, b, c, d = (vertices[corner] for corner in corners)
    return corners if np.dot(b - a, _cross(c - a, d - a)) > 0.0 else [corners[1], corners[0], *corners[2:]]


def _facing(face: list[int], vertices: list[Floats], toward: Floats) -> list[int]:
    """A face, counterclockwise seen from a point."""
    a, b, c = (vertices[corner] for corner in face)
    return face if np.dot(_cross(b - a, c - a), toward - a) > 0.0 else face[::-1]


def _faces_with(corners: list[int], vertex: int) -> list[list[int]]:
    """The faces of a tetrahedron with a vertex, counterclockwise seen from outside."""
    faces = [[corners[i] for i in face] for face in FACES.tolist()]
    return [face for face in faces if vertex in face]
