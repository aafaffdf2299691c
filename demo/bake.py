"""In Blender: installs the extension, builds the demo's scene, bakes it and saves the file. Arguments: zip, .blend file."""

import sys
from typing import Any

import bpy
import extension
import look
import scene


def main() -> None:
    archive, blend_file = sys.argv[1:3]
    extension.install(archive)
    scene.build()
    look.light_and_frame()
    bpy.ops.wm.save_as_mainfile(filepath=blend_file)
    operators: Any = bpy.ops
    if operators.mpm.bake(restart=True) != {"FINISHED"}:
        raise RuntimeError("the bake did not come to its end")
    look.paint()
    bpy.ops.wm.save_mainfile()


if __name__ == "__main__":
    extension.run(main)
