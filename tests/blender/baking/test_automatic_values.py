"""Automatic values are shown before a bake, from the pre-flight check, and after it, from its status."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import cache_watch, preflight
from mpm_addon.blender.baking.automatic_values import automatic_values
from mpm_addon.blender.interface.panels import display_panels, quality_panels
from mpm_addon.blender.playback import particle_objects
from mpm_addon.storage.status import STATUS
from tests.blender.scenes import add_emitter, write_cache

blender = pytest.mark.blender
AUTOMATIC = {"grid_spacing": 0.0625, "bulk_moduli": {"Water": 550000.0}, "threads": 8}


@pytest.fixture
def cache(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of two frames with up to five particles."""
    monkeypatch.setattr(cache_watch, "REST", 0.0)
    monkeypatch.setattr(cache_watch, "SLICE", 60.0)
    folder = write_cache(tmp_path / "cache", {1: 3, 2: 5})
    bpy.context.scene.mpm.cache = str(folder)
    return folder


def write_status(cache: Path, automatic: Any) -> None:
    (cache / STATUS).write_text(json.dumps({"state": "done", "done": 2, "total": 2, "automatic": automatic}))


def test_nothing_is_known_before_a_check_and_a_bake(bpy: Any, draw: Any) -> None:
    add_emitter(bpy)
    assert automatic_values(bpy.context.scene) is None
    assert "Known after a pre-flight check" in " ".join(draw(quality_panels.MPM_PT_automatic).texts())


def test_what_the_last_bake_chose_is_shown(bpy: Any, cache: Path, draw: Any) -> None:
    write_status(cache, AUTOMATIC)
    found = automatic_values(bpy.context.scene)
    assert found is not None and found.source == "In the last bake"
    rows = dict(found.rows)
    assert re.fullmatch(r"Max [\d,]+ per frame", rows.pop("Substeps"))
    assert rows == {"Cell Size": "0.0625 m", "Particles": "5", "Bulk Modulus": "550 kPa, Water", "Threads": "8"}
    assert {"Cell Size", "0.0625 m", "Threads"} <= set(draw(quality_panels.MPM_PT_automatic).texts())


def test_a_check_of_the_scene_as_it_is_comes_first(bpy: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_status(cache, AUTOMATIC)
    report = {**AUTOMATIC, "grid_spacing": 0.03, "particles": 12345, "substeps": 400}
    monkeypatch.setattr(preflight, "kept_report", lambda _scene: (report, True))
    found = automatic_values(bpy.context.scene)
    assert found is not None and found.source == "Before the bake"
    assert found.rows[:3] == (("Cell Size", "0.03 m"), ("Particles", "12,345"), ("Substeps", "About 400"))
    # one of another state of the scene does not count
    monkeypatch.setattr(preflight, "kept_report", lambda _scene: (report, False))
    found = automatic_values(bpy.context.scene)
    assert found is not None and found.source == "In the last bake"


@pytest.mark.parametrize("told", [None, 7, {"threads": "many", "bulk_moduli": [1], "grid_spacing": True}, {"bulk_moduli": {"a\nb": 1e999}}])
def test_a_status_from_anyone_is_no_danger(bpy: Any, cache: Path, draw: Any, told: Any) -> None:
    write_status(cache, told)
    draw(quality_panels.MPM_PT_automatic)
    found = automatic_values(bpy.context.scene)
    assert found is None or {name for name, _ in found.rows} == {"Particles", "Substeps"}


@blender
def test_what_automatic_display_means_is_beside_it(bpy: Any, cache: Path, particles: Any, draw: Any) -> None:
    assert particle_objects.result_objects(bpy.context.scene)
    bpy.context.view_layer.objects.active = particles
    parts = particles.mpm.display.parts
    parts.clear()
    part = parts.add()
    part.law = "water"
    assert (part.viewport, part.render) == ("automatic", "automatic")
    assert "Points / Surface" in draw(display_panels.MPM_PT_scene_display).texts()
    part.viewport = part.render = "points"
    assert "Automatic" not in draw(display_panels.MPM_PT_scene_display).texts()
