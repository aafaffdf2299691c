"""Sand runs through the neck of an hourglass."""

import math

from ...settings.emitter_look import show_as_wire
from ..solids import Solid, cylinder, together, turned
from ..stages import Stage

LABEL = "Hourglass"
DESCRIPTION = "Sand runs through the neck of an hourglass and piles up below"

# Inner radii, half the inner height, and the height of the center [m].
_NECK, _BULB, _HALF, _MIDDLE = 0.058, 0.22, 0.40, 0.454
# Thick enough for the solver; the visible glass is thinner.
_WALL, _GLASS = 0.055, 0.008
_DISC = 0.05
_WOOD = (0.16, 0.06, 0.025)
_STEPS = 20


def build(stage: Stage) -> None:
    stage.frames(90)
    stage.cells(0.016, full=0.008)
    stage.floor(1.0, (0.09, 0.20, 0.20))
    at = (0.0, 0.0, _MIDDLE)
    wall = stage.collider("Glass Wall", _shell(_WALL), at, (0.8, 0.9, 1.0), surface="separate", friction=0.15)
    show_as_wire(wall)
    stage.glass("Glass", _shell(_GLASS), at).data.shade_smooth()
    for z in (0.5 * _DISC, 2.0 * _MIDDLE - 0.5 * _DISC):
        stage.seen("Disc", cylinder(0.31, _DISC, steps=96), (0.0, 0.0, z), _WOOD, roughness=0.35)
    for turn in (math.radians(angle) for angle in (90.0, 210.0, 330.0)):
        foot = 0.27 * math.cos(turn), 0.27 * math.sin(turn)
        stage.seen("Rod", cylinder(0.02, 2.0 * _MIDDLE, steps=24), (*foot, _MIDDLE), _WOOD, roughness=0.35)
    stage.emitter("Sand", _filling(), at, "dry_sand", color=(0.80, 0.50, 0.20))
    stage.camera((-0.7, -2.75, 0.95), (0.0, 0.0, 0.47), lens=50.0, stop=4.0)


def _radius(height: float) -> float:
    """The inner radius at a height above the neck: wide bulbs with rounded ends."""
    share = abs(height) / _HALF
    widening = math.sin(0.5 * math.pi * min(1.0, share / 0.62)) ** 2
    closing = math.sqrt(max(0.0, 1.0 - max(0.0, (share - 0.62) / 0.38) ** 2))
    return (_NECK + (_BULB - _NECK) * widening) * closing


def _inside(low: float, high: float) -> list[tuple[float, float]]:
    """The inner profile between two heights."""
    heights = [0.5 * (low + high) - 0.5 * (high - low) * math.cos(math.pi * step / (2 * _STEPS)) for step in range(2 * _STEPS + 1)]
    return [(_radius(height), height) for height in heights]


def _shell(wall: float) -> Solid:
    """A closed wall of the given thickness around the inside."""
    inside = _inside(-_HALF, _HALF)
    hollow = turned(inside)
    return together([turned(_outset(inside, wall)), Solid(hollow.vertices, tuple(tuple(reversed(face)) for face in hollow.faces))])


def _outset(outline: list[tuple[float, float]], distance: float) -> list[tuple[float, float]]:
    """Offset a profile from pole to pole outward along its normals."""
    moved = [(0.0, outline[0][1] - distance)]
    for (radius, height), before, after in zip(outline[1:-1], outline, outline[2:], strict=False):
        along, up = after[0] - before[0], after[1] - before[1]
        length = math.hypot(along, up)
        moved.append((radius + distance * up / length, height - distance * along / length))
    return [*moved, (0.0, outline[-1][1] + distance)]


def _filling() -> Solid:
    """The sand in the upper bulb, with a small gap to the glass."""
    low, high = 0.02, 0.72 * _HALF
    return turned([(0.0, low), *((radius - 0.008, height) for radius, height in _inside(low, high)), (0.0, high)])
