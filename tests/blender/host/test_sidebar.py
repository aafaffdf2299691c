"""The sidebar is opened at the extension's tab, once Blender knows its tabs."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.host import sidebar


class Region:
    """A sidebar that has no tabs until it has been drawn."""

    type = "UI"

    def __init__(self) -> None:
        self.is_drawn = False
        self._category = "UNSUPPORTED"

    @property
    def active_panel_category(self) -> str:
        return self._category

    @active_panel_category.setter
    def active_panel_category(self, category: str) -> None:
        if not self.is_drawn:
            raise TypeError(f"enum \"{category}\" not found in ('UNSUPPORTED')")
        self._category = category


class Area:
    """An editor with a closed sidebar."""

    def __init__(self, kind: str) -> None:
        self.type, self.region, self.space = kind, Region(), SimpleNamespace(show_region_ui=False)
        self.regions, self.spaces = [self.region], SimpleNamespace(active=self.space)
        self.is_tagged = False

    def tag_redraw(self) -> None:
        self.is_tagged = True


class Window:
    """A window with a 3D view and a timeline."""

    def __init__(self) -> None:
        self.view, self.timeline = Area("VIEW_3D"), Area("DOPESHEET_EDITOR")
        self.screen = SimpleNamespace(areas=[self.view, self.timeline])

    def as_pointer(self) -> int:
        return id(self)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Window], list[Callable[[], float | None]]]:
    """Two windows of a Blender with an interface, and the functions that it calls later."""
    opened, timers = [Window(), Window()], []
    app = SimpleNamespace(background=False, timers=SimpleNamespace(register=lambda function, first_interval: timers.append(function)))
    context = SimpleNamespace(window_manager=SimpleNamespace(windows=opened))
    monkeypatch.setattr(sidebar, "bpy", SimpleNamespace(app=app, context=context))
    return opened, timers


def test_the_tab_is_shown_in_the_window_of_the_artist_once_it_is_there(windows: Any) -> None:
    (mine, other), timers = windows
    sidebar.open_tab(SimpleNamespace(window=mine))  # type: ignore[arg-type]
    (choose,) = timers
    assert choose() is not None
    assert mine.view.is_tagged
    for area in (mine.view, mine.timeline, other.view):
        area.region.is_drawn = True
    assert choose() is None
    assert mine.view.region.active_panel_category == sidebar.TAB
    assert mine.view.space.show_region_ui
    for area in (mine.timeline, other.view, other.timeline):
        assert not area.space.show_region_ui
        assert area.region.active_panel_category != sidebar.TAB


def test_a_window_that_was_closed_since_is_left_alone(windows: Any) -> None:
    opened, timers = windows
    sidebar.open_tab(SimpleNamespace(window=opened[0]))  # type: ignore[arg-type]
    del opened[0]
    assert timers[0]() is None


def test_a_sidebar_that_is_never_drawn_is_given_up(windows: Any) -> None:
    opened, timers = windows
    sidebar.open_tab(SimpleNamespace(window=opened[0]))  # type: ignore[arg-type]
    answers = [timers[0]() for _ in range(1000)]
    assert answers[0] is not None
    assert answers[-1] is None


def test_without_an_interface_nothing_is_opened(windows: Any) -> None:
    opened, timers = windows
    sidebar.bpy.app.background = True
    sidebar.open_tab(SimpleNamespace(window=opened[0]))  # type: ignore[arg-type]
    assert (opened[0].view.space.show_region_ui, timers) == (False, [])
