"""A wave washes over a sand castle."""

import math

from ..solids import Solid, box, cylinder, together
from ..stages import Stage

LABEL = "Sand Castle"
DESCRIPTION = "A wave washes away a castle of wet sand"

_WALL, _SIDE, _HEIGHT = 0.09, 0.34, 0.17
_BATTLEMENT = 0.045


def build(stage: Stage) -> None:
    stage.frames(72)
    stage.cells(0.021, full=0.0136)
    stage.floor(1.8, (0.55, 0.42, 0.26), friction=0.6)
    stage.emitter("Castle", castle(), (0.25, 0.0, 0.0), "wet_sand")
    stage.emitter("Wave", box((0.26, 1.0, 0.24)), (-0.72, 0.0, 0.121), "water", velocity=(2.2, 0.0, 0.0))
    stage.camera((0.2, -2.3, 0.7), (0.06, 0.0, 0.13), lens=50.0)


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
