"""In Blender: renders what tools/material_sheet.py baked, one strip for each material, its times side by side.

Arguments: folder of NAME.npz files, names of materials.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

SIZE = (600, 150)
SAMPLES = 12
APART = 0.94
# Grains are shown as they are; everything else as the surface around its particles.
GRAINY = ("dry_sand", "fine_sand", "wet_sand", "gravel", "snow", "powder_snow", "wet_snow", "icy_snow", "sponge", "fresh_concrete")
PARTICLE_RADIUS = 0.0115
SURFACE_RADIUS, VOXEL = 0.023, 0.007

# Colour, roughness, clear coat; what is not listed is grey.
LOOKS: dict[str, tuple[tuple[float, float, float], float, float]] = {
    "water": ((0.05, 0.25, 0.60), 0.05, 1.0),
    "honey": ((0.75, 0.32, 0.02), 0.1, 1.0),
    "ketchup": ((0.55, 0.02, 0.01), 0.2, 0.8),
    "cream": ((0.90, 0.86, 0.76), 0.5, 0.2),
    "foam": ((0.85, 0.90, 0.95), 0.9, 0.0),
    "mud": ((0.16, 0.10, 0.05), 0.4, 0.4),
    "lava": ((0.80, 0.12, 0.01), 0.6, 0.0),
    "fresh_concrete": ((0.35, 0.35, 0.34), 0.7, 0.1),
    "dough": ((0.80, 0.65, 0.42), 0.7, 0.0),
    "clay": ((0.50, 0.23, 0.13), 0.7, 0.0),
    "metal": ((0.45, 0.47, 0.52), 0.25, 0.6),
    "jelly": ((0.75, 0.03, 0.08), 0.1, 1.0),
    "gelatin": ((0.15, 0.60, 0.15), 0.1, 1.0),
    "rubber": ((0.03, 0.03, 0.035), 0.5, 0.1),
    "sponge": ((0.85, 0.70, 0.15), 1.0, 0.0),
    "dry_sand": ((0.76, 0.58, 0.32), 1.0, 0.0),
    "fine_sand": ((0.85, 0.75, 0.55), 1.0, 0.0),
    "wet_sand": ((0.36, 0.25, 0.13), 0.8, 0.1),
    "gravel": ((0.40, 0.37, 0.34), 1.0, 0.0),
    "snow": ((0.85, 0.88, 0.93), 0.9, 0.0),
    "powder_snow": ((0.92, 0.94, 0.97), 1.0, 0.0),
    "wet_snow": ((0.66, 0.74, 0.82), 0.6, 0.2),
    "icy_snow": ((0.55, 0.75, 0.90), 0.3, 0.6),
}
GREY = ((0.5, 0.5, 0.5), 0.7, 0.0)

# Blender's stubs do not know what context holds while a script runs.
context: Any = bpy.context


def main() -> None:
    folder, *names = sys.argv[1:]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    prepare(context.scene)
    for name in names:
        with np.load(Path(folder) / f"{name}.npz") as arrays:
            clouds = [arrays[key] for key in arrays.files]
        material = look(name)
        group = spheres(material) if name in GRAINY else skin(material)
        shown = [cloud(points, (number - (len(clouds) - 1) / 2) * APART, group) for number, points in enumerate(clouds)]
        context.scene.render.filepath = str(Path(folder) / f"{name}.png")
        bpy.ops.render.render(write_still=True)
        for item in shown:
            bpy.data.objects.remove(item)


def prepare(scene: Any) -> None:
    """Camera, light, floor and few samples with a denoiser."""
    camera: Any = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = (0.0, -5.0, 1.5)
    camera.rotation_euler = (Vector((0.0, 0.0, 0.13)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    camera.data.type = "ORTHO"
    camera.data.ortho_scale = 2.8
    scene.collection.objects.link(camera)
    scene.camera = camera
    lamp: Any = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    lamp.rotation_euler = (0.6, -0.5, 0.0)
    lamp.data.energy, lamp.data.angle = 2.4, 0.2
    scene.collection.objects.link(lamp)
    world: Any = bpy.data.worlds.new("World")
    scene.world, world.use_nodes = world, True
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (0.6, 0.68, 0.8, 1.0)
    background.inputs["Strength"].default_value = 0.3
    bpy.ops.mesh.primitive_plane_add(size=40.0)
    context.object.data.materials.append(painted("Floor", (0.10, 0.105, 0.12), 0.8, 0.0))
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.max_bounces = SAMPLES, True, 3
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.view_settings.view_transform = "Standard"


def look(name: str) -> Any:
    """The material of a preset."""
    return painted(name, *LOOKS.get(name, GREY))


def painted(name: str, color: tuple[float, float, float], roughness: float, coat: float) -> Any:
    material: Any = bpy.data.materials.new(name)
    material.use_nodes = True
    surface = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    surface.inputs["Base Color"].default_value = (*color, 1.0)
    surface.inputs["Roughness"].default_value = roughness
    surface.inputs["Coat Weight"].default_value = coat
    return material


def spheres(material: Any) -> Any:
    """Geometry nodes that show every vertex as a small sphere."""
    return chain(("GeometryNodeMeshToPoints", {"Radius": PARTICLE_RADIUS}), ("GeometryNodeSetMaterial", {"Material": material}))


def skin(material: Any) -> Any:
    """Geometry nodes that show the surface around all vertices, smoothed."""
    return chain(
        ("GeometryNodeMeshToPoints", {"Radius": SURFACE_RADIUS}),
        ("GeometryNodePointsToVolume", {"Radius": SURFACE_RADIUS, "Voxel Size": VOXEL}),
        ("GeometryNodeVolumeToMesh", {}),
        ("GeometryNodeSetShadeSmooth", {}),
        ("GeometryNodeSetMaterial", {"Material": material}),
    )


def chain(*steps: tuple[str, dict[str, Any]]) -> Any:
    """A geometry node group of nodes one after another, each with its inputs."""
    group: Any = bpy.data.node_groups.new("chain", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    nodes = [group.nodes.new(kind) for kind in ("NodeGroupInput", *(kind for kind, _ in steps), "NodeGroupOutput")]
    for node, (kind, inputs) in zip(nodes[1:], steps, strict=False):
        if kind == "GeometryNodePointsToVolume":
            node.resolution_mode = "VOXEL_SIZE"
        for name, value in inputs.items():
            node.inputs[name].default_value = value
    for before, after in itertools.pairwise(nodes):
        group.links.new(before.outputs[0], after.inputs[0])
    return group


def cloud(points: Any, offset: float, group: Any) -> Any:
    """Particles at [m], shape (n, 3), moved along x and shown by a group of geometry nodes."""
    mesh: Any = bpy.data.meshes.new("cloud")
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", (points + np.array((offset, 0.0, 0.0), np.float32)).ravel())
    item: Any = bpy.data.objects.new("cloud", mesh)
    context.scene.collection.objects.link(item)
    item.modifiers.new("shown", "NODES").node_group = group
    return item


if __name__ == "__main__":
    main()
