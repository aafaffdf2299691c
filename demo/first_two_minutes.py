"""In Blender: what a user does in the first two minutes, from the startup file to a picture, click by click.

Add > MPM > Ready Scenes > Snowball, Bake, F12. Arguments: zip, name of the ready scene, frame, picture.
"""

import os
import sys
import time
from typing import Any

import bpy
import extension

operators: Any = bpy.ops


def main() -> None:
    archive, name, frame, picture = sys.argv[1:]
    extension.install(archive)
    context: Any = bpy.context
    scene = context.scene
    if "Cube" not in scene.objects:
        raise RuntimeError("this is not Blender's startup file")
    operators.mpm.add_ready_scene(scene=name)
    operators.wm.save_as_mainfile(filepath=os.path.splitext(picture)[0] + ".blend")
    began = time.perf_counter()
    if operators.mpm.bake() != {"FINISHED"}:
        raise RuntimeError("the bake did not finish")
    baked = time.perf_counter()
    scene.frame_set(int(frame))
    scene.render.filepath = picture
    operators.render.render(write_still=True)
    rendered = time.perf_counter()
    operators.wm.save_mainfile()
    # of Blender and the processes that it started
    processor = sum(os.times()[:4])
    print(f"clicks baked in {baked - began:.0f} s, rendered in {rendered - baked:.0f} s, {processor:.0f} s of processor time")


if __name__ == "__main__":
    extension.run(main)
