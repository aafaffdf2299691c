"""Registration: every part in order, and back in the opposite order. What failed half way is taken back.

A new part is a module with `register` and `unregister` and one name in `_PARTS`.
"""

from types import ModuleType

import bpy
from bpy.app.handlers import persistent

from . import compiling, display, migrations, residue
from .baking import bake_queue, observation, preflight, relocation, scene_caches, session, showing
from .building import add_menu, quick
from .building.ready_scenes import adding
from .host import help, translations
from .interface import preferences, timeline
from .interface.operators import all_operators, commands, export_operators, live_operators, material_operators, part_operators
from .interface.panels import all_panels, graphs
from .live import live_session
from .playback import playback
from .settings import properties, thumbnails

# When a file is opened its settings are brought up to date before anything reads them, then paths, then particles.
_PARTS: tuple[ModuleType, ...] = (
    translations,
    thumbnails,
    properties,
    migrations,
    scene_caches,
    relocation,
    preferences,
    help,
    display,
    material_operators,
    all_operators,
    part_operators,
    live_operators,
    showing,
    graphs,
    all_panels,
    export_operators,
    adding,
    add_menu,
    quick,
    playback,
    observation,
    timeline,
    commands,
    compiling,
)

_registered: list[ModuleType] = []


@persistent
def _on_load_pre(_path: str = "", _unused: object = None) -> None:
    bake_queue.end()
    session.leave()
    live_session.forget()
    preflight.end()


def register() -> None:
    """Make the add-on known to Blender. Does nothing where it is known already."""
    if _registered:
        return
    residue.remove()  # of modules that were loaded anew while they were registered
    part = None
    try:
        for part in _PARTS:
            part.register()
            _registered.append(part)
    except BaseException as error:
        if part is not None:
            try:
                part.unregister()
            except Exception as other:  # noqa: BLE001 - it failed in its middle, and takes back as much as it can
                error.add_note(f"{part.__name__} was not taken back as a whole: {other}")
        unregister()
        residue.remove()  # what that part could not
        raise
    bpy.app.handlers.load_pre.append(_on_load_pre)


def unregister() -> None:
    """Take back everything that `register` did; a bake that runs is stopped, or runs on, as its scene says."""
    if _on_load_pre in bpy.app.handlers.load_pre:
        bpy.app.handlers.load_pre.remove(_on_load_pre)
    while _registered:
        _registered.pop().unregister()
