"""In Blender: opens a baked file and renders pictures from its cache.

Argument, as JSON: .blend file, folder, frame numbers, and the size and the number of samples, or null for those of the file.
"""

import json
import sys
from typing import Any

import bpy
import extension


def main() -> None:
    blend_file, folder, frames, size, samples = json.loads(sys.argv[1])
    extension.enable()
    bpy.ops.wm.open_mainfile(filepath=blend_file)
    scene: Any = bpy.context.scene
    if size is not None:
        scene.render.resolution_x, scene.render.resolution_y = size
    if samples is not None:
        scene.cycles.samples = samples
    scene.render.use_persistent_data = True
    extension.render(folder, frames)


if __name__ == "__main__":
    extension.run(main)
