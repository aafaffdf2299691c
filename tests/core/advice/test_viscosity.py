"""What damping and viscosity cost in small scenes is said, with the value that would cost less."""

import re
from dataclasses import replace

import pytest

from mpm_addon.core.advice.viscosity import viscous_materials
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.scene.material import Material
from mpm_addon.storage.presets import material_preset
from tests.core.scenes import LATTICE, box, scene


def falling(preset: str, size: float) -> Scene:
    """A cube of ten cells along its edge [m]."""
    material = Material("soft", material_preset(preset).law)
    return scene(Emitter("cube", box((0.0, 0.0, 0.0), size), "soft", **LATTICE), materials=(material,), grid_spacing=size / 10.0)


@pytest.mark.parametrize("preset", ["jelly", "gelatin", "rubber"])
def test_a_small_soft_body_is_said_to_take_long_and_what_helps_helps(preset: str) -> None:
    assert not list(viscous_materials(falling(preset, 2.0)))
    small = falling(preset, 0.02)
    (warning,) = viscous_materials(small)
    assert (warning.topic, warning.message.subject) == ("viscous_substeps", 'Material "soft"')
    (value,) = re.findall(r"set its `damping_time` to ([0-9.e-]+) s or less", str(warning.message.remedies[0]))
    material = small.materials["soft"]
    helped = replace(small, materials={"soft": replace(material, law=replace(material.law, damping_time=float(value)))})
    before, after = (estimate(each).substeps for each in (small, helped))
    assert after < 0.7 * before


def test_thick_fluids_are_told_by_their_viscosity() -> None:
    (warning,) = viscous_materials(falling("honey", 0.004))
    assert "`viscosity`" in str(warning.message.remedies[0])
    assert not list(viscous_materials(falling("honey", 0.2)))
    assert not list(viscous_materials(falling("water", 0.02)))
