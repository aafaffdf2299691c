"""A wave washes over a sand castle."""

import math
from collections.abc import Iterator

from ..relief import lattice_value
from ..solids import Solid, ball, box, cylinder, sheet, together, turned
from ..stages import Stage
from ..surfaces import Strand

LABEL = "Sand Castle"
DESCRIPTION = "A wave washes away a castle of wet sand"

_WALL, _SIDE, _HEIGHT = 0.09, 0.34, 0.17
_BATTLEMENT = 0.045
_SAND = ((0.34, 0.235, 0.135), (0.50, 0.37, 0.225))
_SHELLS = ((0.42, 0.36, 0.31), (0.72, 0.66, 0.58))
_SEA = (0.012, 0.075, 0.10)
# Where earlier waves have wetted the beach: between the sea and the castle.
_STRAND = Strand(0.1, 0.5, 1.6)
# The outside of a toy bucket that stands on its rim, and of the rim itself: (radius, height) [m].
_BUCKET = [(0.0, 0.0), (0.118, 0.0), (0.122, 0.006), (0.118, 0.014), (0.108, 0.016), (0.082, 0.19), (0.076, 0.197), (0.0, 0.197)]


def build(stage: Stage) -> None:
    stage.frames(72)
    stage.cells(0.0258, full=0.0136)
    stage.obstacle("Floor", box((3.6, 3.6, 0.2)).moved((0.0, 0.0, -0.1)), friction=0.6)
    stage.natural("Beach", sheet([(-12.0, 0.0), (40.0, 0.0)], 80.0), _SAND, 0.02, relief=0.25, wet=_STRAND)
    stage.seen("Sea", sheet([(7.0, 0.01), (60.0, 0.01)], 160.0), (0.0, 0.0, 0.0), _SEA, roughness=0.12)
    stage.natural("Shells", together(list(_shells())), _SHELLS, 0.01, relief=0.1)
    bucket = stage.seen("Bucket", turned(_BUCKET, steps=96), (0.80, 0.72, 0.0), (0.62, 0.03, 0.02), roughness=0.25)
    bucket.data.shade_smooth()
    stage.emitter("Castle", castle(), (0.25, 0.0, 0.0), "wet_sand")
    stage.emitter("Wave", box((0.26, 1.0, 0.24)), (-0.72, 0.0, 0.121), "water", velocity=(2.2, 0.0, 0.0))
    stage.foam()
    stage.outdoors((-0.62, 0.42, 0.55), 4.0, sky=(0.50, 0.66, 0.92), brightness=0.75)
    stage.camera((0.1, -1.85, 0.52), (0.09, 0.0, 0.135), lens=50.0, stop=2.0)


def _shells() -> Iterator[Solid]:
    """Pebbles and bits of shells where the wave has left them before."""
    for number in range(140):
        x, y = 2.2 * lattice_value(number, 1), 0.4 + 1.7 * lattice_value(number, 2)
        size = 0.005 + 0.010 * lattice_value(number, 3) ** 4
        flat = 0.35 + 0.15 * lattice_value(number, 4)
        stone = ball(size, steps=14)
        yield Solid(tuple((x + 1.2 * a, y + b, flat * c) for a, b, c in stone.vertices), stone.faces)


def castle() -> Solid:
    """Four towers, the walls between them and a keep in the middle; all of them stand on z = 0 and overlap."""
    half = 0.5 * _SIDE
    parts = [_tower(x, y, radius=0.075, height=0.26) for x in (-half, half) for y in (-half, half)]
    along, across = (_SIDE, _WALL, _HEIGHT), (_WALL, _SIDE, _HEIGHT)
    for x, y, size in ((-half, 0.0, across), (half, 0.0, across), (0.0, -half, along), (0.0, half, along)):
        parts.append(box(size).moved((x, y, 0.5 * _HEIGHT)))
    return together([*parts, _tower(0.0, 0.0, radius=0.085, height=0.36)])


def _tower(x: float, y: float, *, radius: float, height: float) -> Solid:
    """A round tower with battlements."""
    teeth = []
    for number in range(6):
        turn = 2.0 * math.pi * (number + 0.5) / 6
        reach = radius - 0.4 * _BATTLEMENT
        tooth = box((_BATTLEMENT, _BATTLEMENT, 2.0 * _BATTLEMENT))
        teeth.append(tooth.moved((x + reach * math.cos(turn), y + reach * math.sin(turn), height)))
    return together([cylinder(radius, height).moved((x, y, 0.5 * height)), *teeth])
