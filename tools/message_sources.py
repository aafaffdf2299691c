"""Where the interface's texts are: in registered classes, in the code of panels and operators, in presets and laws.

Each function yields the context, the text and the place. Nothing here depends on which of Blender's versions, or the fake, is running.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

from environments import ROOT

from mpm_addon.storage.catalogue import ANY, OPERATOR

Found = tuple[str, str, str]
CODE = ROOT / "mpm_addon" / "blender"
KINDS = ("Operator", "Panel", "Menu", "UIList", "PropertyGroup", "AddonPreferences", "FileHandler", "AssetShelf")

# Arguments that hold a text of the interface, and functions whose first or second argument is one.
KEYWORDS = ("text", "heading", "bl_label", "bl_description")
FIRST = ("text", "tip", "message", "poll_message_set", "draw_lines", "_draw_value")
SECOND = ("report", "draw_lines")


def of_registered() -> Iterator[Found]:
    """Labels, tooltips and properties of every class of the add-on."""
    import bpy

    waiting = [getattr(bpy.types, kind) for kind in KINDS if hasattr(bpy.types, kind)]
    while waiting:
        for cls in waiting.pop().__subclasses__():
            waiting.append(cls)
            if getattr(cls, "is_registered", False) and cls.__module__.startswith("mpm_addon"):
                yield from of_class(cls)


def of_class(cls: Any) -> Iterator[Found]:
    import bpy

    is_operator = issubclass(cls, bpy.types.Operator)
    if issubclass(cls, (bpy.types.Operator, bpy.types.Panel, bpy.types.Menu)):
        label = vars(cls).get("bl_label", "")
        yield OPERATOR if is_operator else ANY, label, cls.__name__
    if is_operator:
        yield ANY, vars(cls).get("bl_description") or inspect.cleandoc(vars(cls).get("__doc__") or ""), cls.__name__
    declared: dict[str, Any] = {}
    for ancestor in reversed(cls.__mro__):
        declared.update(vars(ancestor).get("__annotations__", {}))
    for name, value in declared.items():
        keywords = getattr(value, "keywords", None)
        if isinstance(keywords, dict):
            yield from of_property(keywords, f"{cls.__name__}.{name}")


def of_property(keywords: dict[str, Any], place: str) -> Iterator[Found]:
    """The name, the tooltip and the items of a declared property."""
    if "HIDDEN" in keywords.get("options", ()):
        return
    yield ANY, keywords.get("name", ""), place
    yield ANY, keywords.get("description", ""), place
    items = keywords.get("items", ())
    for item in () if callable(items) else items:
        if item is not None:
            yield ANY, item[1], place
            yield ANY, item[2], place


def in_code() -> Iterator[Found]:
    """Texts that code gives to layouts, reports and polls, and templates."""
    for path in sorted(CODE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                for context, text in of_call(node):
                    yield context, text, path.name


def of_call(call: ast.Call) -> Iterator[tuple[str, str]]:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    context = OPERATOR if name == "operator" else ANY
    is_left = any(keyword.arg == "translate" and getattr(keyword.value, "value", None) is False for keyword in call.keywords)
    for keyword in call.keywords:
        if keyword.arg in KEYWORDS and not is_left:
            yield from ((context, text) for text in literals(keyword.value))
    for names, place in ((FIRST, 0), (SECOND, 1)):
        if name in names and len(call.args) > place:
            yield from ((ANY, text) for text in literals(call.args[place]))


def literals(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may be: a literal, or the ends of a conditional expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)


def in_documents() -> Iterator[Found]:
    """The words of presets, families and laws, and those for parameters, which panels put together."""
    from mpm_addon.blender.settings.declarations import title
    from mpm_addon.core.laws import LAWS
    from mpm_addon.core.parameters import parameters_of
    from mpm_addon.storage.presets import material_presets

    for preset in material_presets():
        yield ANY, preset.label, f"{preset.name}.toml"
        yield ANY, preset.description, f"{preset.name}.toml"
        yield ANY, preset.family, "material_panel.py"
        # on the buttons of the chooser
        yield OPERATOR, preset.label, f"{preset.name}.toml"
    for name, law in LAWS.items():
        yield ANY, law.label, name
        for declared in parameters_of(law):
            yield ANY, title(declared.name), name
