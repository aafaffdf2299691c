"""The operators and the command that bake: the same as the function, in scripts and beside other events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import session
from mpm_addon.blender.interface.operators import bake_operators, commands
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.settings import paths
from mpm_addon.core.errors import MpmError
from tests.blender.scenes import add_emitter, error_of
from tests.blender.stand_ins import Modal, stand_in, until

__all__ = ["stand_in"]

blender = pytest.mark.blender


def test_the_operator_does_what_the_function_does(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(session, "bake", lambda _context, on_news=None, **options: calls.append(options) or [])
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
    assert message == f"{tmp_path / 'file'} is a file, not a folder; choose another cache folder or remove the file."
    assert (tmp_path / "file").read_text() == "mine"


def test_nothing_can_be_cancelled_when_nothing_runs(bpy: Any) -> None:
    with pytest.raises(RuntimeError, match="poll"):
        bpy.ops.mpm.bake_cancel()


def test_in_the_interface_the_bake_runs_beside_other_events(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    modal = Modal(bpy)
    assert modal.invoke() == {"RUNNING_MODAL"}
    assert modal.event("MOUSEMOVE") == {"PASS_THROUGH"}
    assert modal.to_the_end() == {"FINISHED"}
    assert (modal.timers, modal.reports, session.current()) == ([], [], None)


@blender
@pytest.mark.parametrize("is_over", [True, False])
def test_undoing_an_edit_leaves_what_shows_the_bake(bpy: Any, stand_in: Any, is_over: bool) -> None:
    """An edit after the bake, and one while it runs."""
    stand_in("good")
    item = add_emitter(bpy)
    name = item.name
    bpy.ops.ed.undo_push(message="Original")
    modal = Modal(bpy)
    modal.invoke()
    if is_over:
        modal.to_the_end()
    else:
        until(lambda: modal.event() and particle_objects.result_objects(bpy.context.scene))
    item.location.x = 3.0
    bpy.ops.ed.undo_push(message="Move")
    bpy.ops.ed.undo()
    assert bpy.context.scene.objects[name].location.x == 0.0
    (shown,) = particle_objects.result_objects(bpy.context.scene)
    assert len(shown.data.vertices) > 0
    session.end()


def test_a_bake_of_an_unsaved_file_says_where_its_frames_go(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    bpy.context.scene.mpm.cache = "//cache_mpm"
    modal = Modal(bpy)
    modal.invoke()
    modal.to_the_end()
    ((kind, text),) = modal.reports
    assert kind == {"WARNING"}
    assert text == (
        f"The file is not saved, so frames go to {paths.unsaved_folder() / 'cache_mpm'}; save the file to keep them next to it."
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


def test_the_command_does_what_the_operator_does(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(session, "bake", lambda _context, on_news=None, **options: calls.append(options) or [])
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
