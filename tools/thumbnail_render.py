"""In Blender: renders what tools/thumbnails.py baked, one picture for each material.

Arguments: folder of NAME.npz and NAME.json files, names of materials.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from thumbnail_looks import LOOKS, Look

SIZE, SAMPLES = 160, 20
# The camera's direction, and how much of the picture the matter fills.
VIEW, FILLED = Vector((0.35, -1.0, 0.42)), 0.78
TONES = {"dark": (0.055, 0.065, 0.085), "middle": (0.20, 0.22, 0.26), "light": (0.55, 0.56, 0.58)}

# Blender's stubs do not know what context holds while a script runs.
context: Any = bpy.context


@dataclass(frozen=True)
class Shown:
    """What is in a picture: positions and rest positions [m] (n, 3), the grid spacing [m], and a sphere beside the matter."""

    points: Any
    rest: Any
    spacing: float
    ball: list[float] | None


def main() -> None:
    folder, *names = sys.argv[1:]
    for name in names:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        with np.load(Path(folder) / f"{name}.npz") as arrays:
            ball = json.loads((Path(folder) / f"{name}.json").read_text(encoding="utf-8"))["ball"]
            shown = Shown(arrays["position"], arrays["rest"], float(arrays["spacing"]), ball)
        look = LOOKS[name]
        light(context.scene, look)
        aim(context.scene, shown)
        matter(shown, look)
        context.scene.render.filepath = str(Path(folder) / f"{name}.png")
        bpy.ops.render.render(write_still=True)


def light(scene: Any, look: Look) -> None:
    """A floor that becomes the background, a large soft light from the left, a rim from behind, a pale sky."""
    world: Any = bpy.data.worlds.new("World")
    scene.world, world.use_nodes = world, True
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (0.62, 0.72, 0.9, 1.0)
    background.inputs["Strength"].default_value = 0.35
    for place, size, power in (((-1.3, -1.2, 1.7), 1.0, 42.0), ((1.2, 1.1, 1.1), 0.7, 38.0), ((1.6, -1.0, 0.5), 0.9, 7.0)):
        lamp: Any = bpy.data.lights.new("Softbox", "AREA")
        lamp.size, lamp.energy = size, power * look.light
        item = bpy.data.objects.new("Softbox", lamp)
        item.location = place
        item.rotation_euler = (Vector((0.0, 0.0, 0.1)) - item.location).to_track_quat("-Z", "Y").to_euler()
        scene.collection.objects.link(item)
    bpy.ops.mesh.primitive_plane_add(size=60.0)
    context.object.data.materials.append(painted("Floor", Look(TONES[look.tone], roughness=0.6)))
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.max_bounces = SAMPLES, True, 6
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.view_settings.view_transform = "Standard"


def aim(scene: Any, shown: Shown) -> None:
    """A camera so near that the matter, but for what has flown away, fills the picture."""
    points = shown.points.astype(float)
    direction = VIEW.normalized()
    rotation = direction.to_track_quat("Z", "Y")
    right, up = (np.array(rotation @ Vector(axis)) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    across, along = (span(points @ axis, shown.ball, axis) for axis in (right, up))
    middle = right * across.mean() + up * along.mean()
    extent = max(float(np.ptp(across)), float(np.ptp(along))) / FILLED
    camera: Any = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens, camera.data.sensor_width = 85.0, 36.0
    camera.location = Vector(middle) + direction * extent * 85.0 / 36.0
    camera.rotation_euler = rotation.to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera


def span(places: Any, ball: list[float] | None, axis: Any) -> Any:
    """From where to where matter, but for what has flown away, and the whole sphere reach along an axis."""
    low, high = np.percentile(places, (0.7, 99.3))
    if ball is not None:
        centre = float(np.dot(ball[:3], axis))
        low, high = min(low, centre - ball[3]), max(high, centre + ball[3])
    return np.array([low, high])


def matter(shown: Shown, look: Look) -> None:
    """The particles as grains or as the surface around them, and the sphere that pressed them."""
    mesh: Any = bpy.data.meshes.new("matter")
    mesh.vertices.add(len(shown.points))
    mesh.vertices.foreach_set("co", shown.points.astype(np.float32).ravel())
    rest = mesh.attributes.new("rest", "FLOAT_VECTOR", "POINT")
    rest.data.foreach_set("vector", shown.rest.astype(np.float32).ravel())
    item: Any = bpy.data.objects.new("matter", mesh)
    context.scene.collection.objects.link(item)
    material = painted("matter", look)
    if look.grain:
        group = grains(material, shown.spacing * look.grain)
        item.modifiers.new("grains", "NODES").node_group = group
    else:
        item.modifiers.new("skin", "NODES").node_group = skin(material, shown.spacing)
        smooth = item.modifiers.new("smooth", "SMOOTH")
        smooth.factor, smooth.iterations = 0.5, look.smoothing
    if shown.ball is not None:
        bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=shown.ball[3], location=shown.ball[:3])
        bpy.ops.object.shade_smooth()
        context.object.data.materials.append(painted("Ball", Look((0.6, 0.6, 0.62), roughness=0.18, metallic=1.0)))


def grains(material: Any, radius: float) -> Any:
    """Geometry nodes that show every vertex as a sphere, each of a size of its own."""
    group, points = with_points(radius)
    nodes = group.nodes
    sizes = nodes.new("FunctionNodeRandomValue")
    sizes.data_type = "FLOAT"
    low, high = (next(each for each in sizes.inputs if each.name == name and each.type == "VALUE") for name in ("Min", "Max"))
    low.default_value, high.default_value = 0.65 * radius, 1.25 * radius
    group.links.new(next(each for each in sizes.outputs if each.enabled and each.type == "VALUE"), points.inputs["Radius"])
    return ended(group, points, material)


def skin(material: Any, spacing: float) -> Any:
    """Geometry nodes that show the surface around all vertices."""
    group, points = with_points(0.95 * spacing)
    volume, surface, shade = (
        group.nodes.new(kind) for kind in ("GeometryNodePointsToVolume", "GeometryNodeVolumeToMesh", "GeometryNodeSetShadeSmooth")
    )
    volume.resolution_mode = "VOXEL_SIZE"
    volume.inputs["Radius"].default_value, volume.inputs["Voxel Size"].default_value = 0.95 * spacing, 0.36 * spacing
    previous = points
    for node in (volume, surface, shade):
        group.links.new(previous.outputs[0], node.inputs[0])
        previous = node
    return ended(group, previous, material)


def with_points(radius: float) -> tuple[Any, Any]:
    """A group that turns vertices into points of a radius, and its last node."""
    group: Any = bpy.data.node_groups.new("shown", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    start, points = group.nodes.new("NodeGroupInput"), group.nodes.new("GeometryNodeMeshToPoints")
    points.inputs["Radius"].default_value = radius
    group.links.new(start.outputs[0], points.inputs[0])
    return group, points


def ended(group: Any, last: Any, material: Any) -> Any:
    paint, end = group.nodes.new("GeometryNodeSetMaterial"), group.nodes.new("NodeGroupOutput")
    paint.inputs["Material"].default_value = material
    group.links.new(last.outputs[0], paint.inputs[0])
    group.links.new(paint.outputs[0], end.inputs[0])
    return group


def painted(name: str, look: Look) -> Any:
    """A material: Blender's principled shader, with what the look says of light inside, bumps and spots."""
    material: Any = bpy.data.materials.new(name)
    material.use_nodes = True
    tree = material.node_tree
    surface = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    values = {
        "Base Color": (*look.color, 1.0), "Roughness": look.roughness, "Coat Weight": look.coat, "Metallic": look.metallic,
        "Transmission Weight": look.transmission, "Subsurface Weight": look.subsurface, "Subsurface Scale": 0.05, "IOR": look.refraction,
        "Emission Color": (*look.glow, 1.0), "Emission Strength": 0.0 if look.spots else look.glowing,
    }  # fmt: skip
    for socket, value in values.items():
        surface.inputs[socket].default_value = value
    if look.absorption:
        inside = tree.nodes.new("ShaderNodeVolumeAbsorption")
        inside.inputs["Color"].default_value, inside.inputs["Density"].default_value = (*look.color, 1.0), look.absorption
        surface.inputs["Base Color"].default_value = (*(0.12 + 0.88 * part for part in look.color), 1.0)
        output = next(node for node in tree.nodes if node.type == "OUTPUT_MATERIAL")
        tree.links.new(inside.outputs[0], output.inputs["Volume"])
    if look.bump:
        noise, bump = tree.nodes.new("ShaderNodeTexNoise"), tree.nodes.new("ShaderNodeBump")
        place = tree.nodes.new("ShaderNodeTexCoord")
        tree.links.new(place.outputs["Object"], noise.inputs["Vector"])
        noise.inputs["Scale"].default_value, bump.inputs["Strength"].default_value = look.bump_scale, look.bump
        bump.inputs["Distance"].default_value = 0.02
        tree.links.new(noise.outputs[0], bump.inputs["Height"])
        tree.links.new(bump.outputs["Normal"], surface.inputs["Normal"])
    if look.spots:
        spotted(tree, surface, look)
    return material


def spotted(tree: Any, surface: Any, look: Look) -> None:
    """Spots of a second colour, or glowing cracks in a dark crust."""
    place, noise, ramp = (tree.nodes.new(kind) for kind in ("ShaderNodeTexCoord", "ShaderNodeTexNoise", "ShaderNodeValToRGB"))
    noise.inputs["Scale"].default_value, noise.inputs["Detail"].default_value = look.bump_scale, 3.0
    tree.links.new(place.outputs["Object"], noise.inputs["Vector"])
    tree.links.new(noise.outputs[0], ramp.inputs[0])
    ramp.color_ramp.elements[0].position, ramp.color_ramp.elements[1].position = 0.45, 0.55
    if look.glowing:
        ramp.color_ramp.elements[0].color, ramp.color_ramp.elements[1].color = (*look.glow, 1.0), (0.0, 0.0, 0.0, 1.0)
        tree.links.new(ramp.outputs["Color"], surface.inputs["Emission Color"])
        surface.inputs["Emission Strength"].default_value = look.glowing
    else:
        ramp.color_ramp.elements[0].color, ramp.color_ramp.elements[1].color = (*(look.spots or look.color), 1.0), (*look.color, 1.0)
        tree.links.new(ramp.outputs["Color"], surface.inputs["Base Color"])


if __name__ == "__main__":
    main()
