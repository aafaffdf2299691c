"""Writes docs/manual/reference.md: every operator and every setting of scenes and objects, as registered. `make docs` runs it."""

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any

from environments import ROOT

sys.path.insert(0, str(ROOT))

import bpy

from mpm_addon.core.laws import LAWS

PAGE = ROOT / "docs" / "manual" / "reference.md"
INTRODUCTION = """\
# Scripting reference

All operators and settings of the extension. [Scripts](scripting.md) shows how to use them. Lengths are in
Blender units. A setting that is optional has a switch of the same name with `use_` in front. `make docs` writes this page from the source.
"""
LAW_PARAMETERS = """\
The parameters of each law are in a group named after it, such as `object.mpm.material.snow`: see [materials](../materials.md).
"""
# properties that Blender adds to every group, and the default of a number that is not set
_OWN = ("rna_type", "name")
_UNSET = -(2**31)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    import mpm_addon

    mpm_addon.register()
    PAGE.write_text(page(bpy), encoding="utf-8")
    mpm_addon.unregister()
    print(f"docs: {PAGE.relative_to(ROOT)}", flush=True)
    os._exit(0)  # bpy may hang or crash while Python shuts down


def page(blender: Any) -> str:
    """The page: operators in alphabetical order, then the settings by their path. The extension must be registered."""
    sections = [INTRODUCTION, "## Operators\n"]
    for name in sorted(dir(blender.ops.mpm)):
        rna = getattr(blender.ops.mpm, name).get_rna_type()
        rows = [_row(each.identifier, each) for each in _properties(rna)]
        sections.append(f"### `bpy.ops.mpm.{name}`\n\n{_cell(rna.description)}.\n" + (f"\n{_table('argument', rows)}" if rows else ""))
    for title, owner in (("Settings of a scene", "Scene"), ("Settings of an object", "Object")):
        group = getattr(blender.types, owner).bl_rna.properties["mpm"].fixed_type
        sections += [f"## {title}\n", *_groups(f"{owner.lower()}.mpm", group)]
    return "\n".join(sections)


def _groups(path: str, rna: Any) -> Iterator[str]:
    """The table of a group, and those of the groups in it."""
    rows, inner = [], []
    for found in _properties(rna):
        name = f"{path}.{found.identifier}"
        is_group = found.type in ("POINTER", "COLLECTION") and found.fixed_type.identifier.startswith("MPM_PG_")
        if is_group and found.identifier not in LAWS:
            inner.append((name + ("[0]" if found.type == "COLLECTION" else ""), found.fixed_type))
        elif is_group:
            continue
        else:
            rows.append(_row(found.identifier, found))
    if rows:
        yield f"### `{path}`\n\n{_table('setting', rows)}"
    if path == "object.mpm.material":
        yield LAW_PARAMETERS
    for name, group in inner:
        yield from _groups(name, group)


def _properties(rna: Any) -> list[Any]:
    return [each for each in rna.properties if each.identifier not in _OWN and not each.is_hidden]


def _table(what: str, rows: list[str]) -> str:
    return "\n".join([f"| {what} | default | meaning |", "|---|---|---|", *rows]) + "\n"


def _row(name: str, found: Any) -> str:
    return f"| `{name}` | {_default(found)} | {_cell(found.description or found.name)}{_choices(found)} |"


def _choices(found: Any) -> str:
    if found.type != "ENUM" or not 0 < len(found.enum_items) <= 12:
        return ""
    return ": " + ", ".join(f"`{item.identifier}`" for item in found.enum_items)


def _default(found: Any) -> str:
    if found.type in ("POINTER", "COLLECTION"):
        return ""
    if getattr(found, "is_array", False):
        return f"({', '.join(f'{value:g}' for value in found.default_array)})"
    value = found.default
    if isinstance(value, bool):
        return f"`{value}`"
    if isinstance(value, str):
        return f"`{value}`" if value else ""
    return "" if value == _UNSET else f"{value:g}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    main()
