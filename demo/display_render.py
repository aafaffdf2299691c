"""In Blender: renders one frame of a cache. Arguments: cache, picture, frame, mode, colours, engine, distance, width, height, samples."""

import os
import sys
import traceback
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import mpm_addon
from mpm_addon.blender.baking.showing import show_cache
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.take import SCENE

context: Any = bpy.context
VIEW = (0.5, -1.0, 0.5)


def main() -> None:
    cache, picture, frame, mode, color_by, engine, distance, width, height, samples = sys.argv[1:]
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = context.scene
    item = show_cache(scene, cache)
    scene.frame_set(int(frame))
    for part in item.mpm.display.parts:
        part.render = mode
    item.mpm.display.color_by = color_by
    places = np.array([vertex.co for vertex in item.data.vertices])
    low, high = np.percentile(places, (5.0, 95.0), axis=0)
    middle, size = Vector((low + high) / 2.0), float((high - low).max())
    colliders(cache)
    bpy.ops.mesh.primitive_plane_add(size=80.0 * size, location=(middle.x, middle.y, min(0.0, float(places[:, 2].min())) - 0.002 * size))
    context.object.data.materials.append(painted("Ground", (0.2, 0.21, 0.23)))
    light(scene, middle, size, float(distance))
    prepare(scene, engine, (int(width), int(height)), int(samples))
    scene.render.filepath = picture
    bpy.ops.render.render(write_still=True)


def colliders(cache: str) -> None:
    """Add the colliders that are meshes."""
    for collider in read_scene(open_cache(Path(cache)).takes[-1].folder / SCENE).colliders:
        if isinstance(collider.shape, Mesh):
            mesh: Any = bpy.data.meshes.new(collider.name)
            mesh.from_pydata(collider.shape.vertices.tolist(), [], collider.shape.triangles.tolist())
            mesh.shade_smooth()
            mesh.materials.append(painted(collider.name, (0.6, 0.52, 0.42), roughness=0.3))
            context.scene.collection.objects.link(bpy.data.objects.new(collider.name, mesh))


def painted(name: str, color: tuple[float, float, float], *, roughness: float = 0.6) -> Any:
    material: Any = bpy.data.materials.new(name)
    material.use_nodes = True
    surface = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    surface.inputs["Base Color"].default_value, surface.inputs["Roughness"].default_value = (*color, 1.0), roughness
    return material


def light(scene: Any, middle: Vector, size: float, distance: float) -> None:
    """Add a camera, two lamps and a bright world."""
    direction = Vector(VIEW).normalized()
    camera: Any = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = middle + direction * size * distance, (-direction).to_track_quat("-Z", "Y").to_euler()
    camera.data.clip_start = 0.01 * size
    scene.collection.objects.link(camera)
    scene.camera = camera
    for place, watts in (((-2.2, -1.2, 2.4), 230.0), ((2.0, 2.0, 1.6), 140.0)):
        lamp: Any = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "AREA"))
        lamp.location = middle + Vector(place) * size
        lamp.rotation_euler = (middle - lamp.location).to_track_quat("-Z", "Y").to_euler()
        lamp.data.energy, lamp.data.size = watts * size**2, 1.6 * size
        scene.collection.objects.link(lamp)
    world: Any = bpy.data.worlds.new("World")
    scene.world = world
    world.use_nodes = True
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value, background.inputs["Strength"].default_value = (0.6, 0.68, 0.8, 1.0), 0.5


def prepare(scene: Any, engine: str, size: tuple[int, int], samples: int) -> None:
    render = scene.render
    render.resolution_x, render.resolution_y = size
    render.image_settings.file_format = "PNG"
    scene.view_settings.view_transform, scene.view_settings.look = "AgX", "AgX - Medium High Contrast"
    if engine == "CYCLES":
        render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", samples, True
        scene.cycles.denoiser = "OPENIMAGEDENOISE"
    else:
        render.engine = "BLENDER_EEVEE" if bpy.app.version >= (5, 0, 0) else "BLENDER_EEVEE_NEXT"
        scene.eevee.taa_render_samples, scene.eevee.use_raytracing = samples, True


if __name__ == "__main__":
    mpm_addon.register()
    status = 1
    try:
        main()
        status = 0
    except BaseException:  # noqa: BLE001 - told on stderr; Blender's Python must not shut down
        traceback.print_exc()
    mpm_addon.unregister()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
