"""In Blender: opens a baked file and renders pictures from its cache.

Arguments: .blend file, folder, width, height, samples, frame numbers.
"""

import os
import sys
import time
from typing import Any

import bpy
import extension


def main() -> None:
    blend_file, folder, width, height, samples, *frames = sys.argv[1:]
    extension.enable()
    bpy.ops.wm.open_mainfile(filepath=blend_file)
    scene: Any = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y, scene.cycles.samples = int(width), int(height), int(samples)
    scene.render.use_persistent_data = True
    for frame in map(int, frames):
        started = time.perf_counter()
        scene.frame_set(frame)
        shown = sum(len(item.data.vertices) for item in scene.objects if item.mpm.cache)
        if shown == 0:
            raise RuntimeError(f"frame {frame} shows no particles")
        scene.render.filepath = os.path.join(folder, f"{frame:04d}.png")
        bpy.ops.render.render(write_still=True)
        print(f"frame {frame}: {shown} particles, {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    extension.run(main)
