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
    archive, name, frame, picture = sys.argv[1:5]
    extension.install(archive)
    scene = added(name)
    blend_file = os.path.splitext(picture)[0] + ".blend"
    operators.wm.save_as_mainfile(filepath=blend_file)
    bake_seconds = timed(bake)
    scene.frame_set(int(frame))
    render_seconds = timed(lambda: render(scene, picture))
    operators.wm.save_mainfile()
    print(f"clicks baked in {bake_seconds:.0f} s, rendered in {render_seconds:.0f} s, {processor_seconds():.0f} s of processor time")


def added(name: str) -> Any:
    """The startup file, with its cube, made a ready scene."""
    context: Any = bpy.context
    if "Cube" not in context.scene.objects:
        raise RuntimeError("this is not Blender's startup file")
    operators.mpm.add_ready_scene(scene=name)
    return context.scene


def bake() -> None:
    if operators.mpm.bake() != {"FINISHED"}:
        raise RuntimeError("the bake did not come to its end")


def render(scene: Any, picture: str) -> None:
    scene.render.filepath = picture
    operators.render.render(write_still=True)


def timed(action: Any) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def processor_seconds() -> float:
    """What Blender and the processes that it started have used [s]."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


if __name__ == "__main__":
    extension.run(main)
