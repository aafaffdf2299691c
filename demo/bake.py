"""In Blender: installs the extension, builds a scene, bakes it and saves the file. Arguments: zip, module of the scene, .blend file."""

import importlib
import sys
from typing import Any

import bpy
import extension


def main() -> None:
    archive, name, blend_file = sys.argv[1:4]
    extension.install(archive)
    import parts  # needs the extension

    made, stage = importlib.import_module(name), parts.new_stage()
    made.build(stage)
    bpy.ops.wm.save_as_mainfile(filepath=blend_file)
    operators: Any = bpy.ops
    if operators.mpm.bake(restart=True) != {"FINISHED"}:
        raise RuntimeError("the bake did not come to its end")
    parts.swell_particles(stage.scene)
    if hasattr(made, "after_bake"):
        made.after_bake(stage.scene)
    bpy.ops.wm.save_mainfile()
    print("stills", *made.STILLS)


if __name__ == "__main__":
    extension.run(main)
