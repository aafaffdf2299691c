"""In Blender: opens a baked file and renders pictures from its cache.

Arguments: .blend file, folder, width, height, samples, frame numbers.
"""

import sys
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
    extension.render(folder, map(int, frames))


if __name__ == "__main__":
    extension.run(main)
