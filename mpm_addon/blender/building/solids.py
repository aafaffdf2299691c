"""Closed surfaces as vertices and faces, in plain Python: boxes, balls, cylinders, surfaces of revolution and of rings.

Knows nothing of Blender. Lengths are in the caller's unit; faces are counterclockwise as seen from outside.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float, float]
Face = tuple[int, ...]

_BOX_FACES: tuple[Face, ...] = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


@dataclass(frozen=True)
class Solid:
    """A closed surface."""

    vertices: tuple[Point, ...]
    faces: tuple[Face, ...]

    def moved(self, offset: Point) -> "Solid":
        return Solid(tuple((x + offset[0], y + offset[1], z + offset[2]) for x, y, z in self.vertices), self.faces)


def box(size: Point) -> Solid:
    """A box around the origin."""
    x, y, z = (0.5 * extent for extent in size)
    return Solid(tuple(itertools.product((-x, x), (-y, y), (-z, z))), _BOX_FACES)


def divided_box(size: Point, steps: tuple[int, int, int], rim: float) -> Solid:
    """A box around the origin with enough vertices to bend.

    Args:
        steps: the number of equal parts along each axis.
        rim: the width of a further part beside each edge, which a bevel may take [the unit of the size].
    """
    lines = []
    for extent, count in zip(size, steps, strict=True):
        inner = 0.5 * extent - rim
        lines.append([-0.5 * extent, *(inner * (2 * step / count - 1) for step in range(count + 1)), 0.5 * extent])
    numbers: dict[Point, int] = {}
    faces: list[Face] = []
    for axis in range(3):
        across, along = lines[(axis + 1) % 3], lines[(axis + 2) % 3]
        for side in (lines[axis][0], lines[axis][-1]):
            for (a, b), (c, d) in itertools.product(itertools.pairwise(across), itertools.pairwise(along)):
                corners = [_turned_to(axis, (side, first, second)) for first, second in ((a, c), (b, c), (b, d), (a, d))]
                face = tuple(numbers.setdefault(corner, len(numbers)) for corner in corners)
                faces.append(face if side > 0.0 else face[::-1])
    return Solid(tuple(numbers), tuple(faces))


def _turned_to(axis: int, point: Point) -> Point:
    """A point whose first coordinate is along an axis and whose others follow in a circle."""
    x, y, z = (point[(k - axis) % 3] for k in range(3))
    return x, y, z


def prism(outline: Sequence[tuple[float, float]], depth: float) -> Solid:
    """An upright prism, half above and half below z = 0, over an outline (counterclockwise from above)."""
    count, half = len(outline), 0.5 * depth
    around = [(number, (number + 1) % count) for number in range(count)]
    sides = tuple((one, other, other + count, one + count) for one, other in around)
    ends = tuple(reversed(range(count))), tuple(range(count, 2 * count))
    return Solid(tuple((x, y, z) for z in (-half, half) for x, y in outline), (*ends, *sides))


def ball(radius: float, *, steps: int = 48) -> Solid:
    """A ball around the origin, made of rings and segments."""
    rings = steps // 2
    angles = [math.pi * ring / rings for ring in range(rings + 1)]
    return turned([(radius * math.sin(angle), -radius * math.cos(angle)) for angle in angles], steps=steps)


def cylinder(radius: float, depth: float, *, steps: int = 48) -> Solid:
    """An upright cylinder around the origin."""
    half = 0.5 * depth
    return turned([(0.0, -half), (radius, -half), (radius, half), (0.0, half)], steps=steps)


def turned(outline: Sequence[tuple[float, float]], *, steps: int = 64) -> Solid:
    """A surface of revolution: a profile of (radius, height), turned around the z axis.

    Args:
        outline: from axis to axis (radius 0 at both ends), upward along the outside.
    """
    turns = [2.0 * math.pi * step / steps for step in range(steps)]
    rings = [[(radius * math.cos(turn), radius * math.sin(turn), height) for turn in turns] for radius, height in outline[1:-1]]
    return lofted(rings, (0.0, 0.0, outline[0][1]), (0.0, 0.0, outline[-1][1]))


def smoothed(outline: Sequence[tuple[float, float]], *, parts: int = 3) -> list[tuple[float, float]]:
    """A profile through the same points without corners: the first and last part are straight, each other is divided.

    Source: Catmull and Rom 1974, a class of local interpolating splines.
    """
    found = [outline[0]]
    for before, one, other, after in zip(outline, outline[1:], outline[2:], outline[3:], strict=False):
        found.append(one)
        for part in range(1, parts):
            t = part / parts
            weights = (
                0.5 * t * (t * (2.0 - t) - 1.0),
                0.5 * (t * t * (3.0 * t - 5.0) + 2.0),
                0.5 * t * (t * (4.0 - 3.0 * t) + 1.0),
                0.5 * t * t * (t - 1.0),
            )
            points = (before, one, other, after)
            radius, height = (sum(weight * point[axis] for weight, point in zip(weights, points, strict=True)) for axis in (0, 1))
            found.append((radius, height))
    return [*found, *outline[-2:]]


def lofted(rings: Sequence[Sequence[Point]], first: Point, last: Point) -> Solid:
    """A surface through rings of equally many points, from a pole to another.

    Args:
        rings: counterclockwise as seen from the last pole, upward along the outside.
        first, last: the poles.
    """
    steps, count = len(rings[0]), len(rings)
    faces: list[Face] = []
    for step in range(steps):
        following = (step + 1) % steps
        faces.append((0, 1 + following, 1 + step))
        for ring in range(count - 1):
            low, high = 1 + ring * steps, 1 + (ring + 1) * steps
            faces.append((low + step, low + following, high + following, high + step))
        top = 1 + (count - 1) * steps
        faces.append((top + step, top + following, 1 + count * steps))
    return Solid((first, *(point for ring in rings for point in ring), last), tuple(faces))


def together(solids: Sequence[Solid]) -> Solid:
    """Several solids as one surface."""
    vertices: list[Point] = []
    faces: list[Face] = []
    for solid in solids:
        first = len(vertices)
        vertices += solid.vertices
        faces += [tuple(first + index for index in face) for face in solid.faces]
    return Solid(tuple(vertices), tuple(faces))


def sheet(outline: Sequence[tuple[float, float]], width: float) -> Solid:
    """An open strip: a profile of (y, z), extruded along x. It faces left of the profile's direction."""
    half = 0.5 * width
    vertices = tuple((x, y, z) for y, z in outline for x in (-half, half))
    return Solid(vertices, tuple((2 * row, 2 * row + 1, 2 * row + 3, 2 * row + 2) for row in range(len(outline) - 1)))
