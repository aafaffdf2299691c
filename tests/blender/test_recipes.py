"""All recipes of the manual can be baked, and two of them are."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.reading.extract import extract_scene

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "manual" / "recipes.md"
TITLES = re.findall(r"(?m)^## (.+)$", PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def recipes(bpy: Any) -> Any:
    """The module that makes the scenes. It imports bpy, so it is loaded once there is one."""
    spec = importlib.util.spec_from_file_location("recipes", ROOT / "demo" / "recipes.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def name_of(title: str) -> str:
    return title.lower().replace(" ", "_")


def test_the_page_has_a_section_for_each_recipe(recipes: Any) -> None:
    assert [name_of(title) for title in TITLES] == [recipe.__name__ for recipe in recipes.RECIPES]
    assert len(TITLES) == 20


@pytest.mark.blender
@pytest.mark.parametrize("title", TITLES)
def test_a_recipe_is_a_scene_that_can_be_baked(bpy: Any, recipes: Any, title: str) -> None:
    getattr(recipes, name_of(title))()
    scene = extract_scene(bpy.context)
    assert scene.emitters or all(each.fracture is not None for each in scene.colliders if each.dynamic)
    assert scene.colliders or title == "Round drop"


@pytest.mark.blender
@pytest.mark.slow
def test_the_saved_file_of_a_recipe_opens_and_bakes(bpy: Any, recipes: Any, tmp_path: Path) -> None:
    path = recipes.save(recipes.footprint_in_snow, tmp_path / "recipes")
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene = bpy.context.scene
    scene.mpm.use_frame_range, scene.mpm.frame_start, scene.mpm.frame_end = True, 1, 1
    scene.mpm.solver.grid_spacing *= 2.0
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    item = next(each for each in scene.objects if each.mpm.cache)
    assert len(item.data.vertices) > 1000
    assert item.mpm.cache.startswith("//"), "the frames are not beside the file"


@pytest.mark.blender
@pytest.mark.slow
def test_the_jelly_tears(bpy: Any, recipes: Any, tmp_path: Path) -> None:
    recipes.torn_jelly()
    settings = bpy.context.scene.mpm
    settings.solver.grid_spacing, settings.frame_end, settings.skin.while_baking = 0.04, 24, False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    item = next(each for each in bpy.context.scene.objects if each.mpm.cache)
    damages = []
    for frame in (1, 24):
        bpy.context.scene.frame_set(frame)
        damages.append(max(value.value for value in item.data.attributes["damage"].data))
    assert damages[0] == 0.0
    assert damages[1] > 0.2
