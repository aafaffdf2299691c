"""Finds entries of an open menu by mouse. Blender does not report where menus are, but changes of the picture and Ctrl+C on an entry do."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops

from tools.gui.blender import Window, WindowError

# Height of a menu entry [pixels] at an interface scale of 1.
ROW = 20
_MARGIN = 8
# Seconds until a menu must be open, and until the mouse on an entry has opened its submenu.
_PATIENCE = 10.0
_OPENING = 0.6
_DEEPEST = 3
# The minimum fraction of a line of pixels that a menu changes.
_MOST = 0.5

# Left, top, right and bottom on the screen.
Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Menu:
    """An open menu: its box, and the picture of the screen with this menu and nothing beside it."""

    box: Box
    alone: Image.Image


def open_by_key(window: Window, place: tuple[int, int], *keys: str) -> Menu:
    """Presses keys with the mouse at a place, and returns the menu that this opens.

    The place must be high enough in the viewport for the whole menu: menus are as dark as other editors.
    """
    window.move(*place)
    before = window.picture()
    window.key(*keys)
    return opened(window, before, place)


def opened(window: Window, before: Image.Image, place: tuple[int, int]) -> Menu:
    """Waits until a menu or a panel has opened at a place. Raises WindowError if none does."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        time.sleep(_OPENING)
        after = window.picture()
        box = changed_around(before, after, place)
        if box is not None:
            return Menu(box, _without_submenu(before, after, box))
    raise WindowError(f"no menu opened at {place}")


def _without_submenu(before: Image.Image, after: Image.Image, menu: Box) -> Image.Image:
    """Blender opens a menu with the last chosen entry under the mouse, which opens that entry's submenu as well."""
    beside = (menu[2], 0, after.width, after.height)
    alone = after.copy()
    alone.paste(before.crop(beside), beside)
    return alone


def changed_around(before: Image.Image, after: Image.Image, place: tuple[int, int]) -> Box | None:
    """Returns the box around a place in which most of the picture has changed; None if it is smaller than an entry."""
    changed = np.asarray(ImageChops.difference(before, after)).any(axis=2)
    height, width = changed.shape
    # not a single pixel: the mouse and letters cover some
    left, right = max(0, place[0] - _MARGIN), min(width, place[0] + _MARGIN)
    top, bottom = max(0, place[1] - _MARGIN), min(height, place[1] + _MARGIN)
    while True:
        box = (left, top, right, bottom)
        left -= _step(changed[top:bottom, :left].mean(axis=0)[::-1])
        right += _step(changed[top:bottom, right:].mean(axis=0))
        top -= _step(changed[:top, left:right].mean(axis=1)[::-1])
        bottom += _step(changed[bottom:, left:right].mean(axis=1))
        if box == (left, top, right, bottom):
            return box if min(right - left, bottom - top) >= ROW else None


def _step(shares: NDArray[np.float64]) -> int:
    """How far away the nearest line is that has changed, of lines with these shares of changed pixels; 0 if none is near.

    The entry below the mouse may be as bright as what was there before.
    """
    near = np.flatnonzero(shares[:ROW] > _MOST)
    return int(near[0]) + 1 if len(near) else 0


def find_entry(window: Window, menu: Menu, call: str, columns: int = 1) -> list[Box]:
    """Moves the mouse through a menu, from the last entry up, and through its submenus, until it is on the entry of an operator.

    Args:
        menu: the menu that is open.
        call: a part of the operator's Python call, with single quotes: "mpm.add(kind='snow'".
        columns: the number of columns of the menu, in which no entry has a submenu if there are several.

    Returns:
        The boxes of the menus on the way, that of the entry's own menu last.

    Raises:
        WindowError: there is no such entry.
    """
    left, top, right, bottom = menu.box
    edges = np.linspace(left, right, columns + 1).astype(int)
    found = next(
        (
            found
            for k in range(columns)
            if (found := _find(window, Menu((edges[k], top, edges[k + 1], bottom), menu.alone), call, _DEEPEST if columns > 1 else 1))
        ),
        [],
    )
    if not found:
        window.key(*["Escape"] * _DEEPEST)
        raise WindowError(f"no entry of the menu calls {call!r}")
    return found


def _find(window: Window, menu: Menu, call: str, depth: int) -> list[Box]:
    left, top, right, bottom = menu.box
    x = (left + right) // 2
    rows = range(top + ROW // 2, bottom - _MARGIN, ROW // 2)
    # extensions add their entries at the end of Blender's menus
    for y in reversed(rows) if depth == 1 else rows:
        window.run('CONTEXT.window_manager.clipboard = ""')
        _come_to(window, x, y)
        window.mouse("key", "ctrl+c")
        if call in window.ask("CONTEXT.window_manager.clipboard").replace('"', "'"):
            return [menu.box]
        submenu = _opened_beside(window, menu, y) if depth < _DEEPEST else None
        if submenu is None:
            continue
        # straight to the side, so that the mouse stays on the entry until it is in the submenu
        window.mouse("mousemove", str(right - 2), str(y), "mousemove", str(submenu[0] + _MARGIN), str(y))
        found = _find(window, Menu(submenu, window.picture()), call, depth + 1)
        if found:
            return [menu.box, *found]
        window.mouse("mousemove", str(right - 2), str(y))
    return []


def _come_to(window: Window, x: int, y: int) -> None:
    """Moves the mouse to an entry in small steps: Blender keeps a submenu open if the mouse seems to be heading for it."""
    steps = [word for away in (6, 4, 2, 0) for word in ("mousemove", str(x + away), str(y), "sleep", "0.05")]
    window.mouse(*steps, "sleep", "0.1")


def _opened_beside(window: Window, menu: Menu, y: int) -> Box | None:
    """The menu that is open to the right of an entry, or None."""
    time.sleep(_OPENING)
    return changed_around(menu.alone, window.picture(), (menu.box[2] + 2 * _MARGIN, y))
