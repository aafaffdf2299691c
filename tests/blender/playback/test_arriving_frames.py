"""With an interface, new frames are read by a thread, and shown if they are still current."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import arriving_frames, particle_objects
from tests.blender.scenes import write_cache


@pytest.fixture
def item(bpy: Any, tmp_path: Path) -> Any:
    """An object that shows a cache of 3, 4 and 5 particles."""
    made = particle_objects.result_object(bpy.context.scene, str(write_cache(tmp_path / "cache", {1: 3, 2: 4, 3: 5})))
    yield made
    arriving_frames.forget()


def begin(bpy: Any, item: Any) -> None:
    arriving_frames.begin(bpy.context.scene, Path(item.mpm.cache))


def test_a_frame_is_shown_when_it_was_read(bpy: Any, item: Any) -> None:
    assert len(item.data.vertices) == 0
    begin(bpy, item)
    assert bpy.app.timers.is_registered(arriving_frames.step)
    begin(bpy, item)  # a frame that arrives meanwhile starts at once
    assert arriving_frames.step(waits=True) is None
    assert len(item.data.vertices) == 3
    assert not particle_objects.status(item)


def test_a_frame_that_nobody_wants_any_more_is_dropped(bpy: Any, item: Any) -> None:
    begin(bpy, item)
    bpy.context.scene.frame_set(3)
    assert len(item.data.vertices) == 5
    arriving_frames.step(waits=True)
    assert len(item.data.vertices) == 5
    begin(bpy, item)
    bpy.data.objects.remove(item)
    assert arriving_frames.step(waits=True) is None


def test_reading_does_not_wait(bpy: Any, item: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = threading.Event()
    read = particle_objects.Wanted.read
    monkeypatch.setattr(particle_objects.Wanted, "read", lambda self, reader: (goes_on.wait(120.0), read(self, reader))[1])
    begin(bpy, item)
    assert arriving_frames.step() == arriving_frames.INTERVAL
    assert len(item.data.vertices) == 0
    goes_on.set()
    assert arriving_frames.step(waits=True) is None
    assert len(item.data.vertices) == 3


def test_a_missing_frame_changes_nothing(bpy: Any, item: Any) -> None:
    bpy.context.scene.frame_set(9)
    begin(bpy, item)
    arriving_frames.step(waits=True)
    assert in_blender(particle_objects.status(item)) == "Frame 9 is not baked"


def test_without_a_window_a_frame_is_shown_at_once(bpy: Any, item: Any) -> None:
    arriving_frames.show(bpy.context.scene, Path(item.mpm.cache))
    assert len(item.data.vertices) == 3
    assert not bpy.app.timers.is_registered(arriving_frames.step)
