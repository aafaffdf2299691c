"""The bake in Blender: the worker process, the session that follows it, the operators and the command line."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import derived_facts, derived_processes, session, shown_caches, unstable, worker
from mpm_addon.blender.host.file_record import silent
from mpm_addon.blender.host.wording import problem_and_remedy
from mpm_addon.blender.interface.operators import bake_operators, commands
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.reading import freshness
from mpm_addon.blender.reading.fingerprint import is_comparable
from mpm_addon.blender.settings import paths
from mpm_addon.core.errors import Cancelled, MpmError
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.scene.settings import Solver
from mpm_addon.storage import open_cache
from mpm_addon.storage.failure import remove_failure

from .scenes import add_emitter, description, error_of, failure, write_cache

STAND_IN = Path(__file__).with_name("stand_in_bake.py")
blender = pytest.mark.blender


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
        monkeypatch.setattr(session, "extraction", read_at_once)
        return asked

    bpy.context.scene.mpm.cache = str(tmp_path / "cache")
    # a process that only the tests of surfaces wait for
    bpy.context.scene.mpm.surface.while_baking = False
    return behave


def add_parts(item: Any, looks: Sequence[Any]) -> None:
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


# The worker.


def test_the_worker_runs_this_python() -> None:
    assert os.path.samefile(worker.python_executable(), sys.executable)


def test_blenders_python_is_found_where_the_executable_is_blender(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blender_binary = tmp_path / "blender"
    blender_binary.write_text("")
    python = tmp_path / "bin" / "python3.11"
    python.parent.mkdir()
    python.write_text("")
    for path in (blender_binary, python):
        path.chmod(0o755)
    monkeypatch.setattr(worker.sys, "executable", str(blender_binary))
    monkeypatch.setattr(worker.sys, "prefix", str(tmp_path))
    assert worker.python_executable() == str(python)
    python.unlink()
    with pytest.raises(MpmError, match="Blender's Python was not found"):
        worker.python_executable()


def test_the_command_is_the_command_line_and_finds_the_package(tmp_path: Path) -> None:
    command = worker.bake_command(tmp_path / "scene.toml", tmp_path / "cache", restart=True)
    assert command[1:] == [
        "-u",
        "-m",
        "mpm_addon",
        "bake",
        str(tmp_path / "scene.toml"),
        "--cache",
        str(tmp_path / "cache"),
        "--json",
        "--restart",
    ]
    running = worker.Worker([*command[:4], "bake", "--help"], tmp_path)
    try:
        until(lambda: running.exit_status is not None)
        assert running.exit_status == 0, running.complaint()
    finally:
        running.close()


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MpmError, match="/nowhere/python: cannot be started"):
        worker.Worker(["/nowhere/python"], tmp_path)


@pytest.mark.parametrize("is_gentle", [True, False])
def test_on_windows_a_gentle_worker_has_low_priority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_gentle: bool) -> None:
    given: list[int] = []

    def start(_command: list[str], *, creationflags: int, **_more: Any) -> None:
        given.append(creationflags)
        raise OSError(2, "not started")

    monkeypatch.setattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0x4000, raising=False)
    monkeypatch.setattr(worker.subprocess, "Popen", start)
    with pytest.raises(MpmError, match="not started"):
        worker.Worker(["python"], tmp_path, is_gentle=is_gentle)
    assert [flags & 0x4000 for flags in given] == [0x4000 if is_gentle else 0]


def test_closing_kills_a_worker_that_does_not_listen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PATIENCE", 0.3)
    running = worker.Worker([sys.executable, str(STAND_IN), str(tmp_path), "stubborn"], tmp_path)
    until(lambda: any(event["event"] == "progress" for event in running.events()))
    running.close()
    assert running.exit_status not in (None, 0)
    assert not (tmp_path / "cancel").exists()
    running.close()
    assert running.events() == []


def test_a_worker_ends_with_its_blender(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from tests import fakes; fakes.install()\n"
        "from mpm_addon.blender.baking.worker import Worker; import time\n"
        f"running = Worker([sys.executable, {str(STAND_IN)!r}, {str(tmp_path)!r}, 'slow'], Path({str(tmp_path)!r}))\n"
        "events = []\n"
        "while not events: events = [event['pid'] for event in running.events() if 'pid' in event]\n"
        "print(events[0])"
    )
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    with pytest.raises(ProcessLookupError):
        os.kill(int(finished.stdout), 0)


# The session.


def test_a_bake_shows_its_frames_and_remembers_the_settings(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    asked = stand_in("good")
    events: list[str] = []
    session.bake(bpy.context, on_event=lambda event: events.append(event["event"]))
    assert events == ["start", "preparing", "frame", "frame", "done"]
    assert asked == [(True, tmp_path / "cache", False)]
    (item,) = particle_objects.result_objects(bpy.context.scene)
    assert len(item.data.vertices) == 4
    scene_hash = open_cache(tmp_path / "cache").manifest["scene_hash"]
    assert freshness.freshness_of(bpy.context.scene, [item], scene_hash) is freshness.Freshness.CURRENT
    assert is_comparable(json.loads(item.mpm.fingerprint)[scene_hash])
    assert session.current() is None
    session.bake(bpy.context)
    assert len(particle_objects.result_objects(bpy.context.scene)) == 1


def test_what_the_worker_says_is_what_the_script_gets(bpy: Any, stand_in: Any) -> None:
    stand_in("error")
    with pytest.raises(MpmError, match=r'^Emitter "Cube": too small; use a larger one\.$') as caught:
        session.bake(bpy.context)
    assert error_of(bpy.ops.mpm.bake) == str(caught.value)


def test_a_bake_that_becomes_unstable_shows_its_particles_until_one_succeeds(bpy: Any, stand_in: Any) -> None:
    scene = bpy.context.scene
    stand_in("unstable")
    assert error_of(bpy.ops.mpm.bake) == failure(2).message.text()
    (item,) = unstable.objects(scene)
    assert (len(item.data.vertices), problem_and_remedy(unstable.message(item))) == (2, problem_and_remedy(failure(2).message))
    (result,) = particle_objects.result_objects(scene)
    assert len(result.data.vertices) == 4
    remove_failure(paths.absolute(scene.mpm.cache))
    stand_in("good")
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    assert unstable.objects(scene) == []


def test_a_worker_that_dies_is_reported_with_its_last_words(bpy: Any, stand_in: Any) -> None:
    stand_in("crash")
    assert error_of(bpy.ops.mpm.bake) == "The bake exited with status 3: first line | the reason"
    assert particle_objects.result_objects(bpy.context.scene) == []


def test_one_bake_at_a_time(bpy: Any, stand_in: Any) -> None:
    stand_in("slow")
    session.start(bpy.context)
    with pytest.raises(MpmError, match="is running; wait until it finishes or cancel it"):
        session.start(bpy.context)


def test_a_bake_makes_its_surface_on_the_way_if_it_is_asked_to(bpy: Any, host: str, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("good")
    if host == "fake":
        monkeypatch.setattr(derived_processes.display, "rebuild", lambda _item: None)
    settings = bpy.context.scene.mpm.surface
    settings.quality, settings.while_baking = "draft", True
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    assert derived_processes.current() is None
    assert derived_facts.facts_of(bpy.context.scene)[:3] == (2, 2, 0)
    (item,) = particle_objects.result_objects(bpy.context.scene)
    assert item.mpm.surface.object is not None
    settings.attributes = "stres"
    said = session.bake(bpy.context)
    assert ["The surface was not made" in line and '"stres"' in line for line in said] == [True]


@pytest.mark.parametrize("is_begun", [True, False])
def test_the_surface_of_a_bake_is_begun_once(bpy: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch, is_begun: bool) -> None:
    """A surface that was stopped, or cannot be made, is not begun again at the next frame; one that had to wait is."""
    asked: list[Any] = []

    def follow(_scene: Any, cache: str, kind: str) -> bool:
        if kind != "surface":
            return False
        asked.append(cache)
        return is_begun

    monkeypatch.setattr(session.derived_processes, "follow", follow)
    stand_in("good")
    show_at_once(monkeypatch)
    session.bake(bpy.context)
    # at each of two frames, and at the end
    assert len(asked) == (1 if is_begun else 3)


def test_a_surface_that_cannot_be_begun_counts_as_begun(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    stand_in("good")
    session.bake(bpy.context)
    folder = tmp_path / "cache"
    shutil.rmtree(folder)
    assert not derived_processes.follow(scene, str(folder))
    scene.mpm.surface.while_baking = True
    assert derived_processes.follow(scene, str(folder))
    assert "contains no cache" in derived_processes.trouble(folder).problem
    assert derived_processes.current() is None


def test_a_surface_is_made_where_renders_show_one(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    """On by default; not for snow, where the artist renders points, nor in two dimensions."""
    scene = bpy.context.scene
    stand_in("good")
    session.bake(bpy.context)
    scene.mpm.surface.property_unset("while_baking")
    (item,) = particle_objects.result_objects(scene)
    water, snow = item.mpm.display.parts
    assert [(part.law, part.render) for part in (water, snow)] == [("water", "automatic"), ("snow", "automatic")]

    def is_begun(cache: str = scene.mpm.cache) -> bool:
        try:
            return derived_processes.follow(scene, cache)
        finally:
            derived_processes.end()

    assert is_begun()
    with silent():
        water.render = "points"
    assert not is_begun()
    with silent():
        snow.render = "surface"
    assert is_begun()
    flat = replace(description(), solver=Solver(grid_spacing=0.05, dimension=2))
    item.mpm.cache = str(write_cache(tmp_path / "flat", {1: 4}, scene=flat))
    assert not is_begun(item.mpm.cache)


def test_a_bake_that_fails_leaves_no_surface_process(bpy: Any, host: str, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("unstable")
    if host == "fake":
        monkeypatch.setattr(derived_processes.display, "rebuild", lambda _item: None)
    show_at_once(monkeypatch)
    bpy.context.scene.mpm.surface.while_baking = True
    begun: list[Any] = []
    kept = derived_processes.follow
    monkeypatch.setattr(derived_processes, "follow", lambda *given: begun.append(kept(*given)) or begun[-1])
    with pytest.raises(MpmError):
        session.bake(bpy.context)
    assert (begun.count(True), derived_processes.current()) == (1, None)


def test_what_is_made_follows_the_emitters_of_this_bake(bpy: Any, host: str, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of the bake before, which the object in the scene shows until the first frame arrives."""
    if host == "fake":
        monkeypatch.setattr(derived_processes.display, "rebuild", lambda _item: None)
    stand_in("good")
    session.bake(bpy.context)
    (item,) = particle_objects.result_objects(bpy.context.scene)
    item.mpm.display.parts[0].law = item.mpm.display.parts[0].simulated_material = "snow"
    bpy.context.scene.mpm.surface.while_baking = True
    begun: list[Any] = []
    monkeypatch.setattr(derived_processes, "follow", lambda *given: begun.append([part.law for part in item.mpm.display.parts]) or True)
    session.bake(bpy.context)
    assert begun and all(each == ["water", "snow"] for each in begun)


def test_a_bake_neither_waits_for_nor_ends_a_surface_that_the_user_makes(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    session.bake(bpy.context)
    made = derived_processes.start(bpy.context.scene)
    try:
        assert derived_processes.finish(made.folder) == []
        derived_processes.abandon(made.folder)
        assert derived_processes.current() is made
        assert not made.is_finished
    finally:
        derived_processes.end()


def test_a_cancelled_bake_ends_as_cancelled(bpy: Any, stand_in: Any) -> None:
    stand_in("slow")
    running = session.start(bpy.context)
    until(lambda: running.poll() and running.text.startswith("Baking"))
    assert running.fraction == 0.75
    assert bpy.ops.mpm.bake_cancel() == {"FINISHED"}
    assert running.text == "Canceling: safe to quit"
    until(lambda: running.poll() or running.is_finished)
    until(lambda: running.poll() or running.is_finished)
    with pytest.raises(Cancelled, match="1 of 2 frames are cached"):
        running.raise_outcome()


def test_a_new_file_stops_the_bake(bpy: Any, stand_in: Any) -> None:
    stand_in("slow")
    running = session.start(bpy.context)
    until(lambda: running.poll() or running._worker is not None)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert session.current() is None
    assert running._worker.exit_status is not None


@pytest.mark.parametrize("closing", ["stop", "run_on"])
def test_disabling_the_extension_ends_the_bake_or_lets_it_run_on(bpy: Any, stand_in: Any, closing: str) -> None:
    import mpm_addon

    stand_in("slow")
    bpy.context.scene.mpm.when_closing = closing
    running = session.start(bpy.context)
    until(lambda: running.poll() or running._worker is not None)
    running.poll()
    process = running._worker._process
    mpm_addon.unregister()
    try:
        assert session.current() is None
        assert (process.poll() is None) == (closing == "run_on")
    finally:
        process.kill()
        process.wait()
        mpm_addon.register()
    assert session.current() is None


def test_without_numba_the_bake_is_refused(bpy: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("good")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert error_of(bpy.ops.mpm.bake).startswith("numba is missing, so nothing can be baked")


# The operators.


def test_the_operator_does_what_the_function_does(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(session, "bake", lambda _context, **options: calls.append(options) or [])
    assert bpy.ops.mpm.bake(object="Cube", cache="/somewhere", restart=True) == {"FINISHED"}
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    assert bpy.ops.mpm.bake(from_frame=0) == {"FINISHED"}
    assert calls == [
        {"object_name": "Cube", "cache": "/somewhere", "restart": True, "from_frame": None},
        {"object_name": "", "cache": "", "restart": False, "from_frame": None},
        {"object_name": "", "cache": "", "restart": False, "from_frame": 0},
    ]


def test_bad_input_arrives_as_the_error_of_the_function(bpy: Any) -> None:
    with pytest.raises(MpmError) as caught:
        session.bake(bpy.context)
    assert error_of(bpy.ops.mpm.bake) == str(caught.value)
    assert str(caught.value).startswith('Scene "Scene" has no emitter')


@blender
def test_a_cache_folder_that_is_a_file_is_refused(bpy: Any, tmp_path: Path) -> None:
    add_emitter(bpy)
    (tmp_path / "file").write_text("mine")
    message = error_of(lambda: bpy.ops.mpm.bake(cache=str(tmp_path / "file")))
    assert message == f"{tmp_path / 'file'}: is a file, not a folder; choose another cache folder or remove the file."
    assert (tmp_path / "file").read_text() == "mine"


def test_nothing_can_be_cancelled_when_nothing_runs(bpy: Any) -> None:
    with pytest.raises(RuntimeError, match="poll"):
        bpy.ops.mpm.bake_cancel()


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

    def to_the_end(self) -> set[str]:
        outcome = self.event()
        end = time.monotonic() + 120.0
        while outcome == {"PASS_THROUGH"} and time.monotonic() < end:
            time.sleep(0.01)
            outcome = self.event()
        return outcome


def test_in_the_interface_the_bake_runs_beside_other_events(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    modal = Modal(bpy)
    assert modal.invoke() == {"RUNNING_MODAL"}
    assert modal.event("MOUSEMOVE") == {"PASS_THROUGH"}
    assert modal.to_the_end() == {"FINISHED"}
    assert (modal.timers, modal.reports, session.current()) == ([], [], None)


def test_a_bake_of_an_unsaved_file_says_where_its_frames_go(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    bpy.context.scene.mpm.cache = "//cache_mpm"
    modal = Modal(bpy)
    modal.invoke()
    modal.to_the_end()
    ((kind, text),) = modal.reports
    assert kind == {"WARNING"}
    assert text == (
        f"The file is not saved: the frames go to {paths.unsaved_folder() / 'cache_mpm'}; save the file to keep them beside it."
    )


def test_in_the_interface_an_error_is_reported_and_the_timer_goes(bpy: Any, stand_in: Any) -> None:
    stand_in("error")
    modal = Modal(bpy)
    modal.invoke()
    assert modal.to_the_end() == {"CANCELLED"}
    assert modal.reports == [({"ERROR"}, 'Emitter "Cube": too small; use a larger one.')]
    assert (modal.timers, session.current()) == ([], None)


def test_in_the_interface_a_scene_that_cannot_be_baked_starts_nothing(bpy: Any) -> None:
    modal = Modal(bpy)
    assert modal.invoke() == {"CANCELLED"}
    assert modal.reports[0][0] == {"ERROR"}
    assert modal.timers == []


def test_in_the_interface_cancelling_ends_the_operator(bpy: Any, stand_in: Any) -> None:
    stand_in("slow")
    modal = Modal(bpy)
    modal.invoke()
    until(lambda: modal.event() and session.current().text.startswith("Baking"))  # type: ignore[union-attr]
    bpy.ops.mpm.bake_cancel()
    assert modal.to_the_end() == {"CANCELLED"}
    assert modal.reports == [({"WARNING"}, "canceled: 1 of 2 frames are cached; choose Resume.")]


def test_when_blender_ends_the_operator_the_worker_ends(bpy: Any, stand_in: Any) -> None:
    stand_in("slow")
    modal = Modal(bpy)
    modal.invoke()
    running = session.current()
    until(lambda: modal.event() and running is not None and running._worker is not None)
    bake_operators.MPM_OT_bake.cancel(modal.operator, modal.context)
    assert running is not None and running._worker.exit_status is not None
    assert (modal.timers, session.current()) == ([], None)


# The command line.


def test_the_command_does_what_the_operator_does(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(session, "bake", lambda _context, **options: calls.append(options) or [])
    assert commands.run(["bake", "--object", "Cube", "--cache", "/somewhere"]) == 0
    calls[0].pop("on_event")
    assert calls == [{"object_name": "Cube", "cache": "/somewhere", "restart": False, "from_frame": None}]


def test_the_command_says_errors_in_one_line(bpy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["bake"]) == 1
    assert capsys.readouterr().err == f"mpm: {error_of(bpy.ops.mpm.bake)}\n"


def test_the_command_prints_a_line_a_frame(bpy: Any, stand_in: Any, capsys: pytest.CaptureFixture[str]) -> None:
    stand_in("good")
    assert commands.run(["bake"]) == 0
    assert "Frame 2: 4 particles, 9 substeps (2/2)\nDone\n" in capsys.readouterr().out


def test_bad_usage_has_status_2_and_help_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["bake", "--colour"]) == 2
    assert commands.run([]) == 2
    assert commands.run(["bake", "--help"]) == 0
    assert "--object NAME" in capsys.readouterr().out


def test_the_command_is_registered_under_its_name(fake_blender: Any) -> None:
    assert fake_blender.command_line["mpm"] is commands.run
