"""The extension's tab in the sidebar of 3D views."""

from typing import Any

import bpy

from .blender_types import Context

TAB = "MPM"
_SECONDS, _TRIES = 0.05, 40


def open_tab(context: Context) -> None:
    """Open the sidebar at the extension's tab in every 3D view of the window; does nothing without an interface.

    A sidebar knows its tabs only once it has been drawn, so the tab is chosen a moment later.
    """
    if bpy.app.background or context.window is None:
        return
    for area in _views(context.window):
        area.spaces.active.show_region_ui = True
    # areas may be gone by then, and windows too
    number, tries = context.window.as_pointer(), iter(range(_TRIES))

    def choose() -> float | None:
        current: Any = bpy.context
        views = [area for window in current.window_manager.windows if window.as_pointer() == number for area in _views(window)]
        waiting = [area for area in views if not _choose(area)]
        return _SECONDS if waiting and next(tries, None) is not None else None

    bpy.app.timers.register(choose, first_interval=_SECONDS)


def _views(window: Any) -> list[Any]:
    return [area for area in window.screen.areas if area.type == "VIEW_3D"]


def _choose(area: Any) -> bool:
    """Whether the sidebar of an area shows the tab now, or never can."""
    area.tag_redraw()
    for region in area.regions:
        if region.type == "UI" and hasattr(region, "active_panel_category") and region.active_panel_category != TAB:
            try:
                region.active_panel_category = TAB
            except TypeError:  # not one of its tabs yet
                return False
    return True
