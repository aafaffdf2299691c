"""Material Point Method simulation for Blender, and without it.

Imports nothing of Blender until `register` runs: the command line and the Python API work without it.
"""

# An extension is described by its manifest. A Blender that knows no extensions reads this, and says what it needs.
bl_info = {
    "name": "MPM",
    "author": "The MPM add-on maintainers",
    "version": (0, 1, 0),
    "blender": (4, 2, 0),
    "category": "Physics",
    "description": "Snow, sand, water and jelly by the Material Point Method",
}


def register() -> None:
    from .blender.host import blender_version

    # what follows needs the Python of Blender 4.2
    blender_version.require()
    from .blender import registration

    registration.register()


def unregister() -> None:
    from .blender import registration

    registration.unregister()
