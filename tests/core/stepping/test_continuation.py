"""Continuing a scene from a checkpoint of another: what may differ, what may not, and that motion is continuous."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import Plane
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.stepping.continuation import refuse_another_state
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import LATTICE, box, material, scene

FLOOR = Collider("floor", Plane(), surface="sticky")


def falling(frames: int = 8, **rest: Any) -> Scene:
    block = Emitter("block", box((0.0, 0.0, 0.25), 0.4), "neo_hookean", velocity=(0.0, 0.0, -2.0), **LATTICE)
    given = {"materials": (material("neo_hookean"),), "colliders": (FLOOR,), "dimension": 2, "frames": frames, **rest}
    return scene(block, **given)


def changed_law(described: Scene, **values: Any) -> Scene:
    (name, own), *_ = described.materials.items()
    return replace(described, materials={name: replace(own, law=replace(own.law, **values))})


@pytest.fixture(scope="module")
def halfway() -> dict[str, np.ndarray]:
    """A snapshot in the middle of the impact."""
    simulation = Simulation(falling(2))
    for _ in simulation.frames():
        pass
    return simulation.snapshot()


def later(described: Scene, snapshot: dict[str, np.ndarray], before: Scene | None) -> list[Frame]:
    return list(Simulation(described, snapshot=snapshot, before=before).frames())


def test_the_same_scene_continues_without_a_difference(halfway: dict[str, np.ndarray]) -> None:
    plain, again = later(falling(), halfway, None)[-1], later(falling(), halfway, falling())[-1]
    assert np.abs(plain.position - again.position).max() < 1e-5


def test_a_hundred_times_the_stiffness_takes_shorter_substeps(halfway: dict[str, np.ndarray]) -> None:
    stiff = changed_law(falling(), young_modulus=100.0 * falling().materials["neo_hookean"].law.young_modulus)
    soft_frames, frames = later(falling(), halfway, None), later(stiff, halfway, falling())
    assert frames[0].statistics.substeps > 5 * soft_frames[0].statistics.substeps
    assert frames[-1].position[:, 2].min() > 0.0
    # what was pressed together springs back harder
    assert frames[-1].position[:, 2].mean() > soft_frames[-1].position[:, 2].mean()


def test_emitters_colliders_and_forces_may_be_added(halfway: dict[str, np.ndarray]) -> None:
    drop = Emitter("drop", box((0.0, 0.0, 1.0), 0.2), "water", frame_start=6, **LATTICE)
    more = falling()
    more = replace(more, emitters=(*more.emitters, drop), materials={**more.materials, "water": material("water")}, colliders=())
    frames = later(more, halfway, falling())
    counts = [frame.statistics.particles for frame in frames]
    assert counts[0] < counts[-1]
    assert frames[-1].attribute("emitter_index").max() == 1
    assert frames[-1].position[frames[-1].attribute("emitter_index") == 0, 2].min() < 0.0, "the floor is gone"


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            falling(grid_spacing=0.04),
            r"^solver: grid_spacing 0\.04 differs from 0\.05 in the earlier frames; change it back, or bake from the start\.$",
        ),
        (falling(fps=30.0), r"^time: fps 30\.0 differs from 24\.0"),
        (falling(precision="float64"), "^solver: precision float64 differs"),
        (falling(transfer="flip"), "^solver: transfer flip True differs from False"),
        (changed_law(falling(), density=1234.0), '^Material "neo_hookean": density 1234.0 differs from'),
        (falling(materials=(replace(material("corotated"), name="neo_hookean"),)), '^Material "neo_hookean": law corotated differs'),
        (
            falling(colliders=(replace(FLOOR, shape=box((0.0, 0.0, 2.0), 0.3), dynamic=True),)),
            r"^Colliders: dynamic \['floor'\] differs from \[\]",
        ),
    ],
)
def test_what_defines_the_state_may_not_differ(halfway: dict[str, np.ndarray], other: Scene, message: str) -> None:
    with pytest.raises(SceneError, match=message):
        later(other, halfway, falling())


def test_a_replaced_emitter_is_refused(halfway: dict[str, np.ndarray]) -> None:
    other = falling()
    other = replace(other, emitters=(replace(other.emitters[0], name="other"),))
    with pytest.raises(SceneError, match=r'^Emitter 1: name "other" differs from "block"') as caught:
        later(other, halfway, falling())
    assert caught.value.message.subject == "Emitter 1"


@pytest.mark.parametrize("name", ["block", "none"])
def test_a_removed_emitter_is_refused_whatever_its_name(name: str) -> None:
    before = falling()
    before = replace(before, emitters=(replace(before.emitters[0], name=name),))
    with pytest.raises(SceneError, match="is missing") as caught:
        refuse_another_state(before, replace(before, emitters=()))
    assert caught.value.message.subject == f'Emitter "{name}"'


def test_a_body_named_none_is_not_the_lack_of_a_body() -> None:
    named = falling()
    named = replace(named, emitters=(replace(named.emitters[0], body="none"),))
    with pytest.raises(SceneError, match=r'^Emitter "block": body none differs from "none"'):
        refuse_another_state(named, falling())


def test_a_material_added_before_the_others_is_refused(halfway: dict[str, np.ndarray]) -> None:
    """Frames refer to materials by number, before and after."""
    more = falling()
    more = replace(more, materials={"water": material("water"), **more.materials})
    with pytest.raises(SceneError, match=r'^Material "neo_hookean": position in the list 2 differs from 1'):
        later(more, halfway, falling())


def test_a_mesh_that_carries_particles_keeps_its_vertices() -> None:
    """Their stored vertex indices would be out of range in a mesh with fewer vertices."""

    def held(count: int) -> Scene:
        vertices = np.random.default_rng(0).random((count, 3))
        mesh = Mesh(vertices=vertices, triangles=np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]))
        motion = Motion(np.array([1.0, 2.0]), vertices=np.stack([vertices, vertices]))
        more = falling()
        return replace(more, emitters=(replace(more.emitters[0], shape=mesh, motion=motion, goal=0.5),))

    refuse_another_state(held(5), held(5))
    with pytest.raises(SceneError, match=r'^Emitter "block": vertices of its motion 4 differs from 5'):
        refuse_another_state(held(5), held(4))
