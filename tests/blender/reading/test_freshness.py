"""Whether the scene has changed is known for each take, and checked only from time to time."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import bake_facts, cache_watch
from mpm_addon.blender.baking.bake_view import State, view_of
from mpm_addon.blender.host.runtime import runtime
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.reading import freshness
from mpm_addon.blender.reading.freshness import Freshness
from mpm_addon.core.particles import Frame, FrameStatistics
from mpm_addon.storage.cache_writer import CacheWriter
from mpm_addon.storage.removal import remove_cache
from tests.blender.scenes import add_emitter, description, frame_arrays


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "REST", 0.0)
    runtime.forget(freshness.Digests, freshness.Baked)


def test_each_baked_scene_has_its_own_settings(bpy: Any) -> None:
    scene, emitter = bpy.context.scene, add_emitter(bpy)
    item = particle_objects.result_object(scene, "/nowhere")

    def found() -> list[Freshness]:
        return [freshness.freshness_of(scene, [item], scene_hash) for scene_hash in ("first", "second", "third", "")]

    unknown = Freshness.UNKNOWN
    assert found() == [unknown] * 4
    freshness.note(item, "first", freshness.digest(scene))
    emitter.mpm.material.preset = "snow"
    freshness.note(item, "second", freshness.digest(scene))
    assert found() == [Freshness.OUTDATED, Freshness.CURRENT, unknown, unknown]
    emitter.mpm.material.preset = "water"
    assert found() == [Freshness.CURRENT, Freshness.OUTDATED, unknown, unknown]
    # nothing is known without an object
    assert freshness.freshness_of(scene, [], "first") is unknown


def test_what_earlier_versions_noted_says_nothing_of_any_frames(bpy: Any) -> None:
    scene, _ = bpy.context.scene, add_emitter(bpy)
    item = particle_objects.result_object(scene, "/nowhere")
    for noted in (freshness.digest(scene), json.dumps({"1": freshness.digest(scene)}), "{damaged"):
        item.mpm.fingerprint = noted
        assert freshness.freshness_of(scene, [item], "first") is Freshness.UNKNOWN


def bake(scene: Any, folder: Path, counts: dict[int, int], described: Any) -> None:
    """What a restarted bake leaves in the cache and in the file."""
    writer = CacheWriter(folder, described)
    writer.prepare(described, restart=True)
    writer.begin(described)
    for number, count in counts.items():
        statistics = FrameStatistics(count, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
        writer.write_frame(Frame(number, number / 24.0, frame_arrays(number, count), statistics))
    freshness.note(particle_objects.result_object(scene, str(folder)), writer.scene_hash, freshness.digest(scene))


@pytest.mark.blender
@pytest.mark.parametrize("is_freed", [False, True], ids=["baked again", "freed and baked"])
def test_an_older_file_does_not_take_later_frames_for_its_own(bpy: Any, tmp_path: Path, is_freed: bool) -> None:
    folder, older = tmp_path / "cache", str(tmp_path / "older.blend")
    add_emitter(bpy)
    bpy.context.scene.mpm.cache = str(folder)
    bpy.context.scene.frame_end = 3
    first, second = description(), dataclasses.replace(description(), name="changed")
    frames = {1: 3, 2: 3, 3: 3}
    bake(bpy.context.scene, folder, frames, first)
    assert state(bpy) is State.DONE
    bpy.ops.wm.save_as_mainfile(filepath=older)
    bpy.context.scene.objects["Cube"].mpm.material.preset = "snow"
    if is_freed:
        remove_cache(folder)
    bake(bpy.context.scene, folder, frames, second)
    assert state(bpy) is State.DONE
    bpy.ops.wm.open_mainfile(filepath=older)
    # this Blender knows the settings of these frames, another one does not
    assert state(bpy) is State.OUTDATED
    runtime.forget(freshness.Digests, freshness.Baked)
    assert state(bpy) is State.UNKNOWN
    view = view_of(bake_facts.facts_of(bpy.context.scene))
    assert (view.headline, view.icon) == ("3 frames, possibly outdated", "QUESTION")
    assert view.buttons[0][0].operator == "mpm.bake"


def state(bpy: Any) -> State:
    runtime.forget(cache_watch.Watches)
    return view_of(bake_facts.facts_of(bpy.context.scene)).state


def test_a_dear_digest_is_not_taken_at_every_redraw(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[None] = []
    monkeypatch.setattr(freshness, "fingerprint", lambda _scene, _name: taken.append(None) or f"number {len(taken)}")
    now = iter([0.0, 0.5, 0.6, 10.0, 10.1, 11.0, 11.5])
    monkeypatch.setattr(freshness.time, "perf_counter", lambda: next(now))
    monkeypatch.setattr(freshness, "REST", 10.0)
    # the first takes half a second, and counts for five
    assert [freshness.digest(bpy.context.scene) for _ in range(3)] == ["number 1", "number 1", "number 2"]
    runtime.forget(freshness.Digests, freshness.Baked)
    assert freshness.digest(bpy.context.scene) == "number 3"
