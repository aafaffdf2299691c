"""In Blender: installs the extension, builds a scene, bakes it and saves the file. Arguments: zip, name of the scene, .blend file."""

import sys
from typing import Any

import bpy
import extension


def main() -> None:
    archive, name, blend_file = sys.argv[1:4]
    extension.install(archive)
    import parts  # needs the extension

    stage = parts.built(name)
    bpy.ops.wm.save_as_mainfile(filepath=blend_file)
    operators: Any = bpy.ops
    if operators.mpm.bake(restart=True) != {"FINISHED"}:
        raise RuntimeError("the bake did not finish")
    parts.finish(name, stage.scene)
    bpy.ops.wm.save_mainfile()


if __name__ == "__main__":
    extension.run(main)
