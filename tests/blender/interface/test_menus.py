"""The menu Object > MPM: every action is there, under a word that an artist would search for."""

from __future__ import annotations

from typing import Any

import pytest

from mpm_addon.blender.interface import menus

WORDS = (
    "bake",
    "resume",
    "cache",
    "preview",
    "surface",
    "skin",
    "foam",
    "export",
    "publish",
    "collider",
    "emitter",
    "pause",
    "check",
    "break",
)


@pytest.mark.parametrize("word", WORDS)
def test_the_search_of_menus_finds_an_action_by_its_word(bpy: Any, draw: Any, word: str) -> None:
    labels = {each.bl_idname: each.bl_label for each in bpy.types.Operator.__subclasses__() if hasattr(each, "bl_idname")}
    entries = [call.arguments for call in draw(menus.MPM_MT_object).find("operator")]
    shown = [entry.get("text") or labels[entry["operator"]] for entry in entries]
    assert any(word in label.lower() for label in shown)
