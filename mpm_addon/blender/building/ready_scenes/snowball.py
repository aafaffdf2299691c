"""A snowball is thrown against a wall on a winter day, in slow motion."""

import math
from collections.abc import Iterator

from ..firs import FAR, SNOW, Fir, planted
from ..relief import lattice_value, noise, slab, spread
from ..solids import Solid, ball, box, together
from ..stages import Stage

LABEL = "Snowball"
DESCRIPTION = "A snowball bursts against a wall in slow motion"

_BRICK, _MORTAR = ((0.22, 0.055, 0.035), (0.36, 0.11, 0.065)), (0.32, 0.30, 0.28)
# The wall: its size and place, a brick with its joints, and how thick these are [m].
_WALL, _AT = (0.24, 1.20, 0.56), (0.41, 0.0, 0.28)
_COURSE, _JOINT = (0.24, 0.08), 0.012


def build(stage: Stage) -> None:
    stage.frames(48, time_scale=0.35)
    stage.cells(0.0225, full=0.0092)
    field = spread(-30.0, 30.0, 0.12, growth=1.06), spread(-20.0, 50.0, 0.12, growth=1.06)
    stage.natural("Ground", slab(*field, _deep, ground_height), SNOW, 0.3, relief=0.05)
    stage.obstacle("Floor", box((6.4, 6.4, 0.2)).moved((0.0, 0.0, -0.1)), surface="sticky")
    wall = stage.obstacle("Wall", box(_WALL).moved(_AT), friction=0.4)
    deep, wide, tall = (edge - 2.0 * _JOINT for edge in _WALL)
    for part in (
        stage.natural("Bricks", together(list(_bricks())), _BRICK, 0.12, at=_AT, relief=0.1),
        stage.seen("Mortar", box((deep, wide, tall)), _AT, _MORTAR, roughness=0.9),
    ):
        part.parent = wall
    stage.emitter("Snowball", ball(0.2), (-0.75, -0.05, 0.58), "snow", velocity=(7.0, 0.0, 0.9), angular_velocity=(0.0, 200.0, 90.0))
    for name, solid, color in planted(list(_forest())):
        stage.seen(name, solid, (0.0, 0.0, 0.0), color, roughness=0.9)
    stage.fog()
    # as much again as the grains themselves would hide its chunks
    stage.debris(chips=1.0, dust=3.0, bounce=0.1, friction=0.9)
    # debris that flies on would cost more time than the whole ball; it leaves the domain outside the camera's view
    stage.domain((-1.1, -1.3, -0.2), (3.0, 1.3, 1.7), surface="open")
    stage.outdoors((-0.55, 0.6, 0.45), 5.0, sky=(0.22, 0.42, 0.85), brightness=0.45)
    stage.camera((-1.2, -2.85, 0.85), (0.2, 0.0, 0.6), lens=38.0, stop=1.4)


def ground_height(x: float, y: float) -> float:
    """The height of the snow on the ground, which is level around the wall, as the collider is [m]."""
    rise = 0.05 * min(4.0, max(0.0, math.hypot(x, y) - 2.0)) * (1.0 + noise(x, y, size=5.0, octaves=2, seed=8))
    return 0.006 * noise(x, y, size=0.5, octaves=4, seed=3) + rise


def _deep(x: float, y: float) -> float:
    return -1.0


def _bricks() -> Iterator[Solid]:
    """Courses of bricks around the wall's middle, each shifted by half a brick."""
    long, high = _COURSE
    deep, wide, tall = _WALL
    for course in range(round(tall / high)):
        z = (course + 0.5) * high - 0.5 * tall
        edge = -0.5 * wide - (0.5 * long if course % 2 else 0.0)
        while edge < 0.5 * wide - 1e-6:
            low, top = max(edge, -0.5 * wide), min(edge + long, 0.5 * wide)
            out = deep + 0.006 * lattice_value(course, round(1e3 * edge), 5)
            yield box((out, top - low - _JOINT, high - _JOINT)).moved((0.0, 0.5 * (low + top), z))
            edge += long


def _forest() -> Iterator[Fir]:
    """Firs in the background."""
    for row in range(4):
        for column in range(-9, 12):
            x = 1.9 * column + 0.8 * lattice_value(column, row, 1) + 2.0
            y = 9.0 + 2.6 * row + 0.9 * lattice_value(column, row, 2)
            yield Fir((x, y, ground_height(x, y)), 4.6 + 1.3 * lattice_value(column, row, 3), FAR)
