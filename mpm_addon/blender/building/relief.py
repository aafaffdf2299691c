"""Uneven ground: smooth noise, and closed slabs between two heights, in plain Python.

Knows nothing of Blender. Lengths are in the caller's unit.
"""

import math
from collections.abc import Callable, Sequence

from .solids import Face, Point, Solid

# A height over a place (x, y).
Height = Callable[[float, float], float]

# Odd numbers whose multiples scatter the bits of whole numbers (hash of a lattice point).
_ALONG_X, _ALONG_Y, _ALONG_SEED, _STIR = 374761393, 668265263, 2246822519, 1274126177
_BITS = 0xFFFFFFFF


def noise(x: float, y: float, *, size: float, octaves: int = 4, seed: int = 0) -> float:
    """Smooth noise about 0, nearly all of it within -1 and 1: each octave is half as large and half as high as the one before.

    Args:
        x, y: the place.
        size: of the largest features.
        octaves: how many sizes there are.
        seed: different numbers give different noise.
    """
    total, share = 0.0, 1.0
    for octave in range(octaves):
        total += share * _smooth(x / (size * share), y / (size * share), seed + octave)
        share *= 0.5
    return total


def _smooth(x: float, y: float, seed: int) -> float:
    """Values at lattice points, interpolated with two continuous derivatives."""
    column, row = math.floor(x), math.floor(y)
    across, up = _eased(x - column), _eased(y - row)
    low = _mixed(lattice_value(column, row, seed), lattice_value(column + 1, row, seed), across)
    high = _mixed(lattice_value(column, row + 1, seed), lattice_value(column + 1, row + 1, seed), across)
    return _mixed(low, high, up)


def lattice_value(column: int, row: int, seed: int = 0) -> float:
    """A number from -1 to 1 for a point of a lattice, always the same one."""
    mixed = (column * _ALONG_X + row * _ALONG_Y + seed * _ALONG_SEED) & _BITS
    mixed = ((mixed ^ (mixed >> 13)) * _STIR) & _BITS
    return 2.0 * (mixed ^ (mixed >> 16)) / _BITS - 1.0


def _eased(share: float) -> float:
    return share * share * share * (share * (6.0 * share - 15.0) + 10.0)


def _mixed(one: float, other: float, share: float) -> float:
    return one + share * (other - one)


def slab(xs: Sequence[float], ys: Sequence[float], bottom: Height, top: Height) -> Solid:
    """A closed body between two heights over a rectangular lattice.

    Args:
        xs, ys: the coordinates of the lattice, increasing.
        bottom, top: its heights; the top is above the bottom everywhere.
    """
    places = [(x, y) for y in ys for x in xs]
    wide, deep, count = len(xs), len(ys), len(xs) * len(ys)
    vertices: list[Point] = [(x, y, height(x, y)) for height in (bottom, top) for x, y in places]
    faces: list[Face] = []
    for row in range(deep - 1):
        for column in range(wide - 1):
            corner = row * wide + column
            around = (corner, corner + 1, corner + wide + 1, corner + wide)
            faces += [tuple(reversed(around)), tuple(count + index for index in around)]
    rim = [*range(wide), *range(2 * wide - 1, count, wide), *range(count - 2, count - wide - 1, -1), *range(count - 2 * wide, 0, -wide)]
    faces += [(one, other, other + count, one + count) for one, other in zip(rim, [*rim[1:], rim[0]], strict=True)]
    return Solid(tuple(vertices), tuple(faces))


def spread(low: float, high: float, step: float, *, growth: float = 1.0) -> list[float]:
    """Coordinates from `low` to `high`, `step` apart around 0; with a growth above 1, steps grow away from there."""
    found = [0.0]
    for end in (low, high):
        place, width = 0.0, math.copysign(step, end)
        while abs(place) < abs(end):
            place = math.copysign(min(abs(place + width), abs(end)), end)
            width *= growth
            found.append(place)
    return sorted(set(found))
