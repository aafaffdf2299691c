"""Finds and removes what this package has left in Blender outside of the order of registration.

Needed where a part fails in its middle, and where modules are loaded anew while they are registered. Everything that Blender lists
is found by the module that it came from.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import bpy

_PACKAGE = (__package__ or "").rpartition(".")[0]
_BASES = ("Operator", "Panel", "Menu", "Header", "UIList", "AddonPreferences", "PropertyGroup", "Gizmo", "GizmoGroup", "FileHandler")
_PREFIX = "mpm"
_OWNERS = ("Object", "Scene", "WindowManager", "Collection", "Material", "Mesh", "NodeTree")


def remove() -> None:
    """Remove what is left, in an order in which nothing is needed any more by what comes later."""
    for functions, function in list(_handlers()):
        functions.remove(function)
    for function in _timers():
        bpy.app.timers.unregister(function)
    for menu, function in list(_menu_entries()):
        menu.remove(function)
    for owner, name in list(_properties()):
        delattr(owner, name)
    # what was made last may be part of nothing else; a group that is part of another one goes after it
    for cls in reversed(list(_classes())):
        with contextlib.suppress(RuntimeError):  # not registered any more
            bpy.utils.unregister_class(cls)


def is_ours(thing: Any) -> bool:
    """Whether a class or function is of this package."""
    module = getattr(thing, "__module__", None) or ""
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.")


def _handlers() -> Iterator[tuple[list[Any], Any]]:
    for name in dir(bpy.app.handlers):
        functions = getattr(bpy.app.handlers, name)
        if isinstance(functions, list):
            yield from ((functions, function) for function in functions if is_ours(function))


def _timers() -> list[Callable[[], Any]]:
    """Functions of this package for which Blender has a timer: it names none by itself."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(f"{_PACKAGE}.") and module is not None]
    functions = [value for module in modules for value in vars(module).values() if isinstance(value, FunctionType)]
    return [function for function in dict.fromkeys(functions) if is_ours(function) and bpy.app.timers.is_registered(function)]


def _menu_entries() -> Iterator[tuple[type, Any]]:
    """What was appended to menus, panels and headers."""
    for base in ("Menu", "Panel", "Header"):
        for cls in _below(getattr(bpy.types, base)):
            for function in getattr(getattr(cls, "draw", None), "_draw_funcs", ()):
                if is_ours(function):
                    yield cls, function


def _properties() -> Iterator[tuple[type, str]]:
    """Properties on Blender's own types; all of this package begin with its short name."""
    for owner in (getattr(bpy.types, name) for name in _OWNERS):
        for name in owner.bl_rna.properties.keys():  # noqa: SIM118 - no dictionary
            if name == _PREFIX or name.startswith(f"{_PREFIX}_"):
                yield owner, name


def _classes() -> Iterator[type]:
    for base in _BASES:
        for cls in _below(getattr(bpy.types, base)):
            if is_ours(cls) and getattr(cls, "is_registered", False):
                yield cls


def _below(cls: type) -> Iterator[type]:
    for child in cls.__subclasses__():
        yield child
        yield from _below(child)
