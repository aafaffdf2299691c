"""Heat in scene files and presets: what is read, what is written, and that nothing changes where nothing has a temperature."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.painting import Painting
from mpm_addon.storage import read_scene, scene_hash, write_scene
from mpm_addon.storage.presets import material_preset, material_preset_names
from mpm_addon.storage.user_presets import read_material_preset, save_preset

SCENE = """
schema = 1
[time]
frame_end = 3
[solver]
grid_spacing = 0.1
{solver}
[materials.wax]
{material}
[[emitters]]
material = "wax"
shape = {{ kind = "box", size = [1.0, 1.0, 1.0] }}
{emitter}
[[forces]]
name = "Torch"
kind = "point"
strength = 1.0
{force}
"""


def scene_file(folder: Path, material: str = 'preset = "wax"', *, solver: str = "", emitter: str = "", force: str = "") -> Path:
    path = folder / "scene.toml"
    path.write_text(SCENE.format(material=material, solver=solver, emitter=emitter, force=force))
    return path


def test_a_scene_with_heat_is_written_as_it_was_read(tmp_path: Path) -> None:
    own = 'preset = "wax"\n[materials.wax.thermal]\nconductivity = 3.0\n[materials.wax.curves]\nviscosity = [[40, 1e3], [60, 1]]'
    heating = "heating = 100.0\ntemperature = 200.0"
    scene = read_scene(
        scene_file(tmp_path, own, solver="ambient_temperature = 20\nheat_speed = 5", emitter="temperature = 30", force=heating)
    )
    wax = scene.materials["wax"]
    preset = material_preset("wax")
    assert scene.is_heated and wax.thermal is not None and preset.thermal is not None
    assert wax.thermal.conductivity == 3.0 and wax.thermal.latent_heat == preset.thermal.latent_heat
    assert (
        wax.curves == {"yield_stress": preset.curves["yield_stress"], "viscosity": ((40.0, 1e3), (60.0, 1.0))}
        or wax.curves.keys() == preset.curves.keys()
    )
    assert wax.curves["viscosity"] == ((40.0, 1e3), (60.0, 1.0)) and len(wax.curves["yield_stress"]) == 4
    assert read_scene(write_scene(scene, tmp_path / "written")) == scene


def test_thermal_values_and_curves_do_not_count_where_nothing_has_a_temperature(tmp_path: Path) -> None:
    plain = read_scene(scene_file(tmp_path))
    assert not plain.is_heated and plain.materials["wax"].thermal is None
    own = 'preset = "wax"\n[materials.wax.thermal]\nconductivity = 3.0'
    assert scene_hash(read_scene(scene_file(tmp_path, own))) == scene_hash(plain)
    assert scene_hash(read_scene(scene_file(tmp_path, emitter="temperature = 20"))) != scene_hash(plain)


def test_a_parameter_that_is_given_has_no_curve_of_the_preset(tmp_path: Path) -> None:
    scene = read_scene(scene_file(tmp_path, 'preset = "wax"\nviscosity = 7.0', emitter="temperature = 20"))
    assert set(scene.materials["wax"].curves) == {"yield_stress"}


@pytest.mark.parametrize(
    ("material", "words"),
    [
        (
            'preset = "wax"\n[materials.wax.thermal]\nconductivty = 3.0',
            r'Material "wax", thermal: unknown key "conductivty".*"conductivity"',
        ),
        ('preset = "wax"\n[materials.wax.thermal]\nheat_capacity = 0.0', r"heat_capacity 0 J/\(kg K\) is not allowed"),
        ('preset = "wax"\n[materials.wax.curves]\nviscosity = [[40, 1e3]]', "at least two pairs"),
        ('preset = "wax"\n[materials.wax.curves]\nviscosity = [[40, 1e3], [60, -1]]', "viscosity -1 Pa s"),
        ('preset = "wax"\ncurves = 3', "3 is not a table"),
    ],
)
def test_wrong_values_are_refused_in_one_line(tmp_path: Path, material: str, words: str) -> None:
    with pytest.raises(SceneError, match=words):
        read_scene(scene_file(tmp_path, material, emitter="temperature = 20"))


@pytest.mark.parametrize("name", ["wax", "butter", "chocolate", "melting_ice", "lava"])
def test_presets_that_melt_run_when_warm_and_stand_when_cold(name: str) -> None:
    preset = material_preset(name)
    assert preset.thermal is not None and preset.thermal.melting_temperature is not None and preset.thermal.latent_heat > 0.0
    for points in preset.curves.values():
        values = [value for _, value in points]
        assert values == sorted(values, reverse=True) and values[0] > 100.0 * values[-1]
        # the curves end where it has melted
        assert points[-1][0] <= preset.thermal.melting_temperature + preset.thermal.melting_range


def test_a_saved_preset_keeps_its_heat(tmp_path: Path) -> None:
    preset = material_preset("chocolate")
    saved = read_material_preset(save_preset(tmp_path, preset))
    assert (saved.thermal, saved.curves) == (preset.thermal, preset.curves)
    warm = {name: preset.thermal for name in material_preset_names() if (preset := material_preset(name)).thermal is not None}
    assert sum(thermal.melting_temperature is not None for thermal in warm.values()) == 5
    assert set(warm) - {"wax", "butter", "chocolate", "melting_ice", "lava"} == {"water"}


def test_a_painted_temperature_is_carried_without_heat_and_refused_with_it(tmp_path: Path) -> None:
    scene = read_scene(scene_file(tmp_path))
    cube = SHAPES["points"](position=np.zeros((1, 3)))
    painted = replace(scene.emitters[0], shape=cube, painting=Painting({"temperature": np.ones(1)}))
    assert replace(scene, emitters=(painted,)).carried == {"temperature": 1}
    with pytest.raises(SceneError, match='"temperature" is painted'):
        replace(scene, emitters=(replace(painted, temperature=20.0),))


def test_the_fluid_that_a_material_melts_into_is_that_of_a_preset_or_of_a_table(tmp_path: Path) -> None:
    warm = "ambient_temperature = 20"
    water = material_preset("water").law
    ice = read_scene(scene_file(tmp_path, 'preset = "melting_ice"', solver=warm))
    assert ice.materials["wax"].melts_into == water
    own = 'preset = "wax"\nmelts_into = { preset = "water", viscosity = 0.05 }'
    wax = read_scene(scene_file(tmp_path, own, solver=warm))
    assert wax.materials["wax"].melts_into == replace(water, viscosity=0.05)
    hashes = set()
    for scene in (ice, wax, read_scene(scene_file(tmp_path, solver=warm))):
        assert read_scene(write_scene(scene, tmp_path / scene_hash(scene)[:8])) == scene
        hashes.add(scene_hash(scene))
    assert len(hashes) == 3
    path = save_preset(tmp_path, replace(material_preset("melting_ice"), label="My Ice"), replace=False)
    assert read_material_preset(path).melts_into == water
    for value, message in (
        ("3", "3 is not a fluid"),
        ('"watr"', "unknown .did you mean"),
        ('"snow"', "which is not a fluid"),
        ('{ preset = "water", law = "water" }', "is not a fluid"),
        ('{ law = "water", viscosty = 1.0 }', "viscosty"),
    ):
        with pytest.raises(SceneError, match=message):
            read_scene(scene_file(tmp_path, f'preset = "wax"\nmelts_into = {value}', solver=warm))
