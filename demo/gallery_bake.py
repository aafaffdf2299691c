"""In Blender: builds a feature scene, bakes it and saves the file. Arguments: zip, name of the feature, .blend file."""

import sys
from typing import Any

import bpy
import extension
import look
import stage


def main() -> None:
    archive, name, blend_file = sys.argv[1:4]
    extension.install(archive)
    feature = stage.feature(name)
    feature.build()
    stage.light(feature.VIEW)
    bpy.ops.wm.save_as_mainfile(filepath=blend_file)
    operators: Any = bpy.ops
    if operators.mpm.bake(restart=True) != {"FINISHED"}:
        raise RuntimeError("the bake did not come to its end")
    look.swell_particles()
    if hasattr(feature, "after_bake"):
        feature.after_bake()
    bpy.ops.wm.save_mainfile()
    print("stills", *feature.VIEW.stills)


if __name__ == "__main__":
    extension.run(main)
