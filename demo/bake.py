"""In Blender: installs the extension, builds a scene, bakes it and saves the file.

Arguments: zip, name of a scene in scenes.toml, or "ready:", the name, size and last frame of a ready scene, and the .blend file.
"""

import sys
from typing import Any

import bpy
import extension

operators: Any = bpy.ops


def main() -> None:
    archive, name, blend_file = sys.argv[1:]
    extension.install(archive)
    import parts  # needs the extension

    is_ready = name.startswith("ready:")
    scene = ready_scene(*name.split(":")[1:]) if is_ready else parts.built(name).scene
    operators.wm.save_as_mainfile(filepath=blend_file)
    # as `blender --command mpm bake --restart` does, which prints each frame
    if extension.module("blender.interface.operators.commands").run(["bake", "--restart"]) != 0:
        raise RuntimeError("the bake did not finish")
    if not is_ready:
        parts.finish(name, scene)
    operators.wm.save_mainfile()


def ready_scene(name: str, size: str, last: str) -> Any:
    """Blender's startup file with a ready scene, as Add > MPM > Ready Scenes leaves it, but not longer than to the last frame."""
    context: Any = bpy.context
    if "Cube" not in context.scene.objects:
        raise RuntimeError("this is not Blender's startup file")
    operators.mpm.add_ready_scene(scene=name, size=size)
    context.scene.frame_end = min(context.scene.frame_end, int(last))
    return context.scene


if __name__ == "__main__":
    extension.run(main)
