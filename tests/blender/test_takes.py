"""Takes of a cache in Blender: which one is shown, the list of them, and the button that goes on after the current frame."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import bake_panels, keyframes, observation, playback
from mpm_addon.core.particles import Frame, FrameStatistics
from mpm_addon.storage.cache_writer import CacheWriter

from .scenes import description, error_of, frame_arrays, write_cache


@pytest.fixture
def folder(bpy: Any, tmp_path: Path) -> str:
    """A cache whose second take goes on after frame 2 with six particles instead of five."""
    folder = write_cache(tmp_path / "cache", {1: 5, 2: 5, 3: 5})
    other = dataclasses.replace(description(), name="changed")
    writer = CacheWriter(folder, other)
    writer.prepare(other, restart=False, from_frame=2)
    writer.begin(other)
    statistics = FrameStatistics(6, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
    writer.write_frame(Frame(3, 2 / 24, frame_arrays(3, 6), statistics, poses={"Crate": np.diag([1.0, 2.0, 3.0, 1.0])}))
    bpy.context.scene.mpm.cache = str(folder)
    observation.forget()
    return str(folder)


def test_the_shown_take_is_played(bpy: Any, folder: str) -> None:
    item = playback.result_object(bpy.context.scene, folder)
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
    assert [call.arguments["text"] for call in layout.find("operator", "mpm.take_show")] == [
        'Take 1: frames 1-3 of "test", outdated: 3-3',
        'Take 2: frames 3-3 of "changed", after frame 2 of take 1, shown',
    ]
    bpy.context.scene.mpm.cache = str(write_cache(tmp_path / "other", {1: 5}))
    assert draw(bake_panels.MPM_PT_takes) is None
