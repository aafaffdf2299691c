"""In Blender: renders frames of a scene preset's cache, with its colliders, the pieces of those that broke, and its skins.

Argument: a JSON list of the cache, the folder of the pictures, the frames, and the row of preset_scenes.toml.
"""

import json
import sys
from pathlib import Path
from typing import Any

import bpy
import extension

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import mpm_addon
from mpm_addon.blender import display
from mpm_addon.blender.baking import derived_processes
from mpm_addon.blender.baking.shown_caches import show_cache, show_motion
from mpm_addon.blender.building.placement import show_as_wire
from mpm_addon.blender.building.solids import Solid, ball
from mpm_addon.blender.building.stages import Lamp, Stage, Studio
from mpm_addon.core.geometry.shapes import Box, Mesh, Sphere
from mpm_addon.core.geometry.shapes.box import CUBE_TRIANGLES
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.scene.shape import Shape
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.take import SCENE, SKIN, SURFACE

context: Any = bpy.context
LAMPS = (Lamp("Key", (-0.75, -0.35, 0.8), 34.0, 0.35), Lamp("Rim", (0.75, 0.6, 0.6), 20.0, 0.5))
IRON = (0.05, 0.05, 0.055)
AGX = ("AgX", "AgX - Medium High Contrast")


def main() -> None:
    cache, folder, frames, row = json.loads(sys.argv[1])
    mpm_addon.register()
    bpy.ops.wm.read_homefile(use_empty=True)
    baked = read_scene(open_cache(Path(cache)).takes[-1].folder / SCENE)
    studio = Studio(LAMPS, sky=(0.6, 0.68, 0.8), brightness=0.3, size=tuple(row["size"]), samples=row["samples"], view=AGX)
    stage = Stage(context.scene, context.scene.collection, studio)
    context.scene.render.fps = round(baked.time.fps)
    add_emitters(stage, baked)
    add_colliders(stage, baked, row["colors"])
    stage.ground(tuple(row["ground"]), height=row.get("height", 0.0), half=row["reach"], roughness=0.6, tile=row.get("tile", 0.0))
    stage.camera(row["camera"][0], row["camera"][1], lens=row["lens"], stop=row.get("stop", 0.0))
    context.scene.frame_set(frames[0])
    item = show_cache(context.scene, cache)
    if refusals := show_motion(context.scene, cache):
        raise RuntimeError(str(refusals[0]))
    kind = SKIN if row.get("skin", False) else SURFACE
    if kind == SKIN or display.is_rendered_as_surface([item]):
        derived_processes.make(context.scene, kind=kind, cache=cache)
    extension.render(folder, frames, is_rigid=not baked.emitters)
    mpm_addon.unregister()


def add_emitters(stage: Stage, baked: Scene) -> None:
    """The meshes of emitters, of which skins are copies."""
    for emitter in baked.emitters:
        solid = solid_of(emitter.shape)
        if isinstance(emitter.shape, Mesh) and solid is not None:
            item = stage.seen(emitter.name, solid, (0.0, 0.0, 0.0), emitter.color[:3], roughness=0.25)
            item.data.shade_smooth()
            item.mpm.type = "emitter"
            show_as_wire(item)


def add_colliders(stage: Stage, baked: Scene, colors: list[list[float]]) -> None:
    """The bounded colliders, with colors one after another, and balls that of iron."""
    for number, collider in enumerate(baked.colliders):
        solid = solid_of(collider.shape)
        if solid is None:
            continue
        is_ball = isinstance(collider.shape, Sphere)
        color: Any = IRON if is_ball else tuple(colors[number % len(colors)])
        item = stage.seen(collider.name, solid, (0.0, 0.0, 0.0), color, roughness=0.3 if is_ball else 0.85)
        if is_ball:
            item.data.shade_smooth()
        item.mpm.type = "collider"


def solid_of(shape: Shape | None) -> Solid | None:
    """The surface of a shape; None if it has none that is bounded."""
    match shape:
        case Box():
            return Solid(tuple(map(tuple, shape.corners().tolist())), tuple(map(tuple, CUBE_TRIANGLES.tolist())))
        case Sphere():
            return ball(shape.radius, steps=64).moved(shape.center)
        case Mesh():
            return Solid(tuple(map(tuple, shape.vertices.tolist())), tuple(map(tuple, shape.triangles.tolist())))
    return None


if __name__ == "__main__":
    extension.run(main)
