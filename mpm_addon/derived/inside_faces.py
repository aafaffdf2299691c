"""Inside faces: triangles that close the pieces of a cut mesh.

Each rim of a piece is a closed line. It is filled in the plane in which it encloses most area. Where two pieces share a rim, both get the
same face, facing each other, and its inner points lie between the particles that parted, so that it looks torn and not sawn. Where more
pieces meet, each has a face of its own that swells to where its fragment ends.
"""

from collections import Counter
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


def closed(pieces: Pieces, votes: Votes) -> Inside:
    """Close the rims of all pieces.

    Args:
        pieces: the pieces.
        votes: knows where particles parted.
    """
    points, middle = pieces.faces.points, pieces.faces.points.mean(axis=0)
    rims = [
        _rim(line, pieces.place) for line, is_closed in _lines(pieces.rims) if len(line) > 2 and (is_closed or not _is_thin(points[line]))
    ]
    uses = Counter(rim.key for rim in rims)
    known = {rim.key: _face(points[rim.line], votes) for rim in rims}
    inside = Inside(np.zeros((0, 3)), np.zeros(0, np.int64), np.zeros((0, 3), np.int64))
    for rim in rims:
        if uses[rim.key] > 1:
            inside = _with(inside, rim, *known[rim.key], len(points))
    # where more than two fragments meet, no two rims are alike
    alone = [rim for rim in rims if uses[rim.key] == 1]
    outside, of_outside = pieces.faces.triangles, pieces.fragment[pieces.faces.triangles[:, 0]]
    whole = volume_from(middle, points, outside)
    of_inside = pieces.fragment[np.concatenate([np.arange(len(points)), inside.like])][inside.triangles[:, 0]]
    for fragment in np.unique([pieces.fragment[rim.line[0]] for rim in alone]).tolist():
        shared = inside.triangles[: len(of_inside)][of_inside == fragment]
        flat = Inside(inside.points, inside.like, inside.triangles[:0])
        for rim in alone:
            if pieces.fragment[rim.line[0]] == fragment:
                flat = _with(flat, rim, *known[rim.key], len(points))
        every = np.concatenate([points, flat.points])
        wanted = whole * votes.share(fragment) - volume_from(middle, every, np.concatenate([outside[of_outside == fragment], shared]))
        used, local = np.unique(flat.triangles, return_inverse=True)
        fixed = int((used < len(points)).sum())
        own, faces = Swelling(wanted, fragment, middle, votes).swollen(every[used], local.reshape(-1, 3), fixed)
        numbers = np.concatenate([used[:fixed], len(points) + len(inside.points) + np.arange(len(own))])
        like = np.full(len(own), used[0])
        inside = Inside(
            np.concatenate([inside.points, own]), np.concatenate([inside.like, like]), np.concatenate([inside.triangles, numbers[faces]])
        )
    return inside


def _with(inside: Inside, rim: _Rim, own: Floats, faces: Integers, count: int) -> Inside:
    """Inside faces with that of one more rim; `count` vertices precede their own ones."""
    numbers = np.concatenate([rim.line, count + len(inside.points) + np.arange(len(own))])
    return Inside(
        np.concatenate([inside.points, own]),
        np.concatenate([inside.like, np.full(len(own), rim.line[0])]),
        np.concatenate([inside.triangles, numbers[faces[:, ::-1] if rim.is_reversed else faces]]),
    )


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
