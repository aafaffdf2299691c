"""A bowl of water is carried sideways and tilted until it pours."""

import math

import stage
from scene import BOWL_INSIDE, BOWL_OUTSIDE, BOWL_RIM, WATER_IN_BOWL, add_turned

VIEW = stage.View(camera=(0.15, -2.3, 1.0), target=(0.15, 0.0, 0.36), stills=(1, 20, 40, 60))


def build() -> None:
    stage.new_file(frame_end=60, grid_spacing=0.015)
    stage.table(friction=0.0)
    tray = stage.box("Tray", (0.7, 0.5, 0.16), (0.35, 0.0, 0.08))
    cavity = stage.box("Cavity", (0.6, 0.4, 0.16), (0.35, 0.0, 0.12))
    cut = tray.modifiers.new("Cavity", "BOOLEAN")
    cut.operation, cut.object = "DIFFERENCE", cavity
    cavity.hide_render, cavity.display_type = True, "WIRE"
    stage.collider(tray, friction=0.0, color=(0.2, 0.26, 0.3))
    start = (-0.3, 0.0, 0.45)
    bowl = add_turned("Bowl", [*BOWL_INSIDE, *BOWL_RIM, *BOWL_OUTSIDE], location=start)
    stage.collider(bowl, friction=0.0, color=(0.62, 0.56, 0.47), roughness=0.3)
    water = add_turned("Water", [*WATER_IN_BOWL[:-1], (0.168, 0.11), (0.0, 0.11)], location=start)
    stage.emitter(water, "water")
    stage.custom(water, "water", bulk_modulus=2e5, viscosity=0.01)
    stage.keyed(bowl, "location", {1: start, 6: start, 24: (0.08, 0.0, 0.5), 60: (0.12, 0.0, 0.55)})
    stage.keyed(bowl, "rotation_euler", {24: (0.0, 0.0, 0.0), 54: (0.0, math.radians(115.0), 0.0)})
