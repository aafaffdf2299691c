"""Functions for scripts in the window's Blender: find editors, show the sidebar's tabs, find an operator's button.

Loaded into Blender by `Window.start`; every script that `Window.run` sends can use these names.
"""

from collections.abc import Generator
from typing import Any

import bpy

# Number of times Blender handles events before it knows the button under the moved mouse.
SETTLING = 2
# How far from the side of a button the mouse presses it, if it is as wide as that [pixels].
_AWAY = 12
CONTEXT: Any = bpy.context


def area_of(kind: str) -> tuple[Any, Any]:
    """Returns the first window and area of an editor, such as "VIEW_3D"."""
    for window in CONTEXT.window_manager.windows:
        for area in window.screen.areas:
            if area.type == kind:
                return window, area
    raise LookupError(f"no editor {kind}")


def region_of(kind: str, region_type: str = "WINDOW") -> tuple[Any, Any, Any]:
    """Returns window, area and region."""
    window, area = area_of(kind)
    for region in area.regions:
        if region.type == region_type:
            return window, area, region
    raise LookupError(f"no region {region_type} in {kind}")


def within(kind: str, region_type: str = "WINDOW") -> Any:
    """Returns the context of an editor, for bpy.ops."""
    window, area, region = region_of(kind, region_type)
    return CONTEXT.temp_override(window=window, screen=window.screen, area=area, region=region)


def box(kind: str, region_type: str = "WINDOW") -> list[int]:
    """Returns left, top, width and height of a region in pixels of the screen, from its top left corner."""
    window, _, region = region_of(kind, region_type)
    return [region.x, window.height - region.y - region.height, region.width, region.height]


def show_sidebar(category: str) -> Generator[None, None, list[int]]:
    """Opens the viewport's sidebar at a tab and returns its box. The tab can be set only after the sidebar has been drawn."""
    _, area, region = region_of("VIEW_3D", "UI")
    area.spaces.active.show_region_ui = True
    for _ in range(100):
        area.tag_redraw()
        yield
        try:
            region.active_panel_category = category
            break
        except (AttributeError, TypeError):
            continue
    else:
        raise LookupError(f"the sidebar has no tab {category}")
    area.tag_redraw()
    yield
    yield
    return box("VIEW_3D", "UI")


def show_properties(tab: str) -> Generator[None, None, list[int]]:
    """Switches the properties editor to a tab, such as "PHYSICS", and returns its box."""
    _, area = area_of("PROPERTIES")
    area.spaces.active.context = tab
    area.tag_redraw()
    yield
    yield
    return box("PROPERTIES")


def button_below_mouse(kind: str, region_type: str) -> str:
    """Returns the Python call of the operator whose button is under the mouse, such as "bpy.ops.mpm.bake()"; "" if there is none."""
    with within(kind, region_type):
        button: Any = bpy.ops.ui.copy_python_command_button
        if not button.poll():
            return ""
        button()
    return str(CONTEXT.window_manager.clipboard)


def find_button(call: str, kind: str, region_type: str) -> Generator[None, None, list[int]]:
    """Moves the mouse over a region until it is on an operator's button; returns its place on the screen, or [].

    `call` is a part of the operator's Python call: "mpm.bake(" or "mpm.take_show(take=2".
    """
    window, _, region = region_of(kind, region_type)
    rows = range(region.y + region.height - 4, region.y, -12)
    # most rows have a button in the middle or none; small ones beside a value are searched last
    for columns in ((0.45, 0.7, 0.2, 0.88), (0.88, 0.94, 0.84, 0.8, 0.76)):
        for y in rows:
            for column in columns:
                x = region.x + int(region.width * column)
                below = yield from _below(window, x, y, kind, region_type)
                if call in below:
                    return (yield from _middle(window, x, y, call, kind, region_type))
                if not below and column == columns[0] == 0.45:
                    break
    return []


def _below(window: Any, x: int, y: int, kind: str, region_type: str) -> Generator[None, None, str]:
    window.cursor_warp(x, y)
    for _ in range(SETTLING):
        yield
    return button_below_mouse(kind, region_type)


def _middle(window: Any, x: int, y: int, call: str, kind: str, region_type: str) -> Generator[None, None, list[int]]:
    """The middle of a button, or away from its sides if it is wide, from its upper edge."""
    lowest = y
    while call in (yield from _below(window, x, lowest - 3, kind, region_type)):
        lowest -= 3
    y = (y + lowest) // 2
    ways = []
    for step in (-3, 3):
        away = 0
        while abs(away) < _AWAY and call in (yield from _below(window, x + away + step, y, kind, region_type)):
            away += step
        ways.append(away)
    return [x + sum(ways) // 2, window.height - 1 - y]
