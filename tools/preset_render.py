"""In Blender: renders what preset_pictures.py baked.

Arguments: thumbnails or sheet (a strip of several times for each preset), folder of NAME.npz files, names of presets.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from environments import ROOT
from mathutils import Vector

sys.path.insert(0, str(ROOT))

from mpm_addon.blender.building.solids import Point, ball
from mpm_addon.blender.building.staging import Lamp, Stage, Studio
from mpm_addon.blender.building.surfaces import surface_of
from mpm_addon.blender.display.building import GEOMETRY, Builder, declare
from mpm_addon.storage.looks import Look
from mpm_addon.storage.presets import material_preset

GROUNDS = {"dark": (0.055, 0.065, 0.085), "middle": (0.20, 0.22, 0.26), "light": (0.55, 0.56, 0.58)}
LAMPS = (
    Lamp("Key", (-1.3, -1.2, 1.6), 42.0, 1.0),
    Lamp("Rim", (1.2, 1.1, 1.0), 38.0, 0.7),
    Lamp("Fill", (1.6, -1.0, 0.4), 7.0, 0.9),
)
VIEW = ("Standard", "None")
THUMBNAIL = Studio(LAMPS, sky=(0.62, 0.72, 0.9), brightness=0.35, size=(160, 160), samples=20, bounces=6, view=VIEW)
# The camera's direction, its lens [mm], and the share of the picture that the particles fill.
DIRECTION, LENS, FILLED = Vector((0.35, -1.0, 0.42)).normalized(), 85.0, 0.78
SUN = Lamp("Sun", (-0.396, -0.565, 0.724), 2.4, 0.2, "SUN")
STRIP = Studio((SUN,), sky=(0.6, 0.68, 0.8), brightness=0.3, size=(600, 150), samples=12, bounces=6, view=VIEW)
# The distance between the times in a strip, and its width [m].
APART, WIDTH = 0.94, 2.8

# Blender's stubs do not know what context holds while a script runs.
context: Any = bpy.context


def main() -> None:
    kind, folder, *names = sys.argv[1:]
    for name in names:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        with np.load(Path(folder) / f"{name}.npz") as arrays:
            {"thumbnails": thumbnail, "sheet": strip}[kind](name, look_of(name), arrays)
        context.scene.render.filepath = str(Path(folder) / f"{name}.png")
        bpy.ops.render.render(write_still=True)


def thumbnail(name: str, look: Look, arrays: Any) -> None:
    """Particles that fill the picture, on the ground and in the light that suit them, and the ball that pressed them."""
    lamps = tuple(dataclasses.replace(lamp, power=look.light * lamp.power) for lamp in THUMBNAIL.lamps)
    stage = Stage(context.scene, context.scene.collection, dataclasses.replace(THUMBNAIL, lamps=lamps))
    stage.ground(GROUNDS[look.ground], roughness=0.6)
    stage.light((0.0, 0.0, 0.1), 1.0)
    points, sphere = arrays["cloud"], arrays["ball"].tolist()
    add_particles(points, float(arrays["spacing"]), look, surface_of(name, look))
    if sphere:
        *middle, radius = sphere
        seen = stage.seen("Ball", ball(radius, steps=64), point(middle), (0.6, 0.6, 0.62), roughness=0.18, metallic=1.0)
        seen.data.shade_smooth()
    target, extent = framed(points.astype(float), sphere)
    stage.view(point(target + np.array(DIRECTION) * extent / FILLED * LENS / 36.0), point(target), lens=LENS)


def strip(name: str, look: Look, arrays: Any) -> None:
    """The particles at each of the times, side by side."""
    stage = Stage(context.scene, context.scene.collection, STRIP)
    stage.ground((0.10, 0.105, 0.12), roughness=0.8)
    stage.light((0.0, 0.0, 0.0), 1.0)
    stage.view((0.0, -5.0, 1.5), (0.0, 0.0, 0.13), width=WIDTH)
    clouds = [arrays[key] for key in arrays.files if key != "spacing"]
    material = surface_of(name, look)
    for number, points in enumerate(clouds):
        offset = np.array(((number - (len(clouds) - 1) / 2) * APART, 0.0, 0.0), np.float32)
        add_particles(points + offset, float(arrays["spacing"]), look, material)


def look_of(name: str) -> Look:
    look = material_preset(name).look
    if look is None:
        raise SystemExit(f"pictures: presets/materials/{name}.toml has no look; add a table [look]")
    return look


def framed(points: Any, sphere: list[float]) -> tuple[Any, float]:
    """The middle and the extent of what the camera sees: the particles without those that flew away, and the whole ball."""
    rotation = DIRECTION.to_track_quat("Z", "Y")
    middle, extent = np.zeros(3), 0.0
    for axis in (np.array(rotation @ Vector(axis)) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))):
        low, high = np.percentile(points @ axis, (0.7, 99.3))
        if sphere:
            center = float(np.dot(sphere[:3], axis))
            low, high = min(low, center - sphere[3]), max(high, center + sphere[3])
        middle, extent = middle + axis * (0.5 * (low + high)), max(extent, high - low)
    return middle, extent


def point(values: Any) -> Point:
    x, y, z = map(float, values)
    return x, y, z


def add_particles(points: Any, spacing: float, look: Look, material: Any) -> None:
    """Add particles at `points` [m] (n, 3), as grains or as the surface around them."""
    mesh: Any = bpy.data.meshes.new("Particles")
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
    item: Any = bpy.data.objects.new("Particles", mesh)
    context.scene.collection.objects.link(item)
    group: Any = bpy.data.node_groups.new("Shown", "GeometryNodeTree")
    declare(group, (GEOMETRY,))
    builder = Builder(group)
    shown = grains(builder, spacing * look.grain) if look.grain else skin(builder, spacing)
    builder.end(builder.painted(shown, material))
    item.modifiers.new("Shown", "NODES").node_group = group
    if not look.grain:
        smooth = item.modifiers.new("Smooth", "SMOOTH")
        smooth.factor, smooth.iterations = 0.5, look.smoothing


def grains(builder: Builder, radius: float) -> Any:
    """Every vertex as a sphere of a random size."""
    sizes = builder.out("FunctionNodeRandomValue", {"Min": 0.65 * radius, "Max": 1.25 * radius}, data_type="FLOAT")
    return builder.out("GeometryNodeMeshToPoints", {0: builder.inputs["Geometry"], "Radius": sizes})


def skin(builder: Builder, spacing: float) -> Any:
    """The surface around all vertices."""
    radius = 0.95 * spacing
    points = builder.out("GeometryNodeMeshToPoints", {0: builder.inputs["Geometry"], "Radius": radius})
    sizes = {"Points": points, "Radius": radius, "Voxel Size": 0.36 * spacing}
    volume = builder.out("GeometryNodePointsToVolume", sizes, resolution_mode="VOXEL_SIZE")
    return builder.smooth(builder.out("GeometryNodeVolumeToMesh", {"Volume": volume}))


if __name__ == "__main__":
    main()
