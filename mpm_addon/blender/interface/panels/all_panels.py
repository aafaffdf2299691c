"""All panels, in the order in which Blender shows them. Drawing reads and never writes, and must not fail on any selection."""

from ...host.registrar import Registrar
from . import (
    bake_panels,
    derived_panels,
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
    *derived_panels.CLASSES,
    *notice_panels.CLASSES,
    *scene_panels.CLASSES,
    *force_panels.CLASSES,
)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
