"""Blender's own menus and panels, to which add-ons append their buttons, and helpers for lists."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from typing import Any

from .structs import NAMESPACES, STUBS, struct_class

_BASES = {"_MT_": "Menu", "_PT_": "Panel", "_HT_": "Header"}
_known: dict[str, type] = {}


def own_class(name: str) -> type | None:
    """The class of one of Blender's own menus, panels or headers; None for an unknown name."""
    base = next((base for infix, base in _BASES.items() if infix in name), None)
    if base is None or name not in STUBS.names("bpy.types"):
        return None
    if name not in _known:

        def draw(_panel: Any, _context: Any) -> None:
            """What Blender draws itself is not simulated."""

        functions: list[Callable[..., Any]] = []
        draw._draw_funcs = functions  # type: ignore[attr-defined]

        def remove(function: Callable[..., Any]) -> None:
            if function in functions:
                functions.remove(function)

        namespace = {
            "draw": draw,
            "append": staticmethod(functions.append),
            "prepend": staticmethod(lambda function: functions.insert(0, function)),
            "remove": staticmethod(remove),
        }
        _known[name] = type(name, (struct_class(base),), namespace)
    return _known[name]


def used() -> list[str]:
    """The names that were requested."""
    return list(_known)


def appended() -> list[str]:
    """What is currently appended: "draw_button in PHYSICS_PT_add"."""
    return [f"{function.__qualname__} in {name}" for name, cls in _known.items() for function in vars(cls)["draw"]._draw_funcs]


def forget() -> None:
    """Remove everything that was appended."""
    for cls in _known.values():
        vars(cls)["draw"]._draw_funcs.clear()


def _filter_items_by_name(
    pattern: str, bitflag: int, items: Any, propname: str = "name", flags: list[int] | None = None, reverse: bool = False
) -> list[int]:
    if not pattern or not items:
        return flags or []
    found = list(flags) if flags else [0] * len(items)
    for number, item in enumerate(items):
        if fnmatch.fnmatch(getattr(item, propname).lower(), f"*{pattern.lower()}*") != reverse:
            found[number] |= bitflag
    return found


def _sort_items_by_name(items: Any, propname: str = "name") -> list[int]:
    order = sorted(range(len(items)), key=lambda number: getattr(items[number], propname).lower())
    places = [0] * len(order)
    for place, number in enumerate(order):
        places[number] = place
    return places


NAMESPACES["UI_UL_list"] = {
    "filter_items_by_name": staticmethod(_filter_items_by_name),
    "sort_items_by_name": staticmethod(_sort_items_by_name),
}
