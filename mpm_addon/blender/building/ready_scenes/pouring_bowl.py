"""A bowl of water tips until it pours into a basin."""

import math

from ..solids import Solid, smoothed, turned
from ..stages import Stage

LABEL = "Pouring Bowl"
DESCRIPTION = "A bowl of water tips and pours into a basin"

# The bowl's profile (radius, height) [m]: from the center of its underside over the rim to the center of its inside.
_FOOT = [(0.0, 0.0), (0.125, 0.0)]
_OUTSIDE = [(0.13, 0.02), (0.165, 0.035), (0.2, 0.065), (0.225, 0.105), (0.24, 0.155), (0.245, 0.2)]
_RIM = [(0.238, 0.212), (0.222, 0.217), (0.207, 0.212)]
_INSIDE = [(0.2, 0.2), (0.195, 0.16), (0.18, 0.12), (0.155, 0.085), (0.12, 0.064), (0.07, 0.053), (0.0, 0.05)]
BOWL = [*_FOOT, *smoothed([*_OUTSIDE, *_RIM, *_INSIDE])]
# The water: the bowl's inside up to a level, inset by half a cell.
WATER = [(0.0, 0.056), (0.066, 0.059), (0.115, 0.07), (0.149, 0.091), (0.173, 0.125), (0.182, 0.15), (0.0, 0.15)]

_LIP = (0.225, 0.21)  # of the bowl, where the water leaves it: (along x, up)
_LIP_AT = (-0.14, 0.62)
_TILT = 125.0
_FIRST, _LAST = 1, 45


def build(stage: Stage) -> None:
    stage.frames(70)
    stage.cells(0.0125, full=0.0055)
    stage.floor(0.9, (0.34, 0.19, 0.11), friction=0.2)
    bowl_shape = turned(BOWL)
    basin = stage.collider("Basin", _scaled(bowl_shape, 1.45, 1.1), (0.06, 0.0, 0.0), (0.03, 0.11, 0.16), roughness=0.2)
    basin.data.shade_smooth()
    start = _place(0.0)
    bowl = stage.collider("Bowl", bowl_shape, start, (0.75, 0.70, 0.60), roughness=0.25)
    bowl.data.shade_smooth()
    stage.emitter("Water", turned(WATER), start, "water")
    for frame in range(_FIRST, _LAST + 1, 4):
        share = (frame - _FIRST) / (_LAST - _FIRST)
        angle = math.radians(_TILT) * (0.5 - 0.5 * math.cos(math.pi * share))
        stage.key(bowl, frame, at=_place(angle), rotation=(0.0, math.degrees(angle), 0.0))
    stage.camera((-0.15, -2.65, 1.12), (-0.02, 0.0, 0.545), lens=43.0, stop=4.0)


def _place(angle: float) -> tuple[float, float, float]:
    """The position of the bowl's origin when the bowl has turned by an angle about its lip [m]."""
    x, up = _LIP
    return (
        _LIP_AT[0] - (x * math.cos(angle) + up * math.sin(angle)),
        0.0,
        _LIP_AT[1] - (up * math.cos(angle) - x * math.sin(angle)),
    )


def _scaled(solid: Solid, across: float, up: float) -> Solid:
    return Solid(tuple((across * x, across * y, up * z) for x, y, z in solid.vertices), solid.faces)
