"""The look of emitters: particles take their place, so they are drawn as wires and not rendered until they have another role."""

from typing import Any

from ..host.blender_types import BlenderObject, Context
from ..host.file_record import is_silent

_WIRE = "WIRE"
# How Blender draws a new object.
_USUAL = "TEXTURED"


def show_as_wire(item: BlenderObject) -> None:
    """Draw an object as a wire, and hide it in renders."""
    item.display_type = _WIRE
    item.hide_render = True


def is_wire(item: BlenderObject) -> bool:
    return item.display_type == _WIRE and item.hide_render


def role_changed(settings: Any, _context: Context) -> None:
    """The update function of an object's type: what becomes an emitter is drawn as a wire, and gets its look back with another type.

    What an artist has changed in between is kept.
    """
    item = settings.id_data
    if is_silent() or item.library is not None:
        return
    if settings.type == "emitter":
        if not settings.display_before:
            settings.display_before, settings.hidden_before = item.display_type, item.hide_render
            show_as_wire(item)
    elif settings.display_before:
        if is_wire(item):
            item.display_type, item.hide_render = settings.display_before, settings.hidden_before
        settings.display_before = ""


def remember_usual(item: BlenderObject) -> None:
    """Let an emitter that was drawn as a wire before its look was remembered get the usual one back with its next type."""
    if item.mpm.type == "emitter" and not item.mpm.display_before and is_wire(item):
        item.mpm.display_before, item.mpm.hidden_before = _USUAL, False
