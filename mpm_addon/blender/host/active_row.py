"""The highlighted row of object lists: it follows the active object, and clicking a row makes its object active."""

from typing import Any

import bpy
from bpy.props import IntProperty

from .blender_types import BlenderObject, Context
from .eye import show_marked


def _row(settings: Any) -> int:
    """The index of the active object in the scene; -1 if it is not in the scene."""
    context: Context = bpy.context
    scene = settings.id_data
    active = context.view_layer.objects.active if context.scene == scene else None
    if active is None:
        return -1
    row = scene.objects.find(active.name)
    # a linked object may have the same name as a local one
    if row >= 0 and scene.objects[row] == active:
        return row
    return next((number for number, item in enumerate(scene.objects) if item == active), -1)


def _choose(settings: Any, row: int) -> None:
    scene = settings.id_data
    if bpy.context.scene == scene and 0 <= row < len(scene.objects):
        select_alone(bpy.context, scene.objects[row])


def select_alone(context: Context, item: BlenderObject) -> None:
    """Make an object active and select only it, as a click in the Outliner does; shows it if a bake hid it.

    Ignores objects outside the view layer.
    """
    layer = context.view_layer
    if all(each != item for each in layer.objects):
        return
    active = layer.objects.active
    operators: Any = bpy.ops.object
    if active is not None and active != item and active.mode != "OBJECT" and operators.mode_set.poll():
        operators.mode_set(mode="OBJECT")
    show_marked(item, layer)
    for each in layer.objects:
        each.select_set(each == item)
    layer.objects.active = item


PROPERTIES: dict[str, Any] = {
    "active_row": IntProperty(
        name="Active Object",
        description="Row of the active object in the lists; clicking a row selects its object",
        get=_row,
        set=_choose,
        options={"SKIP_SAVE"},
    )
}
