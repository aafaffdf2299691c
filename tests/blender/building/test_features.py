"""The demonstration and the feature scenes: each is built, and every object in it is simulated."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.core.stepping.support import refuse_unsupported

DEMO = Path(__file__).parents[3] / "demo"
SCENES = tomllib.loads((DEMO / "scenes.toml").read_text(encoding="utf-8"))

# scene -> emitters, colliders, forces, outflows
COUNTS = {
    "four_materials": (6, 3, 0, 0),
    "arm_in_snow": (1, 2, 0, 0),
    "ball_on_sand": (1, 1, 0, 0),
    "drum": (2, 1, 0, 0),
    "floating_cubes": (1, 4, 0, 0),
    "force_fields": (1, 1, 5, 0),
    "fountain": (1, 1, 0, 1),
    "hanging_jelly": (1, 1, 0, 0),
    "instances": (2, 5, 0, 0),
    "melting": (1, 1, 0, 0),
    "moving_bat": (1, 2, 0, 0),
    "painted_jelly": (1, 2, 0, 0),
    "slow_motion": (2, 0, 0, 0),
}

pytestmark = pytest.mark.blender


@pytest.fixture
def parts(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module that builds the demo's scenes."""
    monkeypatch.syspath_prepend(str(DEMO))
    yield importlib.import_module("parts")
    for name in ("parts", "extension", "four_materials", "features"):
        sys.modules.pop(name, None)


def test_every_scene_is_listed() -> None:
    assert sorted(COUNTS) == sorted(SCENES)


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_of_the_demo_is_whole(bpy: Any, parts: Any, name: str) -> None:
    stage = parts.built(name)
    scene = extract_scene(bpy.context)
    refuse_unsupported(scene)
    assert (len(scene.emitters), len(scene.colliders), len(scene.forces), len(scene.outflows)) == COUNTS[name]
    assert all(1 <= number <= SCENES[name]["frames"] for number in SCENES[name]["stills"] if name != "slow_motion")
    assert stage.scene.camera is not None
