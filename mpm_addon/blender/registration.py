"""Registration: every part in order, and back in the opposite order. What fails halfway is taken back.

A new part is a module with `register` and one name in `_PARTS`. What it adds to Blender goes through the registrar, which takes it back.
"""

from dataclasses import dataclass
from types import ModuleType

import bpy
from bpy.app.handlers import persistent

from . import compiling, display, migrations
from .baking import bake_queue, observation, preflight, relocation, scene_caches, session
from .building import add_menu, quick
from .building.ready_scenes import adding
from .host import help, translations
from .host.registrar import Registrar
from .host.runtime import OfSession, runtime
from .interface import preferences, timeline
from .interface.operators import all_operators, commands, export_operators, live_operators, material_operators, part_operators
from .interface.panels import all_panels, graphs
from .live import live_session
from .playback import arriving, playback
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
    graphs,
    all_panels,
    export_operators,
    adding,
    add_menu,
    quick,
    playback,
    arriving,
    observation,
    timeline,
    commands,
    compiling,
)


@dataclass
class Registered(OfSession):
    """What knows what is registered; None where nothing is."""

    registrar: Registrar | None = None


@persistent
def _on_load_pre(_path: str = "", _unused: object = None) -> None:
    bake_queue.end()
    session.leave()
    live_session.forget()
    preflight.end()


@persistent
def _on_load_post(_path: str = "", _unused: object = None) -> None:
    """Not before the file is open: where it cannot be opened, the one before stays."""
    runtime.forget_file()


def register() -> None:
    """Make the add-on known to Blender. Does nothing where it is known already."""
    if runtime.of(Registered).registrar is not None:
        return
    registrar = Registrar()
    try:
        registrar.on_removal(runtime.end)
        registrar.member(bpy.app.handlers.load_pre, _on_load_pre)
        registrar.member(bpy.app.handlers.load_post, _on_load_post)
        for part in _PARTS:
            part.register(registrar)
    except BaseException:
        registrar.take_back()
        raise
    runtime.of(Registered).registrar = registrar


def unregister() -> None:
    """Take back everything that `register` did; a bake that runs is stopped, or runs on, as its scene says."""
    registrar = runtime.of(Registered).registrar
    if registrar is not None:
        registrar.take_back()
