"""An arm that an armature bends sweeps through a bank of snow."""

import math
from typing import Any

import bpy
from parts import Solid, box, table, turned

STILLS = (1, 20, 32, 48)
LENGTH, RADIUS, RINGS = 0.9, 0.07, 24


def build(stage: Any) -> None:
    stage.frames(48)
    stage.cells(0.022)
    table(stage, half=2.0, friction=0.8)
    stage.emitter("Snow", box((0.8, 0.5, 0.24)), (0.1, 0.25, 0.122), "powder_snow", particles_per_cell=6)
    stage.camera((0.9, -1.9, 1.1), (0.05, 0.1, 0.15))
    arm = add_arm(stage)
    armature = add_bones()
    arm.parent = armature
    arm.modifiers.new("Armature", "ARMATURE").object = armature
    armature.location = (-0.55, 0.0, 0.2)
    bones = armature.pose.bones["Upper"], armature.pose.bones["Lower"]
    for frame, *angles in ((1, -55.0, 0.0), (24, 10.0, 20.0), (36, 35.0, 95.0), (48, 20.0, 30.0)):
        for bone, angle in zip(bones, angles, strict=True):
            bone.rotation_mode, bone.rotation_euler = "XYZ", (0.0, 0.0, math.radians(angle))
            bone.keyframe_insert("rotation_euler", frame=frame)


def add_arm(stage: Any) -> Any:
    """A rounded tube along x whose two halves belong to two bones, softly at the elbow."""
    outline = [(0.0, 0.0)]
    for along in (ring / RINGS for ring in range(RINGS + 1)):
        end = min(along, 1.0 - along) * LENGTH
        outline.append((RADIUS * math.sqrt(max(0.02, 1.0 - max(0.0, 1.0 - end / RADIUS) ** 2)), along * LENGTH))
    upright = turned([*outline, (0.0, LENGTH)], steps=20)
    along_x = Solid(tuple((z, x, y) for x, y, z in upright.vertices), upright.faces)
    arm = stage.collider("Arm", along_x, (0.0, 0.0, 0.0), (0.65, 0.42, 0.32), friction=0.3)
    upper, lower = arm.vertex_groups.new(name="Upper"), arm.vertex_groups.new(name="Lower")
    for number, (x, _, _) in enumerate(along_x.vertices):
        share = min(1.0, max(0.0, (x - 0.4 * LENGTH) / (0.2 * LENGTH)))
        upper.add([number], 1.0 - share, "REPLACE")
        lower.add([number], share, "REPLACE")
    arm.data.shade_smooth()
    return arm


def add_bones() -> Any:
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
