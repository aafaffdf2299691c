"""In Blender: the objects of the demo and what they are to the simulation, set as an artist sets them.

Everything stands on one table: a bowl into which water is poured, Suzanne of jelly, snowballs that break on the edge of a
ramp, and a column of sand. Lengths in metres.
"""

import itertools
import math
from typing import Any

import bmesh
import bpy
from mathutils import Vector

# Blender's stubs know neither the add-on's properties nor what context holds while a script runs.
context: Any = bpy.context

GRID_SPACING = 0.015
FRAME_END = 48
FPS = 24

BOWL = (-0.6, 0.05, 0.0)
STREAM_START = (-0.73, 0.14, 0.42)
STREAM_VELOCITY = (0.4, -0.25, -0.7)
STREAM_RADIUS = 0.06
STREAM_LAST_FRAME = 13

# The bowl's outline, from the middle of its inside over the rim to the middle of its underside: (radius, height).
BOWL_INSIDE = [(0.0, 0.05), (0.07, 0.053), (0.12, 0.064), (0.155, 0.085), (0.18, 0.12), (0.195, 0.16), (0.2, 0.2)]
BOWL_RIM = [(0.207, 0.212), (0.222, 0.217), (0.238, 0.212), (0.245, 0.2)]
BOWL_OUTSIDE = [(0.24, 0.155), (0.225, 0.105), (0.2, 0.065), (0.165, 0.035), (0.13, 0.02), (0.125, 0.0), (0.0, 0.0)]
# The water in it at first: its inside up to a level, half a cell smaller.
WATER_IN_BOWL = [(max(0.0, radius - 0.006), height + 0.006) for radius, height in [*BOWL_INSIDE[:5], (0.188, 0.14)]]


def build() -> None:
    """Make an empty file the demo's scene."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = context.scene
    scene.frame_start, scene.frame_end = 1, FRAME_END
    scene.render.fps = FPS
    scene.mpm.solver.grid_spacing = GRID_SPACING
    add_colliders()
    add_emitters()


def add_colliders() -> None:
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, -0.05), scale=(3.2, 2.8, 0.1))
    _collider("Table", friction=0.6)
    add_turned("Bowl", [*BOWL_INSIDE, *BOWL_RIM, *BOWL_OUTSIDE], location=BOWL)
    _collider("Bowl", friction=0.0)
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.3, 0.46, 0.17), rotation=(0.0, 0.55, 0.0), scale=(0.42, 0.72, 0.06))
    _bevel(0.012)
    _collider("Ramp", friction=0.2)


def add_emitters() -> None:
    add_turned("Water", [*WATER_IN_BOWL, (0.0, WATER_IN_BOWL[-1][1])], location=BOWL)
    _water("Water")
    _add_stream()
    _water("Stream")
    bpy.ops.mesh.primitive_monkey_add(size=0.34, location=(-0.08, -0.31, 0.58), rotation=(-0.3, 0.12, 0.2))
    _jelly("Suzanne")
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=0.11, location=(0.14, 0.28, 0.5))
    _snow("Snowball", velocity=(0.0, 0.0, -3.5))
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=0.11, location=(0.03, 0.64, 0.92))
    _snow("Second Snowball", velocity=(0.5, 0.0, -3.0))
    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=0.12, depth=0.24, location=(0.57, -0.2, 0.121))
    _sand("Sand")


# All matter shares a time step, so that none is stiffer than it needs to be: waves of 10 to 20 m/s, five times what falls here.


def _water(name: str) -> None:
    water = _emitter(name, "water", color=(0.02, 0.17, 0.6, 1.0))
    water.density, water.bulk_modulus, water.viscosity = 1000.0, 2.0e5, 0.01


def _jelly(name: str) -> None:
    jelly = _emitter(name, "corotated", color=(0.7, 0.02, 0.05, 1.0))
    jelly.density, jelly.young_modulus, jelly.poisson_ratio = 1000.0, 5.0e4, 0.4


def _snow(name: str, *, velocity: tuple[float, float, float]) -> None:
    """Snow that breaks at large stretches and softens at once: chunks instead of powder or mud."""
    snow = _emitter(name, "snow", color=(0.85, 0.9, 0.95, 1.0))
    context.object.mpm.emitter.velocity = velocity
    snow.density, snow.young_modulus, snow.poisson_ratio = 400.0, 7.0e4, 0.2
    snow.critical_compression, snow.critical_stretch = 0.02, 0.015
    snow.hardening, snow.volume_ratio_min = 15.0, 0.94


def _sand(name: str) -> None:
    sand = _emitter(name, "sand", color=(0.62, 0.4, 0.16, 1.0))
    sand.density, sand.young_modulus, sand.poisson_ratio = 1600.0, 2.0e5, 0.3
    sand.use_friction_angle, sand.friction_angle = True, 38.0


def _add_stream() -> None:
    """Add a slice of the stream out of the spout: as long as the water moves in a frame, so that slices join."""
    direction = Vector(STREAM_VELOCITY).normalized()
    turn = direction.to_track_quat("-Z", "Y").to_euler()
    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=STREAM_RADIUS + 0.015, depth=0.25, end_fill_type="NOTHING", rotation=turn)
    spout = context.object
    spout.name = "Spout"
    spout.location = Vector(STREAM_START) - 0.08 * direction
    spout.modifiers.new("Wall", "SOLIDIFY").thickness = -0.012
    bpy.ops.object.shade_smooth()
    length = Vector(STREAM_VELOCITY).length / FPS
    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=STREAM_RADIUS, depth=length, location=STREAM_START, rotation=turn)
    water = context.object
    settings = water.mpm.emitter
    settings.velocity = STREAM_VELOCITY
    settings.mode, settings.interval = "repeat", 1
    settings.use_frame_end, settings.frame_end = True, STREAM_LAST_FRAME


def _collider(name: str, *, friction: float) -> None:
    item = context.object
    item.name = name
    item.mpm.type = "collider"
    item.mpm.collider.friction = friction


def _emitter(name: str, law: str, *, color: tuple[float, ...]) -> Any:
    """Make the active object an emitter of a material of its own; returns the parameters of its law."""
    item = context.object
    item.name = name
    item.hide_render = True
    item.display_type = "WIRE"
    item.mpm.type = "emitter"
    item.mpm.emitter.use_color = True
    item.mpm.emitter.color = color
    item.mpm.material.source = "custom"
    item.mpm.material.law = law
    return getattr(item.mpm.material, law)


def _bevel(width: float) -> None:
    item = context.object
    bevel = item.modifiers.new("Bevel", "BEVEL")
    bevel.width, bevel.segments = width, 3
    bpy.ops.object.shade_smooth()


def add_turned(name: str, outline: list[tuple[float, float]], *, location: tuple[float, float, float]) -> Any:
    """Add what an outline of (radius, height) makes when it is spun around the z axis."""
    mesh: Any = bmesh.new()
    vertices = [mesh.verts.new((radius, 0.0, height)) for radius, height in outline]
    edges = [mesh.edges.new(pair) for pair in itertools.pairwise(vertices)]
    turn = {"cent": (0.0, 0.0, 0.0), "axis": (0.0, 0.0, 1.0), "angle": 2.0 * math.pi, "steps": 64}
    bmesh.ops.spin(mesh, geom=[*vertices, *edges], use_merge=True, **turn)
    bmesh.ops.remove_doubles(mesh, verts=mesh.verts, dist=1e-4)
    bmesh.ops.recalc_face_normals(mesh, faces=mesh.faces)
    data = bpy.data.meshes.new(name)
    mesh.to_mesh(data)
    mesh.free()
    data.shade_smooth()
    item: Any = bpy.data.objects.new(name, data)
    item.location = location
    context.collection.objects.link(item)
    context.view_layer.objects.active = item
    return item
