"""Material Point Method simulation, for Blender and standalone.

Imports nothing of Blender until `register` runs, so the command line and the Python API work without it.
"""

# The manifest describes the extension. Versions of Blender without extensions read this and report what they need.
bl_info = {
    "name": "MPM",
    "author": "The MPM add-on maintainers",
    "version": (1, 0, 0),
    "blender": (4, 2, 0),
    "category": "Physics",
    "description": "Snow, sand, water and jelly by the Material Point Method",
}


def register() -> None:
    from .blender.host import blender_version

    # the imports below need the Python of Blender 4.2
    blender_version.require()
    from .blender import registration

    registration.register()


def unregister() -> None:
    from .blender import registration

    registration.unregister()
