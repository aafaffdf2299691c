"""A bat at 10 m/s drives a block of jelly in front of it."""

from typing import Any

from parts import box, keyed, table

STILLS = (1, 3, 5, 6)


def build(stage: Any) -> None:
    stage.frames(14)
    stage.cells(0.03)
    table(stage, half=3.0, friction=0.3)
    stage.emitter("Jelly", box((0.4, 0.4, 0.3)), (-0.2, 0.0, 0.151), "jelly", color=(0.7, 0.02, 0.05))
    bat = stage.collider("Bat", box((0.12, 0.7, 0.4)), (-0.9, 0.0, 0.22), (0.55, 0.33, 0.12), bevel=0.01)
    # from rest to 10 m/s and back to rest
    keyed(bat, "location", {1: (-0.9, 0.0, 0.22), 2: (-0.7, 0.0, 0.22), 5: (0.55, 0.0, 0.22), 7: (0.75, 0.0, 0.22)})
    stage.camera((0.5, -3.9, 1.5), (0.5, 0.0, 0.3))
