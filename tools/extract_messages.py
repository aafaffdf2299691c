"""Writes mpm_addon/locale/mpm_addon.pot, the catalog of all texts of the interface, and brings the translations up to date.

Texts come from the registered classes (labels, tooltips, properties, enum items), from the code of panels and operators (texts given
to layouts, reports and polls, and templates), and from presets and laws. A translation (locale/*.po) keeps what was translated; new
texts are added without a translation, and texts that no longer exist are removed. `make translations` runs it.
"""

import argparse
import ast
import dataclasses
import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from environments import ROOT

sys.path.insert(0, str(ROOT))

from mpm_addon.storage.catalog import ANY, FOLDER, OPERATOR, Entry, read_catalog, written

# The context, the text and the place of a text.
Found = tuple[str, str, str]
CODE = ROOT / "mpm_addon" / "blender"
KINDS = ("Operator", "Panel", "Menu", "UIList", "PropertyGroup", "AddonPreferences", "FileHandler", "AssetShelf")

# Arguments that hold a text of the interface, and functions whose first or second argument is one.
KEYWORDS = ("text", "heading", "bl_label", "bl_description")
FIRST = ("text", "tip", "message", "poll_message_set")
SECOND = ("report", "draw_lines", "draw_value")


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    import mpm_addon

    mpm_addon.register()
    entries = collected()
    mpm_addon.unregister()
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "mpm_addon.pot").write_text(written(entries, ""), encoding="utf-8")
    print(f"translations: {len(entries)} in {FOLDER.relative_to(ROOT)}/mpm_addon.pot")
    for path in sorted(FOLDER.glob("*.po")):
        known = {entry.key: entry.translated for entry in read_catalog(path)}
        renewed = translated(entries, known)
        path.write_text(written(renewed, path.stem), encoding="utf-8")
        missing = sum(not entry.translated for entry in renewed)
        gone = len(known.keys() - {entry.key for entry in entries})
        print(f"translations: {path.name}: {len(renewed) - missing} translated, {missing} to do, {gone} gone")


def collected() -> list[Entry]:
    """All entries without translations, sorted by text; the add-on must be registered."""
    places: dict[tuple[str, str], set[str]] = {}
    for context, text, place in (*of_registered(), *in_code(), *in_documents()):
        if any(letter.isalpha() for letter in text):
            places.setdefault((context, text), set()).add(place)
    order = sorted(places, key=lambda key: (key[1].lower(), key[1], key[0]))
    return [Entry(context, text, "", tuple(sorted(places[context, text])[:3])) for context, text in order]


def translated(entries: Iterable[Entry], known: Mapping[tuple[str, str], str]) -> list[Entry]:
    """The entries with their known translations; translations of other texts are dropped."""
    return [dataclasses.replace(entry, translated=known.get(entry.key, "")) for entry in entries]


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
        yield OPERATOR if is_operator else ANY, vars(cls).get("bl_label", ""), cls.__name__
    if is_operator:
        yield ANY, vars(cls).get("bl_description") or inspect.cleandoc(vars(cls).get("__doc__") or ""), cls.__name__
    declared: dict[str, Any] = {}
    for ancestor in reversed(cls.__mro__):
        declared.update(vars(ancestor).get("__annotations__", {}))
    for name, value in declared.items():
        keywords = getattr(value, "keywords", None)
        if isinstance(keywords, dict) and "HIDDEN" not in keywords.get("options", ()):
            yield from ((ANY, text, f"{cls.__name__}.{name}") for text in of_property(keywords))


def of_property(keywords: dict[str, Any]) -> Iterator[str]:
    """The name, the tooltip and the items of a declared property."""
    yield from (keywords.get("name", ""), keywords.get("description", ""))
    items = keywords.get("items", ())
    for item in () if callable(items) else items:
        if item is not None:
            yield from item[1:3]


def in_code() -> Iterator[Found]:
    """Texts that code gives to layouts, reports and polls, and templates."""
    for path in sorted(CODE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield from ((context, text, path.name) for context, text in of_call(node))


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
    """The literal texts of an expression: a literal, or the branches of a conditional expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)


def in_documents() -> Iterator[Found]:
    """The texts of kinds of derived data, presets, families and laws, and the labels of parameters, which panels compose."""
    from mpm_addon.blender.baking.derived_kinds import DERIVED_KINDS
    from mpm_addon.blender.host.wording import title
    from mpm_addon.core.laws import LAWS
    from mpm_addon.core.parameters import parameters_of
    from mpm_addon.storage.presets import material_presets

    for kind in DERIVED_KINDS.values():
        texts = ((ANY, kind.when_busy), (ANY, kind.when_idle), (OPERATOR, kind.make_label), (OPERATOR, kind.update_label))
        yield from ((context, text, "derived_kinds.py") for context, text in texts)
    for preset in material_presets():
        # the label also stands on the buttons of the chooser
        texts = ((ANY, preset.label), (OPERATOR, preset.label), (ANY, preset.description))
        yield from ((context, text, f"{preset.name}.toml") for context, text in texts)
        yield ANY, preset.family, "material_panel.py"
    for name, law in LAWS.items():
        yield from ((ANY, text, name) for text in (law.label, *(title(declared.name) for declared in parameters_of(law))))


if __name__ == "__main__":
    main()
    # Python's own shutdown may hang with bpy
    sys.stdout.flush()
    os._exit(0)
