"""A statue's stiffness is keyframed away: it melts."""

import bpy
import stage

VIEW = stage.View(camera=(0.3, -1.9, 0.8), target=(0.0, 0.0, 0.2), stills=(1, 24, 40, 72))


def build() -> None:
    stage.new_file(frame_end=72, grid_spacing=0.02)
    stage.table(friction=0.4)
    bpy.ops.mesh.primitive_monkey_add(size=0.5, location=(0.0, 0.0, 0.26), rotation=(-0.3, 0.0, 0.3))
    statue = stage.emitter(bpy.context.object, "jelly", color=(0.85, 0.55, 0.1), particles_per_cell=6)
    stage.custom(statue, "viscoplastic", density=1000.0, young_modulus=8e4, poisson_ratio=0.4, yield_stress=6000.0)
    stage.keyed_setting(statue, "material.viscoplastic", "yield_stress", {1: 6000.0, 20: 6000.0, 44: 60.0})
