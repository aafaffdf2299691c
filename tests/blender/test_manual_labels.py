"""The pages that lead through the interface name labels that it has, and panels where they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.storage.catalog import FOLDER, read_catalog
from tests.fakes.layout import registered_classes

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "manual"
PAGES = ("coming_from.md", "tutorials.md", "recipes.md")
# what Blender's own interface says, and buttons whose texts depend on the state of a bake or on a preset
BLENDERS = {
    *("Align Active Camera to View", "Align View"),
    *("3D Cursor", "Add", "Adjust Last Operation", "Cylinder", "Depth", "File", "General", "Location", "Major Radius", "Minor Radius"),
    *("Monkey", "New", "Object", "Quick Effects", "Rotation", "Run Script", "Solidify", "Thickness", "Torus", "UV Sphere", "View"),
    *("MPM tab", "Physics tab", "Resume from Frame", "Outdated"),
    *(f"Quick {label}" for label in ("Ceramic", "Jelly", "Powder Snow", "Water", "Wet Sand")),
}
SPACES = {"MPM tab": "VIEW_3D", "Physics tab": "PROPERTIES"}


def unit_removed(label: str) -> str:
    return re.sub(r" \([^)]*\)$", "", label)


def spans(text: str) -> list[str]:
    """What a page sets in italics, without code."""
    plain = re.sub(r"(?s)```.*?```|`[^`]*`", "", text).replace("**", "")
    return [" ".join(found.split()) for found in re.findall(r"\*([^*]+)\*", plain)]


def known_labels(bpy: Any) -> set[str]:
    labels = {unit_removed(entry.message) for entry in read_catalog(FOLDER / "mpm_addon.pot")}
    for base in ("Panel", "Menu", "Operator"):
        labels |= {cls.bl_label for cls in registered_classes(bpy, base)}
    return labels | BLENDERS


def misplaced(span: str, panels: dict[str, list[Any]]) -> str:
    """What is wrong with the way to a panel; "" if nothing."""
    place, *way = span.split(" > ")
    if place not in SPACES:
        return ""
    for number, label in enumerate(way):
        parents = {cls.bl_idname for cls in panels.get(way[number - 1], ())} if number else {""}
        found = [cls for cls in panels.get(label, ()) if cls.bl_space_type == SPACES[place] and getattr(cls, "bl_parent_id", "") in parents]
        if not found:
            return f"{span}: no panel {label!r} there"
    return ""


@pytest.mark.parametrize("page", PAGES)
def test_labels_exist_and_panels_are_where_the_page_says(bpy: Any, page: str) -> None:
    labels = known_labels(bpy)
    panels: dict[str, list[Any]] = {}
    for cls in registered_classes(bpy, "Panel"):
        panels.setdefault(cls.bl_label, []).append(cls)
    found = spans((MANUAL / page).read_text(encoding="utf-8"))
    assert len(found) > 30
    assert sorted({label for span in found for label in span.split(" > ") if label not in labels}) == []
    assert [fault for span in found for fault in [misplaced(span, panels)] if fault] == []


def test_a_wrong_label_and_a_wrong_place_are_found(bpy: Any) -> None:
    panels = {cls.bl_label: [cls] for cls in registered_classes(bpy, "Panel") if cls.bl_space_type == "VIEW_3D"}
    assert misplaced("MPM tab > Quality > Pre-flight", panels) == ""
    assert misplaced("MPM tab > Bake > Pre-flight", panels) != ""
    assert "Cell Dimension" not in known_labels(bpy)
