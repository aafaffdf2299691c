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
