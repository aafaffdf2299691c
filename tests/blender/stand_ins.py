"""Stand-ins for the bake's process and for the event loop, and waiting for them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import preparation, session, shown_caches
from mpm_addon.blender.interface.operators import bake_operators
from mpm_addon.core.scene.description import Scene

from .scenes import description

STAND_IN = Path(__file__).with_name("stand_in_bake.py")


@pytest.fixture
def stand_in(bpy: Any, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[Any]]:
    """Replaces the bake's process by one with the given behavior; returns the requested commands."""
    asked: list[Any] = []
    if host == "fake":
        # the fake has no node trees
        monkeypatch.setattr(shown_caches.display, "dress", add_parts)
        monkeypatch.setattr(shown_caches.display, "build_missing", lambda _looks: False)

    def behave(behavior: str) -> list[Any]:
        def command(scene: Path, cache: Path, *, restart: bool = False, from_frame: int | None = None) -> list[str]:
            asked.append((scene.exists(), cache, restart))
            return [sys.executable, str(STAND_IN), str(cache), behavior]

        monkeypatch.setattr(session, "bake_command", command)
        monkeypatch.setattr(preparation, "extraction", read_at_once)
        return asked

    bpy.context.scene.mpm.cache = str(tmp_path / "cache")
    # a process that only the tests of surfaces wait for
    bpy.context.scene.mpm.surface.while_baking = False
    return behave


def add_parts(item: Any, looks: Sequence[Any], *, is_same: bool = False) -> None:
    """What `display.dress` does without nodes and materials."""
    item.mpm.display.parts.clear()
    for look in looks:
        part = item.mpm.display.parts.add()
        part.name, part.law, part.simulated_material = look.name, look.law, look.material


def show_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The object that shows the first frame is built when the frame arrives, not some redraws later."""
    show = shown_caches.Result.show

    def show_whole(shown: Any, frame: int | None) -> None:
        show(shown, frame)
        shown.finish()

    monkeypatch.setattr(shown_caches.Result, "show", show_whole)


def read_at_once(_context: Any, object_name: str = "") -> Generator[float, None, Scene]:
    """A scene that is read in one step."""
    yield 1.0
    return description(2)


def until(condition: Callable[[], Any]) -> None:
    """Waits for a process; a test that waits too long fails."""
    end = time.monotonic() + 120.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Modal:
    """The operator and its context as the event loop sees them."""

    def __init__(self, bpy: Any) -> None:
        self.reports: list[tuple[set[str], str]] = []
        self.timers: list[object] = []
        manager = SimpleNamespace(
            event_timer_add=self._add,
            event_timer_remove=self.timers.remove,
            modal_handler_add=lambda _operator: True,
            windows=[],
        )
        self.context: Any = SimpleNamespace(
            scene=bpy.context.scene,
            view_layer=bpy.context.view_layer,
            mode="OBJECT",
            screen=None,
            window=None,
            window_manager=manager,
            evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get,
        )
        self.operator: Any = SimpleNamespace(
            object="",
            cache="",
            restart=False,
            from_frame=bake_operators.NO_FRAME,
            _timer=None,
            _drawn_at=0.0,
            _is_stale=False,
            report=lambda kind, text: self.reports.append((kind, text)),
        )
        for name in ("_options", "_follow", "_stop", "_draw_progress", "_on_news", "_warn_of_temporary_folder", "notes", "cancel"):
            setattr(self.operator, name, getattr(bake_operators.MPM_OT_bake, name).__get__(self.operator))

    def _add(self, _seconds: float, window: Any) -> object:
        self.timers.append(object())
        return self.timers[-1]

    def invoke(self) -> set[str]:
        return bake_operators.MPM_OT_bake.invoke(self.operator, self.context, SimpleNamespace(type="LEFTMOUSE"))

    def event(self, kind: str = "TIMER") -> set[str]:
        return bake_operators.MPM_OT_bake.modal(self.operator, self.context, SimpleNamespace(type=kind))

    def to_the_end_of_a_bake(self) -> set[str]:
        assert self.invoke() == {"RUNNING_MODAL"}
        return self.to_the_end()

    def to_the_end(self) -> set[str]:
        outcome = self.event()
        end = time.monotonic() + 120.0
        while outcome == {"PASS_THROUGH"} and time.monotonic() < end:
            time.sleep(0.01)
            outcome = self.event()
        return outcome
