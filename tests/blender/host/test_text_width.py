"""Texts in panels are wrapped to the width of the sidebar."""

from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.host import text_width


def test_lines_are_as_long_as_the_sidebar_is_wide(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [text_width.letters_in(width) for width in (1, 250, 385, 4000)] == [20, 27, 50, 100]
    text = "The scene has changed since the last check of what it costs"
    region, preferences = SimpleNamespace(width=2 * 250), SimpleNamespace(system=SimpleNamespace(ui_scale=2.0))
    context = SimpleNamespace(region=region, preferences=preferences)
    monkeypatch.setattr(text_width, "bpy", SimpleNamespace(context=context))
    assert all(len(line) <= 27 for line in text_width.wrapped(text))
    context.region = None
    assert len(text_width.wrapped(text)) == 2
    assert text_width.wrapped("") == []
