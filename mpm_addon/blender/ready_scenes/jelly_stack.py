"""Blocks of jelly fall onto each other."""

from ..solids import Point, box, cylinder
from .staging import Stage

LABEL = "Jelly Stack"
DESCRIPTION = "Blocks of jelly fall onto a plate, wobble and come to rest"

_SIDE = 0.2
_BLOCKS: tuple[tuple[str, tuple[float, float, float], Point, Point], ...] = (
    ("Strawberry", (0.72, 0.03, 0.05), (0.0, 0.0, 0.20), (0.0, 0.0, 10.0)),
    ("Lime", (0.22, 0.60, 0.06), (0.045, 0.02, 0.52), (8.0, -6.0, 35.0)),
    ("Orange", (0.95, 0.33, 0.02), (-0.03, -0.02, 0.86), (-12.0, 9.0, -20.0)),
    ("Blueberry", (0.10, 0.10, 0.60), (0.02, 0.01, 1.22), (20.0, 14.0, 50.0)),
)


def build(stage: Stage) -> None:
    stage.frames(72)
    stage.cells(0.0135)
    stage.floor(1.0, (0.55, 0.47, 0.42), friction=0.8)
    stage.collider("Plate", cylinder(0.36, 0.06), (0.0, 0.0, 0.03), (0.85, 0.85, 0.83), bevel=0.015, roughness=0.2, friction=1.0)
    for number, (name, color, at, turn) in enumerate(_BLOCKS):
        side = _SIDE * (1.0 - 0.06 * number)
        stage.emitter(name, box((1.15 * side, 1.15 * side, 0.8 * side)), at, "jelly", rotation=turn, use_color=True, color=color)
    stage.camera((-0.75, -1.75, 0.75), (0.0, 0.0, 0.30), lens=50.0)
