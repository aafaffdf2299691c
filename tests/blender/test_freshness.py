"""Whether the scene has changed is known of each take, and found out now and again only."""

from __future__ import annotations

from typing import Any

import pytest

from mpm_addon.blender import freshness, playback

from .scenes import add_emitter


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "REST", 0.0)
    freshness.forget()


def test_each_take_has_its_own_settings(bpy: Any) -> None:
    scene, emitter = bpy.context.scene, add_emitter(bpy)
    item = playback.result_object(scene, "/nowhere")

    def outdated() -> list[bool]:
        return [freshness.is_outdated(scene, item, take) for take in (1, 2, 3, None)]

    assert outdated() == [False] * 4
    freshness.note(item, 1, freshness.digest(scene))
    emitter.mpm.material.preset = "snow"
    freshness.note(item, 2, freshness.digest(scene))
    assert outdated() == [True, False, False, False]
    emitter.mpm.material.preset = "water"
    assert outdated() == [False, True, False, False]


def test_a_fingerprint_alone_as_in_earlier_versions_counts_for_every_take(bpy: Any) -> None:
    scene, emitter = bpy.context.scene, add_emitter(bpy)
    item = playback.result_object(scene, "/nowhere")
    item.mpm.fingerprint = freshness.digest(scene)
    assert not freshness.is_outdated(scene, item, 7)
    emitter.mpm.material.preset = "snow"
    assert freshness.is_outdated(scene, item, 7)
    freshness.note(item, 2, freshness.digest(scene))
    assert not freshness.is_outdated(scene, item, 7)
    item.mpm.fingerprint = "{damaged"
    assert not freshness.is_outdated(scene, item, 2)


def test_a_dear_digest_is_not_taken_at_every_redraw(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[None] = []
    monkeypatch.setattr(freshness, "fingerprint", lambda _scene, _name: taken.append(None) or f"number {len(taken)}")
    now = iter([0.0, 0.5, 0.6, 10.0, 10.1, 11.0, 11.5])
    monkeypatch.setattr(freshness.time, "perf_counter", lambda: next(now))
    monkeypatch.setattr(freshness, "REST", 10.0)
    # the first takes half a second, and counts for five
    assert [freshness.digest(bpy.context.scene) for _ in range(3)] == ["number 1", "number 1", "number 2"]
    freshness.forget()
    assert freshness.digest(bpy.context.scene) == "number 3"
