"""Inside faces: triangles that close the pieces of a cut mesh.

Each rim of a piece is a closed line. It is filled in the plane in which it encloses most area. Where two pieces share a rim, both get the
same face, facing each other, and its inner points lie between the particles that parted, so that it looks torn and not sawn. Where more
pieces meet, each has a face of its own that swells to where its fragment ends; so does that of a chip that came off a surface.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .neighbors import Floats, Integers, nearest
from .parting import Votes
from .pieces import LONGEST, Pieces
from .polygons import filled
from .swelling import Swelling, means, volume_from

# Passes over inner points, each of which moves them to the mean of those around them.
_SMOOTHING = 10
# Middles of parted bonds that decide on the height of a point, within so many distances between particles.
_DECIDING, _FAR = 6, 3.0
# Open lines that enclose less than this part of the square of their length have no face: a sheet was cut.
_THIN = 1e-3
# Pieces that lack more than this part of their volume are chips.
_CHIP = 0.3


class Inside(NamedTuple):
    """Inside faces.

    Attributes:
        points: their own vertices at rest [m], (k, 3).
        like: for each of these, a vertex of the rim around it, (k,).
        triangles: numbers of vertices of the mesh, then of own ones, (m, 3).
    """

    points: Floats
    like: Integers
    triangles: Integers


class _Rim(NamedTuple):
    """A closed line of points around an inside face.

    Attributes:
        line: the points, in the direction that both sides of a cut share.
        is_reversed: whether the piece has them in the other direction.
        key: names the line, alike on both sides.
    """

    line: Integers
    is_reversed: bool
    key: tuple[int, ...]


class _Patch(NamedTuple):
    """A face, or several of one piece: vertices on rims, own points [m] (k, 3), and triangles that number these after those (m, 3)."""

    line: Integers
    own: Floats
    faces: Integers


def closed(pieces: Pieces, votes: Votes) -> Inside:
    """Close the rims of all pieces.

    Args:
        pieces: the pieces.
        votes: knows where particles parted.
    """
    count, patches = len(pieces.faces.points), _Closing(pieces, votes).patches()
    points, like, triangles = [np.zeros((0, 3))], [np.zeros(0, np.int64)], [np.zeros((0, 3), np.int64)]
    for line, own, faces in patches:
        triangles.append(np.concatenate([line, count + np.arange(len(own))])[faces])
        points.append(own)
        like.append(np.full(len(own), line[0]))
        count += len(own)
    return Inside(np.concatenate(points), np.concatenate(like), np.concatenate(triangles))


class _Closing:
    """The rims of all pieces, and the faces in them."""

    def __init__(self, pieces: Pieces, votes: Votes) -> None:
        self._points, self._votes, self._middle = pieces.faces.points, votes, pieces.faces.points.mean(axis=0)
        self._of_point, self._outside = pieces.fragment, pieces.faces.triangles
        self._whole = volume_from(self._middle, self._points, self._outside)
        lines = [line for line, is_closed in _lines(pieces.rims) if len(line) > 2 and (is_closed or not _is_thin(self._points[line]))]
        self._rims: dict[int, list[_Rim]] = {}
        for line in lines:
            self._rims.setdefault(int(pieces.fragment[line[0]]), []).append(_rim(line, pieces.place))
        self._uses = Counter(rim.key for rims in self._rims.values() for rim in rims)
        # faces, turned like the keys
        self._known = {rim.key: _face(self._points[rim.line], votes) for rims in self._rims.values() for rim in rims}

    def patches(self) -> list[_Patch]:
        """The inside faces of all pieces."""
        for fragment, rims in self._rims.items():
            lack = self._lack(fragment)
            # the cut around a chip is flat, and the chip is not
            if abs(lack) > _CHIP * abs(self._whole) * self._votes.share(fragment) and all(self._uses[rim.key] > 1 for rim in rims):
                for rim in rims:
                    patch = self._swollen([rim], fragment, lack / len(rims))
                    self._known[rim.key] = patch.own, patch.faces[:, ::-1] if rim.is_reversed else patch.faces
        found = []
        for fragment, rims in self._rims.items():
            found += [self._patch(rim) for rim in rims if self._uses[rim.key] > 1]
            # where more than two fragments meet, no two rims are alike
            alone = [rim for rim in rims if self._uses[rim.key] == 1]
            found += [self._swollen(alone, fragment, self._lack(fragment))] if alone else []
        return found

    def _patch(self, rim: _Rim) -> _Patch:
        own, faces = self._known[rim.key]
        return _Patch(rim.line, own, faces[:, ::-1] if rim.is_reversed else faces)

    def _lack(self, fragment: int) -> float:
        """The volume that is missing in a piece [m^3]."""
        outside = self._outside[self._of_point[self._outside[:, 0]] == fragment]
        inside = sum(self._volume(self._patch(rim)) for rim in self._rims[fragment])
        return self._whole * self._votes.share(fragment) - volume_from(self._middle, self._points, outside) - inside

    def _volume(self, patch: _Patch) -> float:
        return volume_from(self._middle, np.concatenate([self._points[patch.line], patch.own]), patch.faces)

    def _swollen(self, rims: Sequence[_Rim], fragment: int, lack: float) -> _Patch:
        """The faces of some rims of a piece, swollen together until they have added what it lacks."""
        patch = _joined([self._patch(rim) for rim in rims])
        swelling = Swelling(self._volume(patch) + lack, fragment, self._middle, self._votes)
        own, faces = swelling.swollen(np.concatenate([self._points[patch.line], patch.own]), patch.faces, len(patch.line))
        return _Patch(patch.line, own, faces)


def _joined(patches: Sequence[_Patch]) -> _Patch:
    """Several faces as one patch."""
    line, own = np.concatenate([patch.line for patch in patches]), np.concatenate([patch.own for patch in patches])
    faces, first, second = [], 0, len(line)
    for patch in patches:
        numbers = np.concatenate([first + np.arange(len(patch.line)), second + np.arange(len(patch.own))])
        faces.append(numbers[patch.faces])
        first, second = first + len(patch.line), second + len(patch.own)
    return _Patch(line, own, np.concatenate(faces))


def _rim(line: Integers, place: Integers) -> _Rim:
    turned = np.roll(line, -int(np.argmin(place[line])))
    is_reversed = bool(place[turned[1]] > place[turned[-1]])
    if is_reversed:
        turned = np.roll(turned[::-1], 1)
    return _Rim(turned, is_reversed, tuple(place[turned].tolist()))


def _lines(rims: Integers) -> list[tuple[Integers, bool]]:
    """The lines of points that directed edges form, and whether they are closed."""
    following: dict[int, list[int]] = {}
    for start, end in rims.tolist():
        following.setdefault(start, []).append(end)
    ends = set(rims[:, 1].tolist())
    lines = []
    # open lines first, which begin where nothing ends
    for start in sorted(following, key=lambda point: (point in ends, point)):
        while following[start]:
            line, point = [start], following[start].pop()
            while point != start and following.get(point):
                line.append(point)
                point = following[point].pop()
            if point != start:
                line.append(point)
            lines.append((np.array(line, np.int64), point == start))
    return lines


def _is_thin(line: Floats) -> bool:
    length = np.linalg.norm(line - np.roll(line, 1, axis=0), axis=1).sum()
    return bool(np.linalg.norm(_area_of(line)) < _THIN * length**2)


def _area_of(line: Floats) -> Floats:
    """The area that a closed line encloses, as a vector along the normal [m^2], (3,)."""
    arms = line - line.mean(axis=0)
    return 0.5 * np.cross(arms, np.roll(arms, -1, axis=0)).sum(axis=0)


def _face(line: Floats, votes: Votes) -> tuple[Floats, Integers]:
    """The face in a line of points (n, 3): its own points (k, 3), and its triangles, whose first n numbers are those of the line."""
    normal = _area_of(line)
    size = np.linalg.norm(normal)
    normal = normal / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first /= np.linalg.norm(first)
    arms = line - line.mean(axis=0)
    flat = np.stack([arms @ first, arms @ np.cross(normal, first)], axis=1)
    inner, triangles = filled(flat, LONGEST * votes.spacing)
    own = line.mean(axis=0) + inner[:, :1] * first + inner[:, 1:] * np.cross(normal, first)
    own = _smoothed(np.concatenate([line, own]), triangles, len(line))[len(line) :]
    return own + _heights(own, normal, votes)[:, None] * normal, triangles


def _smoothed(points: Floats, triangles: Integers, fixed: int) -> Floats:
    """The points, all but the first ones moved among their neighbors."""
    for _pass in range(_SMOOTHING):
        points = np.concatenate([points[:fixed], means(points, triangles)[fixed:]])
    return points


def _heights(points: Floats, normal: Floats, votes: Votes) -> Floats:
    """How far along the normal the particles around points (k, 3) parted [m], (k,); 0 far away from all of them."""
    if not len(points):
        return np.zeros(0)
    found = nearest(votes.middles, points, _DECIDING, votes.spacing)
    height = (votes.middles[found.number] - points[:, None]) @ normal
    weight = np.maximum(1.0 - found.squared / (_FAR * votes.spacing) ** 2, 0.0) ** 2
    total = weight.sum(axis=1)
    mean: Floats = (weight * height).sum(axis=1) / np.maximum(total, 1e-300)
    return mean
