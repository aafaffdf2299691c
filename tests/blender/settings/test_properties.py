"""The properties match the core's declarations: names, defaults, limits, units, labels."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.settings import declarations
from mpm_addon.core.errors import SceneError
from mpm_addon.core.laws import LAWS
from mpm_addon.core.parameters import parameters_of
from mpm_addon.core.scene.description import Collider, Emitter
from mpm_addon.core.scene.settings import SIDES, Domain, Side, Solver
from mpm_addon.storage.presets import material_preset_names
from tests.blender.scenes import add_mesh

OWNERS = {**LAWS, "emitter": Emitter, "collider": Collider, "solver": Solver, "domain": Domain, "side": Side}
CASES = [(name, declared) for name, owner in OWNERS.items() for declared in parameters_of(owner)]
IDS = [f"{name}.{declared.name}" for name, declared in CASES]


def group_of(bpy: Any, name: str) -> Any:
    settings = add_mesh(bpy, "Cube").mpm
    scene = bpy.context.scene.mpm
    places = {"solver": scene.solver, "domain": scene.domain, "side": scene.domain.z_min}
    if name in LAWS:
        return getattr(settings.material, name)
    return places[name] if name in places else getattr(settings, name)


@pytest.mark.parametrize(("name", "declared"), CASES, ids=IDS)
def test_first_values_are_the_declared_ones(bpy: Any, name: str, declared: Any) -> None:
    value = getattr(group_of(bpy, name), declared.name)
    expected = declarations.first_value(declared)
    if declared.kind in ("number", "vector"):
        assert np.array(value) == pytest.approx(np.array(expected, dtype=np.float32))
    else:
        assert value == expected


@pytest.mark.blender
@pytest.mark.parametrize(("name", "declared"), CASES, ids=IDS)
def test_limits_units_and_words_are_the_declared_ones(bpy: Any, name: str, declared: Any) -> None:
    rna = group_of(bpy, name).bl_rna.properties[declared.name]
    assert rna.description.startswith(declared.help)
    assert rna.name == declarations.label_of(declared)
    if declared.choices:
        assert [item.identifier for item in rna.enum_items] == list(declared.choices)
        return
    assert rna.description == declared.help
    if declared.kind in ("flag", "text"):
        return
    for hard, soft, inclusive, exclusive, sign in (
        (rna.hard_min, rna.soft_min, declared.minimum, declared.above, 1.0),
        (rna.hard_max, rna.soft_max, declared.maximum, declared.below, -1.0),
    ):
        if inclusive is not None:
            assert hard == pytest.approx(inclusive)
        if exclusive is not None:
            # the limit itself can be entered, and is refused with the core's message; a slider never reaches it
            assert hard == pytest.approx(exclusive)
            assert sign * (soft - exclusive) > 0.0
    if declared.unit in declarations.BLENDER_UNITS:
        assert rna.unit == declarations.BLENDER_UNITS[declared.unit][0]
    elif declared.unit:
        assert rna.name.endswith(f"({declared.unit_words})")


@pytest.mark.parametrize(("name", "owner"), OWNERS.items(), ids=list(OWNERS))
def test_untouched_groups_give_the_declared_defaults(bpy: Any, name: str, owner: type) -> None:
    values = declarations.values_of(group_of(bpy, name), owner)
    for declared in parameters_of(owner):
        has_default = declared.default not in (None, dataclasses.MISSING)
        if has_default:
            assert values[declared.name] == declared.default, declared.name


def test_a_preset_survives_the_way_through_the_properties(bpy: Any) -> None:
    for name, law in LAWS.items():
        given = law(density=123.4)
        declarations.assign(group_of(bpy, name), given)
        assert law(**declarations.values_of(group_of(bpy, name), law)) != given  # another object, still at its defaults
        group = group_of(bpy, name)
        declarations.assign(group, given)
        assert law(**declarations.values_of(group, law)) == given


def test_optional_parameters_count_only_when_switched_on(bpy: Any) -> None:
    sand = group_of(bpy, "sand")
    assert declarations.values_of(sand, LAWS["sand"])["friction_angle"] is None
    sand.use_friction_angle = True
    sand.friction_angle = 40.0
    assert declarations.values_of(sand, LAWS["sand"])["friction_angle"] == 40.0


def test_lengths_are_scaled_into_meters_and_nothing_else(bpy: Any) -> None:
    emitter = group_of(bpy, "emitter")
    emitter.velocity = (1.0, 2.0, 3.0)
    emitter.angular_velocity = (90.0, 0.0, 0.0)
    values = declarations.values_of(emitter, Emitter, scale_length=0.01)
    assert values["velocity"] == pytest.approx((0.01, 0.02, 0.03))
    assert values["angular_velocity"] == (90.0, 0.0, 0.0)
    assert values["mass_scale"] == 1.0


def test_a_mass_is_scaled_as_blender_shows_it(bpy: Any) -> None:
    collider = group_of(bpy, "collider")
    collider.use_mass, collider.mass, collider.density = True, 8000.0, 700.0
    values = declarations.values_of(collider, Collider, scale_length=0.5)
    assert (values["mass"], values["density"]) == (1000.0, 700.0)


@pytest.mark.blender
def test_blender_shows_the_mass_that_is_simulated(bpy: Any) -> None:
    shown = bpy.utils.units.to_string("METRIC", "MASS", 8000.0 * 0.5**3, precision=3)
    assert shown == "1 t"


def test_single_precision_leaves_no_trace_in_the_numbers(bpy: Any) -> None:
    snow = group_of(bpy, "snow")
    snow.poisson_ratio = 0.35
    assert declarations.values_of(snow, LAWS["snow"])["poisson_ratio"] == 0.35


def test_an_exclusive_limit_is_refused_with_the_words_of_the_core(bpy: Any) -> None:
    group = group_of(bpy, "neo_hookean")
    group.poisson_ratio = 0.5
    law = LAWS["neo_hookean"](**declarations.values_of(group, LAWS["neo_hookean"]))
    with pytest.raises(SceneError, match=r"poisson_ratio 0\.5 is not allowed; use .* below 0\.5"):
        law.check('Material "Cube"')


@pytest.mark.blender
def test_values_beyond_the_limits_cannot_be_entered(bpy: Any) -> None:
    snow = group_of(bpy, "snow")
    snow.poisson_ratio = -1.0
    assert snow.poisson_ratio == 0.0


def test_every_material_preset_can_be_chosen(bpy: Any) -> None:
    material = add_mesh(bpy, "Cube").mpm.material
    for name in material_preset_names():
        material.preset = name
        assert material.preset == name
    with pytest.raises(TypeError):
        material.preset = "unobtainium"


def test_every_side_of_the_domain_has_its_settings(bpy: Any) -> None:
    domain = bpy.context.scene.mpm.domain
    for name in SIDES:
        getattr(domain, name).surface = "open"
        assert getattr(domain, name).surface == "open"


def test_the_numbers_of_enum_items_depend_on_the_word_alone() -> None:
    long = declarations.enum_items({"a": ("A", ""), "b": ("B", ""), "c": ("C", "")})
    assert declarations.enum_items({"b": ("Other", "words")})[0][-1] == long[1][-1]
    assert len({number for *_, number in long}) == 3


@pytest.mark.blender
def test_a_click_on_any_item_of_a_menu_chooses_it(bpy: Any) -> None:
    # Blender's buttons keep the number of an item in single precision
    groups = [cls.bl_rna for cls in bpy.types.PropertyGroup.__subclasses__() if cls.__name__.startswith("MPM_")]
    enums = [found for group in groups for found in group.properties if found.type == "ENUM"]
    assert len(enums) > 20
    for found in enums:
        numbers = [item.value for item in found.enum_items]
        assert [int(np.float32(number)) for number in numbers] == numbers, found.identifier
        assert len(set(numbers)) == len(numbers), found.identifier


def test_the_interface_does_not_load_numba() -> None:
    script = (
        "import sys, json; from tests import fakes; fakes.install(); import mpm_addon; mpm_addon.register();"
        "from mpm_addon.blender.reading import extract; from mpm_addon.blender.baking import session;"
        "print(json.dumps('numba' in sys.modules))"
    )
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(finished.stdout) is False
