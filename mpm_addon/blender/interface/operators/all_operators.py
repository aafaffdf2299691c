"""All operators of baking. Each hands over to one function and turns an MpmError into a report."""

import bpy

from ...baking import preflight, session
from . import bake_operators, cache_operators, preflight_operators, take_operators

CLASSES: tuple[type, ...] = (
    *bake_operators.CLASSES,
    *take_operators.CLASSES,
    *preflight_operators.CLASSES,
    *cache_operators.CLASSES,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    session.leave()
    preflight.end()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
