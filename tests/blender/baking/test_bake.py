"""The session of a bake: it reads the scene, starts the worker, and follows it to the end."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import session, unstable
from mpm_addon.blender.host.wording import in_blender, problem_and_remedy
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.reading import freshness
from mpm_addon.blender.reading.fingerprint import is_comparable
from mpm_addon.blender.settings import paths
from mpm_addon.core.errors import Cancelled, MpmError
from mpm_addon.core.messages import Message
from mpm_addon.storage import open_cache
from mpm_addon.storage.failure import remove_failure
from tests.blender.scenes import error_of, failure
from tests.blender.stand_ins import stand_in, until

__all__ = ["stand_in"]

blender = pytest.mark.blender


def test_a_bake_shows_its_frames_and_remembers_the_settings(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    asked = stand_in("good")
    events: list[str] = []
    session.bake(bpy.context, on_event=lambda event: events.append(event.word))
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


def test_what_a_bake_closed_is_reported(bpy: Any, stand_in: Any) -> None:
    stand_in("warned")
    news: list[Message] = []
    assert session.bake(bpy.context, on_news=news.extend) == []
    assert list(map(in_blender, news)) == ['Emitter "Cube": its mesh has a hole']


def test_one_bake_at_a_time(bpy: Any, stand_in: Any) -> None:
    stand_in("slow")
    session.start(bpy.context)
    with pytest.raises(MpmError, match="is running; wait until it finishes or cancel it"):
        session.start(bpy.context)


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


@pytest.mark.parametrize("closing", ["stop", "keep_baking"])
def test_disabling_the_extension_ends_the_bake_or_lets_it_keep_baking(bpy: Any, stand_in: Any, closing: str) -> None:
    import mpm_addon

    stand_in("slow")
    bpy.context.scene.mpm.when_closing = closing
    running = session.start(bpy.context)
    until(lambda: running.poll() or running._worker is not None)
    running.poll()
    process = running._worker
    mpm_addon.unregister()
    try:
        assert session.current() is None
        assert (process.exit_status is None) == (closing == "keep_baking")
    finally:
        process.close()
        mpm_addon.register()
    assert session.current() is None


def test_without_numba_the_bake_is_refused(bpy: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("good")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert error_of(bpy.ops.mpm.bake).startswith("numba is missing, so nothing can be baked")
