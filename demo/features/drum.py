"""A drum with four blades turns and mixes two sands that lay side by side."""

import math
from typing import Any

from parts import Solid, box, keyed

STILLS = (1, 30, 60, 96)
RADIUS, DEPTH, SIDES = 0.45, 0.24, 64


def build(stage: Any) -> None:
    stage.frames(96)
    stage.cells(0.02)
    stage.domain((-0.6, -0.5 * DEPTH, -0.1), (0.6, 0.5 * DEPTH, 1.1))
    for side, color in ((-1.0, (0.75, 0.5, 0.18)), (1.0, (0.1, 0.22, 0.45))):
        name = f"Sand {'left' if side < 0 else 'right'}"
        stage.emitter(name, box((0.26, 0.9 * DEPTH, 0.3)), (0.13 * side, 0.0, 0.3), "fine_sand", color=color)
    drum = stage.collider("Drum", shell(), (0.0, 0.0, 0.5), (0.35, 0.36, 0.38), friction=0.5)
    keyed(drum, "rotation_euler", {1: (0.0, 0.0, 0.0), 97: (0.0, 3.0 * math.pi, 0.0)})
    stage.camera((0.0, -2.7, 0.8), (0.0, 0.0, 0.5))


def shell() -> Any:
    """A ring along y, thick outward, with blades on its inside; both ends are open."""
    inner = [RADIUS - (0.09 if number % (SIDES // 4) == 0 else 0.0) for number in range(SIDES)]
    vertices = [
        (radius * math.cos(2.0 * math.pi * number / SIDES), y * DEPTH, radius * math.sin(2.0 * math.pi * number / SIDES))
        for radii in (inner, [RADIUS + 0.08] * SIDES)
        for y in (-0.5, 0.5)
        for number, radius in enumerate(radii)
    ]
    # inside front, inside back, outside front, outside back
    pairs = ((0, 1), (1, 3), (3, 2), (2, 0))
    faces = []
    for number in range(SIDES):
        after = (number + 1) % SIDES
        faces += [(one * SIDES + number, one * SIDES + after, other * SIDES + after, other * SIDES + number) for one, other in pairs]
    return Solid(tuple(vertices), tuple(faces))
