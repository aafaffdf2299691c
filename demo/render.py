"""In Blender: opens the baked file and renders pictures from its cache.

Arguments: .blend file, folder, width, height, samples, frame numbers.
"""

import os
import sys
import time
from typing import Any

import bpy
import extension
import look


def main() -> None:
    blend_file, folder, width, height, samples, *frames = sys.argv[1:]
    extension.enable()
    bpy.ops.wm.open_mainfile(filepath=blend_file)
    scene: Any = bpy.context.scene
    prepare(scene, size=(int(width), int(height)), samples=int(samples))
    for frame in map(int, frames):
        started = time.perf_counter()
        scene.frame_set(frame)
        shown = sum(len(item.data.vertices) for item in look.particle_objects())
        if shown == 0:
            raise RuntimeError(f"frame {frame} shows no particles")
        scene.render.filepath = os.path.join(folder, f"{frame:04d}.png")
        bpy.ops.render.render(write_still=True)
        print(f"frame {frame}: {shown} particles, {time.perf_counter() - started:.1f} s")


def prepare(scene: Any, *, size: tuple[int, int], samples: int) -> None:
    """Few samples and a denoiser: soft light in seconds."""
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = samples
    scene.cycles.use_denoising = True
    scene.cycles.denoiser = "OPENIMAGEDENOISE"
    scene.cycles.max_bounces = 3
    scene.render.use_persistent_data = True
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"


if __name__ == "__main__":
    extension.run(main)
