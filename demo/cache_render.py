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
import mpm_addon
from mpm_addon.blender import display
from mpm_addon.blender.baking import derived_processes
from mpm_addon.blender.baking.shown_caches import looks_of, show_cache
from mpm_addon.blender.building.solids import Point, Solid, ball
from mpm_addon.blender.building.stages import Lamp, Stage, Studio
from mpm_addon.core.geometry.shapes import Mesh
from mpm_addon.core.scene.description import Scene
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.finishes import finish_of
from mpm_addon.storage.presets import material_preset
from mpm_addon.storage.take import SCENE, SURFACE

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
PORTRAIT = Studio(PORTRAIT_LAMPS, sky=(0.62, 0.72, 0.9), brightness=0.35, size=(160, 160), samples=20, bounces=12, view=STANDARD)
SHEET_LAMPS = (Lamp("Key", (-1.1, -0.9, 1.3), 62.0, 0.7), Lamp("Rim", (1.0, 1.3, 0.9), 48.0, 0.7))
SHEET = Studio(SHEET_LAMPS, sky=(0.6, 0.7, 0.85), brightness=0.35, size=(200, 150), samples=16, bounces=12, view=AGX)
# Unit vector from the center of the particles to the camera.
VIEW = np.array((0.5, -1.0, 0.5)) / np.sqrt(1.5)
PORTRAIT_VIEW = np.array((0.31, -0.88, 0.37)) / np.linalg.norm((0.31, -0.88, 0.37))
# The focal length [mm], and the fraction of a portrait that the particles fill.
LENS, FILLED = 85.0, 0.78
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
    {"display": show_display, "portrait": show_portrait, "sheet": show_on_sheet}[kind](item, baked, *rest)
    item.mpm.surface.is_shown = True
    if display.is_rendered_as_surface([item]):
        # as a bake in Blender does; the scene does not know that a preset is shown whose texture moves with it
        context.scene.mpm.surface.attributes = "rest_position"
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
    color = dress(item, baked, preset)
    stage = Stage(context.scene, context.scene.collection, PORTRAIT)
    finish = finish_of(material_preset(preset).law.name, preset)
    # what is clear shows the ground
    is_bright = (float(np.dot(color, (0.21, 0.72, 0.07))) > BRIGHT and finish.transmission < 1.0) or finish.emission > 0.0
    stage.ground(DARK_GROUND if is_bright else LIGHT_GROUND, roughness=0.6)
    stage.light((0.0, 0.0, 0.1), 1.0)
    around = np.empty((0, 3))
    pressing: Any = [collider for collider in baked.colliders if collider.name == "Ball"]
    for collider in pressing:
        shape, at = ball(collider.shape.radius, steps=64), collider.motion.matrices[-1, :3, 3]
        stage.seen("Ball", shape, point(at), (0.6, 0.6, 0.62), roughness=0.18, metallic=1.0).data.shade_smooth()
        around = np.array(shape.vertices) + at
    middle, extent = framed(places_of(item), around)
    stage.view(point(middle + PORTRAIT_VIEW * extent / FILLED * LENS / 36.0), point(middle), lens=LENS)


def show_on_sheet(item: Any, baked: Scene, preset: str) -> None:
    """Show a preset's particles in the same view for all presets and frames."""
    dress(item, baked, preset)
    stage = Stage(context.scene, context.scene.collection, SHEET)
    # what is clear bends its lines
    stage.ground((0.2, 0.215, 0.23), roughness=0.5, tile=0.1)
    stage.light((0.0, 0.0, 0.1), 1.0)
    stage.view((0.9, -2.6, 1.35), (0.0, 0.0, 0.12), lens=100.0)


def dress(item: Any, baked: Scene, preset: str) -> tuple[float, ...]:
    """Give particles the look of a material preset; returns its color."""
    color = material_preset(preset).color or baked.emitters[0].color[:3]
    display.dress(item, [look._replace(material=preset, color=(*color, 1.0)) for look in looks_of(baked)])
    return color


def places_of(item: Any) -> Any:
    """The positions of the particles (n, 3) [m]."""
    return np.array([vertex.co for vertex in item.data.vertices])


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
