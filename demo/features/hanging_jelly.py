"""A jelly hangs from a handle that is swung about: its painted top is held, the rest follows."""

import math
from typing import Any

from parts import box, keyed, table

STILLS = (1, 12, 24, 40)


def build(stage: Any) -> None:
    stage.frames(48)
    stage.cells(0.022)
    table(stage)
    jelly = stage.emitter("Jelly", box((0.22, 0.22, 0.5)), (0.0, 0.0, 0.75), "jelly", color=(0.1, 0.6, 0.25), goal=1.0)
    cut = jelly.modifiers.new("Cut", "SUBSURF")
    cut.subdivision_type, cut.levels, cut.render_levels = "SIMPLE", 3, 3
    held = jelly.vertex_groups.new(name="Held")
    held.add([vertex.index for vertex in jelly.data.vertices if vertex.co.z > 0.0], 1.0, "REPLACE")
    jelly.mpm.emitter.goal_attribute = "Held"
    swing = {1: 0.0, 8: 0.35, 20: -0.35, 32: 0.35, 44: 0.0}
    keyed(jelly, "location", {frame: (x, 0.0, 0.75) for frame, x in swing.items()})
    keyed(jelly, "rotation_euler", {frame: (0.0, -0.8 * x, math.radians(2.0 * frame)) for frame, x in swing.items()})
    stage.camera((0.0, -2.2, 0.9), (0.0, 0.0, 0.75))
