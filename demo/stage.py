"""In Blender: what the feature scenes are built from. Lengths in metres."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bmesh
import bpy
from mathutils import Vector

# Blender's stubs know neither the add-on's properties nor what context holds while a script runs.
context: Any = bpy.context

FEATURES = "features"
FPS = 24

Vector3 = tuple[float, float, float]


@dataclass(frozen=True)
class View:
    """How a feature scene is looked at.

    Attributes:
        camera, target: where the camera is and what it looks at [m].
        stills: the frames that are rendered.
        lens: focal length [mm].
    """

    camera: Vector3
    target: Vector3
    stills: tuple[int, ...]
    lens: float = 50.0


def feature(name: str) -> Any:
    """The module of a feature scene: its `VIEW` and its `build`."""
    return importlib.import_module(f"{FEATURES}.{name}")


def new_file(*, frame_end: int, grid_spacing: float) -> Any:
    """An empty file with frames and a grid; returns the scene."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = context.scene
    scene.frame_start, scene.frame_end = 1, frame_end
    scene.render.fps = FPS
    scene.mpm.solver.grid_spacing = grid_spacing
    preferences: Any = context.preferences
    preferences.edit.keyframe_new_interpolation_type = "LINEAR"
    return scene


def box(name: str, size: Vector3, at: Vector3, *, rotation: Vector3 = (0.0, 0.0, 0.0), bevel: float = 0.0) -> Any:
    """A box, with rounded edges where `bevel` is given [m]."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=at, rotation=rotation)
    item = _named(name)
    for vertex in item.data.vertices:
        vertex.co = [part * extent for part, extent in zip(vertex.co, size, strict=True)]
    if bevel > 0.0:
        modifier = item.modifiers.new("Bevel", "BEVEL")
        modifier.width, modifier.segments = bevel, 3
        bpy.ops.object.shade_smooth()
    return item


def ball(name: str, radius: float, at: Vector3) -> Any:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=radius, location=at)
    bpy.ops.object.shade_smooth()
    return _named(name)


def cylinder(name: str, radius: float, depth: float, at: Vector3, *, rotation: Vector3 = (0.0, 0.0, 0.0)) -> Any:
    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=radius, depth=depth, location=at, rotation=rotation)
    return _named(name)


def mesh(name: str, vertices: list[Vector3], faces: list[tuple[int, ...]], at: Vector3 = (0.0, 0.0, 0.0)) -> Any:
    """An object of given vertices and faces, its normals turned outward."""
    data: Any = bpy.data.meshes.new(name)
    data.from_pydata(vertices, [], faces)
    shaped: Any = bmesh.new()
    shaped.from_mesh(data)
    bmesh.ops.recalc_face_normals(shaped, faces=shaped.faces)
    shaped.to_mesh(data)
    shaped.free()
    item: Any = bpy.data.objects.new(name, data)
    item.location = at
    context.scene.collection.objects.link(item)
    context.view_layer.objects.active = item
    return item


def table(*, half: float = 1.5, friction: float = 0.6) -> Any:
    """The ground of a scene, its top at z = 0."""
    item = box("Table", (2.0 * half, 2.0 * half, 0.2), (0.0, 0.0, -0.1))
    return collider(item, friction=friction, color=(0.12, 0.125, 0.14))


def collider(item: Any, *, color: Vector3 = (0.3, 0.31, 0.33), roughness: float = 0.5, **settings: Any) -> Any:
    """Make an object a collider with the given settings and look."""
    item.mpm.type = "collider"
    _give(item.mpm.collider, settings)
    return painted(item, color, roughness)


def emitter(item: Any, preset: str, *, color: tuple[float, ...] | None = None, **settings: Any) -> Any:
    """Make an object an emitter of a named material, not to be rendered itself."""
    item.mpm.type = "emitter"
    item.mpm.material.preset = preset
    item.hide_render = True
    item.display_type = "WIRE"
    if color is not None:
        settings |= {"use_color": True, "color": (*color[:3], 1.0)}
    _give(item.mpm.emitter, settings)
    return item


def custom(item: Any, law: str, **parameters: Any) -> Any:
    """Give an emitter a material of its own; returns the parameters of its law."""
    item.mpm.material.source = "custom"
    item.mpm.material.law = law
    group = getattr(item.mpm.material, law)
    _give(group, parameters)
    return group


def painted(item: Any, color: Vector3, roughness: float = 0.5) -> Any:
    """Give an object a surface of one colour."""
    material: Any = bpy.data.materials.new(item.name)
    material.use_nodes = True
    surface = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    surface.inputs["Base Color"].default_value = (*color, 1.0)
    surface.inputs["Roughness"].default_value = roughness
    material.diffuse_color = (*color, 1.0)
    item.data.materials.append(material)
    return item


def keyed(owner: Any, path: str, values: Mapping[int, Any]) -> None:
    """Keyframe a property: frame -> value."""
    for frame, value in values.items():
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


def keyed_setting(item: Any, group: str, name: str, values: Mapping[int, Any]) -> None:
    """Keyframe a property of the extension: `item.mpm.GROUP.NAME`, frame -> value."""
    owner = item.mpm
    for part in group.split("."):
        owner = getattr(owner, part)
    for frame, value in values.items():
        setattr(owner, name, value)
        item.keyframe_insert(f"mpm.{group}.{name}", frame=frame)


def light(view: View) -> None:
    """Camera, two lamps and a bright world."""
    scene = context.scene
    camera: Any = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = view.camera
    camera.rotation_euler = _towards(view.camera, view.target)
    camera.data.lens = view.lens
    scene.collection.objects.link(camera)
    scene.camera = camera
    reach = (Vector(view.camera) - Vector(view.target)).length
    middle = Vector(view.target)
    _lamp("Key", middle + reach * Vector((-0.8, -0.4, 0.8)), middle, watts=25.0 * reach**2, size=0.4 * reach)
    _lamp("Rim", middle + reach * Vector((0.7, 0.7, 0.7)), middle, watts=9.0 * reach**2, size=0.4 * reach)
    world: Any = bpy.data.worlds.new("World")
    world.use_nodes = True
    scene.world = world
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (0.55, 0.62, 0.72, 1.0)
    background.inputs["Strength"].default_value = 0.35


def _lamp(name: str, at: Vector, target: Vector, *, watts: float, size: float) -> None:
    lamp: Any = bpy.data.objects.new(name, bpy.data.lights.new(name, "AREA"))
    lamp.location = at
    lamp.rotation_euler = _towards(at, target)
    lamp.data.energy, lamp.data.size = watts, size
    context.scene.collection.objects.link(lamp)


def _towards(start: Any, end: Any) -> Any:
    return (Vector(end) - Vector(start)).to_track_quat("-Z", "Y").to_euler()


def _named(name: str) -> Any:
    item = context.object
    item.name = name
    return item


def _give(group: Any, settings: Mapping[str, Any]) -> None:
    for name, value in settings.items():
        if hasattr(group, f"use_{name}"):
            setattr(group, f"use_{name}", True)
        setattr(group, name, value)
