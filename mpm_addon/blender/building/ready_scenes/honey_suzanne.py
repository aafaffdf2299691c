"""Honey pours over Suzanne's head."""

from ..solids import ball, cylinder
from ..stages import Stage, make_monkey

LABEL = "Honey over Suzanne"
DESCRIPTION = "A thread of honey coils and runs over Suzanne"

# A thread coils if U d / nu is less than 1.2 and its fall is more than seven times its diameter (Cruickshank 1988, Journal of Fluid
# Mechanics 193): honey of 0.013 m^2/s does so where it is a centimeter thick, as from a spoon, and not where it is ten.
_THREAD, _SPEED = 0.0055, 0.34
_SIZE = 0.06


def build(stage: Stage) -> None:
    stage.frames(96)
    stage.cells(0.0027, full=0.0014)
    stage.floor(0.3, (0.45, 0.50, 0.53), tile=0.05, surface="sticky")
    head = stage.collider(
        "Suzanne",
        ball(_SIZE),
        (0.0, 0.0, 0.049),
        (0.62, 0.60, 0.56),
        rotation=(-14.0, 0.0, 0.0),
        roughness=0.2,
        surface="sticky",
    )
    make_monkey(head.data, _SIZE)
    head.modifiers.new("Subdivision", "SUBSURF").levels = 2
    flow = {"mode": "inflow", "velocity": (0.0, 0.0, -_SPEED), "frame_end": 80}
    stage.emitter("Honey", cylinder(_THREAD, 0.009), (0.0, -0.008, 0.21), "honey", **flow)
    stage.camera((-0.19, -0.51, 0.16), (0.0, 0.0, 0.086), lens=50.0, stop=8.0)
