"""The pre-flight in Blender: its process, what is stored with the scene, and when that is shown."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import preflight, worker
from mpm_addon.blender.interface.operators import preflight_operators
from mpm_addon.blender.interface.panels import quality_panels
from mpm_addon.blender.reading import freshness
from mpm_addon.core.errors import MpmError
from tests.blender.scenes import add_collider, add_emitter, description, error_of

STAND_IN = Path(__file__).parents[1] / "stand_in_info.py"
blender = pytest.mark.blender


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[Any]]:
    """Replaces the process by one with the given behavior; returns the requested checks."""
    asked: list[Any] = []

    def behave(behavior: str) -> list[Any]:
        def command(scene: Path, cache: Path, *, probe: bool = False) -> list[str]:
            asked.append((scene.exists(), cache.name, probe))
            return [sys.executable, str(STAND_IN), behavior]

        monkeypatch.setattr(preflight, "info_command", command)
        monkeypatch.setattr(preflight, "extract_scene", lambda _context, object_name="": description(2))
        return asked

    return behave


def topics(report: Any) -> list[str]:
    return [warning["topic"] for warning in report["warnings"]]


def test_the_command_is_the_command_line(tmp_path: Path) -> None:
    command = worker.info_command(tmp_path / "scene.toml", tmp_path / "cache", probe=True)
    assert command[1:] == [
        "-u",
        "-m",
        "mpm_addon",
        "info",
        str(tmp_path / "scene.toml"),
        "--cache",
        str(tmp_path / "cache"),
        "--json",
        "--probe",
    ]
    assert "--probe" not in worker.info_command(tmp_path, tmp_path)


def test_the_answer_is_kept_with_the_scene(bpy: Any, stand_in: Any) -> None:
    asked = stand_in("good")
    add_emitter(bpy)
    report = preflight.check(bpy.context, probe=True)
    assert asked == [(True, "cache_mpm", True)]
    assert topics(report) == ["thin_emitter", "unsaved_file"]
    assert preflight.kept_report(bpy.context.scene) == (report, True)
    assert preflight.current() is None


def test_an_answer_is_of_the_scene_that_was_looked_at(bpy: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("good")
    monkeypatch.setattr(freshness, "REST", 0.0)
    scene, emitter = bpy.context.scene, add_emitter(bpy)
    preflight.check(bpy.context)
    scene.frame_end += 10
    assert preflight.kept_report(scene)[1] is False
    scene.frame_end -= 10
    assert preflight.kept_report(scene)[1] is True
    emitter.mpm.emitter.velocity = (0.0, 0.0, -1.0)
    assert preflight.kept_report(scene)[1] is False


def test_the_answer_says_how_large_the_surface_of_a_bake_gets(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    scene = bpy.context.scene
    add_emitter(bpy)
    report = preflight.check(bpy.context)
    assert [line for line in preflight.lines_of(report) if line.startswith("Surface: about ")]
    scene.mpm.surface.quality = "film"
    assert preflight.kept_report(scene)[1] is False
    assert preflight.check(bpy.context)["derived_bytes"]["surface"] > report["derived_bytes"]["surface"]
    scene.mpm.surface.while_baking = False
    assert preflight.check(bpy.context)["derived_bytes"] == {}
    scene.mpm.foam.while_baking = True
    assert list(preflight.check(bpy.context)["derived_bytes"]) == ["foam"]


@pytest.mark.parametrize("kept", ["", "{", "null", "[]", '{"answer": 1}'])
def test_what_is_no_answer_is_none(bpy: Any, kept: str) -> None:
    bpy.context.scene.mpm.preflight = kept
    assert preflight.kept_report(bpy.context.scene)[0] is None


@pytest.mark.parametrize(("behavior", "words"), [("error", 'Emitter "Cube": too small'), ("silent", "exited with status 3")])
def test_a_scene_that_cannot_be_baked_is_an_error(bpy: Any, stand_in: Any, behavior: str, words: str) -> None:
    stand_in(behavior)
    add_emitter(bpy)
    with pytest.raises(MpmError, match=words):
        preflight.check(bpy.context)
    assert bpy.context.scene.mpm.preflight == ""


def test_one_that_takes_too_long_is_ended(bpy: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("slow")
    monkeypatch.setattr(preflight, "_PATIENCE_SECONDS", 0.2)
    with pytest.raises(MpmError, match="took more than"):
        preflight.check(bpy.context)
    assert preflight.current() is None


@blender
def test_scales_that_differ_are_no_reason_to_warn(bpy: Any, stand_in: Any) -> None:
    """Vertices are read where the scale puts them."""
    stand_in("good")
    add_emitter(bpy, "water ball").scale = (1.0, 1.0, 2.0)
    bpy.context.view_layer.update()
    assert "scale" not in topics(preflight.check(bpy.context))


def test_numbers_in_words() -> None:
    assert [preflight.duration(seconds) for seconds in (3.4, 89.0, 130.0, 7500.0)] == ["3 s", "89 s", "2 min", "2 h 5 min"]
    lines = preflight.warning_lines({"subject": 'Emitter "Cube"', "message": "word " * 30})
    assert len(lines) > 2 and max(map(len, lines)) <= 52


def test_the_panel_shows_the_answer_until_the_scene_changes(bpy: Any, draw: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("good")
    monkeypatch.setattr(freshness, "REST", 0.0)
    emitter = add_emitter(bpy)
    assert [entry.arguments["settings"]["probe"] for entry in draw(quality_panels.MPM_PT_preflight).find("operator", "mpm.preflight")] == [
        False,
        True,
    ]
    preflight.check(bpy.context)
    texts = draw(quality_panels.MPM_PT_preflight).texts()
    for text in (
        "12,345 particles in 1,543 cells",
        "About 777 substeps for 48 frames",
        "A bake takes about 2 min",
        "Cube is 2.7 x 1.9 x 1.6 m",
        "Cube uses the current state as its reference, because it emits more than once",
    ):
        assert text in texts
    assert any(text.startswith('Emitter "Cube" is 0.1 m thin') for text in texts)
    emitter.mpm.emitter.velocity = (0.0, 0.0, -1.0)
    texts = draw(quality_panels.MPM_PT_preflight).texts()
    assert "The scene has changed since the last check" in texts and "12,345 particles in 1,543 cells" not in texts
    monkeypatch.setattr(preflight, "current", lambda: object())
    layout = draw(quality_panels.MPM_PT_preflight)
    assert "Checking" in layout.texts()
    assert layout.find("operator", "mpm.preflight_cancel") != []


@pytest.mark.parametrize("behavior", ["error", "silent", "slow", "unreadable"])
def test_a_failure_replaces_the_answer_before(bpy: Any, draw: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch, behavior: str) -> None:
    stand_in("good")
    monkeypatch.setattr(freshness, "REST", 0.0)
    emitter = add_emitter(bpy)
    preflight.check(bpy.context)
    stand_in(behavior)
    monkeypatch.setattr(preflight, "_PATIENCE_SECONDS", 0.2 if behavior == "slow" else 600.0)
    if behavior == "unreadable":

        def refuse(_context: Any, object_name: str = "") -> Any:
            raise MpmError("it has no mesh", "add one", subject='Emitter "Cube"')

        monkeypatch.setattr(preflight, "extract_scene", refuse)
    with pytest.raises(MpmError) as raised:
        preflight.check(bpy.context)
    said = draw(quality_panels.MPM_PT_preflight).texts()
    assert "The check failed" in said and "12,345 particles in 1,543 cells" not in said
    assert raised.value.message.problem.split()[0] in " ".join(said)
    assert preflight.kept_failure(bpy.context.scene) == (raised.value.message, True)
    emitter.mpm.emitter.velocity = (0.0, 0.0, -1.0)
    said = draw(quality_panels.MPM_PT_preflight).texts()
    assert "The check failed" not in said and "The scene has changed since the last check" in said
    # until a check succeeds
    stand_in("good")
    monkeypatch.setattr(preflight, "_PATIENCE_SECONDS", 600.0)
    preflight.check(bpy.context)
    assert "12,345 particles in 1,543 cells" in draw(quality_panels.MPM_PT_preflight).texts()


def operator_of(bpy: Any) -> tuple[Any, Any, list[Any], list[Any]]:
    """The operator on a stand-in, its context, and the lists of its reports and timers."""
    reports: list[Any] = []
    timers: list[Any] = []
    manager = SimpleNamespace(
        event_timer_add=lambda _seconds, window: timers.append(object()) or timers[-1],
        event_timer_remove=timers.remove,
        modal_handler_add=lambda _operator: True,
        windows=[],
    )
    context = SimpleNamespace(scene=bpy.context.scene, window=None, window_manager=manager)
    operator = SimpleNamespace(object="", probe=False, _timer=None, report=lambda kind, text: reports.append((kind, text)))
    for name in ("_follow", "_stop", "_tell", "notes", "cancel"):
        setattr(operator, name, getattr(preflight_operators.MPM_OT_preflight, name).__get__(operator))
    return operator, context, reports, timers


@pytest.mark.parametrize(("behavior", "outcome"), [("good", {"FINISHED"}), ("error", {"CANCELLED"})])
def test_in_the_interface_it_runs_beside_other_events(bpy: Any, stand_in: Any, behavior: str, outcome: set[str]) -> None:
    stand_in(behavior)
    operator, context, reports, timers = operator_of(bpy)
    assert preflight_operators.MPM_OT_preflight.invoke(operator, context, SimpleNamespace(type="LEFTMOUSE")) == {"RUNNING_MODAL"}
    assert preflight_operators.MPM_OT_preflight.modal(operator, context, SimpleNamespace(type="MOUSEMOVE")) == {"PASS_THROUGH"}
    end = time.monotonic() + 120.0
    got = {"PASS_THROUGH"}
    while got == {"PASS_THROUGH"} and time.monotonic() < end:
        time.sleep(0.01)
        got = preflight_operators.MPM_OT_preflight.modal(operator, context, SimpleNamespace(type="TIMER"))
    assert got == outcome
    assert timers == [] and preflight.current() is None
    assert [kind for kind, _ in reports] == ([{"WARNING"}] * 2 if behavior == "good" else [{"ERROR"}])


def test_it_can_be_cancelled(bpy: Any, stand_in: Any) -> None:
    stand_in("slow")
    operator, context, _, timers = operator_of(bpy)
    preflight_operators.MPM_OT_preflight.invoke(operator, context, SimpleNamespace(type="LEFTMOUSE"))
    bpy.ops.mpm.preflight_cancel()
    assert preflight.current() is None
    assert preflight_operators.MPM_OT_preflight.modal(operator, context, SimpleNamespace(type="TIMER")) == {"CANCELLED"}
    assert timers == []


@blender
def test_a_real_scene_is_looked_at_in_a_process_of_its_own(bpy: Any) -> None:
    # earlier tests may have measured distances here
    was_loaded = "numba" in sys.modules
    scene = bpy.context.scene
    scene.mpm.solver.grid_spacing = 0.1
    scene.frame_end = 3
    add_emitter(bpy, "Cube").location = (0.0, 0.0, 0.6)
    plate = add_collider(bpy, "Plate")
    plate.scale = (2.0, 2.0, 0.05)
    bpy.context.view_layer.update()
    assert bpy.ops.mpm.preflight() == {"FINISHED"}
    report, is_current = preflight.kept_report(scene)
    assert is_current and report is not None
    assert [(warning["topic"], warning["subject"]) for warning in report["warnings"]] == [
        ("thin_collider", 'Collider "Plate"'),
        ("unsaved_file", ""),
    ]
    assert report["sizes"] == {"Cube": pytest.approx([1.0, 1.0, 1.0]), "Plate": pytest.approx([2.0, 2.0, 0.05])}
    assert report["particles"] == pytest.approx(8000)
    assert json.loads(scene.mpm.preflight)["object"] == ""
    assert ("numba" in sys.modules) == was_loaded


@blender
def test_a_probe_measures_in_the_background(bpy: Any) -> None:
    scene = bpy.context.scene
    scene.mpm.solver.grid_spacing = 0.2
    scene.frame_end = 3
    add_emitter(bpy)
    assert bpy.ops.mpm.preflight(probe=True) == {"FINISHED"}
    report, _ = preflight.kept_report(scene)
    assert report is not None and report["probe"]["expected_substeps"] > 0
    assert any(line.startswith("A bake takes about ") for line in preflight.lines_of(report))


@blender
def test_without_an_emitter_the_operator_fails_in_one_line(bpy: Any) -> None:
    assert "has no emitter" in error_of(bpy.ops.mpm.preflight)
