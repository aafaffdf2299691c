"""Blocks of jelly fall onto each other; one has layers, which follow its UV map as it bends."""

from ..solids import Point, cylinder, divided_box
from ..stages import Stage
from ..surfaces import layer

LABEL = "Jelly Stack"
DESCRIPTION = "Blocks of jelly fall onto a plate, wobble and come to rest"

# For each block: name and color, width and height, center, rotation.
_BLOCKS: tuple[tuple[str, tuple[float, float, float], tuple[float, float], Point, Point], ...] = (
    ("Strawberry", (0.72, 0.03, 0.05), (0.27, 0.12), (0.0, 0.0, 0.15), (0.0, 0.0, 12.0)),
    ("Lime", (0.22, 0.60, 0.06), (0.23, 0.11), (0.02, 0.01, 0.36), (3.0, -4.0, 40.0)),
    ("Orange", (0.95, 0.33, 0.02), (0.19, 0.10), (-0.015, -0.01, 0.58), (-5.0, 4.0, -15.0)),
    ("Blueberry", (0.10, 0.10, 0.60), (0.15, 0.09), (0.01, 0.0, 0.80), (9.0, 7.0, 30.0)),
)
# The rounding of their edges, and the parts of their sides, short enough to show how they bend.
_BEVEL, _PARTS = 0.012, (16, 16, 8)
# The block that has layers, and the color of every other one.
_LAYERED, _MILK = "Orange", (0.90, 0.80, 0.62)


def build(stage: Stage) -> None:
    stage.frames(60)
    stage.cells(0.0155, full=0.0078)
    stage.clear()
    stage.floor(0.9, (0.55, 0.47, 0.42), friction=0.8)
    stage.collider("Plate", cylinder(0.34, 0.06, steps=96), (0.0, 0.0, 0.03), (0.85, 0.85, 0.83), bevel=0.015, roughness=0.2, friction=1.0)
    for name, color, (width, height), at, turn in _BLOCKS:
        solid = divided_box((width, width, height), _PARTS, 1.2 * _BEVEL)
        block = stage.emitter(name, solid, at, "gelatin", rotation=turn, bevel=_BEVEL, color=color)
        if name == _LAYERED:
            layer(block, (color, _MILK), 4)
    stage.camera((-0.62, -1.25, 0.62), (0.0, 0.0, 0.25), lens=50.0, stop=2.8)
