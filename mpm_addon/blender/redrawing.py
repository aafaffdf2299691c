"""Lets Blender draw again what tells of bakes."""

from typing import Any


def redraw(manager: Any) -> None:
    """Let everything that tells of a bake draw itself again: viewports, properties editors and timelines."""
    for window in manager.windows:
        for area in window.screen.areas:
            if area.type in {"VIEW_3D", "PROPERTIES", "DOPESHEET_EDITOR"}:
                area.tag_redraw()
