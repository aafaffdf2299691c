"""Takes of a cache in Blender: which one is shown, the list of them, and the button that bakes from the current frame."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import cache_watch, removal, session, unstable
from mpm_addon.blender.host.runtime import runtime
from mpm_addon.blender.interface.operators import bake_operators, export_operators, take_operators
from mpm_addon.blender.interface.panels import bake_panels
from mpm_addon.blender.playback import keyframes, particle_objects
from mpm_addon.core.particles import Frame, FrameStatistics
from mpm_addon.storage.cache_writer import CacheWriter
from mpm_addon.storage.failure import write_failure
from mpm_addon.storage.takes import describe_takes
from tests.blender.scenes import description, error_of, failure, frame_arrays, write_cache


@pytest.fixture
def folder(bpy: Any, tmp_path: Path) -> str:
    """A cache whose second take resumes after frame 2 with six particles instead of five."""
    folder = write_cache(tmp_path / "cache", {1: 5, 2: 5, 3: 5})
    other = dataclasses.replace(description(), name="changed")
    writer = CacheWriter(folder, other)
    writer.prepare(other, restart=False, from_frame=2)
    writer.begin(other)
    statistics = FrameStatistics(6, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
    writer.write_frame(Frame(3, 2 / 24, frame_arrays(3, 6), statistics, poses={"Crate": np.diag([1.0, 2.0, 3.0, 1.0])}))
    bpy.context.scene.mpm.cache = str(folder)
    runtime.forget_file()
    return str(folder)


def test_the_shown_take_is_played(bpy: Any, folder: str) -> None:
    item = particle_objects.result_object(bpy.context.scene, folder)
    counts = {}
    for take in (2, 1, 2):
        assert bpy.ops.mpm.take_show(take=take) == {"FINISHED"}
        for frame in (2, 3):
            bpy.context.scene.frame_set(frame)
            counts[take, frame] = len(item.data.vertices)
    assert counts == {(1, 2): 5, (1, 3): 5, (2, 2): 5, (2, 3): 6}


def test_dynamic_colliders_move_as_in_the_shown_take(bpy: Any, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []
    monkeypatch.setattr(keyframes, "write_keys", lambda _scene, poses, cache: written.append((cache, poses)) or [])
    bpy.ops.mpm.take_show(take=1)
    assert written == []
    bpy.ops.mpm.take_show(take=2)
    ((cache, poses),) = written
    assert cache == folder
    assert [list(poses[number]) for number in (1, 2, 3)] == [[], [], ["Crate"]]
    assert poses[3]["Crate"].diagonal().tolist() == [1.0, 2.0, 3.0, 1.0]


def test_a_take_that_is_not_there_is_named(bpy: Any, folder: str) -> None:
    assert error_of(lambda: bpy.ops.mpm.take_show(take=7)).endswith("has no take 7; use one of 1, 2.")


def test_takes_are_listed_where_there_are_several(bpy: Any, folder: str, draw: Any, tmp_path: Path) -> None:
    layout = draw(bake_panels.MPM_PT_takes)
    assert [call.arguments["text"] for call in layout.find("operator", "mpm.take_show")] == ["Take 1: 1-3", "Take 2: 3-3"]
    assert [call.arguments["text"] for call in layout.find("label")] == ["3-3 outdated", "after 2 of take 1"]
    assert [call.arguments["settings"] for call in layout.find("operator", "mpm.take_remove")] == [{"take": 1}, {"take": 2}]
    bpy.context.scene.mpm.cache = str(write_cache(tmp_path / "other", {1: 5}))
    assert draw(bake_panels.MPM_PT_takes) is None


def test_a_take_is_shown_by_its_name(bpy: Any, folder: str, draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_watch, "REST", 0.0)
    assert bpy.ops.mpm.take_rename(take=2, name="Slow Snow") == {"FINISHED"}
    layout = draw(bake_panels.MPM_PT_takes)
    assert [call.arguments["text"] for call in layout.find("operator", "mpm.take_show")] == ["Take 1: 1-3", "Slow Snow: 3-3"]
    assert [call.arguments["settings"] for call in layout.find("operator", "mpm.take_rename")] == [{"take": 1}, {"take": 2}]
    asked: list[Any] = []
    manager = SimpleNamespace(fileselect_add=asked.append, invoke_props_dialog=lambda operator: asked.append(operator) or {"RUNNING_MODAL"})
    context = SimpleNamespace(scene=bpy.context.scene, window_manager=manager)
    operator = SimpleNamespace(cache="", take=2, name="", filepath="", format="ply")
    publication = SimpleNamespace(directory="", filepath="")
    take_operators.MPM_OT_take_rename.invoke(operator, context, None)
    export_operators.MPM_OT_export_points.invoke(operator, context, None)
    export_operators.MPM_OT_publish.invoke(publication, context, None)
    assert len(asked) == 3
    assert (operator.name, Path(operator.filepath).name, Path(publication.filepath).name) == (
        "Slow Snow",
        "particles_Slow_Snow.ply",
        "published_Slow_Snow",
    )
    assert error_of(lambda: bpy.ops.mpm.take_rename(take=7, name="x")).endswith("has no take 7; use one of 1, 2.")


def test_a_take_is_removed_and_the_one_before_is_shown(bpy: Any, folder: str) -> None:
    item = particle_objects.result_object(bpy.context.scene, folder)
    bpy.context.scene.frame_set(3)
    assert len(item.data.vertices) == 6
    assert error_of(lambda: bpy.ops.mpm.take_remove(take=1)).endswith("take 2 continues from take 1; remove take 2 first.")
    assert bpy.ops.mpm.take_remove(take=2) == {"FINISHED"}
    assert len(item.data.vertices) == 5
    assert [take["take"] for take in describe_takes(Path(folder))] == [1]
    assert not (Path(folder) / "takes" / "0002").exists()
    assert error_of(lambda: bpy.ops.mpm.take_remove(take=1)).endswith("take 1 is the only one; free the bake to delete it.")
    assert error_of(lambda: bpy.ops.mpm.take_remove(take=2)).endswith("has no take 2; use one of 1.")


def test_what_is_lost_is_asked_before(bpy: Any, folder: str) -> None:
    asked: list[dict[str, Any]] = []
    manager = SimpleNamespace(invoke_confirm=lambda _operator, _event, **words: asked.append(words) or {"RUNNING_MODAL"})
    context = SimpleNamespace(scene=bpy.context.scene, window_manager=manager)

    def ask(operator: Any, **options: Any) -> Any:
        return operator.invoke(SimpleNamespace(object="", cache="", **options), context, None)

    assert ask(take_operators.MPM_OT_take_remove, take=1) == {"RUNNING_MODAL"}
    assert ask(bake_operators.MPM_OT_bake_again) == {"RUNNING_MODAL"}
    assert ask(bake_operators.MPM_OT_bake_free) == {"RUNNING_MODAL"}
    size_of = removal.losses(Path(folder), take=1).removeprefix("3 frames ")
    assert size_of.startswith("(") and size_of.endswith(" kB)")
    assert asked[0]["message"] == f"3 frames {size_of} will be deleted"
    assert asked[1]["message"].startswith("4 frames (") and asked[1]["message"].endswith(
        " kB) of 2 takes will be replaced when the first new frame is finished"
    )
    assert asked[2]["message"].endswith("of 2 takes will be deleted")
    # nothing to lose, so no confirmation
    done: list[None] = []
    bpy.context.scene.mpm.cache = folder + "_other"
    ask(bake_operators.MPM_OT_bake_again, execute=lambda _context: done.append(None))
    assert (len(asked), len(done)) == (3, 1)


def test_to_bake_again_is_to_restart(bpy: Any, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(session, "bake", lambda _context, on_news=None, **options: calls.append(options) or [])
    assert bpy.ops.mpm.bake_again(object="Cube") == {"FINISHED"}
    assert calls == [{"object_name": "Cube", "cache": "", "restart": True, "from_frame": None}]
    monkeypatch.undo()
    assert error_of(bpy.ops.mpm.bake_again).startswith('Scene "Scene" has no emitter')


def test_unstable_particles_are_those_of_the_shown_take(bpy: Any, host: str, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if host == "fake":
        monkeypatch.setattr(unstable.display, "dress", lambda *_arguments, **_options: None)
    write_failure(Path(folder), failure(3), take=2)
    shown = []
    for take in (2, 1, 2):
        bpy.ops.mpm.take_show(take=take)
        shown.append(len(unstable.objects(bpy.context.scene)))
    assert shown == [1, 0, 1]
