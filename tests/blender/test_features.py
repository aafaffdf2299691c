"""The feature scenes of the gallery: each is built, and everything in it takes part."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.core.stepping.support import refuse_unsupported

DEMO = Path(__file__).parents[2] / "demo"
FEATURES = sorted(path.stem for path in (DEMO / "features").glob("*.py") if path.stem != "__init__")

# feature -> emitters, colliders, forces, outflows
PARTICIPANTS = {
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
    "pouring_bowl": (1, 3, 0, 0),
    "slow_motion": (2, 0, 0, 0),
}

pytestmark = pytest.mark.blender


@pytest.fixture
def stage(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module that feature scenes are built from."""
    monkeypatch.syspath_prepend(str(DEMO))
    yield importlib.import_module("stage")
    for name in ("stage", "scene", *(name for name in sys.modules if name.split(".")[0] == "features")):
        sys.modules.pop(name, None)


def test_every_feature_is_listed() -> None:
    assert list(PARTICIPANTS) == FEATURES


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_scene_is_whole(bpy: Any, stage: Any, name: str) -> None:
    feature = stage.feature(name)
    feature.build()
    scene = extract_scene(bpy.context)
    refuse_unsupported(scene)
    assert (len(scene.emitters), len(scene.colliders), len(scene.forces), len(scene.outflows)) == PARTICIPANTS[name]
    assert all(number >= 1 for number in feature.VIEW.stills)
