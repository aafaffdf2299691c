"""Redraws the editors that show bakes."""

from typing import Any


def redraw(manager: Any) -> None:
    """Redraw everything that shows the state of bakes: sidebars, properties editors and timelines.

    Excludes the 3D viewport itself: a million particles take seconds to draw, and a new frame redraws it anyway.
    """
    for window in manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()
            elif area.type in {"PROPERTIES", "DOPESHEET_EDITOR"}:
                area.tag_redraw()
