"""The supported versions of Blender. Imports nothing that an older Blender lacks."""

import bpy

OLDEST = (4, 2)
NEWEST = (5, 2)


def require() -> None:
    """Raises RuntimeError if Blender is too old for the extension; Blender shows the message as one line."""
    running = tuple(bpy.app.version)
    if running[:2] < OLDEST:
        raise RuntimeError(f"MPM needs Blender {words(OLDEST)} or newer, and this is {words(running)}: install a newer Blender.")


def words(number: tuple[int, ...]) -> str:
    """A readable version: "4.2"."""
    return ".".join(map(str, number[:2]))
