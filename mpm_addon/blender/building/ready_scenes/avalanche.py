"""An avalanche runs through firs."""

import math
from collections.abc import Iterator

from ..firs import FAR, SNOW, Fir, planted
from ..relief import lattice_value, noise, slab, spread
from ..solids import together
from ..stages import Stage

LABEL = "Avalanche"
DESCRIPTION = "A slab of snow slides down a slope and through firs"

# The slope's steepness, and the length over which it ends in the valley [m].
_SLOPE, _BEND = 0.62, 3.0
# The slab of snow: half its width, where it lies up the slope, its depth and its distance to the ground [m].
_HALF, _FROM, _TO, _DEPTH, _GAP = 4.0, 4.5, 11.3, 1.6, 0.06
# Firs that the snow meets: place and height [m].
_STANDING = (
    (-2.9, 1.7, 5.6),
    (0.4, 2.3, 6.4),
    (3.1, 0.9, 5.2),
    (-1.2, -1.6, 4.8),
    (2.0, -2.9, 5.5),
    (-4.6, -0.6, 6.2),
    (5.2, 2.6, 6.6),
)


def build(stage: Stage) -> None:
    stage.frames(96)
    stage.cells(0.225, full=0.122)
    ground = spread(-50.0, 50.0, 0.4, growth=1.08), spread(-25.0, 60.0, 0.4, growth=1.055)
    slope = stage.natural("Slope", slab(*ground, _deep, slope_height), SNOW, 2.5, relief=0.04)
    stage.collide(slope, surface="separate", friction=0.25)
    standing = [Fir((x, y, slope_height(x, y)), height) for x, y, height in _STANDING]
    for name, solid, color in planted([*standing, *_forest()]):
        stage.seen(name, solid, (0.0, 0.0, 0.0), color, roughness=0.9)
    stage.obstacle("Firs", together([part for fir in standing for part in (fir.trunk(), fir.hull())]), friction=0.4)
    lying = spread(-_HALF, _HALF, 0.4), [_FROM + 0.4 * step for step in range(1 + round((_TO - _FROM) / 0.4))]
    snow = stage.emitter("Snow", slab(*lying, _bed, _surface), (0.0, 0.0, 0.0), "snow", velocity=(0.0, -10.0, -5.8))
    stage.vary(snow, strength=1.2, size=1.1)
    stage.fog()
    # what runs out of the picture would cost as much as what is in it
    stage.domain((-12.0, -15.0, -4.0), (12.0, 14.0, 16.0), surface="open")
    stage.outdoors((-0.8, -0.25, 0.5), 4.0, sky=(0.22, 0.42, 0.85), brightness=0.5)
    stage.camera((1.5, -12.2, 0.7), (-0.3, -1.0, 2.1), lens=34.0, stop=1.4)


def slope_height(x: float, y: float) -> float:
    """The height of the ground: a slope with bumps, which ends in a valley [m]."""
    fall = _SLOPE * _BEND * math.log1p(math.exp(min(40.0, (y + 4.0) / _BEND)))
    return fall + 0.05 * y + 0.45 * noise(x, y, size=5.0, octaves=3, seed=2) + 0.012 * abs(x) ** 1.8


def _deep(x: float, y: float) -> float:
    return -12.0


def _bed(x: float, y: float) -> float:
    return slope_height(x, y) + _GAP


def _surface(x: float, y: float) -> float:
    return _bed(x, y) + _DEPTH + 0.25 * noise(x, y, size=2.0, octaves=2, seed=9)


def _forest() -> Iterator[Fir]:
    """The firs on both sides and above, which the snow does not reach."""
    for row in range(-2, 7):
        for column in range(-6, 7):
            x = 3.3 * column + 1.3 * lattice_value(column, row, 1)
            y = 3.2 * row + 1.3 * lattice_value(column, row, 2)
            if abs(x) > 7.5 + 0.1 * abs(y) or y > 15.0:
                yield Fir((x, y, slope_height(x, y)), 6.0 + 1.6 * lattice_value(column, row, 3), FAR)
