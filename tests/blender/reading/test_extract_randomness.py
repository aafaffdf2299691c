"""Randomness of emitters in Blender: that of the preset, the emitter's own, and what a custom material and a user preset keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.building import material_presets
from mpm_addon.blender.interface.panels.emission_panels import MPM_PT_randomness
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.blender.reading.fingerprint import fingerprint
from mpm_addon.core.scene.randomness import UNIFORM, Randomness
from mpm_addon.storage import read_scene, write_scene
from mpm_addon.storage.presets import material_preset, read_material_preset
from tests.blender.scenes import add_emitter


@pytest.fixture
def item(bpy: Any) -> Any:
    made = add_emitter(bpy)
    made.mpm.material.preset = "snow"
    return made


def extracted(bpy: Any) -> Randomness:
    (emitter,) = extract_scene(bpy.context).emitters
    return emitter.randomness


def set_own(item: Any, **values: Any) -> None:
    item.mpm.emitter.use_randomness = True
    for name, value in values.items():
        setattr(item.mpm.emitter.randomness, name, value)


def test_a_preset_brings_its_randomness_and_the_emitter_overrides_it(bpy: Any, item: Any, tmp_path: Path) -> None:
    assert extracted(bpy) == material_preset("snow").randomness != UNIFORM
    before = fingerprint(bpy.context.scene)
    item.mpm.emitter.randomness.seed = 3
    assert fingerprint(bpy.context.scene) == before
    set_own(item, strength=0.5, size=0.2)
    assert fingerprint(bpy.context.scene) != before
    bpy.context.scene.unit_settings.scale_length = 0.1
    scene = extract_scene(bpy.context)
    assert scene.emitters[0].randomness == Randomness(strength=0.5, size=pytest.approx(0.02), seed=3)
    assert read_scene(write_scene(scene, tmp_path)).emitters[0].randomness == scene.emitters[0].randomness


def test_what_the_law_does_not_have_is_neither_shown_nor_read(bpy: Any, item: Any, draw: Any) -> None:
    set_own(item, strength=0.5, friction=0.7)
    assert extracted(bpy).amounts == {"strength": 0.5}
    shown = {call.arguments["property"] for call in draw(MPM_PT_randomness).find("prop")}
    assert shown == {"use_randomness", "strength", "stiffness", "size", "seed"}
    item.mpm.emitter.use_randomness = False
    assert {call.arguments["property"] for call in draw(MPM_PT_randomness).find("prop")} == {"use_randomness"}
    assert str(material_preset("snow").randomness.strength) in draw(MPM_PT_randomness).texts()


def test_customizing_a_preset_keeps_its_randomness_and_choosing_another_removes_it(bpy: Any, item: Any) -> None:
    bpy.ops.mpm.material_customize()
    assert extracted(bpy) == material_preset("snow").randomness
    bpy.ops.mpm.material_choose(name="clay")
    assert not item.mpm.emitter.use_randomness and extracted(bpy) == UNIFORM
    set_own(item, strength=0.25)
    bpy.ops.mpm.material_customize()
    bpy.ops.mpm.material_choose(name="dough")
    assert extracted(bpy).strength == 0.25


def test_a_user_preset_stores_randomness(bpy: Any, item: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(material_presets, "folder", lambda: tmp_path)
    set_own(item, strength=0.5, size=0.2)
    bpy.ops.mpm.material_preset_add(name="Crust")
    kept = read_material_preset(tmp_path / "crust.toml")
    assert kept.randomness == Randomness(strength=0.5, size=pytest.approx(0.2))
    item.mpm.emitter.use_randomness = False
    bpy.ops.mpm.material_choose(name="crust", is_own=True)
    assert extracted(bpy) == kept.randomness


def test_the_size_of_a_presets_randomness_is_in_meters_in_any_unit(
    bpy: Any, item: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(material_presets, "folder", lambda: tmp_path)
    bpy.context.scene.unit_settings.scale_length = 0.3048
    bpy.ops.mpm.material_customize()
    assert extracted(bpy).size == pytest.approx(material_preset("snow").randomness.size)
    bpy.ops.mpm.material_preset_add(name="Crust")
    assert read_material_preset(tmp_path / "crust.toml").randomness == material_preset("snow").randomness
    bpy.ops.mpm.material_choose(name="clay")
    assert not item.mpm.emitter.use_randomness


def test_what_the_law_does_not_have_is_not_saved(bpy: Any, item: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(material_presets, "folder", lambda: tmp_path)
    set_own(item, strength=0.5, friction=0.7)
    bpy.ops.mpm.material_preset_add(name="Crust")
    assert read_material_preset(tmp_path / "crust.toml").randomness.amounts == {"strength": 0.5}
