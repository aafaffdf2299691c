"""Honey pours over Suzanne's head."""

from ..solids import ball, cylinder
from ..stages import Stage, make_monkey

LABEL = "Honey over Suzanne"
DESCRIPTION = "A thread of honey coils and runs over Suzanne"


def build(stage: Stage) -> None:
    stage.frames(96)
    stage.cells(0.0105, full=0.0062)
    stage.floor(0.8, (0.30, 0.36, 0.40), surface="sticky")
    head = stage.collider(
        "Suzanne",
        ball(0.1),
        (0.0, 0.0, 0.164),
        (0.30, 0.32, 0.34),
        rotation=(-14.0, 0.0, 0.0),
        roughness=0.35,
        surface="sticky",
    )
    make_monkey(head.data, 0.2)
    head.modifiers.new("Subdivision", "SUBSURF").levels = 2
    stage.emitter("Honey", cylinder(0.035, 0.03), (0.0, -0.02, 0.62), "honey", mode="inflow", velocity=(0.0, 0.0, -0.8), frame_end=80)
    stage.camera((-0.45, -1.2, 0.5), (0.0, 0.0, 0.26), lens=50.0, stop=2.8)
