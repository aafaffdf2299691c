"""What scripts in the window's Blender use: places of editors, the sidebar's tabs, and which operator's button is where.

Loaded into Blender by `Window.start`; its names are there for every script that `Window.run` sends.
"""

from collections.abc import Generator
from typing import Any

import bpy

# How often Blender may look at the mouse before the button below it is believed to know.
SETTLING = 2
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
    """Returns the context of an editor, as bpy.ops want it."""
    window, area, region = region_of(kind, region_type)
    return CONTEXT.temp_override(window=window, screen=window.screen, area=area, region=region)


def box(kind: str, region_type: str = "WINDOW") -> list[int]:
    """Returns left, top, width and height of a region in pixels of the screen, from its top left corner."""
    window, _, region = region_of(kind, region_type)
    return [region.x, window.height - region.y - region.height, region.width, region.height]


def show_sidebar(category: str, width: int = 0) -> Generator[None, None, list[int]]:
    """Opens the viewport's sidebar at a tab and returns its box. The tab can only be chosen once the sidebar has been drawn."""
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
    """Turns the properties editor to a tab, such as "PHYSICS", and returns its box."""
    _, area = area_of("PROPERTIES")
    area.spaces.active.context = tab
    area.tag_redraw()
    yield
    yield
    return box("PROPERTIES")


def button_below_mouse(kind: str, region_type: str) -> str:
    """Returns the Python call of the operator whose button is below the mouse, such as "bpy.ops.mpm.bake()"; empty where there is none."""
    with within(kind, region_type):
        button: Any = bpy.ops.ui.copy_python_command_button
        if not button.poll():
            return ""
        button()
    return str(CONTEXT.window_manager.clipboard)


def find_button(
    call: str, kind: str, region_type: str, columns: tuple[float, ...] = (0.5, 0.3, 0.7, 0.9), step: int = 9
) -> Generator[None, None, list[int]]:
    """Moves the mouse over a region until it is above an operator's button; returns its place on the screen, [] where there is none.

    `call` is a part of the operator's Python call: "mpm.bake(" or "mpm.add_scene(name=\\"snowball\\"".
    """
    window, _, region = region_of(kind, region_type)
    for column in columns:
        x = region.x + int(region.width * column)
        found: list[int] = []
        for y in range(region.y + region.height - 4, region.y, -step):
            window.cursor_warp(x, y)
            for _ in range(SETTLING):
                yield
            is_there = call in button_below_mouse(kind, region_type)
            if is_there:
                found.append(y)
            elif found:
                break
        if found:
            middle = (found[0] + found[-1]) // 2
            return [x, window.height - 1 - middle]
    return []
