"""Cubes of 0.15, 0.3 and 0.5 of water's density fall into a tank and float as deep as they should; iron sinks."""

import stage

VIEW = stage.View(camera=(0.0, -2.6, 1.2), target=(0.0, 0.0, 0.3), stills=(1, 14, 36, 72))
DENSITIES = (150.0, 300.0, 500.0, 7800.0)


def build() -> None:
    scene = stage.new_file(frame_end=72, grid_spacing=0.028)
    scene.mpm.domain.kind = "box"
    scene.mpm.domain.min, scene.mpm.domain.max = (-0.8, -0.25, 0.0), (0.8, 0.25, 1.5)
    water = stage.emitter(stage.box("Water", (1.598, 0.498, 0.35), (0.0, 0.0, 0.176)), "water", particles_per_cell=4)
    stage.custom(water, "water", bulk_modulus=2e5, viscosity=0.5)
    for number, density in enumerate(DENSITIES):
        at = (-0.6 + 0.4 * number, 0.0, 0.55 + 0.05 * number)
        cube = stage.box(f"Cube {density:g}", (0.17, 0.17, 0.17), at, rotation=(0.2, 0.1 * number, 0.0))
        shade = 0.75 - 0.2 * number
        stage.collider(cube, dynamic=True, density=density, friction=0.1, color=(0.8, shade, 0.1))
