"""Sand in Blender's own force fields: a vortex turns it, wind carries it, an empty attracts it and drag slows it there."""

from typing import Any

import bpy
from parts import cylinder, table

STILLS = (1, 20, 40, 60)


def build(stage: Any) -> None:
    stage.frames(60)
    stage.cells(0.025)
    stage.scene.gravity = (0.0, 0.0, -2.0)
    table(stage, half=2.0, friction=0.3)
    stage.emitter("Powder", cylinder(0.2, 0.3), (-0.4, 0.0, 0.152), "fine_sand", color=(0.85, 0.6, 0.3), particles_per_cell=6)
    add_field("VORTEX", (-0.4, 0.0, 0.1), strength=6.0, distance_max=0.6, use_max_distance=True)
    add_field("WIND", (-0.4, 0.0, 0.3), strength=3.0).rotation_euler = (0.0, 1.1, 0.0)
    add_field("FORCE", (0.9, 0.0, 0.8), strength=-6.0, falloff_power=1.0)
    add_field("DRAG", (0.9, 0.0, 0.8), quadratic_drag=2.0, distance_max=0.5, use_max_distance=True)
    add_field("TURBULENCE", (0.0, 0.0, 0.5), strength=3.0, size=0.3)
    stage.camera((0.3, -2.6, 1.2), (0.3, 0.0, 0.45))


def add_field(kind: Any, at: tuple[float, float, float], **settings: Any) -> Any:
    bpy.ops.object.effector_add(type=kind, location=at)
    item: Any = bpy.context.object
    for name, value in settings.items():
        setattr(item.field, name, value)
    return item
