"""Which emitters get their forces from the rest state if their material leaves the choice, and what the others are told."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.emission.references import current_reasons, reason_text, rest_states
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.stepping.material_instances import instances_of
from tests.core.scenes import LATTICE, box, box_mesh, material, scene

BALL = SHAPES["sphere"](radius=0.2)


def jelly(**given: Any) -> Emitter:
    return Emitter(given.pop("name", "jelly"), given.pop("shape", BALL), given.pop("material", "corotated"), **{**LATTICE, **given})


def left_open(*emitters: Emitter, reference: str = "automatic", colliders: tuple[Collider, ...] = (), **parameters: Any) -> Scene:
    materials = (material("corotated", reference=reference, **parameters), material("neo_hookean", reference="rest"), material("water"))
    return scene(*emitters, materials=materials, colliders=colliders)


def both(first: Any, second: Any) -> Any:
    """Two meshes as one."""
    triangles = np.concatenate([first.triangles, second.triangles + len(first.vertices)])
    return SHAPES["mesh"](vertices=np.concatenate([first.vertices, second.vertices]), triangles=triangles)


def reason(described: Scene) -> str:
    """Why the first emitter uses the current state; its instances agree."""
    (name, *_), states = [emitter.name for emitter in described.emitters], rest_states(described)
    said = current_reasons(described).get(name, "")
    assert instances_of(described)[0].law.uses_rest_state == states[0] == (not said)
    return said


@pytest.mark.parametrize(
    "shape",
    [
        BALL,
        box_mesh((0.4, 0.4, 0.4)),
        both(box_mesh((0.4, 0.4, 0.4)), box_mesh((0.2, 0.2, 0.2), (0.25, 0.0, 0.0))),
        SHAPES["points"](position=np.linspace((0.0, 0.0, 0.0), (0.4, 0.0, 0.0), 9)),
    ],
    ids=["ball", "mesh", "overlapping parts", "points"],
)
def test_a_body_in_one_piece_that_is_emitted_once_has_a_rest_state(shape: Any) -> None:
    assert reason(left_open(jelly(shape=shape))) == ""


@pytest.mark.parametrize("mode", ["repeat", "inflow"])
def test_what_is_emitted_more_than_once_has_none(mode: str) -> None:
    assert reason(left_open(jelly(mode=mode, velocity=(0.0, 0.0, -1.0)))) == "it emits more than once"


@pytest.mark.parametrize(
    "shape",
    [
        both(box_mesh((0.2, 0.2, 0.2)), box_mesh((0.2, 0.2, 0.2), (0.25, 0.0, 0.0))),
        SHAPES["points"](position=np.array([[x, 0.0, 0.0] for x in (0.0, 0.05, 0.1, 0.3, 0.35)])),
    ],
    ids=["mesh", "points"],
)
def test_loose_parts_have_none(shape: Any) -> None:
    assert reason(left_open(jelly(shape=shape))) == "its loose parts would pass through one another"


def test_what_tears_has_none() -> None:
    assert reason(left_open(jelly(), tear_stretch=1.5)) == "its torn pieces would pass through one another"


def test_a_dynamic_sticky_collider_leaves_no_body_a_rest_state() -> None:
    floating = Collider("float", box((1.0, 0.0, 0.0), 0.2), surface="sticky", dynamic=True)
    assert reason(left_open(jelly(), colliders=(floating,))) == "a dynamic collider is sticky"


def test_the_emitters_of_a_body_agree() -> None:
    one, two = jelly(body="one"), jelly(body="one", name="two", shape=box((0.3, 0.0, 0.0), 0.2))
    assert reason(left_open(one, two)) == ""
    assert reason(left_open(one, replace(two, frame_start=2))) == "its body is emitted in parts"
    assert reason(left_open(one, replace(two, material="water"))) == "its body includes materials without a rest state"
    # one that asks for its rest state decides for the other
    assert reason(left_open(one, replace(two, material="neo_hookean"))) == ""


def test_only_what_is_left_open_is_explained() -> None:
    repeated = jelly(mode="repeat")
    assert reason_text("jelly", "it emits more than once").startswith("jelly uses the current state")
    assert current_reasons(left_open(repeated, reference="current")) == {}
    assert not rest_states(left_open(jelly(), reference="current"))[0]
    assert rest_states(left_open(jelly(material="neo_hookean")))[0]
