"""Lone feet: those that share no node are found, and solving them once gives what repeated sweeps over all feet give."""

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.contact import footing
from mpm_addon.core.contact.feet import ACTIVE
from mpm_addon.core.contact.lone_feet import Lone, none_lone
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.scene.settings import SIDES, Domain, Side
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.stepping.stepper import Stepper
from tests.core.contact.test_obstacles import corner_scene
from tests.core.scenes import LATTICE, box, digests_by_threads, material, scene


def in_a_box(law: str, offset: float, surface: str, friction: float = 0.5, **solver: Any) -> Scene:
    """A block that falls and slides into the corner of a box, whose walls lie `offset` cells from a node."""
    low = offset * 0.05
    domain = Domain(
        kind="box",
        min=(low, low, low),
        max=(low + 1.0, low + 1.0, low + 1.0),
        sides={side: Side(surface=surface, friction=friction) for side in SIDES},
    )
    block = Emitter("block", box((0.35, 0.35, 0.35), (0.4, 0.3, 0.5)), law, velocity=(-2.0, -1.0, -3.0), **LATTICE)
    return scene(block, materials=(material(law),), domain=domain, frames=4, **solver)


def footing_of(simulation: Simulation) -> Any:
    return simulation._stepper.obstacles[0].footing


@pytest.mark.parametrize("offset", [0.0, 0.3, 0.5])
def test_lone_feet_share_no_node_with_any_other_foot_or_deep_node(offset: float) -> None:
    simulation = Simulation(in_a_box("water", offset, "separate"))
    *_, _ = simulation.frames()
    found = footing_of(simulation)
    feet, deep = found.feet, found.deep
    users: Counter[int] = Counter(deep.nodes.tolist())
    nodes = [{int(feet.nodes[foot]), *feet.corners[foot, : feet.counts[foot]].tolist()} for foot in range(found.foot_count)]
    for its in nodes:
        users.update(its)
    is_lone = [all(users[node] == 1 for node in its) for its in nodes]
    np.testing.assert_array_equal(found.lone.feet, np.flatnonzero(is_lone))
    np.testing.assert_array_equal(found.lone.deep, np.flatnonzero([users[node] == 1 for node in deep.nodes.tolist()]))
    # on flat walls along the axes, only those at edges and corners are not, wherever the walls lie between nodes
    assert len(found.lone.feet) > 0.6 * found.foot_count


def test_each_lone_foot_has_its_collider() -> None:
    simulation = Simulation(corner_scene())
    next(simulation.frames())
    found, group = footing_of(simulation), simulation._stepper.obstacles[0]
    owners = group._level_sets.owners[found.feet.rows[found.lone.feet] // 64]
    assert len(set(owners.tolist())) > 2
    np.testing.assert_array_equal(found.lone.owners, owners)
    np.testing.assert_array_equal(found.lone.deep_owners, group._level_sets.owners[found.deep.rows[found.lone.deep] // 64])


def final(example: Scene) -> tuple[np.ndarray, np.ndarray]:
    *_, last = simulate(example)
    return last.position, last.velocity


@pytest.mark.parametrize("surface", ["separate", "slip", "sticky"])
@pytest.mark.parametrize(("law", "offset"), [("water", 0.0), ("sand", 0.3), ("corotated", 0.5)])
def test_solving_lone_feet_once_gives_what_sweeps_over_all_feet_give(
    monkeypatch: pytest.MonkeyPatch, law: str, offset: float, surface: str
) -> None:
    example = in_a_box(law, offset, surface, precision="float64")
    position, velocity = final(example)

    def found_none(feet: Any, deep: Any, *rest: int) -> Lone:
        return none_lone()

    monkeypatch.setattr(footing, "lone_of", found_none)
    expected_position, expected_velocity = final(example)
    assert np.abs(expected_velocity).max() > 0.5
    # a tolerance far below the effect of a foot that is missed or solved twice, and above that of another order of rounding
    np.testing.assert_allclose(position, expected_position, atol=1e-6)
    np.testing.assert_allclose(velocity, expected_velocity, atol=1e-4)


def two_bodies() -> Scene:
    """A sheet a cell thick lies on the floor, and a body hits it from above, so that both act on the nodes of the floor."""
    low = in_a_box("corotated", 0.25, "separate")
    below = Emitter("below", box((0.35, 0.35, 0.0375), (0.4, 0.3, 0.05)), "corotated", **LATTICE)
    above = dataclasses.replace(low.emitters[0], shape=box((0.35, 0.35, 0.25), (0.4, 0.3, 0.3)), velocity=(0.0, 0.0, -4.0))
    return dataclasses.replace(low, emitters=(below, above))


def inward_speeds(found: Any, nodes: np.ndarray) -> list[float]:
    """How fast material at the lone feet moves into the colliders, beyond what may settle [m/s]."""
    feet, velocity = found.feet, nodes.reshape(-1, 4)[:, :3].astype(np.float64)
    speeds = []
    for foot in found.lone.feet[found.lone.states == ACTIVE]:
        corners, weights = feet.corners[foot, : feet.counts[foot]], feet.weights[foot, : feet.counts[foot]]
        at_foot = weights @ velocity[corners] + feet.offsets[4 * foot : 4 * foot + 3]
        speeds.append(-float(at_foot @ feet.normals[4 * foot : 4 * foot + 3]))
    return speeds


def test_material_at_lone_feet_does_not_move_into_colliders_whatever_else_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contact between bodies moves the nodes of lone feet after these were solved."""
    simulation, speeds, meet = Simulation(two_bodies()), list[float](), Stepper._meet_obstacles

    def watched(stepper: Stepper, dt: float) -> None:
        meet(stepper, dt)
        speeds.extend(inward_speeds(footing_of(simulation), simulation.store.nodes))

    monkeypatch.setattr(Stepper, "_meet_obstacles", watched)
    *_, _ = simulation.frames()
    assert len(speeds) > 100
    assert max(speeds) < 1e-3


THREADS = """
from mpm_addon.core.contact import footing, impulses
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider
from tests.core.contact.test_lone_feet import in_a_box
import dataclasses
ball = Collider("ball", SHAPES["sphere"](center=(0.2, 0.2, 0.1), radius=0.12), surface="separate")
scenes = [dataclasses.replace(in_a_box(law, 0.3, "separate"), colliders=(ball,)) for law in ("sand", "water")]
"""


@pytest.mark.slow
@pytest.mark.parametrize("least", [1, 10**6])
def test_the_result_does_not_depend_on_the_number_of_threads(least: int) -> None:
    assert len(digests_by_threads(f"{THREADS}footing.PARALLEL_FEET = {least}\n")) == 1


def test_a_moving_collider_has_no_lone_feet() -> None:
    example = corner_scene()
    simulation = Simulation(example)
    next(simulation.frames())
    moving = [group for group in simulation._stepper.obstacles if group.is_moving]
    assert moving and all(len(group.footing.lone.feet) == 0 for group in moving)
