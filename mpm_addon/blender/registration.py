"""Registration of every part in order, and removal in reverse order. A failure halfway removes what was registered.

A new part is a module with `register` and one name in `_PARTS`. It adds things to Blender through the registrar, which removes them.
"""

from dataclasses import dataclass
from types import ModuleType

import bpy
from bpy.app.handlers import persistent

from . import compiling, display, migrations
from .baking import bake_queue, derived_processes, emitter_wires, observation, preflight, previews, relocation, scene_caches, session
from .building import add_menu, quick, quick_menu
from .building.ready_scenes import adding
from .host import help, translations
from .host.registrar import Registrar
from .host.runtime import OfSession, runtime
from .interface import menus, preferences, timeline
from .interface.operators import (
    all_operators,
    commands,
    derived_operators,
    export_operators,
    live_operators,
    material_operators,
    piece_operators,
    role_operators,
)
from .interface.panels import all_panels, graphs
from .live import live_session
from .playback import arriving_frames, lost_caches, orphans, particle_objects
from .settings import overrides, properties, thumbnails

# When a file is opened, its settings are upgraded before anything reads them; then come paths, then particles.
_PARTS: tuple[ModuleType, ...] = (
    translations,
    thumbnails,
    properties,
    overrides,
    migrations,
    scene_caches,
    relocation,
    previews,
    preferences,
    help,
    display,
    material_operators,
    all_operators,
    role_operators,
    live_operators,
    derived_operators,
    piece_operators,
    graphs,
    all_panels,
    export_operators,
    adding,
    add_menu,
    quick,
    quick_menu,
    menus,
    particle_objects,
    lost_caches,
    emitter_wires,
    orphans,
    arriving_frames,
    observation,
    timeline,
    commands,
    compiling,
)


@dataclass
class Registered(OfSession):
    """The registrar in use; None if nothing is registered."""

    registrar: Registrar | None = None


@persistent
def _on_load_pre(_path: str = "", _unused: object = None) -> None:
    bake_queue.end()
    session.leave()
    live_session.forget()
    preflight.end()
    derived_processes.end_all()


@persistent
def _on_load_post(_path: str = "", _unused: object = None) -> None:
    """Not before the file is open: if opening fails, the previous file stays."""
    runtime.forget_file()


def register() -> None:
    """Register the add-on with Blender. Does nothing if it is registered already."""
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
    """Undo `register`; a running bake is stopped or left running, as its scene says."""
    registrar = runtime.of(Registered).registrar
    if registrar is not None:
        registrar.take_back()
