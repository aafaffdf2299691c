"""An arm that an armature bends sweeps through a bank of snow."""

import math
from typing import Any

import bpy
import stage

VIEW = stage.View(camera=(0.9, -1.9, 1.1), target=(0.05, 0.1, 0.15), stills=(1, 20, 32, 48))
LENGTH, RADIUS, RINGS = 0.9, 0.07, 24


def build() -> None:
    stage.new_file(frame_end=48, grid_spacing=0.022)
    stage.table(half=2.0, friction=0.8)
    bank = stage.emitter(stage.box("Snow", (0.8, 0.5, 0.24), (0.1, 0.25, 0.122)), "powder_snow")
    bank.mpm.emitter.particles_per_cell = 6
    arm = stage.collider(_arm(), color=(0.65, 0.42, 0.32), friction=0.3)
    armature = _bones()
    arm.parent = armature
    arm.modifiers.new("Armature", "ARMATURE").object = armature
    armature.location = (-0.55, 0.0, 0.2)
    elbow = armature.pose.bones["Lower"]
    elbow.rotation_mode = "XYZ"
    upper = armature.pose.bones["Upper"]
    upper.rotation_mode = "XYZ"
    for frame, shoulder, bend in ((1, -55.0, 0.0), (24, 10.0, 20.0), (36, 35.0, 95.0), (48, 20.0, 30.0)):
        upper.rotation_euler = (0.0, 0.0, math.radians(shoulder))
        elbow.rotation_euler = (0.0, 0.0, math.radians(bend))
        upper.keyframe_insert("rotation_euler", frame=frame)
        elbow.keyframe_insert("rotation_euler", frame=frame)


def _arm() -> Any:
    """A rounded tube along x whose two halves belong to two bones, softly at the elbow."""
    vertices, sides = [], 20
    for ring in range(RINGS + 1):
        along = ring / RINGS
        end = min(along, 1.0 - along) * LENGTH
        radius = RADIUS * math.sqrt(max(0.02, 1.0 - max(0.0, 1.0 - end / RADIUS) ** 2))
        for side in range(sides):
            turn = 2.0 * math.pi * side / sides
            vertices.append((along * LENGTH, radius * math.cos(turn), radius * math.sin(turn)))
    faces = [
        (ring * sides + side, ring * sides + (side + 1) % sides, (ring + 1) * sides + (side + 1) % sides, (ring + 1) * sides + side)
        for ring in range(RINGS)
        for side in range(sides)
    ]
    faces += [tuple(range(sides)), tuple(RINGS * sides + side for side in range(sides))]
    arm = stage.mesh("Arm", vertices, faces)
    upper, lower = arm.vertex_groups.new(name="Upper"), arm.vertex_groups.new(name="Lower")
    for number, (x, _, _) in enumerate(vertices):
        share = min(1.0, max(0.0, (x - 0.4 * LENGTH) / (0.2 * LENGTH)))
        upper.add([number], 1.0 - share, "REPLACE")
        lower.add([number], share, "REPLACE")
    for polygon in arm.data.polygons:
        polygon.use_smooth = True
    return arm


def _bones() -> Any:
    """Two bones along x. Their own x axis points along y of the world, so that z bends the elbow in the plane."""
    bpy.ops.object.armature_add(enter_editmode=True)
    armature: Any = bpy.context.object
    upper = armature.data.edit_bones[0]
    upper.name, upper.head, upper.tail = "Upper", (0.0, 0.0, 0.0), (0.5 * LENGTH, 0.0, 0.0)
    lower = armature.data.edit_bones.new("Lower")
    lower.head, lower.tail, lower.parent = upper.tail, (LENGTH, 0.0, 0.0), upper
    upper.align_roll((0.0, 0.0, 1.0))
    lower.align_roll((0.0, 0.0, 1.0))
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature
