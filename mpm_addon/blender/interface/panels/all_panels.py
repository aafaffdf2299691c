"""All panels, in the order in which Blender shows them. Drawing reads and never writes; it must not fail on any selection."""

import bpy

from . import (
    bake_panels,
    display_panels,
    emission_panels,
    force_panels,
    live_panels,
    material_panel,
    notice_panels,
    object_lists,
    object_panels,
    scene_panels,
)

CLASSES: tuple[type, ...] = (
    *object_lists.CLASSES,
    *object_panels.CLASSES,
    *material_panel.CLASSES,
    *emission_panels.CLASSES,
    *bake_panels.CLASSES,
    *live_panels.CLASSES,
    *display_panels.CLASSES,
    *notice_panels.CLASSES,
    *scene_panels.CLASSES,
    *force_panels.CLASSES,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
