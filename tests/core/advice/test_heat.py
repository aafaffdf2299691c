"""Warnings about materials that keep their temperature."""

from dataclasses import replace

import pytest

from mpm_addon.core.advice.preflight import scene_warnings
from mpm_addon.core.geometry.shapes import Box
from mpm_addon.core.messages import Topic
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.scene.material import Material
from mpm_addon.core.scene.settings import Solver
from mpm_addon.storage.presets import material_preset


def scene_of(*presets: str, temperature: float | None) -> Scene:
    """A scene with an emitter of each preset."""
    materials = {name: Material(name, (found := material_preset(name)).law, thermal=found.thermal) for name in presets}
    shape = Box(center=(0.0, 0.0, 0.5), size=(0.5, 0.5, 0.5))
    emitters = tuple(Emitter(f"{name} {number}", shape, name) for number, name in enumerate(presets))
    emitters = (replace(emitters[0], temperature=temperature), *emitters[1:])
    return Scene("test", Solver(grid_spacing=0.05), materials, emitters)


def named(scene: Scene) -> list[str]:
    return [warning.message.subject for warning in scene_warnings(scene) if warning.topic is Topic.NO_HEAT]


@pytest.mark.parametrize(("temperature", "expected"), [(80.0, ['Material "jelly"', 'Material "snow"']), (None, [])])
def test_each_material_that_keeps_its_temperature_is_named_once(temperature: float | None, expected: list[str]) -> None:
    assert named(scene_of("jelly", "water", "jelly", "snow", temperature=temperature)) == expected


def test_a_scene_whose_materials_all_take_up_heat_is_not_warned_about() -> None:
    assert named(scene_of("water", "wax", temperature=80.0)) == []
