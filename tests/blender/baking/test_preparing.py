"""The first part of a bake: the scene is read a few frames at a time, with progress, and can be canceled."""

from __future__ import annotations

from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import preparation, session
from mpm_addon.blender.reading.extract import extraction
from mpm_addon.core.errors import Cancelled, MpmError, SceneError
from mpm_addon.core.scene.description import Scene
from tests.blender.scenes import add_collider, add_emitter
from tests.blender.stand_ins import Modal


class Reading:
    """Replaces the extraction: one step per call, until it is closed or ends."""

    def __init__(self, *, error: Exception | None = None) -> None:
        self.error = error
        self.is_closed = False

    def __call__(self, _context: Any, object_name: str = "") -> Generator[float, None, Scene]:
        try:
            for step in range(1, 101):
                yield step / 100
                if self.error is not None and step == 30:
                    raise self.error
            raise AssertionError("the test reads on after the end")
        finally:
            self.is_closed = True


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch, bpy: Any, tmp_path: Any) -> Any:
    """Replaces the extraction, and lets every poll do one step."""

    def begin(**options: Any) -> Reading:
        made = Reading(**options)
        monkeypatch.setattr(preparation, "extraction", made)
        monkeypatch.setattr(preparation, "_SLICE_SECONDS", -1.0)
        return made

    bpy.context.scene.mpm.cache = str(tmp_path / "cache")
    return begin


def test_the_progress_of_reading_is_shown(bpy: Any, reading: Any) -> None:
    reading()
    running = session.start(bpy.context)
    assert (running.text, running.fraction, running.is_preparing) == ("Preparing 1%", 0.01, True)
    for _ in range(24):
        assert running.poll() == []
    assert (running.text, running.fraction) == ("Preparing 25%", 0.25)


def test_reading_can_be_cancelled(bpy: Any, reading: Any) -> None:
    made = reading()
    running = session.start(bpy.context)
    assert bpy.ops.mpm.bake_cancel() == {"FINISHED"}
    assert made.is_closed
    assert (running.is_finished, running.is_preparing) == (True, False)
    with pytest.raises(Cancelled, match="canceled while the scene was being read, so no frame was baked"):
        running.raise_outcome()


def test_escape_cancels_reading_and_nothing_else(bpy: Any, reading: Any) -> None:
    made = reading()
    modal = Modal(bpy)
    assert modal.invoke() == {"RUNNING_MODAL"}
    assert modal.event("MOUSEMOVE") == {"PASS_THROUGH"}
    assert not made.is_closed
    assert modal.event("ESC") == {"CANCELLED"}
    assert made.is_closed
    assert modal.reports == [({"WARNING"}, "canceled while the scene was being read, so no frame was baked")]
    assert (modal.timers, session.current()) == ([], None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SceneError('Collider "X": odd; remedy.'), 'Collider "X": odd; remedy.'),
        (ReferenceError("StructRNA of type Object has been removed"), "The scene was changed while it was being read; bake again."),
    ],
)
def test_an_error_while_reading_ends_the_bake(bpy: Any, reading: Any, error: Exception, words: str) -> None:
    reading(error=error)
    modal = Modal(bpy)
    modal.invoke()
    assert modal.to_the_end() == {"CANCELLED"}
    assert modal.reports == [({"ERROR"}, words)]
    reading(error=error)
    with pytest.raises(MpmError) as caught:
        session.bake(bpy.context)
    assert str(caught.value) == words


def test_a_new_file_ends_reading(bpy: Any, reading: Any) -> None:
    made = reading()
    session.start(bpy.context)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert (made.is_closed, session.current()) == (True, None)


def test_the_scene_is_read_a_frame_a_step_and_left_as_it_was(bpy: Any) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 11, 20
    add_emitter(bpy)
    item = add_collider(bpy)
    for frame in (11, 20):
        item.location.x = frame
        item.keyframe_insert("location", frame=frame)
    scene.frame_set(5, subframe=0.5)
    steps = extraction(bpy.context)
    assert [next(steps) for _ in range(4)] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert scene.frame_current == 14
    steps.close()
    assert (scene.frame_current, scene.frame_subframe) == (5, 0.5)


@pytest.mark.blender
def test_cancelling_puts_render_modifiers_back(bpy: Any) -> None:
    add_emitter(bpy)
    modifier = add_collider(bpy).modifiers.new("Subdivision", "SUBSURF")
    modifier.levels, modifier.render_levels, modifier.show_viewport = 1, 3, False
    steps = extraction(bpy.context)
    next(steps)
    assert (modifier.levels, modifier.show_viewport) == (3, True)
    steps.close()
    assert (modifier.levels, modifier.show_viewport) == (1, False)


def test_another_scene_ends_reading_with_one_line(bpy: Any) -> None:
    add_emitter(bpy)
    item = add_collider(bpy)
    for frame in (1, 20):
        item.location.x = frame
        item.keyframe_insert("location", frame=frame)
    context = SimpleNamespace(scene=bpy.context.scene, evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get)
    steps = extraction(context)
    next(steps)
    context.scene = bpy.data.scenes.new("Other")
    with pytest.raises(SceneError, match=r'^Scene "Scene": the window switched to another scene while this one was being read; bake again'):
        next(steps)
