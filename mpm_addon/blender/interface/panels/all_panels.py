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
    quality_panels,
    scene_panels,
)

# panels after their parents; Blender shows those at the top of the sidebar in this order
CLASSES: tuple[type, ...] = (
    *object_lists.CLASSES,
    *object_panels.CLASSES,
    *material_panel.CLASSES,
    *emission_panels.CLASSES,
    bake_panels.MPM_PT_bake,
    *notice_panels.CLASSES,
    scene_panels.MPM_PT_objects,
    *display_panels.CLASSES,
    *derived_panels.CLASSES,
    *quality_panels.CLASSES,
    *live_panels.CLASSES,
    *bake_panels.OUTPUT,
    *scene_panels.ADVANCED,
    *force_panels.CLASSES,
)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
