"""In Blender: renders one frame of a cache. Arguments: cache, picture, frame, mode, colors, distance."""

import sys
from pathlib import Path
from typing import Any

import bpy
import extension
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import mpm_addon
from mpm_addon.blender.baking.showing import show_cache
from mpm_addon.blender.building.solids import Solid
from mpm_addon.blender.building.staging import Lamp, Stage, Studio
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.take import SCENE

context: Any = bpy.context
# From the middle of the particles to the camera, of length 1.
VIEW = np.array((0.5, -1.0, 0.5)) / np.sqrt(1.5)
LAMPS = (Lamp("Key", (-2.2, -1.2, 2.4), 230.0, 1.6), Lamp("Rim", (2.0, 2.0, 1.6), 140.0, 1.6))
AGX = ("AgX", "AgX - Medium High Contrast")
STUDIO = Studio(LAMPS, sky=(0.6, 0.68, 0.8), brightness=0.5, size=(480, 270), samples=12, bounces=12, view=AGX)


def main() -> None:
    mpm_addon.register()
    cache, picture, frame, mode, color_by, distance = sys.argv[1:]
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = context.scene
    item = show_cache(scene, cache)
    scene.frame_set(int(frame))
    for part in item.mpm.display.parts:
        part.render = mode
    item.mpm.display.color_by = color_by
    places = np.array([vertex.co for vertex in item.data.vertices])
    low, high = np.percentile(places, (5.0, 95.0), axis=0)
    middle, size = (low + high) / 2.0, float((high - low).max())
    stage = Stage(scene, scene.collection, STUDIO)
    add_colliders(stage, Path(cache))
    stage.ground((0.2, 0.21, 0.23), half=40.0 * size, height=min(0.0, float(places[:, 2].min())) - 0.002 * size, roughness=0.6)
    target = (float(middle[0]), float(middle[1]), float(middle[2]))
    x, y, z = (float(part) for part in middle + VIEW * size * float(distance))
    stage.view((x, y, z), target)
    stage.light(target, size)
    scene.render.filepath = picture
    bpy.ops.render.render(write_still=True)
    mpm_addon.unregister()


def add_colliders(stage: Stage, cache: Path) -> None:
    """Add the colliders that are meshes."""
    for collider in read_scene(open_cache(cache).takes[-1].folder / SCENE).colliders:
        if isinstance(collider.shape, Mesh):
            solid = Solid(tuple(collider.shape.vertices.tolist()), tuple(collider.shape.triangles.tolist()))
            stage.seen(collider.name, solid, (0.0, 0.0, 0.0), (0.6, 0.52, 0.42), roughness=0.3).data.shade_smooth()


if __name__ == "__main__":
    extension.run(main)
