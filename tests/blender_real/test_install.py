"""The zip installs, enables and disables in an otherwise empty Blender."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import RunInBlender

pytestmark = pytest.mark.blender

ENABLE = """
import addon_utils, json
MODULE = "bl_ext.user_default.mpm_addon"
addon_utils.enable(MODULE, default_set=True)
"""


def test_the_extension_enables_with_its_own_wheels(installed_extension: RunInBlender) -> None:
    answer = installed_extension(
        ENABLE
        + """
import numba
print("ANSWER", json.dumps({
    "enabled": MODULE in bpy.context.preferences.addons,
    "has_object_settings": hasattr(bpy.types.Object, "mpm"),
    "has_scene_settings": hasattr(bpy.types.Scene, "mpm"),
    "bake": bpy.ops.mpm.bake.idname(),
    "numba": numba.__file__,
    "absolute_imports": [name for name in sys.modules if name.split(".")[0] == "mpm_addon"],
}))
addon_utils.disable(MODULE)
"""
    )
    found = json.loads(answer.partition("ANSWER ")[2].splitlines()[0])
    numba = Path(found.pop("numba"))
    assert "extensions" in numba.parts and ".local" in numba.parts
    assert found == {
        "enabled": True,
        "has_object_settings": True,
        "has_scene_settings": True,
        "bake": "MPM_OT_bake",
        "absolute_imports": [],
    }


def test_disabling_takes_everything_away(installed_extension: RunInBlender) -> None:
    answer = installed_extension(
        ENABLE
        + """
addon_utils.disable(MODULE)
handlers = bpy.app.handlers
left = [name for name in dir(handlers) if isinstance(getattr(handlers, name), list)
        and any("mpm" in getattr(function, "__module__", "") for function in getattr(handlers, name))]
left += [cls.__name__ for base in (bpy.types.Operator, bpy.types.Panel, bpy.types.PropertyGroup, bpy.types.UIList)
         for cls in base.__subclasses__() if "mpm_addon" in cls.__module__ and getattr(cls, "is_registered", False)]
left += [name for name in ("Object", "Scene") if hasattr(getattr(bpy.types, name), "mpm")]
print("LEFT", json.dumps(left))
addon_utils.enable(MODULE, default_set=True)
addon_utils.disable(MODULE)
"""
    )
    assert json.loads(answer.partition("LEFT ")[2].splitlines()[0]) == []
