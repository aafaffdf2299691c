"""A statue's stiffness is keyframed away: it melts."""

import math
from typing import Any

from parts import ball, custom, keyed, make_monkey, table

STILLS = (1, 24, 40, 72)


def build(stage: Any) -> None:
    stage.frames(72)
    stage.cells(0.02)
    table(stage, friction=0.4)
    turn, color = (math.degrees(-0.3), 0.0, math.degrees(0.3)), (0.85, 0.55, 0.1)
    statue = stage.emitter("Suzanne", ball(0.25), (0.0, 0.0, 0.26), "jelly", rotation=turn, color=color, particles_per_cell=6)
    make_monkey(statue.data, 0.25)
    custom(statue, "viscoplastic", density=1000.0, young_modulus=8e4, poisson_ratio=0.4, yield_stress=6000.0)
    keyed(statue, "mpm.material.viscoplastic.yield_stress", {1: 6000.0, 20: 6000.0, 44: 60.0})
    stage.camera((0.3, -1.9, 0.8), (0.0, 0.0, 0.2))
