"""In Blender: renders frames of a cache with the extension of the source tree.

Argument: a JSON list of the kind of picture, the cache, the folder of the pictures, the frames, and arguments of the kind.
"""

import json
import sys
from pathlib import Path
from typing import Any

import bpy
import extension
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from preset_render import add_emitters

import mpm_addon
from mpm_addon.blender import display
from mpm_addon.blender.baking import derived_processes
from mpm_addon.blender.baking.shown_caches import looks_of, show_cache
from mpm_addon.blender.building.solids import Point, Solid, ball, box
from mpm_addon.blender.building.stages import Lamp, Stage, Studio
from mpm_addon.core.geometry.shapes import Box, Mesh
from mpm_addon.core.scene.description import Scene
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.finishes import finish_of
from mpm_addon.storage.presets import material_preset
from mpm_addon.storage.take import SCENE, SKIN, SURFACE

context: Any = bpy.context
LAMPS = (Lamp("Key", (-2.2, -1.2, 2.4), 230.0, 1.6), Lamp("Rim", (2.0, 2.0, 1.6), 140.0, 1.6))
AGX = ("AgX", "AgX - Medium High Contrast")
DISPLAY = Studio(LAMPS, sky=(0.6, 0.68, 0.8), brightness=0.5, size=(480, 270), samples=12, bounces=12, view=AGX)
PORTRAIT_LAMPS = (
    Lamp("Key", (-1.3, -1.2, 1.6), 42.0, 1.0),
    Lamp("Rim", (1.2, 1.1, 1.0), 38.0, 0.7),
    Lamp("Fill", (1.6, -1.0, 0.4), 7.0, 0.9),
)
STANDARD = ("Standard", "None")
PORTRAIT = Studio(PORTRAIT_LAMPS, sky=(0.62, 0.72, 0.9), brightness=0.35, size=(192, 192), samples=20, bounces=12, view=STANDARD)
# Unit vector from the center of the particles to the camera.
VIEW = np.array((0.5, -1.0, 0.5)) / np.sqrt(1.5)
PORTRAIT_VIEW = np.array((0.31, -0.88, 0.37)) / np.linalg.norm((0.31, -0.88, 0.37))
# The focal length [mm], and the fraction of a portrait that the particles fill, or what rises from a pool, which goes on around it.
LENS, FILLED, FILLED_ABOVE_POOL = 85.0, 0.72, 0.85
# A stream enters the portrait at the top, at this fraction of the height from which it falls.
SEEN_OF_STREAM = 0.6
# Of a pool, it shows what has risen above this multiple of its depth.
RISEN_OF_POOL = 2.0
# Materials above this luminance are shown on a dark ground.
BRIGHT = 0.35
DARK_GROUND, LIGHT_GROUND = (0.055, 0.065, 0.085), (0.55, 0.56, 0.58)


def main() -> None:
    kind, cache, folder, frames, *rest = json.loads(sys.argv[1])
    mpm_addon.register()
    bpy.ops.wm.read_homefile(use_empty=True)
    item = show_cache(context.scene, cache)
    # a surface from an earlier run would hide the particles by which the camera is placed
    item.mpm.surface.is_shown = False
    context.scene.frame_set(frames[0])
    baked = read_scene(open_cache(Path(cache)).takes[-1].folder / SCENE)
    {"display": show_display, "portrait": show_portrait}[kind](item, baked, *rest)
    item.mpm.surface.is_shown = True
    # as a bake in Blender does
    if kind == "portrait" and any(part.follows for part in item.mpm.display.parts):
        derived_processes.make(context.scene, kind=SKIN, cache=cache)
    elif display.is_rendered_as_surface([item]):
        # the scene does not know that a preset is shown whose texture moves with it, and names replace the usual attributes
        context.scene.mpm.surface.attributes = "rest_position, velocity, stress"
        derived_processes.make(context.scene, kind=SURFACE, cache=cache)
    extension.render(folder, frames)
    mpm_addon.unregister()


def show_display(item: Any, baked: Scene, mode: str, color_by: str, distance: float) -> None:
    """Show particles in a display mode, with the mesh colliders; the camera's distance is relative to their extent."""
    for part in item.mpm.display.parts:
        part.render = mode
    item.mpm.display.color_by = color_by
    places = places_of(item)
    low, high = np.percentile(places, (5.0, 95.0), axis=0)
    middle, size = (low + high) / 2.0, float((high - low).max())
    stage = Stage(context.scene, context.scene.collection, DISPLAY)
    for collider in baked.colliders:
        if isinstance(collider.shape, Mesh):
            solid = Solid(tuple(collider.shape.vertices.tolist()), tuple(collider.shape.triangles.tolist()))
            stage.seen(collider.name, solid, (0.0, 0.0, 0.0), (0.6, 0.52, 0.42), roughness=0.3).data.shade_smooth()
    stage.ground((0.2, 0.21, 0.23), half=40.0 * size, height=min(0.0, float(places[:, 2].min())) - 0.002 * size, roughness=0.6)
    stage.view(point(middle + VIEW * size * distance), point(middle))
    stage.light(point(middle), size)


def show_portrait(item: Any, baked: Scene, preset: str) -> None:
    """Show a preset's particles, filling the picture, on a contrasting ground, with the ball that pressed them."""
    stage = Stage(context.scene, context.scene.collection, PORTRAIT)
    add_emitters(stage, baked)
    color = dress(item, baked, preset)
    for part in item.mpm.display.parts:
        if part.follows:
            context.scene.objects[part.name].data.materials[0] = part.material
    finish = finish_of(material_preset(preset).law.name, preset)
    # what is clear shows the ground
    is_bright = (float(np.dot(color, (0.21, 0.72, 0.07))) > BRIGHT and finish.transmission < 1.0) or finish.emission > 0.0
    stage.ground(DARK_GROUND if is_bright else LIGHT_GROUND, roughness=0.6)
    middle, extent = framed(subject_of(item, baked), add_solids(stage, baked))
    stage.light((0.0, 0.0, 0.1), max(1.0, 2.0 * extent))
    filled = FILLED_ABOVE_POOL if any(emitter.name == "pool" for emitter in baked.emitters) else FILLED
    stage.view(point(middle + PORTRAIT_VIEW * extent / filled * LENS / 36.0), point(middle), lens=LENS)


def add_solids(stage: Stage, baked: Scene) -> Any:
    """Add the ball of steel and the wick of a portrait; returns the vertices of the ball (n, 3) [m], none if it has none."""
    around = np.empty((0, 3))
    colliders: Any = baked.colliders
    for collider in colliders:
        if collider.name == "Ball":
            shape, at = ball(collider.shape.radius, steps=64), collider.motion.matrices[-1, :3, 3]
            stage.seen("Ball", shape, point(at), (0.6, 0.6, 0.62), roughness=0.18, metallic=1.0).data.shade_smooth()
            around = np.array(shape.vertices) + at
        elif isinstance(collider.shape, Box):
            stage.seen(collider.name, box(collider.shape.size), point(collider.shape.center), (0.03, 0.025, 0.02), roughness=0.9)
    return around


def dress(item: Any, baked: Scene, preset: str) -> tuple[float, ...]:
    """Give particles the look of a material preset; returns its color."""
    color = material_preset(preset).color or baked.emitters[0].color[:3]
    display.dress(item, [look._replace(material=preset, color=(*color, 1.0)) for look in looks_of(baked)])
    return color


def places_of(item: Any) -> Any:
    """The positions of the particles (n, 3) [m]."""
    return np.array([vertex.co for vertex in item.data.vertices])


def subject_of(item: Any, baked: Scene) -> Any:
    """The positions of the particles that a portrait is about (n, 3) [m]: pools and streams go on outside of the picture."""
    places, numbers = places_of(item), np.array([each.value for each in item.data.attributes["emitter_index"].data])
    shown = np.ones(len(places), bool)
    emitters: Any = baked.emitters
    for number, emitter in enumerate(emitters):
        if emitter.name == "pool":
            shown &= (numbers != number) | (places[:, 2] > RISEN_OF_POOL * emitter.shape.size[2])
        elif emitter.name == "stream" and emitter.motion is None:
            shown &= (numbers != number) | (places[:, 2] < SEEN_OF_STREAM * emitter.shape.center[2])
    return places[shown]


def framed(places: Any, around: Any) -> tuple[Any, float]:
    """The center and extent of a portrait: the particles, except those that flew away, and all objects around them."""
    right = np.cross(PORTRAIT_VIEW, (0.0, 0.0, -1.0))
    right /= np.linalg.norm(right)
    middle, extent = np.zeros(3), 0.0
    for axis in (right, np.cross(PORTRAIT_VIEW, right)):
        low, high = np.percentile(places @ axis, (0.7, 99.3))
        low, high = (around @ axis).min(initial=low), (around @ axis).max(initial=high)
        middle, extent = middle + axis * (0.5 * (low + high)), max(extent, high - low)
    return middle, float(extent)


def point(values: Any) -> Point:
    x, y, z = map(float, values)
    return x, y, z


if __name__ == "__main__":
    extension.run(main)
