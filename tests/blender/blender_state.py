"""Everything in Blender that an add-on can leave behind, as text that can be compared. Knows nothing of the add-on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from tests.fakes import FakeModule

OWNERS = ("Object", "Scene", "WindowManager", "Collection", "Material", "Mesh", "NodeTree", "World", "Camera", "Light", "Bone", "Screen")
BASES = (
    "AddonPreferences",
    "FileHandler",
    "Gizmo",
    "GizmoGroup",
    "Header",
    "Menu",
    "Operator",
    "Panel",
    "PropertyGroup",
    "UIList",
)


def state(bpy: Any) -> set[str]:
    """What is currently registered, appended, subscribed or loaded in Blender, one line each."""
    found = {f"type {name}" for name in dir(bpy.types)}
    for name in dir(bpy.app.handlers):
        functions = getattr(bpy.app.handlers, name)
        if isinstance(functions, list):
            found |= {f"handler {name}: {name_of(function)} {count(functions, function)}" for function in functions}
    found |= {f"timer {name_of(function)}" for function in timers(bpy)}
    found |= {f"menu {cls.__name__}: {name_of(function)}" for cls, function in menu_entries(bpy)}
    for name in OWNERS:
        found |= {f"property {name}.{key}" for key in getattr(bpy.types, name).bl_rna.properties.keys()}  # noqa: SIM118 - no dictionary
    for base in BASES:
        found |= {f"class {name_of(cls)}" for cls in below(getattr(bpy.types, base)) if getattr(cls, "is_registered", False)}
    return found | real_state(bpy)


def name_of(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def real_state(bpy: Any) -> set[str]:
    """State that exists only in the real Blender."""
    found: set[str] = set()
    if hasattr(sys.modules.get("bpy.utils.previews"), "_uuid_open"):
        found |= {f"previews {number + 1}" for number in range(len(sys.modules["bpy.utils.previews"]._uuid_open))}
    configurations = getattr(bpy.context.window_manager, "keyconfigs", None)
    if configurations is not None and getattr(configurations, "addon", None) is not None:
        found |= {f"key {keys.name}: {item.idname} {item.type}" for keys in configurations.addon.keymaps for item in keys.keymap_items}
    # registered classes in reference cycles, such as gizmos, and viewport draw functions are counted where they are made
    return found


def count(functions: list[Any], function: Any) -> int:
    return sum(other is function for other in functions)


def timers(bpy: Any) -> list[Any]:
    """Functions of loaded modules that have a timer in Blender, which cannot list its timers."""
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "mpm_addon" and module is not None]
    functions = {id(value): value for module in modules for value in vars(module).values() if isinstance(value, FunctionType)}
    return [function for function in functions.values() if bpy.app.timers.is_registered(function)]


def menu_entries(bpy: Any) -> Iterator[tuple[type, Any]]:
    """Functions appended to menus, panels and headers; Blender stores them on the draw function."""
    for base in ("Menu", "Panel", "Header"):
        for cls in below(getattr(bpy.types, base)):
            yield from ((cls, function) for function in getattr(getattr(cls, "draw", None), "_draw_funcs", ())[1:])


def below(cls: type) -> Iterator[type]:
    for child in cls.__subclasses__():
        yield child
        yield from below(child)


class Subscriptions:
    """Counts handles that Blender does not list: viewport draw functions, message bus subscriptions, translations."""

    def __init__(self, bpy: Any, monkeypatch: Any) -> None:
        self.open: dict[str, int] = {}
        spaces = ("SpaceView3D", "SpaceDopeSheetEditor", "SpaceGraphEditor", "SpaceSequenceEditor", "SpaceNodeEditor", "SpaceProperties")
        for space in () if isinstance(bpy, FakeModule) else spaces:
            cls = getattr(bpy.types, space)
            self._pair(monkeypatch, cls, "draw_handler_add", "draw_handler_remove", f"drawing in {space}")
        self._pair(monkeypatch, bpy.utils, "register_cli_command", "unregister_cli_command", "command")
        if isinstance(bpy, FakeModule):  # the fake has none of these
            return
        self._pair(monkeypatch, bpy.msgbus, "subscribe_rna", "clear_by_owner", "message")
        self._pair(monkeypatch, bpy.utils, "register_tool", "unregister_tool", "tool")
        self._pair(monkeypatch, bpy.utils, "register_preset_path", "unregister_preset_path", "preset path")
        self._pair(monkeypatch, bpy.utils, "register_manual_map", "unregister_manual_map", "manual")

    def _pair(self, monkeypatch: Any, owner: Any, give: str, take: str, what: str) -> None:
        if not (hasattr(owner, give) and hasattr(owner, take)):
            return
        given, taken = getattr(owner, give), getattr(owner, take)

        def counted_give(*arguments: Any, **words: Any) -> Any:
            self.open[what] = self.open.get(what, 0) + 1
            return given(*arguments, **words)

        def counted_take(*arguments: Any, **words: Any) -> Any:
            self.open[what] = self.open.get(what, 0) - 1
            return taken(*arguments, **words)

        monkeypatch.setattr(owner, give, counted_give)
        monkeypatch.setattr(owner, take, counted_take)

    def left(self) -> dict[str, int]:
        """Handles that were not returned."""
        return {what: number for what, number in self.open.items() if number}
