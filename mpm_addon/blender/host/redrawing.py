"""Lets Blender draw again what tells of bakes."""

from typing import Any


def redraw(manager: Any) -> None:
    """Let everything that tells of bakes draw itself again: sidebars, properties editors and timelines.

    Not the 3D viewport beside its sidebar: a million particles take seconds to draw there, and a new frame redraws it by itself.
    """
    for window in manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()
            elif area.type in {"PROPERTIES", "DOPESHEET_EDITOR"}:
                area.tag_redraw()
