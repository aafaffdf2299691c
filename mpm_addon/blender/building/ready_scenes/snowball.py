"""A snowball is thrown against a wall, in slow motion."""

from ..solids import ball, box
from ..stages import Stage

LABEL = "Snowball"
DESCRIPTION = "A snowball bursts against a wall in slow motion"


def build(stage: Stage) -> None:
    stage.frames(48, time_scale=0.35)
    stage.cells(0.0225, full=0.0092)
    stage.floor(3.2, (0.16, 0.20, 0.27), surface="sticky")
    stage.collider("Wall", box((0.22, 1.2, 0.56)), (0.41, 0.0, 0.28), (0.36, 0.10, 0.06), bevel=0.03, roughness=0.7, friction=0.4)
    stage.emitter("Snowball", ball(0.2), (-0.75, -0.05, 0.58), "snow", velocity=(9.0, 0.0, 0.8), angular_velocity=(0.0, 200.0, 90.0))
    stage.fog()
    # as much again as the grains themselves would hide its chunks
    stage.debris(chips=1.0, dust=3.0, bounce=0.1, friction=0.9)
    # debris that flies on would cost more time than the whole ball; it leaves the domain outside the camera's view
    stage.domain((-1.1, -1.3, -0.06), (3.0, 1.3, 1.7), surface="open")
    stage.camera((-1.2, -2.85, 1.15), (0.2, 0.0, 0.6), lens=38.0, stop=2.8)
