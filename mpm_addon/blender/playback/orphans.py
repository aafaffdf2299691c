"""Empties objects that show derived data once their particle object is gone: nothing moves them, and they would render forever.

They stay in the file, for the next particle object of the same emitters (`derived_objects.adopt`). Handlers never raise.
"""

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...storage.take import DEBRIS, FOAM, SKIN, SURFACE
from ..host.registrar import Registrar
from . import derived_objects, skin_objects, surface_objects, swarm_objects, volume_objects


def empty() -> None:
    """Empty all orphans."""
    for shown in derived_objects.orphans():
        if shown.mpm.derived.kind == SURFACE:
            surface_objects.clear(shown.data)
        elif shown.mpm.derived.kind == SKIN:
            skin_objects.collapse(shown.data)
        elif shown.mpm.derived.kind in (FOAM, DEBRIS):
            swarm_objects.empty(shown.data)
        else:
            volume_objects.empty(shown.data)


def empty_new() -> None:
    """Empty orphans if a particle object is gone since the last call. Cheap if none is."""
    if derived_objects.have_lost_owner():
        empty()


@persistent
def _on_update(_scene: Any = None, _depsgraph: Any = None) -> None:
    empty_new()


@persistent
def _on_load(_path: str = "", _unused: Any = None) -> None:
    empty()


def register(registrar: Registrar) -> None:
    lists = bpy.app.handlers
    registrar.member(lists.depsgraph_update_post, _on_update)
    registrar.member(lists.load_post, _on_load)
