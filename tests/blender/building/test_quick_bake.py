"""A quick effect that bakes: by a script, it waits; in the interface, it starts the bake and stays what it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.building import quick
from mpm_addon.blender.playback import particle_objects
from mpm_addon.core.errors import MpmError
from tests.blender.building.test_add_menu import select
from tests.blender.scenes import add_mesh, error_of
from tests.blender.stand_ins import stand_in

__all__ = ["stand_in"]


def test_a_script_gets_the_frames_with_the_effect(bpy: Any, stand_in: Any) -> None:
    asked = stand_in("good")
    cube = add_mesh(bpy, "Cube")
    select(bpy, cube)
    assert bpy.ops.mpm.quick(material="snow", particle_count=1000) == {"FINISHED"}
    assert asked == []
    assert bpy.ops.mpm.quick(material="snow", particle_count=1000, bake=True) == {"FINISHED"}
    assert len(asked) == 1
    assert len(particle_objects.result_objects(bpy.context.scene)) == 1


def test_a_bake_that_fails_in_a_script_takes_the_effect_back(bpy: Any, stand_in: Any) -> None:
    stand_in("error")
    cube = add_mesh(bpy, "Cube")
    select(bpy, cube)
    assert "too small" in error_of(lambda: bpy.ops.mpm.quick(particle_count=1000, bake=True))
    assert cube.mpm.type == "none"
    assert "Floor" not in bpy.context.scene.objects


def test_the_tab_opens_with_the_first_emitter_of_a_scene(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(quick.sidebar, "open_tab", lambda _context: opened.append("MPM"))

    def choose(name: str, kind: Any, call: Any) -> bool:
        """Choose an effect for a new mesh in a menu. Returns whether the tab was opened."""
        select(bpy, add_mesh(bpy, name))
        opened.clear()
        operator: Any = SimpleNamespace(execute=lambda _context: call())
        invoke = next((vars(each)["invoke"] for each in kind.__mro__ if "invoke" in vars(each)), None)
        assert (invoke(operator, bpy.context, None) if invoke else call()) == {"FINISHED"}
        return opened == ["MPM"]

    assert not choose("Wall", quick.MPM_OT_quick_collider, bpy.ops.mpm.quick_collider)
    assert choose("Cube", quick.MPM_OT_quick, bpy.ops.mpm.quick)
    assert not choose("Other", quick.MPM_OT_quick, bpy.ops.mpm.quick)


@pytest.mark.parametrize("is_wanted", [True, False])
def test_in_the_interface_a_bake_that_cannot_start_is_a_warning(monkeypatch: pytest.MonkeyPatch, is_wanted: bool) -> None:
    """While one runs whose values are adjusted, for example."""
    asked, told = [], []

    def refuse(*words: str) -> None:
        asked.append(words)
        raise MpmError("A bake is running", "wait until it finishes or cancel it")

    monkeypatch.setattr(quick, "call", refuse)
    monkeypatch.setattr(quick, "bpy", SimpleNamespace(app=SimpleNamespace(background=False)))
    operator: Any = SimpleNamespace(bake=is_wanted, notes=told.extend)
    quick.MPM_OT_quick._go_on(operator)
    assert asked == [("mpm.bake", "INVOKE_DEFAULT")] * is_wanted
    assert len(told) == is_wanted
