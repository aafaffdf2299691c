"""numba is never loaded in Blender's process, and the guard around every test of this folder would detect it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.building import quick
from mpm_addon.core.geometry.shapes.mesh import Mesh

from .numba_guard import NumbaLoadedError, imports, modules_with_numba
from .scenes import add_mesh


def test_blenders_layer_imports_no_module_that_loads_numba() -> None:
    forbidden = modules_with_numba()
    assert {"mpm_addon.core.stepping.simulation", "mpm_addon.core.geometry.surface", "mpm_addon.core.transfer.grid"} <= forbidden
    assert "mpm_addon.core.scene.description" not in forbidden
    found = {name: named & forbidden for name, named in imports().items() if name.startswith("mpm_addon.blender")}
    assert len(found) > 80
    assert {name: named for name, named in found.items() if named} == {}


def test_a_distance_that_is_asked_for_in_blender_is_seen(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    add_mesh(bpy, "Cube").select_set(True)

    def measure(_self: Mesh, _subject: str) -> None:
        _self.signed_distance(np.zeros((1, 3)))

    assert Mesh(np.eye(3), [[0, 1, 2]]).signed_distance(np.zeros((1, 3))) == pytest.approx(3.0**-0.5)
    monkeypatch.setattr(Mesh, "check_inside", measure)
    with pytest.raises(NumbaLoadedError, match=r"quick\.py:\d+ loads mpm_addon\.core\.geometry\.inside"):
        quick.quick_emitters(bpy.context, "jelly", 1000)
