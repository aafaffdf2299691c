"""Material Point Method simulation for Blender, and without it.

Imports nothing of Blender until `register` runs: the command line and the Python API work without it.
"""


def register() -> None:
    from .blender import registration

    registration.register()


def unregister() -> None:
    from .blender import registration

    registration.unregister()
