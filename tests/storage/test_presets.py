"""Presets: each is complete, states its source, and is in a folder that the installed package also finds."""

import dataclasses
import math
from pathlib import Path

import pytest

from mpm_addon.core.errors import PresetError
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.forecast.stiffness import settled_law
from mpm_addon.storage import installation, load_material_preset, presets_folder, read_scene, scene_hash
from mpm_addon.storage.presets import material_preset, material_preset_names, read_material_preset, scene_preset_folders
from mpm_addon.storage.scene_file import read_scene_words


def test_the_named_materials_are_there() -> None:
    named = "water honey jelly rubber powder_snow wet_snow icy_snow dry_sand wet_sand mud clay dough cream lava foam gelatin metal"
    assert set(named.split()) <= set(material_preset_names())


@pytest.mark.parametrize("name", material_preset_names())
def test_a_material_says_what_it_is_and_where_its_numbers_come_from(name: str) -> None:
    preset = material_preset(name)
    assert preset.label
    assert len(preset.description) > 30
    assert len(preset.source) > 30
    assert preset.law == load_material_preset(name)
    assert 50 <= preset.law.density <= 20000


def test_snow_presets_have_randomness_and_published_scenes_have_none() -> None:
    snow = [material_preset(name) for name in material_preset_names() if material_preset(name).law.name == "snow"]
    assert len(snow) == 4 and all(preset.randomness.strength >= 1.0 for preset in snow)
    published = [path for name, path in scene_preset_folders().items() if name.startswith(("blazevic", "garcia", "nekic"))]
    emitters = [emitter for folder in published for emitter in read_scene(folder).emitters]
    assert len(emitters) > 20 and not any(emitter.randomness.amounts for emitter in emitters)


def test_randomness_of_a_factor_that_the_law_does_not_have_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "snow.toml"
    text = (presets_folder() / "materials" / "snow.toml").read_text(encoding="utf-8")
    file.write_text(text.replace("strength = 1.2", "friction = 1.2"), encoding="utf-8")
    with pytest.raises(PresetError, match=r'^Material preset "snow": its randomness of friction is 1\.2, but the law "snow"'):
        read_material_preset(file)


def test_snow_presets_differ_as_their_names_say() -> None:
    powder, wet, icy = (load_material_preset(f"{kind}_snow") for kind in ("powder", "wet", "icy"))
    assert powder.critical_stretch < wet.critical_stretch  # type: ignore[attr-defined]
    assert powder.density < wet.density
    assert icy.hardening > wet.hardening  # type: ignore[attr-defined]


# scenes whose length and stiffness are those of their source
REBUILT = ("Blazevic 2022", "Martin Garcia 2020", "Nekic 2011")
OWN = [name for name, folder in scene_preset_folders().items() if not read_scene_words(folder).source.startswith(REBUILT)]


@pytest.mark.parametrize("name", scene_preset_folders())
def test_a_scene_preset_is_a_complete_package(name: str) -> None:
    folder = scene_preset_folders()[name]
    words = read_scene_words(folder)
    assert len(words.description) > 25
    assert len(words.source) > 20
    scene = read_scene(folder)
    assert scene.name == name
    # affordable as it stands; what is published may cost more
    assert (400 if scene.emitters else 0) <= estimate(scene).particles <= 100_000
    assert len(scene.time.frames) <= (61 if name in OWN else 450)
    for variant, description in words.variants.items():
        changed = read_scene(folder, variant)
        assert len(description) > 3
        assert scene_hash(dataclasses.replace(changed, name=name)) != scene_hash(scene), variant


def test_every_file_of_a_scene_preset_is_used() -> None:
    for folder in scene_preset_folders().values():
        text = (folder / "scene.toml").read_text(encoding="utf-8")
        for path in folder.iterdir():
            assert path.name == "scene.toml" or f'= "{path.name}"' in text


def test_the_page_of_scenes_lists_every_scene_and_variant() -> None:
    page = (presets_folder().parent / "docs" / "scenes.md").read_text(encoding="utf-8")
    for name, folder in scene_preset_folders().items():
        assert f"`{name}`" in page
        if name != "material_drop":
            # what `published` is in each family, the page says once
            for variant in set(read_scene_words(folder).variants) - {"published"}:
                assert any(f"`{name}`" in line and f"`{variant}`" in line for line in page.splitlines()), (name, variant)


@pytest.mark.parametrize("name", OWN)
def test_waves_are_ten_times_faster_than_the_matter_in_a_water_preset(name: str) -> None:
    """c = sqrt(K / rho) >= 10 sqrt(2 g H), H the highest start above the floor at z = 0 (weakly compressible flow).

    Published scenes have the stiffness of their source.
    """
    scene = read_scene(scene_preset_folders()[name])
    for emitter in scene.emitters:
        law = settled_law(scene, emitter.material)
        if law.name == "water":
            fall = 2.0 * abs(scene.solver.gravity[2]) * float(emitter.shape.bounds()[1, 2])
            stiffness = law.bulk_modulus / (law.density * emitter.mass_scale)  # type: ignore[attr-defined]
            assert math.sqrt(stiffness) >= 10.0 * math.sqrt(fall) * 0.999


def test_presets_inside_the_package_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "extension" / "mpm_addon"
    monkeypatch.setattr(installation, "PACKAGE", package)
    assert presets_folder() == tmp_path / "extension" / "presets"
    (package / "presets").mkdir(parents=True)
    assert presets_folder() == package / "presets"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("schema = 1", "schema = 9"), "does not support schema 9"),
        (('law = "water"', 'law = "watr"'), 'law "watr" is unknown (did you mean "water"?)'),
        (("viscosity", "viscosty"), 'unknown key "viscosty" (did you mean "viscosity"?)'),
        (("density = 1000.0", "density = -1"), "density -1 kg/m^3 is not allowed"),
        (("label", "lable"), 'unknown key "lable" (did you mean "label"?)'),
        (('description = "', 'source = "" #'), "is not valid TOML"),
        (("[0.04, 0.42, 0.66]", "[0.04, 0.42]"), "color [0.04, 0.42] is not allowed; use red, green and blue from 0 to 1."),
        (("[parameters]", "[[finish]]\n[parameters]"), 'Material preset "water", finish: '),
        (("[parameters]", "[finish]\nroughness = 2\n[parameters]"), '"water", finish: roughness 2 is not allowed; use a finite number at'),
        (("[parameters]", "[finish]\nrougness = 0.5\n[parameters]"), 'finish: unknown key "rougness" (did you mean "roughness"?)'),
        (
            ("[parameters]", '[finish]\nmode = "clouds"\n[parameters]'),
            'mode "clouds" is not allowed; use one of points, spheres, grains, surface.',
        ),
    ],
)
def test_a_malformed_preset_is_a_preset_error(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    text = (presets_folder() / "materials" / "water.toml").read_text()
    (tmp_path / "water.toml").write_text(text.replace(*change))
    with pytest.raises(PresetError) as caught:
        read_material_preset(tmp_path / "water.toml")
    assert expected in str(caught.value)
