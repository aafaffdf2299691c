"""Sand in Blender's own force fields: a vortex turns it, wind carries it, an empty attracts it and drag slows it there."""

from typing import Any

import bpy
import stage

VIEW = stage.View(camera=(0.3, -2.6, 1.2), target=(0.3, 0.0, 0.45), stills=(1, 20, 40, 60))


def build() -> None:
    scene = stage.new_file(frame_end=60, grid_spacing=0.025)
    scene.gravity = (0.0, 0.0, -2.0)
    stage.table(half=2.0, friction=0.3)
    stage.emitter(stage.cylinder("Powder", 0.2, 0.3, (-0.4, 0.0, 0.152)), "fine_sand", color=(0.85, 0.6, 0.3), particles_per_cell=6)
    vortex = _field("VORTEX", (-0.4, 0.0, 0.1))
    vortex.field.strength, vortex.field.distance_max, vortex.field.use_max_distance = 6.0, 0.6, True
    wind = _field("WIND", (-0.4, 0.0, 0.3))
    wind.rotation_euler = (0.0, 1.1, 0.0)
    wind.field.strength = 3.0
    pointer = _field("FORCE", (0.9, 0.0, 0.8))
    pointer.field.strength, pointer.field.falloff_power = -6.0, 1.0
    drag = _field("DRAG", (0.9, 0.0, 0.8))
    drag.field.quadratic_drag, drag.field.distance_max, drag.field.use_max_distance = 2.0, 0.5, True
    turbulence = _field("TURBULENCE", (0.0, 0.0, 0.5))
    turbulence.field.strength, turbulence.field.size = 3.0, 0.3


def _field(kind: Any, at: stage.Vector3) -> Any:
    bpy.ops.object.effector_add(type=kind, location=at)
    return bpy.context.object
