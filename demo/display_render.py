"""In Blender: renders one frame of a cache. Arguments: cache, picture, frame, mode, colors, engine, distance."""

import os
import sys
import traceback
from pathlib import Path
from typing import Any

import bpy
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
# Of the camera, from the middle of what it sees, of length 1.
VIEW = np.array((0.5, -1.0, 0.5)) / np.sqrt(1.5)
STUDIO = Studio(
    lamps=(Lamp("Key", (-2.2, -1.2, 2.4), 230.0, 1.6), Lamp("Rim", (2.0, 2.0, 1.6), 140.0, 1.6)),
    sky=(0.6, 0.68, 0.8), brightness=0.5, size=(480, 270), samples=12, bounces=12, view=("AgX", "AgX - Medium High Contrast"),
)  # fmt: skip


def main() -> None:
    cache, picture, frame, mode, color_by, engine, distance = sys.argv[1:]
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
    if engine == "EEVEE":
        scene.render.engine = "BLENDER_EEVEE" if bpy.app.version >= (5, 0, 0) else "BLENDER_EEVEE_NEXT"
        scene.eevee.taa_render_samples, scene.eevee.use_raytracing = STUDIO.samples, True
    scene.render.filepath = picture
    bpy.ops.render.render(write_still=True)


def add_colliders(stage: Stage, cache: Path) -> None:
    """Add the colliders that are meshes."""
    for collider in read_scene(open_cache(cache).takes[-1].folder / SCENE).colliders:
        if isinstance(collider.shape, Mesh):
            solid = Solid(tuple(collider.shape.vertices.tolist()), tuple(collider.shape.triangles.tolist()))
            stage.seen(collider.name, solid, (0.0, 0.0, 0.0), (0.6, 0.52, 0.42), roughness=0.3).data.shade_smooth()


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
