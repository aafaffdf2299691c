"""The versions of Blender that this one was made for. Imports nothing that an older Blender lacks."""

import bpy

OLDEST = (4, 2)
NEWEST = (5, 2)


def require() -> None:
    """Raises RuntimeError where Blender is too old for anything here to work; it becomes the one line that Blender shows."""
    running = tuple(bpy.app.version)
    if running[:2] < OLDEST:
        raise RuntimeError(f"MPM needs Blender {words(OLDEST)} or newer, and this is {words(running)}: install a newer Blender.")


def words(number: tuple[int, ...]) -> str:
    """A version for people: "4.2"."""
    return ".".join(map(str, number[:2]))
