"""Library overrides of objects whose library has no settings of the simulation, or not all groups of them.

Blender loses the values of a group that the library's object does not contain when the file is opened. Reading a group makes it.
"""

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..host.registrar import Registrar


def _read_groups(settings: Any) -> None:
    for name in type(settings).__annotations__:
        group = getattr(settings, name)
        if isinstance(group, bpy.types.PropertyGroup):
            _read_groups(group)


def _has_settings(settings: Any) -> bool:
    return any(settings.is_property_set(name) for name in type(settings).__annotations__)


@persistent
def _on_save(_path: str = "", _unused: Any = None) -> None:
    objects: Any = bpy.data.objects
    for item in objects:
        override = item.override_library
        if item.library is None and override is not None and override.reference is not None and _has_settings(item.mpm):
            for each in (item, override.reference):
                _read_groups(each.mpm)
            override.operations_update()


def register(registrar: Registrar) -> None:
    registrar.member(bpy.app.handlers.save_pre, _on_save)
