"""Materials of objects: choosing presets, copying their values into Custom, and files of user presets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.building import material_presets, placement
from mpm_addon.blender.host.runtime import runtime
from mpm_addon.blender.interface.operators import material_operators
from mpm_addon.blender.interface.panels import material_panel
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.blender.settings import properties, thumbnails
from mpm_addon.blender.settings.declarations import values_of
from mpm_addon.core.laws import LAWS
from mpm_addon.core.parameters import parameters_of
from mpm_addon.core.scene.thermal import Thermal
from mpm_addon.storage.presets import material_preset, read_material_preset
from mpm_addon.storage.presets import material_presets as built_in
from tests.blender.scenes import add_collider, add_emitter, error_of

PANELS = (
    material_panel.MPM_PT_material,
    material_panel.MPM_PT_material_values,
    material_panel.MPM_PT_material_presets,
    material_panel.MPM_PT_thermal,
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for user presets that does not exist yet."""
    path = tmp_path / "presets" / "materials"
    monkeypatch.setattr(material_presets, "folder", lambda: path)
    return path


def law_of(item: Any) -> Any:
    name = item.mpm.material.law
    return LAWS[name](**values_of(getattr(item.mpm.material, name), LAWS[name]))


@pytest.mark.parametrize("preset", built_in(), ids=lambda preset: preset.name)
def test_every_preset_can_be_edited_and_keeps_its_values_and_color(bpy: Any, preset: Any) -> None:
    item = add_emitter(bpy)
    assert bpy.ops.mpm.material_choose(name=preset.name) == {"FINISHED"}
    assert material_presets.chosen(item.mpm.material) == preset
    bpy.ops.mpm.material_customize()
    assert (item.mpm.material.source, item.mpm.material.origin) == ("custom", preset.label)
    assert law_of(item) == preset.law
    assert item.mpm.emitter.use_color
    assert tuple(item.mpm.emitter.color) == pytest.approx((*preset.color, 1.0))


def test_the_particles_of_a_preset_have_its_color(bpy: Any) -> None:
    add_emitter(bpy).mpm.material.preset = "dough"
    scene = extract_scene(bpy.context)
    assert scene.emitters[0].color == pytest.approx((*(material_preset("dough").color or ()), 1.0))


def test_the_heat_of_a_preset_holds_in_custom_until_it_is_edited(bpy: Any, draw: Any) -> None:
    wax = material_preset("wax")
    assert wax.thermal is not None
    item = add_emitter(bpy)
    item.mpm.emitter.use_temperature = True
    bpy.ops.mpm.material_choose(name="wax")
    assert f"{wax.thermal.melting_temperature:g} °C" in draw(material_panel.MPM_PT_thermal).texts()
    (chosen,) = extract_scene(bpy.context).materials.values()
    bpy.ops.mpm.material_customize()
    (material,) = extract_scene(bpy.context).materials.values()
    assert (material.thermal, material.curves, material.melts_into) == (chosen.thermal, chosen.curves, chosen.melts_into)
    assert chosen.thermal == wax.thermal and chosen.curves
    settings = item.mpm.material
    settings.use_thermal = True
    settings.thermal.melting_temperature = 70.0
    (material,) = extract_scene(bpy.context).materials.values()
    assert material.thermal is not None
    assert material.thermal.melting_temperature == 70.0
    assert material.thermal.latent_heat == pytest.approx(wax.thermal.latent_heat)
    bpy.ops.mpm.material_choose(name="wax")
    (material,) = extract_scene(bpy.context).materials.values()
    assert material.thermal == wax.thermal


def test_a_material_of_ones_own_takes_up_heat_if_it_says_so(bpy: Any) -> None:
    item = add_emitter(bpy)
    item.mpm.emitter.use_temperature = True
    settings = item.mpm.material
    settings.source, settings.law = "custom", "von_mises"
    assert extract_scene(bpy.context).materials["Cube (custom)"].thermal is None
    settings.use_thermal, settings.thermal.use_melting_temperature = True, True
    settings.thermal.melting_temperature, settings.thermal.latent_heat = 30.0, 5e4
    assert extract_scene(bpy.context).materials["Cube (custom)"].thermal == Thermal(melting_temperature=30.0, latent_heat=5e4)


def test_a_user_preset_keeps_how_it_takes_up_heat(bpy: Any, folder: Path) -> None:
    item = add_emitter(bpy)
    bpy.ops.mpm.material_choose(name="wax")
    bpy.ops.mpm.material_customize()
    item.mpm.material.use_thermal, item.mpm.material.thermal.melting_temperature = True, 70.0
    bpy.ops.mpm.material_preset_add(name="Hard Wax", note="")
    kept, wax = read_material_preset(folder / "hard_wax.toml"), material_preset("wax")
    assert kept.thermal is not None and kept.thermal.melting_temperature == 70.0
    assert (kept.curves, kept.melts_into) == (wax.curves, wax.melts_into)
    other = add_emitter(bpy, "Other")
    other.mpm.emitter.use_temperature = True
    bpy.ops.mpm.material_choose(name="hard_wax", is_own=True)
    assert extract_scene(bpy.context).materials["Other (custom)"].thermal == kept.thermal
    bpy.ops.mpm.material_choose(name="water")
    bpy.ops.mpm.material_customize()
    assert not other.mpm.material.use_thermal


def test_a_saved_material_is_listed_loaded_and_deleted(bpy: Any, draw: Any, folder: Path) -> None:
    item = add_emitter(bpy)
    bpy.ops.mpm.material_choose(name="honey")
    bpy.ops.mpm.material_customize()
    item.mpm.material.water.viscosity = 30.0
    bpy.ops.mpm.material_preset_add(name="Old honey", note="From the cellar")
    assert [path.name for path in folder.iterdir()] == ["old_honey.toml"]
    kept = read_material_preset(folder / "old_honey.toml")
    assert (kept.label, kept.description, kept.law.viscosity) == ("Old honey", "From the cellar", 30.0)
    assert kept.color == pytest.approx(material_preset("honey").color, abs=1e-4)

    other = add_emitter(bpy, "Other")
    assert "Old honey" in draw(material_panel.MPM_MT_materials).texts()
    assert "Old honey" in draw(material_panel.MPM_PT_material_presets).texts()
    bpy.ops.mpm.material_choose(name="old_honey", is_own=True)
    assert law_of(other) == law_of(item) == kept.law
    assert tuple(other.mpm.emitter.color) == pytest.approx(tuple(item.mpm.emitter.color), abs=1e-4)
    bpy.ops.mpm.material_preset_remove(name="old_honey")
    assert list(folder.iterdir()) == []
    assert law_of(other) == kept.law
    assert error_of(lambda: bpy.ops.mpm.material_choose(name="old_honey", is_own=True)).startswith('Preset "old_honey" is not in')


def test_a_saved_material_is_written_into_what_is_baked(bpy: Any, folder: Path) -> None:
    item = add_emitter(bpy)
    bpy.ops.mpm.material_preset_add(name="Mine")
    bpy.ops.mpm.material_choose(name="mine", is_own=True)
    (folder / "mine.toml").unlink()
    scene = extract_scene(bpy.context)
    assert [material.law for material in scene.materials.values()] == [law_of(item)]


def test_a_preset_is_overwritten_only_when_asked(bpy: Any, draw: Any, folder: Path) -> None:
    item = add_emitter(bpy)
    bpy.ops.mpm.material_preset_add(name="Mine")
    item.mpm.material.preset = "snow"
    refused = error_of(lambda: bpy.ops.mpm.material_preset_add(name="mine "))
    assert refused == 'Preset "mine" already exists; choose Replace, or another name.'
    assert read_material_preset(folder / "mine.toml").law.name == "water"
    bpy.ops.mpm.material_preset_add(name="mine", replace=True)
    assert read_material_preset(folder / "mine.toml").law.name == "snow"


def test_the_dialog_asks_before_it_replaces(bpy: Any, draw: Any) -> None:
    add_emitter(bpy)
    bpy.ops.mpm.material_preset_add(name="Mine")
    members = {"draw": material_operators.MPM_OT_material_preset_add.draw, "bl_rna": bpy.ops.mpm.material_preset_add.get_rna_type()}
    shown = {}
    for name in ("Mine", "Other"):
        dialog = type("Dialog", (), {**members, "name": name, "note": "", "replace": False})
        shown[name] = "A user preset with this name already exists" in draw(dialog).texts()
    assert shown == {"Mine": True, "Other": False}


@pytest.mark.parametrize("name", ["", "...", "/", "   "])
def test_a_name_without_letters_is_refused(bpy: Any, name: str) -> None:
    add_emitter(bpy)
    assert "no letter" in error_of(lambda: bpy.ops.mpm.material_preset_add(name=name))


def test_a_folder_that_cannot_be_written_is_one_line(bpy: Any, folder: Path) -> None:
    add_emitter(bpy)
    folder.parent.write_text("a file")
    refused = error_of(lambda: bpy.ops.mpm.material_preset_add(name="Mine"))
    assert "cannot be written" in refused
    assert "\n" not in refused


def test_a_file_that_is_no_preset_is_shown_and_can_be_deleted(bpy: Any, draw: Any, folder: Path) -> None:
    add_emitter(bpy)
    folder.mkdir(parents=True)
    (folder / "broken.toml").write_text("law = 3")
    assert "broken cannot be read" in draw(material_panel.MPM_PT_material_presets).texts()
    assert "mpm.material_preset_remove" in {call.arguments["operator"] for call in draw(PANELS[2]).find("operator")}
    assert "broken" not in " ".join(draw(material_panel.MPM_MT_materials).texts())
    assert "schema is missing" in error_of(lambda: bpy.ops.mpm.material_choose(name="broken", is_own=True))


@pytest.mark.parametrize("name", ["../escape", "/etc/passwd", "a/b", ""])
def test_no_name_leaves_the_folder(bpy: Any, folder: Path, name: str) -> None:
    add_emitter(bpy)
    folder.mkdir(parents=True)
    (folder.parent / "escape.toml").write_text("law = 3")
    assert "choose a listed one" in error_of(lambda: bpy.ops.mpm.material_choose(name=name, is_own=True))
    assert "choose a listed one" in error_of(lambda: bpy.ops.mpm.material_preset_remove(name=name))
    assert (folder.parent / "escape.toml").exists()


def test_only_an_emitter_has_a_material(bpy: Any) -> None:
    add_collider(bpy)
    for operator in (bpy.ops.mpm.material_choose, bpy.ops.mpm.material_customize, bpy.ops.mpm.material_preset_add):
        assert not operator.poll()
    item = add_emitter(bpy)
    assert bpy.ops.mpm.material_customize.poll()
    item.mpm.material.source = "custom"
    assert not bpy.ops.mpm.material_customize.poll()


def test_the_panel_tells_what_a_preset_is(bpy: Any, draw: Any) -> None:
    item = add_emitter(bpy)
    item.mpm.material.preset = "honey"
    preset = material_preset("honey")
    words = " ".join(draw(material_panel.MPM_PT_material).texts())
    assert preset.description in words
    texts = draw(material_panel.MPM_PT_material_values).texts()
    assert {"Density", "1420 kg/m³", "Stiffness", "Automatic", "Viscosity", "19 Pa·s"} <= set(texts)
    assert "Bulk Modulus" not in texts
    assert "White 1978" in " ".join(texts)
    item.mpm.material.source = "custom"
    assert draw(material_panel.MPM_PT_material_values) is None


def test_all_values_of_all_presets_can_be_shown() -> None:
    for preset in built_in():
        for declared in parameters_of(type(preset.law)):
            value = getattr(preset.law, declared.name)
            if value is not None:
                assert material_panel.shown(declared, value).strip()


def test_the_chooser_has_every_preset_under_its_family(bpy: Any, draw: Any) -> None:
    add_emitter(bpy)
    layout = draw(material_panel.MPM_MT_materials)
    assert {"Fluids", "Pastes", "Elastic", "Plastic", "Granular", "Snow"} <= set(layout.texts())
    names = [call.arguments["settings"]["name"] for call in layout.find("operator", "mpm.material_choose")]
    assert names == [preset.name for preset in built_in()]


def test_a_preset_that_is_unknown_here_says_so(bpy: Any, draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    add_emitter(bpy)
    monkeypatch.setattr(material_presets, "chosen", lambda _material: None)
    assert "choose another one" in " ".join(draw(material_panel.MPM_PT_material).texts())
    assert draw(material_panel.MPM_PT_material_values) is None
    assert not bpy.ops.mpm.material_customize.poll()


def test_pictures_are_shown_where_there_are_icons(bpy: Any, draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    add_emitter(bpy)
    assert draw(material_panel.MPM_PT_material).find("template_icon_view") == []
    monkeypatch.setitem(runtime.of(thumbnails.Thumbnails).icons, "water", 1)
    assert len(draw(material_panel.MPM_PT_material).find("template_icon_view")) == 1


def test_a_picture_that_is_missing_or_broken_has_no_icon(bpy: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"no picture")
    collection = bpy.utils.previews.new()
    try:
        assert thumbnails.icons_of(collection, [("missing", tmp_path / "missing.png"), ("broken", tmp_path / "broken.png")]) == {}
    finally:
        bpy.utils.previews.remove(collection)


def test_the_stored_numbers_of_presets_do_not_change(bpy: Any) -> None:
    """They are stored in .blend files: the last 24 bits of the CRC-32 of the word, independent of order and pictures."""
    numbers = {item[0]: item[4] for item in properties.preset_property().keywords["items"]}
    assert {name: numbers[name] for name in ("water", "honey", "powder_snow")} == {
        "water": 3347674,
        "honey": 4168852,
        "powder_snow": 13259138,
    }
    assert len(set(numbers.values())) == len(numbers)


def test_another_preset_does_not_keep_the_previous_color(bpy: Any) -> None:
    item = add_emitter(bpy)
    bpy.ops.mpm.material_choose(name="honey")
    bpy.ops.mpm.material_customize()
    bpy.ops.mpm.material_preset_add(name="Mine")
    bpy.ops.mpm.material_choose(name="water")
    assert not item.mpm.emitter.use_color
    bpy.ops.mpm.material_choose(name="mine", is_own=True)
    assert item.mpm.emitter.use_color
    placement.make_emitter(item, "snow")
    assert (item.mpm.emitter.use_color, item.mpm.material.preset) == (False, "snow")


def test_a_chosen_color_stays_with_another_preset(bpy: Any) -> None:
    item = add_emitter(bpy)
    bpy.ops.mpm.material_choose(name="honey")
    bpy.ops.mpm.material_customize()
    item.mpm.emitter.color = (0.1, 0.2, 0.3, 1.0)
    bpy.ops.mpm.material_choose(name="water")
    assert item.mpm.emitter.use_color
