"""The operators that make derived data, as the event loop calls them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import derived_processes, session
from mpm_addon.blender.baking.derived_kinds import DERIVED_KINDS
from mpm_addon.blender.interface.operators import derived_operators
from mpm_addon.blender.playback import particle_objects
from mpm_addon.storage import events
from mpm_addon.storage.take import FOAM, SURFACE
from tests.blender.scenes import add_emitter
from tests.blender.stand_ins import Modal, stand_in

__all__ = ["stand_in"]


class OneFrame:
    """A process that has made the first frame."""

    exit_status = None

    def __init__(self, *_command: Any, **_options: Any) -> None:
        pass

    def events(self, _vocabulary: Any) -> list[events.Event]:
        return [events.DeriveFrame(frame=1, done=1, total=2, bytes=0, seconds_per_frame=None, eta_seconds=None)]

    def close(self) -> None:
        pass


def press(bpy: Any, kind: str) -> None:
    """Press the button that makes a kind, and end its process after a frame."""
    (operator,) = (each for each in derived_operators.CLASSES if each.__name__ == f"MPM_OT_{kind}_make")
    silent = {"_follow": lambda _context: {"RUNNING_MODAL"}, "_draw_progress": lambda _context, **_news: None, "report": print}
    pressed: Any = SimpleNamespace(kind=DERIVED_KINDS[kind], cache="", bl_label="", **silent)
    context = Modal(bpy).context
    assert operator.invoke(pressed, context, SimpleNamespace(type="LEFTMOUSE")) == {"RUNNING_MODAL"}
    assert operator.modal(pressed, context, SimpleNamespace(type="TIMER")) == {"PASS_THROUGH"}
    derived_processes.end(kind)


@pytest.mark.blender
@pytest.mark.parametrize("kind", [SURFACE, FOAM])
def test_undoing_an_edit_leaves_what_shows_derived_data(bpy: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(derived_processes, "Worker", OneFrame)
    stand_in("good")
    name = add_emitter(bpy).name
    session.bake(bpy.context)
    bpy.ops.ed.undo_push(message="Bake")
    press(bpy, kind)
    bpy.context.scene.objects[name].location.x = 3.0
    bpy.ops.ed.undo_push(message="Move")
    bpy.ops.ed.undo()
    assert bpy.context.scene.objects[name].location.x == 0.0
    (shown,) = particle_objects.result_objects(bpy.context.scene)
    assert DERIVED_KINDS[kind].object_of(shown) is not None
