"""Objects that the extension hides with the eye of the Outliner: Blender lets nobody select them in the meantime."""

from typing import Any

from .blender_types import BlenderObject

# A custom property, so that what was hidden is known after undo and reopening, too.
MARK = "mpm_hidden_by_bake"


def show_marked(item: BlenderObject, layer: Any) -> None:
    """Show an object in a view layer if the extension hid it; it keeps its mark, with which it stays visible."""
    if MARK in item:
        item.hide_set(state=False, view_layer=layer)
