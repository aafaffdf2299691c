"""The buttons and the map that lead to the manual: every page they name exists."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.host import help as manual
from mpm_addon.blender.interface.panels import all_panels as panels
from mpm_addon.blender.interface.panels.drawing import HelpfulPanel
from tests.blender.scenes import error_of

SOURCES = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a page for each source."""
    folder = tmp_path / "manual"
    for source in SOURCES.rglob("*.md"):
        page = (folder / source.relative_to(SOURCES)).with_suffix(".html")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.touch()
    monkeypatch.setattr(manual, "manual_folder", lambda: folder)
    return folder


def test_every_page_that_is_named_is_there(bpy: Any, pages: Path) -> None:
    named = [panel.help_page for panel in panels.CLASSES if getattr(panel, "help_page", "")]
    named += [page.removesuffix(".html") for _subject, page in manual.manual_map()[1]]
    assert len(named) > 12
    for page in (manual.START, *named):
        assert manual.page_address(page).startswith("file://")


def test_every_top_panel_leads_to_the_manual(bpy: Any) -> None:
    top = [panel for panel in panels.CLASSES if issubclass(panel, HelpfulPanel) and not hasattr(panel, "bl_parent_id")]
    assert len(top) >= 5
    assert [panel.__name__ for panel in top if not panel.help_page] == []


def test_the_button_opens_the_page(bpy: Any, pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    assert bpy.ops.mpm.help(page="manual/baking") == {"FINISHED"}
    assert opened == [(pages / "manual" / "baking.html").as_uri()]


def test_a_missing_manual_is_said(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manual, "manual_folder", lambda: tmp_path / "nothing")
    assert "reinstall the extension" in error_of(bpy.ops.mpm.help)


def test_without_a_browser_the_address_is_said(bpy: Any, pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _address: False)
    assert "open file://" in error_of(bpy.ops.mpm.help)


def test_what_blender_asks_about_has_a_page(bpy: Any) -> None:
    _prefix, subjects = manual.manual_map()
    for asked in ("bpy.types.mpm_pg_emitter.flow_rate", "bpy.types.mpm_pg_law_snow.hardening", "bpy.ops.mpm.bake_free"):
        assert any(fnmatch.fnmatchcase(asked, pattern) for pattern, _page in subjects)
