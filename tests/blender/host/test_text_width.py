"""Texts in panels are wrapped to the width of the sidebar."""

from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.host import text_width
from mpm_addon.blender.host.text_width import room_in, width_of, wrapped


@pytest.fixture
def region(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A region that is being drawn, at twice the usual interface scale."""
    drawn, preferences = SimpleNamespace(width=0), SimpleNamespace(system=SimpleNamespace(ui_scale=2.0))
    monkeypatch.setattr(text_width, "bpy", SimpleNamespace(context=SimpleNamespace(region=drawn, preferences=preferences)))
    return drawn


def test_texts_are_as_wide_as_blender_draws_them() -> None:
    # measured with blf in a window of Blender 5.2, at an interface scale of 1
    assert width_of("/tmp/mpm_unsaved_21765/cache_mpm") == pytest.approx(213.0, abs=4.0)
    assert width_of("The scene has changed since the last check of what it costs") == pytest.approx(317.0, abs=6.0)


def test_lines_are_as_long_as_the_sidebar_is_wide(region: SimpleNamespace) -> None:
    text = "The scene has changed since the last check of what it costs"
    assert [room_in(width) for width in (1, 250, 4000)] == [60.0, 165.0, 600.0]
    region.width = 2 * 250
    assert len(wrapped(text)) == 2
    assert all(width_of(line) <= 165.0 for line in wrapped(text))
    assert " ".join(wrapped(text)) == text
    region.width = 1
    assert len(wrapped(text)) == 2
    assert wrapped("") == []


@pytest.mark.parametrize("width", [60, 200, 292, 500])
def test_a_long_path_is_shown_whole_on_several_lines(region: SimpleNamespace, width: int) -> None:
    text = "Frames go to /tmp/mpm_unsaved_21765_0001/" + "w" * 60 + "/cache_mpm until the file is saved"
    region.width = 2 * width
    lines = wrapped(text)
    assert all(width_of(line) <= room_in(width) for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_path_breaks_after_a_separator(region: SimpleNamespace) -> None:
    region.width = 2 * 292
    assert wrapped("to /tmp/mpm_unsaved_21765/cache_mpm") == ["to", "/tmp/mpm_unsaved_21765/", "cache_mpm"]
    region.width = 2 * 180
    assert wrapped("/tmp/mpm_unsaved_21765/cache") == ["/tmp/mpm_", "unsaved_21765/", "cache"]
