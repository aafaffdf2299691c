"""In Blender: camera, light, and the surfaces of what is seen."""

from typing import Any

import bpy
import extension
from mathutils import Vector

# Blender's stubs know neither the add-on's properties nor what context holds while a script runs.
context: Any = bpy.context

CAMERA = (0.02, -2.2, 1.45)
TARGET = (0.02, 0.05, 0.15)
RADIUS_SCALE = 1.35
# Roughness and the weight of a clear coat of each emitter's particles.
SURFACES = {
    "Water": (0.08, 1.0),
    "Stream": (0.08, 1.0),
    "Suzanne": (0.45, 0.1),
    "Snowball": (0.9, 0.0),
    "Second Snowball": (0.9, 0.0),
    "Sand": (1.0, 0.0),
}


def light_and_frame() -> None:
    """Add camera, lamps and a bright world, and paint the colliders."""
    scene = context.scene
    camera: Any = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = CAMERA
    camera.rotation_euler = (Vector(TARGET) - Vector(CAMERA)).to_track_quat("-Z", "Y").to_euler()
    camera.data.lens = 49.0
    scene.collection.objects.link(camera)
    scene.camera = camera
    _lamp("Key", (-2.0, -0.9, 1.9), watts=135.0, size=0.8)
    _lamp("Rim", (1.8, 1.6, 1.8), watts=50.0, size=1.0)
    scene.world = bpy.data.worlds.new("World")
    _background(scene.world).inputs["Color"].default_value = (0.55, 0.62, 0.72, 1.0)
    _background(scene.world).inputs["Strength"].default_value = 0.35
    bpy.ops.mesh.primitive_plane_add(size=30.0, location=(0.0, 0.0, -0.002))
    ground = context.object
    ground.name = "Ground"
    for name, color, roughness in (
        ("Ground", (0.12, 0.125, 0.14, 1.0), 0.7),
        ("Table", (0.12, 0.125, 0.14, 1.0), 0.7),
        ("Bowl", (0.62, 0.56, 0.47, 1.0), 0.3),
        ("Ramp", (0.30, 0.31, 0.33, 1.0), 0.5),
        ("Spout", (0.30, 0.30, 0.32, 1.0), 0.3),
    ):
        material: Any = bpy.data.materials.new(name)
        material.use_nodes = True
        surface = _surface(material)
        surface.inputs["Base Color"].default_value = color
        surface.inputs["Roughness"].default_value = roughness
        material.diffuse_color = color
        scene.objects[name].data.materials.append(material)


def paint() -> None:
    """Give the baked particles their surfaces, and spheres that overlap."""
    for name, (roughness, coat) in SURFACES.items():
        surface = _surface(bpy.data.materials[f"MPM {name}"])
        surface.inputs["Roughness"].default_value = roughness
        surface.inputs["Coat Weight"].default_value = coat
    swell_particles()


def swell_particles() -> None:
    """Let the spheres of the particles overlap."""
    display = extension.module("blender.display")
    for item in particle_objects():
        display.set_input(item.modifiers[display.MODIFIER_NAME], display.RADIUS_SCALE, RADIUS_SCALE)


def particle_objects() -> list[Any]:
    """The objects that show the baked particles."""
    return [item for item in context.scene.objects if item.mpm.cache]


def _lamp(name: str, location: tuple[float, float, float], *, watts: float, size: float) -> None:
    lamp: Any = bpy.data.objects.new(name, bpy.data.lights.new(name, "AREA"))
    lamp.location = location
    lamp.rotation_euler = (Vector(TARGET) - Vector(location)).to_track_quat("-Z", "Y").to_euler()
    lamp.data.energy, lamp.data.size = watts, size
    context.scene.collection.objects.link(lamp)


def _surface(material: Any) -> Any:
    return next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")


def _background(world: Any) -> Any:
    world.use_nodes = True
    return next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
