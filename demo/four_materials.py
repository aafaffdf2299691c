"""The demonstration: water pours into a bowl, a jelly Suzanne, snowballs that break on the edge of a ramp, a column of sand.

All materials share a time step, so none is stiffer than necessary: wave speeds are 10 to 20 m/s, five times the speed of falling objects.
"""

import math
from typing import Any

import bpy
from mathutils import Vector
from parts import (
    FPS,
    GRAY,
    Solid,
    ball,
    bowls,
    box,
    custom,
    cylinder,
    display,
    make_monkey,
    particle_objects,
    thin_water,
    turned,
)

BOWL_AT = (-0.6, 0.05, 0.0)
STREAM_FROM, STREAM_VELOCITY, STREAM_RADIUS, STREAM_LAST_FRAME = Vector((-0.73, 0.14, 0.42)), Vector((0.4, -0.25, -0.7)), 0.045, 24
BLUE, RED, WHITE, SAND = (0.02, 0.17, 0.6), (0.7, 0.02, 0.05), (0.85, 0.9, 0.95), (0.62, 0.4, 0.16)
# The water is clear, so that the bowl has to be dark for it to be seen.
SLATE, GLAZE, WOOD = (0.07, 0.13, 0.15), (0.02, 0.05, 0.13), (0.36, 0.2, 0.085)
RADIUS_SCALE, GRAIN_COUNT = 1.35, 10
# Roughness and coat weight of each emitter's particles.
SURFACES = {
    "Water": (0.08, 1.0),
    "Stream": (0.08, 1.0),
    "Suzanne": (0.45, 0.1),
    "Snowball": (0.9, 0.0),
    "Second Snowball": (0.9, 0.0),
    "Sand": (1.0, 0.0),
}


def four_materials(stage: Any) -> None:
    stage.ground(SLATE, half=15.0, height=-0.002)
    stage.collider("Table", box((3.2, 2.8, 0.1)), (0.0, 0.0, -0.05), SLATE, roughness=0.7, friction=0.6)
    stage.collider("Bowl", turned(bowls.BOWL), BOWL_AT, GLAZE, roughness=0.2, friction=0.0).data.shade_smooth()
    stage.collider("Ramp", box((0.42, 0.72, 0.06)), (0.3, 0.46, 0.17), WOOD, rotation=(0.0, 31.5, 0.0), bevel=0.012, friction=0.2)
    thin_water(stage.emitter("Water", turned(bowls.WATER), BOWL_AT, "water", color=BLUE))
    add_stream(stage)
    turn = tuple(map(math.degrees, (-0.3, 0.12, 0.2)))
    suzanne = stage.emitter("Suzanne", ball(0.1), (-0.08, -0.31, 0.58), "jelly", rotation=turn, color=RED)
    make_monkey(suzanne.data, 0.17)
    custom(suzanne, "corotated", density=1000.0, young_modulus=5.0e4, poisson_ratio=0.4)
    snow(stage.emitter("Snowball", ball(0.11), (0.14, 0.28, 0.5), "snow", color=WHITE, velocity=(0.0, 0.0, -3.5)))
    snow(stage.emitter("Second Snowball", ball(0.11), (0.03, 0.64, 0.92), "snow", color=WHITE, velocity=(0.5, 0.0, -3.0)))
    sand = stage.emitter("Sand", cylinder(0.12, 0.24), (0.57, -0.2, 0.121), "dry_sand", color=SAND)
    custom(sand, "sand", density=1600.0, young_modulus=2.0e5, poisson_ratio=0.3, friction_angle=38.0)


def snow(item: Any) -> None:
    """Snow that breaks at large stretches and softens immediately: chunks instead of powder or mud."""
    elastic = {"density": 400.0, "young_modulus": 7.0e4, "poisson_ratio": 0.2}
    custom(item, "snow", **elastic, critical_compression=0.02, critical_stretch=0.015, hardening=15.0, volume_ratio_min=0.94)


def add_stream(stage: Any) -> None:
    """Add a spout, and a slice of its stream, as long as the distance that water moves in a frame, so that slices join."""
    direction = STREAM_VELOCITY.normalized()
    euler: Any = direction.to_track_quat("-Z", "Y").to_euler()
    turn = tuple(map(math.degrees, euler))
    closed = cylinder(STREAM_RADIUS + 0.015, 0.25)
    pipe = Solid(closed.vertices, tuple(face for face in closed.faces if len(face) == 4))
    spout = stage.seen("Spout", pipe, STREAM_FROM - 0.08 * direction, GRAY, roughness=0.3)
    spout.rotation_euler = euler
    spout.modifiers.new("Wall", "SOLIDIFY").thickness = -0.012
    spout.data.shade_smooth()
    slice_of_it = cylinder(STREAM_RADIUS, STREAM_VELOCITY.length / FPS)
    repeated = {"mode": "repeat", "interval": 1, "frame_end": STREAM_LAST_FRAME}
    thin_water(stage.emitter("Stream", slice_of_it, STREAM_FROM, "water", rotation=turn, color=BLUE, velocity=STREAM_VELOCITY, **repeated))


def four_materials_baked(scene: Any) -> None:
    """Give the baked particles their surfaces, and as many grains as the demonstration can render in its time."""
    for item in particle_objects(scene):
        modifier = item.modifiers[display.MODIFIER_NAME]
        display.set_input(modifier, display.RADIUS_SCALE, RADIUS_SCALE)
        display.set_input(modifier, display.COUNT, GRAIN_COUNT)
    for name, (roughness, coat) in SURFACES.items():
        tree: Any = bpy.data.materials[f"MPM {name}"].node_tree
        surface = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
        surface.inputs["Roughness"].default_value, surface.inputs["Coat Weight"].default_value = roughness, coat
