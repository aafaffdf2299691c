"""In Blender: installs the extension, opens a baked file and renders a frame in each way of showing a liquid.

Arguments: zip, .blend file, folder, width, height, samples, frame.
Pictures: points; nodes, the surface of geometry nodes; files, the surface that the bake made.
"""

import os
import sys
from typing import Any

import bpy
import extension

# The display mode, and whether the surface made from the cache is shown.
WAYS = {"points": ("points", False), "nodes": ("surface", False), "files": ("surface", True)}
# Surfaces differ in details: the lens relative to that of the scene, and how far the view is moved up [widths of the picture].
CLOSER, RAISED = 2.0, 0.1


def main() -> None:
    archive, blend_file, folder, width, height, samples, frame = sys.argv[1:]
    extension.install(archive)
    bpy.ops.wm.open_mainfile(filepath=blend_file)
    scene: Any = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y, scene.cycles.samples = int(width), int(height), int(samples)
    scene.camera.data.lens *= CLOSER
    scene.camera.data.shift_y = RAISED
    (item,) = (item for item in scene.objects if item.mpm.cache)
    for way, (mode, is_file) in WAYS.items():
        for part in item.mpm.display.parts:
            part.render = mode
        item.mpm.surface.is_shown = is_file
        extension.render(folder, [int(frame)])
        os.replace(scene.render.filepath, os.path.join(folder, f"{way}.png"))


if __name__ == "__main__":
    extension.run(main)
