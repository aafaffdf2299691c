"""The operators that turn a broken skin into objects, and back. Each calls one function."""

from typing import Any

import bpy
from bpy.props import FloatProperty

from ...baking import broken_skins
from ...host.blender_types import Context
from ...host.operation import Operation
from ...host.redrawing import redraw
from ...host.registrar import Registrar
from ...settings import paths
from ..panels.display_panels import shown_object


class MPM_OT_pieces_make(Operation, bpy.types.Operator):
    """Make an object with keyframes from each piece of a broken skin, and hide the skin from then on"""

    bl_idname = "mpm.pieces_make"
    bl_label = "Make Pieces"
    bl_options = {"REGISTER", "UNDO"}

    smallest: FloatProperty(
        name="Smallest Piece",
        description="Share of an emitter's particles that a piece has at least; smaller ones disappear (0 keeps all, 0.01 omits crumbs)",
        default=0.0,
        min=0.0,
        max=1.0,
        soft_max=0.1,
        precision=4,
    )

    @classmethod
    def poll(cls: Any, context: Context) -> bool:
        item = shown_object(context)
        cls.poll_message_set("No skin of a material that breaks or tears is shown; make one first")
        return item is not None and bool(broken_skins.breakable(item))

    def execute(self, context: Context) -> Any:
        item = shown_object(context)
        assert item is not None, "polled"
        windows = context.window_manager
        windows.progress_begin(0.0, 1.0)
        try:
            self.notes(broken_skins.make(context.scene, item, smallest=self.smallest, look=windows.progress_update))
        finally:
            windows.progress_end()
        redraw(windows)
        return {"FINISHED"}


class MPM_OT_pieces_delete(Operation, bpy.types.Operator):
    """Delete the pieces of broken skins, and show the skins again"""

    bl_idname = "mpm.pieces_delete"
    bl_label = "Delete Pieces"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls: Any, context: Context) -> bool:
        item = shown_object(context)
        cls.poll_message_set("There are no pieces")
        return item is not None and broken_skins.are_there(context.scene, item)

    def execute(self, context: Context) -> Any:
        item = shown_object(context)
        assert item is not None, "polled"
        broken_skins.remove(context.scene, paths.absolute(item.mpm.cache))
        redraw(context.window_manager)
        return {"FINISHED"}


CLASSES = (MPM_OT_pieces_make, MPM_OT_pieces_delete)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
