"""An avalanche runs through firs."""

import math
from collections.abc import Iterator

from ..relief import lattice_value, noise, slab, spread
from ..solids import Point, Solid, lofted, together, turned
from ..stages import Stage

LABEL = "Avalanche"
DESCRIPTION = "A slab of snow slides down a slope and through firs"

_SNOW = ((0.74, 0.79, 0.88), (0.86, 0.89, 0.94))
_NEEDLES, _BARK = (0.018, 0.045, 0.024), (0.07, 0.045, 0.03)
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
_TIERS, _RADIUS, _TRUNK = 9, 0.25, 0.17
# Around a tier: the corners of firs nearby, and of those in the background.
_NEAR, _FAR = 36, 12


def build(stage: Stage) -> None:
    stage.frames(96)
    stage.cells(0.21, full=0.122)
    ground = spread(-50.0, 50.0, 0.4, growth=1.08), spread(-25.0, 60.0, 0.4, growth=1.055)
    slope = stage.natural("Slope", slab(*ground, _deep, slope_height), _SNOW, 2.5, relief=0.04)
    stage.collide(slope, surface="separate", friction=0.25)
    firs = [*((*fir, _NEAR) for fir in _STANDING), *((*fir, _FAR) for fir in _forest())]
    stage.seen("Needles", together([_crown(*fir) for fir in firs]), (0.0, 0.0, 0.0), _NEEDLES, roughness=0.9)
    stage.seen("Snow on Firs", together([_load(*fir) for fir in firs]), (0.0, 0.0, 0.0), _SNOW[1], roughness=0.8)
    stage.seen("Trunks", together([_trunk(*fir[:3]) for fir in firs]), (0.0, 0.0, 0.0), _BARK, roughness=0.9)
    stage.obstacle("Firs", together([part for fir in _STANDING for part in (_trunk(*fir), _hull(*fir))]), friction=0.4)
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


def _forest() -> Iterator[tuple[float, float, float]]:
    """The firs on both sides and above, which the snow does not reach: place and height."""
    for row in range(-2, 7):
        for column in range(-6, 7):
            x = 3.3 * column + 1.3 * lattice_value(column, row, 1)
            y = 3.2 * row + 1.3 * lattice_value(column, row, 2)
            if abs(x) > 7.5 + 0.1 * abs(y) or y > 15.0:
                yield x, y, 6.0 + 1.6 * lattice_value(column, row, 3)


def _crown(x: float, y: float, height: float, corners: int) -> Solid:
    """Tiers of branches."""
    return together([_tier(x, y, height, number, corners, share=1.0) for number in range(_TIERS)])


def _load(x: float, y: float, height: float, corners: int) -> Solid:
    """The snow that lies on the tiers."""
    return together([_tier(x, y, height, number, corners, share=0.8) for number in range(_TIERS)])


def _tier(x: float, y: float, height: float, number: int, corners: int, *, share: float) -> Solid:
    """A cone with a ragged, drooping edge; a smaller one lies on a larger one of the same number."""
    at = number / _TIERS
    low = slope_height(x, y) + height * (0.14 + 0.74 * at)
    high = min(low + 0.26 * height, slope_height(x, y) + height)
    radius, lift = _RADIUS * height * (1.0 - 0.9 * at), 0.07 * height * (1.0 - share)
    edge: list[Point] = []
    for step in range(corners):
        turn = 2.0 * math.pi * (step + 0.4 * number) / corners
        ragged = share * (1.0 + 0.10 * (-1.0) ** step + 0.16 * lattice_value(step // 2, number, int(97.0 * (x + y))))
        reach = radius * ragged
        edge.append((x + reach * math.cos(turn), y + reach * math.sin(turn), high - (high - low) * ragged + lift))
    return lofted([edge], (x, y, low + 0.45 * (high - low) + lift), (x, y, high + lift))


def _trunk(x: float, y: float, height: float) -> Solid:
    base = slope_height(x, y)
    return turned([(0.0, -0.5), (_TRUNK, -0.5), (0.7 * _TRUNK, 0.5 * height), (0.0, 0.5 * height)], steps=12).moved((x, y, base))


def _hull(x: float, y: float, height: float) -> Solid:
    """What snow meets of a crown."""
    low, radius = 0.2 * height, 0.9 * _RADIUS * height
    return turned([(0.0, low), (radius, low), (0.06 * radius, 0.98 * height), (0.0, height)], steps=16).moved((x, y, slope_height(x, y)))
