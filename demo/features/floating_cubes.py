"""Cubes of 0.15, 0.3 and 0.5 of water's density fall into a tank and float as deep as they should; iron sinks."""

from typing import Any

from parts import box, thin_water

STILLS = (1, 14, 36, 72)
DENSITIES = (150.0, 300.0, 500.0, 7800.0)


def build(stage: Any) -> None:
    stage.frames(72)
    stage.cells(0.028)
    stage.domain((-0.8, -0.25, 0.0), (0.8, 0.25, 1.5))
    thin_water(stage.emitter("Water", box((1.598, 0.498, 0.35)), (0.0, 0.0, 0.176), "water", particles_per_cell=4), viscosity=0.5)
    for number, density in enumerate(DENSITIES):
        at, turn, color = (-0.6 + 0.4 * number, 0.0, 0.55 + 0.05 * number), (11.5, 5.7 * number, 0.0), (0.8, 0.75 - 0.2 * number, 0.1)
        moving = {"dynamic": True, "density": density, "friction": 0.1}
        stage.collider(f"Cube {density:g}", box((0.17, 0.17, 0.17)), at, color, rotation=turn, **moving)
    stage.camera((0.0, -2.6, 1.2), (0.0, 0.0, 0.3))
