"""Previews in Blender: the session that follows the worker, moved objects, the operators and the panel."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import bake_queue, previews, session
from mpm_addon.blender.host.runtime import runtime
from mpm_addon.blender.interface.operators import live_operators
from mpm_addon.blender.interface.panels import bake_panels
from mpm_addon.blender.live import live_session, live_worker, movable_objects
from mpm_addon.blender.playback import particle_objects
from mpm_addon.core.scene.description import Scene
from tests.blender.scenes import add_emitter, add_field, description, error_of, write_cache
from tests.fakes.layout import draw

STAND_IN = Path(__file__).parents[1] / "stand_in_live.py"
blender = pytest.mark.blender


class Modal:
    """The operator as Blender runs it in a window: timer events, keys and reports."""

    def __init__(self, bpy: Any) -> None:
        self.timers: list[object] = []
        self.reports: list[tuple[Any, str]] = []
        manager = SimpleNamespace(
            event_timer_add=self._add, event_timer_remove=self.timers.remove, modal_handler_add=lambda _operator: True, windows=[]
        )
        self.context: Any = SimpleNamespace(
            scene=bpy.context.scene,
            view_layer=bpy.context.view_layer,
            window=None,
            screen=None,
            window_manager=manager,
            evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get,
        )
        self.operator: Any = SimpleNamespace(_timer=None, bl_label="Live", report=lambda kind, text: self.reports.append((kind, text)))
        for name in ("_follow", "_stop", "notes", "cancel"):
            setattr(self.operator, name, getattr(live_operators.MPM_OT_live, name).__get__(self.operator))

    def _add(self, _seconds: float, window: Any) -> object:
        self.timers.append(object())
        return self.timers[-1]

    def invoke(self) -> set[str]:
        return live_operators.MPM_OT_live.invoke(self.operator, self.context, SimpleNamespace(type="LEFTMOUSE", value="PRESS"))

    def event(self, kind: str = "TIMER", value: str = "NOTHING") -> set[str]:
        return live_operators.MPM_OT_live.modal(self.operator, self.context, SimpleNamespace(type=kind, value=value))

    def until(self, condition: Callable[[], Any]) -> set[str]:
        end = time.monotonic() + 120.0
        outcome = self.event()
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.005)
            outcome = self.event()
        return outcome


@pytest.fixture
def stand_in(bpy: Any, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[Any]]:
    """Replaces the worker by one with the given behavior; returns the requested requests files."""
    asked: list[Any] = []
    if host == "fake":
        monkeypatch.setattr(live_session.display, "dress", lambda _item, _looks: None)  # the fake has no node trees

    def behave(behavior: str) -> list[Any]:
        def command(scene: Path, cache: Path, requests: Path, particles: int) -> list[str]:
            asked.append((scene.exists(), cache, requests, particles))
            return [sys.executable, str(STAND_IN), str(cache), str(requests), behavior]

        monkeypatch.setattr(live_worker, "live_command", command)
        monkeypatch.setattr(live_session, "extraction", read_at_once)
        return asked

    bpy.context.scene.mpm.cache = str(tmp_path / "cache_mpm")
    add_emitter(bpy)
    return behave


def read_at_once(_context: Any, object_name: str = "") -> Generator[float, None, Scene]:
    yield 1.0
    return description(3)


def running() -> live_session.LiveSession:
    found = live_session.current()
    assert found is not None
    return found


def test_frames_are_shown_as_they_come_and_the_timeline_follows(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    asked = stand_in("good")
    scene = bpy.context.scene
    modal = Modal(bpy)
    assert modal.invoke() == {"RUNNING_MODAL"}
    assert modal.event("MOUSEMOVE") == {"PASS_THROUGH"}
    modal.until(lambda: (running().frame or 0) >= 2)
    item = previews.shown(scene)
    assert item is not None
    assert (item.name, item.hide_render, scene.frame_current) == ("MPM Preview", True, running().frame)
    assert len(item.data.vertices) == 4
    scene.mpm.use_live_repeat = False
    assert modal.until(lambda: live_session.current() is None) == {"FINISHED"}
    assert (modal.timers, modal.reports, runtime.of(particle_objects.Shown).held) == ([], [], {})
    assert asked[0][0] and asked[0][1] == tmp_path / "cache_mpm_preview"
    assert not asked[0][2].parent.exists()


def test_a_warning_names_what_it_is_about(bpy: Any, stand_in: Any) -> None:
    stand_in("warning")
    modal = Modal(bpy)
    modal.invoke()
    modal.until(lambda: running().message)
    assert running().message == 'Emitter "Cube" is 1.9 cells thin'


def test_after_the_last_frame_it_begins_anew(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    modal = Modal(bpy)
    modal.invoke()
    modal.until(lambda: running().worker.run == 2 and running().frame is not None)


def test_while_the_animation_plays_the_timeline_drives(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    scene = bpy.context.scene
    modal = Modal(bpy)
    modal.context.screen = SimpleNamespace(is_animation_playing=True)
    scene.frame_set(1)
    modal.invoke()
    modal.until(lambda: running().frame == 1)
    scene.frame_set(2)
    modal.until(lambda: running().frame == 2)
    # the timeline is ahead: the newest frame is shown, and the timeline is left alone
    scene.frame_set(50)
    modal.until(lambda: running().frame == 3)
    assert scene.frame_current == 50
    item = previews.shown(scene)
    assert item is not None
    assert len(item.data.vertices) == 4
    # it returned to its start
    scene.frame_set(1)
    modal.until(lambda: running().worker.run == 2 and running().frame == 1)


def test_escape_and_a_second_press_stop_it(bpy: Any, stand_in: Any) -> None:
    asked = stand_in("good")
    modal = Modal(bpy)
    modal.invoke()
    modal.until(lambda: running().frame)
    assert modal.event("ESC", "RELEASE") == {"PASS_THROUGH"}
    assert modal.event("ESC", "PRESS") == {"FINISHED"}
    assert (live_session.current(), modal.timers) == (None, [])
    modal = Modal(bpy)
    modal.invoke()
    assert modal.invoke() == {"FINISHED"}
    assert modal.event() == {"FINISHED"}
    assert (live_session.current(), modal.timers) == (None, [])
    assert all(not requests.parent.exists() for _, _, requests, _ in asked)


@pytest.mark.parametrize(
    ("behavior", "words"),
    [
        ("error", 'Emitter "Cube": too small; use a larger one.'),
        ("crash", "The live simulation exited with status 3: first line | the reason"),
    ],
)
def test_a_worker_that_fails_is_one_line(bpy: Any, stand_in: Any, behavior: str, words: str) -> None:
    stand_in(behavior)
    modal = Modal(bpy)
    modal.invoke()
    assert modal.until(lambda: live_session.current() is None) == {"CANCELLED"}
    assert modal.reports == [({"ERROR"}, words)]
    layout = draw(bpy, bake_panels.MPM_PT_bake)
    assert layout is not None
    assert " ".join(layout.texts()).count(words[:12]) == 1


def test_a_preview_that_was_deleted_is_made_again(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    modal = Modal(bpy)
    modal.invoke()
    modal.until(lambda: running().frame)
    bpy.data.objects.remove(previews.shown(bpy.context.scene))
    modal.until(lambda: previews.shown(bpy.context.scene))
    assert previews.shown(bpy.context.scene) is not None


def test_a_change_of_settings_begins_anew_with_a_notice(bpy: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("good")
    monkeypatch.setattr(movable_objects, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(movable_objects, "_SETTLED_SECONDS", 0.05)
    modal = Modal(bpy)
    modal.invoke()
    modal.until(lambda: running().frame)
    run = running().worker.run
    bpy.data.objects["Cube"].mpm.emitter.velocity = (0.0, 0.0, 1.0)
    modal.until(lambda: running().message != "")
    assert running().message == "The scene has changed; restarted from the first frame"
    modal.until(lambda: running().worker.run > run and running().frame is not None)


def test_another_scene_or_none_ends_it(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    modal = Modal(bpy)
    modal.invoke()
    modal.context.scene = SimpleNamespace()
    assert modal.event() == {"FINISHED"}
    assert live_session.current() is None


def test_a_bake_and_a_live_simulation_do_not_run_at_once(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    modal = Modal(bpy)
    modal.invoke()
    assert not live_operators.MPM_OT_preview.poll(bpy.context)
    assert not live_operators.MPM_OT_preview_free.poll(bpy.context)
    assert live_operators.MPM_OT_live.poll(bpy.context)


def test_a_bake_replaces_a_live_simulation(bpy: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("good")
    modal = Modal(bpy)
    modal.invoke()
    modal.until(lambda: previews.shown(bpy.context.scene))
    while_baking: list[Any] = []
    monkeypatch.setattr(session, "bake", lambda _context, **_options: while_baking.append(live_session.current()) or [])
    monkeypatch.setattr(bake_queue, "bake_all", lambda _context: while_baking.append(live_session.current()) or [])
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    assert modal.event() == {"FINISHED"} and modal.timers == []
    modal.invoke()
    assert bpy.ops.mpm.bake_all() == {"FINISHED"}
    assert while_baking == [None, None]


def test_a_scene_that_cannot_be_simulated_is_one_line(bpy: Any, tmp_path: Path) -> None:
    bpy.context.scene.mpm.cache = str(tmp_path / "cache")
    modal = Modal(bpy)
    assert modal.invoke() == {"CANCELLED"}
    assert "has no emitter" in modal.reports[0][1]
    assert (live_session.current(), modal.timers) == (None, [])


# The preview in the file.


def test_the_previews_cache_is_beside_the_bakes(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "mine") + "/"
    assert previews.folder(scene) == tmp_path / "mine_preview"
    scene.mpm.cache = ""
    assert previews.folder(scene).name == "cache_mpm_preview"


def test_a_preview_hides_the_bake_until_it_is_removed(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "cache")
    baked = particle_objects.result_object(scene, str(write_cache(tmp_path / "cache", {1: 4})))
    made = particle_objects.result_object(scene, str(write_cache(tmp_path / "cache_preview", {1: 2})))
    assert previews.label(scene) == made
    assert (made.hide_render, made.name, baked.hide_viewport) == (True, "MPM Preview", True)
    previews.remove(scene)
    assert (previews.shown(scene), baked.hide_viewport) == (None, False)
    assert not (tmp_path / "cache_preview" / "cache.json").exists()
    assert (tmp_path / "cache" / "cache.json").exists()


def test_a_full_bake_removes_the_preview(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "cache")
    particle_objects.result_object(scene, str(write_cache(tmp_path / "cache_preview", {1: 2})))
    add_emitter(bpy)
    running = session.start(bpy.context)
    while running.is_preparing:
        running.poll()
        time.sleep(0.005)
    session.end()
    assert previews.shown(scene) is None


def test_a_bake_that_fails_to_start_keeps_the_preview(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "cache")
    item = particle_objects.result_object(scene, str(write_cache(tmp_path / "cache_preview", {1: 2})))
    assert "has no emitter" in error_of(bpy.ops.mpm.bake)
    assert previews.shown(scene) == item
    assert (tmp_path / "cache_preview" / "cache.json").is_file()


def test_the_panel_offers_a_preview_and_live(bpy: Any) -> None:
    add_emitter(bpy)
    layout = draw(bpy, bake_panels.MPM_PT_bake)
    assert layout is not None
    assert [call.arguments["operator"] for call in layout.find("operator")][-2:] == ["mpm.preview", "mpm.live"]


@blender
def test_without_a_window_live_says_what_to_use(bpy: Any) -> None:
    assert "Live needs a window; use bpy.ops.mpm.preview()" in error_of(bpy.ops.mpm.live)


@blender
def test_a_preview_is_baked(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "cache")
    scene.mpm.solver.grid_spacing, scene.frame_end, scene.mpm.preview_particles = 0.05, 3, 1000
    add_emitter(bpy)
    assert bpy.ops.mpm.preview() == {"FINISHED"}
    item = previews.shown(scene)
    assert item is not None
    assert item.name == "MPM Preview"
    assert 600 < len(item.data.vertices) < 1100
    assert not (tmp_path / "cache").exists()


@blender
def test_particles_follow_an_empty_that_is_dragged_during_the_simulation(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "cache")
    scene.gravity, scene.frame_end = (0.0, 0.0, 0.0), 40
    scene.mpm.solver.grid_spacing, scene.mpm.preview_particles = 0.2, 1000
    cube = add_emitter(bpy)
    cube.mpm.material.preset = "jelly"
    pull = add_field(bpy, name="Pull", strength=-30.0)
    bpy.context.view_layer.update()
    modal = Modal(bpy)
    modal.invoke()
    modal.until(lambda: running().frame is not None)
    pull.location = (5.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    modal.until(lambda: (running().frame or 0) >= 12)
    item = previews.shown(scene)
    assert item is not None
    assert sum(vertex.co.x for vertex in item.data.vertices) / len(item.data.vertices) > 0.5
