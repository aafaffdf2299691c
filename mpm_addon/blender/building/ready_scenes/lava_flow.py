"""Lava creeps down a channel of rock and falls over a step; it glows where it is hot, and cools at the air."""

import math

from ..relief import noise, slab, spread
from ..stages import Stage

LABEL = "Lava Flow"
DESCRIPTION = "Lava creeps down a channel of rock and over a step"

_ROCK = ((0.012, 0.011, 0.011), (0.075, 0.062, 0.055))
# Half the channel's width, how steep it is, and the step's height and place along y [m].
_HALF, _SLOPE, _STEP, _STEP_AT = 1.15, 0.30, 0.9, -0.3
# The lava at the start: from where to where up the channel, how deep, and its distance to the rock [m].
_FROM, _TO, _DEPTH, _GAP = -0.1, 4.4, 0.5, 0.03
# Its temperature there [degrees C], and how much faster than in nature it cools, so that it has a crust within seconds.
_ERUPTED, _HEAT_SPEED = 1160.0, 60.0


def build(stage: Stage) -> None:
    stage.frames(120)
    stage.cells(0.085, full=0.038)
    rock = stage.natural(
        "Rock", slab(spread(-9.0, 9.0, 0.11, growth=1.06), spread(-8.0, 16.0, 0.11, growth=1.06), _deep, rock_height), _ROCK, 0.5
    )
    stage.collide(rock, surface="sticky")
    width = 0.8 * _HALF
    places = spread(-width, width, 0.1), [_FROM + 0.1 * step for step in range(1 + round((_TO - _FROM) / 0.1))]
    stage.emitter("Lava", slab(*places, _bed, _surface), (0.0, 0.0, 0.0), "lava", velocity=(0.0, -0.9, -0.25), temperature=_ERUPTED)
    stage.heat(ambient=20.0, speed=_HEAT_SPEED)
    stage.outdoors((-0.7, 0.35, 0.5), 3.2, sky=(0.30, 0.42, 0.65), brightness=0.6)
    stage.camera((-2.2, -5.0, 1.15), (-0.15, -0.6, 0.2), lens=42.0, stop=0.3)


def rock_height(x: float, y: float) -> float:
    """The height of the rock: a slope with a channel, a step across it, and blocks of all sizes [m]."""
    bank = 0.75 * (1.0 - math.exp(-((abs(x) / _HALF) ** 4) * 0.7))
    step = _STEP / (1.0 + math.exp(-(y - _STEP_AT - 0.25 * noise(x, 0.0, size=0.9, octaves=2, seed=7)) / 0.07))
    rough = 0.30 if abs(x) > _HALF else 0.10 + 0.20 * (abs(x) / _HALF) ** 4
    blocks = abs(noise(x, y, size=1.3, octaves=6, seed=3))
    return _SLOPE * y + bank + step + rough * blocks - 0.4


def _deep(x: float, y: float) -> float:
    return -5.0


def _bed(x: float, y: float) -> float:
    return rock_height(x, y) + _GAP


def _surface(x: float, y: float) -> float:
    # rounded toward the banks and the front
    share = max(0.0, 1.0 - (x / _HALF) ** 2) * min(1.0, 0.5 + (y - _FROM))
    return max(_bed(x, y) + 0.12, _SLOPE * y + _STEP - 0.4 + _DEPTH * share)
