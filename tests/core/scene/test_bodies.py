"""Which emitters form one body of material, and which only touch."""

import pytest

from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.bodies import body_of
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.stepping.material_instances import fields_of, instances_of
from tests.core.scenes import box, material, scene

MATERIALS = tuple(
    material(name)
    for name in (
        "water",
        "stress_free",
        "corotated",
        "neo_hookean",
        "damped_elastic",
        "snow",
        "von_mises",
        "sand",
        "viscoplastic",
    )
)


def bodies_of(*emitters: tuple[str, str]) -> tuple[Scene, list[str | int]]:
    """A scene with an emitter for each material and body name, and what `body_of` says of each."""
    made = [Emitter(f"e{n}", box((0.4 * n, 0.0, 0.0), 0.3), law, body=body) for n, (law, body) in enumerate(emitters)]
    described = scene(*made, materials=MATERIALS)
    return described, [body_of(described, index) for index in range(len(made))]


@pytest.mark.parametrize("law", ["corotated", "snow", "von_mises", "neo_hookean", "damped_elastic"])
def test_an_emitter_whose_material_holds_together_is_a_body_of_its_own(law: str) -> None:
    """Even of one material, and beside a fluid."""
    described, bodies = bodies_of((law, ""), ("water", ""), (law, ""), ("stress_free", ""))
    assert len(set(bodies)) == 3
    assert len(fields_of(instances_of(described))) == 3


def test_liquids_grains_and_pastes_mix_unless_named() -> None:
    described, bodies = bodies_of(("water", ""), ("sand", ""), ("viscoplastic", ""), ("stress_free", ""))
    assert len(set(bodies)) == 1
    assert len(fields_of(instances_of(described))) == 1


def test_what_keeps_its_shape_does_not_mix() -> None:
    """Wax and ice, which have the law of pastes, in water: with its velocity, they would stick to it instead of floating."""
    wax, paste = (Material(name, LAWS["viscoplastic"](yield_stress=stress)) for name, stress in (("wax", 4e4), ("paste", 500.0)))
    emitters = [Emitter(name, box((0.4 * n, 0.0, 0.0), 0.3), name) for n, name in enumerate(("wax", "paste", "water", "wax"))]
    described = scene(*emitters, materials=(wax, paste, material("water")))
    bodies = [body_of(described, index) for index in range(4)]
    assert bodies[1] == bodies[2]
    assert len(set(bodies)) == 3


def test_no_name_is_that_of_an_emitter_without_one() -> None:
    _, bodies = bodies_of(("corotated", ""), ("corotated", "0"), ("corotated", "e0"))
    assert len(set(bodies)) == 3


@pytest.mark.parametrize("laws", [("corotated", "corotated"), ("corotated", "sand"), ("corotated", "water"), ("water", "water")])
def test_the_same_name_joins_whatever_has_it(laws: tuple[str, str]) -> None:
    described, bodies = bodies_of((laws[0], "beam"), ("corotated", ""), (laws[1], "beam"), ("corotated", "other"), ("water", ""))
    assert bodies[0] == bodies[2]
    assert len(set(bodies)) == 4
    assert len(fields_of(instances_of(described))) == 4


def test_fluids_can_be_kept_apart_by_names() -> None:
    _, bodies = bodies_of(("water", "oil"), ("water", ""))
    assert bodies[0] != bodies[1]
