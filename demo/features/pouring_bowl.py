"""A bowl of water is carried sideways and tilted until it pours."""

import math
from typing import Any

from parts import CLAY, bowls, box, keyed, placing, table, thin_water, turned

STILLS = (1, 20, 40, 60)


def build(stage: Any) -> None:
    stage.frames(60)
    stage.cells(0.015)
    table(stage, friction=0.0)
    tray = stage.collider("Tray", box((0.7, 0.5, 0.16)), (0.35, 0.0, 0.08), (0.2, 0.26, 0.3), friction=0.0)
    cavity = stage.seen("Cavity", box((0.6, 0.4, 0.16)), (0.35, 0.0, 0.12), CLAY)
    placing.show_as_wire(cavity)
    cut = tray.modifiers.new("Cavity", "BOOLEAN")
    cut.operation, cut.object = "DIFFERENCE", cavity
    start = (-0.3, 0.0, 0.45)
    bowl = stage.collider("Bowl", turned(bowls.BOWL), start, CLAY, roughness=0.3, friction=0.0)
    bowl.data.shade_smooth()
    thin_water(stage.emitter("Water", turned([*bowls.WATER[:4], (0.168, 0.11), (0.0, 0.11)]), start, "water"))
    keyed(bowl, "location", {1: start, 6: start, 24: (0.08, 0.0, 0.5), 60: (0.12, 0.0, 0.55)})
    keyed(bowl, "rotation_euler", {24: (0.0, 0.0, 0.0), 54: (0.0, math.radians(115.0), 0.0)})
    stage.camera((0.15, -2.3, 1.0), (0.15, 0.0, 0.36))
